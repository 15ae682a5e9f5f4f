// Properties of characters as the reference library for tokenizers knows
// them. That library mixes Unicode versions (one in its regular expressions,
// an older one in its normal forms, Rust's own elsewhere), and texts hold code
// points that only some of them know; the tables are asked from the library
// itself by tools/text/make_unicode_tables.py.
#ifndef LLMC_RUNTIME_TEXT_UNICODE_H
#define LLMC_RUNTIME_TEXT_UNICODE_H

#include <cstdint>

namespace llmc {

/// General category in the regular expressions of the library.
enum class Category : uint8_t {
  Cn,
  Cc,
  Cf,
  Co,
  Cs,
  Lu,
  Ll,
  Lt,
  Lm,
  Lo,
  Mn,
  Mc,
  Me,
  Nd,
  Nl,
  No,
  Pc,
  Pd,
  Ps,
  Pe,
  Pi,
  Pf,
  Po,
  Sm,
  Sc,
  Sk,
  So,
  Zs,
  Zl,
  Zp
};

/// Bits of charClass.
enum CharClass : uint8_t {
  CategoryBits = 31,
  RegexSpace = 32,    ///< \s of the regular expressions
  HasStandIn = 64,    ///< PCRE2 takes another category: see standIn
  NoNormalForm = 128, ///< not touched by NFC and the others
};

/// Bits of charTraits.
enum CharTrait : uint8_t {
  White = 1,       ///< white space (Unicode property White_Space)
  Numeric = 2,     ///< what Digits cuts
  Punctuation = 4, ///< what Punctuation cuts
  Other = 8,       ///< control, format, private or unassigned
  NonSpacing = 16, ///< accents that BertNormalizer removes
  Combining = 32,  ///< accents that StripAccents removes
  Word = 64,       ///< \w where whole words are asked for
};

/// All for code points up to 0x10FFFF; greater ones count as unassigned.
uint8_t charClass(uint32_t C);
uint8_t charTraits(uint32_t C);

inline Category categoryOf(uint32_t C) {
  return static_cast<Category>(charClass(C) & CategoryBits);
}
/// One bit per category.
constexpr uint32_t bitOf(Category C) { return 1u << static_cast<unsigned>(C); }

/// Number of the script as UnicodeScripts tells them apart; 0: goes with any.
uint8_t scriptOf(uint32_t C);

/// Lower case of one character (U+0130 becomes two and is left to the caller).
uint32_t lowerOf(uint32_t C);

/// A character of the same UTF-8 length that PCRE2 treats as the library
/// treats C; C itself when there is no difference.
uint32_t standIn(uint32_t C);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_UNICODE_H
