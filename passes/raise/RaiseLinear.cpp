// Products of token rows with a matrix of the file become llm.linear, with the
// bias that follows. A cut of the features of a product (fused q/k/v, gate/up)
// becomes a product by a row range of the weight, so that later passes see the
// same form whether an exporter fused or not.
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
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
    for (Operation &Op : llvm::make_early_inc_range(Body)) {
      if (auto Split = dyn_cast<onnx::SplitOp>(Op))
        cut(Split, Weights);
      else if (auto Slice = dyn_cast<onnx::SliceOp>(Op))
        cut(Slice, Weights);
    }
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
    Operation *Last = Op;
    if (auto Add = dyn_cast_or_null<onnx::AddOp>(onlyUser(Result));
        Add && !Bias)
      if (Value V = other(Add, [&](Value V) { return skip(V) == Result; }))
        if ((Bias = vectorOf(V, N, Weights)))
          Last = Add;
    OpBuilder B(Last);
    auto Linear =
        makeLinear(B, Op->getLoc(), Last->getResult(0).getType(), X,
                   Weights.matrix(W, InOut),
                   Bias ? Weights.vector(*Bias) : FlatSymbolRefAttr());
    Last->getResult(0).replaceAllUsesWith(Linear);
    passed("raise-linear", Linear, "llm.linear");
  }

  /// The plain product whose last axis Axis of V is; null if it is not.
  llm::LinearOp cuttable(Value V, int64_t Axis) {
    auto Linear = producer<llm::LinearOp>(V);
    int64_t Rank = rankOf(V);
    if (!Linear || (Axis != -1 && Axis != Rank - 1) || Linear.getResidual() ||
        Linear.getGlu() != llm::ActivationKind::none)
      return {};
    return Linear;
  }

  void part(Value Result, llm::LinearOp Whole, int64_t Begin,
            WeightMaker &Weights) {
    OpBuilder B(Result.getDefiningOp());
    int64_t Count = featuresOf(Result);
    FlatSymbolRefAttr Bias = Whole.getBiasAttr();
    auto Linear = makeLinear(B, Whole.getLoc(), Result.getType(), Whole.getX(),
                             Weights.rows(Whole.getWeightAttr(), Begin, Count),
                             Bias ? Weights.rows(Bias, Begin, Count) : Bias);
    Result.replaceAllUsesWith(Linear);
    passed("raise-linear", Linear, "rows of a fused llm.linear");
  }

  void cut(onnx::SplitOp Split, WeightMaker &Weights) {
    llm::LinearOp Whole = cuttable(Split.getInput(), Split.getAxis());
    if (!Whole)
      return;
    int64_t Sum = 0, Total = featuresOf(Whole);
    for (Value R : Split.getResults()) {
      int64_t Count = featuresOf(R);
      if (Count < 1)
        return missed("raise-linear", Split, "a part has no static size");
      Sum += Count;
    }
    if (Sum != Total)
      return missed("raise-linear", Split, "the parts do not cover the rows");
    int64_t Begin = 0;
    for (Value R : Split.getResults()) {
      int64_t Count = featuresOf(R);
      if (!R.use_empty())
        part(R, Whole, Begin, Weights);
      Begin += Count;
    }
  }

  void cut(onnx::SliceOp Slice, WeightMaker &Weights) {
    auto Starts = integers(Slice.getStarts()), Axes = integers(Slice.getAxes()),
         Steps = integers(Slice.getSteps());
    if (!Starts || Starts->size() != 1 || !Axes || Axes->size() != 1)
      return;
    llm::LinearOp Whole = cuttable(Slice.getData(), (*Axes)[0]);
    if (!Whole)
      return;
    bool Plain = onnx::isNone(Slice.getSteps()) ||
                 (Steps && Steps->size() == 1 && (*Steps)[0] == 1);
    int64_t Total = featuresOf(Whole), Count = featuresOf(Slice);
    int64_t Begin = (*Starts)[0] < 0 ? (*Starts)[0] + Total : (*Starts)[0];
    if (!Plain || Count < 1 || Begin < 0 || Begin + Count > Total)
      return missed("raise-linear", Slice, "not a plain range of the features");
    part(Slice.getOutput(), Whole, Begin, Weights);
  }
};
} // namespace
} // namespace llmc::raise
