// Comparing and dividing while reading digits from the left.
#include "runtime/text/constraint/schema/Numbers.h"

#include <algorithm>
#include <cstdlib>

namespace llmc::constraint {

namespace {

constexpr int MaxExponent = 400;
constexpr uint64_t MaxStates = 200000;

/// Classes of the automata here: ten digits, the point, all else.
constexpr uint32_t Point = 10, Other = 11, Classes = 12;

DfaTable newTable() {
  DfaTable D;
  D.Class.fill(Other);
  for (unsigned I = 0; I < 10; ++I)
    D.Class['0' + I] = static_cast<uint8_t>(I);
  D.Class['.'] = Point;
  D.Classes = Classes;
  return D;
}

uint32_t addState(DfaTable &D, bool Accept) {
  D.Accept.push_back(Accept);
  D.Next.resize(D.Next.size() + Classes, DfaTable::Dead);
  return static_cast<uint32_t>(D.Accept.size() - 1);
}

uint32_t &edge(DfaTable &D, uint32_t S, uint32_t Class) {
  return D.Next[size_t{S} * Classes + Class];
}

TermId digits(Terms &T, unsigned Low, unsigned High) {
  return T.bytes(ByteSet::range('0' + Low, '0' + High));
}

} // namespace

std::string Decimal::text() const {
  if (zero())
    return "0";
  std::string S = Digits;
  if (Exponent >= 0) {
    S.append(static_cast<size_t>(Exponent), '0');
  } else {
    size_t Behind = static_cast<size_t>(-Exponent);
    if (S.size() <= Behind)
      S.insert(0, Behind + 1 - S.size(), '0');
    S.insert(S.size() - Behind, ".");
  }
  return (Negative ? "-" : "") + S;
}

long exponentAt(const char *Text) {
  constexpr long Far = 1l << 40;
  return std::clamp(std::strtol(Text, nullptr, 10), -Far, Far);
}

Result<Decimal> parseDecimal(const std::string &Text) {
  Decimal D;
  D.Negative = !Text.empty() && Text[0] == '-';
  long Exponent = 0;
  bool Behind = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (C >= '0' && C <= '9') {
      D.Digits += C;
      Exponent -= Behind;
    } else if (C == '.') {
      Behind = true;
    } else if (C == 'e' || C == 'E') {
      Exponent += exponentAt(Text.c_str() + I + 1);
      break;
    }
  }
  while (!D.Digits.empty() && D.Digits.back() == '0') {
    D.Digits.pop_back();
    ++Exponent;
  }
  D.Digits.erase(0, std::min(D.Digits.find_first_not_of('0'), D.Digits.size()));
  if (D.zero())
    return Decimal();
  if (D.Digits.size() > MaxExponent || std::labs(Exponent) > MaxExponent)
    return unsupportedError("number of more than " +
                            std::to_string(MaxExponent) + " digits");
  D.Exponent = static_cast<int>(Exponent);
  return D;
}

Numbers::Numbers(Terms &Pool) : T(Pool) {
  TermId Digit = digits(T, 0, 9);
  TermId Natural =
      T.alt(T.byte('0'), T.seq(digits(T, 1, 9), T.repeat(Digit, 0, Unbounded)));
  TermId Minus = T.optional(T.byte('-'));
  TermId Fraction = T.seq(T.byte('.'), T.repeat(Digit, 1, Unbounded));
  TermId Zeros =
      T.optional(T.seq(T.byte('.'), T.repeat(T.byte('0'), 1, Unbounded)));
  Unsigned = T.seq(Natural, T.optional(Fraction));
  Plain = T.seq(Minus, Unsigned);
  IntegerValues = T.seq(Minus, T.seq(Natural, Zeros));
  IntegerTexts = T.alt(
      T.byte('0'),
      T.seq(Minus, T.seq(digits(T, 1, 9), T.repeat(Digit, 0, Unbounded))));
  NegativeZero = T.seq(T.literal("-0"), Zeros);
}

TermId Numbers::negative(TermId Magnitude) {
  return T.seq(T.byte('-'), Magnitude);
}

