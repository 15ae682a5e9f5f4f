// Ops of the llm dialect. Every op: one sentence, numbered constraints (Cn; the
// verifier message and the test `<op>_cN` carry the tag), one example.
#ifndef LLMC_LLM_OPS
#define LLMC_LLM_OPS
include "dialects/llm/LlmBase.td"

class Llm_Op<string mnem, list<Trait> traits = []> : Op<Llm_Dialect, mnem, traits>;
def Llm_Rows : RankedTensorOf<[F32]>;
def Llm_State : Resource<"::llmc::llm::StateResource">;

// --- symbols -----------------------------------------------------------------

def Llm_SourceOp : Llm_Op<"source", [Symbol]> {
  let summary = "a tensor in a file of the model, or a small inline constant";
  // C1: length == elements * bits / 8 (files). C2: exactly one of file position
  // and data.
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type,
                       OptionalAttr<I64Attr>:$file, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$length, OptionalAttr<ElementsAttr>:$data);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}

def Llm_WeightOp : Llm_Op<"weight", [Symbol]> {
  let summary = "a logical weight: rows taken from sources, in order";
  // C1: every piece names an llm.source. C2: the pieces' counts add up to the
  // rows. C3: a piece lies inside its source and has the weight's columns.
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type,
                       TypedArrayAttrBase<Llm_PieceAttr, "pieces">:$pieces);
  let assemblyFormat = "$sym_name `:` $type $pieces attr-dict";
  let hasVerifier = 1;
}

def Llm_StateOp : Llm_Op<"state", [Symbol]> {
  let summary = "what a sequence keeps between steps, one layer of it";
  // kind: "paged_kv" (ring_kv, record: later). index: number among the states of its kind.
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kind, I64Attr:$index,
                       I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$v_head_dim);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

// --- rows --------------------------------------------------------------------

