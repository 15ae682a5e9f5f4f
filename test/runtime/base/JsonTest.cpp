// JSON output: escapes, invalid UTF-8, numbers, nesting.
#include "runtime/base/Json.h"
#include "runtime/base/JsonDepth.h"
#include "runtime/base/JsonIntegers.h"
#include "runtime/base/JsonMember.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace llmc;

static std::string quoted(std::string_view S) {
  std::string Out;
  appendJsonString(Out, S);
  return Out;
}

TEST(Json, Strings) {
  EXPECT_EQ(quoted("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
  EXPECT_EQ(quoted("\xe2\x82\xac"), "\"\xe2\x82\xac\"");
  EXPECT_EQ(quoted("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"");
  EXPECT_EQ(quoted("\xff"), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(quoted("\xed\xa0\x80").find("\xed"), std::string::npos);
  EXPECT_EQ(quoted("\xc0\xaf").find('/'), std::string::npos);
  EXPECT_EQ(quoted("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(Json, Numbers) {
  EXPECT_EQ(jsonNumber(0.1), "0.1");
  EXPECT_EQ(jsonNumber(NAN), "null");
  EXPECT_EQ(jsonNumber(INFINITY), "null");
}

TEST(Json, Nesting) {
  JsonWriter W;
  std::vector<int32_t> Ids = {1, 2};
  W.beginObject().member("a", true).list("b", Ids).key("c").beginObject();
  W.endObject().member("d", "x").endObject();
  EXPECT_EQ(W.text(), R"({"a":true,"b":[1,2],"c":{},"d":"x"})");
}

TEST(Json, DepthCountsBracketsOutsideOfTexts) {
  EXPECT_EQ(jsonDepth(""), 0);
  EXPECT_EQ(jsonDepth(R"([{"a":[1]},[]])"), 3);
  EXPECT_EQ(jsonDepth(R"(["[[[[", "\"[[["])"), 1);
  EXPECT_TRUE(checkJsonDepth(std::string(5000, '['), "x").ok());
  EXPECT_EQ(checkJsonDepth(std::string(5001, '['), "x").message(),
            "x: nested 5001 deep, at most 5000");
}

TEST(Json, MembersAreFoundAsTheyAreWritten) {
  EXPECT_EQ(jsonMember(R"({"a": {"b": 1}, "b":[1, "}"] })", "b"),
            "[1, \"}\"] ");
  EXPECT_EQ(
      jsonMember(R"({"b":"\",\"b\":3","c":12345678901234567890.50})", "c"),
      "12345678901234567890.50");
  EXPECT_EQ(jsonMember(R"({"x":"b","b":1,"b":2})", "b"), "2");
  EXPECT_EQ(jsonMember(R"({"a":{"b":1}})", "b"), "");
  EXPECT_EQ(jsonMember("{\"b", "b"), "");
}

TEST(Json, IntegersBeyond64BitsAreTold) {
  EXPECT_TRUE(checkJsonIntegers(R"([9223372036854775807,1e40,"1e99",
      12345678901234567890.5,"12345678901234567890"])",
                                "x")
                  .ok());
  EXPECT_EQ(checkJsonIntegers("[-9223372036854775809]", "x").message(),
            "x: integer -9223372036854775809 does not fit in 64 bits");
}