/// Texts without sign that stand in one of the Relations to |D|.
TermId Numbers::magnitude(const Decimal &D, unsigned Relations) {
  Decimal Positive = D;
  Positive.Negative = false;
  std::string Text = Positive.text();
  std::string Whole = Text.substr(0, Text.find('.'));
  std::string Part =
      Whole.size() == Text.size() ? "" : Text.substr(Whole.size() + 1);
  size_t K = Whole.size();
  DfaTable Table = newTable();
  auto Accepts = [&](unsigned R) { return (Relations & R) != 0; };
  // Behind the point: decided, or equal in the first J digits.
  uint32_t Decided[5];
  for (unsigned R : {Less, Greater}) {
    uint32_t First = addState(Table, false), More = addState(Table, Accepts(R));
    for (unsigned C = 0; C < 10; ++C)
      edge(Table, First, C) = edge(Table, More, C) = More;
    Decided[R] = First;
  }
  std::vector<uint32_t> Same; // digits of Part that were equal
  for (size_t J = 0; J <= Part.size(); ++J)
    Same.push_back(addState(Table, Accepts(J < Part.size() ? Less : Equal)));
  uint32_t SameStart = addState(Table, false);
  for (size_t J = 0; J <= Part.size() + 1; ++J) {
    // The last round is the state behind the point itself.
    uint32_t From = J == Part.size() + 1 ? SameStart : Same[J];
    size_t At = J == Part.size() + 1 ? 0 : J;
    unsigned Digit = At < Part.size() ? unsigned(Part[At] - '0') : 0;
    for (unsigned C = 0; C < 10; ++C)
      edge(Table, From, C) = C < Digit   ? edge(Table, Decided[Less], 0)
                             : C > Digit ? edge(Table, Decided[Greater], 0)
                                         : Same[std::min(At + 1, Part.size())];
  }
  auto Behind = [&](unsigned R) { return R == Equal ? SameStart : Decided[R]; };
  // The whole part: I digits read, in relation R to those of Whole.
  auto Outcome = [&](size_t I, unsigned R) {
    return I < K ? unsigned{Less} : I > K ? unsigned{Greater} : R;
  };
  auto AcceptWhole = [&](unsigned R) {
    return Accepts(R == Equal && !Part.empty() ? unsigned{Less} : R);
  };
  std::vector<std::array<uint32_t, 5>> Int(K + 2);
  for (size_t I = 1; I <= K + 1; ++I)
    for (unsigned R : {Less, Equal, Greater}) {
      unsigned O = Outcome(I, R);
      Int[I][R] = addState(Table, AcceptWhole(O));
      edge(Table, Int[I][R], Point) = Behind(O);
    }
  uint32_t Start = addState(Table, false);
  auto Compare = [&](size_t I, unsigned R, unsigned C) {
    unsigned Digit = I < K ? unsigned(Whole[I] - '0') : 0;
    if (R != Equal || I >= K || C == Digit)
      return R;
    return C < Digit ? unsigned{Less} : unsigned{Greater};
  };
  for (size_t I = 1; I <= K + 1; ++I)
    for (unsigned R : {Less, Equal, Greater})
      for (unsigned C = 0; C < 10; ++C)
        edge(Table, Int[I][R], C) =
            Int[std::min(I + 1, K + 1)][Compare(I, R, C)];
  for (unsigned C = 1; C < 10; ++C)
    edge(Table, Start, C) = Int[1][Compare(0, Equal, C)];
  // A leading zero is the whole part.
  unsigned ZeroIs = Whole == "0" ? Equal : Less;
  uint32_t Zero = addState(Table, AcceptWhole(ZeroIs));
  edge(Table, Zero, Point) = Behind(ZeroIs);
  edge(Table, Start, 0) = Zero;
  return T.dfa(std::move(Table), Start);
}

NumberSet Numbers::bounded(TermId Values) const {
  return {Values, T.except(Values, NegativeZero)};
}

NumberSet Numbers::above(const Decimal &D, bool Strict) {
  unsigned Same = Strict ? 0 : Equal;
  if (!D.Negative && !D.zero())
    return bounded(magnitude(D, Greater | Same));
  TermId Below = negative(magnitude(D, Less | Same));
  if (D.zero() && Strict)
    return bounded(magnitude(D, Greater));
  return bounded(T.alt(Unsigned, Below));
}

NumberSet Numbers::below(const Decimal &D, bool Strict) {
  unsigned Same = Strict ? 0 : Equal;
  if (D.Negative)
    return bounded(negative(magnitude(D, Greater | Same)));
  if (D.zero())
    return bounded(Strict ? negative(magnitude(D, Greater))
                          : T.alt(negative(Unsigned), magnitude(D, Equal)));
  return bounded(T.alt(negative(Unsigned), magnitude(D, Less | Same)));
}

NumberSet Numbers::only(const Decimal &D, const std::string &Raw) {
  TermId Same = magnitude(D, Equal);
  NumberSet S;
  S.Values = D.zero()     ? T.alt(Same, negative(Same))
             : D.Negative ? negative(Same)
                          : Same;
  S.Texts = T.literal(D.text());
  if (T.matches(S.Values, Raw))
    S.Texts = T.alt(S.Texts, T.literal(Raw));
  return S;
}

