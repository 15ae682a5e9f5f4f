// RUN: llmc-opt %s -split-input-file -verify-diagnostics
// Each constraint of the llm dialect, by its number.

// expected-error @+1 {{C1: length is 8, expected 16 for 'tensor<4xf32>'}}
llm.source @source_c1 : tensor<4xf32> {file = 0, offset = 0, length = 8}

// -----
// expected-error @+1 {{C2: expected either file, offset and length, or data}}
llm.source @source_c2 : tensor<4xf32> {file = 0, offset = 0}

// -----
// expected-error @+1 {{C2: data has type 'tensor<2xf32>', expected 'tensor<4xf32>'}}
llm.source @source_c2b : tensor<4xf32> {data = dense<0.0> : tensor<2xf32>}

// -----
// expected-error @+1 {{C3: expected a static shape of rank 1 or 2, found 'tensor<?xf32>'}}
llm.source @source_c3 : tensor<?xf32> {file = 0, offset = 0, length = 0}

// -----
// expected-error @+1 {{C1: @nothing is not an llm.source}}
llm.weight @weight_c1 : tensor<4xf32> [#llm.piece<source = @nothing, begin = 0, count = 4>]

// -----
llm.source @f : tensor<4xf32> {data = dense<0.0> : tensor<4xf32>}
// expected-error @+1 {{C2: pieces have 3 rows, expected 4}}
llm.weight @weight_c2 : tensor<4xf32> [#llm.piece<source = @f, begin = 0, count = 3>]

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
// expected-error @+1 {{C3: piece of @f has rows [2, +4), the source has 4}}
llm.weight @weight_c3 : tensor<4x2xf32> [#llm.piece<source = @f, begin = 2, count = 4>]

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
// expected-error @+1 {{C3: piece of @f has 4 columns, expected 2}}
llm.weight @weight_c3 : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4, transposed = true>]

// -----
llm.source @s : tensor<4xf32> {data = dense<0.0> : tensor<4xf32>}
// expected-error @+1 {{C1: @nothing is not an llm.source}}
llm.quantized @quantized_c1 : tensor<4x2xf32> codes(@nothing) scales(@s) "u8 pitch 2"

// -----
llm.source @s : tensor<4xf32> {data = dense<0.0> : tensor<4xf32>}
// expected-error @+1 {{C2: expected a static shape of rank 1 or 2, found 'tensor<?x2xf32>'}}
llm.quantized @quantized_c2 : tensor<?x2xf32> codes(@s) scales(@s) "u8 pitch 2"

// -----
llm.source @s : tensor<4xf32> {data = dense<0.0> : tensor<4xf32>}
llm.quantized @q : tensor<4x2xf32> codes(@s) scales(@s) "u8 pitch 2"
func.func @quantized_value_c1() {
  // expected-error @+1 {{C1: the result has type 'tensor<2x4xf32>', expected 'tensor<4x2xf32>'}}
  %w = llm.quantized_value @q : tensor<2x4xf32>
  return
}

// -----
// expected-error @+1 {{C1: unknown kind 'ring', expected paged_kv, paged_rows or record}}
llm.state @state_c1 {kind = "ring", index = 0, kv_heads = 1, head_dim = 8, v_head_dim = 8}

// -----
// expected-error @+1 {{C2: kv_heads, head_dim and v_head_dim must be positive, found 0, 8, 8}}
llm.state @state_c2 {kind = "paged_kv", index = 0, kv_heads = 0, head_dim = 8, v_head_dim = 8}

// -----
// expected-error @+1 {{C2: index is -1, expected at least 0}}
llm.state @state_c2 {kind = "paged_kv", index = -1, kv_heads = 1, head_dim = 8, v_head_dim = 8}

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
llm.weight @w : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
func.func @embed_c1(%i: tensor<?xi32>) {
  // expected-error @+1 {{C1: weight @w has shape [4, 2], expected [?, 3]}}
  %x = llm.embed %i, @w : (tensor<?xi32>) -> tensor<?x3xf32>
  return
}

// -----
func.func @rope_table_c1(%i: tensor<?xi32>) {
  // expected-error @+1 {{C1: expected either freq, or cos and sin}}
  %x = llm.rope_table %i : (tensor<?xi32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<4xf32> {data = dense<0.0> : tensor<4xf32>}
llm.weight @w : tensor<4xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
func.func @rope_table_c2(%i: tensor<?xi32>) {
  // expected-error @+1 {{C2: freq @w has shape [4], expected [2]}}
  %x = llm.rope_table %i {freq = @w} : (tensor<?xi32>) -> tensor<?x4xf32>
  return
}

// -----
func.func @norm_c1(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{C1: kind is none, expected rms or layer}}
  %y = llm.norm %x {kind = 0, eps = 0.0 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----
func.func @norm_c2(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{C2: heads is 3, expected a divisor of the 4 features}}
  %y = llm.norm %x {kind = 1, heads = 3, eps = 0.0 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----
func.func @norm_c3(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{C3: result has type 'tensor<?x5xf32>', expected 'tensor<?x4xf32>'}}
  %y = llm.norm %x {kind = 1, eps = 0.0 : f32} : (tensor<?x4xf32>) -> tensor<?x5xf32>
  return
}

// -----
func.func @norm_c3(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{C3: eps is negative}}
  %y = llm.norm %x {kind = 1, eps = -1.0 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
llm.weight @w : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
func.func @linear_c1(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C1: result has 5 features, expected 4}}
  %y = llm.linear %x, @w : (tensor<?x2xf32>) -> tensor<?x5xf32>
  return
}

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
llm.weight @w : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
func.func @linear_c1_glu(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C1: weight has 4 rows, expected a multiple of 32 with glu}}
  %y = llm.linear %x, @w {glu = 1} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return
}

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
llm.weight @w : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
func.func @linear_c2(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C2: bias @w has shape [4, 2], expected [4]}}
  %y = llm.linear %x, @w {bias = @w} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<2x2xf32> {data = dense<0.0> : tensor<2x2xf32>}
llm.source @g : tensor<2xf32> {data = dense<0.0> : tensor<2xf32>}
llm.weight @w : tensor<2x2xf32> [#llm.piece<source = @f, begin = 0, count = 2>]
llm.weight @v : tensor<2xf32> [#llm.piece<source = @g, begin = 0, count = 2>]
func.func @linear_c3(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C3: gain or norm_bias without a norm}}
  %y = llm.linear %x, @w {gain = @v} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return
}

// -----
llm.source @f : tensor<32x2xf32> {data = dense<0.0> : tensor<32x2xf32>}
llm.weight @w : tensor<32x2xf32> [#llm.piece<source = @f, begin = 0, count = 32>]
func.func @linear_c4(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C4: both activation and glu are given}}
  %y = llm.linear %x, @w {glu = 1, activation = 1} : (tensor<?x2xf32>) -> tensor<?x16xf32>
  return
}

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
llm.weight @w : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
func.func @linear_c5(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C5: residual has type 'tensor<?x2xf32>', expected 'tensor<?x4xf32>'}}
  %y = llm.linear %x residual %x, @w : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
