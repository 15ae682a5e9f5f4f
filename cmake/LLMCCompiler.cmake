# LLVM, MLIR and lld for the compiler half, and the tablegen helpers.
# setup: CMAKE_PREFIX_PATH=/usr/lib/llvm-22 (from the presets).
find_package(MLIR REQUIRED CONFIG)
find_package(LLD REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_definitions(${LLVM_DEFINITIONS})
set(LLMC_LLVM_TOOLS "${LLVM_TOOLS_BINARY_DIR}")
find_program(LLMC_CLANGXX clang++-22 REQUIRED)

# llmc_add_mlir_library(Name SOURCES … [DEPS …] [TABLEGEN target …]):
# a static library against the shared libMLIR and libLLVM.
function(llmc_add_mlir_library name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS;TABLEGEN" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC ${A_DEPS} MLIR LLVM)
  set_property(TARGET ${name} PROPERTY JOB_POOL_COMPILE heavy)
  if(A_TABLEGEN)
    add_dependencies(${name} ${A_TABLEGEN})
  endif()
endfunction()