def Llm_EmbedOp : Llm_Op<"embed", [Pure]> {
  let summary = "rows of a table by token id";
  let arguments = (ins AnyTensor:$ids, FlatSymbolRefAttr:$weight,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scale);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$ids `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_RopeTableOp : Llm_Op<"rope_table", [Pure]> {
  let summary = "cos and sin of each row's position: [T, 2*half], cos first";
  // Either freq (a weight [half]: the file's own inv_freq) or cos and sin
  // (weights [positions, half]).
  let arguments = (ins AnyTensor:$positions, OptionalAttr<FlatSymbolRefAttr>:$freq,
                       OptionalAttr<FlatSymbolRefAttr>:$cos, OptionalAttr<FlatSymbolRefAttr>:$sin,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scaling);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$positions attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_NormOp : Llm_Op<"norm", [Pure]> {
  let summary = "RMS or layer norm over the last dim";
  let arguments = (ins Llm_Rows:$x, OptionalAttr<FlatSymbolRefAttr>:$gain,
                       OptionalAttr<FlatSymbolRefAttr>:$bias, Llm_NormKind:$kind, F32Attr:$eps);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_LinearOp : Llm_Op<"linear", [Pure]> {
  let summary = "norm(x) W^T + bias, then activation or GLU, then + residual";
  // weight is [N, K]. With glu, rows interleave 16 gate and 16 up rows and the
  // result has N/2 features.
  let arguments = (ins Llm_Rows:$x, Optional<Llm_Rows>:$residual, FlatSymbolRefAttr:$weight,
                       OptionalAttr<FlatSymbolRefAttr>:$bias,
                       DefaultValuedAttr<Llm_NormKind, "NormKind::none">:$norm,
                       OptionalAttr<FlatSymbolRefAttr>:$gain, OptionalAttr<FlatSymbolRefAttr>:$norm_bias,
                       DefaultValuedAttr<F32Attr, "0.0f">:$eps,
                       DefaultValuedAttr<Llm_ActivationKind, "ActivationKind::none">:$activation,
                       DefaultValuedAttr<Llm_ActivationKind, "ActivationKind::none">:$glu);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x (`residual` $residual^)? `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_RopeOp : Llm_Op<"rope", [Pure]> {
  let summary = "rotary embedding of each head of a row";
  let arguments = (ins Llm_Rows:$x, Llm_Rows:$table, I64Attr:$heads, I64Attr:$head_dim,
                       I64Attr:$rotary_half, DefaultValuedAttr<BoolAttr, "false">:$interleaved);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x `,` $table attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_KvWriteOp : Llm_Op<"kv_write", [MemoryEffects<[MemWrite<Llm_State>]>]> {
  let summary = "append each row's keys and values to its sequence's cache";
  let arguments = (ins Llm_Rows:$k, Llm_Rows:$v, FlatSymbolRefAttr:$state);
  let assemblyFormat = "$k `,` $v `,` $state attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

def Llm_AttentionOp : Llm_Op<"attention", [MemoryEffects<[MemRead<Llm_State>]>]> {
  let summary = "softmax(scale q k^T) v over the visible keys of the row's sequence";
  // Visible: positions in (pos - window, pos]; window 0 means all <= pos.
  let arguments = (ins Llm_Rows:$q, FlatSymbolRefAttr:$state, I64Attr:$heads, F32Attr:$scale,
                       DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<F32Attr, "0.0f">:$softcap);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$q `,` $state attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_QkvOp : Llm_Op<"qkv", [MemoryEffects<[MemWrite<Llm_State>]>]> {
  let summary = "fused norm, q/k/v product, rope and kv_write; yields roped q";
  // Weight rows per KV group: its q heads, k, v. Made by fusion only.
  let arguments = (ins Llm_Rows:$x, Optional<Llm_Rows>:$table, FlatSymbolRefAttr:$weight,
                       OptionalAttr<FlatSymbolRefAttr>:$bias, FlatSymbolRefAttr:$state, I64Attr:$heads,
                       DefaultValuedAttr<I64Attr, "0">:$rotary_half,
                       DefaultValuedAttr<BoolAttr, "false">:$interleaved,
                       DefaultValuedAttr<Llm_NormKind, "NormKind::none">:$norm,
                       OptionalAttr<FlatSymbolRefAttr>:$gain, OptionalAttr<FlatSymbolRefAttr>:$norm_bias,
                       DefaultValuedAttr<F32Attr, "0.0f">:$eps);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x (`,` $table^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_ActivationOp : Llm_Op<"activation", [Pure]> {
  let summary = "elementwise activation";
  let arguments = (ins Llm_Rows:$x, Llm_ActivationKind:$kind);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Llm_GluOp : Llm_Op<"glu", [Pure]> {
  let summary = "activation(gate) * up";
  let arguments = (ins Llm_Rows:$gate, Llm_Rows:$up, Llm_ActivationKind:$kind);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` functional-type(operands, results)";
}

def Llm_AddOp : Llm_Op<"add", [Pure]> {
  let summary = "residual addition";
  let arguments = (ins Llm_Rows:$a, Llm_Rows:$b);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Llm_ScaleOp : Llm_Op<"scale", [Pure]> {
  let summary = "multiplication by a constant";
  let arguments = (ins Llm_Rows:$x, F32Attr:$factor);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Llm_LogitsOp : Llm_Op<"logits", [Pure]> {
  let summary = "logits of the R asked rows: norm(x[rows]) W^T + bias";
  // x is [T, K], the result [R, vocab]. The final norm is a separate llm.norm
  // until fuse-norm-linear moves it in here.
  let arguments = (ins Llm_Rows:$x, FlatSymbolRefAttr:$weight, OptionalAttr<FlatSymbolRefAttr>:$bias,
                       DefaultValuedAttr<Llm_NormKind, "NormKind::none">:$norm,
                       OptionalAttr<FlatSymbolRefAttr>:$gain, OptionalAttr<FlatSymbolRefAttr>:$norm_bias,
                       DefaultValuedAttr<F32Attr, "0.0f">:$eps,
                       DefaultValuedAttr<F32Attr, "1.0f">:$multiplier,
                       DefaultValuedAttr<F32Attr, "0.0f">:$softcap);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
#endif
