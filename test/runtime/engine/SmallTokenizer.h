// The tokenizer that the tests of this folder write text with.
#ifndef LLMC_TEST_RUNTIME_ENGINE_SMALLTOKENIZER_H
#define LLMC_TEST_RUNTIME_ENGINE_SMALLTOKENIZER_H

#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"

#include <gtest/gtest.h>

namespace llmc {

/// A small one of the Llama-3 kind.
inline const Tokenizer &smallTokenizer() {
  static const Tokenizer T = [] {
    Result<std::vector<uint8_t>> B =
        compileTokenizer(LLMC_TEST_INPUTS "/text/llama3-small.json");
    EXPECT_TRUE(B.ok());
    return Tokenizer::load(*B).take();
  }();
  return T;
}

} // namespace llmc

#endif // LLMC_TEST_RUNTIME_ENGINE_SMALLTOKENIZER_H
