// RUN: llmc-opt %s -split-input-file --llmc-raise-norm --remarks-filter=raise --remark-policy=all --remark-format=emitRemark 2>&1 | FileCheck %s
// Norms in their spellings become llm.norm; what is nearly one says why not.

onnx.weight_data @g file 0 offset 0 length 64 : tensor<16xf32>
onnx.weight_data @b file 0 offset 64 length 64 : tensor<16xf32>
onnx.weight_data @narrow file 0 offset 64 length 32 : tensor<8xf32>

// CHECK: remark: [Missed] raise-norm {{.*}} the mean is not over the last axis, or drops it
// CHECK: remark: [Missed] raise-norm {{.*}} no constant eps is added to the mean
// CHECK: remark: [Missed] raise-norm {{.*}} the root divides neither the input nor 1

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x?x16xf32>) -> (tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>) {
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %first = onnx.constant dense<1> : tensor<1xi64>
  %eps = onnx.constant dense<1.0e-5> : tensor<f32>
  %one = onnx.constant dense<1.0> : tensor<f32>
  %two = onnx.constant dense<2.0> : tensor<f32>
  %mhalf = onnx.constant dense<-0.5> : tensor<f32>
  %g = onnx.weight @g : tensor<16xf32>
  %b = onnx.weight @b : tensor<16xf32>
  %narrow = onnx.weight @narrow : tensor<8xf32>

  // Pow, Sqrt, Div(1, .), gain on the left, a cast between.
  // CHECK: %[[A:.*]] = llm.norm %arg0 {eps = 9.99999974E-6 : f32, gain = @w.g, kind = 1 : i64}
  %p = onnx.pow %x, %two : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?x16xf32>
  %m = onnx.reduce_mean %p, %last : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %e = onnx.add %m, %eps : (tensor<?x?x1xf32>, tensor<f32>) -> tensor<?x?x1xf32>
  %s = onnx.sqrt %e : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %r = onnx.div %one, %s : (tensor<f32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %n = onnx.mul %x, %r : (tensor<?x?x16xf32>, tensor<?x?x1xf32>) -> tensor<?x?x16xf32>
  %c = onnx.cast %n {to = f32} : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %rms = onnx.mul %g, %c : (tensor<16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>

  // Mul(x, x), Pow(-0.5), no gain; a vector of another size is none.
  // CHECK: %[[B:.*]] = llm.norm %arg0 {eps = 9.99999974E-6 : f32, kind = 1 : i64}
  %p2 = onnx.mul %x, %x : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %m2 = onnx.reduce_mean %p2, %last : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %e2 = onnx.add %eps, %m2 : (tensor<f32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %r2 = onnx.pow %e2, %mhalf : (tensor<?x?x1xf32>, tensor<f32>) -> tensor<?x?x1xf32>
  %plain = onnx.mul %r2, %x : (tensor<?x?x1xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>

  // Layer norm, Div(d, root), gain and bias.
  // CHECK: %[[C:.*]] = llm.norm %arg0 {bias = @w.b, eps = 9.99999974E-6 : f32, gain = @w.g, kind = 2 : i64}
  %mean = onnx.reduce_mean %x, %last : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %d = onnx.sub %x, %mean : (tensor<?x?x16xf32>, tensor<?x?x1xf32>) -> tensor<?x?x16xf32>
  %p3 = onnx.pow %d, %two : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x?x16xf32>
  %m3 = onnx.reduce_mean %p3, %last : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %e3 = onnx.add %m3, %eps : (tensor<?x?x1xf32>, tensor<f32>) -> tensor<?x?x1xf32>
  %s3 = onnx.sqrt %e3 : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %n3 = onnx.div %d, %s3 : (tensor<?x?x16xf32>, tensor<?x?x1xf32>) -> tensor<?x?x16xf32>
  %g3 = onnx.mul %n3, %g : (tensor<?x?x16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  %layer = onnx.add %g3, %b : (tensor<?x?x16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>

  // The standard op.
  // CHECK: %[[D:.*]] = llm.norm %arg0 {bias = @w.b, eps = 9.99999974E-6 : f32, gain = @w.g, kind = 2 : i64}
  %whole, %its_mean, %its_inv = onnx.layer_normalization %x, %g, %b {epsilon = 1.0e-5 : f32} : (tensor<?x?x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x?x16xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>)

  // Must not fire (B50): another axis, a variable eps, the root divides something else.
  // CHECK: onnx.reduce_mean
  %m5 = onnx.reduce_mean %p, %first : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x1x16xf32>
  %e5 = onnx.add %m5, %eps : (tensor<?x1x16xf32>, tensor<f32>) -> tensor<?x1x16xf32>
  %s5 = onnx.sqrt %e5 : (tensor<?x1x16xf32>) -> tensor<?x1x16xf32>
  %axis = onnx.div %x, %s5 : (tensor<?x?x16xf32>, tensor<?x1x16xf32>) -> tensor<?x?x16xf32>
  // CHECK: onnx.reduce_mean
  %m6 = onnx.reduce_mean %p, %last : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %e6 = onnx.add %m6, %mean : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %s6 = onnx.sqrt %e6 : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %variable = onnx.div %x, %s6 : (tensor<?x?x16xf32>, tensor<?x?x1xf32>) -> tensor<?x?x16xf32>
  // CHECK: onnx.reduce_mean
  %m7 = onnx.reduce_mean %p, %last : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %e7 = onnx.add %m7, %eps : (tensor<?x?x1xf32>, tensor<f32>) -> tensor<?x?x1xf32>
  %s7 = onnx.sqrt %e7 : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %else = onnx.div %d, %s7 : (tensor<?x?x16xf32>, tensor<?x?x1xf32>) -> tensor<?x?x16xf32>

  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]],
  return %rms, %plain, %layer, %whole, %axis, %variable, %else : tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>
}

// -----
// Two norms of one value with different gains that share all else.
// CHECK-LABEL: func.func @main
onnx.weight_data @g file 0 offset 0 length 64 : tensor<16xf32>
onnx.weight_data @h file 0 offset 64 length 64 : tensor<16xf32>
func.func @main(%x: tensor<?x?x16xf32>) -> (tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>) {
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %eps = onnx.constant dense<1.0e-5> : tensor<f32>
  %g = onnx.weight @g : tensor<16xf32>
  %h = onnx.weight @h : tensor<16xf32>
  %p = onnx.mul %x, %x : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %m = onnx.reduce_mean %p, %last : (tensor<?x?x16xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %e = onnx.add %m, %eps : (tensor<?x?x1xf32>, tensor<f32>) -> tensor<?x?x1xf32>
  %s = onnx.sqrt %e : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  // CHECK-DAG: %[[P:.*]] = llm.norm %arg0 {eps = 9.99999974E-6 : f32, kind = 1 : i64}
  // CHECK-DAG: %[[G:.*]] = llm.norm %arg0 {eps = 9.99999974E-6 : f32, gain = @w.g, kind = 1 : i64}
  // CHECK-DAG: %[[H:.*]] = llm.norm %arg0 {eps = 9.99999974E-6 : f32, gain = @w.h, kind = 1 : i64}
  %n = onnx.div %x, %s : (tensor<?x?x16xf32>, tensor<?x?x1xf32>) -> tensor<?x?x16xf32>
  %a = onnx.mul %n, %g : (tensor<?x?x16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  %b = onnx.mul %h, %n : (tensor<16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  // CHECK: return %[[G]], %[[H]], %[[P]]
  return %a, %b, %n : tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>
}

// -----
// Heads that are counted with the tokens: their norm has them as dims of their own.
// CHECK-LABEL: func.func @main
onnx.weight_data @g file 0 offset 0 length 64 : tensor<16xf32>
func.func @main(%x: tensor<?x?x64xf32>) -> (tensor<?x?x64xf32>, tensor<?x?x16xf32>) {
  %g = onnx.weight @g : tensor<16xf32>
  %apart = onnx.constant dense<[0, -1, 16]> : tensor<3xi64>
  %back = onnx.constant dense<[0, -1, 64]> : tensor<3xi64>
  %h = onnx.reshape %x, %apart : (tensor<?x?x64xf32>, tensor<3xi64>) -> tensor<?x?x16xf32>
  // CHECK: %[[N:.*]] = llm.norm %{{.*}} {{.*}} -> tensor<?x?x4x16xf32>
  // CHECK-DAG: %[[ROWS:.*]] = onnx.reshape %[[N]], %{{.*}} -> tensor<?x?x64xf32>
  // CHECK-DAG: %[[COUNTED:.*]] = onnx.reshape %[[N]], %{{.*}} -> tensor<?x?x16xf32>
  // CHECK: return %[[ROWS]], %[[COUNTED]]
  %n = onnx.rms_normalization %h, %g {epsilon = 1.0e-5 : f32} : (tensor<?x?x16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  %y = onnx.reshape %n, %back : (tensor<?x?x16xf32>, tensor<3xi64>) -> tensor<?x?x64xf32>
  return %y, %n : tensor<?x?x64xf32>, tensor<?x?x16xf32>
}

// -----
// Heads that were moved behind the tokens before their norm: it is one of rows, not of what they were.
// CHECK-LABEL: func.func @main
onnx.weight_data @g file 0 offset 0 length 64 : tensor<16xf32>
func.func @main(%x: tensor<?x4x?x16xf32>) -> tensor<?x?x4x16xf32> {
  %g = onnx.weight @g : tensor<16xf32>
  // CHECK: %[[T:.*]] = onnx.transpose
  // CHECK: %[[N:.*]] = llm.norm %[[T]] {{.*}} -> tensor<?x?x4x16xf32>
  // CHECK: return %[[N]]
  %t = onnx.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x4x?x16xf32>) -> tensor<?x?x4x16xf32>
  %n = onnx.rms_normalization %t, %g {epsilon = 1.0e-5 : f32} : (tensor<?x?x4x16xf32>, tensor<16xf32>) -> tensor<?x?x4x16xf32>
  return %n : tensor<?x?x4x16xf32>
}
