// The unigram model: the sequence of pieces with the highest sum of scores.
#ifndef LLMC_RUNTIME_TEXT_UNIGRAM_H
#define LLMC_RUNTIME_TEXT_UNIGRAM_H

#include "runtime/text/FastSplit.h"
#include "runtime/text/TokenizerImage.h"

namespace llmc {

class Unigram {
public:
  explicit Unigram(const TokenizerData &D) : D(D) {}

  /// Buffers of one caller.
  struct Scratch {
    struct Node {
      double Score;
      int32_t Id;
      uint32_t Begin; ///< of the last piece of the best path to here
    };
    std::vector<Node> Nodes;
    std::vector<MatchSpan> Path;
  };

  /// Appends the tokens of well-formed Piece to Out. Unsupported when a
  /// character has no token and there is no unknown token.
  Status encode(std::string_view Piece, std::vector<int32_t> &Out,
                Scratch &S) const;

private:
  template <typename Score>
  Status findPath(std::string_view Piece, Scratch &S) const;
  Status put(std::string_view Text, std::vector<int32_t> &Out) const;

  const TokenizerData &D;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_UNIGRAM_H
