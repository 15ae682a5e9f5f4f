// Breaking a paragraph into lines as Python's textwrap does: the text is cut
// into words, spaces and parts of hyphenated words, which then fill lines.
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Library.h"

#include <algorithm>

namespace llmc::jinja {

namespace {

using Chunk = std::u32string;

std::u32string decoded(std::string_view S) {
  std::u32string Out;
  for (size_t I = 0; I < S.size();)
    Out.push_back(nextCodePoint(S, I));
  return Out;
}

/// White space here is ASCII only.
bool isBlank(char32_t C) { return C == ' ' || (C >= 9 && C <= 13); }
bool isAlpha(char32_t C) { return isWord(C) && !isNumeric(C) && C != '_'; }
/// What may stand before a dash of two or more hyphens.
bool beforeDash(char32_t C) {
  return isWord(C) || C == '!' || C == '"' || C == '\'' || C == '&' ||
         C == '.' || C == ',' || C == '?';
}

class Cutter {
public:
  Cutter(std::string_view S, bool Hyphens) : T(decoded(S)), Hyphens(Hyphens) {}
  std::vector<Chunk> run();

private:
  bool alpha(size_t I) const { return I < T.size() && isAlpha(T[I]); }
  size_t dashAt(size_t I) const;
  bool breaksBehind(size_t I) const;
  size_t wordFrom(size_t I) const;
  std::u32string T;
  bool Hyphens;
};

/// End of a dash at I that stands between words; I when there is none.
size_t Cutter::dashAt(size_t I) const {
  size_t End = I;
  while (End < T.size() && T[End] == '-')
    ++End;
  bool Is = End - I >= 2 && I > 0 && beforeDash(T[I - 1]) && End < T.size() &&
            isWord(T[End]);
  return Is ? End : I;
}

/// Whether a line may end behind the hyphen at I: two letters before it (or a
/// letter, a hyphen and a letter), and behind it two letters or the same.
bool Cutter::breaksBehind(size_t I) const {
  bool Before = (I >= 2 && alpha(I - 1) && alpha(I - 2)) ||
                (I >= 3 && alpha(I - 1) && T[I - 2] == '-' && alpha(I - 3));
  bool Behind =
      alpha(I + 1) &&
      (alpha(I + 2) || (I + 2 < T.size() && T[I + 2] == '-' && alpha(I + 3)));
  return Before && Behind;
}

/// End of the part of a word that begins at I: the shortest that may end.
size_t Cutter::wordFrom(size_t I) const {
  for (size_t At = I + 1;; ++At) {
    if (At >= T.size() || isBlank(T[At]))
      return std::min(At, T.size());
    if (T[At] == '-' && breaksBehind(At))
      return At + 1;
    if (dashAt(At) != At)
      return At;
  }
}

std::vector<Chunk> Cutter::run() {
  std::vector<Chunk> Out;
  for (size_t I = 0; I < T.size();) {
    size_t End = I;
    if (isBlank(T[I]))
      while (End < T.size() && isBlank(T[End]))
        ++End;
    else if (!Hyphens)
      while (End < T.size() && !isBlank(T[End]))
        ++End;
    else if (End = dashAt(I); End == I)
      End = wordFrom(I);
    Out.push_back(T.substr(I, End - I));
    I = End;
  }
  return Out;
}

bool allSpace(const Chunk &C) {
  return std::all_of(C.begin(), C.end(),
                     [](char32_t Ch) { return isSpace(Ch); });
}

/// How much of a word that fits no line goes onto this one.
size_t partOf(const Chunk &C, size_t Left, bool Hyphens) {
  size_t Hyphen =
      Hyphens && C.size() > Left && Left > 0 ? C.rfind('-', Left - 1) : 0;
  if (Hyphen == Chunk::npos || Hyphen == 0)
    return Left;
  bool Other = std::any_of(C.begin(), C.begin() + static_cast<long>(Hyphen),
                           [](char32_t Ch) { return Ch != '-'; });
  return Other ? Hyphen + 1 : Left;
}

} // namespace

std::vector<std::string> wrapped(std::string_view S, int64_t Width,
                                 bool BreakLong, bool Hyphens) {
  std::vector<Chunk> Chunks = Cutter(S, Hyphens).run();
  std::vector<std::string> Lines;
  const size_t W = static_cast<size_t>(Width);
  for (size_t I = 0; I < Chunks.size();) {
    std::vector<Chunk> Line;
    size_t Size = 0;
    if (!Lines.empty() && allSpace(Chunks[I]))
      ++I;
    for (; I < Chunks.size() && Size + Chunks[I].size() <= W; ++I) {
      Size += Chunks[I].size();
      Line.push_back(Chunks[I]);
    }
    if (I < Chunks.size() && Chunks[I].size() > W) {
      if (BreakLong) {
        size_t Part = partOf(Chunks[I], W - Size, Hyphens);
        Line.push_back(Chunks[I].substr(0, Part));
        Chunks[I].erase(0, Part);
      } else if (Line.empty()) {
        Line.push_back(Chunks[I++]);
      }
    }
    if (!Line.empty() && allSpace(Line.back()))
      Line.pop_back();
    if (Line.empty())
      continue;
    std::string Text;
    for (const Chunk &C : Line)
      for (char32_t Ch : C)
        appendUtf8(Text, Ch);
    Lines.push_back(std::move(Text));
  }
  return Lines;
}

} // namespace llmc::jinja
