// Building blocks of the expansions; see FusedOps.h.
#include "passes/import/FusedOps.h"

#include <limits>

using namespace mlir;

namespace llmc {

int64_t staticRank(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  return Type ? Type.getRank() : -1;
}

int64_t staticDim(Value V, int64_t Axis) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  if (!Type)
    return -1;
  if (Axis < 0)
    Axis += Type.getRank();
  return Axis < 0 || Axis >= Type.getRank() || Type.isDynamicDim(Axis)
             ? -1
             : Type.getDimSize(Axis);
}

Value OpMaker::op(StringRef Mnemonic, ValueRange Operands, Attrs Attributes,
                  Type Element) {
  OperationState State(Loc, ("onnx." + Mnemonic).str());
  for (Value V : Operands)
    State.operands.push_back(
        V ? V : onnx::NoneOp::create(Builder, Loc, Builder.getNoneType()));
  State.addAttributes(Attributes);
  State.addTypes(UnrankedTensorType::get(
      Element ? Element : getElementTypeOrSelf(Operands[0].getType())));
  return Builder.create(State)->getResult(0);
}

NamedAttribute OpMaker::attr(StringRef Name, int64_t Value) {
  return Builder.getNamedAttr(Name, Builder.getI64IntegerAttr(Value));
}
NamedAttribute OpMaker::attr(StringRef Name, float Value) {
  return Builder.getNamedAttr(Name, Builder.getF32FloatAttr(Value));
}

Value OpMaker::ints(ArrayRef<int64_t> Values) {
  auto Type =
      RankedTensorType::get({int64_t(Values.size())}, Builder.getI64Type());
  return onnx::ConstantOp::create(Builder, Loc, Type,
                                  DenseIntElementsAttr::get(Type, Values));
}

Value OpMaker::integer(int64_t Value) {
  auto Type = RankedTensorType::get({}, Builder.getI64Type());
  return onnx::ConstantOp::create(Builder, Loc, Type,
                                  DenseIntElementsAttr::get(Type, Value));
}

Value OpMaker::real(Type Element, double Value) {
  auto Type = RankedTensorType::get({}, Element);
  return onnx::ConstantOp::create(
      Builder, Loc, Type,
      DenseElementsAttr::get(Type,
                             Attribute(Builder.getFloatAttr(Element, Value))));
}

Value OpMaker::cast(Value X, Type Element) {
  if (getElementTypeOrSelf(X.getType()) == Element)
    return X;
  return op("cast", {X}, {Builder.getNamedAttr("to", TypeAttr::get(Element))},
            Element);
}

Value OpMaker::both(Value X, Value Y) {
  return X && Y ? op("and", {X, Y}) : X ? X : Y;
}

Value OpMaker::compare(StringRef Mnemonic, Value X, Value Y) {
  return op(Mnemonic, {X, Y}, {}, Builder.getI1Type());
}

Value OpMaker::reshape(Value X, ArrayRef<int64_t> Sizes) {
  return op("reshape", {X, ints(Sizes)});
}

Value OpMaker::transpose(Value X, ArrayRef<int64_t> Perm) {
  return op("transpose", {X},
            {Builder.getNamedAttr("perm", Builder.getDenseI64ArrayAttr(Perm))});
}

Value OpMaker::unsqueeze(Value X, ArrayRef<int64_t> Axes) {
  return op("unsqueeze", {X, ints(Axes)});
}

Value OpMaker::slice(Value X, int64_t Axis, int64_t Begin, int64_t End,
                     int64_t Step) {
  return op("slice",
            {X, ints({Begin}), ints({End}), ints({Axis}), ints({Step})});
}

Value OpMaker::concat(ValueRange Values, int64_t Axis) {
  return op("concat", Values, {attr("axis", Axis)});
}

Value OpMaker::gather(Value X, Value Indices, int64_t Axis) {
  return op("gather", {X, Indices}, {attr("axis", Axis)});
}

Value OpMaker::dim(Value X, int64_t Axis) {
  Value Shape = op("shape", {X}, {}, Builder.getI64Type());
  return gather(Shape, integer(Axis), 0);
}

Value OpMaker::range(Value Count) {
  return op("range", {integer(0), Count, integer(1)});
}

