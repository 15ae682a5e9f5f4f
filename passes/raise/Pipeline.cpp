// The order of the raise passes, with a reason for each place.
#include "passes/raise/Passes.h"
#include "passes/raise/StaticRounding.h"

#include "mlir/Pass/PassManager.h"

namespace llmc::raise {

void buildRaisePipeline(mlir::OpPassManager &PM, const RaiseOptions &Options) {
  // First, since the roles of inputs that all others ask for depend on it.
  PM.addPass(createRaiseKvCache());
  PM.addPass(createRaiseEmbedding());
  // Norms and products bound the cones that rope and attention are found in:
  // biases must be inside of linears by then.
  PM.addPass(createRaiseNorm(Options.Reader));
  PM.addPass(createRaiseLinear());
  // Roundings between products and what takes their results: gates, rope.
  PM.addPass(createRaiseRoundings(Options.Reader));
  PM.addPass(createRaiseActivation());
  // While cache inputs are still what convolutions start from.
  PM.addPass(createRaiseState(Options.Reader));
  // Experts are made of products and gates; routers have a softmax that is no
  // attention.
  PM.addPass(createRaiseMoe(Options.Reader));
  // Rope before attention: its results are the leaves of an attention block.
  PM.addPass(createRaiseRope(Options.Reader));
  // Heads of several parts, whose parts are products and rotations by then.
  PM.addPass(createRaiseLatent(Options.Reader));
  // What blocks of attention start from must be rows by then.
  PM.addPass(createRaiseRowwise(Options.Reader, /*OfHeads=*/true));
  PM.addPass(createRaiseMask(Options.Reader));
  PM.addPass(createRaiseAttention(Options.Reader));
  // Last: whatever the recognisers left.
  PM.addPass(createRaiseRowwise(Options.Reader));
  PM.addPass(createRaiseModel());
}
} // namespace llmc::raise
