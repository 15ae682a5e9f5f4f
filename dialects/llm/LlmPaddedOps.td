// Ops that exist only between the first recogniser and raise-model, while the
// graph is still padded: [batch, seq, features] and no step function yet.
#ifndef LLMC_LLM_PADDED_OPS
#define LLMC_LLM_PADDED_OPS
include "dialects/llm/LlmBase.td"

def Llm_PaddedAttentionOp : Llm_Op<"padded_attention", [Pure, Llm_SymbolUser]> {
  let summary = "attention of a whole block, with its new keys and values as operands";
  let description = [{
    What `llm.kv_write` of `k` and `v` followed by `llm.attention` of `q` gives;
    made by `raise-attention`, split into the two by `raise-model`. Positions
    are those of the padded graph: past length + index in the sequence.

    - C1: `state` names an `llm.state`; its kv_heads divide `heads`.
    - C2: `q` has heads * head_dim features, `k` kv_heads * head_dim, `v`
      kv_heads * v_head_dim and the result heads * v_head_dim.
    - C3: `window`, `softcap` and `chunk` are not negative.
    - C4: `slopes` and `sinks` name `llm.weight`s `[heads]`.

    ```mlir
    %a = llm.padded_attention %q, %k, %v, @l0.kv {heads = 4 : i64, scale = 0.25 : f32} : (tensor<?x?x64xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>) -> tensor<?x?x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$q, Llm_Rows:$k, Llm_Rows:$v, FlatSymbolRefAttr:$state,
                       I64Attr:$heads, F32Attr:$scale,
                       DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<F32Attr, "0.0f">:$softcap,
                       DefaultValuedAttr<I64Attr, "0">:$chunk,
                       OptionalAttr<FlatSymbolRefAttr>:$slopes,
                       OptionalAttr<FlatSymbolRefAttr>:$sinks);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$q `,` $k `,` $v `,` $state attr-dict `:` functional-type(operands, results)";
}

def Llm_PaddedPositionsOp : Llm_Op<"padded_positions", [Pure]> {
  let summary = "positions of the padded tokens: past length + index";
  let description = [{
    Stands for the positions where a graph has no input for them;
    `raise-model` replaces it by the positions of the step.

    - C1: the result has the type of the ids.

    ```mlir
    %p = llm.padded_positions %ids : (tensor<?x?xi64>) -> tensor<?x?xi64>
    ```
  }];
  let arguments = (ins Llm_Ints:$ids);
  let results = (outs Llm_Ints:$result);
  let assemblyFormat = "$ids attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Llm_QuantizedValueOp : Llm_Op<"quantized_value", [Pure, Llm_SymbolUser]> {
  let summary = "the value of an llm.quantized in the graph";
  let description = [{
    Made by `canonicalize-quantized`; the recognisers of products and tables
    take it as they take `onnx.weight`.

    - C1: `source` names an `llm.quantized` of the result's shape.

    ```mlir
    %w = llm.quantized_value @src.w : tensor<64x32xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
}
#endif
