// RUN: llmc-import %inputs/models/tiny-llama-sdpa/model.onnx | llmc-opt --llmc-infer-shapes --llmc-fold-constants --llmc-simplify-shapes --llmc-canonicalize-graph --llmc-verify-raised=model=%inputs/models/tiny-llama-sdpa/model.onnx | FileCheck %s --check-prefixes=CHECK,FREQ
// RUN: llmc-import %inputs/models/tiny-llama-eager/model.onnx | llmc-opt --llmc-infer-shapes --llmc-fold-constants --llmc-simplify-shapes --llmc-canonicalize-graph --llmc-verify-raised=model=%inputs/models/tiny-llama-eager/model.onnx | FileCheck %s --check-prefixes=CHECK,TABLE
// RUN: llmc-import %inputs/models/dynamo-llama/model.onnx | llmc-opt --llmc-infer-shapes --llmc-fold-constants --llmc-simplify-shapes --llmc-canonicalize-graph --llmc-verify-raised=model=%inputs/models/dynamo-llama/model.onnx | FileCheck %s --check-prefixes=CHECK,FREQ
// RUN: llmc-import %inputs/models/torchscript-mistral/model.onnx | llmc-opt --llmc-infer-shapes --llmc-fold-constants --llmc-simplify-shapes --llmc-canonicalize-graph --llmc-verify-raised=model=%inputs/models/torchscript-mistral/model.onnx | FileCheck %s --check-prefixes=CHECK,FREQ,WINDOW
// Whole files of four exporters raise to the same form, and their step functions give the logits of the graph.

// CHECK: llm.model = {hidden = 32 : i64, layers = 2 : i64
// CHECK: func.func @step(%arg0: tensor<?xi32>, %arg1: tensor<?xi32>)
// FREQ: llm.rope_table %arg1 {freq = @rope.freq}
// TABLE: llm.rope_table %arg1 {cos = @rope.cos, sin = @rope.sin}
// CHECK: llm.embed %arg0
// CHECK: llm.kv_write {{.*}} @l0.kv
// CHECK: llm.attention {{.*}} @l0.kv
// WINDOW-SAME: window = 8 : i64
// CHECK: llm.glu
// CHECK: llm.kv_write {{.*}} @l1.kv
// CHECK: llm.logits
// CHECK-NOT: onnx.{{[a-z_]+}} %
