// Flat rows and heads; see Heads.h.
#include "passes/raise/Heads.h"

#include "passes/raise/Match.h"

using namespace mlir;

namespace llmc::raise {

static Value integersOf(OpBuilder &B, Location Loc, ArrayRef<int64_t> Values) {
  auto Type = RankedTensorType::get({int64_t(Values.size())}, B.getI64Type());
  return onnx::ConstantOp::create(B, Loc, Type,
                                  DenseIntElementsAttr::get(Type, Values));
}

/// Type with these dims of From; -1 - N stands for a new dim of size N.
static RankedTensorType pick(RankedTensorType From, ArrayRef<int64_t> Dims) {
  auto Known = dyn_cast_or_null<onnx::DimsAttr>(From.getEncoding());
  SmallVector<int64_t> Shape;
  SmallVector<StringAttr> Exprs;
  for (int64_t D : Dims) {
    Shape.push_back(D < 0 ? -1 - D : From.getDimSize(D));
    if (Known)
      Exprs.push_back(
          D < 0 ? StringAttr::get(From.getContext(), std::to_string(-1 - D))
                : Known.getExprs()[D]);
  }
  return RankedTensorType::get(
      Shape, From.getElementType(),
      Known ? onnx::DimsAttr::get(From.getContext(), Exprs) : Attribute());
}

RankedTensorType withFeatures(RankedTensorType Type, int64_t Features) {
  SmallVector<int64_t> Dims =
      llvm::to_vector(llvm::seq<int64_t>(0, Type.getRank()));
  Dims.back() = -1 - Features;
  return pick(Type, Dims);
}

Value flattenRows(OpBuilder &B, Value X, RankedTensorType Result) {
  Value Shape = integersOf(B, X.getLoc(), {-1, Result.getShape().back()});
  return onnx::ReshapeOp::create(B, X.getLoc(), Result, X, Shape);
}

Value reshapeRows(OpBuilder &B, Value X, RankedTensorType Result) {
  SmallVector<int64_t> Shape(Result.getShape());
  Shape[0] = Shape[1] = 0;
  return onnx::ReshapeOp::create(B, X.getLoc(), Result, X,
                                 integersOf(B, X.getLoc(), Shape));
}

Value splitFeatures(OpBuilder &B, Value X, int64_t Dim) {
  auto Type = cast<RankedTensorType>(X.getType());
  int64_t Heads = Type.getShape().back() / Dim;
  return reshapeRows(B, X, pick(Type, {0, 1, -1 - Heads, -1 - Dim}));
}

Value countHeads(OpBuilder &B, Value X, RankedTensorType Result) {
  Value Shape = integersOf(B, X.getLoc(), {0, -1, Result.getShape().back()});
  return onnx::ReshapeOp::create(B, X.getLoc(), Result, X, Shape);
}

Value countedHeads(Value X) {
  auto Reshape = X.getDefiningOp<onnx::ReshapeOp>();
  Value Rows = Reshape ? Reshape.getData() : Value();
  if (!Rows || rankOf(X) > 3 || rankOf(Rows) != 3)
    return {};
  int64_t F = featuresOf(Rows), N = featuresOf(X);
  return N > 0 && F > N && F % N == 0 ? Rows : Value();
}

Value flattenHeads(OpBuilder &B, Value X, int64_t Features) {
  auto Type = cast<RankedTensorType>(X.getType());
  if (Type.getRank() != 4)
    return X;
  Location Loc = X.getLoc();
  // The tokens of a single head.
  bool Single = Type.getDimSize(1) == 1 && Type.isDynamicDim(2);
  return onnx::ReshapeOp::create(
      B, Loc, pick(Type, {0, Single ? 2 : 1, -1 - Features}), X,
      integersOf(B, Loc, {0, Single ? -1 : 0, Features}));
}

Value splitHeads(OpBuilder &B, Value Flat, int64_t Heads, int64_t Dim,
                 bool HeadsFirst, RankedTensorType Result) {
  Location Loc = Flat.getLoc();
  RankedTensorType Split = HeadsFirst ? pick(Result, {0, 2, 1, 3}) : Result;
  Value Out = onnx::ReshapeOp::create(B, Loc, Split, Flat,
                                      integersOf(B, Loc, {0, 0, Heads, Dim}));
  if (!HeadsFirst)
    return Out;
  return onnx::TransposeOp::create(B, Loc, Result, Out,
                                   B.getDenseI64ArrayAttr({0, 2, 1, 3}));
}

Value swapHeads(OpBuilder &B, Value X) {
  return onnx::TransposeOp::create(
      B, X.getLoc(), pick(cast<RankedTensorType>(X.getType()), {0, 2, 1, 3}), X,
      B.getDenseI64ArrayAttr({0, 2, 1, 3}));
}

Value mergeHeads(OpBuilder &B, Value Heads) {
  auto Type = cast<RankedTensorType>(Heads.getType());
  int64_t Features = Type.getDimSize(1) * Type.getDimSize(3);
  return reshapeRows(B, swapHeads(B, Heads), pick(Type, {0, 2, -1 - Features}));
}

static SmallVector<int64_t> lastSwapped(int64_t Rank) {
  SmallVector<int64_t> Perm = llvm::to_vector(llvm::seq<int64_t>(0, Rank));
  std::swap(Perm[size_t(Rank - 1)], Perm[size_t(Rank - 2)]);
  return Perm;
}

Value transposedFrom(Value V) {
  auto T = producer<onnx::TransposeOp>(V);
  return T && rankOf(V) >= 2 && T.getPerm() &&
                 *T.getPerm() == ArrayRef<int64_t>(lastSwapped(rankOf(V)))
             ? T.getData()
             : Value();
}

Value transposeLast(OpBuilder &B, Location Loc, Value V) {
  auto Type = cast<RankedTensorType>(V.getType());
  SmallVector<int64_t> Perm = lastSwapped(Type.getRank());
  return onnx::TransposeOp::create(B, Loc, pick(Type, Perm), V,
                                   B.getDenseI64ArrayAttr(Perm));
}

Value swapLast(OpBuilder &B, Value V) {
  Value From = transposedFrom(V);
  return From ? From : transposeLast(B, V.getLoc(), V);
}

Value reshapeTo(OpBuilder &B, Location Loc, Value V, ArrayRef<int64_t> Shape) {
  auto Type = RankedTensorType::get(Shape, B.getF32Type());
  return onnx::ReshapeOp::create(B, Loc, Type, V, integersOf(B, Loc, Shape));
}
} // namespace llmc::raise