func.func @rope_c1(%x: tensor<?x6xf32>, %t: tensor<?x4xf32>) {
  // expected-error @+1 {{C1: x has 6 features, expected 2 heads of 4}}
  %y = llm.rope %x, %t {heads = 2, head_dim = 4, rotary_half = 2} : (tensor<?x6xf32>, tensor<?x4xf32>) -> tensor<?x6xf32>
  return
}

// -----
func.func @rope_c2(%x: tensor<?x8xf32>, %t: tensor<?x4xf32>) {
  // expected-error @+1 {{C2: rotary_half is 3, expected 1 to 2}}
  %y = llm.rope %x, %t {heads = 2, head_dim = 4, rotary_half = 3} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----
func.func @rope_c2(%x: tensor<?x8xf32>, %t: tensor<?x6xf32>) {
  // expected-error @+1 {{C2: table has 6 features, expected 4}}
  %y = llm.rope %x, %t {heads = 2, head_dim = 4, rotary_half = 2} : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x8xf32>
  return
}

// -----
func.func @kv_write_c1(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{C1: @nothing is not an llm.state}}
  llm.kv_write %x, %x, @nothing : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 2}
func.func @kv_write_c2(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{C2: v has 8 features, expected 4}}
  llm.kv_write %x, %x, @kv : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}
