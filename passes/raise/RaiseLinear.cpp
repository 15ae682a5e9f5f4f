// Products of token rows with a matrix of the file become llm.linear, with the
// bias that follows. A choice of the features of a product (fused q/k/v,
// gate/up, in whatever order) becomes a product by those rows of the weight, so
// that later passes see the same form whether an exporter fused or not; which
// features they are is found by evaluating the choice on numbered features.
#include "passes/raise/Cone.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"
#include "passes/raise/Roles.h"
#include "passes/raise/Weights.h"

namespace llmc::raise {
#define GEN_PASS_DEF_RAISELINEAR
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

llm::LinearOp makeLinear(OpBuilder &B, Location Loc, Type Result, Value X,
                         FlatSymbolRefAttr Weight, FlatSymbolRefAttr Bias) {
  return llm::LinearOp::create(B, Loc, Result, X, Value(), Weight.getValue(),
                               Bias, llm::NormKind::none, nullptr, nullptr,
                               llvm::APFloat(0.0f));
}

struct RaiseLinear : impl::RaiseLinearBase<RaiseLinear> {
  void runOnOperation() override {
    func::FuncOp Main = graphOf(getOperation());
    if (!Main)
      return;
    Block &Body = Main.getBody().front();
    WeightMaker Weights(getOperation());
    for (Operation &Op : llvm::make_early_inc_range(Body)) {
      if (auto MatMul = dyn_cast<onnx::MatMulOp>(Op))
        raise(MatMul, Weights);
      else if (auto Gemm = dyn_cast<onnx::GemmOp>(Op))
        raise(Gemm, Weights);
    }
    eraseDead(Body);
    for (Operation &Op : llvm::make_early_inc_range(Body))
      if (auto Concat = dyn_cast<onnx::ConcatOp>(Op))
        join(Concat, Weights);
    eraseDead(Body);
    Roles R(Main);
    Probe P(Main, R, nullptr, Sample{0, 2, {}, 0});
    for (Operation &Op : llvm::make_early_inc_range(Body))
      if (isa<onnx::SplitOp, onnx::SliceOp, onnx::GatherOp>(Op))
        for (Value Result : Op.getResults())
          cut(Result, P, R, Weights);
    eraseDead(Body);
  }

  void raise(onnx::MatMulOp MatMul, WeightMaker &Weights) {
    std::optional<WeightView> W = Weights.view(MatMul.getB());
    if (!W || Weights.isWeight(MatMul.getA()))
      return;
    auto Type = cast<RankedTensorType>(MatMul.getB().getType());
    if (W->Shape.size() != 2 ||
        Type.getShape().take_back(2) != ArrayRef<int64_t>(W->Shape))
      return missed("raise-linear", MatMul, "the weight is not a matrix");
    create(MatMul, MatMul.getA(), *W, /*InOut=*/true, {}, Weights);
  }

  void raise(onnx::GemmOp Gemm, WeightMaker &Weights) {
    std::optional<WeightView> W = Weights.view(Gemm.getB());
    if (!W || W->Shape.size() != 2 || Weights.isWeight(Gemm.getA()))
      return;
    bool HasC = !onnx::isNone(Gemm.getC());
    if (Gemm.getTransA() || !Gemm.getAlpha().isExactlyValue(1.0) ||
        (HasC && !Gemm.getBeta().isExactlyValue(1.0)))
      return missed("raise-linear", Gemm,
                    "transA, alpha or beta is not the default");
    std::optional<WeightView> C;
    if (HasC && !(C = vectorOf(Gemm.getC(), featuresOf(Gemm), Weights)))
      return missed("raise-linear", Gemm, "C is no vector of the file");
    create(Gemm, Gemm.getA(), *W, !Gemm.getTransB(), C, Weights);
  }

  std::optional<WeightView> vectorOf(Value V, int64_t N, WeightMaker &Weights) {
    std::optional<WeightView> View = Weights.view(V);
    if (!View || View->Shape.size() > 1 || featuresOf(V) != N ||
        (View->Shape.empty() ? 1 : View->Shape[0]) != N)
      return std::nullopt;
    return View;
  }

