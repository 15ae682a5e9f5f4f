// Cuts a text into the pieces that BPE treats one by one.
#ifndef LLMC_RUNTIME_TEXT_PRETOKENIZER_H
#define LLMC_RUNTIME_TEXT_PRETOKENIZER_H

#include "runtime/text/SplitRegex.h"
#include "runtime/text/TokenizerImage.h"

#include <functional>

namespace llmc {

class PreTokenizer {
public:
  static Result<PreTokenizer> create(const std::vector<PreStep> &Steps);

  /// Buffers of one caller.
  using Scratch = std::vector<SplitRegex::Scratch>;
  Scratch makeScratch() const;

  struct Piece {
    size_t Begin, End;
  };
  /// Runs all steps over Text (well-formed UTF-8), which a step may rewrite;
  /// Pieces are ranges of the final text, none empty.
  Status run(std::string &Text, std::vector<Piece> &Pieces, Scratch &S) const;

private:
  struct Step {
    PreStep::Kind What;
    SplitBehavior Behavior;
    bool Invert;
    size_t Regex; ///< index into Regexes
  };
  Status split(const Step &St, std::string_view Text, Piece Range,
               std::vector<Piece> &Out, SplitRegex::Scratch &S) const;

  std::vector<Step> Steps;
  std::vector<SplitRegex> Regexes;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_PRETOKENIZER_H