func.func @attention_c1(%x: tensor<?x12xf32>) {
  // expected-error @+1 {{C1: heads is 3, expected a positive multiple of the 2 kv_heads of @kv}}
  %y = llm.attention %x, @kv {heads = 3, scale = 1.0 : f32} : (tensor<?x12xf32>) -> tensor<?x12xf32>
  return
}

// -----
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}
func.func @attention_c2(%x: tensor<?x12xf32>) {
  // expected-error @+1 {{C2: q has 12 features, expected 16}}
  %y = llm.attention %x, @kv {heads = 4, scale = 1.0 : f32} : (tensor<?x12xf32>) -> tensor<?x16xf32>
  return
}

// -----
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}
func.func @attention_c3(%x: tensor<?x16xf32>) {
  // expected-error @+1 {{C3: window, softcap and chunk must not be negative}}
  %y = llm.attention %x, @kv {heads = 4, scale = 1.0 : f32, window = -1} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----
llm.source @g : tensor<2xf32> {data = dense<0.0> : tensor<2xf32>}
llm.weight @v : tensor<2xf32> [#llm.piece<source = @g, begin = 0, count = 2>]
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}
func.func @attention_c4(%x: tensor<?x16xf32>) {
  // expected-error @+1 {{C4: slopes @v has shape [2], expected [4]}}
  %y = llm.attention %x, @kv {heads = 4, scale = 1.0 : f32, slopes = @v} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----
func.func @qkv_c1(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C1: @nothing is not an llm.state}}
  %y = llm.qkv %x {weight = @w, state = @nothing, heads = 1} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}
func.func @qkv_c1_heads(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C1: heads is 3, expected a positive multiple of the 2 kv_heads of @kv}}
  %y = llm.qkv %x {weight = @w, state = @kv, heads = 3} : (tensor<?x2xf32>) -> tensor<?x12xf32>
  return
}

// -----
llm.source @f : tensor<8x2xf32> {data = dense<0.0> : tensor<8x2xf32>}
llm.weight @w : tensor<8x2xf32> [#llm.piece<source = @f, begin = 0, count = 8>]
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 1, head_dim = 4, v_head_dim = 4}
func.func @qkv_c2(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C2: weight @w has shape [8, 2], expected [12, 2]}}
  %y = llm.qkv %x {weight = @w, state = @kv, heads = 1} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<12x2xf32> {data = dense<0.0> : tensor<12x2xf32>}
llm.weight @w : tensor<12x2xf32> [#llm.piece<source = @f, begin = 0, count = 12>]
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 1, head_dim = 4, v_head_dim = 4}
llm.source @g : tensor<2xf32> {data = dense<0.0> : tensor<2xf32>}
llm.weight @v : tensor<2xf32> [#llm.piece<source = @g, begin = 0, count = 2>]
func.func @qkv_c3(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C3: gain or norm_bias without a norm}}
  %y = llm.qkv %x {weight = @w, state = @kv, heads = 1, gain = @v} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<12x2xf32> {data = dense<0.0> : tensor<12x2xf32>}
llm.weight @w : tensor<12x2xf32> [#llm.piece<source = @f, begin = 0, count = 12>]
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 1, head_dim = 4, v_head_dim = 4}
func.func @qkv_c3_shape(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C3: gain @w has shape [12, 2], expected [2]}}
  %y = llm.qkv %x {weight = @w, state = @kv, heads = 1, norm = 1, gain = @w} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<12x2xf32> {data = dense<0.0> : tensor<12x2xf32>}
