// The llm dialect: definition, attributes and enums.
#ifndef LLMC_LLM_BASE
#define LLMC_LLM_BASE
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Llm_Dialect : Dialect {
  let name = "llm";
  let cppNamespace = "::llmc::llm";
  let summary = "Token-major Transformer ops on symbolic weights";
  let description = [{
    Ops of a decoder-only Transformer over T token rows. Weights are symbols
    whose bytes stay in the model's files; caches are symbols too. The only
    dynamic dims are T (token rows) and R (rows that get logits), always first.
    Independent of ONNX and of any target.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Llm_Attr<string name, string mnem> : AttrDef<Llm_Dialect, name> {
  let mnemonic = mnem;
}

// Row range of a source tensor. `begin`/`count` are rows of the source seen as
// [rows, cols] (after `transposed`); a vector has cols = 1.
def Llm_PieceAttr : Llm_Attr<"Piece", "piece"> {
  let summary = "rows of a source tensor, a part of a weight";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$source, "int64_t":$begin,
                        "int64_t":$count, DefaultValuedParameter<"bool", "false">:$transposed);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Llm_NormKind : I64EnumAttr<"NormKind", "kind of a norm",
    [I64EnumAttrCase<"none", 0>, I64EnumAttrCase<"rms", 1>, I64EnumAttrCase<"layer", 2>]> {
  let cppNamespace = "::llmc::llm";
}
// Numbers as in compiler/kernels/Catalogue.h.
def Llm_ActivationKind : I64EnumAttr<"ActivationKind", "elementwise activation",
    [I64EnumAttrCase<"none", 0>, I64EnumAttrCase<"silu", 1>, I64EnumAttrCase<"gelu", 2>,
     I64EnumAttrCase<"gelu_tanh", 3>, I64EnumAttrCase<"relu", 4>, I64EnumAttrCase<"sigmoid", 5>,
     I64EnumAttrCase<"tanh", 6>, I64EnumAttrCase<"relu2", 7>]> {
  let cppNamespace = "::llmc::llm";
}
#endif
