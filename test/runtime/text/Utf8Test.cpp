// UTF-8: validation and the stream that holds back unfinished characters.
#include "runtime/text/Utf8.h"
#include "runtime/text/ByteLevel.h"

#include <gtest/gtest.h>

using namespace llmc;

namespace {

std::string streamed(std::string_view Bytes, size_t Step) {
  Utf8Stream S;
  std::string Out;
  for (size_t I = 0; I < Bytes.size(); I += Step)
    S.push(Bytes.substr(I, Step), Out);
  S.finish(Out);
  return Out;
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(findBadUtf8("plain"), std::string_view::npos);
  EXPECT_EQ(findBadUtf8("\xC3\xA9\xF0\x9F\x98\x80"), std::string_view::npos);
  EXPECT_EQ(findBadUtf8("ab\xC3"), 2u);           // unfinished
  EXPECT_EQ(findBadUtf8("a\xC0\xAF"), 1u);        // overlong
  EXPECT_EQ(findBadUtf8("\xED\xA0\x80"), 0u);     // surrogate
  EXPECT_EQ(findBadUtf8("\xF4\x90\x80\x80"), 0u); // above U+10FFFF
}

TEST(Utf8, StreamGivesWholeCharactersOnly) {
  Utf8Stream S;
  std::string Out;
  S.push("\xF0\x9F", Out);
  S.push("\x98", Out);
  EXPECT_EQ(Out, "");
  S.push("\x80x", Out);
  EXPECT_EQ(Out, "\xF0\x9F\x98\x80x");
  EXPECT_TRUE(S.empty());
}

TEST(Utf8, BrokenCharactersBecomeOneReplacementPerSubpart) {
  const std::string R = "\xEF\xBF\xBD";
  for (size_t Step : {1, 2, 3, 7}) {
    EXPECT_EQ(streamed("\xE4\xBD"
                       "A",
                       Step),
              R + "A");
    EXPECT_EQ(streamed("\x80\x80", Step), R + R);
    EXPECT_EQ(streamed("\xED\xA0\x80", Step), R + R + R);
    EXPECT_EQ(streamed("\xED\xA0", Step), R + R);
    EXPECT_EQ(streamed("\xED\xA0"
                       "b",
                       Step),
              R + R + "b");
    EXPECT_EQ(streamed("\xF0\x9F\x98", Step), R);
  }
}

TEST(ByteLevel, AlphabetIsABijection) {
  std::string All;
  for (int B = 0; B < 256; ++B)
    All.push_back(static_cast<char>(B));
  std::string Spelling = bytesToByteLevel(All);
  EXPECT_EQ(byteLevelToBytes(Spelling), All);
  EXPECT_EQ(bytesToByteLevel(" \n"), "\xC4\xA0\xC4\x8A");
  EXPECT_FALSE(byteLevelToBytes("a b").has_value());
}

} // namespace
