// Builds the double-array trie of a vocabulary. Reading it takes two adds and
// a comparison per byte; see TrieNode for the layout.
#ifndef LLMC_RUNTIME_TEXT_TOKENTRIE_H
#define LLMC_RUNTIME_TEXT_TOKENTRIE_H

#include "runtime/text/TokenizerImage.h"

namespace llmc {

/// Entries: bytes of tokens, none empty and none twice, with their ids.
/// Node 0 is the root.
std::vector<TrieNode>
buildTrie(std::vector<std::pair<std::string_view, int32_t>> Entries);

/// Child of a node; 0: none.
inline uint32_t trieChild(std::span<const TrieNode> Trie, uint32_t Node,
                          uint8_t Byte) {
  size_t Child = static_cast<size_t>(Trie[Node].Base) + Byte;
  return Child < Trie.size() && Trie[Child].Check == Node + 1
             ? static_cast<uint32_t>(Child)
             : 0;
}

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_TOKENTRIE_H
