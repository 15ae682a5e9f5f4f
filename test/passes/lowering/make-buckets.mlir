// RUN: llmc-opt %s -split-input-file -llmc-make-buckets | FileCheck %s
// The target's buckets, clipped to the largest step; running it again changes nothing.
// RUN: llmc-opt %s -split-input-file -llmc-make-buckets -llmc-make-buckets | FileCheck %s

// CHECK: exe.program @cpu attributes {buckets = array<i64: 1, 8, 64, 512>
exe.program @cpu attributes {target = "x86-64-v3", buckets = array<i64: 512>, page_tokens = 64, max_context = 64, max_sequences = 1} {
}
// -----
// CHECK: exe.program @clipped attributes {buckets = array<i64: 1, 8, 20>
exe.program @clipped attributes {target = "x86-64-v3", buckets = array<i64: 20>, page_tokens = 64, max_context = 64, max_sequences = 1} {
}
// -----
// CHECK: exe.program @large attributes {buckets = array<i64: 1, 8, 64, 512, 2048>
exe.program @large attributes {target = "x86-64-v3", buckets = array<i64: 2048>, page_tokens = 64, max_context = 64, max_sequences = 1} {
}
// -----
// CHECK: exe.program @cuda attributes {buckets = array<i64: 1, 8, 32, 128, 512>
exe.program @cuda attributes {target = "sm_80", buckets = array<i64: 512>, page_tokens = 32, max_context = 64, max_sequences = 1} {
}
