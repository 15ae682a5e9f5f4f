// Regular expressions: syntax tree and its language as a term.
//
// The dialect is the common part of Python, PCRE, RE2 and ECMAScript: literals,
// classes (\d \w \s, POSIX names, \p{...}), groups, alternatives, counted
// repetition (lazy is the same language as greedy), anchors anywhere, the flags
// i and s. What is not regular (references back, look-around, possessive and
// atomic groups, word boundaries) is refused.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_REGEX_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_REGEX_H

#include "runtime/text/constraint/CharSet.h"

#include <functional>

namespace llmc::constraint {

struct RegexNode {
  enum Kind : uint8_t { Chars, Concat, Alternate, Repeat, Begin, End };
  Kind What = Concat; ///< an empty Concat is the empty text
  uint32_t Min = 0, Max = 0;
  CharSet Set;
  std::vector<uint32_t> Kids; ///< numbers of nodes
};

struct Regex {
  std::vector<RegexNode> Nodes;
  uint32_t Root = 0;
  bool HasAnchors = false;
};

struct RegexFlags {
  bool IgnoreCase = false;
  bool DotAll = false; ///< . matches a newline
};

/// Longest text that a constraint may demand.
inline constexpr uint64_t MaxDemandedChars = 200000;

/// Parses a pattern (UTF-8). Malformed or Unsupported, with the offset.
Result<Regex> parseRegex(std::string_view Pattern, RegexFlags Flags = {});

/// How a set of characters is written: as UTF-8, or inside a JSON string.
using CharTerm = std::function<TermId(const CharSet &)>;

/// Texts that the whole pattern matches.
TermId fullMatch(Terms &T, const Regex &R, const CharTerm &Chars);
/// Texts in which the pattern matches somewhere.
TermId searchMatch(Terms &T, const Regex &R, const CharTerm &Chars);

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_REGEX_H