  void create(Operation *Op, Value X, const WeightView &W, bool InOut,
              std::optional<WeightView> Bias, WeightMaker &Weights) {
    int64_t K = W.Shape[InOut ? 0 : 1], N = W.Shape[InOut ? 1 : 0];
    Value Result = Op->getResult(0);
    if (!isa<RankedTensorType>(Result.getType()) || featuresOf(Result) != N ||
        featuresOf(X) != K || !getElementTypeOrSelf(X).isF32())
      return missed("raise-linear", Op,
                    "expected f32 rows of " + Twine(K) + " features, found " +
                        Twine(featuresOf(X)));
    // [batch, heads, tokens, k]: a matrix that turns heads, no layer.
    if (auto T = cast<RankedTensorType>(X.getType());
        T.getRank() == 4 && !T.isDynamicDim(1) && T.getDimSize(1) > 1 &&
        T.isDynamicDim(2))
      return missed("raise-linear", Op,
                    "its rows are heads in front of tokens");
    Operation *Last = Op;
    if (auto Add = dyn_cast_or_null<onnx::AddOp>(onlyUser(Result));
        Add && !Bias)
      if (Value V = other(Add, [&](Value V) { return skip(V) == Result; }))
        if ((Bias = vectorOf(V, N, Weights)))
          Last = Add;
    OpBuilder B(Last);
    // A Gemm works on [batch * seq, features]; the product does not care.
    Type Wanted = Last->getResult(0).getType(), Made = Wanted;
    if (auto Flat = producer<onnx::ReshapeOp>(X);
        Flat && rankOf(X) == 2 && rankOf(Flat.getData()) == 3 &&
        featuresOf(Flat.getData()) == K) {
      X = Flat.getData();
      Made = withFeatures(cast<RankedTensorType>(X.getType()), N);
    }
    auto Linear =
        makeLinear(B, Op->getLoc(), Made, X, Weights.matrix(W, InOut),
                   Bias ? Weights.vector(*Bias) : FlatSymbolRefAttr());
    Value Out = Linear;
    if (Made != Wanted)
      Out = flattenRows(B, Out, cast<RankedTensorType>(Wanted));
    Last->getResult(0).replaceAllUsesWith(Out);
    passed("raise-linear", Linear, "llm.linear");
  }

  /// Products of one value whose results only stand side by side in a row, as
  /// heads cut into pieces do, are one product.
  void join(onnx::ConcatOp Concat, WeightMaker &Weights) {
    int64_t Axis = int64_t(Concat.getAxis());
    SmallVector<FlatSymbolRefAttr> Matrices, Biases;
    Value X;
    for (Value V : Concat.getInputs()) {
      auto Linear = V.getDefiningOp<llm::LinearOp>();
      if (!Linear || !V.hasOneUse() || (X && Linear.getX() != X))
        return;
      X = Linear.getX();
      Matrices.push_back(Linear.getWeightAttr());
      if (Linear.getBiasAttr())
        Biases.push_back(Linear.getBiasAttr());
    }
    if (Matrices.size() < 2 || (Axis != -1 && Axis != rankOf(Concat) - 1) ||
        (!Biases.empty() && Biases.size() != Matrices.size()))
      return;
    OpBuilder B(Concat);
    auto Linear = makeLinear(
        B, Concat.getLoc(), Concat.getType(), X, Weights.joined(Matrices),
        Biases.empty() ? FlatSymbolRefAttr() : Weights.joined(Biases));
    Concat.getResult().replaceAllUsesWith(Linear.getResult());
    passed("raise-linear", Linear,
           "llm.linear of " + Twine(Matrices.size()) +
               " that stand side by side");
  }

  /// The plain product of which V is a choice of features, seen through moves
  /// only; null if there is none.
  llm::LinearOp chosenFrom(Value V) {
    for (int Steps = 0; Steps < 16; ++Steps) {
      Operation *Op = V.getDefiningOp();
      if (!Op)
        return {};
      if (auto Linear = dyn_cast<llm::LinearOp>(Op))
        return Linear;
      if (!isMovement(Op) || isa<onnx::ConcatOp>(Op))
        return {};
      V = Op->getOperand(0);
    }
    return {};
  }

  /// Whether V meets another part of Whole again (one that is no part of V), in
  /// a sum or side by side in a row: then it is a rotation at work, not a fused
  /// product to take apart.
  bool isRecombined(Value V, llm::LinearOp Whole, const Roles &R) {
    llvm::SetVector<Value> Work;
    Work.insert(V);
    for (size_t I = 0; I < Work.size() && I < 64; ++I)
      for (Operation *User : Work[I].getUsers()) {
        SmallVector<Value> Others;
        for (Value Operand : User->getOperands())
          if (R.isData(Operand) && Operand != Work[I])
            Others.push_back(Operand);
        bool Side = false;
        if (auto Concat = dyn_cast<onnx::ConcatOp>(User)) {
          int64_t Axis = int64_t(Concat.getAxis());
          Side = Axis == -1 || Axis == rankOf(Concat) - 1;
        }
        bool Joins = Side || isa<onnx::AddOp, onnx::SubOp>(User);
        bool Alone = true; // whatever else User takes is part of V, too
        for (Value Other : Others) {
          Cone C = coneOf(Other, R, Mixing::All, V);
          if (Joins && C.Leaves.contains(Whole))
            return true;
          Alone &= C.Leaves.size() == 1 && C.Leaves.front() == V;
        }
        if (Alone && (Joins || isMovement(User) ||
                      isa<onnx::NegOp, onnx::MulOp, onnx::DivOp>(User)))
          Work.insert(User->result_begin(), User->result_end());
      }
    return false;
  }

