// The texts of a vocabulary as a trie, laid out for walking: nodes in order of
// a depth first walk, so that skipping a subtree is one jump.
//
// Tokens are in several tries by length: what a short token can do does not
// depend on how a long text would go on, so masks of short tokens are shared
// by more states (Terms::clamp).
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_TOKENTRIE_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_TOKENTRIE_H

#include "runtime/text/Tokenizer.h"

#include <functional>
#include <memory>

namespace llmc::constraint {

class TokenTrie {
public:
  struct Node {
    uint32_t End;   ///< first node that is not below this one
    int32_t Token;  ///< -1: none ends here
    uint16_t Depth; ///< bytes up to here; from 1
    uint8_t Byte;
  };
  struct Tier {
    uint32_t MaxBytes; ///< of its tokens
    std::vector<Node> Nodes;
  };

  /// Bytes that a token adds to a text; empty: never allowed.
  using BytesOf = std::function<std::string_view(int32_t Id)>;
  TokenTrie(size_t Vocab, const BytesOf &Bytes);
  /// Of a tokenizer, without its special tokens.
  static std::shared_ptr<const TokenTrie> of(const Tokenizer &T);

  const std::vector<Tier> &tiers() const { return Tiers; }
  size_t vocab() const { return Begin.size() - 1; }
  std::string_view bytes(int32_t Id) const {
    return std::string_view(Text).substr(Begin[Id], Begin[Id + 1] - Begin[Id]);
  }
  /// Whether a text loses the space of the token that begins it
  /// (SentencePiece).
  bool dropsLeadingSpace() const { return DropsSpace; }
  /// The next token with the same bytes, or -1.
  int32_t same(int32_t Id) const { return Same.empty() ? -1 : Same[Id]; }
  /// Calls Fn for a token and all others with its bytes.
  template <typename F> void forTwins(int32_t Id, F Fn) const {
    for (; Id >= 0; Id = same(Id))
      Fn(Id);
  }
  size_t longest() const { return Tiers.empty() ? 0 : Tiers.back().MaxBytes; }

private:
  std::string Text;
  std::vector<uint32_t> Begin;
  std::vector<int32_t> Same;
  std::vector<Tier> Tiers;
  bool DropsSpace = false;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_TOKENTRIE_H
