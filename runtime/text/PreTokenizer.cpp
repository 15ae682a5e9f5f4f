// Every step sees each piece of the step before as a text of its own, so that
// look-ahead ends at the piece, as in the reference library.
#include "runtime/text/PreTokenizer.h"

#include "runtime/text/ByteLevel.h"
#include "runtime/text/Normalizer.h"
#include "runtime/text/Unicode.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace llmc {

namespace {

using Piece = PreTokenizer::Piece;

/// Receives matches and the text between them in order, and gives every part
/// the place that the behaviour asks for. Empty matches count where they part
/// their neighbours, but no piece is empty.
class Arranger {
public:
  Arranger(SplitBehavior B, bool Invert, size_t Offset, std::vector<Piece> &Out)
      : B(B), Invert(Invert), Offset(Offset), Out(Out), First(Out.size()) {}

  void match(size_t Begin, size_t End) {
    gapTo(Begin);
    part(Begin, End, true);
    Done = End;
  }
  void finish(size_t Size) {
    gapTo(Size);
    if (Held)
      Out.push_back(*Held);
    Out.erase(std::remove_if(Out.begin() + First, Out.end(),
                             [](const Piece &P) { return P.Begin == P.End; }),
              Out.end());
  }

private:
  void gapTo(size_t At) {
    if (At != Done)
      part(Done, At, false);
  }
  void part(size_t Begin, size_t End, bool Matched) {
    Matched = Matched != Invert;
    Piece P = {Offset + Begin, Offset + End};
    switch (B) {
    case SplitBehavior::Isolated:
      Out.push_back(P);
      break;
    case SplitBehavior::Removed:
      if (!Matched)
        Out.push_back(P);
      break;
    case SplitBehavior::MergedWithPrevious:
      if (Matched && !Before && Out.size() > First)
        Out.back().End = P.End;
      else
        Out.push_back(P);
      break;
    case SplitBehavior::MergedWithNext:
      // A match waits for what comes next, if that is no match.
      if (Held && !Matched)
        P.Begin = Held->Begin;
      else if (Held)
        Out.push_back(*Held);
      Held.reset();
      if (Matched)
        Held = P;
      else
        Out.push_back(P);
      break;
    case SplitBehavior::Contiguous:
      if (Matched == Before && Out.size() > First)
        Out.back().End = P.End;
      else
        Out.push_back(P);
      break;
    }
    Before = Matched;
  }

  SplitBehavior B;
  bool Invert;
  size_t Offset;
  std::vector<Piece> &Out;
  size_t First, Done = 0;
  bool Before = false;
  std::optional<Piece> Held;
};

/// Each character for which Is holds is a match.
template <typename F>
void splitChars(std::string_view Text, F Is, Arranger &A) {
  for (size_t At = 0; At < Text.size();) {
    size_t Begin = At;
    if (Is(nextCodePoint(Text, At)))
      A.match(Begin, At);
  }
  A.finish(Text.size());
}

void splitWords(std::string_view Text, size_t Offset, std::vector<Piece> &Out) {
  int Kind = 0; // of the piece that is open: 0 none, 1 word, 2 other
  for (size_t At = 0; At < Text.size();) {
    size_t Begin = At;
    uint8_t T = charTraits(nextCodePoint(Text, At));
    int New = T & Word ? 1 : T & White ? 0 : 2;
    if (New != 0 && New == Kind)
      Out.back().End = Offset + At;
    else if (New != 0)
      Out.push_back({Offset + Begin, Offset + At});
    Kind = New;
  }
}

/// Cuts before a character of another script than the last one that has one.
/// What comes before the first such character is lost, as in the reference.
void splitScripts(std::string_view Text, size_t Offset,
                  std::vector<Piece> &Out) {
  uint8_t Last = 0;
  for (size_t At = 0; At < Text.size();) {
    size_t Begin = At;
    uint8_t Script = scriptOf(nextCodePoint(Text, At));
    if (Script != 0 && Script != Last)
      Out.push_back({Offset + Begin, Offset + Begin});
    if (Script != 0)
      Last = Script;
    if (Last != 0)
      Out.back().End = Offset + At;
  }
}

void splitLength(std::string_view Text, size_t Offset, uint32_t Number,
                 std::vector<Piece> &Out) {
  for (size_t At = 0; At < Text.size();) {
    size_t Begin = At;
    for (uint32_t I = 0; I < Number && At < Text.size(); ++I)
      nextCodePoint(Text, At);
    Out.push_back({Offset + Begin, Offset + At});
  }
}

/// Rewrites each piece by Change(piece, is it at the user's begin). Zero: how
/// many bytes in front stem from the user's first character; a piece is at
/// the begin when its first byte is one of them.
template <typename F>
void rewrite(std::string &Text, std::vector<Piece> &Pieces, size_t &Zero,
             F Change) {
  std::string New, Part;
  New.reserve(Text.size() + Pieces.size());
  size_t NewZero = 0;
  for (Piece &P : Pieces) {
    size_t Begin = New.size();
    std::string_view Old =
        std::string_view(Text).substr(P.Begin, P.End - P.Begin);
    bool First = P.Begin < Zero && !Old.empty();
    if (!Old.empty())
      Change(Old, First, New);
    if (First) {
      Part.clear();
      Change(Old.substr(0, std::min(P.End, Zero) - P.Begin), First, Part);
      NewZero = Begin + Part.size();
    }
    P = {Begin, New.size()};
  }
  Zero = NewZero;
  Text = std::move(New);
}

void metaspace(const PreStep &S, std::string_view Piece, bool First,
               std::string &Out) {
  bool Wanted = S.Number == 2 || (S.Number == 1 && First);
  if (Wanted && Piece.front() != ' ' && !Piece.starts_with(S.Pattern))
    Out += S.Pattern;
  for (char C : Piece)
    if (C == ' ')
      Out += S.Pattern;
    else
      Out.push_back(C);
}

} // namespace

