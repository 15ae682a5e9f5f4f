// Fusion inside the llm dialect. Order and reasons: compiler/pipeline.
#ifndef LLMC_PASSES_FUSION
#define LLMC_PASSES_FUSION
include "mlir/Pass/PassBase.td"

def FuseQkv : Pass<"llmc-fuse-qkv", "::mlir::ModuleOp"> {
  let summary = "query, key and value products, rope and cache write become one llm.qkv";
  let description = [{
    Anchor is an `llm.kv_write`: its k and v and the q of the next
    `llm.attention` on the same state must be products of one row, roped alike,
    used nowhere else. The weight of the result has its rows per KV group: the
    q heads of the group, its k, its v, so that a thread (or a tensor-parallel
    rank) that owns a group has everything for rope and the cache write.
    A norm between product and rope (query and key norm) keeps it from firing.

    ```mlir
    // before
    %q = llm.linear %x, @wq ...
    %k = llm.linear %x, @wk ...
    %v = llm.linear %x, @wv ...
    %qr = llm.rope %q, %t ...
    %kr = llm.rope %k, %t ...
    llm.kv_write %kr, %v, @kv ...
    %a = llm.attention %qr, @kv ...
    // after
    %qr = llm.qkv %x, %t {weight = @qkv, state = @kv, ...}
    %a = llm.attention %qr, @kv ...
    ```
  }];
  let dependentDialects = ["::llmc::llm::LlmDialect"];
}

def FuseGateUp : Pass<"llmc-fuse-gate-up", "::mlir::ModuleOp"> {
  let summary = "gate and up product and GLU become one llm.linear with glu";
  let description = [{
    Both products must be of one row and used only by the `llm.glu`. The rows
    of the new weight alternate: 16 of gate, 16 of up (a panel each), so that a
    thread has both sides of its features; n must be a multiple of 16.

    ```mlir
    // before
    %g = llm.linear %x, @gate ...
    %u = llm.linear %x, @up ...
    %h = llm.glu %g, %u {kind = silu}
    // after
    %h = llm.linear %x, @gate_up {glu = silu}
    ```
  }];
  let dependentDialects = ["::llmc::llm::LlmDialect"];
}

def FuseEpilogue : Pass<"llmc-fuse-epilogue", "::mlir::ModuleOp"> {
  let summary = "activation and residual addition move into the llm.linear before them";
  let description = [{
    Only where the product has no other user. Order inside llm.linear:
    activation or GLU, then residual.

    ```mlir
    // before
    %y = llm.linear %a, @w ...
    %z = llm.add %x, %y ...
    // after
    %z = llm.linear %a residual %x, @w ...
    ```
  }];
  let dependentDialects = ["::llmc::llm::LlmDialect"];
}

def FuseNormLinear : Pass<"llmc-fuse-norm-linear", "::mlir::ModuleOp"> {
  let summary = "a norm moves into the prologue of all products that read it";
  let description = [{
    Fires when every user of an `llm.norm` is an llm.linear, llm.qkv or
    llm.logits that reads it as its x and has no norm yet; each gets a copy.
    Gains are not folded into weights: that would change quantisation grids.

    ```mlir
    // before
    %n = llm.norm %x {gain = @g, kind = rms, eps = 1.0e-5}
    %y = llm.linear %n, @w ...
    // after
    %y = llm.linear %x, @w {norm = rms, gain = @g, eps = 1.0e-5}
    ```
  }];
  let dependentDialects = ["::llmc::llm::LlmDialect"];
}
#endif