Value visibleKeys(OpMaker &M, Value Offset, Value Queries, Value Keys,
                  int64_t Left, int64_t Right) {
  if (Left < 0 && Right < 0)
    return {};
  Value Rows = M.unsqueeze(M.range(Queries), {-1}); // [S, 1]
  Value Query = M.add(Offset, Rows);
  Value Key = M.range(Keys);
  Value Out;
  if (Right >= 0)
    Out = M.compare("less_or_equal", Key,
                    Right ? M.add(Query, M.integer(Right)) : Query);
  if (Left >= 0)
    Out = M.both(
        Out, M.compare("greater_or_equal", Key, M.sub(Query, M.integer(Left))));
  return Out;
}

Value attend(OpMaker &M, const HeadAttention &A) {
  Type F32 = M.Builder.getF32Type();
  Value K = M.toF32(A.K), V = M.toF32(A.V);
  if (A.KvHeads != A.Heads) {
    SmallVector<int64_t> Of;
    for (int64_t H = 0; H < A.Heads; ++H)
      Of.push_back(H / (A.Heads / A.KvHeads));
    K = M.gather(K, M.ints(Of), 1);
    V = M.gather(V, M.ints(Of), 1);
  }
  Value S = M.op("mat_mul", {M.toF32(A.Q), M.transpose(K, {0, 1, 3, 2})});
  S = M.mul(S, M.real(F32, A.Scale));
  if (A.Softcap > 0) {
    Value Cap = M.real(F32, A.Softcap);
    S = M.mul(M.op("tanh", {M.op("div", {S, Cap})}), Cap);
  }
  if (A.Bias)
    S = M.add(S, M.toF32(A.Bias));
  if (A.Visible)
    S = M.op("where",
             {A.Visible, S, M.real(F32, std::numeric_limits<float>::lowest())},
             {}, F32);
  if (A.Sinks) {
    Value Shape = M.op("shape", {S}, {}, M.Builder.getI64Type());
    Value Rows = M.concat({M.slice(Shape, 0, 0, 3), M.ints({1})}, 0);
    Value Column =
        M.op("expand", {M.reshape(M.toF32(A.Sinks), {1, A.Heads, 1, 1}), Rows});
    S = M.concat({S, Column}, -1);
  }
  Value P = M.op("softmax", {S}, {M.attr("axis", int64_t(-1))});
  if (A.Sinks)
    P = M.slice(P, -1, 0, -1);
  return M.op("mat_mul", {P, V});
}

Value splitHeads(OpMaker &M, Value Rows, int64_t Heads) {
  int64_t Width = staticDim(Rows, -1);
  return M.transpose(
      M.reshape(Rows, {0, 0, Heads, Width > 0 ? Width / Heads : -1}),
      {0, 2, 1, 3});
}

Value mergeHeads(OpMaker &M, Value Heads) {
  return M.reshape(M.transpose(Heads, {0, 2, 1, 3}), {0, 0, -1});
}

Value growingCache(Value Past, int64_t Axis, int64_t LastDim) {
  auto Arg = dyn_cast<BlockArgument>(Past);
  auto Type = dyn_cast<RankedTensorType>(Past.getType());
  if (!Arg || !Type || !isa<func::FuncOp>(Arg.getOwner()->getParentOp()))
    return Past;
  bool Quantised = !isa<FloatType>(Type.getElementType()) ||
                   Type.getElementTypeBitWidth() < 16;
  if (Type.isDynamicDim(Axis) && !Quantised)
    return Past;
  SmallVector<int64_t> Shape(Type.getShape());
  Shape[size_t(Axis)] = ShapedType::kDynamic;
  Shape.back() = LastDim;
  SmallVector<StringAttr> Dims;
  Builder B(Past.getContext());
  for (auto [I, Size] : llvm::enumerate(Shape)) {
    auto Known = dyn_cast_or_null<onnx::DimsAttr>(Type.getEncoding());
    StringAttr Text = int64_t(I) == Axis
                          ? B.getStringAttr("past_sequence_length")
                      : ShapedType::isDynamic(Size)
                          ? (Known ? Known.getExprs()[I] : B.getStringAttr("?"))
                          : B.getStringAttr(std::to_string(Size));
    Dims.push_back(Text);
  }
  auto New = RankedTensorType::get(
      Shape,
      Quantised ? Float32Type::get(Past.getContext()) : Type.getElementType(),
      onnx::DimsAttr::get(Past.getContext(), Dims));
  Arg.setType(New);
  auto Func = cast<func::FuncOp>(Arg.getOwner()->getParentOp());
  SmallVector<mlir::Type> Inputs(Func.getArgumentTypes());
  Inputs[Arg.getArgNumber()] = New;
  Func.setFunctionType(
      FunctionType::get(Past.getContext(), Inputs, Func.getResultTypes()));
  return Past;
}
} // namespace llmc
