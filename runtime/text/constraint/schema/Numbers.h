// Sets of JSON numbers as automata on their digits, exact for every decimal.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_NUMBERS_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_NUMBERS_H

#include "runtime/base/Status.h"
#include "runtime/text/constraint/Terms.h"

#include <string>

namespace llmc::constraint {

/// Digits times ten to the Exponent; no zeros at either end of Digits, none
/// at all for zero.
struct Decimal {
  bool Negative = false;
  std::string Digits;
  int Exponent = 0;

  bool zero() const { return Digits.empty(); }
  /// Plain notation, without an exponent.
  std::string text() const;
};

/// The exponent that a number ends with; so small that the digits of any text
/// can move it without overflow.
long exponentAt(const char *Text);

/// Unsupported when the exponent is beyond 400.
Result<Decimal> parseDecimal(const std::string &Text);

/// A set of numbers. Values: all texts without exponent of the set's numbers,
/// so intersection and complement are exact. Texts: those of them that are
/// written; for each number at least its plainest text.
struct NumberSet {
  TermId Values = Nothing;
  TermId Texts = Nothing;
};

class Numbers {
public:
  explicit Numbers(Terms &T);

  NumberSet all() const { return {Plain, Plain}; }
  NumberSet integers() const { return {IntegerValues, IntegerTexts}; }
  /// At least (Strict: more than) a bound; at most.
  NumberSet above(const Decimal &D, bool Strict);
  NumberSet below(const Decimal &D, bool Strict);
  /// Raw: how the schema writes it.
  NumberSet only(const Decimal &D, const std::string &Raw);
  /// Unsupported when the automaton would be too large.
  Result<NumberSet> multiples(const Decimal &D);

  NumberSet both(const NumberSet &A, const NumberSet &B);
  NumberSet either(const NumberSet &A, const NumberSet &B);
  NumberSet without(const NumberSet &A); ///< all numbers that are not in A
  bool empty(const NumberSet &A);

  /// What is written; with exponents when every number is in the set.
  TermId written(const NumberSet &A);
  /// The same with one text for each number.
  TermId writtenOnce(const NumberSet &A);

private:
  enum Relation : uint8_t { Less = 1, Equal = 2, Greater = 4 };
  TermId magnitude(const Decimal &D, unsigned Relations);
  TermId negative(TermId Magnitude);
  NumberSet bounded(TermId Values) const;

  Terms &T;
  TermId Unsigned; ///< texts without sign
  TermId Plain;    ///< and with it
  TermId IntegerValues, IntegerTexts;
  TermId NegativeZero;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_NUMBERS_H
