// One continuation of a request: a sequence of the session with its sampler,
// filters, text and guesses. A request has one for each choice or beam.
#ifndef LLMC_RUNTIME_ENGINE_BRANCH_H
#define LLMC_RUNTIME_ENGINE_BRANCH_H

#include "runtime/engine/Request.h"
#include "runtime/engine/Speculation.h"
#include "runtime/engine/StopMatcher.h"
#include "runtime/text/Detokenizer.h"

namespace llmc {

/// Tokens to text to what may be shown.
struct BranchText {
  BranchText(const Tokenizer &T, const std::vector<std::string> &Stops)
      : Bytes(T, true), Stops(Stops) {}
  Detokenizer Bytes;
  StopMatcher Stops;
};

class Branch {
public:
  /// T may be null: no text. P and Out must outlive the branch.
  Branch(const RequestParams &P, uint32_t Index, const Tokenizer *T,
         uint32_t Vocab, Choice &Out);
  /// Another one with the same past, for beams.
  Branch(const Branch &From, uint32_t Index);

  bool running() const { return Out.Finish == FinishReason::Running; }
  /// Takes in logits: picks the next token. False when the branch ended.
  bool sample(std::span<const float> Logits);
  /// Takes in logits for beam search: log-probabilities after the filters.
  void score(std::span<const float> Logits);
  /// The token of a beam, which score() counted.
  void follow(int32_t Token);
  /// Puts at most Room guesses behind the token in Feed: what the filters
  /// leave no choice about, else, when Look, what stood there before.
  void guess(uint32_t Room, bool Look);
  /// Ends the branch; what was held back of its text comes out first.
  void finish(FinishReason Why);

  SequenceId Sequence = 0;
  bool Live = false; ///< has a sequence
  /// Tokens to feed next: the last one picked, then guesses.
  std::vector<int32_t> Feed;
  size_t InStep = 0; ///< tokens of Feed in the current step
  Choice &Out;
  std::vector<double> Scores; ///< of score(), until the search took them
  bool Scored = false;
  DraftMeter Meter;
  Status Failure; ///< why it was cancelled, if no token could follow

private:
  bool narrow();
  bool stuck();
  bool nothingLeft();
  bool complete() const;
  void emit(int32_t Token, std::string_view Text);
  void show(int32_t Token);

  const RequestParams &P;
  uint32_t Index;
  uint32_t Vocab;
  Sampler Sampling;
  std::vector<std::unique_ptr<TokenFilter>> Filters;
  std::vector<uint64_t> Allowed; ///< bits, when there are filters
  std::unique_ptr<BranchText> Text;
  NgramDrafter Drafts;
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_BRANCH_H