Result<PreTokenizer> PreTokenizer::create(const std::vector<PreStep> &In,
                                          bool BytesLast) {
  PreTokenizer T;
  for (const PreStep &S : In) {
    if (!BytesLast && &S == &In.back() && S.What == PreStep::Bytes)
      break;
    T.Steps.push_back(S);
    T.Regexes.emplace_back();
    if (S.What == PreStep::Regex) {
      LLMC_ASSIGN_OR_RETURN(SplitRegex R, SplitRegex::compile(S.Pattern));
      T.Regexes.back().emplace(std::move(R));
    }
    if (S.What == PreStep::Length && S.Number == 0)
      return malformedError("pre-tokenizer of length 0");
    if (S.What == PreStep::Metaspace && S.Pattern.empty())
      return malformedError("pre-tokenizer without a replacement for spaces");
    if (findBadUtf8(S.Pattern) != std::string_view::npos)
      return malformedError("pre-tokenizer pattern is not UTF-8");
  }
  return T;
}

Status PreTokenizer::split(size_t Step, std::string_view Text, Piece Range,
                           std::vector<Piece> &Out, Scratch &S) const {
  const PreStep &St = Steps[Step];
  std::string_view Part = Text.substr(Range.Begin, Range.End - Range.Begin);
  Arranger A(St.Behavior, St.Invert, Range.Begin, Out);
  auto ByTrait = [&](uint8_t Trait) {
    splitChars(Part, [Trait](uint32_t C) { return charTraits(C) & Trait; }, A);
  };
  switch (St.What) {
  case PreStep::Regex:
  case PreStep::Text:
    S.Matches.clear();
    if (St.What == PreStep::Regex)
      LLMC_RETURN_IF_ERROR(Regexes[Step]->findAll(Part, S.Matches, S.Regex));
    else
      findText(Part, St.Pattern, S.Matches);
    for (const MatchSpan &M : S.Matches)
      A.match(M.Begin, M.End);
    A.finish(Part.size());
    break;
  case PreStep::Digits:
    ByTrait(Numeric);
    break;
  case PreStep::Punctuation:
    ByTrait(llmc::Punctuation);
    break;
  case PreStep::White:
    ByTrait(llmc::White);
    break;
  case PreStep::Words:
    splitWords(Part, Range.Begin, Out);
    break;
  case PreStep::Scripts:
    splitScripts(Part, Range.Begin, Out);
    break;
  case PreStep::Length:
    splitLength(Part, Range.Begin, St.Number, Out);
    break;
  case PreStep::PrefixSpace:
  case PreStep::Metaspace:
  case PreStep::Bytes:
    break; // rewrite
  }
  return Status::success();
}

Status PreTokenizer::run(std::string &Text, size_t Zero,
                         std::vector<Piece> &Pieces, Scratch &S) const {
  Pieces.clear();
  if (!Text.empty())
    Pieces.push_back({0, Text.size()});
  for (size_t I = 0; I < Steps.size(); ++I) {
    const PreStep &St = Steps[I];
    if (St.What == PreStep::PrefixSpace) {
      rewrite(Text, Pieces, Zero,
              [](std::string_view P, bool, std::string &Out) {
                Out += P.front() == ' ' ? "" : " ";
                Out += P;
              });
      continue;
    }
    if (St.What == PreStep::Metaspace) {
      rewrite(Text, Pieces, Zero,
              [&St](std::string_view P, bool First, std::string &Out) {
                metaspace(St, P, First, Out);
              });
      continue;
    }
    if (St.What == PreStep::Bytes) {
      rewrite(Text, Pieces, Zero,
              [](std::string_view P, bool, std::string &Out) {
                appendByteLevel(P, Out);
              });
      continue;
    }
    S.Next.clear();
    S.Next.reserve(Pieces.size());
    for (Piece P : Pieces)
      LLMC_RETURN_IF_ERROR(split(I, Text, P, S.Next, S));
    Pieces.swap(S.Next);
  }
  return Status::success();
}

} // namespace llmc
