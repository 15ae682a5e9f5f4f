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

    Until `raise-model` the same ops stand on the padded tensors of the graph
    (`[batch, seq, features]`): verifiers look at the trailing dim only, which
    is the feature count in both forms. The ops of `LlmPaddedOps.td` exist only
    in that interval.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Llm_Attr<string name, string mnem> : AttrDef<Llm_Dialect, name> {
  let mnemonic = mnem;
}

def Llm_PieceAttr : Llm_Attr<"Piece", "piece"> {
  let summary = "rows of a source tensor, a part of a weight";
  let description = [{
    `begin` and `count` are rows of the source seen as `[rows, cols]`, after
    `transposed`; a vector is seen as `[rows, 1]`. Example:

    ```mlir
    #llm.piece<source = @w, begin = 0, count = 64, transposed = true>
    ```
  }];
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

class Llm_Op<string mnem, list<Trait> traits = []> : Op<Llm_Dialect, mnem, traits>;
def Llm_Rows : RankedTensorOf<[F32]>;
def Llm_Ints : RankedTensorOf<[AnyInteger]>;
// Checked with the enclosing symbol table in hand (verifySymbolUses).
def Llm_SymbolUser : DeclareOpInterfaceMethods<SymbolUserOpInterface>;
def Llm_State : Resource<"::llmc::llm::StateResource">;
#endif
