// What a raised model is made of, for people and programs: attention, rotary
// embedding, norms, activations, weights by element type, states. Printed by
// `llmc check` and kept in the artifact's provenance.
#ifndef LLMC_COMPILER_DRIVER_ARCHITECTURE_H
#define LLMC_COMPILER_DRIVER_ARCHITECTURE_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace llmc {

struct Architecture {
  /// Facts of all layers in one line each, with the number of layers that have
  /// them: "16 heads on 4 KV heads of 64, window 4096".
  using Kinds = std::vector<std::pair<std::string, unsigned>>;

  int64_t Vocab = 0, Hidden = 0, Positions = 0; ///< 0: not known
  unsigned Layers = 0;
  Kinds Attention, Rotary, Norms, Activations, States, Others;
  /// Weights as the file has them: element type -> (tensors, bytes).
  std::map<std::string, std::pair<unsigned, uint64_t>> Weights;

  bool known() const { return Layers > 0; }
};

/// Of a module in the llm dialect; without layers for another one.
Architecture architectureOf(mlir::ModuleOp Module);

/// Lines for a terminal, each ending in a newline.
std::string architectureText(const Architecture &A);

/// One JSON object (docs/reference-json.md, "architecture").
std::string architectureJson(const Architecture &A);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_ARCHITECTURE_H
