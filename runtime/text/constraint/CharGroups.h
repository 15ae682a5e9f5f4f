// Characters in fewer than 64 groups, so that what occurs in a subtree of the
// vocabulary fits a word. Masks are exact whatever the groups are; good groups
// are those that constraints tell apart: digits, letters by script and case,
// white space, each mark of ASCII.
//
// Groups 0 to 43 are of single bytes, 44 to 62 of longer characters; CharTree
// tells the latter along their bytes.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_CHARGROUPS_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_CHARGROUPS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmc::constraint {

/// Bytes that begin no character.
inline constexpr uint64_t NotUtf8 = uint64_t{1} << 63;
/// First group of characters of several bytes, and all of those.
inline constexpr unsigned FirstMultiByte = 44;
inline constexpr uint64_t MultiByte = (NotUtf8 - 1) & ~uint64_t{0}
                                                          << FirstMultiByte;

namespace detail {
constexpr std::array<uint64_t, 128> asciiGroups() {
  std::array<uint64_t, 128> Bits{};
  auto Put = [&Bits](unsigned Low, unsigned High, unsigned Group) {
    for (unsigned B = Low; B <= High; ++B)
      Bits[B] = uint64_t{1} << Group;
  };
  Put(0, 31, 0);
  Put('\t', '\t', 1);
  Put('\n', '\n', 2);
  Put('\r', '\r', 3);
  Put('0', '0', 4);
  Put('1', '9', 5);
  Put('A', 'F', 6);
  Put('G', 'Z', 7);
  Put('a', 'f', 8);
  Put('g', 'z', 9);
  unsigned Next = 10; // the other 34 of ASCII, each by itself
  for (unsigned B = 32; B < 128; ++B)
    if (Bits[B] == 0)
      Bits[B] = uint64_t{1} << Next++;
  return Bits;
}
inline constexpr std::array<uint64_t, 128> AsciiGroups = asciiGroups();
static_assert(AsciiGroups[127] == uint64_t{1} << (FirstMultiByte - 1));
} // namespace detail

/// The group of a character of one byte; B is below 0x80.
constexpr uint64_t asciiGroup(uint8_t B) { return detail::AsciiGroups[B]; }

/// Within a character of UTF-8 (Unicode standard, table 3-7): Left bytes are
/// missing, the next one is within Low and High.
struct Utf8Rest {
  uint8_t Left = 0, Low = 0, High = 0;

  /// What a first byte leaves; Left is 0 when it begins no such character.
  static constexpr Utf8Rest after(uint8_t Lead) {
    if (Lead < 0xC2 || Lead > 0xF4)
      return {};
    if (Lead < 0xE0)
      return {1, 0x80, 0xBF};
    if (Lead < 0xF0)
      return {2, static_cast<uint8_t>(Lead == 0xE0 ? 0xA0 : 0x80),
              static_cast<uint8_t>(Lead == 0xED ? 0x9F : 0xBF)};
    return {3, static_cast<uint8_t>(Lead == 0xF0 ? 0x90 : 0x80),
            static_cast<uint8_t>(Lead == 0xF4 ? 0x8F : 0xBF)};
  }
  constexpr bool operator==(const Utf8Rest &) const = default;
  constexpr bool takes(uint8_t B) const { return B >= Low && B <= High; }
  constexpr Utf8Rest next() const {
    return {static_cast<uint8_t>(Left - 1), 0x80, 0xBF};
  }
};

/// The groups of longer characters as a tree over their bytes; equal subtrees
/// are one. Nodes 0 to 62 are characters of the group of that number.
class CharTree {
public:
  /// The only one; made when it is first asked for, in 2 ms.
  static const CharTree &get();

  /// The node behind a first byte, 0xC2 to 0xF4.
  uint32_t lead(uint8_t B) const { return Leads[B - 0xC2u]; }
  /// The node behind a further byte, which Utf8Rest takes.
  uint32_t next(uint32_t Node, uint8_t B) const {
    return Nodes[Node].Next[B & 63];
  }
  /// Groups of the characters below a node.
  uint64_t groups(uint32_t Node) const { return Nodes[Node].Groups; }
  /// Groups of the characters that a byte can begin; NotUtf8 when none.
  uint64_t groupsFrom(uint8_t B) const {
    if (B < 0x80)
      return asciiGroup(B);
    return B < 0xC2 || B > 0xF4 ? NotUtf8 : groups(lead(B));
  }

private:
  static constexpr uint32_t None = 63; ///< no character
  struct Node {
    uint64_t Groups = 0;
    std::array<uint32_t, 64> Next{};
  };
  friend class CharTreeBuilder;
  CharTree();

  std::vector<Node> Nodes;
  std::array<uint32_t, 0xF5 - 0xC2> Leads{};
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_CHARGROUPS_H
