// Cuts a text into the pieces that the model treats one by one.
#ifndef LLMC_RUNTIME_TEXT_PRETOKENIZER_H
#define LLMC_RUNTIME_TEXT_PRETOKENIZER_H

#include "runtime/text/SplitRegex.h"
#include "runtime/text/TokenizerImage.h"

#include <optional>

namespace llmc {

class PreTokenizer {
public:
  using Piece = MatchSpan;

  /// Malformed when a pattern is not valid. With BytesLast off a Bytes step at
  /// the end is left out: the model takes plain bytes.
  static Result<PreTokenizer> create(const std::vector<PreStep> &Steps,
                                     bool BytesLast);

  /// Buffers of one caller.
  struct Scratch {
    SplitRegex::Scratch Regex;
    std::vector<MatchSpan> Matches;
    std::vector<Piece> Next;
  };

  /// Runs all steps over Text (well-formed UTF-8), which a step may rewrite;
  /// Pieces are ranges of the final text, none empty. Zero: bytes in front that
  /// stem from the first character that the user gave (0: the text is not the
  /// beginning).
  Status run(std::string &Text, size_t Zero, std::vector<Piece> &Pieces,
             Scratch &S) const;

private:
  Status split(size_t Step, std::string_view Text, Piece Range,
               std::vector<Piece> &Out, Scratch &S) const;

  std::vector<PreStep> Steps;
  std::vector<std::optional<SplitRegex>> Regexes; ///< by step
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_PRETOKENIZER_H
