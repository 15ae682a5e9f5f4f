// A loop over experts that gathers the tokens of each (NonZero, Gather, the
// expert, a weight, Scatter) becomes the sum over all tokens with a weight that
// is 0 where the expert was not chosen. No row is gathered any more, so that
// everything is made of token rows; RaiseMoe then joins the experts.
//
// From the structure come the gathers and the scatter of one NonZero. That the
// gathered rows are the chosen tokens' and that the scatter adds each to its
// token is proved on a sample: the expert's result is bound to known rows.
#include "passes/raise/ExpertLoops.h"

#include "passes/raise/Cone.h"
#include "passes/raise/Experts.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {
namespace {

constexpr int64_t Tokens = 7;

Value integersOf(OpBuilder &B, Location Loc, ArrayRef<int64_t> Values) {
  auto Type = RankedTensorType::get({int64_t(Values.size())}, B.getI64Type());
  return onnx::ConstantOp::create(B, Loc, Type,
                                  DenseIntElementsAttr::get(Type, Values));
}

/// One expert between its NonZero and its Scatter.
class Loop {
public:
  Loop(onnx::NonZeroOp TheNz, func::FuncOp TheMain, Roles &TheRoles,
       const eval::WeightReader &TheReader)
      : Nz(TheNz), Main(TheMain), R(TheRoles), Reader(TheReader), Rows(R),
        B(TheNz) {}

  /// Why not, or empty when the loop is gone.
  std::string run();

private:
  std::string find();
  Value dense(Value V);
  Value denseGather(Value Source);
  Value maskRows();
  Value add(Value V) {
    R.markData(V);
    return V;
  }
  std::string prove(Value Sum);
  std::string bindResult(Probe &P, std::vector<double> &All, int64_t Width);

  onnx::NonZeroOp Nz;
  func::FuncOp Main;
  Roles &R;
  const eval::WeightReader &Reader;
  TokenRows Rows;
  OpBuilder B;

