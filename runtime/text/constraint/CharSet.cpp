// Set arithmetic on ranges, and the split of ranges of code points into
// sequences of byte ranges.
#include "runtime/text/constraint/CharSet.h"

#include <algorithm>

namespace llmc::constraint {

void CharSet::add(uint32_t Low, uint32_t High) {
  if (Low <= 0xDFFF && High >= 0xD800) { // no surrogates
    if (Low < 0xD800)
      add(Low, 0xD7FF);
    if (High > 0xDFFF)
      add(0xE000, High);
    return;
  }
  if (Low > High)
    return;
  // The ranges that [Low, High] touches become one with it.
  auto First = std::lower_bound(
      Ranges.begin(), Ranges.end(), Low,
      [](const Range &R, uint32_t V) { return R.High + 1 < V; });
  auto Last = First;
  for (; Last != Ranges.end() && Last->Low <= High + 1; ++Last) {
    Low = std::min(Low, Last->Low);
    High = std::max(High, Last->High);
  }
  First = Ranges.erase(First, Last);
  Ranges.insert(First, {Low, High});
}

CharSet CharSet::complement() const {
  CharSet Out;
  uint32_t Next = 0;
  for (const Range &R : Ranges) {
    if (R.Low > Next)
      Out.add(Next, R.Low - 1);
    Next = R.High + 1;
  }
  if (Next <= MaxCodePoint)
    Out.add(Next, MaxCodePoint);
  return Out;
}

CharSet CharSet::intersect(const CharSet &O) const {
  CharSet Out;
  for (size_t I = 0, J = 0; I < Ranges.size() && J < O.Ranges.size();) {
    const Range &A = Ranges[I], &B = O.Ranges[J];
    if (std::max(A.Low, B.Low) <= std::min(A.High, B.High))
      Out.add(std::max(A.Low, B.Low), std::min(A.High, B.High));
    (A.High < B.High ? I : J) += 1;
  }
  return Out;
}

CharSet CharSet::minus(const CharSet &O) const {
  return intersect(O.complement());
}

bool CharSet::has(uint32_t C) const {
  auto It =
      std::lower_bound(Ranges.begin(), Ranges.end(), C,
                       [](const Range &R, uint32_t V) { return R.High < V; });
  return It != Ranges.end() && It->Low <= C;
}

namespace {

/// Byte K of the Length-byte form of C.
uint8_t byteAt(uint32_t C, unsigned Length, unsigned K) {
  static constexpr uint8_t Lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  unsigned Shift = 6 * (Length - 1 - K);
  if (Length == 1)
    return static_cast<uint8_t>(C);
  if (K == 0)
    return static_cast<uint8_t>(Lead[Length] | C >> Shift);
  return static_cast<uint8_t>(0x80 | (C >> Shift & 0x3F));
}

/// Code points that have the same bytes before byte K, from there on.
TermId spanTerm(Terms &T, uint32_t Low, uint32_t High, unsigned Length,
                unsigned K) {
  if (K + 1 == Length)
    return T.bytes(
        ByteSet::range(byteAt(Low, Length, K), byteAt(High, Length, K)));
  uint32_t Block = 1u << 6 * (Length - 1 - K); // code points per value
  std::vector<TermId> List;
  uint32_t FirstFull = (Low + Block - 1) / Block * Block;
  uint32_t EndFull = (High + 1) / Block * Block;
  auto Piece = [&](uint32_t A, uint32_t B, uint32_t Lead) {
    List.push_back(T.seq(
        T.bytes(ByteSet::range(byteAt(A, Length, K), byteAt(Lead, Length, K))),
        spanTerm(T, A, B, Length, K + 1)));
  };
  if (FirstFull >= EndFull) { // at most two pieces, none full
    uint32_t Cut = std::min(High, Low / Block * Block + Block - 1);
    Piece(Low, Cut, Low);
    if (Cut < High)
      Piece(Cut + 1, High, High);
    return T.alt(List);
  }
  if (Low < FirstFull)
    Piece(Low, FirstFull - 1, Low);
  Piece(FirstFull, FirstFull + Block - 1, EndFull - 1);
  if (EndFull <= High)
    Piece(EndFull, High, High);
  return T.alt(List);
}

} // namespace

TermId utf8Term(Terms &T, const CharSet &S) {
  static constexpr uint32_t Ends[] = {0x7F, 0x7FF, 0xFFFF, MaxCodePoint};
  std::vector<TermId> List;
  for (const CharSet::Range &R : S.ranges()) {
    uint32_t Low = R.Low;
    for (unsigned Length = 1; Length <= 4 && Low <= R.High; ++Length) {
      if (Low > Ends[Length - 1])
        continue;
      uint32_t High = std::min(R.High, Ends[Length - 1]);
      List.push_back(spanTerm(T, Low, High, Length, 0));
      Low = High + 1;
    }
  }
  return T.alt(List);
}

CharSet digitChars() { return CharSet('0', '9'); }

CharSet wordChars() {
  CharSet S('0', '9');
  S.add('A', 'Z');
  S.add('a', 'z');
  S.add('_', '_');
  return S;
}

CharSet spaceChars() {
  CharSet S(9, 13);
  for (uint32_t C :
       {0x20, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF})
    S.add(C, C);
  S.add(0x2000, 0x200A);
  return S;
}

} // namespace llmc::constraint
