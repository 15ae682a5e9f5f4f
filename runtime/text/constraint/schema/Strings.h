// Sets of JSON strings as terms over their text in JSON.
//
// Every character has exactly one spelling there: itself, the short escape
// (\n), or \u00xx for the other control characters. So sets may be intersected
// and complemented as if they were sets of texts. Only strings that nothing
// but a length restricts may be written with any escape.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_STRINGS_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_STRINGS_H

#include "runtime/text/constraint/Regex.h"

#include <unordered_map>

namespace llmc::constraint {

/// Content within Min to Max characters.
struct StringSet {
  TermId Content = Nothing; ///< without quotes
  uint32_t Min = 0, Max = Unbounded;
};

class Strings {
public:
  explicit Strings(Terms &T);

  StringSet all() const { return {Any, 0, Unbounded}; }
  StringSet only(std::string_view Text);
  StringSet oneOf(const std::vector<std::string> &Texts);
  /// Strings in which a regular expression matches.
  Result<StringSet> matching(const std::string &Pattern);
  /// Unsupported when the format is unknown. Whole: none of strings, but of
  /// numbers (int32).
  Result<StringSet> format(const std::string &Name);

  StringSet both(const StringSet &A, const StringSet &B);
  StringSet either(const StringSet &A, const StringSet &B);
  StringSet without(const StringSet &A);
  bool empty(const StringSet &A);

  /// With quotes; any escape where only the length is restricted.
  TermId written(const StringSet &A);
  /// With quotes, one text for each string.
  TermId writtenOnce(const StringSet &A);
  /// Content as one term, lengths included.
  TermId content(const StringSet &A);
  TermId anyContent() const { return Any; }
  /// How a text is written, without quotes.
  static std::string spelling(std::string_view Text);

private:
  TermId chars(const CharSet &S);
  Result<TermId> whole(std::string_view Pattern);

  Terms &T;
  TermId AnyChar, Any; ///< one spelling per character
  TermId FreeChar;     ///< any spelling
  std::map<std::vector<uint32_t>, TermId> Known;
};

/// The regular expression of a format; empty when it is unknown.
std::string formatPattern(std::string_view Name);
/// Formats that restrict nothing in JSON ("password", "binary" …).
bool isNoteFormat(std::string_view Name);

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_STRINGS_H
