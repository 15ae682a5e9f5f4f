// Byte-pair encoding of one piece: merges neighbouring tokens, lowest rank
// first, leftmost first among equals.
#ifndef LLMC_RUNTIME_TEXT_BPE_H
#define LLMC_RUNTIME_TEXT_BPE_H

#include "runtime/text/TokenizerImage.h"

namespace llmc {

class Bpe {
public:
  explicit Bpe(const TokenizerData &D) : D(D) {}

  /// Appends the tokens of a piece to Out. Bytes without a token vanish, as
  /// in the tokenizers library.
  void encode(std::string_view Piece, std::vector<int32_t> &Out) const;

private:
  const Merge *find(int32_t Left, int32_t Right) const;
  int32_t wholeToken(std::string_view Piece) const;
  void mergeShort(int32_t *Ids, size_t N, std::vector<int32_t> &Out) const;
  void mergeLong(const std::vector<int32_t> &Ids,
                 std::vector<int32_t> &Out) const;

  const TokenizerData &D;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_BPE_H
