// Passes that turn the onnx dialect into the llm dialect, one per concept. They
// run in the order of buildRaisePipeline (Pipeline.cpp).
#ifndef LLMC_PASSES_RAISE_PASSES
#define LLMC_PASSES_RAISE_PASSES
include "mlir/Pass/PassBase.td"

defvar LlmAndOnnx = ["::llmc::llm::LlmDialect", "::llmc::onnx::OnnxDialect"];

def RaiseEmbedding : Pass<"llmc-raise-embedding", "::mlir::ModuleOp"> {
  let summary = "Gather of a table by token ids → llm.embed";
  let dependentDialects = LlmAndOnnx;
  let description = [{
    Fires on a Gather of axis 0 whose data is a matrix of the file and whose
    indices come from the token input of the graph; a following multiplication
    by a constant becomes `scale`. A Gather that is added to token rows, by the
    positions plus a constant, is a table of learned positions.

    ```mlir
    %x = onnx.gather %table, %input_ids
    // becomes
    %x = llm.embed %input_ids, @w.table
    ```
  }];
}

def RaiseNorm : Pass<"llmc-raise-norm", "::mlir::ModuleOp"> {
  let summary = "RMS and layer norms in every spelling → llm.norm";
  let dependentDialects = LlmAndOnnx;
  let options = [Option<"Model", "model", "std::string", "\"\"",
                        "path of the model file, to read computed gains from">];
  let description = [{
    Decomposed norms are found from their ReduceMean: the squares by Pow or Mul,
    the root by Sqrt with Div or Reciprocal or by Pow(-0.5), casts anywhere, the
    gain on either side, the bias last. LayerNormalization and RMSNormalization
    become the same op. A gain that the graph computes from weights (1 + w) is
    computed at once.

    ```mlir
    %s = onnx.pow %x, %two
    %m = onnx.reduce_mean %s, %last
    %e = onnx.add %m, %eps
    %r = onnx.sqrt %e
    %n = onnx.div %x, %r
    %y = onnx.mul %gain, %n
    // becomes
    %y = llm.norm %x {kind = rms, gain = @w.gain, eps = 1.0e-5}
    ```
  }];
}

def RaiseLinear : Pass<"llmc-raise-linear", "::mlir::ModuleOp"> {
  let summary = "MatMul or Gemm by a weight, and its bias → llm.linear";
  let dependentDialects = LlmAndOnnx;
  let description = [{
    The weight is a matrix of the file in either orientation; a following Add of
    a vector of the file becomes the bias. Split, Slice or Gather of the features
    of a product, also behind reshapes, becomes products by those rows.

    ```mlir
    %p = onnx.mat_mul %x, %w
    %y = onnx.add %bias, %p
    // becomes
    %y = llm.linear %x, @w.w {bias = @w.bias}
    ```
  }];
}

def RaiseActivation : Pass<"llmc-raise-activation", "::mlir::ModuleOp"> {
  let summary = "SiLU, GELU, ReLU, … → llm.activation, and act(a) * b → llm.glu";
  let dependentDialects = LlmAndOnnx;
  let description = [{
    ```mlir
    %s = onnx.sigmoid %g
    %a = onnx.mul %g, %s
    %h = onnx.mul %a, %u
    // becomes
    %h = llm.glu %g, %u {kind = silu}
    ```
  }];
}

def CanonicalizeQuantized : Pass<"llmc-canonicalize-quantized", "::mlir::ModuleOp"> {
  let summary = "turns quantised weights of every form into plain products of llm.quantized_value";
  let description = [{
    MatMulNBits, MatMulBnb4, GatherBlockQuantized, MatMulInteger with its
    scales, QLinearMatMul and DequantizeLinear of tensors of the file become
    MatMul and Gather of one kind of value, whose codes, scales and zero points
    stay where they are in the file. Activations are computed exactly: a
    quantisation and the dequantisation behind it go, through ops that only move
    elements, but for the saturation at zero that stands for a dropped Relu.

    ```mlir
    // before
    %y = onnx.ms_mat_mul_n_bits %x, %codes, %scales, … {K = 64, N = 32, bits = 4, block_size = 32}
    // after
    llm.quantized @src.w : tensor<32x64xf32> codes(@codes.w) scales(@codes.s) "u4 pitch 64 block 1x32 scale f32 2 zero 8"
    %w = llm.quantized_value @src.w : tensor<32x64xf32>
    %t = onnx.transpose %w {perm = array<i64: 1, 0>} : …
    %y = onnx.mat_mul %x, %t : …
    ```
  }];
  let dependentDialects = ["::llmc::llm::LlmDialect", "::llmc::onnx::OnnxDialect"];
}

