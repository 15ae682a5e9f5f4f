// Steps before the fuse handle tokens, those behind it handle one growing text.
// A step that cannot say anything before the end (a regular expression over the
// whole text) holds all of it.
#include "runtime/text/DecodeStream.h"

#include "runtime/text/Normalizer.h"

#include <algorithm>

namespace llmc {

namespace {

constexpr std::string_view Replacement = "\xEF\xBF\xBD";

/// Length of the longest tail of Text that is a proper begin of Pattern.
size_t openTail(std::string_view Text, std::string_view Pattern) {
  size_t N = std::min(Text.size(), Pattern.size() - 1);
  while (N > 0 && !Text.ends_with(Pattern.substr(0, N)))
    --N;
  return N;
}

enum class Filter { Pass, Replace, Strip, Hold };

/// How a step behind the fuse works on a text that grows.
Filter filterOf(const DecodeStep &S) {
  switch (S.What) {
  case DecodeStep::Fuse:
  case DecodeStep::Spaces:
    return Filter::Pass;
  case DecodeStep::Metaspace:
  case DecodeStep::ReplaceText:
  case DecodeStep::Bpe:
    return S.Pattern.empty() ? Filter::Hold : Filter::Replace;
  case DecodeStep::Strip:
    return S.Content.empty() ? Filter::Pass : Filter::Strip;
  case DecodeStep::WordPiece:
    return S.Start ? Filter::Hold : Filter::Pass;
  case DecodeStep::ByteLevel:
  case DecodeStep::ByteFallback:
  case DecodeStep::ReplaceRegex:
  case DecodeStep::Ctc:
  case DecodeStep::LeadingMark:
    return Filter::Hold;
  }
  return Filter::Hold;
}

} // namespace

DecodeStream::DecodeStream(const Decoder &D)
    : D(D), Tokens(D.fusedAt()), Texts(D.steps().size()) {
  for (size_t I = 0; I < Texts.size(); ++I)
    Texts[I].Left = D.steps()[I].Start;
}

void DecodeStream::push(std::string Spelling, std::string &Out) {
  token(0, std::move(Spelling), Out);
}

void DecodeStream::endRun(size_t Step, std::string &Out) {
  TokenState &S = Tokens[Step];
  std::string Held = std::move(S.Held);
  S.Held.clear();
  S.Broken = false;
  if (!Held.empty() && findBadUtf8(Held) == std::string_view::npos) {
    token(Step + 1, std::move(Held), Out);
    return;
  }
  for (size_t I = 0; I < Held.size(); ++I)
    token(Step + 1, std::string(Replacement), Out);
}

/// A byte of a run. Once the run is broken each byte is U+FFFD.
void DecodeStream::byteToken(size_t Step, int Byte, std::string &Out) {
  TokenState &S = Tokens[Step];
  if (S.Broken) {
    token(Step + 1, std::string(Replacement), Out);
    return;
  }
  S.Held.push_back(static_cast<char>(Byte));
  // What looks at tokens one by one must see the run as the one that it is.
  bool Whole = Step + 1 < Tokens.size() ||
               (Step + 1 < D.steps().size() &&
                D.steps()[Step + 1].What == DecodeStep::ByteLevel);
  if (Whole)
    return;
  if (findBadUtf8(S.Held) == std::string_view::npos) {
    std::string Whole = std::move(S.Held);
    S.Held.clear();
    token(Step + 1, std::move(Whole), Out);
    return;
  }
  Utf8Stream Probe;
  std::string Shown;
  Probe.push(S.Held, Shown);
  if (Shown.empty())
    return; // may still become a character
  endRun(Step, Out);
  S.Broken = true;
}

/// The suffix becomes a space when another token follows, else nothing.
void DecodeStream::suffixToken(size_t Step, std::string T, std::string &Out) {
  TokenState &S = Tokens[Step];
  const std::string &Suffix = D.steps()[Step].Pattern;
  // Only before the end of the list may a token come in two parts, and not
  // into letters that stand for bytes, where the whole token decides.
  bool Bytes = Step + 1 < D.steps().size() &&
               D.steps()[Step + 1].What == DecodeStep::ByteLevel;
  bool MayCut = Step + 1 == Tokens.size() && !Suffix.empty() && !Bytes;
  if (!S.First)
    token(Step + 1, replaceText(S.Held, Suffix, " "), Out);
  S.First = false;
  size_t At = MayCut ? std::min(T.find(Suffix), T.size()) : 0;
  if (At > 0)
    token(Step + 1, T.substr(0, At), Out);
  S.Held = T.substr(At);
}

void DecodeStream::token(size_t Step, std::string T, std::string &Out) {
  if (Step == Tokens.size()) {
    bool Bytes = Step < D.steps().size() &&
                 D.steps()[Step].What == DecodeStep::ByteLevel;
    if (!Bytes) {
      text(Step + 1, T, Out);
      return;
    }
    std::string Certain;
    if (!D.apply(Step, false, T, Scratch).ok())
      return;
    Utf8.push(T, Certain);
    text(Step + 1, Certain, Out);
    return;
  }
  const DecodeStep &What = D.steps()[Step];
  TokenState &S = Tokens[Step];
  if (What.What == DecodeStep::ByteFallback) {
    if (int Byte = byteOfFallback(T); Byte >= 0) {
      byteToken(Step, Byte, Out);
      return;
    }
    endRun(Step, Out);
    token(Step + 1, std::move(T), Out);
    return;
  }
  if (What.What == DecodeStep::Bpe) {
    suffixToken(Step, std::move(T), Out);
    return;
  }
  if (What.What == DecodeStep::Ctc) {
    if (!S.First && S.Last == T)
      return;
    S.Last = T;
  }
  // A pattern that gives up leaves the token as it is; decode reports it.
  (void)D.apply(Step, S.First, T, Scratch);
  S.First = S.First && staysFirst(What, T);
  if (What.What != DecodeStep::Ctc || !T.empty())
    token(Step + 1, std::move(T), Out);
}

void DecodeStream::replaceInText(size_t I, std::string_view Pattern,
                                 std::string_view By, std::string_view T,
                                 std::string &Out) {
  std::string All = std::move(Texts[I].Held);
  All += T;
  std::vector<MatchSpan> M;
  findText(All, Pattern, M);
  size_t Behind = M.empty() ? 0 : M.back().End;
  size_t Keep = openTail(std::string_view(All).substr(Behind), Pattern);
  std::string_view Sure = std::string_view(All).substr(0, All.size() - Keep);
  std::string New;
  replaceMatches(Sure, M, By, New);
  Texts[I].Held = All.substr(Sure.size());
  text(I + 1, New, Out);
}

void DecodeStream::stripText(size_t I, std::string_view T, std::string &Out) {
  const DecodeStep &S = D.steps()[I];
  TextState &State = Texts[I];
  std::string All = std::move(State.Held);
  All += T;
  std::string_view Rest = All;
  while (State.Left > 0 && !Rest.empty()) {
    if (Rest.starts_with(S.Content)) {
      Rest.remove_prefix(S.Content.size());
      --State.Left;
    } else {
      State.Left = 0;
    }
  }
  size_t Sure = Rest.size();
  for (uint32_t N = 0; N < S.Stop && Rest.substr(0, Sure).ends_with(S.Content);
       ++N)
    Sure -= S.Content.size();
  State.Held = Rest.substr(Sure);
  text(I + 1, Rest.substr(0, Sure), Out);
}

/// New text reaches the step I behind the fuse; it is well-formed.
void DecodeStream::text(size_t I, std::string_view T, std::string &Out) {
  if (T.empty())
    return;
  if (I >= D.steps().size()) {
    Out += T;
    return;
  }
  const DecodeStep &S = D.steps()[I];
  switch (filterOf(S)) {
  case Filter::Pass:
    text(I + 1, T, Out);
    break;
  case Filter::Replace: {
    // The fused text is the first token and the last one.
    std::string_view By = S.What == DecodeStep::ReplaceText
                              ? std::string_view(S.Content)
                          : S.What == DecodeStep::Metaspace && !S.Start ? " "
                                                                        : "";
    replaceInText(I, S.Pattern, By, T, Out);
    break;
  }
  case Filter::Strip:
    stripText(I, T, Out);
    break;
  case Filter::Hold:
    Texts[I].Held += T;
    break;
  }
}

void DecodeStream::textEnd(size_t I, std::string &Out) {
  for (; I < D.steps().size(); ++I) {
    std::string Held = std::move(Texts[I].Held);
    Filter F = filterOf(D.steps()[I]);
    if (F == Filter::Strip)
      Held.clear(); // exactly what is to be stripped
    if (F == Filter::Hold) {
      std::vector<std::string> One = {std::move(Held)};
      (void)D.applyAll(I, One, Scratch);
      Held.clear();
      for (const std::string &T : One)
        Held += T;
    }
    text(I + 1, Held, Out);
  }
}

void DecodeStream::finish(std::string &Out) {
  for (size_t Step = 0; Step < Tokens.size(); ++Step) {
    const DecodeStep &What = D.steps()[Step];
    TokenState &S = Tokens[Step];
    if (What.What == DecodeStep::ByteFallback)
      endRun(Step, Out);
    if (What.What == DecodeStep::Bpe && !S.First)
      token(Step + 1, replaceText(S.Held, What.Pattern, ""), Out);
  }
  std::string Rest;
  Utf8.finish(Rest);
  text(Tokens.size() + 1, Rest, Out);
  textEnd(Tokens.size() + 1, Out);
}

} // namespace llmc
