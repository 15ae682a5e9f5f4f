// What happens to the logits of one continuation: filters narrow the
// vocabulary, the sampler picks, end tokens and stop strings end.
#include "runtime/engine/Branch.h"

#include <algorithm>

namespace llmc {

namespace {

/// Choices draw from random numbers of their own; the first from the seed's.
SamplingParams ofChoice(SamplingParams S, uint32_t Index) {
  S.Seed += Index * 0x9E3779B97F4A7C15u;
  return S;
}

} // namespace

Branch::Branch(const RequestParams &P, uint32_t Index, const Tokenizer *T,
               uint32_t Vocab, Choice &Out)
    : Out(Out), P(P), Index(Index), Vocab(Vocab),
      Sampling(ofChoice(P.Sampling, Index), Vocab, P.Prompt) {
  for (const std::shared_ptr<const TokenFilter> &F : P.Filters)
    Filters.push_back(F->clone());
  if (T != nullptr)
    Text = std::make_unique<BranchText>(*T, P.Stop);
  if (P.Guess == Speculation::Ngram)
    for (int32_t Id : P.Prompt)
      Drafts.append(Id);
}

Branch::Branch(const Branch &From, uint32_t Index)
    : Out(From.Out), P(From.P), Index(Index), Vocab(From.Vocab),
      Sampling(From.Sampling) {
  for (const std::unique_ptr<TokenFilter> &F : From.Filters)
    Filters.push_back(F->clone());
}

/// Fills Allowed; false when there are no filters.
bool Branch::narrow() {
  if (Filters.empty())
    return false;
  Allowed.assign(tokenWords(Vocab), ~uint64_t{0});
  if (Vocab % 64 != 0)
    Allowed.back() = (uint64_t{1} << Vocab % 64) - 1;
  for (const std::unique_ptr<TokenFilter> &F : Filters)
    F->narrow(Allowed);
  return true;
}

/// Whether a filter has all that it wants.
bool Branch::complete() const {
  return std::any_of(Filters.begin(), Filters.end(),
                     [](const auto &F) { return F->finished(); });
}

/// Ends the branch: no token may follow.
bool Branch::nothingLeft() {
  Failure = usageError("constraints and bans leave no token to follow the " +
                       std::to_string(Out.Tokens.size()) + " generated");
  finish(FinishReason::Cancelled);
  return false;
}

/// Whether a filter cannot go on; ends the branch then.
bool Branch::stuck() {
  for (const std::unique_ptr<TokenFilter> &F : Filters)
    if (Failure.ok())
      Failure = F->failure();
  if (!Failure.ok())
    finish(FinishReason::Cancelled);
  return !Failure.ok();
}

void Branch::score(std::span<const float> Logits) {
  logSoftmax(Logits, Scores);
  std::span<const uint64_t> Bits;
  if (narrow())
    Bits = Allowed;
  Sampling.prepare(Scores, Bits);
  Scored = true;
}

void Branch::follow(int32_t Token) {
  Sampling.accept(Token);
  for (const std::unique_ptr<TokenFilter> &F : Filters)
    F->accept(Token);
  Feed.assign(1, Token);
}

void Branch::emit(int32_t Token, std::string_view Shown) {
  if (P.OnToken && !P.OnToken({Index, Token, Shown}) && running())
    finish(FinishReason::Cancelled);
}

/// Text of a token, as far as it is certain.
void Branch::show(int32_t Token) {
  std::string Shown;
  if (Text)
    Shown = Text->Stops.push(Text->Bytes.push(Token));
  Out.Text += Shown;
  emit(Token, Shown);
}

bool Branch::sample(std::span<const float> Logits) {
  if (Out.Tokens.size() >= P.MaxTokens) { // none are wanted at all
    finish(FinishReason::Length);
    return false;
  }
  if (complete()) { // before the first token; min_tokens does not outweigh it
    finish(FinishReason::Eos);
    return false;
  }
  std::span<const uint64_t> Bits;
  if (narrow()) {
    if (stuck())
      return false;
    Bits = Allowed;
  }
  int32_t Token = Sampling.sample(Logits, Bits);
  if (Token < 0)
    return nothingLeft();
  bool Eos =
      std::find(P.EosIds.begin(), P.EosIds.end(), Token) != P.EosIds.end();
  if (Eos && !P.IgnoreEos) {
    finish(FinishReason::Eos);
    return false;
  }
  for (const std::unique_ptr<TokenFilter> &F : Filters)
    F->accept(Token);
  Feed.assign(1, Token);
  if (P.Guess == Speculation::Ngram)
    Drafts.append(Token);
  Out.Tokens.push_back(Token);
  if (P.Logprobs)
    Out.Logprobs.push_back(logprobsOf(Logits, Token, P.TopLogprobs));
  show(Token);
  if (running() && Text && Text->Stops.stopped())
    finish(FinishReason::Stop);
  else if (running() && complete())
    finish(FinishReason::Eos);
  else if (running() && Out.Tokens.size() >= P.MaxTokens)
    finish(FinishReason::Length);
  return running();
}

void Branch::guess(uint32_t Room, bool Look) {
  Feed.resize(1);
  Room = std::min(Room,
                  P.MaxTokens - static_cast<uint32_t>(Out.Tokens.size()) - 1);
  for (const std::unique_ptr<TokenFilter> &F : Filters)
    F->forced(Feed);
  std::vector<int32_t> More;
  if (Look && P.Guess == Speculation::Ngram && Feed.size() == 1)
    Drafts.draft(std::min(Room, Meter.count()), More);
  Feed.insert(Feed.end(), More.begin(), More.end());
  Feed.resize(std::min<size_t>(Feed.size(), 1 + Room));
}

void Branch::finish(FinishReason Why) {
  if (!running())
    return;
  std::string Rest;
  if (Text && Why != FinishReason::Stop) {
    Rest = Text->Stops.push(Text->Bytes.finish());
    Rest += Text->Stops.finish();
    Out.Text += Rest;
  }
  if (Text && Text->Stops.stopped()) {
    Out.Stop = Text->Stops.stop();
    Why = FinishReason::Stop;
  }
  Out.Finish = Why;
  for (const std::unique_ptr<TokenFilter> &F : Filters)
    if (F->demands())
      Out.addVerdict(F->complete());
  Feed.clear();
  if (!Rest.empty() && Why != FinishReason::Cancelled)
    emit(-1, Rest);
}

} // namespace llmc
