// WordPiece (longest token first) and WordLevel (whole pieces only).
#ifndef LLMC_RUNTIME_TEXT_WORDMODELS_H
#define LLMC_RUNTIME_TEXT_WORDMODELS_H

#include "runtime/text/TokenizerImage.h"

namespace llmc {

class WordModels {
public:
  explicit WordModels(const TokenizerData &D);

  /// Appends the tokens of well-formed Piece to Out. Unsupported when a piece
  /// has none and there is no unknown token.
  Status wordPiece(std::string_view Piece, std::vector<int32_t> &Out) const;
  Status wordLevel(std::string_view Piece, std::vector<int32_t> &Out) const;

private:
  Status unknown(std::string_view Piece, std::vector<int32_t> &Out) const;

  const TokenizerData &D;
  size_t Longest = 0; ///< bytes of the longest token
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_WORDMODELS_H
