// Layout of the image of a token trie, for the file that writes it and the one
// that maps it: little endian, every part at a multiple of 8 bytes.
//
//   ImageHeader | ImageTier[TierCount] | u32 Begin[Vocab + 1] |
//   i32 Order[OrderCount] | u8 Chars[OrderCount] | per tier: Node[NodeCount +
//   1], u64 Below[NodeCount] | bytes of all tokens
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_TOKENTRIEIMAGE_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_TOKENTRIEIMAGE_H

#include "runtime/text/constraint/TokenTrie.h"

namespace llmc::constraint {

/// Changes when the layout, the tiers or the groups of characters do: an image
/// of another kind is not read but made anew.
inline constexpr uint32_t TrieImageMagic = 0x32545443; // "CTT2"

struct ImageHeader {
  uint32_t Magic, Vocab, DropsSpace, TextBytes, OrderCount, TierCount;
};
struct ImageTier {
  uint32_t MaxBytes, NodeCount;
};
static_assert(sizeof(ImageHeader) == 24 && sizeof(ImageTier) == 8 &&
              sizeof(TokenTrie::Node) == 12);
inline constexpr uint32_t MaxTiers = 8;

/// Offsets of the parts.
struct ImageParts {
  ImageParts(const ImageHeader &H, std::span<const ImageTier> Tiers);
  uint64_t Begin, Order, Chars, Text, Bytes;
  std::vector<uint64_t> Nodes, Below;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_TOKENTRIEIMAGE_H
