// Memory of a program. Order and reasons: compiler/pipeline.
#ifndef LLMC_PASSES_MEMORY
#define LLMC_PASSES_MEMORY
include "mlir/Pass/PassBase.td"

def PlanWeights : Pass<"llmc-plan-weights", "::mlir::ModuleOp"> {
  let summary = "offsets of the packed weights in their segment";
  let description = [{
    In the order of execution, so that a step reads the segment from front to
    back; aligned to 64 bytes on the CPU and to 256 on CUDA. Sizes are those of
    compiler/weights/Layout.h, which the packer uses, too.

    ```mlir
    // before
    exe.packed_weight @w {rows = 64, cols = 64, layout = "p16.f32", ...}
    // after
    exe.packed_weight @w {rows = 64, cols = 64, layout = "p16.f32", offset = 0, bytes = 16384, ...}
    ```
  }];
  let dependentDialects = ["::llmc::exe::ExeDialect"];
}

def PlanArena : Pass<"llmc-plan-arena", "::mlir::ModuleOp"> {
  let summary = "offsets of the slots in the arena, per bucket";
  let description = [{
    Slots that are live at the same time do not overlap; others may. A slot is
    live from its first to its last phase; one that carries a value into a layer
    of an exe.layers is live in the whole loop. The largest slot is placed first,
    each at the lowest offset that is free. Every bucket is planned by itself;
    nothing lies outside `arena_bytes`.

    ```mlir
    // before
    exe.slot @x {per_token = 256 : i64}
    // after, buckets 1 and 8
    exe.slot @x {per_token = 256 : i64, offsets = array<i64: 0, 0>}
    ```
  }];
  let dependentDialects = ["::llmc::exe::ExeDialect"];
}

def PlanKv : Pass<"llmc-plan-kv", "::mlir::ModuleOp"> {
  let summary = "bytes of a cache page and number of pages";
  let description = [{
    A page holds page_tokens tokens of all layers. There are enough for
    max_sequences sequences of max_context tokens.

    ```mlir
    // before
    exe.state @kv {layers = 2, kv_heads = 1, head_dim = 64, v_head_dim = 64, dtype = f16}
    // after, with pages of 64 tokens
    exe.state @kv {layers = 2, kv_heads = 1, head_dim = 64, v_head_dim = 64, dtype = f16, page_bytes = 32768}
    ```
  }];
  let dependentDialects = ["::llmc::exe::ExeDialect"];
}

def CheckBudget : Pass<"llmc-check-budget", "::mlir::ModuleOp"> {
  let summary = "fails when weights, arena, workspace and cache do not fit";
  let description = [{
    The error names what is needed, the budget and the largest context that
    fits. Changes nothing.

    ```mlir
    // error: target sm_80 needs 2097152 bytes for 1 x 64 tokens, the memory budget is 1048576; ...
    exe.program @program attributes {weight_bytes = 1048576 : i64, ...} { ... }
    ```
  }];
  let options = [
    Option<"budget", "budget", "int64_t", "0", "bytes; 0: no limit">
  ];
  let dependentDialects = ["::llmc::exe::ExeDialect"];
}
#endif
