// Finds repeated layers in a list of phases. Plain data in and out, so that the
// search can be tested without IR.
#ifndef LLMC_PASSES_LOWERING_LAYERRUNS_H
#define LLMC_PASSES_LOWERING_LAYERRUNS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace llmc {

/// What the search sees of a phase. Every slot is written by one phase.
struct PhaseFacts {
  const void *Key = nullptr;        ///< equal keys: the same code
  llvm::SmallVector<int, 4> Reads;  ///< slots, in buffer order
  llvm::SmallVector<int, 4> Writes; ///< slots, in buffer order
  std::optional<int64_t> Layer;     ///< of the state, if it has one
};

/// A value that one layer leaves to the next.
struct CarriedSlot {
  int Initial = 0;   ///< slot that the first layer reads
  size_t Writer = 0; ///< phase of the body that makes the next value
  size_t Output = 0; ///< which of its Writes
  /// Phases of the body that read the old value, ascending, and which of their
  /// Reads.
  std::vector<std::pair<size_t, size_t>> Reads;

  size_t lastRead() const { return Reads.back().first; }
};

/// Count layers of Period phases each from phase First on.
struct LayerRun {
  size_t First = 0, Period = 0, Count = 0;
  int64_t FirstLayer = 0; ///< of the state, in the first layer
  int64_t Stride = 1;     ///< of the state, from layer to layer
  std::vector<CarriedSlot> Carried;

  size_t end() const { return First + Period * Count; }
};

/// Runs of at least two layers, ascending and disjoint: the longest first, then
/// what is left of and right of it.
std::vector<LayerRun> findLayerRuns(llvm::ArrayRef<PhaseFacts> Phases);

} // namespace llmc

#endif // LLMC_PASSES_LOWERING_LAYERRUNS_H