  /// The features of Whole that make a row of V, in order; why not, or empty.
  /// V is [batch, seq, …] or, with HeadsFirst, [batch, heads, seq, dim].
  std::string featuresIn(Value V, bool HeadsFirst, llm::LinearOp Whole,
                         Probe &P, SmallVector<int64_t> &Out) {
    int64_t N = featuresOf(Whole), Seq = P.sample().Seq;
    std::vector<double> Ids;
    for (int64_t I = 0; I < Seq * N; ++I)
      Ids.push_back(double(I));
    P.bind(Whole, eval::Tensor::ofFloats(DType::F64, {1, Seq, N}, Ids));
    Result<const eval::Tensor *> Got = P.evaluate(V);
    if (!Got)
      return Got.status().message();
    const eval::Tensor &T = **Got;
    if (T.rank() < 3 || T.Shape[0] != 1 || T.Shape[HeadsFirst ? 2 : 1] != Seq ||
        T.count() == 0)
      return "rows are not kept apart";
    int64_t Count = T.count() / Seq, Dim = HeadsFirst ? T.Shape[3] : Count;
    for (int64_t S = 0; S < Seq; ++S)
      for (int64_t F = 0; F < Count; ++F) {
        int64_t At = ((F / Dim) * Seq + S) * Dim + F % Dim;
        int64_t Id = int64_t(eval::floatAt(T, At));
        if (S == 0)
          Out.push_back(Id);
        if (Id != Out[size_t(F)] + S * N || Out[size_t(F)] >= N)
          return "rows are mixed";
      }
    return {};
  }

  /// A part of a fused product becomes a product by those rows of the weight.
  void cut(Value Result, Probe &P, Roles &R, WeightMaker &Weights) {
    llm::LinearOp Whole = chosenFrom(Result);
    auto Type = dyn_cast<RankedTensorType>(Result.getType());
    if (!Whole || rankOf(Whole) != 3 || Result.use_empty() || !Type ||
        Type.getRank() < 3)
      return;
    ArrayRef<int64_t> Shape = Type.getShape();
    bool HeadsFirst = Shape.size() == 4 && ShapedType::isDynamic(Shape[2]);
    if (ShapedType::isDynamic(Shape[HeadsFirst ? 1 : 2]) ||
        llvm::any_of(Shape.drop_front(3), ShapedType::isDynamic) ||
        isRecombined(Result, Whole, R))
      return;
    SmallVector<int64_t> Features;
    std::string Why = featuresIn(Result, HeadsFirst, Whole, P, Features);
    if (!Why.empty())
      return missed("raise-linear", Result.getDefiningOp(), Why);
    // KV heads that are repeated for their queries are no parts.
    llvm::DenseSet<int64_t> Once(Features.begin(), Features.end());
    if (Once.size() != Features.size())
      return;
    OpBuilder B(Result.getDefiningOp());
    FlatSymbolRefAttr Bias = Whole.getBiasAttr();
    Value Part =
        makeLinear(B, Whole.getLoc(),
                   withFeatures(cast<RankedTensorType>(Whole.getType()),
                                int64_t(Features.size())),
                   Whole.getX(), Weights.rows(Whole.getWeightAttr(), Features),
                   Bias ? Weights.rows(Bias, Features) : Bias);
    R.markData(Part);
    passed("raise-linear", Part.getDefiningOp(), "rows of a fused llm.linear");
    if (HeadsFirst)
      Part = splitHeads(B, Part, Shape[1], Shape[3], true, Type);
    else if (Type.getRank() != 3)
      Part = reshapeRows(B, Part, Type);
    R.markData(Part);
    if (Value Inner = Part.getDefiningOp()->getOperand(0); HeadsFirst)
      R.markData(Inner);
    Result.replaceAllUsesWith(Part);
  }
};
} // namespace
} // namespace llmc::raise
