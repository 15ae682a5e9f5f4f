// RUN: llmc-opt %s -split-input-file --llmc-raise-model -verify-diagnostics
// What is no decoder, or has a node that no recogniser took, is an error that names it.

// expected-error @+1 {{no token input: no integer input (input_ids of a decoder) indexes a table of the file}}
func.func @main(%x: tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32> {
  return %x : tensor<?x3x?x?xf32>
}

// -----
llm.source @s : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
// expected-error @+1 {{no logits among the 1 outputs}}
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> tensor<?x?x8xf32> {
  %x = llm.embed %ids, @w.e : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  return %x : tensor<?x?x8xf32>
}

// -----
llm.source @s : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
llm.source @h : tensor<40x8xf32> {file = 0, offset = 0, length = 1280}
llm.weight @w.h : tensor<40x8xf32> [#llm.piece<source = @h, begin = 0, count = 40>]
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> (tensor<?x?x40xf32> {onnx.name = "logits"}) {
  %x = llm.embed %ids, @w.e : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  // expected-error @+1 {{vocabulary mismatch: the head 'llm.linear' gives 40 logits, the embedding has 32 rows}}
  %y = llm.linear %x, @w.h : (tensor<?x?x8xf32>) -> tensor<?x?x40xf32>
  return %y : tensor<?x?x40xf32>
}

// -----
llm.source @s : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
// expected-error @+1 {{no causal attention between tokens and logits: not a decoder}}
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> tensor<?x?x32xf32> {
  %x = llm.embed %ids, @w.e : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %y = llm.linear %x, @w.e : (tensor<?x?x8xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}

// -----
// All unsupported nodes at once: an unknown op, a transpose of rows, an input used directly.
llm.source @s : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}, %v: tensor<?x?x8xf32> {onnx.name = "prefix"}) -> tensor<?x?x32xf32> {
  %x = llm.embed %ids, @w.e : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  // expected-error @+1 {{node 'onnx.sin' (onnx.sin) is not supported between tokens and logits: no recogniser made an llm op of it}}
  %n = onnx.sin %x : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @+1 {{node 'onnx.transpose' (onnx.transpose) is not supported between tokens and logits: no recogniser made an llm op of it}}
  %t = onnx.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @+1 {{it uses input 'prefix' directly}}
  %p = onnx.add %x, %v : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %s = onnx.add %n, %t : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %s2 = onnx.add %s, %p : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = llm.linear %s2, @w.e : (tensor<?x?x8xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
