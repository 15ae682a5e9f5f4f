// RUN: llmc-opt %s -split-input-file -verify-diagnostics
// Each constraint of the exe dialect, by its number.

// expected-error @+1 {{C1: buckets must ascend from 1, found 8 after 8}}
exe.program @program_c1 attributes {target = "t", buckets = array<i64: 8, 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
}

// -----
// expected-error @+1 {{C2: expected 1 arena sizes, found 2}}
exe.program @program_c2 attributes {target = "t", buckets = array<i64: 8>, arena_bytes = array<i64: 1, 2>, page_tokens = 64, max_context = 1, max_sequences = 1} {
}

// -----
// expected-error @+1 {{C3: page_tokens, max_context and max_sequences must be positive}}
exe.program @program_c3 attributes {target = "t", buckets = array<i64: 8>, page_tokens = 0, max_context = 1, max_sequences = 1} {
}

// -----
// expected-error @+1 {{C1: expected a positive size, found per_token 0 and fixed 0}}
exe.slot @slot_c1 {per_token = 0}

// -----
// expected-error @+1 {{C2: offset 32 is no multiple of 64}}
exe.slot @slot_c2 {per_token = 4, offsets = array<i64: 32>}

// -----
// expected-error @+1 {{C1: expected positive rows and cols, found 0 x 4}}
exe.packed_weight @packed_weight_c1 {rows = 0, cols = 4, layout = "p16.f32", program = []}

// -----
// expected-error @+1 {{C2: expected 4 rows from the program, found 0}}
exe.packed_weight @packed_weight_c2 {rows = 4, cols = 4, layout = "p16.f32", program = []}

// -----
// expected-error @+1 {{C3: offset 0 and bytes -1 must be planned together}}
exe.packed_weight @packed_weight_c3 {rows = 4, cols = 1, layout = "vec.f32", offset = 0, program = [
  #exe.source<name = "f", type = tensor<4xf32>, file = 0, offset = 0, length = 16, begin = 0, count = 4, transposed = false>]}

// -----
// expected-error @+1 {{C1: layers, kv_heads, head_dim and v_head_dim must be positive}}
exe.state @state_c1 {layers = 0, kv_heads = 1, head_dim = 1, v_head_dim = 1, dtype = f16}

// -----
// expected-error @+1 {{C2: expected dtype f32, f16 or i8, found 'i16'}}
exe.state @state_c2 {layers = 1, kv_heads = 1, head_dim = 1, v_head_dim = 1, dtype = i16}

// -----
exe.program @step_c1 attributes {target = "t", buckets = array<i64: 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
  // expected-error @+1 {{C1: holds exe.slot}}
  exe.step {
    exe.slot @x {per_token = 4}
  }
}

// -----
exe.program @layers_c1 attributes {target = "t", buckets = array<i64: 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
  exe.step {
    // expected-error @+1 {{C1: expected a positive count, found first 0, count 0 and stride 1}}
    exe.layers attributes {first = 0, count = 0, weights = {}} {
      exe.phase "add" [#exe.buf<none>, #exe.buf<none>, #exe.buf<none>] {n = 64 : i64}
    }
  }
}

// -----
exe.program @layers_c1_stride attributes {target = "t", buckets = array<i64: 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
  exe.step {
    // expected-error @+1 {{C1: expected a positive count, found first 0, count 1 and stride -1}}
    exe.layers attributes {first = 0, count = 1, stride = -1, weights = {}} {
      exe.phase "add" [#exe.buf<none>, #exe.buf<none>, #exe.buf<none>] {n = 64 : i64}
    }
  }
}

// -----
exe.program @layers_c2 attributes {target = "t", buckets = array<i64: 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
  exe.step {
    // expected-error @+1 {{C2: role 'w' names @nothing, which is no packed weight}}
    exe.layers attributes {first = 0, count = 1, weights = {w = [@nothing]}} {
      exe.phase "add" [#exe.buf<none>, #exe.buf<none>, #exe.buf<none>] {n = 64 : i64}
    }
  }
}

// -----
exe.program @layers_c2_count attributes {target = "t", buckets = array<i64: 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
  exe.step {
    // expected-error @+1 {{C2: role 'w' needs 2 symbols}}
    exe.layers attributes {first = 0, count = 2, weights = {w = [@nothing]}} {
      exe.phase "add" [#exe.buf<none>, #exe.buf<none>, #exe.buf<none>] {n = 64 : i64}
    }
  }
}

// -----
exe.program @layers_c3 attributes {target = "t", buckets = array<i64: 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
  exe.step {
    // expected-error @+1 {{C3: expected 2 names, found 1}}
    exe.layers attributes {first = 0, count = 2, names = ["a"], weights = {}} {
      exe.phase "add" [#exe.buf<none>, #exe.buf<none>, #exe.buf<none>] {n = 64 : i64}
    }
  }
}

// -----
exe.program @layers_c3_nodes attributes {target = "t", buckets = array<i64: 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
  exe.step {
    // expected-error @+1 {{C3: expected nodes of 2 rounds, found 1}}
    exe.layers attributes {first = 0, count = 2, nodes = [[["n"]]], weights = {}} {
      exe.phase "add" [#exe.buf<none>, #exe.buf<none>, #exe.buf<none>] {n = 64 : i64}
    }
  }
}

// -----
exe.program @layers_c4 attributes {target = "t", buckets = array<i64: 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
  exe.step {
    // expected-error @+1 {{C4: holds exe.slot}}
    exe.layers attributes {first = 0, count = 1, weights = {}} {
      exe.slot @x {per_token = 4}
    }
  }
}

// -----
// expected-error @+1 {{C1: unknown kernel 'conv'}}
exe.phase "conv" [] {}

// -----
// expected-error @+1 {{C2: kernel 'add' has 3 buffers, found 1}}
exe.phase "add" [#exe.buf<none>] {n = 64 : i64}

// -----
// expected-error @+1 {{C3: kernel 'add' needs the i64 constant 'n'}}
exe.phase "add" [#exe.buf<none>, #exe.buf<none>, #exe.buf<none>] {m = 64 : i64}

// -----
// expected-error @+1 {{C3: kernel 'add' has 1 constants, found 2}}
exe.phase "add" [#exe.buf<none>, #exe.buf<none>, #exe.buf<none>] {n = 64 : i64, m = 64 : i64}

// -----
exe.program @phase_c4 attributes {target = "t", buckets = array<i64: 8>, page_tokens = 64, max_context = 1, max_sequences = 1} {
  exe.step {
    // expected-error @+1 {{C4: nothing of its kind is named by #exe.buf<slot, "nothing">}}
    exe.phase "add" [#exe.buf<slot, "nothing">, #exe.buf<none>, #exe.buf<none>] {n = 64 : i64}
  }
}
