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
  add_compile_options(-fsanitize=fuzzer-no-link,address -g)
  add_link_options(-fsanitize=address)
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

# llmc_add_fuzzer(Name SOURCES a.cpp … [DEPENDS target …]): a libFuzzer program
# build/<preset>/test/fuzz/Name, only with LLMC_FUZZ. All sources (of the code
# under test, too; paths from the root) are compiled by clang with the fuzzer,
# address and undefined-behaviour sanitizers, whatever the compiler of the rest.
option(LLMC_FUZZ "Build the fuzzers (needs clang++-22 and its runtime)" OFF)
function(llmc_add_fuzzer name)
  if(NOT LLMC_FUZZ)
    return()
  endif()
  cmake_parse_arguments(A "" "" "SOURCES;DEPENDS" ${ARGN})
  find_program(LLMC_CLANGXX clang++-22 REQUIRED)
  list(TRANSFORM A_SOURCES PREPEND "${CMAKE_SOURCE_DIR}/")
  set(program "${CMAKE_BINARY_DIR}/test/fuzz/${name}")
  add_custom_command(OUTPUT "${program}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_BINARY_DIR}/test/fuzz"
    COMMAND "${LLMC_CLANGXX}" -std=c++20 -O1 -g
      -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
      -Wno-deprecated-declarations
      -I "${CMAKE_SOURCE_DIR}" -I "${CMAKE_BINARY_DIR}" ${A_SOURCES}
      -o "${program}"
    DEPENDS ${A_SOURCES} ${A_DEPENDS} JOB_POOL heavy VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${program}")
  if(A_DEPENDS)
    add_dependencies(${name} ${A_DEPENDS})
  endif()
endfunction()
