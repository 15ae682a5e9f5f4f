// Heads that are made of several parts, or of rows that were cached before they
// became heads (multi-head latent attention), are brought to the one form that
// the recogniser of attention knows: heads of new tokens behind heads of past
// ones.
//
//  0. Softmaxes and products in another order of ops (AttentionForms.h), and
//     products of heads with matrices of their own (HeadProducts.h): absorbed
//     up-projections, which leave an attention over latent rows.
//  1. A product or norm of cached rows is a product or norm of each row: the
//     cache may as well hold its result.
//  2. Scores that are a sum of two products are one product of longer heads.
//  3. Keys or values that are put together from several caches get a cache of
//     their own, and the same moves of the new rows alone. This is proved by
//     evaluation.
//
// What the file keeps is how its caller stores a sequence; ours keeps the heads
// (docs/design/0005-attention.md).
#include "passes/raise/AttentionForms.h"
#include "passes/raise/Block.h"
#include "passes/raise/Cone.h"
#include "passes/raise/HeadProducts.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"
#include "passes/raise/ReadingPass.h"

#include "mlir/IR/IRMapping.h"

#include <cmath>

namespace llmc::raise {
#define GEN_PASS_DEF_RAISELATENT
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

RankedTensorType ranked(Value V) {
  return dyn_cast<RankedTensorType>(V.getType());
}

/// The expression of a dim, or empty.
StringRef dimText(RankedTensorType T, int64_t Axis) {
  auto Dims = dyn_cast_or_null<onnx::DimsAttr>(T.getEncoding());
  StringRef Text = Dims ? Dims.getExprs()[Axis].getValue() : StringRef();
  return Text == "?" ? StringRef() : Text;
}

/// T with Size, called Text, in place of a dim.
RankedTensorType withDim(RankedTensorType T, int64_t Axis, int64_t Size,
                         StringRef Text) {
  SmallVector<int64_t> Shape(T.getShape());
  Shape[Axis] = Size;
  MLIRContext *C = T.getContext();
  SmallVector<StringAttr> Exprs;
  for (int64_t D = 0; D < T.getRank(); ++D) {
    StringRef Have = D == Axis ? Text : dimText(T, D);
    Exprs.push_back(StringAttr::get(C, ShapedType::isDynamic(Shape[D])
                                           ? (Have.empty() ? "?" : Have.str())
                                           : std::to_string(Shape[D])));
  }
  return RankedTensorType::get(Shape, T.getElementType(),
                               onnx::DimsAttr::get(C, Exprs));
}

RankedTensorType withDimOf(RankedTensorType T, int64_t Axis, Value From,
                           int64_t FromAxis) {
  RankedTensorType Source = ranked(From);
  return withDim(T, Axis, Source.getDimSize(FromAxis),
                 dimText(Source, FromAxis));
}

class Maker {
public:
  Maker(func::FuncOp TheMain, eval::WeightReader TheReader)
      : Main(TheMain), Reader(std::move(TheReader)) {}

  void sinkCaches();
  void joinScores();
  void joinParts();

private:
  /// A Concat of a cache input and new rows.
  struct Growth {
    BlockArgument Past;
    Value New;
    int64_t Axis = 0;
  };
  std::optional<Growth> growthOf(Value V, const Roles &R) const;
  Value grow(OpBuilder &B, Value New, RankedTensorType Whole, int64_t Axis,
             const Growth &Like);
  Value ofNewRows(Value V, const Cone &C, const Roles &R,
                  SmallVectorImpl<Growth> &Parts, int64_t &Axis);
  Operation *cloneMove(OpBuilder &B, Operation *Op, const IRMapping &Map,
                       StringRef Whole, const Growth &First);
  bool provesSame(Value V, Value New, ArrayRef<Growth> Parts, int64_t Axis,
                  const Roles &R);
  void joinOperand(Value V, const Roles &R);

