// Every step sees each piece of the step before as a text of its own, so that
// look-ahead ends at the piece, as in the tokenizers library.
#include "runtime/text/PreTokenizer.h"

#include <algorithm>

namespace llmc {

namespace {

using Piece = PreTokenizer::Piece;

struct Part {
  Piece Range;
  bool Matched;
};

/// Gives every part, in order, the place that the behaviour asks for.
void arrange(const std::vector<Part> &Parts, SplitBehavior B,
             std::vector<Piece> &Out) {
  size_t First = Out.size();
  bool Before = false;
  switch (B) {
  case SplitBehavior::Isolated:
  case SplitBehavior::Removed:
    for (const Part &P : Parts)
      if (B == SplitBehavior::Isolated || !P.Matched)
        Out.push_back(P.Range);
    break;
  case SplitBehavior::MergedWithPrevious:
    for (const Part &P : Parts) {
      if (P.Matched && !Before && Out.size() > First)
        Out.back().End = P.Range.End;
      else
        Out.push_back(P.Range);
      Before = P.Matched;
    }
    break;
  case SplitBehavior::MergedWithNext:
    for (size_t I = Parts.size(); I-- > 0;) {
      const Part &P = Parts[I];
      if (P.Matched && !Before && Out.size() > First)
        Out.back().Begin = P.Range.Begin;
      else
        Out.push_back(P.Range);
      Before = P.Matched;
    }
    std::reverse(Out.begin() + First, Out.end());
    break;
  case SplitBehavior::Contiguous:
    for (const Part &P : Parts) {
      if (P.Matched == Before && Out.size() > First)
        Out.back().End = P.Range.End;
      else
        Out.push_back(P.Range);
      Before = P.Matched;
    }
    break;
  }
}

void prefixSpaces(std::string &Text, std::vector<Piece> &Pieces) {
  std::string NewText;
  for (Piece &P : Pieces) {
    size_t Begin = NewText.size();
    if (Text[P.Begin] != ' ')
      NewText.push_back(' ');
    NewText.append(Text, P.Begin, P.End - P.Begin);
    P = {Begin, NewText.size()};
  }
  Text = std::move(NewText);
}

} // namespace

Result<PreTokenizer> PreTokenizer::create(const std::vector<PreStep> &In) {
  PreTokenizer T;
  for (const PreStep &S : In) {
    T.Steps.push_back({S.What, S.Behavior, S.Invert, T.Regexes.size()});
    if (S.What != PreStep::Split)
      continue;
    LLMC_ASSIGN_OR_RETURN(SplitRegex R, SplitRegex::compile(S.Pattern));
    T.Regexes.push_back(std::move(R));
  }
  return T;
}

PreTokenizer::Scratch PreTokenizer::makeScratch() const {
  Scratch S;
  for (const SplitRegex &R : Regexes)
    S.emplace_back(R);
  return S;
}

Status PreTokenizer::split(const Step &St, std::string_view Text, Piece Range,
                           std::vector<Piece> &Out,
                           SplitRegex::Scratch &S) const {
  std::string_view Part = Text.substr(Range.Begin, Range.End - Range.Begin);
  std::vector<struct Part> Parts;
  size_t Done = 0, From = 0;
  auto Add = [&](size_t Begin, size_t End, bool Matched) {
    if (Begin != End)
      Parts.push_back(
          {{Range.Begin + Begin, Range.Begin + End}, Matched != St.Invert});
  };
  while (From <= Part.size()) {
    LLMC_ASSIGN_OR_RETURN(SplitRegex::Match M,
                          Regexes[St.Regex].find(Part, From, S));
    if (!M.Found)
      break;
    if (M.End > M.Begin) {
      Add(Done, M.Begin, false);
      Add(M.Begin, M.End, true);
      Done = From = M.End;
      continue;
    }
    // An empty match cuts nothing: go on behind the next character.
    From = M.End + 1;
    while (From < Part.size() && (Part[From] & 0xC0) == 0x80)
      ++From;
  }
  Add(Done, Part.size(), false);
  arrange(Parts, St.Behavior, Out);
  return Status::success();
}

Status PreTokenizer::run(std::string &Text, std::vector<Piece> &Pieces,
                         Scratch &S) const {
  Pieces.clear();
  if (!Text.empty())
    Pieces.push_back({0, Text.size()});
  std::vector<Piece> Next;
  for (const Step &St : Steps) {
    if (St.What == PreStep::PrefixSpace) {
      prefixSpaces(Text, Pieces);
      continue;
    }
    Next.clear();
    for (Piece P : Pieces)
      LLMC_RETURN_IF_ERROR(split(St, Text, P, Next, S[St.Regex]));
    Pieces.swap(Next);
  }
  return Status::success();
}

} // namespace llmc
