// RUN: llmc-opt %s -split-input-file --llmc-raise-model -verify-diagnostics
// What is no decoder, or has a node that no recogniser took, is an error that names it.

// expected-error @+1 {{no token input: no integer input (input_ids of a decoder) indexes a table of the file}}
func.func @main(%x: tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32> {
  return %x : tensor<?x3x?x?xf32>
}

// -----
llm.source @s : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
// expected-error @+2 {{no causal attention, convolution or state between tokens and logits: not a decoder}}
// expected-warning @+1 {{the graph has no head: the step gives rows of 8 hidden values, no logits}}
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> (tensor<?x?x8xf32> {onnx.name = "last_hidden_state"}) {
  %x = llm.embed %ids, @w.e : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  return %x : tensor<?x?x8xf32>
}

// -----
// Rows under a name that does not say what they are may be logits that were forgotten.
llm.source @s : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
// expected-error @+1 {{no logits among the 1 outputs}}
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> (tensor<?x?x8xf32> {onnx.name = "n1"}) {
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
// expected-error @+1 {{no causal attention, convolution or state between tokens and logits: not a decoder}}
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

// -----
// Rows other than the last: by index, by several, by range, from the front, with a step, unknown before run time.
llm.source @s : tensor<32x8xf32> {file = 0, offset = 0, length = 1024}
llm.weight @w.e : tensor<32x8xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
func.func @main(%ids: tensor<?x?xi64> {onnx.name = "input_ids"}) -> tensor<?x1x32xf32> {
  %zero = onnx.constant dense<0> : tensor<i64>
  %two = onnx.constant dense<[-2, -1]> : tensor<2xi64>
  %none = onnx.none
  %axis = onnx.constant dense<[1]> : tensor<1xi64>
  %first = onnx.constant dense<[0]> : tensor<1xi64>
  %third = onnx.constant dense<[2]> : tensor<1xi64>
  %back = onnx.constant dense<[-2]> : tensor<1xi64>
  %last = onnx.constant dense<[-1]> : tensor<1xi64>
  %open = onnx.constant dense<[9223372036854775807]> : tensor<1xi64>
  %shape = onnx.shape %ids : (tensor<?x?xi64>) -> tensor<2xi64>
  %i = onnx.gather %shape, %axis {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %x = llm.embed %ids, @w.e : (tensor<?x?xi64>) -> tensor<?x?x8xf32>
  // expected-error @+1 {{node 'onnx.gather' (onnx.gather) is not supported between tokens and logits: it chooses rows of the sequence (0), expected the last (-1)}}
  %a = onnx.gather %x, %zero {axis = 1 : i64} : (tensor<?x?x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  // expected-error @+1 {{it chooses rows of the sequence (-2, -1)}}
  %b = onnx.gather %x, %two {axis = -2 : i64} : (tensor<?x?x8xf32>, tensor<2xi64>) -> tensor<?x2x8xf32>
  // expected-error @+1 {{it chooses rows of the sequence (known only at run time)}}
  %c = onnx.gather %x, %i {axis = 1 : i64} : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x1x8xf32>
  // expected-error @+1 {{node 'onnx.slice' (onnx.slice) is not supported between tokens and logits: it chooses rows of the sequence (from 0 to -1 in steps of 1)}}
  %d = onnx.slice %x, %first, %last, %axis, %none : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?x?x8xf32>
  // expected-error @+1 {{it chooses rows of the sequence (from 2 in steps of 1)}}
  %e = onnx.slice %x, %third, %open, %axis, %none : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?x?x8xf32>
  // expected-error @+1 {{it chooses rows of the sequence (from -2 in steps of 2)}}
  %f = onnx.slice %x, %back, %open, %axis, %third : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x1x8xf32>
  // expected-error @+1 {{it chooses rows of the sequence (known only at run time)}}
  %g = onnx.slice %x, %i, %open, %axis, %none : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?x?x8xf32>
  // An axis of features is none of rows.
  %h = onnx.constant dense<[2]> : tensor<1xi64>
  // expected-error @+1 {{no recogniser made an llm op of it}}
  %k = onnx.slice %x, %first, %third, %h, %none : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<?x?x2xf32>
  %ab = onnx.add %a, %b : (tensor<?x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %abc = onnx.add %ab, %c : (tensor<?x2x8xf32>, tensor<?x1x8xf32>) -> tensor<?x2x8xf32>
  %de = onnx.add %d, %e : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %fg = onnx.add %f, %g : (tensor<?x1x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %dk = onnx.add %de, %k : (tensor<?x?x8xf32>, tensor<?x?x2xf32>) -> tensor<?x?x8xf32>
  %s1 = onnx.add %abc, %dk : (tensor<?x2x8xf32>, tensor<?x?x8xf32>) -> tensor<?x1x8xf32>
  %s2 = onnx.add %s1, %fg : (tensor<?x1x8xf32>, tensor<?x?x8xf32>) -> tensor<?x1x8xf32>
  %y = llm.linear %s2, @w.e : (tensor<?x1x8xf32>) -> tensor<?x1x32xf32>
  return %y : tensor<?x1x32xf32>
}
