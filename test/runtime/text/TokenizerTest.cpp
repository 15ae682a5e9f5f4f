// Tokenizers cut down from real ones (test/Inputs/text) against ids of the
// reference library: SmolLM2 (Digits, GPT-2 pattern), Qwen2 (NFC, Split),
// Llama-3 kind (Split, merges ignored for whole words, BOS by template).
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Detokenizer.h"
#include "runtime/text/TokenizerCompiler.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace llmc;
using Json = nlohmann::json;

namespace {

std::string input(const std::string &Name) {
  return std::string(LLMC_TEST_INPUTS) + "/text/" + Name;
}

Tokenizer loadFrom(const std::string &Path) {
  Result<std::vector<uint8_t>> Bytes = compileTokenizer(Path);
  EXPECT_TRUE(Bytes.ok()) << Bytes.status().message();
  Result<Tokenizer> T = Tokenizer::load(*Bytes);
  EXPECT_TRUE(T.ok()) << T.status().message();
  return T.take();
}

/// Number of cases compared.
int compareCases(const Tokenizer &T, const std::string &Path) {
  std::ifstream File(Path);
  int Count = 0;
  for (std::string Line; std::getline(File, Line); ++Count) {
    Json Case = Json::parse(Line);
    std::string Text = Case["text"];
    std::vector<int32_t> Ids = Case["ids"];
    if (!Case.contains("decode_only")) {
      EXPECT_EQ(*T.encode(Text), Ids) << Line;
    } else {
      EXPECT_EQ(T.decode(Ids), Text) << Line;
    }
    if (Case.contains("ids_no_special")) {
      EXPECT_EQ(*T.encode(Text, {.AddSpecial = false}),
                Case["ids_no_special"].get<std::vector<int32_t>>())
          << Line;
    }
    if (Case.contains("ids_literal")) {
      EXPECT_EQ(*T.encode(Text, {.AddSpecial = false, .SpecialAsText = true}),
                Case["ids_literal"].get<std::vector<int32_t>>())
          << Line;
    }
    std::string Streamed;
    Detokenizer D(T, false);
    for (int32_t Id : Ids)
      Streamed += D.push(Id);
    EXPECT_EQ(Streamed + D.finish(), T.decode(Ids)) << Line;
  }
  return Count;
}

TEST(Tokenizer, SmolLM2) {
  Tokenizer T = loadFrom(input("smollm2-trimmed.json"));
  EXPECT_GT(compareCases(T, input("smollm2-cases.jsonl")), 50);
}

TEST(Tokenizer, Qwen2) {
  Tokenizer T = loadFrom(input("qwen2-trimmed.json"));
  EXPECT_GT(compareCases(T, input("qwen2-cases.jsonl")), 30);
}

TEST(Tokenizer, Llama3Kind) {
  Tokenizer T = loadFrom(input("llama3-small.json"));
  EXPECT_GT(compareCases(T, input("llama3-small-cases.jsonl")), 30);
}

TEST(Tokenizer, SmolLM2Whole) {
  if (!std::filesystem::exists(LLMC_SMOLLM2 "/tokenizer.json"))
    GTEST_SKIP() << "no " LLMC_SMOLLM2;
  Tokenizer T = loadFrom(LLMC_SMOLLM2);
  EXPECT_EQ(T.vocabSize(), 49152u);
  compareCases(T, input("smollm2-cases.jsonl"));
}

TEST(Tokenizer, SkipsSpecialTokens) {
  Tokenizer T = loadFrom(input("smollm2-trimmed.json"));
  EXPECT_TRUE(T.isSpecial(2));
  EXPECT_FALSE(T.isSpecial(198));
  EXPECT_EQ(T.decode(std::vector<int32_t>{1, 198, 2}),
            "<|im_start|>\n<|im_end|>");
  EXPECT_EQ(T.decode(std::vector<int32_t>{1, 198, 2}, true), "\n");
  EXPECT_EQ(T.addedToken("<|im_end|>"), 2);
  EXPECT_EQ(T.addedToken("<|none|>"), -1);
  EXPECT_EQ(T.spellingOf(198), "\xC4\x8A");
}

TEST(Tokenizer, UnknownIdsVanish) {
  Tokenizer T = loadFrom(input("smollm2-trimmed.json"));
  EXPECT_EQ(T.decode(std::vector<int32_t>{-1, 198, 1 << 30}), "\n");
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  Tokenizer T = loadFrom(input("smollm2-trimmed.json"));
  Result<std::vector<int32_t>> R = T.encode("ab\xFF");
  ASSERT_FALSE(R.ok());
  EXPECT_EQ(R.status().message(), "text is not UTF-8 at byte 2 of 3");
}

// A merge on one place at a time would take minutes here.
TEST(Tokenizer, LongRunsAreNotQuadratic) {
  Tokenizer T = loadFrom(input("llama3-small.json"));
  std::string Text;
  while (Text.size() < 300'000)
    Text += "in";
  Result<std::vector<int32_t>> Ids = T.encode(Text);
  ASSERT_TRUE(Ids.ok());
  EXPECT_EQ(T.decode(std::span(*Ids).subspan(1)), Text);
}

// The bytes of an artifact are mapped: no copy, kept by who is named.
TEST(Tokenizer, BorrowsBytesAndKeepsTheirOwner) {
  Result<std::vector<uint8_t>> Bytes =
      compileTokenizer(input("llama3-small.json"));
  ASSERT_TRUE(Bytes.ok());
  auto Shared = std::make_shared<std::vector<uint64_t>>(Bytes->size() / 8 + 2);
  uint8_t *Begin = reinterpret_cast<uint8_t *>(Shared->data());
  std::copy(Bytes->begin(), Bytes->end(), Begin);
  Result<Tokenizer> T = Tokenizer::borrow({Begin, Bytes->size()}, Shared);
  ASSERT_TRUE(T.ok());
  const uint8_t *At = reinterpret_cast<const uint8_t *>(T->bytesOf(5).data());
  EXPECT_TRUE(At >= Begin && At < Begin + Bytes->size());
  EXPECT_EQ(Shared.use_count(), 2);
  std::vector<int32_t> Expected = T->encode("in the").take();
  // Not aligned: a copy, which needs no owner.
  std::copy(Bytes->begin(), Bytes->end(), Begin + 1);
  Result<Tokenizer> Odd = Tokenizer::borrow({Begin + 1, Bytes->size()}, Shared);
  ASSERT_TRUE(Odd.ok());
  EXPECT_EQ(Shared.use_count(), 2);
  EXPECT_EQ(*Odd->encode("in the"), Expected);
}

TEST(Tokenizer, HostileImagesAreRefused) {
  Result<std::vector<uint8_t>> Bytes =
      compileTokenizer(input("llama3-small.json"));
  ASSERT_TRUE(Bytes.ok());
  for (size_t N = 0; N < Bytes->size(); N += 97)
    EXPECT_FALSE(Tokenizer::load(std::span(*Bytes).first(N)).ok()) << N;
  int Refused = 0;
  for (size_t I = 0; I < Bytes->size(); I += 13) {
    std::vector<uint8_t> Bad = *Bytes;
    Bad[I] ^= 0xFF;
    Result<Tokenizer> T = Tokenizer::load(Bad);
    Refused += !T.ok();
    if (T.ok()) // harmless change: it must still work without crashing
      (void)T->encode("The inner train in 1999 <|end|>");
  }
  EXPECT_GT(Refused, 100);
}

} // namespace
