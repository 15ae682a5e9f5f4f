// The order of the raise passes, with a reason for each place.
#include "passes/raise/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace llmc::raise {

void buildRaisePipeline(mlir::OpPassManager &PM, const RaiseOptions &Options) {
  // First, since the roles of inputs that all others ask for depend on it.
  PM.addPass(createRaiseKvCache());
  PM.addPass(createRaiseEmbedding());
  // Norms and products bound the cones that rope and attention are found in:
  // biases must be inside of linears by then.
  PM.addPass(createRaiseNorm());
  PM.addPass(createRaiseLinear());
  PM.addPass(createRaiseActivation());
  // Rope before attention: its results are the leaves of an attention block.
  PM.addPass(createRaiseRope(Options.Reader));
  PM.addPass(createRaiseMask(Options.Reader));
  PM.addPass(createRaiseAttention(Options.Reader));
  PM.addPass(createRaiseModel());
}
} // namespace llmc::raise
