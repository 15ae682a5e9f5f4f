// Numbered rows and what becomes of them; see RowMap.h.
#include "passes/raise/RowMap.h"

#include "passes/raise/Cone.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/TokenRows.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {

/// Gives every element of every leaf its own number, from 1 on. A leaf keeps
/// its numbers, since what was computed from them is kept, too.
std::string RowReader::number(const llvm::SetVector<Value> &Leaves) {
  // Numbers and their products with a scale must stay apart in f32.
  constexpr int64_t Most = int64_t(1) << 21;
  int64_t Next = 1;
  for (Value Leaf : Leaves)
    if (auto It = Bound.find(Leaf); It != Bound.end())
      Next = std::max(Next, It->second.first + It->second.second);
  for (Value Leaf : Leaves) {
    if (auto Arg = dyn_cast<BlockArgument>(Leaf);
        Arg && R.of(Arg) == Role::Past) {
      // Empty, or zeros that the mask hides.
      if (!Numbers.bindCache(Arg) || !Ones.bindCache(Arg))
        return "the cache '" + argName(Arg).str() + "' has no known shape";
      continue;
    }
    if (Bound.count(Leaf))
      continue;
    eval::Dims Shape;
    if (!getElementTypeOrSelf(Leaf).isF32() || !Numbers.shapeOf(Leaf, Shape))
      return "the shape of its rows is not known";
    int64_t Count = eval::countOf(Shape);
    if (Count < 1 || Count % Numbers.sample().Seq != 0 || Next + Count > Most)
      return "rows of " + std::to_string(Numbers.sample().Seq) +
             " tokens have " + std::to_string(Count) + " elements";
    Bound[Leaf] = {Next, Count};
    std::vector<double> Ids(static_cast<size_t>(Count));
    for (double &Id : Ids)
      Id = double(Next++);
    Numbers.bind(Leaf, eval::Tensor::ofFloats(DType::F32, Shape, Ids));
    Ones.bind(Leaf,
              eval::Tensor::ofFloats(DType::F32, Shape,
                                     std::vector<double>(Ids.size(), 1.0)));
  }
  return {};
}

Value RowReader::leafOf(const llvm::SetVector<Value> &Leaves,
                        int64_t Number) const {
  for (Value Leaf : Leaves)
    if (auto It = Bound.find(Leaf); It != Bound.end())
      if (Number >= It->second.first &&
          Number < It->second.first + It->second.second)
        return Leaf;
  return {};
}

std::string RowReader::read(Value Operand, bool Columns, RowMap &Out) {
  Cone C = coneOf(Operand, R, Mixing::None);
  std::string Why = number(C.Leaves);
  if (!Why.empty())
    return Why;
  for (Value Leaf : C.Leaves)
    if (auto Arg = dyn_cast<BlockArgument>(Leaf);
        Arg && R.of(Arg) == Role::Past)
      Out.Caches.insert(Leaf);
  Result<const eval::Tensor *> Ids = Numbers.evaluate(Operand);
  if (!Ids)
    return "it cannot be evaluated: " + Ids.status().message();
  Result<const eval::Tensor *> Units = Ones.evaluate(Operand);
  if (!Units)
    return "it cannot be evaluated: " + Units.status().message();
  const eval::Tensor &T = **Ids, &One = **Units;
  if (T.rank() < 2 || T.count() == 0 || T.Shape != One.Shape)
    return "the operand has shape " + eval::describe(T);
  size_t Rank = size_t(T.rank());
  int64_t Dim = T.Shape[Rank - (Columns ? 2 : 1)];
  int64_t Lines = T.Shape[Rank - (Columns ? 1 : 2)];
  int64_t Seq = Numbers.sample().Seq, First = 0;
  for (int64_t Line = 0; Line < T.count() / Dim; ++Line) {
    int64_t Base =
        Columns ? Line / Lines * Lines * Dim + Line % Lines : Line * Dim;
    std::vector<int64_t> Row;
    int64_t Token = -1;
    for (int64_t D = 0; D < Dim; ++D) {
      int64_t At = Base + D * (Columns ? Lines : 1);
      double Unit = eval::floatAt(One, At);
      if (Unit == 0)
        break; // an empty place of a cache
      double Id = eval::floatAt(T, At) / Unit;
      int64_t Number = std::llround(Id);
      if (!Out.Leaf) {
        Out.Leaf = leafOf(C.Leaves, Number);
        if (!Out.Leaf)
          return "its elements are not those of any rows";
        Out.Scale = Unit;
        First = Bound[Out.Leaf].first;
        Out.Features = Bound[Out.Leaf].second / Seq;
      }
      if (!(std::abs(Unit - Out.Scale) <= 1e-5 * std::abs(Out.Scale)) ||
          !(std::abs(Id - double(Number)) < 0.25))
        return "its elements are not rows times one scale";
      if (leafOf(C.Leaves, Number) != Out.Leaf)
        return "a head is put together from two values";
      int64_t Offset = Number - First;
      if (D == 0)
        Token = Offset / Out.Features;
      if (Offset / Out.Features != Token)
        return "a head mixes tokens";
      Row.push_back(Offset % Out.Features);
    }
    if (Row.size() == size_t(Dim) && Token == 0)
      Out.Heads.push_back(std::move(Row));
  }
  if (!Out.Leaf || Out.Heads.empty())
    return "no row of the new tokens is in it";
  if (isa<BlockArgument>(Out.Leaf))
    return "it is an input of the graph";
  for (Value Leaf : C.Leaves)
    if (Leaf != Out.Leaf && !Out.Caches.contains(Leaf))
      Out.Others.insert(Leaf);
  return {};
}

