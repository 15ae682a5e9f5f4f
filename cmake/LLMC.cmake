# Helpers of all rooms: language level, warnings, sanitizers, llmc_add_room,
# llmc_add_library and llmc_add_gtest.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(LLMC_CCACHE ccache)
if(LLMC_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${LLMC_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${LLMC_CCACHE}")
endif()
# A compile with LLVM headers takes up to 1 GB.
set_property(GLOBAL PROPERTY JOB_POOLS heavy=2)

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(LLMC_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
option(LLMC_FUZZ "libFuzzer targets (needs clang++-22)" OFF)
if(LLMC_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize=vptr,function -fno-sanitize-recover=undefined -g)
  add_link_options(-fsanitize=address,undefined)
endif()
include_directories("${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")

# Adds a room's folder. A room that has no CMakeLists.txt yet is skipped.
function(llmc_add_room dir)
  if(EXISTS "${CMAKE_SOURCE_DIR}/${dir}/CMakeLists.txt")
    add_subdirectory("${CMAKE_SOURCE_DIR}/${dir}" "${CMAKE_BINARY_DIR}/${dir}")
  endif()
endfunction()

# llmc_add_library(Name SOURCES a.cpp … [DEPS lib …])
function(llmc_add_library name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC ${A_DEPS})
endfunction()

# llmc_add_gtest(Name SOURCES a.cpp … [DEPS lib …]): a GoogleTest program in
# build/<preset>/test/unit, which `./dev test` finds there and runs.
function(llmc_add_gtest name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_DEPS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    LLMC_TEST_INPUTS="${CMAKE_SOURCE_DIR}/test/Inputs")
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/test/unit")
  add_test(NAME ${name} COMMAND ${name})
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/Fuzz.cmake")
