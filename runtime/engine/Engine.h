// Requests on a model: batches them continuously, samples, turns tokens into
// text, stops. One thread calls step() until nothing is left; there is no
// hidden thread.
#ifndef LLMC_RUNTIME_ENGINE_ENGINE_H
#define LLMC_RUNTIME_ENGINE_ENGINE_H

#include "runtime/engine/Request.h"

#include <deque>

namespace llmc {

/// Used by one thread at a time. Borrows session and tokenizer.
class Engine {
public:
  /// T may be null: no text then. MaxBatch: sequences at once, 0 = what the
  /// executable takes.
  Engine(Session &S, const Tokenizer *T, uint32_t MaxBatch = 0);
  ~Engine();

  /// Queues a request. Usage or DoesNotFit when it can never run: empty
  /// prompt, bad parameters, prompt longer than the context. MaxTokens is cut
  /// to what the context leaves. More choices or beams than sequences at once
  /// take turns.
  Result<std::shared_ptr<Request>> submit(RequestParams P);

  /// Runs one step of all requests that are admitted; admits from the queue.
  /// Done: no request is left. A failure ends all running requests.
  Status step(bool &Done);

  size_t running() const { return Running.size(); }
  size_t waiting() const { return Waiting.size(); }

  /// What steps are timed by, in seconds: decides how much is guessed, never
  /// which tokens come out. A steady clock unless a test sets another.
  void setClock(double (*Now)()) { this->Now = Now; }

private:
  Status checkId(int32_t Id, const char *Where) const;
  Status prepare(RequestParams &P) const;
  Status run(bool &Done);
  void admit();
  void plan();
  void planBranch(Request &R, Branch &B);
  void planPrompt(Request &R);
  void commit();
  void retire();
  bool alone(const Request &R) const;

  Session &S;
  const Tokenizer *T;
  uint32_t MaxBatch;
  uint32_t MaxLogits;         ///< rows of logits in a step
  uint32_t ReservedPages = 0; ///< promised to running requests
  uint32_t Branches = 0;      ///< of running requests
  std::deque<std::shared_ptr<Request>> Waiting;
  std::vector<std::shared_ptr<Request>> Running;

  // Of the current step.
  struct Owner {
    Request *R;
    Branch *B; ///< null: a prompt row
    uint32_t PromptRow;
  };
  std::vector<StepRow> Rows;
  std::vector<Owner> Owners;
  std::vector<float> Logits;
  uint32_t RowsLeft = 0, LogitsLeft = 0, SequencesLeft = 0;
  double (*Now)();
  double Seconds = 0; ///< that it took
  size_t Rotate = 0;  ///< whose turn comes first
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_ENGINE_H
