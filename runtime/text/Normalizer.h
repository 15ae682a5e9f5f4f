// Rewrites a text before it is cut into pieces, by the steps of the file's
// normalizer.
#ifndef LLMC_RUNTIME_TEXT_NORMALIZER_H
#define LLMC_RUNTIME_TEXT_NORMALIZER_H

#include "runtime/text/CharsMap.h"
#include "runtime/text/SplitRegex.h"
#include "runtime/text/TokenizerImage.h"

namespace llmc {

class Normalizer {
public:
  /// Malformed when a pattern or table is not valid.
  static Result<Normalizer> create(const std::vector<NormalStep> &Steps);

  bool empty() const { return Steps.empty(); }
  /// Rewrites well-formed Text. Fails when a pattern takes too long or the
  /// text grows beyond what a tokenizer takes.
  Status run(std::string &Text, SplitRegex::Scratch &S) const;
  /// Bytes in front of the rewritten Text that stem from its first character;
  /// 0 when that is dropped.
  Result<size_t> firstLength(std::string_view Text,
                             SplitRegex::Scratch &S) const;

private:
  Status runStep(size_t I, std::string &Text, SplitRegex::Scratch &S) const;

  std::vector<NormalStep> Steps;
  std::vector<std::optional<SplitRegex>> Regexes; ///< by step
  std::vector<CharsMap> Maps;                     ///< by step
};

/// Appends Text with the matches replaced.
void replaceMatches(std::string_view Text, const std::vector<MatchSpan> &M,
                    std::string_view Content, std::string &Out);
/// Text with every occurrence of Pattern replaced; an empty pattern is found
/// between all characters.
std::string replaceText(std::string_view Text, std::string_view Pattern,
                        std::string_view Content);
/// Places where Pattern occurs, without overlaps.
void findText(std::string_view Text, std::string_view Pattern,
              std::vector<MatchSpan> &Out);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_NORMALIZER_H
