// Ops that hold data and structure: weights, constants, absent operands, If.
#ifndef LLMC_ONNX_CORE_OPS
#define LLMC_ONNX_CORE_OPS
include "dialects/onnx/OnnxBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Onnx_WeightDataOp : Onnx_Op<"weight_data", [Symbol]> {
  let summary = "a tensor in a file of the model; its data never enters the IR";
  let description = [{
    `file` counts in the module's `onnx.files`; `type` has the dtype and shape.

    C1: the type has static dims. C2: offset and length are not negative, length
    is ceil(elements * bits / 8). C3: file is not negative.

    Example: `onnx.weight_data @w file 1 offset 4096 length 64 : tensor<4x4xf32>`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$file, I64Attr:$offset,
                       I64Attr:$length, TypeAttrOf<AnyRankedTensor>:$type);
  let assemblyFormat = "$sym_name `file` $file `offset` $offset `length` $length `:` $type attr-dict";
  let hasVerifier = 1;
}

def Onnx_WeightOp : Onnx_Op<"weight",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of an onnx.weight_data in the graph";
  let description = [{
    C1: the symbol is an onnx.weight_data. C2: it has the result's shape and
    element type.

    Example: `%0 = onnx.weight @w : tensor<4x4xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$data);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$data attr-dict `:` type($output)";
}

def Onnx_ConstantOp : Onnx_Op<"constant", [Pure, ConstantLike]> {
  let summary = "a small tensor: at most 64 elements from a file";
  let description = [{
    C1: value and result have the same shape and element type (the result may
    have dims).

    Example: `%0 = onnx.constant dense<[0, -1]> : tensor<2xi64>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$output);
  let hasCustomAssemblyFormat = 1;
  let assemblyFormat = ?;
  let hasFolder = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getType(), value);
  }]>];
}

def Onnx_NoneOp : Onnx_Op<"none", [Pure]> {
  let summary = "stands for an absent optional operand";
  let results = (outs NoneType:$output);
  let assemblyFormat = "attr-dict";
}

def Onnx_YieldOp : Onnx_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "the outputs of a subgraph";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Onnx_IfOp : Onnx_Op<"if",
    [SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "one of two subgraphs, by a scalar condition";
  let description = [{
    C1: each branch ends in onnx.yield with as many values as there are results.
  }];
  let arguments = (ins AnyType:$cond);
  let regions = (region SizedRegion<1>:$then_branch, SizedRegion<1>:$else_branch);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$cond $then_branch `else` $else_branch attr-dict `:` functional-type($cond, $outputs)";
  let hasVerifier = 1;
}
#endif
