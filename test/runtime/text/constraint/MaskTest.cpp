// Masks against feeding every token byte by byte.
#include "runtime/text/constraint/Constraint.h"
#include "test/runtime/text/constraint/Support.h"

namespace llmc::constraint {
namespace {

/// Every byte, and random tokens of what JSON and the tests are made of.
std::vector<std::string> vocabulary(unsigned Seed) {
  std::vector<std::string> V;
  for (int B = 0; B < 256; ++B)
    V.push_back(std::string(1, static_cast<char>(B)));
  static const char *const Pieces[] = {
      "\"",    ",",    ":",    "{", "}", "[",        "]",   "a",   "b",
      "1",     "0",    "-",    ".", "é", "\\",       "u00", "\\n", "\":\"",
      "\",\"", "true", "null", " ", "x", "\xF0\x9F", "12"};
  Random R(Seed);
  for (int I = 0; I < 1500; ++I) {
    std::string S;
    for (unsigned J = 0, N = 1 + R.below(I % 10 == 0 ? 16 : 5); J < N; ++J)
      S += Pieces[R.below(std::size(Pieces))];
    V.push_back(S);
  }
  V.push_back("");  // never allowed
  V.push_back("a"); // a twin
  return V;
}

void checkMasks(Dialect D, const std::string &Text) {
  std::vector<std::string> V = vocabulary(7);
  std::shared_ptr<const TokenTrie> Trie = std::make_shared<TokenTrie>(
      V.size(), [&](int32_t Id) { return std::string_view(V[Id]); });
  Result<std::unique_ptr<Grammar>> G = compileConstraint(D, Text);
  ASSERT_TRUE(G.ok()) << Text << ": " << G.status().message();
  Constraint C(G.take(), Trie);
  for (unsigned Seed = 0; Seed < 5; ++Seed) {
    Random R(Seed);
    Constraint::State S;
    std::string Written;
    for (int Step = 0; Step < 40 && !C.mustEnd(S); ++Step) {
      std::span<const uint64_t> Mask = C.mask(S);
      std::vector<uint64_t> Bits(Mask.begin(), Mask.end());
      std::vector<int32_t> Good;
      for (size_t I = 0; I < V.size(); ++I) {
        bool Has = Bits[I / 64] >> (I % 64) & 1;
        Constraint::State To = C.accept(S, static_cast<int32_t>(I));
        ASSERT_EQ(Has, !C.dead(To))
            << Text << "\nbehind " << Written << " token " << V[I];
        if (Has)
          Good.push_back(static_cast<int32_t>(I));
      }
      ASSERT_FALSE(Good.empty() && !C.mayEnd(S)) << Text << " " << Written;
      if (Good.empty())
        break;
      int32_t Next = Good[R.below(static_cast<unsigned>(Good.size()))];
      Written += V[Next];
      S = C.accept(S, Next);
    }
  }
  EXPECT_TRUE(C.status().ok());
}

TEST(Mask, IsWhatTheBytesSay) {
  for (const char *S :
       {"{}", R"({"type":"object"})", R"({"type":"string","maxLength":9})",
        R"({"type":"array","items":{"type":"integer"},"uniqueItems":true})",
        R"({"type":"array","items":{"enum":["a","b","ab"]},
               "uniqueItems":true})",
        R"({"type":"object","propertyNames":{"pattern":"^a*b?$"},
               "additionalProperties":{"type":"string","pattern":"^[ab]*$"}})",
        R"({"type":"object","propertyNames":{"enum":["a","b"]}})",
        R"({"$ref":"#/$defs/n","$defs":{"n":{"properties":{
               "a":{"type":"array","items":{"$ref":"#/$defs/n"},"maxItems":3},
               "b":{"type":"string","minLength":1}},"required":["b"],
               "additionalProperties":false,"type":"object"}}})"})
    checkMasks(Dialect::JsonSchema, S);
  checkMasks(Dialect::Regex, "[ab,]{0,30}(\"[^\"]*\"){2}|x+(1{40,60})?");
  checkMasks(Dialect::Gbnf, "root ::= \"[\" (item (\",\" item)*)? \"]\"\n"
                            "item ::= root | str | [0-9]+\n"
                            "str ::= \"\\\"\" [^\"]* \"\\\"\"\n");
}

TEST(Mask, ForcedTokensSpellWhatMustCome) {
  std::vector<std::string> V = vocabulary(3);
  V.push_back("{\"name");
  std::shared_ptr<const TokenTrie> Trie = std::make_shared<TokenTrie>(
      V.size(), [&](int32_t Id) { return std::string_view(V[Id]); });
  Result<std::unique_ptr<Grammar>> G = compileConstraint(
      Dialect::JsonSchema,
      R"({"type":"object","properties":{"name":{"type":"string"}},
          "required":["name"],"additionalProperties":false})");
  Constraint C(G.take(), Trie);
  std::vector<int32_t> Forced;
  C.forced({}, 20, Forced);
  std::string Text;
  for (int32_t Id : Forced)
    Text += V[Id];
  EXPECT_EQ(Text, "{\"name\":\"");
  EXPECT_EQ(V[Forced[0]], "{\"name");
}

TEST(Mask, LimitOfMemoryIsAFailure) {
  std::vector<std::string> V = vocabulary(3);
  std::shared_ptr<const TokenTrie> Trie = std::make_shared<TokenTrie>(
      V.size(), [&](int32_t Id) { return std::string_view(V[Id]); });
  Result<std::unique_ptr<Grammar>> G =
      compileConstraint(Dialect::Regex, "(.*a.{400})*");
  ASSERT_TRUE(G.ok());
  Constraint C(G.take(), Trie, 1 << 20);
  Constraint::State S;
  for (int I = 0; I < 400 && C.status().ok(); ++I) {
    C.mask(S);
    S = C.accept(S, I % 3 ? 'a' : 'b');
  }
  EXPECT_EQ(C.status().code(), StatusCode::DoesNotFit);
}

} // namespace
} // namespace llmc::constraint