  func::FuncOp Main;
  eval::WeightReader Reader;
};

std::optional<Maker::Growth> Maker::growthOf(Value V, const Roles &R) const {
  auto Concat = producer<onnx::ConcatOp>(V);
  if (!Concat || Concat.getInputs().size() != 2 || !ranked(Concat))
    return std::nullopt;
  auto Past = dyn_cast<BlockArgument>(skip(Concat.getInputs()[0]));
  Value New = Concat.getInputs()[1];
  if (!Past || R.of(Past) != Role::Past || !ranked(New) || !ranked(Past))
    return std::nullopt;
  int64_t Axis = Concat.getAxis();
  return Growth{Past, New, Axis < 0 ? Axis + rankOf(New) : Axis};
}

/// New rows behind those of a cache input of its own, which an output
/// continues; `Whole` is the type of both together, `Like` the cache that it
/// stands beside.
Value Maker::grow(OpBuilder &B, Value New, RankedTensorType Whole, int64_t Axis,
                  const Growth &Like) {
  MLIRContext *C = Main.getContext();
  int64_t Number = 0;
  for (unsigned I = 0; I < Main.getNumArguments(); ++I)
    if (auto A = Main.getArgAttrOfType<IntegerAttr>(I, CacheAttr))
      Number = std::max(Number, A.getInt() + 1);
  std::string Name =
      argName(Like.Past).str() + ".heads" + std::to_string(Number);
  auto Attrs = DictionaryAttr::get(
      C, {NamedAttribute(StringAttr::get(C, CacheAttr),
                         IntegerAttr::get(IntegerType::get(C, 64), Number)),
          NamedAttribute(StringAttr::get(C, onnx::NameAttr),
                         StringAttr::get(C, Name))});
  RankedTensorType Past = withDimOf(Whole, Axis, Like.Past, Like.Axis);
  unsigned At = Main.getNumArguments();
  if (failed(Main.insertArgument(At, Past, Attrs, Main.getLoc())))
    return {};
  Value Out = onnx::ConcatOp::create(
      B, New.getLoc(), Whole, ValueRange{Main.getArgument(At), New}, Axis);
  Operation *Return = Main.getBody().front().getTerminator();
  if (failed(Main.insertResult(Main.getNumResults(), Whole, Attrs)))
    return {};
  Return->insertOperands(Return->getNumOperands(), Out);
  return Out;
}

void Maker::sinkCaches() {
  Roles R(Main);
  for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front())) {
    if (!isa<llm::LinearOp, llm::NormOp>(Op) || Op.getNumOperands() != 1)
      continue;
    std::optional<Growth> G = growthOf(Op.getOperand(0), R);
    RankedTensorType Type = ranked(Op.getResult(0));
    if (!G || !Type || G->Axis >= Type.getRank() - 1 ||
        rankOf(G->New) != Type.getRank())
      continue;
    OpBuilder B(&Op);
    IRMapping Map;
    Map.map(Op.getOperand(0), G->New);
    Operation *New = B.clone(Op, Map);
    New->getResult(0).setType(withDimOf(Type, G->Axis, G->New, G->Axis));
    Value Out = grow(B, New->getResult(0), Type, G->Axis, *G);
    if (!Out)
      return;
    Op.getResult(0).replaceAllUsesWith(Out);
    Op.erase();
    passed("raise-latent", New, "a cache of its results");
    R = Roles(Main);
  }
}

/// V with the leading dims of Like where its own are 1; null if that is not
/// known.
Value broadcast(OpBuilder &B, Value V, Value Like) {
  RankedTensorType T = ranked(V), L = ranked(Like);
  SmallVector<int64_t> Shape(size_t(T.getRank()), 1);
  bool Changes = false;
  for (int64_t D = 0; D + 2 < T.getRank(); ++D) {
    int64_t Mine = T.getDimSize(D), Other = L.getDimSize(D);
    if (Mine == Other || Other == 1)
      continue;
    if (Mine != 1 || ShapedType::isDynamic(Other))
      return {};
    Shape[size_t(D)] = Other;
    T = withDim(T, D, Other, "");
    Changes = true;
  }
  if (!Changes)
    return V;
  auto Type = RankedTensorType::get({T.getRank()}, B.getI64Type());
  Value Sizes = onnx::ConstantOp::create(
      B, V.getLoc(), Type, DenseIntElementsAttr::get(Type, Shape));
  return onnx::ExpandOp::create(B, V.getLoc(), T, V, Sizes);
}

