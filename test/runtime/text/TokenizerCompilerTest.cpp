// What tokenizer.json may not hold: the error names the component.
#include "runtime/text/TokenizerCompiler.h"
#include "runtime/text/Tokenizer.h"

#include <gtest/gtest.h>

using namespace llmc;

namespace {

std::string file(const std::string &Pre, const std::string &Rest = "") {
  return R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},)"
         R"("merges":["a b"]},"decoder":{"type":"ByteLevel"},)"
         R"("pre_tokenizer":)" +
         Pre + Rest + "}";
}

const std::string Plain =
    R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";

void expectError(const std::string &Json, const std::string &Message) {
  Result<std::vector<uint8_t>> R = compileTokenizerJson(Json);
  ASSERT_FALSE(R.ok()) << Json;
  EXPECT_EQ(R.status().message(), "tokenizer.json: " + Message);
}

TEST(TokenizerCompiler, CompilesTheSmallestFile) {
  Result<std::vector<uint8_t>> R = compileTokenizerJson(file(Plain));
  ASSERT_TRUE(R.ok()) << R.status().message();
  Result<Tokenizer> T = Tokenizer::load(*R);
  ASSERT_TRUE(T.ok());
  EXPECT_EQ(*T->encode("abba"), (std::vector<int32_t>{2, 1, 0}));
  EXPECT_EQ(*T->encode("axb"), (std::vector<int32_t>{2})); // x has no token
}

TEST(TokenizerCompiler, NamesWhatIsNotImplemented) {
  expectError(file(R"({"type":"Odd"})"),
              "pre_tokenizer Odd is not implemented");
  expectError(file(Plain, R"(,"normalizer":{"type":"Odd"})"),
              "normalizer Odd is not implemented");
  expectError(file(Plain, R"(,"post_processor":{"type":"Odd"})"),
              "post_processor Odd is not implemented");
  expectError(R"({"model":{"type":"Odd","vocab":[]}})",
              "model type Odd is not implemented");
  expectError(R"({"model":{"vocab":{"a":0},"merges":[]},)"
              R"("decoder":{"type":"Odd"}})",
              "decoder Odd is not implemented");
  expectError(file(R"({"type":"Split","pattern":{"Regex":"a\\y"}})"),
              "pre_tokenizer: regular expression: \\y is not implemented");
}

TEST(TokenizerCompiler, NamesWhatIsBroken) {
  expectError("[1, 2", "not JSON at byte 5 of 5");
  expectError("[]", "is not an object");
  expectError(R"({"model":{"vocab":{"a":0},"merges":["a c"]}})",
              "merge 0 names 'c', which is not in the vocabulary");
  expectError(R"({"model":{"vocab":{"a":-1},"merges":[]}})",
              "id of token 'a' is -1, expected 0 to 16777215");
  expectError(R"({"model":{"vocab":{"a":1,"b":1},"merges":[]}})",
              "tokens 'a' and 'b' have the same id 1");
  expectError(file(R"({"type":"Split","pattern":{"Regex":"("}})"),
              "pre_tokenizer: regular expression, at byte 1 of 1: missing "
              "closing parenthesis");
  expectError(file(R"({"type":"Split","pattern":{"Regex":"[a"}})"),
              "pre_tokenizer: regular expression, at byte 0 of 2: character "
              "class does not end");
  expectError(file(R"({"type":"Digits","individual_digits":"yes"})"),
              "pre_tokenizer 'individual_digits' is \"yes\", expected true or "
              "false");
  expectError(file(Plain, R"(,"added_tokens":[{"content":"x"}])"),
              "added token has no 'id', expected a number");
}

TEST(TokenizerCompiler, BothSpellingsOfMergesAreTheSame) {
  std::string Pairs = file(Plain);
  Pairs.replace(Pairs.find(R"(["a b"])"), 7, R"([["a","b"]])");
  EXPECT_EQ(*compileTokenizerJson(Pairs), *compileTokenizerJson(file(Plain)));
}

TEST(TokenizerCompiler, PatternThatExplodesIsAnError) {
  std::string Json = file(
      R"({"type":"Sequence","pretokenizers":[{"type":"Split","behavior":"Isolated",)"
      R"("pattern":{"Regex":"(?:a|aa)+$"}},)" +
      Plain + "]}");
  Result<std::vector<uint8_t>> R = compileTokenizerJson(Json);
  ASSERT_TRUE(R.ok()) << R.status().message();
  Result<Tokenizer> T = Tokenizer::load(*R);
  ASSERT_TRUE(T.ok());
  std::string Text(2000, 'a');
  Result<std::vector<int32_t>> Ids = T->encode(Text + "c");
  ASSERT_FALSE(Ids.ok());
  EXPECT_NE(Ids.status().message().find("gave up at byte 0"),
            std::string::npos);
}

} // namespace
