// Masks against feeding every token byte by byte.
#include "runtime/text/constraint/Constraint.h"
#include "test/runtime/text/constraint/Support.h"

#include <algorithm>

namespace llmc::constraint {
namespace {

constexpr const char *JsonPieces[] = {
    "\"",    ",",    ":",    "{", "}", "[",        "]",   "a",   "b",
    "1",     "0",    "-",    ".", "é", "\\",       "u00", "\\n", "\":\"",
    "\",\"", "true", "null", " ", "x", "\xF0\x9F", "12"};

/// Of every group of characters, and parts of them.
constexpr const char *CharPieces[] = {
    "a",      "Z",        "1",        " ",    "\"",         "\u00A0",
    "\u3000", "\u0301",   "٣",        "—",    "。",         "©",
    "\u0378", "À",        "ß",        "Ā",    "ā",          "Я",
    "ж",      "Ω",        "ω",        "東",   "ひ",         "カ",
    "가",     "ー",       "ǅ",        "𝐀",    "\U00020000", "🙂",
    "\xE6",   "\xE6\x9D", "\xF0\x9F", "\xE3", "\xC3",       "\xE3\x81"};

/// Every byte, and random tokens of what JSON and the tests are made of.
std::vector<std::string>
vocabulary(unsigned Seed, std::span<const char *const> Pieces = JsonPieces) {
  std::vector<std::string> V;
  for (int B = 0; B < 256; ++B)
    V.push_back(std::string(1, static_cast<char>(B)));
  Random R(Seed);
  for (int I = 0; I < 1500; ++I) {
    std::string S;
    for (unsigned J = 0, N = 1 + R.below(I % 10 == 0 ? 16 : 5); J < N; ++J)
      S += Pieces[R.below(static_cast<unsigned>(Pieces.size()))];
    V.push_back(S);
  }
  V.push_back("");  // never allowed
  V.push_back("a"); // a twin
  return V;
}

void checkMasks(Dialect D, const std::string &Text,
                std::span<const char *const> Pieces = JsonPieces) {
  std::vector<std::string> V = vocabulary(7, Pieces);
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

/// Whether nothing can follow each of the prefixes of Text.
std::vector<bool> ends(Dialect D, const std::string &Grammar,
                       const std::string &Text) {
  std::vector<std::string> V;
  for (char C : std::string("0123456789ab"))
    V.emplace_back(1, C);
  std::shared_ptr<const TokenTrie> Trie = std::make_shared<TokenTrie>(
      V.size(), [&](int32_t Id) { return std::string_view(V[Id]); });
  Result<std::unique_ptr<constraint::Grammar>> G =
      compileConstraint(D, Grammar);
  EXPECT_TRUE(G.ok());
  Constraint C(G.take(), Trie);
  Constraint::State S;
  std::vector<bool> Out;
  for (char Letter : Text) {
    S = C.accept(S, static_cast<int32_t>(
                        std::find(V.begin(), V.end(), std::string(1, Letter)) -
                        V.begin()));
    Out.push_back(C.mustEnd(S));
  }
  return Out;
}

TEST(Mask, EndsWhereNothingCanFollow) {
  using Bools = std::vector<bool>;
  EXPECT_EQ(ends(Dialect::JsonSchema,
                 R"({"type":"integer","minimum":101,"maximum":101})", "101"),
            (Bools{false, false, true}));
  EXPECT_EQ(ends(Dialect::JsonSchema,
                 R"({"type":"integer","minimum":1,"maximum":12})", "12"),
            (Bools{false, true}));
  EXPECT_EQ(ends(Dialect::Regex, "a*b?", "aab"), (Bools{false, false, true}));
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
  // A count behind which the tail goes on with the same characters.
  checkMasks(Dialect::Regex, "b?[^x]?ab-a(b{0,3}|a{0,9}x)[ab]{2}");
  checkMasks(Dialect::Regex, "(.*b.*|[a1]{0,4}) ?[a-bé\\-]{2,5}");
  checkMasks(Dialect::Lark, "start: NAME (\",\" NAME)*\n"
                            "NAME: /[a-zé]+[^,\"]{0,3}/\n%ignore /[ 1]+/\n");
  checkMasks(Dialect::Gbnf, "root ::= \"[\" (item (\",\" item)*)? \"]\"\n"
                            "item ::= root | str | [0-9]+\n"
                            "str ::= \"\\\"\" [^\"]* \"\\\"\"\n");
}

TEST(Mask, IsExactForGroupsOfCharacters) {
  for (const char *Regex :
       {"\\S+( \\S+){0,3}", "[\\p{L} '-]{2,6}x?", "[\\p{Lu}\\p{M}]*\\p{Ll}+",
        "[à-ÿß]{1,3}.[А-Яа-яё]*", "([一-龥]|[ぁ-ん]|[가-힣 ])+[^가]{0,9}",
        "[^\\s東]{0,4}[\\p{Han}1]{3,}", "(\\p{N}|\\p{P}\\p{S}*)+.{0,2}",
        "[\\u3000-\\uFFFF]{0,5}|[\\u{10000}-\\u{1FFFF}]+",
        "[^\\p{L}]*(\\p{L}{1,2}){1,3}"})
    checkMasks(Dialect::Regex, Regex, CharPieces);
  checkMasks(Dialect::JsonSchema,
             R"({"type":"string","pattern":"^[\\p{L} -]{2,5}$"})", CharPieces);
  checkMasks(Dialect::JsonSchema,
             R"({"type":"string","pattern":"\\S\\s","maxLength":5})",
             CharPieces);
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
