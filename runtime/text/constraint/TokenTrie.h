// The texts of a vocabulary as a trie, laid out for walking: nodes in order of
// a depth first walk, so that skipping a subtree is one jump, and tokens in
// the same order, so that the tokens of a subtree are one range.
//
// Tokens are in several tries by length: what a short token can do does not
// depend on how a long text would go on, so masks of short tokens are shared
// by more states (Terms::clamp).
//
// A trie lies over its image (TokenTrieImage.cpp), which artifacts hold: one
// of 150,000 tokens takes 35 ms to build and 2 ms to map, 10 MB.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_TOKENTRIE_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_TOKENTRIE_H

#include "runtime/text/Tokenizer.h"
#include "runtime/text/constraint/CharGroups.h"

#include <functional>
#include <memory>

namespace llmc::constraint {

class TokenTrie {
public:
  struct Node {
    uint32_t End;   ///< first node that is not below this one
    uint32_t Rank;  ///< of the first token at or below it, in order()
    uint16_t Depth; ///< bytes up to here; from 1
    uint8_t Byte;
    uint8_t Height; ///< most bytes below; 255: that many or more
  };
  struct Tier {
    uint32_t MaxBytes = 0;       ///< of its tokens
    std::span<const Node> Nodes; ///< and one more behind them, for Rank
    /// Groups of characters below each node. Of a first byte of a character:
    /// of what begins there, so itself included; of all that can become of a
    /// token that ends within one. Of other bytes from 0x80 on: as if a
    /// character began behind them, and NotUtf8.
    std::span<const uint64_t> Below;
    /// A bit per id of the vocabulary: the tokens of the tier.
    std::vector<uint64_t> All;
  };

  /// Bytes that a token adds to a text; empty: never allowed.
  using BytesOf = std::function<std::string_view(int32_t Id)>;
  TokenTrie(size_t Vocab, const BytesOf &Bytes, bool DropsLeadingSpace = false);
  /// Of a tokenizer, without its special tokens.
  static std::shared_ptr<const TokenTrie> of(const Tokenizer &T);
  /// Over an image, which Owner keeps alive. Malformed when it is damaged,
  /// Unsupported when it is of another version;
  /// whatever the bytes are, a trie that is returned is safe to walk. Bytes
  /// that are not aligned to 8 are copied.
  static Result<std::shared_ptr<const TokenTrie>>
  map(std::span<const uint8_t> Image,
      std::shared_ptr<const void> Owner = nullptr);
  std::span<const uint8_t> image() const { return Image; }

  const std::vector<Tier> &tiers() const { return Tiers; }
  size_t vocab() const { return Begin.size() - 1; }
  std::string_view bytes(int32_t Id) const {
    return Text.substr(Begin[Id], Begin[Id + 1] - Begin[Id]);
  }
  /// Whether a text loses the space of the token that begins it
  /// (SentencePiece).
  bool dropsLeadingSpace() const { return DropsSpace; }
  /// Tokens in the order of the nodes.
  std::span<const int32_t> order() const { return Order; }
  /// Characters of each of them, one that is cut off included; 255: or more.
  std::span<const uint8_t> chars() const { return Chars; }
  static size_t charCount(std::string_view Text);
  /// Ranks of the tokens that end at a node. Several have the same bytes.
  static std::pair<uint32_t, uint32_t> ranksAt(const Tier &T, uint32_t Node) {
    return {T.Nodes.data()[Node].Rank, T.Nodes.data()[size_t{Node} + 1].Rank};
  }
  /// Ranks of the tokens at a node and below.
  static std::pair<uint32_t, uint32_t> ranksUnder(const Tier &T,
                                                  uint32_t Node) {
    const TokenTrie::Node &N = T.Nodes.data()[Node];
    return {N.Rank, T.Nodes.data()[N.End].Rank};
  }
  /// Ranks of all tokens of a tier.
  static std::pair<uint32_t, uint32_t> ranksOf(const Tier &T) {
    return {T.Nodes.data()[0].Rank, T.Nodes.data()[T.Nodes.size()].Rank};
  }
  /// Groups of a node and what is below, as what comes at the beginning of a
  /// character.
  static uint64_t groupsUnder(const Tier &T, uint32_t Node) {
    uint8_t B = T.Nodes[Node].Byte;
    return T.Below[Node] | (B < 0x80 ? asciiGroup(B) : 0);
  }
  size_t longest() const { return Tiers.empty() ? 0 : Tiers.back().MaxBytes; }

private:
  TokenTrie() = default;
  /// Points into an image of the right size.
  void attach(std::span<const uint8_t> Bytes);
  /// Makes what the image does not hold.
  void index();
  /// What is wrong with the image; empty: nothing.
  std::string fault() const;
  std::string faultOf(const Tier &T) const;

  std::shared_ptr<const void> Owner;
  std::span<const uint8_t> Image;
  std::string_view Text;
  std::span<const uint32_t> Begin;
  std::span<const int32_t> Order;
  std::span<const uint8_t> Chars;
  std::vector<Tier> Tiers;
  bool DropsSpace = false;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_TOKENTRIE_H
