// Remembers the tokens of short pieces. Text repeats its words, and looking
// one up costs a tenth of merging it. Direct-mapped: a new word takes the place
// of the old one, so the size is fixed and nothing is allocated per word.
#ifndef LLMC_RUNTIME_TEXT_WORDCACHE_H
#define LLMC_RUNTIME_TEXT_WORDCACHE_H

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace llmc {

class WordCache {
public:
  static constexpr size_t MaxBytes = 24, MaxIds = 8;

  /// Bytes of a word, filled up with zeros, and their hash.
  struct Key {
    uint64_t Words[3] = {};
    uint64_t Hash = 0;
    uint32_t Length = 0;
    explicit Key(std::string_view Piece)
        : Length(static_cast<uint32_t>(Piece.size())) {
      if (!Piece.empty())
        std::memcpy(Words, Piece.data(), Piece.size());
      Hash = (Words[0] ^ Length) * 0x9E3779B97F4A7C15u;
      Hash = ((Hash ^ Hash >> 29) + Words[1]) * 0xD6E8FEB86659FD93u;
      Hash = ((Hash ^ Hash >> 31) + Words[2]) * 0x9E3779B97F4A7C15u;
      Hash ^= Hash >> 32;
    }
  };

  /// Appends the tokens when the word is known.
  bool find(const Key &K, std::vector<int32_t> &Out) const {
    if (Entries.empty())
      return false;
    const Entry &E = Entries[K.Hash & (Size - 1)];
    if (E.Length != K.Length ||
        std::memcmp(E.Words, K.Words, sizeof(E.Words)) != 0)
      return false;
    Out.insert(Out.end(), E.Ids, E.Ids + E.Count);
    return true;
  }
  void put(const Key &K, const int32_t *Ids, size_t Count) {
    if (Count > MaxIds)
      return;
    if (Entries.empty())
      Entries.resize(Size);
    Entry &E = Entries[K.Hash & (Size - 1)];
    std::memcpy(E.Words, K.Words, sizeof(E.Words));
    E.Length = static_cast<uint16_t>(K.Length);
    E.Count = static_cast<uint16_t>(Count);
    if (Count != 0)
      std::memcpy(E.Ids, Ids, Count * sizeof(*Ids));
  }

private:
  struct Entry {
    uint64_t Words[3];
    uint16_t Length, Count; ///< Length 0: free; no piece is empty
    int32_t Ids[MaxIds];
  };
  static constexpr size_t Size = size_t(1) << 15; // 2 MiB
  std::vector<Entry> Entries;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_WORDCACHE_H
