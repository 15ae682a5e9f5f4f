// From llm to exe. Order and reasons: compiler/pipeline.
#ifndef LLMC_PASSES_LOWERING
#define LLMC_PASSES_LOWERING
include "mlir/Pass/PassBase.td"

def LlmToExe : Pass<"llmc-llm-to-exe", "::mlir::ModuleOp"> {
  let summary = "every llm op becomes one exe.phase with all its constants";
  let description = [{
    The step function becomes an `exe.program`: each llm op one phase of the
    kernel catalogue, each tensor a slot, each distinct weight one
    exe.packed_weight (tied weights are packed once), the states of all layers
    one exe.state. Scratch of the CPU kernels becomes slots, too. Reads the
    annotations of choose-precision.

    ```mlir
    // before
    %y = llm.linear %x, @w {llm.activations = "f32"} : (tensor<?x64xf32>) -> tensor<?x64xf32>
    // after
    exe.slot @h {per_token = 256 : i64}
    exe.phase "linear" [#exe.buf<slot, "x">, ..., #exe.buf<weight, "w">, ..., #exe.buf<slot, "h">, ...]
      {k = 64 : i64, n = 64 : i64, wtype = 0 : i64, ...}
    ```
  }];
  let options = [
    Option<"maxContext", "max-context", "int64_t", "0",
           "tokens of one sequence; 0: the model's, at most 8192">,
    Option<"maxBatch", "max-batch", "int64_t", "1", "sequences at once">,
    Option<"maxTokens", "max-tokens", "int64_t", "512", "tokens of one step">
  ];
  let dependentDialects = ["::llmc::exe::ExeDialect"];
}

def MakeBuckets : Pass<"llmc-make-buckets", "::mlir::ModuleOp"> {
  let summary = "the sizes of a step that are planned for";
  let description = [{
    The target's list of buckets, clipped to the largest step (the last bucket
    so far). On the CPU a bucket is an arena size, on CUDA also a set of grids.

    ```mlir
    // before
    exe.program @program attributes {target = "x86-64-v3", buckets = array<i64: 100>, ...}
    // after
    exe.program @program attributes {target = "x86-64-v3", buckets = array<i64: 1, 8, 64, 100>, ...}
    ```
  }];
  let dependentDialects = ["::llmc::exe::ExeDialect"];
}

def OutlineLayers : Pass<"llmc-outline-layers", "::mlir::ModuleOp"> {
  let summary = "consecutive layers of the same phases become one exe.layers";
  let description = [{
    Finds runs of phases that repeat with other weights and the next layer of
    the state, so that an 80-layer model compiles like a one-layer one. Phases
    are compared by kernel, constants and the layouts of their weights; the
    slots must connect the same way in every repetition. A value that one layer
    leaves to the next gets one slot (with a copy at the end of the body where
    the new value is made before the old one is done with).

    ```mlir
    // before
    exe.phase "linear" [#exe.buf<slot, "x">, ..., #exe.buf<weight, "l0.w">, ..., #exe.buf<slot, "h">, ...] ...
    exe.phase "linear" [#exe.buf<slot, "h">, ..., #exe.buf<weight, "l1.w">, ..., #exe.buf<slot, "h_0">, ...] ...
    // after
    exe.layers attributes {first = 0, count = 2, weights = {w0 = [@l0.w, @l1.w]}} {
      exe.phase "linear" [#exe.buf<slot, "x">, ..., #exe.buf<layer, "w0">, ..., #exe.buf<slot, "x">, ...] ...
    }
    ```
  }];
  let dependentDialects = ["::llmc::exe::ExeDialect"];
}
#endif
