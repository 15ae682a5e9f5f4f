// A request: what is asked, what came out, and the continuations (branches)
// that it has on the model while it runs.
#ifndef LLMC_RUNTIME_ENGINE_REQUEST_H
#define LLMC_RUNTIME_ENGINE_REQUEST_H

#include "runtime/engine/BeamSearch.h"
#include "runtime/engine/Logprobs.h"
#include "runtime/engine/Sampler.h"
#include "runtime/engine/TokenFilter.h"
#include "runtime/model/Session.h"
#include "runtime/text/Tokenizer.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace llmc {

enum class FinishReason : uint8_t { Running, Eos, Stop, Length, Cancelled };
/// "eos", "stop", "length" …
std::string_view nameOf(FinishReason R);

/// Which rows of the prompt give their logits to OnLogits.
enum class LogitsWanted : uint8_t { None, Last, All };

/// How tokens are guessed ahead; the output is the same with and without.
enum class Speculation : uint8_t { Off, Ngram };

/// A generated token, with the text that it made certain (maybe none). Token
/// -1: text that was held back, at the end.
struct TokenEvent {
  uint32_t Choice;
  int32_t Token;
  std::string_view Text;
};

struct RequestParams {
  std::vector<int32_t> Prompt; ///< at least one token
  SamplingParams Sampling;
  uint32_t MaxTokens = 128;
  std::vector<std::string> Stop;
  std::vector<int32_t> EosIds;
  bool IgnoreEos = false;
  LogitsWanted Logits = LogitsWanted::None;

  /// Completions wanted. The I-th has a seed of its own; the first has
  /// Sampling.Seed, so it does not depend on Choices. With beams: hypotheses.
  uint32_t Choices = 1;
  /// Above 1: beam search (no sampling, no streaming, no stop strings).
  uint32_t Beams = 1;
  double LengthPenalty = 1; ///< of beams
  EarlyStopping Early = EarlyStopping::Heuristic;
  bool Logprobs = false;           ///< of generated tokens
  bool PromptLogprobs = false;     ///< of prompt tokens but the first
  uint32_t TopLogprobs = 0;        ///< alternatives of each
  std::vector<std::string> Banned; ///< texts that must not be written
  Speculation Guess = Speculation::Off;
  /// Constraints; copied for every choice.
  std::vector<std::shared_ptr<const TokenFilter>> Filters;

  /// Returns false to cancel.
  std::function<bool(const TokenEvent &)> OnToken;
  /// Logits of a prompt row; valid during the call.
  std::function<void(uint32_t Row, std::span<const float> Logits)> OnLogits;
};

/// One completion.
struct Choice {
  FinishReason Finish = FinishReason::Running;
  std::vector<int32_t> Tokens;            ///< generated, without the end token
  std::string Text;                       ///< empty when there is no tokenizer
  std::string Stop;                       ///< the stop string that was found
  std::vector<PositionLogprobs> Logprobs; ///< one per token, when wanted
  double Score = 0;                       ///< of beam search
  bool Constrained = false;               ///< a filter demands a complete text
  bool Complete = false;                  ///< and has it

  /// Takes in what one more filter that demands a complete text says.
  void addVerdict(bool AllThere) {
    Complete = (Complete || !Constrained) && AllThere;
    Constrained = true;
  }
};

struct RequestResult {
  std::vector<Choice> Choices;                  ///< best first with beams
  std::vector<PositionLogprobs> PromptLogprobs; ///< from the second token on
  uint32_t PromptTokens = 0;
  double PrefillMs = 0; ///< until the first token, from admission
  double DecodeMs = 0;  ///< from there to the end
  uint32_t Guessed = 0; ///< tokens guessed ahead
  uint32_t Right = 0;   ///< of which were right
  Status Failure;       ///< of the step that failed, if one did

  const Choice &first() const { return Choices.front(); }
};

class Branch;
class Engine;

/// A request that was submitted. Results may be read once it is done.
class Request {
public:
  Request(RequestParams P, const Tokenizer *T, uint32_t Vocab);
  ~Request();

  bool done() const { return Done; }
  const RequestResult &result() const { return Result; }
  /// Takes effect before the next step. From any thread.
  void cancel() { Cancelled = true; }
  /// Cancels, and calls no callback any more.
  void abandon() {
    cancel();
    P.OnToken = nullptr;
    P.OnLogits = nullptr;
  }

private:
  friend class Engine;

  uint32_t branchCount() const { return std::max(P.Beams, P.Choices); }
  bool prefilling() const { return Fed < P.Prompt.size(); }
  void promptRow(uint32_t Row, std::span<const float> Logits);
  void start(Session &S, std::span<const float> Logits);
  void advance(Session &S, Branch &B, size_t Rows,
               const std::function<std::span<const float>(size_t)> &RowAt);
  /// When all rows of a step are in.
  void afterStep(Session &S);
  void advanceBeams(Session &S);
  void finishBeams();
  void judge(Choice &C, bool Ended) const;
  void finish(FinishReason Why);
  void settle();
  void close();

  RequestParams P;
  const Tokenizer *T;
  uint32_t Vocab;
  std::vector<std::unique_ptr<Branch>> Branches;
  std::unique_ptr<BeamSearch> Search; ///< null: sampling
  RequestResult Result;
  bool Done = false;
  uint32_t Pages = 0;         ///< reserved
  uint32_t Fed = 0;           ///< prompt tokens in the sequence
  std::vector<int32_t> Round; ///< tokens of a branch's step; kept to spare
                              ///< allocations
  std::atomic<bool> Cancelled = false;
  std::chrono::steady_clock::time_point Admitted, First;
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_REQUEST_H
