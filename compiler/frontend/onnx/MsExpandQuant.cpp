// Ops on quantised tensors, most of com.microsoft: they become the op on
// numbers between DequantizeLinear and QuantizeLinear, which is what they mean.
#include "compiler/frontend/onnx/MsExpand.h"

#include "dialects/onnx/Onnx.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace llmc;
using namespace mlir;

namespace {
using Results = SmallVectorImpl<Value>;

/// Numbers of a quantised tensor. A scale of one element is of the whole
/// tensor, a longer one of its columns.
Value numbers(Expander &X, Value Codes, Value Scale, Value Zero) {
  return X.op("dequantize_linear", {Codes, Scale, Zero},
              {X.attr("axis", int64_t(-1))}, X.elementOf(Scale));
}

/// Codes of the type of the zero point; unsigned bytes without.
Value codes(Expander &X, Value V, Value Scale, Value Zero) {
  Type T = Zero ? X.elementOf(Zero)
                : IntegerType::get(X.B.getContext(), 8, IntegerType::Unsigned);
  return X.op("quantize_linear", {V, Scale, Zero},
              {X.attr("axis", int64_t(-1))}, T);
}

/// Without a zero point a code has the type of the input.
Value codesLike(Expander &X, Value V, Value Scale, Value Zero, Value Like) {
  return codes(X, V, Scale, Zero ? Zero : X.scalar(X.elementOf(Like), 0));
}

Status matMulIntegerToFloat(Expander &X, Results &Out) {
  Value A = numbers(X, X.in(0), X.in(2), X.in(4));
  Value B = numbers(X, X.in(1), X.in(3), X.in(5));
  Out[0] = X.add(X.op("mat_mul", {A, B}), X.in(6));
  return Status::success();
}

/// The activations are quantised over their range first.
Status dynamicQuantizeMatMul(Expander &X, Results &Out) {
  OperationState State(X.Node.Loc, "onnx.dynamic_quantize_linear");
  State.addOperands(X.in(0));
  Type U8 = IntegerType::get(X.B.getContext(), 8, IntegerType::Unsigned);
  Type Codes = UnrankedTensorType::get(U8);
  State.addTypes({Codes, UnrankedTensorType::get(X.elementOf(X.in(0))), Codes});
  Operation *Quantize = X.B.create(State);
  Value A = numbers(X, Quantize->getResult(0), Quantize->getResult(1),
                    Quantize->getResult(2));
  Value B = numbers(X, X.in(1), X.in(2), X.in(3));
  Out[0] = X.add(X.op("mat_mul", {A, B}), X.in(4));
  return Status::success();
}

/// The bytes of a constant as elements of another type, of 4 or 8 bits; null
/// when V is none.
Value seenAs(Expander &X, Value V, FloatType Element) {
  RankedTensorType Bytes = dyn_cast<RankedTensorType>(V.getType());
  if (!Bytes || Bytes.getRank() < 1 || !Bytes.getElementType().isInteger(8))
    return {};
  int64_t Each = 8 / int64_t(Element.getWidth());
  SmallVector<int64_t> Shape(Bytes.getShape());
  Shape.back() *= Each;
  RankedTensorType Type = RankedTensorType::get(Shape, Element);
  if (llmc::onnx::ConstantOp C = V.getDefiningOp<llmc::onnx::ConstantOp>()) {
    // The attribute has a byte for each element.
    std::vector<char> All;
    for (APInt Byte : cast<DenseElementsAttr>(C.getValue()).getValues<APInt>())
      for (int64_t I = 0; I < Each; ++I)
        All.push_back(char(Byte.extractBitsAsZExtValue(
            Element.getWidth(), unsigned(I) * Element.getWidth())));
    return llmc::onnx::ConstantOp::create(
        X.B, X.Node.Loc, DenseElementsAttr::getFromRawBuffer(Type, All));
  }
  llmc::onnx::WeightOp Weight = V.getDefiningOp<llmc::onnx::WeightOp>();
  ModuleOp Module = Weight ? Weight->getParentOfType<ModuleOp>() : ModuleOp();
  if (!Module)
    return {};
  SymbolTable Symbols(Module);
  llmc::onnx::WeightDataOp Data =
      Symbols.lookup<llmc::onnx::WeightDataOp>(Weight.getDataAttr().getValue());
  std::string Name;
  llvm::raw_string_ostream(Name) << Data.getSymName() << " as " << Element;
  if (!Symbols.lookup(Name)) {
    OpBuilder::InsertionGuard Guard(X.B);
    X.B.setInsertionPoint(Data);
    llmc::onnx::WeightDataOp::create(X.B, Data.getLoc(), Name, Data.getFile(),
                                     Data.getOffset(), Data.getLength(), Type);
  }
  return llmc::onnx::WeightOp::create(X.B, X.Node.Loc, Type, Name);
}

/// Codes of 4 bits and scales of 8 as bytes, and a scale for all.
Status matMulFp4Weight(Expander &X, Results &Out) {
  MLIRContext *Context = X.B.getContext();
  Value Codes = seenAs(X, X.in(1), Float4E2M1FNType::get(Context)),
        Scales = seenAs(X, X.in(2), Float8E4M3FNType::get(Context));
  if (!Codes || !Scales)
    return X.unsupported("has weights or scales that are no bytes of the file");
  Value Blocks = X.op("dequantize_linear", {Scales, X.in(3), Value()}, {},
                      X.B.getF32Type());
  Value W = X.op("dequantize_linear", {Codes, Blocks, Value()},
                 {X.attr("axis", int64_t(1)),
                  X.attr("block_size", X.integer("block_size", 16))},
                 X.B.getF32Type());
  Type T = X.elementOf(X.in(0));
  if (!T.isF32())
    W = X.op("cast", {W}, {X.B.getNamedAttr("to", TypeAttr::get(T))}, T);
  W = X.op("transpose", {W},
           {X.B.getNamedAttr("perm", X.B.getDenseI64ArrayAttr({1, 0}))});
  Out[0] = X.add(X.op("mat_mul", {X.in(0), W}), X.in(5));
  return Status::success();
}

/// The bias is int32 in units of the product of both scales.
Status qGemm(Expander &X, Results &Out) {
  for (unsigned I = 0; I < 6; ++I)
    if (!X.in(I) && I != 2 && I != 5)
      return X.unsupported("lacks input " + std::to_string(I));
  bool TransB = X.integer("transB", 0) != 0;
  Value A = numbers(X, X.in(0), X.in(1), X.in(2));
  Value B =
      X.op("dequantize_linear", {X.in(3), X.in(4), X.in(5)},
           {X.attr("axis", int64_t(TransB ? 0 : 1))}, X.elementOf(X.in(4)));
  float Alpha = X.real("alpha", 1.0f);
  Value Bias;
  if (X.in(6)) {
    // alpha * a_scale * b_scale per unit.
    Type T = X.elementOf(X.in(1));
    Value Scale = X.mul(X.in(1), X.in(4));
    if (Alpha != 1.0f)
      Scale = X.mul(Scale, X.scalar(T, Alpha));
    Value Units =
        X.op("cast", {X.in(6)}, {X.B.getNamedAttr("to", TypeAttr::get(T))}, T);
    Bias = X.mul(Units, Scale);
  }
  Value Product = X.op("gemm", {A, B, Bias},
                       {X.attr("alpha", Alpha), X.attr("beta", 1.0f),
                        X.attr("transA", X.integer("transA", 0)),
                        X.attr("transB", int64_t(TransB))});
  Out[0] = X.in(7) ? codesLike(X, Product, X.in(7), X.in(8), X.in(0)) : Product;
  return Status::success();
}

/// QLinearConv of ai.onnx; the bias as that of QGemm.
Status qConv(Expander &X, Results &Out) {
  for (unsigned I = 0; I < 8; ++I)
    if (!X.in(I) && I != 2 && I != 5)
      return X.unsupported("lacks input " + std::to_string(I));
  Value A = numbers(X, X.in(0), X.in(1), X.in(2));
  Value W = X.op("dequantize_linear", {X.in(3), X.in(4), X.in(5)},
                 {X.attr("axis", int64_t(0))}, X.elementOf(X.in(4)));
  Value Bias;
  if (X.in(8)) {
    Type T = X.elementOf(X.in(1));
    Value Units =
        X.op("cast", {X.in(8)}, {X.B.getNamedAttr("to", TypeAttr::get(T))}, T);
    Bias = X.mul(Units, X.mul(X.in(1), X.in(4)));
  }
  SmallVector<NamedAttribute> Attrs{
      X.attr("group", X.integer("group", 1)),
      X.attr("auto_pad", llvm::StringRef(X.text("auto_pad", "NOTSET")))};
  for (const char *Name : {"dilations", "kernel_shape", "pads", "strides"})
    if (SmallVector<int64_t> Values = X.integers(Name); !Values.empty())
      Attrs.push_back(X.B.getNamedAttr(Name, X.B.getDenseI64ArrayAttr(Values)));
  Value Product = X.op("conv", {A, W, Bias}, Attrs);
  Out[0] = codesLike(X, Product, X.in(6), X.in(7), X.in(0));
  return Status::success();
}

/// Attention whose input and weights are quantised; all else is numbers.
Status qAttention(Expander &X, Results &Out) {
  Value Input = numbers(X, X.in(0), X.in(3), X.in(6));
  Value Weight = numbers(X, X.in(1), X.in(4), X.in(7));
  OperationState State(X.Node.Loc, "onnx.ms_attention");
  for (Value V : {Input, Weight, X.in(2), X.in(5), X.in(8), Value(), Value()})
    State.operands.push_back(
        V ? V : llmc::onnx::NoneOp::create(X.B, X.Node.Loc, X.B.getNoneType()));
  for (const char *Name : {"num_heads", "unidirectional", "do_rotary",
                           "past_present_share_buffer"})
    State.addAttributes({X.attr(Name, X.integer(Name, 0))});
  State.addAttributes(
      {X.attr("scale", X.real("scale", 0.0f)),
       X.attr("mask_filter_value", X.real("mask_filter_value", -10000.0f))});
  Type T = UnrankedTensorType::get(X.elementOf(X.in(3)));
  State.addTypes({T, T});
  Operation *Op = X.B.create(State);
  Out[0] = Op->getResult(0);
  Out[1] = Op->getResult(1);
  return Status::success();
}

Status qBinary(Expander &X, Results &Out, llvm::StringRef Op) {
  if (!X.in(3) || !X.in(4) || !X.in(6))
    return X.unsupported("lacks one of inputs 3, 4 and 6");
  Value A = numbers(X, X.in(0), X.in(1), X.in(2));
  Value B = numbers(X, X.in(3), X.in(4), X.in(5));
  Out[0] = codesLike(X, X.op(Op, {A, B}), X.in(6), X.in(7), X.in(0));
  return Status::success();
}
Status qAdd(Expander &X, Results &Out) { return qBinary(X, Out, "add"); }
Status qMul(Expander &X, Results &Out) { return qBinary(X, Out, "mul"); }

Status qUnary(Expander &X, Results &Out, llvm::StringRef Op,
              ArrayRef<NamedAttribute> Attrs) {
  if (!X.in(3))
    return X.unsupported("lacks input 3");
  Value V = X.op(Op, {numbers(X, X.in(0), X.in(1), X.in(2))}, Attrs);
  Out[0] = codesLike(X, V, X.in(3), X.in(4), X.in(0));
  return Status::success();
}
Status qSigmoid(Expander &X, Results &Out) {
  return qUnary(X, Out, "sigmoid", {});
}
Status qLeakyRelu(Expander &X, Results &Out) {
  return qUnary(X, Out, "leaky_relu",
                {X.attr("alpha", X.real("alpha", 0.01f))});
}

/// `opset` says which softmax: until 12 over all dims from axis on.
Status qSoftmax(Expander &X, Results &Out) {
  int64_t Axis = X.integer("axis", -1);
  if (X.integer("opset", 13) < 13 && Axis != -1)
    return X.unsupported("has opset " + std::to_string(X.integer("opset", 13)) +
                         ", supported is 13 or axis -1");
  return qUnary(X, Out, "softmax", {X.attr("axis", Axis)});
}

Status qReduceMean(Expander &X, Results &Out) {
  if (!X.in(3))
    return X.unsupported("lacks input 3");
  Value V =
      X.op("reduce_mean",
           {numbers(X, X.in(0), X.in(1), X.in(2)), X.ints(X.integers("axes"))},
           {X.attr("keepdims", X.integer("keepdims", 1))});
  Out[0] = codesLike(X, V, X.in(3), X.in(4), X.in(0));
  return Status::success();
}

/// Y_scale, Y_zero_point, then (codes, scale, zero point) of each part.
Status qConcat(Expander &X, Results &Out) {
  SmallVector<Value> Parts;
  for (unsigned I = 2; I + 2 < X.Node.Operands.size(); I += 3)
    Parts.push_back(numbers(X, X.in(I), X.in(I + 1), X.in(I + 2)));
  if (Parts.empty())
    return X.unsupported("has no parts");
  Value V = X.op("concat", Parts, {X.attr("axis", X.integer("axis", 0))});
  Out[0] = codes(X, V, X.in(0), X.in(1));
  return Status::success();
}

Status qWhere(Expander &X, Results &Out) {
  Value A = numbers(X, X.in(1), X.in(2), X.in(3));
  Value B = numbers(X, X.in(4), X.in(5), X.in(6));
  Value V = X.op("where", {X.in(0), A, B}, {}, X.elementOf(A));
  Out[0] = codes(X, V, X.in(7), X.in(8));
  return Status::success();
}

constexpr AttrSpec GemmAttrs[] = {{"alpha", AttrKind::Float},
                                  {"transA", AttrKind::Int},
                                  {"transB", AttrKind::Int}};
constexpr AttrSpec AttentionAttrs[] = {
    {"num_heads", AttrKind::Int, true},
    {"unidirectional", AttrKind::Int},
    {"do_rotary", AttrKind::Int},
    {"scale", AttrKind::Float},
    {"mask_filter_value", AttrKind::Float},
    {"past_present_share_buffer", AttrKind::Int}};
constexpr AttrSpec ConvAttrs[] = {
    {"auto_pad", AttrKind::String}, {"dilations", AttrKind::Ints},
    {"group", AttrKind::Int},       {"kernel_shape", AttrKind::Ints},
    {"pads", AttrKind::Ints},       {"strides", AttrKind::Ints}};
constexpr AttrSpec BlockAttrs[] = {{"block_size", AttrKind::Int}};
constexpr AttrSpec AlphaAttrs[] = {{"alpha", AttrKind::Float}};
constexpr AttrSpec SoftmaxAttrs[] = {{"axis", AttrKind::Int},
                                     {"opset", AttrKind::Int, true}};
constexpr AttrSpec ReduceAttrs[] = {{"axes", AttrKind::Ints, true},
                                    {"keepdims", AttrKind::Int, true}};
constexpr AttrSpec AxisAttrs[] = {{"axis", AttrKind::Int, true}};
constexpr llvm::ArrayRef<AttrSpec> NoAttrs = {};

using E = ElementRule;
constexpr llvm::StringLiteral Domain = "com.microsoft";
const Expansion Expansions[] = {
    {{"MatMulIntegerToFloat", "", 4, 7, 1, E::Operand2, NoAttrs, Domain},
     matMulIntegerToFloat},
    {{"DynamicQuantizeMatMul", "", 3, 5, 1, E::Operand0, NoAttrs, Domain},
     dynamicQuantizeMatMul},
    {{"MatMulBlockQuantizedFp4Weight", "", 4, 6, 1, E::Operand0, BlockAttrs,
      Domain},
     matMulFp4Weight},
    {{"QLinearConv", "", 8, 9, 1, E::Operand0, ConvAttrs, ""}, qConv},
    {{"QGemm", "", 2, 9, 1, E::Operand1, GemmAttrs, Domain}, qGemm},
    {{"QAttention", "", 5, 9, 2, E::Operand3, AttentionAttrs, Domain},
     qAttention},
    {{"QLinearAdd", "", 2, 8, 1, E::Operand0, NoAttrs, Domain}, qAdd},
    {{"QLinearMul", "", 2, 8, 1, E::Operand0, NoAttrs, Domain}, qMul},
    {{"QLinearSigmoid", "", 2, 5, 1, E::Operand0, NoAttrs, Domain}, qSigmoid},
    {{"QLinearLeakyRelu", "", 2, 5, 1, E::Operand0, AlphaAttrs, Domain},
     qLeakyRelu},
    {{"QLinearSoftmax", "", 2, 5, 1, E::Operand0, SoftmaxAttrs, Domain},
     qSoftmax},
    {{"QLinearReduceMean", "", 2, 5, 1, E::Operand0, ReduceAttrs, Domain},
     qReduceMean},
    {{"QLinearConcat", "", 5, -1, 1, E::Operand1, AxisAttrs, Domain}, qConcat},
    {{"QLinearWhere", "", 9, 9, 1, E::Operand1, NoAttrs, Domain}, qWhere},
};
} // namespace

llvm::ArrayRef<Expansion> llmc::quantExpansions() { return Expansions; }
