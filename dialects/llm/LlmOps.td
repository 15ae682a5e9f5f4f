// Ops of the llm dialect. Every op: one sentence, numbered constraints (Cn; the
// verifier message and the test `<op>_cN` carry the tag), one example.
// Long because all ops of token rows are read together.
#ifndef LLMC_LLM_OPS
#define LLMC_LLM_OPS
include "dialects/llm/LlmBase.td"
include "dialects/llm/LlmPaddedOps.td"

// --- symbols -----------------------------------------------------------------

def Llm_SourceOp : Llm_Op<"source", [Symbol]> {
  let summary = "a tensor in a file of the model, or a small inline constant";
  let description = [{
    `file` is an index into the module's list of files, `offset` and `length`
    are bytes.

    - C1: a file source has `length` = elements * bits / 8.
    - C2: exactly one of the file position (`file`, `offset`, `length`) and
      `data` is given; `data` has the source's type.
    - C3: the type has a static shape of rank 1 or 2.

    ```mlir
    llm.source @w : tensor<64x32xf32> {file = 1, offset = 0, length = 8192}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type,
                       OptionalAttr<I64Attr>:$file, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$length, OptionalAttr<ElementsAttr>:$data);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}

def Llm_QuantizedOp : Llm_Op<"quantized", [Symbol, Llm_SymbolUser]> {
  let summary = "a matrix or vector that the file holds as codes and scales";
  let description = [{
    A source of weights like `llm.source`: its element is `(code - zero) *
    scale`. `encoding` says how codes, scales and zero points lie in their
    sources (compiler/weights/Encoding.h); `groups` gives the block of scales of
    each column where a file chooses it.

    - C1: codes, scales, zeros and groups name `llm.source`s.
    - C2: the type has a static shape of rank 1 or 2.

    ```mlir
    llm.quantized @w : tensor<64x32xf32> codes(@q) scales(@s) "u4 pitch 32 block 1x32 scale f32 1 zero 8"
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type,
                       FlatSymbolRefAttr:$codes, FlatSymbolRefAttr:$scales,
                       OptionalAttr<FlatSymbolRefAttr>:$zeros,
                       OptionalAttr<FlatSymbolRefAttr>:$groups, StrAttr:$encoding);
  let assemblyFormat = [{
    $sym_name `:` $type `codes` `(` $codes `)` `scales` `(` $scales `)`
    (`zeros` `(` $zeros^ `)`)? (`groups` `(` $groups^ `)`)? $encoding attr-dict
  }];
  let hasVerifier = 1;
}

def Llm_WeightOp : Llm_Op<"weight", [Symbol, Llm_SymbolUser]> {
  let summary = "a logical weight: rows taken from sources, in order";
  let description = [{
    A matrix is `[out, in]`; a vector `[n]` is seen as n rows of one column.

    - C1: every piece names an `llm.source` or an `llm.quantized`.
    - C2: the pieces' counts add up to the weight's rows.
    - C3: a piece lies inside its source and has the weight's columns.

    ```mlir
    llm.weight @q : tensor<64x32xf32> [#llm.piece<source = @w, begin = 0, count = 64>]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type,
                       TypedArrayAttrBase<Llm_PieceAttr, "pieces">:$pieces);
  let assemblyFormat = "$sym_name `:` $type $pieces attr-dict";
}

def Llm_StateOp : Llm_Op<"state", [Symbol]> {
  let summary = "what a sequence keeps between steps, one layer of it";
  let description = [{
    `index` is the number among all states. `paged_kv` are keys and values of
    attention; `paged_rows` one row of head_dim + v_head_dim values per token
    (kv_heads is 1), the past inputs of a short convolution; `record` values
    that each token replaces (linear attention): kv_heads * head_dim *
    v_head_dim of them, kept at the end of every page.

    - C1: `kind` is `paged_kv`, `paged_rows` or `record`.
    - C2: `kv_heads`, `head_dim` and `v_head_dim` are positive, `index` is not
      negative.

    ```mlir
    llm.state @l0.kv {kind = "paged_kv", index = 0 : i64, kv_heads = 3 : i64, head_dim = 64 : i64, v_head_dim = 64 : i64}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kind, I64Attr:$index,
                       I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$v_head_dim);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

// --- rows --------------------------------------------------------------------

def Llm_EmbedOp : Llm_Op<"embed", [Pure, Llm_SymbolUser]> {
  let summary = "rows of a table by token id (or by position), times `scale`";
  let description = [{
    - C1: `weight` names an `llm.weight` of rank 2 whose columns are the
      result's features.

    ```mlir
    %x = llm.embed %ids, @emb : (tensor<?xi32>) -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Llm_Ints:$ids, FlatSymbolRefAttr:$weight,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scale);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$ids `,` $weight attr-dict `:` functional-type(operands, results)";
}

def Llm_RopeTableOp : Llm_Op<"rope_table", [Pure, Llm_SymbolUser]> {
  let summary = "cos and sin of each row's position: [T, 2*half], cos first";
  let description = [{
    Row t holds `cos(p * freq[i]) * scaling` for i < half, then the sines, with
    p = positions[t] and the product in f32; or rows p of given tables.

    - C1: either `freq` (an `llm.weight` `[half]`: the file's own inv_freq) or
      both `cos` and `sin` (`llm.weight`s `[positions, half]` of one shape).
    - C2: the result has 2 * half features.

    ```mlir
    %r = llm.rope_table %pos {freq = @inv_freq} : (tensor<?xi32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Ints:$positions, OptionalAttr<FlatSymbolRefAttr>:$freq,
                       OptionalAttr<FlatSymbolRefAttr>:$cos, OptionalAttr<FlatSymbolRefAttr>:$sin,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scaling);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$positions attr-dict `:` functional-type(operands, results)";
}

def Llm_SelectByLengthOp : Llm_Op<"select_by_length", [Pure]> {
  let summary = "rows of b where the row's sequence is longer than a number, else of a";
  let description = [{
    The length of a row is that of its prompt for prompt rows (whatever the
    chunks it comes in) and position + 1 for generated ones. Rope tables of
    models that change them beyond a length.

    - C1: `a`, `b` and the result have one type; `threshold` is not negative.

    ```mlir
    %r = llm.select_by_length %short, %long {threshold = 4096 : i64} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$a, Llm_Rows:$b, I64Attr:$threshold);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_NormOp : Llm_Op<"norm", [Pure, Llm_SymbolUser]> {
  let summary = "RMS or layer norm over the last dim, or over each head of it";
  let description = [{
    rms: `x / sqrt(mean(x^2) + eps) * gain`; layer: `(x - mean) / sqrt(var +
    eps) * gain + bias`. With `heads` > 1 each of that many equal slices of the
    row is normed by itself, all with the same gain (query/key norms).

    - C1: `kind` is not `none`.
    - C2: `heads` divides the features; `gain` and `bias` name `llm.weight`s
      `[features / heads]`.
    - C3: the result has the type of `x`; `eps` is not negative.

    ```mlir
    %n = llm.norm %x {kind = #llm<NormKind rms>, gain = @g, eps = 1.0e-5 : f32} : (tensor<?x576xf32>) -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, OptionalAttr<FlatSymbolRefAttr>:$gain,
                       OptionalAttr<FlatSymbolRefAttr>:$bias, Llm_NormKind:$kind, F32Attr:$eps,
                       DefaultValuedAttr<I64Attr, "1">:$heads);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Llm_LinearOp : Llm_Op<"linear", [Pure, Llm_SymbolUser]> {
  let summary = "norm(x) W^T + bias, then activation or GLU, then + residual";
  let description = [{
    With `glu`, rows interleave 16 gate and 16 up rows and the result is
    `act(gate) * up`.

    - C1: `weight` names an `llm.weight` `[N, K]`, K the features of `x`; the
      result has N features, with `glu` N/2, N a multiple of 32.
    - C2: `bias` names an `llm.weight` `[N]`.
    - C3: `gain` and `norm_bias` name `llm.weight`s `[K]` and need a `norm`.
    - C4: at most one of `activation` and `glu`.
    - C5: `residual` has the type of the result.

    ```mlir
    %y = llm.linear %x residual %r, @w : (tensor<?x576xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, Optional<Llm_Rows>:$residual, FlatSymbolRefAttr:$weight,
                       OptionalAttr<FlatSymbolRefAttr>:$bias,
                       DefaultValuedAttr<Llm_NormKind, "NormKind::none">:$norm,
                       OptionalAttr<FlatSymbolRefAttr>:$gain, OptionalAttr<FlatSymbolRefAttr>:$norm_bias,
                       DefaultValuedAttr<F32Attr, "0.0f">:$eps,
                       DefaultValuedAttr<Llm_ActivationKind, "ActivationKind::none">:$activation,
                       DefaultValuedAttr<Llm_ActivationKind, "ActivationKind::none">:$glu);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x (`residual` $residual^)? `,` $weight attr-dict `:` functional-type(operands, results)";
}

def Llm_RopeOp : Llm_Op<"rope", [Pure]> {
  let summary = "rotary embedding of each head of a row";
  let description = [{
    In each head, element i of the first `rotary_half` pairs with element
    i + rotary_half (or 2i with 2i + 1 if `interleaved`):
    `a' = a cos - b sin`, `b' = b cos + a sin`. The rest of the head passes.

    - C1: `x` has heads * head_dim features and the result its type.
    - C2: 0 < 2 * rotary_half <= head_dim; the table has 2 * rotary_half
      features.

    ```mlir
    %q1 = llm.rope %q, %r {heads = 9 : i64, head_dim = 64 : i64, rotary_half = 32 : i64} : (tensor<?x576xf32>, tensor<?x64xf32>) -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, Llm_Rows:$table, I64Attr:$heads, I64Attr:$head_dim,
                       I64Attr:$rotary_half, DefaultValuedAttr<BoolAttr, "false">:$interleaved);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x `,` $table attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_KvWriteOp : Llm_Op<"kv_write", [MemoryEffects<[MemWrite<Llm_State>]>, Llm_SymbolUser]> {
  let summary = "append each row's keys and values to its sequence's cache";
  let description = [{
    - C1: `state` names an `llm.state`.
    - C2: `k` has kv_heads * head_dim and `v` kv_heads * v_head_dim features.

    ```mlir
    llm.kv_write %k, %v, @l0.kv : tensor<?x192xf32>, tensor<?x192xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$k, Llm_Rows:$v, FlatSymbolRefAttr:$state);
  let assemblyFormat = "$k `,` $v `,` $state attr-dict `:` type(operands)";
}

def Llm_AttentionOp : Llm_Op<"attention", [MemoryEffects<[MemRead<Llm_State>]>, Llm_SymbolUser]> {
  let summary = "softmax(scale q k^T) v over the visible keys of the row's sequence";
  let description = [{
    Visible are positions in (pos - window, pos]; window 0 means all <= pos.
    With `chunk` c > 0 only those of the query's chunk, from `pos / c * c` on.
    Query head h uses KV head h / (heads / kv_heads). `softcap` c > 0 replaces a
    score s by `c tanh(s / c)`. `slopes` (ALiBi) then add `slope[h] * (key -
    pos)`; `sinks` add `exp(sink[h])` to the sum that probabilities are divided
    by.

    - C1: `state` names an `llm.state`; its kv_heads divide `heads`.
    - C2: `q` has heads * head_dim features, the result heads * v_head_dim.
    - C3: `window`, `softcap` and `chunk` are not negative.
    - C4: `slopes` and `sinks` name `llm.weight`s `[heads]`.

    ```mlir
    %a = llm.attention %q, @l0.kv {heads = 9 : i64, scale = 1.25e-01 : f32} : (tensor<?x576xf32>) -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$q, FlatSymbolRefAttr:$state, I64Attr:$heads, F32Attr:$scale,
                       DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<F32Attr, "0.0f">:$softcap,
                       DefaultValuedAttr<I64Attr, "0">:$chunk,
                       OptionalAttr<FlatSymbolRefAttr>:$slopes,
                       OptionalAttr<FlatSymbolRefAttr>:$sinks);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$q `,` $state attr-dict `:` functional-type(operands, results)";
}

def Llm_QkvOp : Llm_Op<"qkv", [MemoryEffects<[MemWrite<Llm_State>]>, Llm_SymbolUser]> {
  let summary = "fused norm, q/k/v product, rope and kv_write; yields roped q";
  let description = [{
    Weight rows are ordered per KV group: its q heads, its k, its v; the result
    has the q heads in the model's order. Made by fusion only.

    - C1: `state` names an `llm.state`; its kv_heads divide `heads`.
    - C2: `weight` names an `llm.weight` `[N, K]`, K the features of `x`, N =
      heads * head_dim + kv_heads * (head_dim + v_head_dim); `bias` is `[N]`.
    - C3: `gain` and `norm_bias` name `llm.weight`s `[K]` and need a `norm`.
    - C4: `table` is given exactly if rotary_half > 0 and has 2 * rotary_half
      features; 2 * rotary_half <= head_dim.
    - C5: the result has heads * head_dim features.

    ```mlir
    %q = llm.qkv %x, %r {weight = @w, state = @l0.kv, heads = 9 : i64, rotary_half = 32 : i64} : (tensor<?x576xf32>, tensor<?x64xf32>) -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, Optional<Llm_Rows>:$table, FlatSymbolRefAttr:$weight,
                       OptionalAttr<FlatSymbolRefAttr>:$bias, FlatSymbolRefAttr:$state, I64Attr:$heads,
                       DefaultValuedAttr<I64Attr, "0">:$rotary_half,
                       DefaultValuedAttr<BoolAttr, "false">:$interleaved,
                       DefaultValuedAttr<Llm_NormKind, "NormKind::none">:$norm,
                       OptionalAttr<FlatSymbolRefAttr>:$gain, OptionalAttr<FlatSymbolRefAttr>:$norm_bias,
                       DefaultValuedAttr<F32Attr, "0.0f">:$eps);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x (`,` $table^)? attr-dict `:` functional-type(operands, results)";
}

def Llm_ActivationOp : Llm_Op<"activation", [Pure]> {
  let summary = "elementwise activation";
  let description = [{
    - C1: `kind` is not `none`; the result has the type of `x`.

    ```mlir
    %y = llm.activation %x {kind = #llm<ActivationKind gelu>} : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, Llm_ActivationKind:$kind);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_GluOp : Llm_Op<"glu", [Pure]> {
  let summary = "activation(gate) * up";
  let description = [{
    - C1: `kind` is not `none`; `gate`, `up` and the result have one type.

    ```mlir
    %h = llm.glu %g, %u {kind = #llm<ActivationKind silu>} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$gate, Llm_Rows:$up, Llm_ActivationKind:$kind);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_AddOp : Llm_Op<"add", [Pure]> {
  let summary = "residual addition";
  let description = [{
    - C1: `a`, `b` and the result have one type.

    ```mlir
    %y = llm.add %a, %b : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$a, Llm_Rows:$b);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_ScaleOp : Llm_Op<"scale", [Pure]> {
  let summary = "multiplication by a constant";
  let description = [{
    - C1: the result has the type of `x`.

    ```mlir
    %y = llm.scale %x {factor = 2.0 : f32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, F32Attr:$factor);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_RowwiseOp : Llm_Op<"rowwise", [Pure, Llm_SymbolUser]> {
  let summary = "any function of single token rows, as a program";
  let description = [{
    What no other op says: elementwise chains, moves, reductions, choices by
    index along the features of a row. `program` is a table of `count` records
    and their constants (`compiler/kernels/RowCode.h`), `scratch` the values
    that a row needs in between. Made by `raise-rowwise`, which proves it.

    - C1: `program` names an `llm.weight` `[n]`, n at least 32 * count.
    - C2: there are 1 to 8 inputs with a static number of features; `scratch` is
      not negative and `count` positive.

    ```mlir
    %y = llm.rowwise %x, %g {program = @code, count = 3 : i64, scratch = 64 : i64} : (tensor<?x64xf32>, tensor<?x1xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Variadic<Llm_Rows>:$inputs, FlatSymbolRefAttr:$program, I64Attr:$count,
                       I64Attr:$scratch);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
}

def Llm_ExpertsOp : Llm_Op<"experts", [Pure, Llm_SymbolUser]> {
  let summary = "products of each row with the matrices of the experts it is routed to";
  let description = [{
    A row of `route` has one weight per expert; those that are not 0 choose the
    experts of the row, at most `slots`, which are numbered 0, 1, … in ascending
    order of experts. Rows [e N, (e+1) N) of `weight` are expert e's matrix.

    Without `combine` the result has `slots` slices of N features, slice j being
    `W_e x + bias_e` for the row's expert number j (zeros when it has fewer).
    With `combine` `x` has `slots` slices of K features and the result N: the
    sum over j, in ascending order, of `route[e] * (W_e x_j + bias_e)`.

    - C1: `weight` names an `llm.weight` `[experts * N, K]`, `bias` one of
      `[experts * N]`.
    - C2: 1 <= slots <= experts, the features of `route`.
    - C3: `x` has K features and the result slots * N, with `combine` slots * K
      and N.

    ```mlir
    %h = llm.experts %x, %r, @up {slots = 2 : i64} : (tensor<?x64xf32>, tensor<?x8xf32>) -> tensor<?x256xf32>
    %y = llm.experts %h, %r, @down {slots = 2 : i64, combine} : (tensor<?x256xf32>, tensor<?x8xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, Llm_Rows:$route, FlatSymbolRefAttr:$weight,
                       OptionalAttr<FlatSymbolRefAttr>:$bias, I64Attr:$slots, UnitAttr:$combine);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x `,` $route `,` $weight attr-dict `:` functional-type(operands, results)";
}

def Llm_CausalConvOp : Llm_Op<"causal_conv", [MemoryEffects<[MemRead<Llm_State>, MemWrite<Llm_State>]>, Llm_SymbolUser]> {
  let summary = "short causal convolution of each feature over the tokens";
  let description = [{
    Feature c of a row at position p is `activation(bias[c] + sum over j <
    taps of weight[c * taps + j] * x[p - taps + 1 + j][c])`; what is before the
    sequence counts as 0. The rows of `x` go to the state, from where those of
    earlier steps come.

    - C1: `state` names an `llm.state` of kind `paged_rows` with as many values
      per row as `x` has features.
    - C2: `taps` is positive, `weight` names an `llm.weight` `[features * taps]`
      and `bias` one of `[features]`.
    - C3: the result has the features of `x`.

    ```mlir
    %y = llm.causal_conv %x, @l0.conv {weight = @w, taps = 3 : i64} : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, FlatSymbolRefAttr:$state, FlatSymbolRefAttr:$weight,
                       OptionalAttr<FlatSymbolRefAttr>:$bias, I64Attr:$taps,
                       DefaultValuedAttr<Llm_ActivationKind, "ActivationKind::none">:$activation);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x `,` $state attr-dict `:` functional-type(operands, results)";
}

def Llm_LinearAttentionOp : Llm_Op<"linear_attention", [AttrSizedOperandSegments, MemoryEffects<[MemRead<Llm_State>, MemWrite<Llm_State>]>, Llm_SymbolUser]> {
  let summary = "attention by a matrix that every token updates, per head";
  let description = [{
    S is [dk, dv] per KV head, 0 before the sequence. For each token in order,
    with g = `decay` (a logarithm, per head or per key feature; 0 without), b =
    `beta` (per head; 1 without): `S = exp(g) S`; with `delta`
    `v = b (v - k^T S)`, else `v = b v`; `S = S + k v^T`; the result of query
    head h is `scale q_h^T S` of its KV head, h / (heads / kv_heads).

    - C1: `state` names an `llm.state` of kind `record`: kv_heads matrices of
      head_dim (dk) by v_head_dim (dv).
    - C2: `q` has heads * dk features, `k` kv_heads * dk, `v` kv_heads * dv, the
      result heads * dv; kv_heads divide `heads`.
    - C3: `decay` has kv_heads or kv_heads * dk features, `beta` kv_heads.

    ```mlir
    %y = llm.linear_attention %q, %k, %v decay %g beta %b, @l0.state {heads = 4 : i64, scale = 0.25 : f32, delta} : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$q, Llm_Rows:$k, Llm_Rows:$v, Optional<Llm_Rows>:$decay,
                       Optional<Llm_Rows>:$beta, FlatSymbolRefAttr:$state, I64Attr:$heads,
                       F32Attr:$scale, UnitAttr:$delta);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$q `,` $k `,` $v (`decay` $decay^)? (`beta` $beta^)? `,` $state attr-dict `:` functional-type(operands, results)";
}

def Llm_TakeRowsOp : Llm_Op<"take_rows", [Pure, Llm_SymbolUser]> {
  let summary = "the R asked rows: norm(x[rows]), the end of a graph without a head";
  let description = [{
    - C1: `gain` and `norm_bias` name `llm.weight`s `[K]` and need a `norm`.
    - C2: the result has the features of `x`.

    ```mlir
    %h = llm.take_rows %x : (tensor<?x576xf32>) -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x,
                       DefaultValuedAttr<Llm_NormKind, "NormKind::none">:$norm,
                       OptionalAttr<FlatSymbolRefAttr>:$gain, OptionalAttr<FlatSymbolRefAttr>:$norm_bias,
                       DefaultValuedAttr<F32Attr, "0.0f">:$eps);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Llm_LogitsOp : Llm_Op<"logits", [Pure, Llm_SymbolUser]> {
  let summary = "logits of the R asked rows: norm(x[rows]) W^T + bias";
  let description = [{
    Then times `multiplier`, then `softcap` c > 0: `c tanh(s / c)`. `x` is
    [T, K], the result [R, vocab]. The final norm is a separate `llm.norm`
    until `fuse-norm-linear` moves it in here.

    - C1: `weight` names an `llm.weight` `[N, K]`, K the features of `x`, N
      those of the result; `bias` is `[N]`.
    - C2: `gain` and `norm_bias` name `llm.weight`s `[K]` and need a `norm`.
    - C3: `softcap` is not negative.

    ```mlir
    %l = llm.logits %x, @w : (tensor<?x576xf32>) -> tensor<?x49152xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, FlatSymbolRefAttr:$weight, OptionalAttr<FlatSymbolRefAttr>:$bias,
                       DefaultValuedAttr<Llm_NormKind, "NormKind::none">:$norm,
                       OptionalAttr<FlatSymbolRefAttr>:$gain, OptionalAttr<FlatSymbolRefAttr>:$norm_bias,
                       DefaultValuedAttr<F32Attr, "0.0f">:$eps,
                       DefaultValuedAttr<F32Attr, "1.0f">:$multiplier,
                       DefaultValuedAttr<F32Attr, "0.0f">:$softcap);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` functional-type(operands, results)";
}
#endif
