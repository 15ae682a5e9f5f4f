// RUN: llmc-opt %s -split-input-file -llmc-outline-layers | FileCheck %s
// RUN: llmc-opt %s -split-input-file -llmc-outline-layers -llmc-outline-layers | FileCheck %s
// Layers of the same phases and wiring become one exe.layers; other weights, layers of the state and outer slots are told apart. Idempotent.

// Three layers; the carried value gets one slot, the outer slot @r stays, weights become a table.
// CHECK-LABEL: exe.program @plain
// CHECK: exe.slot @r
// CHECK-NEXT: exe.slot @x
// CHECK-NEXT: exe.slot @n0
// CHECK-NEXT: exe.slot @z
// CHECK-NOT: exe.slot
// CHECK: exe.step {
// CHECK-NEXT: exe.phase "rope_table"
// CHECK-NEXT: exe.phase "rope_table"
// CHECK-NEXT: exe.layers attributes {count = 3 : i64, first = 0 : i64, names = ["/l.0", "/l.1", "/l.2"], nodes = {{\[\[}}["/l.0/a"], ["/l.0/b"], ["/l.0/c"]], {{\[}}["/l.1/a"], ["/l.1/b"], ["/l.1/c"]], {{\[}}["/l.2/a"], ["/l.2/b"], ["/l.2/c"]]], weights = {norm0.gain = [@w0, @w1, @w2], norm2.gain = [@u, @u, @u]}} {
// CHECK-NEXT: exe.phase "norm" [#exe.buf<slot, "x">, #exe.buf<layer, "norm0.gain">, #exe.buf<none>, #exe.buf<slot, "n0">]
// CHECK-NEXT: exe.phase "kv_write" [#exe.buf<slot, "n0">, #exe.buf<slot, "r">, #exe.buf<state, "kv">]
// CHECK-NEXT: exe.phase "norm" [#exe.buf<slot, "n0">, #exe.buf<layer, "norm2.gain">, #exe.buf<none>, #exe.buf<slot, "x">]
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "z">]
exe.program @plain attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.state @kv {layers = 4, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
  exe.slot @r {per_token = 64}
  exe.slot @x {per_token = 64}
  exe.slot @n0 {per_token = 64}
  exe.slot @y0 {per_token = 64}
  exe.slot @n1 {per_token = 64}
  exe.slot @y1 {per_token = 64}
  exe.slot @n2 {per_token = 64}
  exe.slot @y2 {per_token = 64}
  exe.slot @z {per_token = 64}
  exe.packed_weight @w0 {rows = 16, cols = 1, layout = "vec.f32", program = [#exe.source<name = "w0", type = tensor<16xf32>, file = 1, offset = 0, length = 64, begin = 0, count = 16, transposed = false>]}
  exe.packed_weight @w1 {rows = 16, cols = 1, layout = "vec.f32", program = [#exe.source<name = "w1", type = tensor<16xf32>, file = 1, offset = 64, length = 64, begin = 0, count = 16, transposed = false>]}
  exe.packed_weight @w2 {rows = 16, cols = 1, layout = "vec.f32", program = [#exe.source<name = "w2", type = tensor<16xf32>, file = 1, offset = 128, length = 64, begin = 0, count = 16, transposed = false>]}
  exe.packed_weight @u {rows = 16, cols = 1, layout = "vec.f32", program = [#exe.source<name = "u", type = tensor<16xf32>, file = 1, offset = 192, length = 64, begin = 0, count = 16, transposed = false>]}
  exe.step {
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "r">] {half = 8 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">] {half = 8 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.phase "norm" [#exe.buf<slot, "x">, #exe.buf<weight, "w0">, #exe.buf<none>, #exe.buf<slot, "n0">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32} {source_nodes = ["/l.0/a"]}
    exe.phase "kv_write" [#exe.buf<slot, "n0">, #exe.buf<slot, "r">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 0 : i64, source_nodes = ["/l.0/b"]}
    exe.phase "norm" [#exe.buf<slot, "n0">, #exe.buf<weight, "u">, #exe.buf<none>, #exe.buf<slot, "y0">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32} {source_nodes = ["/l.0/c"]}
    exe.phase "norm" [#exe.buf<slot, "y0">, #exe.buf<weight, "w1">, #exe.buf<none>, #exe.buf<slot, "n1">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32} {source_nodes = ["/l.1/a"]}
    exe.phase "kv_write" [#exe.buf<slot, "n1">, #exe.buf<slot, "r">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 1 : i64, source_nodes = ["/l.1/b"]}
    exe.phase "norm" [#exe.buf<slot, "n1">, #exe.buf<weight, "u">, #exe.buf<none>, #exe.buf<slot, "y1">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32} {source_nodes = ["/l.1/c"]}
    exe.phase "norm" [#exe.buf<slot, "y1">, #exe.buf<weight, "w2">, #exe.buf<none>, #exe.buf<slot, "n2">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32} {source_nodes = ["/l.2/a"]}
    exe.phase "kv_write" [#exe.buf<slot, "n2">, #exe.buf<slot, "r">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 2 : i64, source_nodes = ["/l.2/b"]}
    exe.phase "norm" [#exe.buf<slot, "n2">, #exe.buf<weight, "u">, #exe.buf<none>, #exe.buf<slot, "y2">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32} {source_nodes = ["/l.2/c"]}
    exe.phase "scale" [#exe.buf<slot, "y2">, #exe.buf<slot, "z">] {n = 16 : i64, factor = 2.0 : f32}
  }
}

// -----
// The next value is made while the old one is still needed: a copy ends the body.
// CHECK-LABEL: exe.program @copy
// CHECK: exe.layers
// CHECK-NEXT: exe.phase "kv_write" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<state, "kv">]
// CHECK-NEXT: exe.phase "add" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<slot, "y0">]
// CHECK-NEXT: exe.phase "scale" [#exe.buf<slot, "y0">, #exe.buf<slot, "x">] {factor = 1.000000e+00 : f32, n = 16 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: exe.phase "scale" [#exe.buf<slot, "y0">, #exe.buf<slot, "z">] {factor = 2.000000e+00 : f32
exe.program @copy attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.state @kv {layers = 4, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
  exe.slot @x {per_token = 64}
  exe.slot @y0 {per_token = 64}
  exe.slot @y1 {per_token = 64}
  exe.slot @z {per_token = 64}
  exe.step {
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">] {half = 8 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 0 : i64}
    exe.phase "add" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<slot, "y0">] {n = 16 : i64}
    exe.phase "kv_write" [#exe.buf<slot, "y0">, #exe.buf<slot, "y0">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 1 : i64}
    exe.phase "add" [#exe.buf<slot, "y0">, #exe.buf<slot, "y0">, #exe.buf<slot, "y1">] {n = 16 : i64}
    exe.phase "scale" [#exe.buf<slot, "y1">, #exe.buf<slot, "z">] {n = 16 : i64, factor = 2.0 : f32}
  }
}

// -----
// The first value is needed in every layer: the carried one gets a slot of its own.
// CHECK-LABEL: exe.program @shared
// CHECK: exe.slot @x {{.*}}
// CHECK-NEXT: exe.slot @[[C:.*]] {per_token
// CHECK: exe.step {
// CHECK-NEXT: exe.phase "rope_table"
// CHECK-NEXT: exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "[[C]]">] {factor = 1.000000e+00 : f32
// CHECK-NEXT: exe.layers
// CHECK-NEXT: exe.phase "kv_write" [#exe.buf<slot, "[[C]]">, #exe.buf<slot, "x">, #exe.buf<state, "kv">]
// CHECK-NEXT: exe.phase "scale" [#exe.buf<slot, "[[C]]">, #exe.buf<slot, "n0">]
// CHECK-NEXT: exe.phase "add" [#exe.buf<slot, "n0">, #exe.buf<slot, "x">, #exe.buf<slot, "[[C]]">]
exe.program @shared attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.state @kv {layers = 4, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
  exe.slot @x {per_token = 64}
  exe.slot @n0 {per_token = 64}
  exe.slot @y0 {per_token = 64}
  exe.slot @n1 {per_token = 64}
  exe.slot @y1 {per_token = 64}
  exe.slot @z {per_token = 64}
  exe.step {
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">] {half = 8 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 0 : i64}
    exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "n0">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "add" [#exe.buf<slot, "n0">, #exe.buf<slot, "x">, #exe.buf<slot, "y0">] {n = 16 : i64}
    exe.phase "kv_write" [#exe.buf<slot, "y0">, #exe.buf<slot, "x">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 1 : i64}
    exe.phase "scale" [#exe.buf<slot, "y0">, #exe.buf<slot, "n1">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "add" [#exe.buf<slot, "n1">, #exe.buf<slot, "x">, #exe.buf<slot, "y1">] {n = 16 : i64}
    exe.phase "scale" [#exe.buf<slot, "y1">, #exe.buf<slot, "z">] {n = 16 : i64, factor = 2.0 : f32}
  }
}

// -----
// Two kinds of layers: two runs.
// CHECK-LABEL: exe.program @kinds
// CHECK: exe.layers attributes {count = 2 : i64, first = 0 : i64, names = ["layer0", "layer1"], weights = {}} {
// CHECK-NEXT: exe.phase "kv_write" [#exe.buf<slot, "x">
// CHECK-NEXT: exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "a">]
// CHECK-NEXT: exe.phase "scale" [#exe.buf<slot, "a">, #exe.buf<slot, "x">]
// CHECK: exe.layers attributes {count = 2 : i64, first = 2 : i64
// CHECK-NEXT: exe.phase "kv_write" [#exe.buf<slot, "x">
// CHECK-NEXT: exe.phase "add" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<slot, "e">]
// CHECK-NEXT: exe.phase "scale" [#exe.buf<slot, "e">, #exe.buf<slot, "x">]
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: exe.phase "norm" [#exe.buf<slot, "x">
exe.program @kinds attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.state @kv {layers = 4, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
  exe.slot @x {per_token = 64}
  exe.slot @a {per_token = 64}
  exe.slot @b {per_token = 64}
  exe.slot @c {per_token = 64}
  exe.slot @d {per_token = 64}
  exe.slot @e {per_token = 64}
  exe.slot @f {per_token = 64}
  exe.slot @g {per_token = 64}
  exe.slot @h {per_token = 64}
  exe.slot @z {per_token = 64}
  exe.packed_weight @w {rows = 16, cols = 1, layout = "vec.f32", program = [#exe.source<name = "w", type = tensor<16xf32>, file = 1, offset = 0, length = 64, begin = 0, count = 16, transposed = false>]}
  exe.step {
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">] {half = 8 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 0 : i64}
    exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "a">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "scale" [#exe.buf<slot, "a">, #exe.buf<slot, "b">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "b">, #exe.buf<slot, "b">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 1 : i64}
    exe.phase "scale" [#exe.buf<slot, "b">, #exe.buf<slot, "c">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "scale" [#exe.buf<slot, "c">, #exe.buf<slot, "d">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "d">, #exe.buf<slot, "d">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 2 : i64}
    exe.phase "add" [#exe.buf<slot, "d">, #exe.buf<slot, "d">, #exe.buf<slot, "e">] {n = 16 : i64}
    exe.phase "scale" [#exe.buf<slot, "e">, #exe.buf<slot, "f">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "f">, #exe.buf<slot, "f">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 3 : i64}
    exe.phase "add" [#exe.buf<slot, "f">, #exe.buf<slot, "f">, #exe.buf<slot, "g">] {n = 16 : i64}
    exe.phase "scale" [#exe.buf<slot, "g">, #exe.buf<slot, "h">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "norm" [#exe.buf<slot, "h">, #exe.buf<weight, "w">, #exe.buf<none>, #exe.buf<slot, "z">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32}
  }
}

// -----
// Two kinds of layers that alternate: a body of both, two layers of the state per round.
// CHECK-LABEL: exe.program @alternate
// CHECK: exe.layers attributes {count = 2 : i64, first = 0 : i64, names = ["layer0", "layer2"], stride = 2 : i64, weights = {}} {
// CHECK-NEXT: exe.phase "kv_write" {{.*}} {{{.*}}}{{$}}
// CHECK-NEXT: exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "a">]
// CHECK-NEXT: exe.phase "kv_write" {{.*}} {{{.*}}} {layer = 1 : i64}
// CHECK-NEXT: exe.phase "add" [#exe.buf<slot, "a">, #exe.buf<slot, "a">, #exe.buf<slot, "x">]
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: exe.phase "norm" [#exe.buf<slot, "x">
exe.program @alternate attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.state @kv {layers = 4, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
  exe.slot @x {per_token = 64}
  exe.slot @a {per_token = 64}
  exe.slot @b {per_token = 64}
  exe.slot @c {per_token = 64}
  exe.slot @d {per_token = 64}
  exe.slot @z {per_token = 64}
  exe.packed_weight @w {rows = 16, cols = 1, layout = "vec.f32", program = [#exe.source<name = "w", type = tensor<16xf32>, file = 1, offset = 0, length = 64, begin = 0, count = 16, transposed = false>]}
  exe.step {
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">] {half = 8 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 0 : i64}
    exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "a">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "a">, #exe.buf<slot, "a">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 1 : i64}
    exe.phase "add" [#exe.buf<slot, "a">, #exe.buf<slot, "a">, #exe.buf<slot, "b">] {n = 16 : i64}
    exe.phase "kv_write" [#exe.buf<slot, "b">, #exe.buf<slot, "b">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 2 : i64}
    exe.phase "scale" [#exe.buf<slot, "b">, #exe.buf<slot, "c">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "c">, #exe.buf<slot, "c">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 3 : i64}
    exe.phase "add" [#exe.buf<slot, "c">, #exe.buf<slot, "c">, #exe.buf<slot, "d">] {n = 16 : i64}
    exe.phase "norm" [#exe.buf<slot, "d">, #exe.buf<weight, "w">, #exe.buf<none>, #exe.buf<slot, "z">] {n = 16 : i64, norm = 1 : i64, heads = 1 : i64, eps = 0.0 : f32}
  }
}

// -----
// Must not be joined: the layers of the state do not follow one another.
// CHECK-LABEL: exe.program @layer_order
// CHECK-NOT: exe.layers
exe.program @layer_order attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.state @kv {layers = 4, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
  exe.slot @x {per_token = 64}
  exe.slot @a {per_token = 64}
  exe.slot @b {per_token = 64}
  exe.slot @c {per_token = 64}
  exe.slot @d {per_token = 64}
  exe.step {
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">] {half = 8 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 1 : i64}
    exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "a">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "scale" [#exe.buf<slot, "a">, #exe.buf<slot, "b">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "b">, #exe.buf<slot, "b">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 0 : i64}
    exe.phase "scale" [#exe.buf<slot, "b">, #exe.buf<slot, "c">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "scale" [#exe.buf<slot, "c">, #exe.buf<slot, "d">] {n = 16 : i64, factor = 2.0 : f32}
  }
}

// -----
// Must not be joined: the second layer is wired otherwise than the first.
// CHECK-LABEL: exe.program @wiring
// CHECK-NOT: exe.layers
exe.program @wiring attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.state @kv {layers = 4, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
  exe.slot @x {per_token = 64}
  exe.slot @a {per_token = 64}
  exe.slot @b {per_token = 64}
  exe.slot @c {per_token = 64}
  exe.slot @d {per_token = 64}
  exe.slot @e {per_token = 64}
  exe.step {
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">] {half = 8 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 0 : i64}
    exe.phase "add" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<slot, "a">] {n = 16 : i64}
    exe.phase "add" [#exe.buf<slot, "a">, #exe.buf<slot, "x">, #exe.buf<slot, "b">] {n = 16 : i64}
    exe.phase "kv_write" [#exe.buf<slot, "b">, #exe.buf<slot, "b">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 1 : i64}
    exe.phase "add" [#exe.buf<slot, "b">, #exe.buf<slot, "b">, #exe.buf<slot, "c">] {n = 16 : i64}
    exe.phase "add" [#exe.buf<slot, "b">, #exe.buf<slot, "c">, #exe.buf<slot, "d">] {n = 16 : i64}
  }
}

// -----
// Must not be joined: the first layer's result is read behind the second.
// CHECK-LABEL: exe.program @tapped
// CHECK-NOT: exe.layers
exe.program @tapped attributes {target = "x86-64-v3", buckets = array<i64: 8>, page_tokens = 64, max_context = 64, max_sequences = 1} {
  exe.state @kv {layers = 4, kv_heads = 1, head_dim = 16, v_head_dim = 16, dtype = f32}
  exe.slot @x {per_token = 64}
  exe.slot @a {per_token = 64}
  exe.slot @b {per_token = 64}
  exe.slot @c {per_token = 64}
  exe.slot @d {per_token = 64}
  exe.slot @e {per_token = 64}
  exe.step {
    exe.phase "rope_table" [#exe.buf<arg, "positions">, #exe.buf<none>, #exe.buf<none>, #exe.buf<none>, #exe.buf<slot, "x">] {half = 8 : i64, table_rows = 0 : i64, scaling = 1.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "x">, #exe.buf<slot, "x">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 0 : i64}
    exe.phase "scale" [#exe.buf<slot, "x">, #exe.buf<slot, "a">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "scale" [#exe.buf<slot, "a">, #exe.buf<slot, "b">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "kv_write" [#exe.buf<slot, "b">, #exe.buf<slot, "b">, #exe.buf<state, "kv">] {kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 : i64, kvtype = 0 : i64} {layer = 1 : i64}
    exe.phase "scale" [#exe.buf<slot, "b">, #exe.buf<slot, "c">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "scale" [#exe.buf<slot, "c">, #exe.buf<slot, "d">] {n = 16 : i64, factor = 2.0 : f32}
    exe.phase "add" [#exe.buf<slot, "b">, #exe.buf<slot, "d">, #exe.buf<slot, "e">] {n = 16 : i64}
  }
}
