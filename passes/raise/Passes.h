// The raise passes: onnx → llm. See Passes.td for each and Pipeline.cpp for
// their order.
#ifndef LLMC_PASSES_RAISE_PASSES_H
#define LLMC_PASSES_RAISE_PASSES_H

#include "compiler/eval/Evaluator.h"
#include "dialects/llm/LlmDialect.h"
#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace llmc::raise {

struct RaiseOptions {
  /// Reads weights: rope tables, and all of them for Verify. Without it, passes
  /// that need a weight's values fail with an error.
  eval::WeightReader Reader;
};

#define GEN_PASS_DECL
#include "passes/raise/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/raise/Passes.h.inc"

/// The passes that read weights, with a reader instead of a path.
std::unique_ptr<mlir::Pass> createRaiseNorm(eval::WeightReader Reader);
std::unique_ptr<mlir::Pass> createRaiseLatent(eval::WeightReader Reader);
std::unique_ptr<mlir::Pass> createRaiseRope(eval::WeightReader Reader);
std::unique_ptr<mlir::Pass>
createCanonicalizeQuantized(eval::WeightReader Reader);
std::unique_ptr<mlir::Pass> createRaiseMask(eval::WeightReader Reader);
std::unique_ptr<mlir::Pass> createRaiseAttention(eval::WeightReader Reader);
std::unique_ptr<mlir::Pass> createRaiseState(eval::WeightReader Reader);
std::unique_ptr<mlir::Pass> createRaiseMoe(eval::WeightReader Reader);
std::unique_ptr<mlir::Pass> createRaiseRowwise(eval::WeightReader Reader,
                                               bool OfHeads = false);

/// Compares a raised module with the unraised one (caches paired by
/// raise-kv-cache) on that many sample tokens; logits must agree to 1e-4 of the
/// largest.
Status verifyRaised(mlir::ModuleOp Before, mlir::ModuleOp After,
                    const eval::WeightReader &Reader, int64_t Tokens = 11);

/// All raise passes, in order.
void buildRaisePipeline(mlir::OpPassManager &PM, const RaiseOptions &Options);

} // namespace llmc::raise

namespace llmc {
using raise::buildRaisePipeline;
using raise::RaiseOptions;
using raise::registerRaisePasses;
} // namespace llmc

#endif // LLMC_PASSES_RAISE_PASSES_H
