// Requests on a model: batches them continuously, samples, turns tokens into
// text, stops. One thread calls step() until nothing is left; there is no
// hidden thread.
#ifndef LLMC_RUNTIME_ENGINE_ENGINE_H
#define LLMC_RUNTIME_ENGINE_ENGINE_H

#include "runtime/engine/Sampler.h"
#include "runtime/model/Session.h"
#include "runtime/text/Tokenizer.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace llmc {

enum class FinishReason : uint8_t { Running, Eos, Stop, Length, Cancelled };
/// "eos", "stop", "length" …
std::string_view nameOf(FinishReason R);

/// Which rows of the prompt give their logits to OnLogits.
enum class LogitsWanted : uint8_t { None, Last, All };

struct RequestParams {
  std::vector<int32_t> Prompt; ///< at least one token
  SamplingParams Sampling;
  uint32_t MaxTokens = 128;
  std::vector<std::string> Stop;
  std::vector<int32_t> EosIds;
  bool IgnoreEos = false;
  LogitsWanted Logits = LogitsWanted::None;

  /// Each generated token, with the text that it made certain (maybe none).
  /// Returns false to cancel.
  std::function<bool(int32_t Token, std::string_view Text)> OnToken;
  /// Logits of a prompt row; valid during the call.
  std::function<void(uint32_t Row, std::span<const float> Logits)> OnLogits;
};

struct RequestResult {
  FinishReason Finish = FinishReason::Running;
  std::vector<int32_t> Tokens; ///< generated, without the end token
  std::string Text;            ///< empty when there is no tokenizer
  std::string Stop;            ///< the stop string that was found
  uint32_t PromptTokens = 0;
  double PrefillMs = 0; ///< until the first token, from admission
  double DecodeMs = 0;  ///< from there to the end
  Status Failure;       ///< of the step that failed, if one did
};

class Request;

/// Used by one thread at a time. Borrows session and tokenizer.
class Engine {
public:
  /// T may be null: no text then. MaxBatch: sequences at once, 0 = what the
  /// executable takes.
  Engine(Session &S, const Tokenizer *T, uint32_t MaxBatch = 0);
  ~Engine();

  /// Queues a request. Usage or DoesNotFit when it can never run: empty
  /// prompt, bad parameters, prompt longer than the context. MaxTokens is cut
  /// to what the context leaves.
  Result<std::shared_ptr<Request>> submit(RequestParams P);

  /// Runs one step of all requests that are admitted; admits from the queue.
  /// Done: no request is left. A failure ends all running requests.
  Status step(bool &Done);

  size_t running() const { return Running.size(); }
  size_t waiting() const { return Waiting.size(); }

private:
  Status run(bool &Done);
  void admit();
  void plan();
  void commit(Request &R, size_t Row);
  void finish(Request &R, FinishReason Why);
  void retire();

  Session &S;
  const Tokenizer *T;
  uint32_t MaxBatch;
  uint32_t MaxLogits;         ///< rows of logits in a step
  uint32_t ReservedPages = 0; ///< promised to running requests
  std::deque<std::shared_ptr<Request>> Waiting;
  std::vector<std::shared_ptr<Request>> Running;

  // Of the current step.
  struct Owner {
    Request *R;
    uint32_t PromptRow; ///< UINT32_MAX: a generated token
  };
  std::vector<StepRow> Rows;
  std::vector<Owner> Owners;
  std::vector<float> Logits;
  size_t Rotate = 0; ///< whose prompt comes first
};

/// A request that was submitted. Results may be read once it is done.
class Request {
public:
  Request(RequestParams P, const Tokenizer *T, uint32_t Vocab);
  ~Request();

  bool done() const { return Result.Finish != FinishReason::Running; }
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
  struct TextState;

  RequestParams P;
  Sampler Sampling;
  std::unique_ptr<TextState> Text;
  RequestResult Result;
  SequenceId Sequence = 0;
  uint32_t Pages = 0; ///< reserved
  uint32_t Fed = 0;   ///< prompt tokens in the sequence
  int32_t Next = -1;  ///< generated token to feed
  std::atomic<bool> Cancelled = false;
  std::chrono::steady_clock::time_point Admitted, First;
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_ENGINE_H