def RaiseKvCache : Pass<"llmc-raise-kv-cache", "::mlir::ModuleOp"> {
  let summary = "pairs cache inputs with the outputs that continue them";
  let dependentDialects = LlmAndOnnx;
  let description = [{
    An output that is made of one float input by moving elements, with a Concat
    on the way, continues that input. Both get `llm.cache = n`.

    ```mlir
    func.func @main(%past: tensor<?x2x?x8xf32>, …) -> tensor<?x2x?x8xf32> {
      %present = onnx.concat %past, %new {axis = 2}
      return %present
    // becomes
    func.func @main(%past: tensor<?x2x?x8xf32> {llm.cache = 0}, …) -> (tensor<?x2x?x8xf32> {llm.cache = 0})
    ```
  }];
}

def RaiseRope : Pass<"llmc-raise-rope", "::mlir::ModuleOp"> {
  let summary = "rotary embeddings → llm.rope on flat rows, one llm.rope_table";
  let dependentDialects = LlmAndOnnx;
  let options = [Option<"Model", "model", "std::string", "\"\"",
                        "path of the model file, to read small weights from">];
  let description = [{
    The rotation is proved by evaluation on samples, so its spelling does not
    matter; frequencies are the file's own. Positions are the position input of
    the graph or, without one, past length + index.

    ```mlir
    %a = onnx.mul %q, %cos
    %b = onnx.mul %rotated, %sin
    %y = onnx.add %a, %b
    // becomes
    %t = llm.rope_table %position_ids {freq = @w.rope.freq}
    %r = llm.rope %q_flat, %t {heads = 4, head_dim = 8, rotary_half = 4}
    %s = onnx.reshape %r, %heads
    %y = onnx.transpose %s {perm = [0, 2, 1, 3]}
    ```
  }];
}

def RaiseLatent : Pass<"llmc-raise-latent", "::mlir::ModuleOp"> {
  let summary = "heads of several parts or of cached latent rows → heads of new tokens behind a cache of heads";
  let dependentDialects = LlmAndOnnx;
  let options = [Option<"Model", "model", "std::string", "\"\"",
                        "path of the model file, to read small weights from">];
  let description = [{
    Products and norms of rows of a cache get a cache of their results, sums of
    two products of scores become one product of longer heads, and keys or
    values that are put together from several caches get one of their own,
    which is proved by evaluation. Graphs whose caches hold heads stay as they
    are.

    ```mlir
    %rows = onnx.concat %past, %latent {axis = 1}
    %y = llm.linear %rows, @w.kv
    // becomes
    %new = llm.linear %latent, @w.kv
    %y = onnx.concat %past_heads, %new {axis = 1}
    ```
  }];
}

def RaiseMask : Pass<"llmc-raise-mask", "::mlir::ModuleOp"> {
  let summary = "what each softmax may see, by evaluating its mask";
  let dependentDialects = LlmAndOnnx;
  let options = [Option<"Model", "model", "std::string", "\"\"",
                        "path of the model file, to read small weights from">];
  let description = [{
    The scores are replaced by zeros and the input of the softmax is evaluated
    on samples: what is hugely negative is hidden. If the rest is causal, with
    or without a window or chunks, the softmax gets `llm.window` (0: none) and
    `llm.chunk`; what ALiBi adds becomes `llm.slopes`, the extra column of
    attention sinks `llm.sinks`, one number per head. A mask that is right for
    single steps only gets `llm.step_tokens`. Else `llm.mask_failure` says why.

    ```mlir
    %p = onnx.softmax %masked
    // becomes
    %p = onnx.softmax %masked {llm.window = 8}
    ```
  }];
}

def RaiseAttention : Pass<"llmc-raise-attention", "::mlir::ModuleOp"> {
  let summary = "attention blocks → llm.padded_attention and llm.state";
  let dependentDialects = LlmAndOnnx;
  let options = [Option<"Model", "model", "std::string", "\"\"",
                        "path of the model file, to read small weights from">];
  let description = [{
    A block reaches from the rows of q, k and v over a softmax to the merged
    heads. Its scale and softcap are measured, and the whole block is proved by
    evaluation, in one step and in several over the cache. A block that is not
    proved is an error that says why; a softmax without products on either side
    is left alone.

    ```mlir
    %s = onnx.mat_mul %q4, %kt
    %m = onnx.add %s, %mask
    %p = onnx.softmax %m {llm.window = 0}
    %o = onnx.mat_mul %p, %v4
    %t = onnx.transpose %o {perm = [0, 2, 1, 3]}
    %y = onnx.reshape %t, %flat
    // becomes
    %y = llm.padded_attention %q, %k, %v, @l0.kv {heads = 4, scale = 0.25}
    ```
  }];
}

