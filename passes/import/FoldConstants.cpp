// llmc-fold-constants: one walk in program order, so that what an op folds to
// is a constant operand of those behind it. Elements known from shapes fold
// without evaluation.
#include "compiler/eval/Convert.h"
#include "compiler/eval/Evaluator.h"
#include "compiler/eval/Ops.h"
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"
#include "passes/import/ShapeAnalysis.h"
#include "passes/util/DeadCode.h"

namespace llmc {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {
constexpr int64_t MaxResult = 64, MaxElements = 1 << 16, MaxWork = 1 << 20;

class Folder {
public:
  explicit Folder(func::FuncOp F) : F(F), Shapes(F) {}

  /// Number of ops folded.
  int64_t run() {
    // Blocks of subgraphs are visited where their op stands.
    F.walk<WalkOrder::PreOrder>([&](Operation *Op) { visit(Op); });
    eraseDeadOps(F.getBody());
    updateResultTypes(F);
    return Folded;
  }

private:
  void visit(Operation *Op) {
    if (Op->getNumResults() == 0 || Op->getNumRegions() != 0 ||
        isa<onnx::ConstantOp, onnx::WeightOp, onnx::NoneOp>(Op) ||
        Op->use_empty() || !isPure(Op))
      return;
    if (!foldKnown(Op))
      foldEvaluated(Op);
  }

  void replace(Value V, const eval::Tensor &T) {
    OpBuilder B(V.getDefiningOp());
    V.replaceAllUsesWith(onnx::ConstantOp::create(
        B, V.getLoc(), eval::toAttribute(T, B.getContext())));
  }

  /// Elements that the analysis knows.
  bool foldKnown(Operation *Op) {
    for (OpResult R : Op->getResults()) {
      const ValueInfo &Info = Shapes.of(R);
      std::optional<SmallVector<int64_t>> Shape = Info.staticShape();
      std::optional<SmallVector<int64_t>> Data = Info.constants();
      if (!Shape || !Data || !Info.Element)
        return false;
      eval::Dims Dims(Shape->begin(), Shape->end());
      if (eval::countOf(Dims) != static_cast<int64_t>(Data->size()) ||
          eval::dtypeOf(Info.Element) == DType::None)
        return false;
    }
    for (OpResult R : Op->getResults()) {
      const ValueInfo &Info = Shapes.of(R);
      SmallVector<int64_t> Shape = *Info.staticShape();
      SmallVector<int64_t> Data = *Info.constants();
      replace(R, eval::Tensor::ofInts(eval::dtypeOf(Info.Element),
                                      eval::Dims(Shape.begin(), Shape.end()),
                                      {Data.begin(), Data.end()}));
    }
    ++Folded;
    return true;
  }

  /// Ops on constants only.
  void foldEvaluated(Operation *Op) {
    const eval::OpHandler *Handler =
        eval::handlerOf(Op->getName().getStringRef());
    if (!Handler)
      return;
    eval::Budget Limit(MaxElements, MaxWork);
    std::vector<eval::Tensor> Inputs(Op->getNumOperands());
    eval::OpCall Call{Op, {}, Limit};
    for (auto [I, V] : llvm::enumerate(Op->getOperands())) {
      if (onnx::ConstantOp C = V.getDefiningOp<onnx::ConstantOp>()) {
        Result<eval::Tensor> T = eval::fromAttribute(Limit, C.getValue());
        if (!T)
          return;
        Inputs[I] = T.take();
      } else if (!isa<NoneType>(V.getType())) {
        return;
      }
      Call.Inputs.push_back(&Inputs[I]);
    }
    // A failure is the program's own business at run time: not folded.
    Result<std::vector<eval::Tensor>> Out = (*Handler)(Call);
    if (!Out || Out->size() != Op->getNumResults())
      return;
    for (const eval::Tensor &T : *Out)
      if (T.count() > MaxResult)
        return;
    for (auto [R, T] : llvm::zip(Op->getResults(), *Out))
      replace(R, T);
    ++Folded;
  }

  func::FuncOp F;
  ShapeAnalysis Shapes;
  int64_t Folded = 0;
};

class FoldConstantsPass : public impl::FoldConstantsBase<FoldConstantsPass> {
public:
  void runOnOperation() override {
    for (func::FuncOp F : getOperation().getOps<func::FuncOp>())
      if (!F.isExternal())
        NumFolded += static_cast<unsigned>(Folder(F).run());
  }
};
} // namespace
} // namespace llmc
