# llmc_add_fuzzer(Name SOURCES a.cpp … [DEPS lib …]): a libFuzzer program in
# build/<preset>/test/fuzz, which `./dev fuzz` finds there and runs. Nothing
# unless LLMC_FUZZ is on.
function(llmc_add_fuzzer name)
  if(NOT LLMC_FUZZ)
    return()
  endif()
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/test/fuzz")
  set_property(GLOBAL APPEND PROPERTY LLMC_FUZZERS ${name})
endfunction()