/// X and Y side by side on an axis, each with the leading dims of the other.
Value sideBySide(OpBuilder &B, Value X, Value Y, int64_t Axis) {
  Value First = broadcast(B, X, Y), Second = broadcast(B, Y, X);
  if (!First || !Second)
    return {};
  int64_t N = ranked(First).getDimSize(Axis),
          M = ranked(Second).getDimSize(Axis);
  if (ShapedType::isDynamic(N) || ShapedType::isDynamic(M))
    return {};
  return onnx::ConcatOp::create(B, X.getLoc(),
                                withDim(ranked(First), Axis, N + M, ""),
                                ValueRange{First, Second}, Axis);
}

void Maker::joinScores() {
  Roles R(Main);
  auto Product = [&](Value V) {
    auto Op = producer<onnx::MatMulOp>(V);
    return Op && R.isData(Op.getA()) && R.isData(Op.getB()) ? Op
                                                            : onnx::MatMulOp();
  };
  for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front())) {
    auto Add = dyn_cast<onnx::AddOp>(Op);
    onnx::MatMulOp X = Add ? Product(Add.getLhs()) : onnx::MatMulOp(),
                   Y = Add ? Product(Add.getRhs()) : onnx::MatMulOp();
    if (!X || !Y || X == Y)
      continue;
    int64_t Rank = rankOf(X.getA());
    if (Rank < 3 || rankOf(Y.getA()) != Rank || rankOf(X.getB()) != Rank ||
        rankOf(Y.getB()) != Rank)
      continue;
    OpBuilder B(Add);
    Value Q = sideBySide(B, X.getA(), Y.getA(), Rank - 1);
    // As rows of heads, which is what others look for.
    Value K = Q ? sideBySide(B, swapLast(B, X.getB()), swapLast(B, Y.getB()),
                             Rank - 1)
                : Value();
    if (!K)
      continue;
    auto Both = onnx::MatMulOp::create(
        B, Add.getLoc(), Add.getResult().getType(), Q, swapLast(B, K));
    Add.getResult().replaceAllUsesWith(Both);
    passed("raise-latent", Both, "one product of longer heads");
  }
}

/// Op on new rows only. Shapes that the graph computes become numbers; null
/// where that is not possible.
Operation *Maker::cloneMove(OpBuilder &B, Operation *Op, const IRMapping &Map,
                            StringRef Whole, const Growth &First) {
  IRMapping Inner(Map);
  RankedTensorType Type = ranked(Op->getResult(0));
  if (!Type || Op->getNumRegions() > 0)
    return nullptr;
  auto Shrunk = [&](Value V) {
    RankedTensorType T = ranked(V);
    for (int64_t D = 0; T && D < T.getRank(); ++D)
      if (dimText(T, D) == Whole)
        T = withDimOf(T, D, First.New, First.Axis);
    return T;
  };
  RankedTensorType New = Shrunk(Op->getResult(0));
  if (isa<onnx::ReshapeOp, onnx::ExpandOp>(Op) && !isFixed(Op->getOperand(1))) {
    RankedTensorType From = ranked(Op->getOperand(0));
    SmallVector<int64_t> Sizes;
    int64_t Free = 0;
    for (int64_t D = 0; D < New.getRank(); ++D) {
      bool Dynamic = New.isDynamicDim(D);
      bool Same = D < From.getRank() && !dimText(From, D).empty() &&
                  dimText(From, D) == dimText(Type, D);
      if (!Dynamic || isa<onnx::ExpandOp>(Op))
        Sizes.push_back(Dynamic ? 1 : New.getDimSize(D));
      else
        Sizes.push_back(Same ? 0 : -1);
      Free += Sizes.back() == -1;
    }
    if (Free > 1)
      return nullptr;
    auto Shape = RankedTensorType::get({New.getRank()}, B.getI64Type());
    Inner.map(Op->getOperand(1), onnx::ConstantOp::create(
                                     B, Op->getLoc(), Shape,
                                     DenseIntElementsAttr::get(Shape, Sizes)));
  }
  Operation *Copy = B.clone(*Op, Inner);
  for (auto [Old, Result] : llvm::zip(Op->getResults(), Copy->getResults()))
    if (RankedTensorType T = Shrunk(Old))
      Result.setType(T);
  return Copy;
}

