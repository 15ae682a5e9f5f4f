// Sequences on one Executable: their pages and lengths, and the step that
// appends tokens to them. What a step computes for a sequence never depends on
// the other sequences in it.
#ifndef LLMC_RUNTIME_MODEL_SESSION_H
#define LLMC_RUNTIME_MODEL_SESSION_H

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/model/PagePool.h"

#include <cstdint>
#include <span>
#include <vector>

namespace llmc {

/// Handle of a sequence in a Session; not reused while it lives.
using SequenceId = uint32_t;

/// Numerics class of a token (design note 0001); kept for its whole life.
enum class TokenClass : uint8_t { Prompt, Generated };

/// One token to append. Rows of one sequence stand in order.
struct StepRow {
  SequenceId Sequence;
  int32_t Token;
  TokenClass Class;
  bool WantLogits;
  /// Of a prompt that comes in several steps: its tokens; 0: those of the
  /// sequence after this step.
  uint32_t PromptLength = 0;
};

/// Used by one thread at a time. Borrows the Executable.
class Session {
public:
  /// MaxContext: tokens that one sequence may have; 0: what the pages hold.
  Session(Executable &E, uint32_t MaxContext);

  const ExecutableInfo &info() const { return Exec.info(); }
  uint32_t maxContext() const { return MaxContext; }
  uint32_t freePages() const { return Pool.available(); }
  uint32_t pageCapacity() const { return Pool.capacity(); }
  uint32_t pagesFor(uint64_t Tokens) const {
    return static_cast<uint32_t>((Tokens + info().PageTokens - 1) /
                                 info().PageTokens);
  }

  /// A new, empty sequence.
  SequenceId create();
  /// A copy of a sequence; pages are shared until one of the two writes.
  SequenceId fork(SequenceId S);
  /// Forgets all tokens from Length on.
  void truncate(SequenceId S, uint32_t Length);
  void free(SequenceId S);
  uint32_t length(SequenceId S) const { return Sequences[S].Length; }

  /// Appends the rows and computes logits of those that want them: row I of
  /// Logits belongs to the I-th wanting row in order of class (prompt first),
  /// then of Rows; logitIndex() translates. On failure
  /// nothing has been appended: DoesNotFit when rows, sequences, context or
  /// pages do not suffice, Usage for a token outside the vocabulary.
  Status step(std::span<const StepRow> Rows, std::span<float> Logits);
  /// After step(): index into Logits, in units of a vocabulary, of Rows[Row].
  uint32_t logitIndex(size_t Row) const { return RowToLogit[Row]; }

private:
  /// What a row was, to compute it again.
  struct Past {
    int32_t Token, Length;
    TokenClass Class;
  };
  struct Sequence {
    std::vector<uint32_t> Pages;
    std::vector<Past> Tokens; ///< of programs with records only
    uint32_t Valid = 0;       ///< tokens that the records stand for
    uint32_t Length = 0;
    uint32_t Slot = 0;  ///< index in the current step
    uint32_t Added = 0; ///< rows of the current step
    bool Live = false;
    bool InStep = false;
  };

  Status check(std::span<const StepRow> Rows, size_t LogitFloats);
  Status reserve(Sequence &S);
  Status makeOwn(Sequence &S, uint32_t Index);
  void fill(std::span<const StepRow> Rows);
  Status run(std::span<const StepRow> Rows, std::span<float> Logits);
  Status replay(Sequence &S);
  void remember(std::span<const StepRow> Rows);
  void leaveStep(bool Commit);

  Executable &Exec;
  uint32_t MaxContext;
  PagePool Pool;
  std::vector<Sequence> Sequences;
  std::vector<SequenceId> FreeIds;

  // Of the current step; kept to spare allocations.
  std::vector<SequenceId> InStep;
  std::vector<int32_t> Ids, Positions, RowSequence, LogitRows, Lengths;
  std::vector<uint32_t> PageTable, RowToLogit;
  uint32_t PromptRows = 0, PagesPerSequence = 0;
};

} // namespace llmc

#endif // LLMC_RUNTIME_MODEL_SESSION_H