  llvm::SetVector<Value> Inside; ///< depends on the NonZero, before the scatter
  Operation *Scatter = nullptr;
  Value X;               ///< rows that are gathered, [b, s, h]
  Value Gathered;        ///< the rows of X that the expert works on
  llm::LinearOp Last;    ///< the expert's last product, on gathered rows
  llm::LinearOp LastNew; ///< the same on all rows
  bool Shared = false;   ///< a weight of the router has been applied
  std::string Why;
  llvm::DenseMap<Value, Value> Dense;
};

bool isScatter(Operation *Op) {
  return isa<onnx::ScatterElementsOp, onnx::ScatterNDOp>(Op);
}
bool isGather(Operation *Op) {
  return isa<onnx::GatherOp, onnx::GatherNDOp, onnx::GatherElementsOp>(Op);
}

/// Everything that depends on the NonZero up to the scatter.
std::string Loop::find() {
  Inside.insert(Nz.getResult());
  for (size_t I = 0; I < Inside.size(); ++I)
    for (Operation *User : Inside[I].getUsers()) {
      if (isa<onnx::ShapeOp, onnx::SizeOp>(User))
        continue;
      if (isScatter(User)) {
        if (Scatter && Scatter != User)
          return "its tokens are scattered twice";
        Scatter = User;
        continue;
      }
      if (User->hasTrait<OpTrait::IsTerminator>() || Inside.size() > 512)
        return "its tokens are not scattered";
      Inside.insert(User->result_begin(), User->result_end());
    }
  if (!Scatter || Inside.contains(Scatter->getOperand(0)))
    return "its tokens are not scattered";
  return {};
}

/// [t, k] in f32: 1 where the expert is choice k of token t.
Value Loop::maskRows() {
  Value Mask = Nz->getOperand(0);
  Value &Out = Dense[Mask];
  if (Out)
    return Out;
  Location Loc = Nz.getLoc();
  auto Type = dyn_cast<RankedTensorType>(Mask.getType());
  if (!Type || Type.getRank() > 2) {
    Why = "its mask is no matrix";
    return {};
  }
  auto Plain = [&](ArrayRef<int64_t> Shape, mlir::Type E) {
    return RankedTensorType::get(Shape, E);
  };
  mlir::Type F32 = B.getF32Type();
  Value V = Mask;
  if (!Type.getElementType().isF32())
    V = add(
        onnx::CastOp::create(B, Loc, Plain(Type.getShape(), F32), V, F32, 1));
  if (Type.getRank() == 1)
    return Out = add(onnx::UnsqueezeOp::create(
               B, Loc, Plain({Type.getDimSize(0), 1}, F32), V,
               integersOf(B, Loc, {-1})));
  // The dim of choices is a number, that of tokens is not.
  if (Type.isDynamicDim(1) && !Type.isDynamicDim(0))
    V = add(onnx::TransposeOp::create(
        B, Loc, Plain({Type.getDimSize(1), Type.getDimSize(0)}, F32), V,
        B.getDenseI64ArrayAttr({1, 0})));
  return Out = V;
}

/// What a gather of chosen rows is when all rows are taken.
Value Loop::denseGather(Value Source) {
  Value From = TokenRows::origin(Source);
  if (Rows.has(From) && rankOf(From) >= 2) {
    if (X && X != From)
      Why = "rows of two values are gathered";
    X = From;
    return X;
  }
  // Weights of the router, [t, k] behind renamed dims.
  while (Operation *Op = Source.getDefiningOp()) {
    bool Renames = isa<onnx::ReshapeOp, onnx::FlattenOp, onnx::UnsqueezeOp,
                       onnx::SqueezeOp, onnx::IdentityOp, onnx::CastOp>(Op);
    if (!Renames || (featuresOf(Source) > 1 && rankOf(Source) == 2))
      break;
    Source = Op->getOperand(0);
  }
  Value Mask = maskRows();
  if (!Mask)
    return {};
  Location Loc = Nz.getLoc();
  int64_t K = featuresOf(Source);
  if (K < 1 || featuresOf(Mask) != K || !getElementTypeOrSelf(Source).isF32()) {
    Why = "its weights are no rows of choices";
    return {};
  }
  Value Mul = add(onnx::MulOp::create(B, Loc, Source.getType(), Source, Mask));
  Shared = true;
  return add(onnx::ReduceSumOp::create(
      B, Loc, withFeatures(cast<RankedTensorType>(Source.getType()), 1), Mul,
      integersOf(B, Loc, {-1}), 1, 0));
}

/// V, a value of gathered rows, for all rows.
Value Loop::dense(Value V) {
  if (!Inside.contains(V))
    return V; // a constant
  if (auto It = Dense.find(V); It != Dense.end())
    return It->second;
  Operation *Op = V.getDefiningOp();
  Value Out;
  if (isGather(Op) && !Inside.contains(Op->getOperand(0))) {
    Out = denseGather(Op->getOperand(0));
    if (Out && Out == X && !Gathered)
      Gathered = V;
  } else if (isMovement(Op) && !isa<onnx::ConcatOp, onnx::SplitOp>(Op) &&
             !isGather(Op)) {
    Out = dense(Op->getOperand(0));
  } else if (isElementwiseOp(Op) || isa<llm::LinearOp, llm::NormOp>(Op)) {
    SmallVector<Value> Operands;
    Value Wide;
    for (Value Operand : Op->getOperands()) {
      Value New = dense(Operand);
      if (!Why.empty())
        return {};
      if (Inside.contains(Operand) &&
          (!Wide || featuresOf(New) > featuresOf(Wide)))
        Wide = New;
      Operands.push_back(New);
    }
    if (!Wide) {
      Why = "it computes with indices";
      return {};
    }
    int64_t F = isa<llm::LinearOp>(Op) ? featuresOf(V) : featuresOf(Wide);
    Operation *Copy = B.clone(*Op);
    Copy->setOperands(Operands);
    Copy->getResult(0).setType(rowsLike(Wide, F));
    Out = add(Copy->getResult(0));
    if (auto Linear = dyn_cast<llm::LinearOp>(Op)) {
      Last = Linear;
      LastNew = cast<llm::LinearOp>(Copy);
    }
  } else {
    Why = "'" + nodeName(Op) + "' is not understood";
  }
  if (Why.empty() && !Out)
    Why = "'" + nodeName(Op) + "' is not understood";
  return Dense[V] = Out;
}

/// Binds the expert's last product to rows of All by the token of each row.
std::string Loop::bindResult(Probe &P, std::vector<double> &All,
                             int64_t Width) {
  eval::Dims Shape;
  if (!P.shapeOf(X, Shape) || eval::countOf(Shape) % Tokens != 0)
    return "the rows of the tokens have no known shape";
  int64_t H = eval::countOf(Shape) / Tokens;
  std::vector<double> Known(size_t(Tokens * H));
  for (int64_t I = 0; I < Tokens * H; ++I)
    Known[size_t(I)] = double(I / H) + double(I % H) / 65536.0;
  eval::Tensor Ids = eval::Tensor::ofFloats(DType::F32, Shape, Known);
  P.bind(X, Ids);
  Result<const eval::Tensor *> Got = P.evaluate(Gathered);
  if (!Got)
    return Got.status().message();
  if ((*Got)->count() % H != 0)
    return "gathered rows have shape " + eval::describe(**Got);
  int64_t N = (*Got)->count() / H;
  std::vector<double> Mine;
  for (int64_t I = 0; I < N; ++I) {
    int64_t T = int64_t(eval::floatAt(**Got, I * H));
    for (int64_t F = 0; F < H; ++F)
      if (float(eval::floatAt(**Got, I * H + F)) !=
          float(Known[size_t(T * H + F)]))
        return "gathered rows are not rows of the tokens";
    Mine.insert(Mine.end(), All.begin() + T * Width,
                All.begin() + (T + 1) * Width);
  }
  P.bind(Last.getResult(),
         eval::Tensor::ofFloats(DType::F32, {N, Width}, Mine));
  if (!P.shapeOf(LastNew.getResult(), Shape))
    Shape = {Tokens, Width};
  P.bind(LastNew.getResult(), eval::Tensor::ofFloats(DType::F32, Shape, All));
  return {};
}

/// Scatter(data, …) must be data + Sum for random results of the expert.
std::string Loop::prove(Value Sum) {
  if (!X || !Gathered || !Last)
    return "no product of gathered rows is on the way";
  int64_t Width = featuresOf(Last);
  for (double Scale : {1.0, 3.0}) {
    Probe P(Main, R, Reader, Sample{0, Tokens, {}, 0});
    bindRows(Nz.getResult(), P, R, Rows, Scale);
    bindRows(Scatter->getOperand(2), P, R, Rows, Scale);
    std::vector<double> All =
        eval::load<double>(randomTensor({Tokens, Width}, Scale > 1 ? 5 : 4));
    if (std::string Reason = bindResult(P, All, Width); !Reason.empty())
      return Reason;
    Value Data = Scatter->getOperand(0);
    eval::Dims Shape;
    if (R.isData(Data)) {
      if (!P.shapeOf(Data, Shape))
        Shape = {Tokens, Width};
      P.bind(Data, randomTensor(Shape, 77));
    }
    Result<const eval::Tensor *> Before = P.evaluate(Data),
                                 Got = P.evaluate(Scatter->getResult(0)),
                                 New = P.evaluate(Sum);
    for (auto *V : {&Before, &Got, &New})
      if (!*V)
        return V->status().message();
    if ((*Got)->count() != (*New)->count() ||
        (*Got)->count() != (*Before)->count())
      return "all tokens give shape " + eval::describe(**New) + ", expected " +
             eval::describe(**Got);
    for (int64_t I = 0; I < (*Got)->count(); ++I) {
      double Want = eval::floatAt(**Before, I) + eval::floatAt(**New, I);
      if (!(std::abs(eval::floatAt(**Got, I) - Want) <= 1e-4))
        return "on a sample it gives " +
               std::to_string(eval::floatAt(**Got, I)) +
               " where the sum over all tokens gives " + std::to_string(Want);
    }
  }
  return {};
}

std::string Loop::run() {
  if (std::string Reason = find(); !Reason.empty())
    return Reason;
  B.setInsertionPoint(Scatter);
  Value Sum = dense(Scatter->getOperand(2));
  if (!Why.empty())
    return Why;
  Location Loc = Scatter->getLoc();
  if (!Shared) {
    // Chosen with weight 1: rows of other tokens must not count.
    Value Mask = maskRows();
    if (!Mask)
      return Why;
    Value Once = add(onnx::ReduceSumOp::create(
        B, Loc, withFeatures(cast<RankedTensorType>(Mask.getType()), 1), Mask,
        integersOf(B, Loc, {-1}), 1, 0));
    Sum = add(onnx::MulOp::create(B, Loc, Sum.getType(), Sum, Once));
  }
  if (std::string Reason = prove(Sum); !Reason.empty())
    return Reason;
  auto Type = cast<RankedTensorType>(Scatter->getResult(0).getType());
  if (Type.getRank() == 2 && rankOf(Sum) == 3)
    Sum = add(
        flattenRows(B, Sum, rowsLike(Scatter->getResult(0), featuresOf(Sum))));
  if (R.isData(Scatter->getOperand(0)))
    Sum = add(onnx::AddOp::create(B, Loc, Type, Scatter->getOperand(0), Sum));
  Scatter->getResult(0).replaceAllUsesWith(Sum);
  passed("raise-moe", Nz, "rows of one expert, for all tokens");
  return {};
}
} // namespace

void removeExpertLoops(func::FuncOp Main, Roles &R,
                       const eval::WeightReader &Reader) {
  for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front()))
    if (auto Nz = dyn_cast<onnx::NonZeroOp>(Op); Nz && R.isData(Nz.getResult()))
      if (std::string Why = Loop(Nz, Main, R, Reader).run(); !Why.empty())
        missed("raise-moe", Nz, Why);
}
} // namespace llmc::raise