llm.weight @w : tensor<12x2xf32> [#llm.piece<source = @f, begin = 0, count = 12>]
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 1, head_dim = 4, v_head_dim = 4}
func.func @qkv_c4(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C4: rotary_half is 2 without a table}}
  %y = llm.qkv %x {weight = @w, state = @kv, heads = 1, rotary_half = 2} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<12x2xf32> {data = dense<0.0> : tensor<12x2xf32>}
llm.weight @w : tensor<12x2xf32> [#llm.piece<source = @f, begin = 0, count = 12>]
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 1, head_dim = 4, v_head_dim = 4}
func.func @qkv_c5(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C5: result has 5 features, expected 4}}
  %y = llm.qkv %x {weight = @w, state = @kv, heads = 1} : (tensor<?x2xf32>) -> tensor<?x5xf32>
  return
}

// -----
func.func @activation_c1(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C1: kind is none}}
  %y = llm.activation %x {kind = 0} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return
}

// -----
func.func @glu_c1(%x: tensor<?x2xf32>, %u: tensor<?x3xf32>) {
  // expected-error @+1 {{C1: gate, up and result have types}}
  %y = llm.glu %x, %u {kind = 1} : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x2xf32>
  return
}

// -----
func.func @add_c1(%x: tensor<?x2xf32>, %u: tensor<?x3xf32>) {
  // expected-error @+1 {{C1: a, b and result have types}}
  %y = llm.add %x, %u : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x2xf32>
  return
}

