// RUN: llmc-opt %s -split-input-file -llmc-choose-precision -llmc-llm-to-exe=max-context=200 -verify-diagnostics
// What llm-to-exe refuses, with the reason.

module {
  llm.source @s : tensor<32x32xf32> {file = 1, offset = 0, length = 4096}
  llm.source @u : tensor<100x8xf32> {file = 1, offset = 4160, length = 3200}
  llm.weight @w : tensor<32x32xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
  llm.weight @table : tensor<100x8xf32> [#llm.piece<source = @u, begin = 0, count = 100>]
  func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x32xf32> {
    // expected-error @+1 {{the rope table has 100 positions, the context 200}}
    %r = llm.rope_table %pos {cos = @table, sin = @table} : (tensor<?xi32>) -> tensor<?x16xf32>
    %x = llm.embed %ids, @w : (tensor<?xi32>) -> tensor<?x32xf32>
    %l = llm.logits %x, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
    return %l : tensor<?x32xf32>
  }
}

// -----
module {
  llm.source @s : tensor<32x32xf32> {file = 1, offset = 0, length = 4096}
  llm.weight @w : tensor<32x32xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
  // expected-error @+1 {{step must return the result of one llm.logits}}
  func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x32xf32> {
    %x = llm.embed %ids, @w : (tensor<?xi32>) -> tensor<?x32xf32>
    return %x : tensor<?x32xf32>
  }
}

// -----
module {
  llm.source @s : tensor<32x32xi8> {file = 1, offset = 0, length = 1024}
  // expected-error @+1 {{weight 'w' comes from 's' of type 'i8', expected a float type}}
  llm.weight @w : tensor<32x32xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
  func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> tensor<?x32xf32> {
    %x = llm.embed %ids, @w : (tensor<?xi32>) -> tensor<?x32xf32>
    %l = llm.logits %x, @w : (tensor<?x32xf32>) -> tensor<?x32xf32>
    return %l : tensor<?x32xf32>
  }
}

// -----
// expected-error @+1 {{has no function 'step' (raise-model)}}
module {
}
