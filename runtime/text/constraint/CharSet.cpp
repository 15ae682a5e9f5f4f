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

/// What follows the first bytes of characters that share them: Ranges of the
/// bits in the last Left bytes. Disjoint bytes lead to different terms, so
/// that a byte of even a large class leaves one alternative.
TermId restTerm(Terms &T, std::span<const CharSet::Range> Ranges, unsigned Left,
                uint32_t Mark) {
  uint32_t Shift = 6 * (Left - 1), Block = 1u << Shift;
  std::vector<TermId> Tails;
  std::vector<ByteSet> Heads;
  auto Put = [&](uint32_t First, uint32_t Last, TermId Tail) {
    size_t I = static_cast<size_t>(std::find(Tails.begin(), Tails.end(), Tail) -
                                   Tails.begin());
    if (I == Tails.size())
      Tails.push_back(Tail), Heads.emplace_back();
    Heads[I] = Heads[I] | ByteSet::range(Mark | First, Mark | Last);
  };
  TermId Full = Epsilon; // all of the continuing bytes
  for (unsigned I = 1; I < Left; ++I)
    Full = T.seq(T.bytes(ByteSet::range(0x80, 0xBF)), Full);
  std::vector<CharSet::Range> Part; // of the value Value
  uint32_t Value = 0;
  auto Flush = [&] {
    if (!Part.empty())
      Put(Value, Value, restTerm(T, Part, Left - 1, 0x80));
    Part.clear();
  };
  for (CharSet::Range R : Ranges)
    while (R.Low <= R.High) {
      uint32_t At = R.Low >> Shift,
               End = std::min(R.High, (At << Shift) + Block - 1);
      if (R.Low == At << Shift && End == R.Low + Block - 1) {
        uint32_t Last = ((R.High + 1) >> Shift) - 1;
        Put(At, Last, Full);
        End = (Last << Shift) + Block - 1;
      } else {
        if (At != Value)
          Flush();
        Value = At;
        Part.push_back({R.Low - (At << Shift), End - (At << Shift)});
      }
      R.Low = End + 1;
    }
  Flush();
  std::vector<TermId> List;
  for (size_t I = 0; I < Tails.size(); ++I)
    List.push_back(T.seq(T.bytes(Heads[I]), Tails[I]));
  return T.alt(List);
}

} // namespace

TermId utf8Term(Terms &T, const CharSet &S) {
  static constexpr uint32_t Ends[] = {0x7F, 0x7FF, 0xFFFF, MaxCodePoint};
  static constexpr uint32_t Marks[] = {0, 0xC0, 0xE0, 0xF0};
  std::vector<TermId> List;
  for (unsigned I = 0; I < 4; ++I) {
    std::vector<CharSet::Range> Part;
    for (const CharSet::Range &R : S.ranges()) {
      uint32_t Low = std::max(R.Low, I == 0 ? 0 : Ends[I - 1] + 1);
      uint32_t High = std::min(R.High, Ends[I]);
      if (Low <= High)
        Part.push_back({Low, High});
    }
    if (!Part.empty())
      List.push_back(restTerm(T, Part, I + 1, Marks[I]));
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