// -----
func.func @scale_c1(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C1: result has type 'tensor<?x3xf32>', expected 'tensor<?x2xf32>'}}
  %y = llm.scale %x {factor = 1.0 : f32} : (tensor<?x2xf32>) -> tensor<?x3xf32>
  return
}

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
llm.weight @w : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
func.func @logits_c1(%x: tensor<?x3xf32>) {
  // expected-error @+1 {{C1: weight @w has shape [4, 2], expected [?, 3]}}
  %y = llm.logits %x, @w : (tensor<?x3xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
llm.weight @w : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
llm.source @g : tensor<2xf32> {data = dense<0.0> : tensor<2xf32>}
llm.weight @v : tensor<2xf32> [#llm.piece<source = @g, begin = 0, count = 2>]
func.func @logits_c2(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C2: gain or norm_bias without a norm}}
  %y = llm.logits %x, @w {norm_bias = @v} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
llm.weight @w : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
func.func @logits_c2_shape(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C2: gain @w has shape [4, 2], expected [2]}}
  %y = llm.logits %x, @w {norm = 1, gain = @w} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @f : tensor<4x2xf32> {data = dense<0.0> : tensor<4x2xf32>}
llm.weight @w : tensor<4x2xf32> [#llm.piece<source = @f, begin = 0, count = 4>]
func.func @logits_c3(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{C3: softcap is negative}}
  %y = llm.logits %x, @w {softcap = -1.0 : f32} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----
func.func @padded_attention_c1(%q: tensor<?x?x16xf32>, %k: tensor<?x?x8xf32>) {
  // expected-error @+1 {{C1: @nothing is not an llm.state}}
  %y = llm.padded_attention %q, %k, %k, @nothing {heads = 4, scale = 1.0 : f32} : (tensor<?x?x16xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x16xf32>
  return
}

// -----
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}
func.func @padded_attention_c1_heads(%q: tensor<?x?x12xf32>, %k: tensor<?x?x8xf32>) {
  // expected-error @+1 {{C1: heads is 3, expected a positive multiple of the 2 kv_heads of @kv}}
  %y = llm.padded_attention %q, %k, %k, @kv {heads = 3, scale = 1.0 : f32} : (tensor<?x?x12xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x12xf32>
  return
}

// -----
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}
func.func @padded_attention_c2(%q: tensor<?x?x16xf32>, %k: tensor<?x?x4xf32>) {
  // expected-error @+1 {{C2: k has 4 features, expected 8}}
  %y = llm.padded_attention %q, %k, %k, @kv {heads = 4, scale = 1.0 : f32} : (tensor<?x?x16xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x16xf32>
  return
}

// -----
llm.state @kv {kind = "paged_kv", index = 0, kv_heads = 2, head_dim = 4, v_head_dim = 4}
func.func @padded_attention_c3(%q: tensor<?x?x16xf32>, %k: tensor<?x?x8xf32>) {
  // expected-error @+1 {{C3: window, softcap and chunk must not be negative}}
  %y = llm.padded_attention %q, %k, %k, @kv {heads = 4, scale = 1.0 : f32, softcap = -1.0 : f32} : (tensor<?x?x16xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x16xf32>
  return
}

// -----
func.func @padded_positions_c1(%i: tensor<?x?xi64>) {
  // expected-error @+1 {{C1: result has type 'tensor<?xi64>', expected 'tensor<?x?xi64>'}}
  %p = llm.padded_positions %i : (tensor<?x?xi64>) -> tensor<?xi64>
  return
}

// -----
llm.source @s : tensor<16xf32> {data = dense<0.0> : tensor<16xf32>}
llm.weight @c : tensor<16xf32> [#llm.piece<source = @s, begin = 0, count = 16>]
func.func @rowwise_c1(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{C1: program has 16 numbers, expected at least 32 * 1}}
  %y = llm.rowwise %x {program = @c, count = 1 : i64, scratch = 0 : i64} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----
llm.source @s : tensor<32xf32> {data = dense<0.0> : tensor<32xf32>}
llm.weight @c : tensor<32xf32> [#llm.piece<source = @s, begin = 0, count = 32>]
func.func @rowwise_c2() {
  // expected-error @+1 {{C2: found 0 inputs, expected 1 to 8}}
  %y = llm.rowwise  {program = @c, count = 1 : i64, scratch = 0 : i64} : () -> tensor<?x8xf32>
  return
}

// -----
llm.source @s : tensor<10x8xf32> {data = dense<0.0> : tensor<10x8xf32>}
llm.weight @w : tensor<10x8xf32> [#llm.piece<source = @s, begin = 0, count = 10>]
func.func @experts_c1(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  // expected-error @+1 {{C1: weight has 10 rows, expected a multiple of the 4 experts}}
  %y = llm.experts %x, %r, @w {slots = 2 : i64} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----
llm.source @s : tensor<8x8xf32> {data = dense<0.0> : tensor<8x8xf32>}
llm.weight @w : tensor<8x8xf32> [#llm.piece<source = @s, begin = 0, count = 8>]
func.func @experts_c2(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  // expected-error @+1 {{C2: slots is 5, expected 1 to the 4 experts of route}}
  %y = llm.experts %x, %r, @w {slots = 5 : i64} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x10xf32>
  return
}

// -----
llm.source @s : tensor<8x8xf32> {data = dense<0.0> : tensor<8x8xf32>}
llm.weight @w : tensor<8x8xf32> [#llm.piece<source = @s, begin = 0, count = 8>]
func.func @experts_c3(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  // expected-error @+1 {{C3: x has 8 features, expected 16}}
  %y = llm.experts %x, %r, @w {slots = 2 : i64, combine} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x2xf32>
  return
}

// -----
llm.source @s : tensor<8xf32> {data = dense<0.0> : tensor<8xf32>}
llm.weight @g : tensor<8xf32> [#llm.piece<source = @s, begin = 0, count = 8>]
func.func @take_rows_c1(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{C1: gain or norm_bias without a norm}}
  %y = llm.take_rows %x {gain = @g} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----
func.func @take_rows_c2(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{C2: result has 4 features, expected 8}}
  %y = llm.take_rows %x : (tensor<?x8xf32>) -> tensor<?x4xf32>
  return
}