Result<NumberSet> Numbers::multiples(const Decimal &D) {
  // Whole: the divisor times ten to the Scale.
  uint64_t Scale = D.Exponent < 0 ? static_cast<uint64_t>(-D.Exponent) : 0;
  uint64_t Whole = 0;
  for (char C : D.Digits) {
    Whole = Whole * 10 + static_cast<uint64_t>(C - '0');
    if (Whole * (Scale + 3) > MaxStates)
      return unsupportedError("multipleOf " + D.text() +
                              " takes too many states, at most " +
                              std::to_string(MaxStates));
  }
  DfaTable Table = newTable();
  // Remainders in each place: 0 the whole part, 1.. digits behind the point.
  auto Divides = [&](uint64_t Rest, uint64_t Missing) {
    for (; Missing > 0; --Missing)
      Rest = Rest * 10 % Whole;
    return Rest == 0;
  };
  for (uint64_t Place = 0; Place <= Scale; ++Place)
    for (uint64_t R = 0; R < Whole; ++R)
      addState(Table, Divides(R, Scale - Place));
  auto At = [&](uint64_t Place, uint64_t R) {
    return static_cast<uint32_t>(Place * Whole + R);
  };
  uint32_t Start = addState(Table, false), Zero = addState(Table, true);
  uint32_t Zeros = addState(Table, true); // behind the last place that counts
  edge(Table, Zeros, 0) = Zeros;
  // Behind a point a digit must come.
  std::vector<uint32_t> Open;
  for (uint64_t R = 0; R < Whole; ++R)
    Open.push_back(addState(Table, false));
  auto Step = [&](uint32_t From, uint64_t Place, uint64_t R) {
    for (unsigned C = 0; C < 10; ++C) {
      if (Place < Scale)
        edge(Table, From, C) = At(Place + 1, (R * 10 + C) % Whole);
      else if (C == 0 && R == 0)
        edge(Table, From, C) = Zeros;
    }
  };
  for (uint64_t R = 0; R < Whole; ++R) {
    for (unsigned C = 0; C < 10; ++C)
      edge(Table, At(0, R), C) = At(0, (R * 10 + C) % Whole);
    edge(Table, At(0, R), Point) = Open[R];
    Step(Open[R], 0, R);
    for (uint64_t Place = 1; Place <= Scale; ++Place)
      Step(At(Place, R), Place, R);
  }
  for (unsigned C = 1; C < 10; ++C)
    edge(Table, Start, C) = At(0, C % Whole);
  edge(Table, Start, 0) = Zero;
  edge(Table, Zero, Point) = Open[0];
  TermId Found = T.dfa(std::move(Table), Start);
  if (D.Exponent > 0) { // a multiple of the digits, with so many zeros
    TermId Ints = T.both(Found, T.except(IntegerTexts, T.byte('0')));
    TermId ZeroPart =
        T.optional(T.seq(T.byte('.'), T.repeat(T.byte('0'), 1, Unbounded)));
    TermId Padded = T.seq(
        Ints, T.literal(std::string(static_cast<size_t>(D.Exponent), '0')));
    Found = T.seq(T.alt(T.byte('0'), Padded), ZeroPart);
  }
  return bounded(T.alt(Found, negative(Found)));
}

NumberSet Numbers::both(const NumberSet &A, const NumberSet &B) {
  return {T.both(A.Values, B.Values), T.both(A.Texts, B.Texts)};
}
NumberSet Numbers::either(const NumberSet &A, const NumberSet &B) {
  return {T.alt(A.Values, B.Values), T.alt(A.Texts, B.Texts)};
}
NumberSet Numbers::without(const NumberSet &A) {
  TermId Rest = T.except(Plain, A.Values);
  return {Rest, Rest};
}
bool Numbers::empty(const NumberSet &A) { return !T.live(A.Values); }

TermId Numbers::written(const NumberSet &A) {
  if (T.live(T.except(Plain, A.Values)))
    return A.Texts;
  ByteSet E, Sign;
  E.add('e'), E.add('E');
  Sign.add('+'), Sign.add('-');
  TermId Exponent =
      T.seq(T.bytes(E), T.seq(T.optional(T.bytes(Sign)),
                              T.repeat(digits(T, 0, 9), 1, Unbounded)));
  return T.seq(Plain, T.optional(Exponent));
}

TermId Numbers::writtenOnce(const NumberSet &A) {
  TermId Digit = digits(T, 0, 9);
  TermId Natural =
      T.alt(T.byte('0'), T.seq(digits(T, 1, 9), T.repeat(Digit, 0, Unbounded)));
  TermId Fraction =
      T.seq(T.byte('.'), T.seq(T.repeat(Digit, 0, Unbounded), digits(T, 1, 9)));
  TermId Once =
      T.seq(T.optional(T.byte('-')), T.seq(Natural, T.optional(Fraction)));
  TermId Found = T.both(A.Texts, T.except(Once, NegativeZero));
  return T.live(Found) ? Found : Nothing;
}

} // namespace llmc::constraint
