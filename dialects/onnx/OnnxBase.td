// The onnx dialect: definition, the dims encoding and the classes of its ops.
#ifndef LLMC_ONNX_BASE
#define LLMC_ONNX_BASE
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::llmc::onnx";
  let summary = "ONNX graphs, every op in its newest signature";
  let description = [{
    One op per supported ONNX op: the mnemonic is the ONNX name in snake case,
    operands stand in ONNX order and attributes have their ONNX names. The
    importer upgrades older opsets while reading, so axes and sizes are operands
    and there is one version of each op. The number of operands is fixed: an
    absent optional operand, trailing ones included, is a value of `onnx.none`.
    Optional results are always there; an unused one has no uses. Types are
    tensors of any kind; shapes are the business of `infer-shapes`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // One translation unit per family of ops; each registers its own.
  let extraClassDeclaration = [{
    void registerCoreOps();
    void registerMathOps();
    void registerShapeOps();
    void registerIndexOps();
    void registerNeuralOps();
    void registerActivationOps();
    void registerAttentionOps();
    void registerQuantOps();
    void registerMsAttentionOps();
    void registerMsWeightOps();
    void registerAttributes();
  }];
}

def Onnx_DimsAttr : AttrDef<Onnx_Dialect, "Dims",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "dims";
  let summary = "symbolic dims of a tensor, used as its encoding";
  let description = [{
    One expression per dim: a number for a static dim, `?` for an unknown one,
    else an affine expression in symbols, `2*a + b - 1` (canonical printing:
    passes/import/DimExpr.h).

    C1: as many expressions as the tensor has dims. C2: a static dim has its
    number.

    Example: `tensor<?x?x576xf32, #onnx.dims<["batch", "past + seq", "576"]>>`
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$exprs);
  let assemblyFormat = "`<` `[` (`]`) : ($exprs^ `]`)? `>`";
}

class Onnx_Op<string mnem, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnem, traits> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}
class Onnx_PureOp<string mnem, list<Trait> traits = []>
    : Onnx_Op<mnem, !listconcat([Pure], traits)>;

class Onnx_UnaryOp<string mnem, string text> : Onnx_PureOp<mnem> {
  let summary = text;
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}
class Onnx_BinaryOp<string mnem, string text> : Onnx_PureOp<mnem> {
  let summary = text;
  let arguments = (ins AnyType:$lhs, AnyType:$rhs);
  let results = (outs AnyType:$output);
}
class Onnx_VariadicOp<string mnem, string text> : Onnx_PureOp<mnem> {
  let summary = text;
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::llmc::verifyAtLeastOneInput(*this);
    }
  }];
}

// Checks that the attribute `axis` is within the rank of the first operand.
// `Extra` is 1 for ops whose axis may be the rank itself.
class Onnx_AxisOp<string mnem, int extra = 0> : Onnx_PureOp<mnem> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::llmc::verifyAxis(*this, getAxis(), }] # extra # [{);
    }
  }];
}

class Onnx_Int<string value> : DefaultValuedAttr<I64Attr, value>;
class Onnx_Flag<string value> : DefaultValuedAttr<
    ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<1>]>, value>;
class Onnx_Float<string value> : DefaultValuedAttr<F32Attr, value>;
class Onnx_OneOf<string values, string text> : AttrConstraint<
    CPred<"::llmc::isOneOf($_self, {" # values # "})">, text>;
class Onnx_Choice<string value, string values, string text> : DefaultValuedStrAttr<
    ConfinedAttr<StrAttr, [Onnx_OneOf<values, text>]>, value>;
#endif
