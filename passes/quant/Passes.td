// Precision and quantisation. Order and reasons: compiler/pipeline.
#ifndef LLMC_PASSES_QUANT
#define LLMC_PASSES_QUANT
include "mlir/Pass/PassBase.td"

def ChoosePrecision : Pass<"llmc-choose-precision", "::mlir::ModuleOp"> {
  let summary = "decides layout of every weight, numerics of every product, type of the cache";
  let description = [{
    Annotates, for one target, what lowering then spells out: `llm.layout` of
    every llm.weight (matrices by the precision, vectors and tables always
    `vec.f32`), `llm.activations` (f32 or int8) of every product, and on the
    module `llm.target`, `llm.precision` and `llm.kv_cache`. `file` keeps every
    matrix as the file holds it: f32, f16, bf16 or the file's codes, scales and
    zero points in the packed format that has them (p16.f32 where none has). On
    CUDA in the order of mma fragments, with activations rounded to f16 (bf16
    for bf16 weights); f32 as m16.f16, codes that have no such form by rows.
    Forms are a matter of each weight; tied ones are packed once, since they
    have the same form. One that is a matrix here and a vector there gets a copy
    `NAME.LAYOUT` for the second use.

    | target | precision | matrices | activations (auto) | cache (auto) |
    | --- | --- | --- | --- | --- |
    | CPU | file | by weight | int8 where kernels have them | f16, for f32 f32 |
    | CPU | f32 | p16.f32 | f32 | f32 |
    | CPU | f16, bf16 | p16.f16, p16.bf16 | f32 | f16 |
    | CPU | int8 | p16.w8b32 | int8 | f16 |
    | CPU | int4 | p16.i4b32.f16.min; embedding and head p16.w8b32 | int8 | f16 |
    | CUDA | file | m16.f16, m16.bf16; codes m16.i4b32.f16.z8, … | f16, bf16 | f16 |
    | CUDA | f16, bf16 | m16.f16, m16.bf16 | f16, bf16 | f16 |
    | CUDA | f32 | n.f32 | f32 | f32 |
    | CUDA | int8 | m16.i8b32.f16.zm | f16 | f16 |
    | CUDA | int4 | m16.i4b32.f16.min; embedding and head m16.i8b32.f16.zm | f16 | f16 |

    With int8 and int4, codes of the file of at most that width are repacked as
    they are, never rounded again.

    With `activations=f32` on the CPU the cache is f32, too, unless asked for
    otherwise; on CUDA plain kernels and layouts by rows (n.f32, n.w8b32,
    n.i4b32.f16.z8, …) are taken, f32 and bf16 weights stay what they are.

    ```mlir
    // before
    llm.weight @w : tensor<64x64xf32> [...]
    %y = llm.linear %x, @w ...
    // after, precision=int8
    llm.weight @w : tensor<64x64xf32> [...] {llm.layout = "p16.w8b32"}
    %y = llm.linear %x, @w {llm.activations = "int8"} ...
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"x86-64-avx512vnni\"",
           "target to compile for">,
    Option<"precision", "precision", "std::string", "\"f32\"",
           "of weights: file, f32, f16, bf16, int8 or int4">,
    Option<"activations", "activations", "std::string", "\"auto\"",
           "of products: auto, f32 or int8">,
    Option<"kvCache", "kv-cache", "std::string", "\"auto\"",
           "type of the cache: auto, f16, f32 or int8">
  ];
  let dependentDialects = ["::llmc::llm::LlmDialect"];
}
#endif