/// What V, the top of cone C, is for the new rows alone; Axis is that of the
/// rows. Null when a part is no cache with new rows behind it.
Value Maker::ofNewRows(Value V, const Cone &C, const Roles &R,
                       SmallVectorImpl<Growth> &Parts, int64_t &Axis) {
  OpBuilder B(V.getContext());
  B.setInsertionPointAfter(V.getDefiningOp());
  SmallVector<Operation *> Order(C.Ops.begin(), C.Ops.end());
  llvm::sort(Order,
             [](Operation *X, Operation *Y) { return X->isBeforeInBlock(Y); });
  IRMapping Map;
  std::string Whole;
  for (Operation *Op : Order) {
    std::optional<Growth> G = growthOf(Op->getResult(0), R);
    if (G && isa<onnx::ConcatOp>(Op)) {
      StringRef Text = dimText(ranked(Op->getResult(0)), G->Axis);
      if (Text.empty() || (!Whole.empty() && Whole != Text))
        return {};
      Whole = Text.str();
      Map.map(Op->getResult(0), G->New);
      Parts.push_back(*G);
      continue;
    }
    // Made of new rows only: as it is.
    if (llvm::none_of(Op->getOperands(),
                      [&](Value W) { return Map.contains(W); }))
      continue;
    if (Whole.empty())
      return {};
    Operation *Copy = cloneMove(B, Op, Map, Whole, Parts.front());
    if (!Copy)
      return {};
    for (auto [Old, New] : llvm::zip(Op->getResults(), Copy->getResults()))
      Map.map(Old, New);
  }
  Axis = -1;
  for (int64_t D = 0; ranked(V) && D < rankOf(V); ++D)
    if (dimText(ranked(V), D) == Whole)
      Axis = Axis == -1 ? D : -2;
  return Axis >= 0 ? Map.lookupOrNull(V) : Value();
}

/// Rows [First, First + Count) of T on an axis.
std::vector<double> rowsOf(const eval::Tensor &T, int64_t Axis, int64_t First,
                           int64_t Count) {
  int64_t Inner = 1;
  for (int64_t D = Axis + 1; D < T.rank(); ++D)
    Inner *= T.Shape[size_t(D)];
  int64_t Size = T.Shape[size_t(Axis)];
  std::vector<double> Out;
  for (int64_t I = 0; I < T.count(); ++I)
    if (int64_t Row = I / Inner % Size; Row >= First && Row < First + Count)
      Out.push_back(eval::floatAt(T, I));
  return Out;
}