def RaiseState : Pass<"llmc-raise-state", "::mlir::ModuleOp"> {
  let summary = "short convolutions and linear attention → llm ops with state";
  let dependentDialects = LlmAndOnnx;
  let options = [Option<"Model", "model", "std::string", "\"\"",
                        "path of the model file, to read small weights from">];
  let description = [{
    Fires on CausalConvWithState and LinearAttention, and on a depthwise Conv
    that is a causal convolution of the end of a cache input and the new tokens,
    which is proved on samples in one step and in two.

    ```mlir
    %y, %present = onnx.causal_conv_with_state %x, %w, %b, %past
    // becomes
    %t = onnx.transpose %x {perm = [0, 2, 1]}
    %r = llm.causal_conv %t, @conv0 {weight = @w.w.flat, bias = @w.b, taps = 3}
    %y = onnx.transpose %r {perm = [0, 2, 1]}
    ```
  }];
}

def RaiseMoe : Pass<"llmc-raise-moe", "::mlir::ModuleOp"> {
  let summary = "mixtures of experts in every spelling → llm.experts";
  let dependentDialects = LlmAndOnnx;
  let options = [Option<"Model", "model", "std::string", "\"\"",
                        "path of the model file, to read small weights from">];
  let description = [{
    Loops over experts that gather tokens become sums over all tokens; sums of
    experts of one form, each times a weight of the router, batched products
    with all experts and products with matrices that a Gather takes for each
    choice become products with the chosen ones. The routing weights are rows of
    one weight per expert, for `raise-rowwise`.

    ```mlir
    %a = onnx.mul %expert0, %w0
    %b = onnx.mul %expert1, %w1
    %y = onnx.add %a, %b
    // becomes
    %r = onnx.concat %w0, %w1 {axis = 2}
    %u = llm.experts %x, %r, @up {slots = 1}
    %h = llm.activation %u {kind = silu}
    %y = llm.experts %h, %r, @down {slots = 1, combine}
    ```
  }];
}

def RaiseRowwise : Pass<"llmc-raise-rowwise", "::mlir::ModuleOp"> {
  let summary = "functions of single token rows that no recogniser knows → llm.rowwise";
  let dependentDialects = LlmAndOnnx;
  let options = [Option<"Model", "model", "std::string", "\"\"",
                        "path of the model file, to read small weights from">,
                 Option<"Heads", "heads", "bool", "false",
                        "only what attention blocks take as q, k and v">];
  let description = [{
    Fires on what an llm op takes and that has no token rows yet, if on samples
    it is a function of the rows it comes from: elementwise ops, moves,
    reductions and choices by index along the features.

    ```mlir
    %a = onnx.abs %h
    %s = onnx.reduce_max %a, %last
    %y = onnx.div %h, %s
    // becomes
    %y = llm.rowwise %h {program = @w.rowwise, count = 3, scratch = 32}
    ```
  }];
}

def RaiseModel : Pass<"llmc-raise-model", "::mlir::ModuleOp"> {
  let summary = "the padded graph → the token-major step function";
  let dependentDialects = LlmAndOnnx;
  let description = [{
    Follows the logits back to the token ids through llm ops only; padding,
    batch, masks, cache inputs and outputs disappear, and so does the choice of
    the last rows. What else is left on the way that is no llm op, a choice of
    other rows included, is an error naming the node. Outputs that are neither
    logits nor caches are left out with a warning.

    ```mlir
    func.func @main(%ids, %mask, %pos, %past…) -> (%logits, %present…)
    // becomes
    func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x192xf32>
    ```
  }];
}

def VerifyRaised : Pass<"llmc-verify-raised", "::mlir::ModuleOp"> {
  let summary = "raises a module and compares it with what it was";
  let dependentDialects = LlmAndOnnx;
  let options = [Option<"Model", "model", "std::string", "\"\"",
                        "path of the model file, to read small weights from">,
                 Option<"Tokens", "tokens", "int64_t", "11",
                        "how many tokens both compute">];
  let description = [{
    Runs all raise passes, evaluates the graph before and the step function
    after on the same tokens, and fails if logits differ by more than 1e-4 of
    the largest.

    ```mlir
    func.func @main(%input_ids, …) -> (%logits, …)
    // becomes, if they agree
    func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x192xf32>
    ```
  }];
}
#endif
