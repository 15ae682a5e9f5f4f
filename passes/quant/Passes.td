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
    module `llm.target`, `llm.precision` and `llm.kv_cache`. An embedding has
    the layout of the head, so that tied ones are packed once.

    | target | precision | matrices | activations (auto) | cache (auto) |
    | --- | --- | --- | --- | --- |
    | CPU | f32 | p16.f32 | f32 | f32 |
    | CPU | int8 | p16.w8b32 | int8 | f16 |
    | CUDA | f16 | n.f16 | f32 | f16 |
    | CUDA | int8 | n.w8b32 | f32 | f16 |

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
           "of weights: f32, f16 or int8">,
    Option<"activations", "activations", "std::string", "\"auto\"",
           "of products: auto, f32 or int8">,
    Option<"kvCache", "kv-cache", "std::string", "\"auto\"",
           "type of the cache: auto, f16 or f32">
  ];
  let dependentDialects = ["::llmc::llm::LlmDialect"];
}
#endif