/// Whether V on random caches and new rows is New of the former, then New of
/// the latter.
bool Maker::provesSame(Value V, Value New, ArrayRef<Growth> Parts, int64_t Axis,
                       const Roles &R) {
  constexpr int64_t Past = 2, Seq = 3;
  Probe Both(Main, R, Reader, Sample{Past, Seq, {}, 0});
  Probe Old(Main, R, Reader, Sample{0, Past, {}, 0});
  Probe Fresh(Main, R, Reader, Sample{0, Seq, {}, 0});
  uint64_t Seed = 5;
  for (const Growth &G : Parts) {
    eval::Dims Cached, Added, First;
    if (!Both.shapeOf(G.Past, Cached) || !Both.shapeOf(G.New, Added) ||
        !Old.shapeOf(G.New, First) ||
        eval::countOf(First) != eval::countOf(Cached))
      return false;
    eval::Tensor P = randomTensor(Cached, Seed++),
                 N = randomTensor(Added, Seed++);
    Both.bind(G.Past, P);
    Both.bind(G.New, N);
    Fresh.bind(G.New, N);
    P.Shape = First;
    Old.bind(G.New, std::move(P));
  }
  Result<const eval::Tensor *> Whole = Both.evaluate(V),
                               Head = Old.evaluate(New),
                               Tail = Fresh.evaluate(New);
  if (!Whole || !Head || !Tail || (*Whole)->rank() <= Axis ||
      (*Whole)->Shape[size_t(Axis)] != Past + Seq)
    return false;
  auto All = [&](const eval::Tensor &T) {
    return rowsOf(T, Axis, 0, Past + Seq);
  };
  return rowsOf(**Whole, Axis, 0, Past) == All(**Head) &&
         rowsOf(**Whole, Axis, Past, Seq) == All(**Tail);
}

/// V, or what it is made of by moves of whole tensors and constant factors
/// only.
Value partsOf(Value V) {
  Value At = V;
  while (Operation *Op = At.getDefiningOp()) {
    auto Concat = dyn_cast<onnx::ConcatOp>(Op);
    if (Concat && Concat.getInputs().size() > 1)
      return At;
    Value Next = Op->getNumResults() == 1 ? beforeMove(At) : Value();
    if (!Next)
      break;
    At = Next;
  }
  return V;
}

void Maker::joinOperand(Value Operand, const Roles &R) {
  Value V = partsOf(Operand);
  Cone C = coneOf(V, R, Mixing::None);
  int64_t Caches = llvm::count_if(C.Leaves, [&](Value Leaf) {
    auto Arg = dyn_cast<BlockArgument>(Leaf);
    return Arg && R.of(Arg) == Role::Past;
  });
  if (Caches < 2 || C.Ops.size() > 64 || !ranked(V))
    return;
  SmallVector<Growth> Parts;
  int64_t Axis = -1;
  Value New = ofNewRows(V, C, R, Parts, Axis);
  if (!New || !provesSame(V, New, Parts, Axis, R))
    return missed("raise-latent", V.getDefiningOp(),
                  "its caches are not rows behind which new ones come");
  OpBuilder B(V.getContext());
  B.setInsertionPointAfter(New.getDefiningOp());
  Value Out = grow(B, New, ranked(V), Axis, Parts.front());
  if (!Out)
    return;
  V.replaceAllUsesWith(Out);
  passed("raise-latent", Out.getDefiningOp(), "heads of several caches");
}

void Maker::joinParts() {
  for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front())) {
    auto Softmax = dyn_cast<onnx::SoftmaxOp>(Op);
    if (!Softmax)
      continue;
    AttentionBlock Block = blockOf(Softmax, Roles(Main));
    if (!Block.Failure.empty())
      continue;
    joinOperand(Block.Scores.getB(), Roles(Main));
    joinOperand(Block.Mix.getB(), Roles(Main));
  }
}

struct RaiseLatent : ReadingPass<impl::RaiseLatentBase<RaiseLatent>> {
  using ReadingPass::ReadingPass;

  void runOnGraph(func::FuncOp Main) override {
    Maker M(Main, Reader);
    unifyAttention(Main);
    raiseHeadProducts(Main, Reader);
    M.sinkCaches();
    M.joinScores();
    M.joinParts();
    eraseDead(Main.getBody().front());
  }
};
} // namespace

std::unique_ptr<Pass> createRaiseLatent(eval::WeightReader Reader) {
  return withReader<RaiseLatent>(std::move(Reader));
}
} // namespace llmc::raise