/// The heads that Features are, if they are whole heads of Dim in their order.
static std::optional<SmallVector<int64_t>>
wholeHeads(ArrayRef<int64_t> Features, int64_t Dim) {
  SmallVector<int64_t> Out;
  if (Dim < 1 || int64_t(Features.size()) % Dim != 0)
    return std::nullopt;
  for (size_t I = 0; I < Features.size(); ++I) {
    if (int64_t(I) % Dim == 0)
      Out.push_back(Features[I] / Dim);
    if (Features[I] != Out.back() * Dim + int64_t(I) % Dim)
      return std::nullopt;
  }
  return Out;
}

static bool isPlain(llm::LinearOp L) {
  return L && !L.getResidual() && L.getNorm() == llm::NormKind::none &&
         L.getActivation() == llm::ActivationKind::none &&
         L.getGlu() == llm::ActivationKind::none;
}

Value selectRows(OpBuilder &B, Value V, ArrayRef<int64_t> Features,
                 WeightMaker &Weights, Roles &R) {
  // Rows of one head only: chosen first, since a product may give them.
  bool Single = rankOf(V) == 4 && featuresOfRows(V) == featuresOf(V);
  if (!Single)
    V = flattenHeads(B, V, featuresOfRows(V));
  int64_t Width = featuresOf(V), Count = int64_t(Features.size());
  bool All = Count == Width;
  for (int64_t I = 0; All && I < Count; ++I)
    All = Features[size_t(I)] == I;
  if (All)
    return flattenHeads(B, V, Width);
  RankedTensorType Type =
      withFeatures(cast<RankedTensorType>(V.getType()), Count);
  Operation *Op = V.getDefiningOp();
  Value Out;
  if (auto Linear = dyn_cast_or_null<llm::LinearOp>(Op); isPlain(Linear)) {
    FlatSymbolRefAttr Bias = Linear.getBiasAttr();
    Out = llm::LinearOp::create(
        B, Op->getLoc(), Type, Linear.getX(), Value(),
        Weights.rows(Linear.getWeightAttr(), Features).getValue(),
        Bias ? Weights.rows(Bias, Features) : Bias, llm::NormKind::none,
        nullptr, nullptr, llvm::APFloat(0.0f));
  } else if (auto Rope = dyn_cast_or_null<llm::RopeOp>(Op);
             Rope && wholeHeads(Features, int64_t(Rope.getHeadDim()))) {
    Value X = selectRows(B, Rope.getX(), Features, Weights, R);
    Out = llm::RopeOp::create(B, Op->getLoc(), Type, X, Rope.getTable(),
                              Count / int64_t(Rope.getHeadDim()),
                              Rope.getHeadDim(), Rope.getRotaryHalf(),
                              Rope.getInterleaved());
  } else {
    SmallVector<int64_t> Indices(Features);
    auto Shape = RankedTensorType::get({Count}, B.getI64Type());
    Value Index = onnx::ConstantOp::create(
        B, V.getLoc(), Shape, DenseIntElementsAttr::get(Shape, Indices));
    Out = onnx::GatherOp::create(B, V.getLoc(), Type, V, Index, rankOf(V) - 1);
  }
  R.markData(Out);
  if (Single)
    R.markData(Out = flattenHeads(B, Out, Count));
  return Out;
}
} // namespace llmc::raise
