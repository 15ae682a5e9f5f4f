// The tree of groups against the characters one by one.
#include "runtime/text/constraint/CharGroups.h"

#include "runtime/text/Utf8.h"

#include <bit>
#include <gtest/gtest.h>

namespace llmc::constraint {
namespace {

uint64_t groupOf(uint32_t C) {
  std::string Text;
  appendUtf8(Text, C);
  uint8_t Lead = static_cast<uint8_t>(Text[0]);
  if (Text.size() == 1)
    return asciiGroup(Lead);
  const CharTree &T = CharTree::get();
  uint32_t Node = T.lead(Lead);
  uint64_t Under = T.groups(Node);
  for (char B : Text.substr(1)) {
    Node = T.next(Node, static_cast<uint8_t>(B));
    EXPECT_EQ(T.groups(Node) & ~Under, 0u) << C;
    Under = T.groups(Node);
  }
  return Under;
}

TEST(CharGroups, EveryCharacterHasOne) {
  for (uint32_t C = 0; C <= 0x10FFFF; C += C < 0x30000 ? 1 : 61)
    if (C < 0xD800 || C > 0xDFFF) {
      uint64_t G = groupOf(C);
      ASSERT_EQ(std::popcount(G), 1) << C;
      ASSERT_EQ((G & MultiByte) != 0, C >= 0x80) << C;
    }
}

TEST(CharGroups, TellApartWhatConstraintsDo) {
  EXPECT_EQ(groupOf(0x3000), groupOf(0xA0)); // white space
  EXPECT_EQ(groupOf(U'一'), groupOf(U'龥'));
  EXPECT_NE(groupOf(U'一'), groupOf(U'、'));
  EXPECT_NE(groupOf(U'é'), groupOf(U'É'));
  EXPECT_NE(groupOf(U'é'), groupOf(U'÷'));
  EXPECT_EQ(groupOf(U'ё'), groupOf(U'я'));
  EXPECT_EQ(groupOf(U'가'), groupOf(U'힣'));
  EXPECT_EQ(CharTree::get().groupsFrom(0x80), NotUtf8);
  EXPECT_EQ(CharTree::get().groupsFrom(0xF5), NotUtf8);
}

} // namespace
} // namespace llmc::constraint
