// Sets of Unicode code points, and their UTF-8 as terms.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_CHARSET_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_CHARSET_H

#include "runtime/base/Status.h"
#include "runtime/text/constraint/Terms.h"

#include <string>

namespace llmc::constraint {

inline constexpr uint32_t MaxCodePoint = 0x10FFFF;

/// Sorted, disjoint, not adjoining ranges without surrogates (which no text
/// has).
class CharSet {
public:
  struct Range {
    uint32_t Low, High;
    bool operator==(const Range &) const = default;
  };
  CharSet() = default;
  CharSet(uint32_t Low, uint32_t High) { add(Low, High); }

  static CharSet all() { return CharSet(0, MaxCodePoint); }
  void add(uint32_t Low, uint32_t High);
  void add(const CharSet &O) {
    for (const Range &R : O.Ranges)
      add(R.Low, R.High);
  }
  CharSet complement() const;
  CharSet minus(const CharSet &O) const;
  CharSet intersect(const CharSet &O) const;
  bool has(uint32_t C) const;
  bool empty() const { return Ranges.empty(); }
  const std::vector<Range> &ranges() const { return Ranges; }
  bool operator==(const CharSet &) const = default;

private:
  std::vector<Range> Ranges;
};

/// The set as one character of UTF-8.
TermId utf8Term(Terms &T, const CharSet &S);

/// Classes of regular expressions: digits and words are those of ASCII, space
/// is that of ECMAScript.
CharSet digitChars();
CharSet wordChars();
CharSet spaceChars();
/// A Unicode property as in \p{...}: general category, script or binary
/// property. Unsupported when there is none of that name.
Result<CharSet> propertyChars(const std::string &Name);
/// With all letters that differ from one of the set in case only.
CharSet foldCase(const CharSet &S);

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_CHARSET_H
