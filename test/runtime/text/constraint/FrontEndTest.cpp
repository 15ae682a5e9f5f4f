// The notations: what is read, what is refused and with which words.
#include "test/runtime/text/constraint/Support.h"

namespace llmc::constraint {
namespace {

void expectTexts(Compiled &C, std::initializer_list<const char *> Good,
                 std::initializer_list<const char *> Bad) {
  ASSERT_TRUE(C.ok()) << C.Refused;
  for (const char *S : Good)
    EXPECT_TRUE(C.accepts(S)) << S;
  for (const char *S : Bad)
    EXPECT_FALSE(C.accepts(S)) << S;
}

TEST(Lark, ImportsIgnoresAndRecursion) {
  Compiled C(Dialect::Lark, R"lark(
    ?start: sum
    sum: product (("+"|"-") product)* -> add   // comment
    product: atom ("*" atom)*
    atom: NUMBER | "(" sum ")" | CNAME
    %import common.NUMBER
    %import common (CNAME, WS)
    %ignore WS
  )lark");
  expectTexts(C, {"1+2*(x-3)", " 1 + 2 ", "((y))"}, {"1+", "()", "1 ++ 2"});
}

TEST(Lark, LiteralsRangesAndRepetition) {
  Compiled C(Dialect::Lark, "start: \"a\"..\"c\" HEX~2..3 \"OK\"i /x.y/s?\n"
                            "HEX: \"0\"..\"9\" | /[a-f]/i\n");
  expectTexts(C, {"b0Fok", "caaaOK", "b00Okx\ny"}, {"d00ok", "b0ok"});
}

TEST(Lark, RefusesWhatIsNotDone) {
  for (const char *G :
       {"start{a}: a", "start: <|think|>", "start: a\n%declare X",
        "start: \"a\"\n%import other.X", "start: x", "START: \"a\"",
        "start: A\nA: B\nB: A \"x\" | \"y\"", "start: A\nA: b\nb: \"x\"",
        "start: start \"x\"", "start: \"a", "start: /a(?=b)/"})
    EXPECT_FALSE(Compiled(Dialect::Lark, G).ok()) << G;
}

TEST(Lark, IgnoresTerminalsOnly) {
  auto Refused = [](const char *G) {
    return Compiled(Dialect::Lark, G).Refused;
  };
  EXPECT_EQ(Refused("%ignore WS\nstart: \"a\""),
            "grammar: %ignore calls 'WS', which is not there");
  EXPECT_EQ(Refused("%ignore (\" \" | x)\nstart: x\nx: \"a\""),
            "grammar: %ignore calls rule 'x', expected a terminal");
  EXPECT_EQ(Refused("start: A\nA: WS"),
            "grammar: terminal 'A' calls 'WS', which is not there");
  EXPECT_EQ(Refused("start: A\nA: x\nx: \"a\""),
            "grammar: terminal 'A' calls rule 'x', expected a terminal");
  EXPECT_EQ(Refused("%ignore \" \"~9000000\nstart: \"a\""),
            "grammar: %ignore demands texts of 9000000 characters and more, "
            "at most 200000");
  Compiled C(Dialect::Lark, "%ignore WS\nstart: \"a\" \"b\"\nWS: \" \"");
  expectTexts(C, {"ab", " a  b "}, {"a"});
}

TEST(Gbnf, NamesThePlace) {
  Compiled C(Dialect::Gbnf, "root ::= a\na ::= \"x\" b\n");
  EXPECT_EQ(C.Refused, "grammar: rule 'a' calls 'b', which is not there");
  Compiled D(Dialect::Gbnf, "root ::= \"x\"\nb ::= [z-a]\n");
  EXPECT_EQ(D.Refused, "grammar, line 2: range from 122 down to 97");
}

TEST(Schema, NamesThePlace) {
  Compiled C(Dialect::JsonSchema,
             R"({"properties":{"a/b":{"$dynamicRef":"#x"}}})");
  EXPECT_EQ(C.Refused, "schema: /properties/a~1b/$dynamicRef: keyword "
                       "'$dynamicRef' is not supported");
  Compiled D(Dialect::JsonSchema, R"({"minLength":-2})");
  EXPECT_EQ(D.Refused, "schema: /minLength: is -2, expected a count of 0 or "
                       "more");
}

TEST(Schema, WhiteSpaceIsAnOption) {
  const char *S = R"({"properties":{"a":{"type":"array"}},"required":["a"]})";
  Compiled Compact(Dialect::JsonSchema, S);
  Compiled Free(Dialect::JsonSchema, S, {.Whitespace = true});
  EXPECT_TRUE(Compact.accepts("{\"a\":[1,2]}"));
  EXPECT_FALSE(Compact.live("{ "));
  EXPECT_TRUE(Free.accepts("{\n  \"a\" : [ 1,\t2 ],\"b\":{ }\n}"));
  EXPECT_FALSE(Free.live("{\"a\":[1 2"));
}

TEST(Schema, NoKeyComesTwice) {
  Compiled C(Dialect::JsonSchema, R"({"properties":{"a":{}}})");
  EXPECT_TRUE(C.accepts(R"({"a":1,"b":1,"bb":2,"c":{"b":1}})"));
  for (const char *S : {R"({"a":1,"a":)", R"({"b":1,"b":)",
                        R"({"b":1,"c":1,"b")", R"({"x":{"b":1,"b")"})
    EXPECT_FALSE(C.live(S)) << S;
}

TEST(Schema, LargeBounds) {
  Compiled C(Dialect::JsonSchema,
             R"({"type":"string","minLength":2000,"maxLength":65536})");
  EXPECT_TRUE(C.accepts("\"" + std::string(60000, 'x') + "\""));
  EXPECT_FALSE(C.live("\"" + std::string(65537, 'x')));
  EXPECT_FALSE(C.accepts("\"" + std::string(1999, 'x') + "\""));
  Compiled D(Dialect::JsonSchema,
             R"({"type":"integer","minimum":9007199254740993})");
  EXPECT_TRUE(D.accepts("9007199254740993"));
  EXPECT_FALSE(D.accepts("9007199254740992"));
}

} // namespace
} // namespace llmc::constraint
