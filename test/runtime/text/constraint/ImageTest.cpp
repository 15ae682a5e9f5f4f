// The stored form of a grammar: read back it means the same; damage is an
// error or another grammar, never a crash.
#include "runtime/text/constraint/GrammarImage.h"
#include "test/runtime/text/constraint/Support.h"

namespace llmc::constraint {
namespace {

const char *const Schema = R"({"type":"object","properties":{
  "a":{"type":"integer","minimum":3,"maximum":7000},
  "b":{"$ref":"#/$defs/t"},"c":{"type":"string","pattern":"^x+[^y]*$"}},
  "required":["a"],"patternProperties":{"^z":{"type":"null"}},
  "$defs":{"t":{"type":"array","items":{"$ref":"#/$defs/t"}}}})";

TEST(Image, ReadsBackAndIsTheSame) {
  Compiled C(Dialect::JsonSchema, Schema);
  ASSERT_TRUE(C.ok()) << C.Refused;
  std::vector<uint8_t> Bytes = writeGrammarImage(*C.G);
  Result<std::unique_ptr<Grammar>> G = readGrammarImage(Bytes);
  ASSERT_TRUE(G.ok()) << G.status().message();
  Automaton A(**G);
  for (const char *S :
       {R"({"a":3})", R"({"a":6999,"b":[[],[[]]],"c":"xxz","zz":null,"q":1})",
        R"({"a":2})", R"({"a":7001})", R"({"a":5,"zz":1)", R"({"a":5,"c":"y)",
        R"({"a":5,"q":1,"q")"}) {
    SetId To = A.walk(Automaton::Start, S);
    EXPECT_EQ(C.live(S), To != Automaton::Dead) << S;
    EXPECT_EQ(C.accepts(S), To != Automaton::Dead && A.accepts(To)) << S;
  }
  EXPECT_EQ(writeGrammarImage(*Compiled(Dialect::JsonSchema, Schema).G), Bytes);
}

TEST(Image, DamageDoesNoHarm) {
  Compiled C(Dialect::JsonSchema, Schema);
  const std::vector<uint8_t> Bytes = writeGrammarImage(*C.G);
  Random R(5);
  for (int I = 0; I < 300; ++I) {
    std::vector<uint8_t> Bad = Bytes;
    Bad[R.below(static_cast<unsigned>(Bad.size()))] ^= 1u << R.below(8);
    if (I % 4 == 0)
      Bad.resize(R.below(static_cast<unsigned>(Bad.size())));
    Result<std::unique_ptr<Grammar>> G = readGrammarImage(Bad);
    if (!G.ok())
      continue;
    Automaton A(**G);
    A.walk(Automaton::Start, R"({"a":3,"b":[[)");
  }
}

} // namespace
} // namespace llmc::constraint
