// Byte-pair encoding of one piece: merges neighbouring tokens, lowest rank
// first, leftmost first among equals.
#ifndef LLMC_RUNTIME_TEXT_BPE_H
#define LLMC_RUNTIME_TEXT_BPE_H

#include "runtime/text/TokenizerImage.h"
#include "runtime/text/WordCache.h"

namespace llmc {

class Bpe {
public:
  explicit Bpe(const TokenizerData &D) : D(D) {}

  /// Buffers of one caller.
  struct Scratch {
    WordCache Cache;
    std::vector<int32_t> Ids;
  };

  /// Appends the tokens of a piece to Out. Characters without a token become
  /// byte tokens, the unknown token, or nothing, as the configuration says.
  void encode(std::string_view Piece, std::vector<int32_t> &Out,
              Scratch &S) const;

private:
  void encodePart(std::string_view Piece, std::vector<int32_t> &Out,
                  Scratch &S) const;
  void symbols(std::string_view Piece, std::vector<int32_t> &Ids) const;
  void symbolsOfChars(std::string_view Piece, std::vector<int32_t> &Ids) const;
  bool bytesOfSymbol(std::string_view Symbol, std::vector<int32_t> &Ids) const;
  void mergeShort(int32_t *Ids, size_t N, std::vector<int32_t> &Out) const;
  void mergeLong(const std::vector<int32_t> &Ids,
                 std::vector<int32_t> &Out) const;
  /// As mergeLong, in BpeLong.cpp.
  void mergeVeryLong(const std::vector<int32_t> &Ids,
                     std::vector<int32_t> &Out) const;

  const TokenizerData &D;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_BPE_H
