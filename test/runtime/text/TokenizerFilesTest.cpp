// Folders without tokenizer.json: which file counts, and what is said of
// broken ones.
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <unistd.h>

using namespace llmc;
using Ids = std::vector<int32_t>;
namespace fs = std::filesystem;

namespace {

/// The compiled tokenizer of a folder with these files.
Result<std::vector<uint8_t>>
compileFiles(const std::map<std::string, std::string> &Files) {
  fs::path Path =
      fs::temp_directory_path() / ("llmc-files-" + std::to_string(getpid()));
  fs::remove_all(Path);
  fs::create_directory(Path);
  for (const auto &[Name, Text] : Files)
    std::ofstream(Path / Name, std::ios::binary) << Text;
  Result<std::vector<uint8_t>> R = compileTokenizer(Path.string());
  fs::remove_all(Path);
  return R;
}

Tokenizer load(const std::map<std::string, std::string> &Files) {
  Result<std::vector<uint8_t>> Bytes = compileFiles(Files);
  EXPECT_TRUE(Bytes.ok()) << Bytes.status().message();
  Result<Tokenizer> T = Tokenizer::load(*Bytes);
  EXPECT_TRUE(T.ok()) << T.status().message();
  return T.take();
}

void expectError(const std::map<std::string, std::string> &Files,
                 const std::string &Message) {
  Result<std::vector<uint8_t>> Bytes = compileFiles(Files);
  ASSERT_FALSE(Bytes.ok());
  EXPECT_EQ(Bytes.status().message(), Message);
}

TEST(TokenizerFiles, WordsOfBert) {
  Tokenizer T = load(
      {{"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\n##s\nworld\n!\n"}});
  EXPECT_EQ(*T.encode("Hellos  WÖRLD!"), (Ids{2, 4, 5, 6, 7, 3}));
  EXPECT_EQ(*T.encode("odd"), (Ids{2, 1, 3}));
  EXPECT_EQ(T.decode(Ids{2, 4, 5, 6, 7, 3}, true), "hellos world!");
  PairEncoding P = *T.encodePair("hello", "world");
  EXPECT_EQ(P.Ids, (Ids{2, 4, 3, 6, 3}));
  EXPECT_EQ(P.TypeIds, (Ids{0, 0, 0, 1, 1}));
}

TEST(TokenizerFiles, VocabularyAndMergesOfGpt2) {
  const std::string Vocab =
      "{\"a\":0,\"b\":1,\"\xC4\xA0\":2,\"ab\":3,\"\xC4\xA0"
      "ab\":4,\"<s>\":5}";
  const std::string Merges = "#version: 0.2\na b\n\xC4\xA0 ab\n";
  Tokenizer T = load(
      {{"vocab.json", Vocab},
       {"merges.txt", Merges},
       {"tokenizer_config.json",
        R"({"bos_token":"<s>","add_bos_token":true,)"
        R"("added_tokens_decoder":{"9":{"content":"<x>","special":true}}})"}});
  EXPECT_EQ(*T.encode("ab ab<x>b"), (Ids{5, 3, 4, 9, 1}));
  EXPECT_EQ(T.decode(Ids{5, 3, 4, 9, 1}, true), "ab abb");
  expectError({{"vocab.json", Vocab}, {"merges.txt", "a b c\n"}},
              "merges.txt: line 1 is not a pair of tokens");
}

TEST(TokenizerFiles, Tiktoken) {
  const std::map<std::string, std::string> Files = {
      {"x.tiktoken", "YQ== 0\nYg== 1\nYWI= 2\nIA== 3\n"}};
  expectError(Files,
              "x.tiktoken: the pattern that cuts the text is not in the file; "
              "expected \"pat_str\" in tokenizer_config.json: a regular "
              "expression or the name of an encoding (cl100k_base …)");
  std::map<std::string, std::string> Named = Files;
  Named["tokenizer_config.json"] = R"({"pat_str":"gpt2"})";
  Tokenizer T = load(Named);
  EXPECT_EQ(*T.encode("ab b"), (Ids{2, 3, 1}));
  expectError({{"x.tiktoken", "YQ== 0\nYg== x\n"}},
              "x.tiktoken: line 2 is not a token in Base64 and its rank");
}

TEST(TokenizerFiles, NamesTheBreakOfASentencePieceModel) {
  expectError({{"tokenizer.model", "\x0A\x7F"}},
              "tokenizer.model: not a SentencePiece model, at byte 2 of 2");
  EXPECT_TRUE(compileFiles({})->empty());
}

} // namespace
