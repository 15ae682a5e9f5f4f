// llmc-expand-fused: attention, rotary and product ops of both domains become
// the primitive ops that the recognisers of passes/raise know, so that there is
// one recogniser per concept whatever an exporter fuses. See
// docs/design/0005-attention.md.
#include "passes/import/ExpandEinsum.h"
#include "passes/import/FusedOps.h"
#include "passes/import/Passes.h"
#include "passes/util/DeadCode.h"
#include "passes/util/GraphAttrs.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/TypeSwitch.h"

namespace llmc {
#define GEN_PASS_DEF_EXPANDFUSED
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {
class ExpandFused : public impl::ExpandFusedBase<ExpandFused> {
public:
  void runOnOperation() override {
    for (func::FuncOp F : getOperation().getOps<func::FuncOp>())
      if (!F.isExternal() && failed(expandAll(F)))
        return signalPassFailure();
  }

private:
  LogicalResult expandAll(func::FuncOp F) {
    SmallVector<Operation *> Rotations, Others;
    unpackTokens(F);
    F.walk([&](Operation *Op) {
      markLengths(F, Op);
      if (isFused(Op))
        (isRotation(Op) ? Rotations : Others).push_back(Op);
    });
    if (Rotations.empty() && Others.empty())
      return success();
    // Rotations first: attention asks for the shape of what they give.
    for (ArrayRef<Operation *> Ops : {ArrayRef(Rotations), ArrayRef(Others)}) {
      bool Failed = failed(inferTypes());
      for (Operation *Op : Ops)
        if (failed(expandOne(Op)))
          Failed = true;
        else
          Op->erase();
      if (Failed)
        return failure();
    }
    if (failed(inferTypes()))
      return failure();
    eraseDeadOps(F.getBody());
    return success();
  }

  LogicalResult inferTypes() {
    OpPassManager Types(ModuleOp::getOperationName());
    Types.addPass(createInferShapes());
    return runPipeline(Types, getOperation());
  }

  static bool isRotation(Operation *Op) {
    return isa<onnx::RotaryEmbeddingOp, onnx::MsRotaryEmbeddingOp,
               onnx::MsMRotaryEmbeddingOp, onnx::MsGemmaRotaryEmbeddingOp>(Op);
  }

  static bool isFused(Operation *Op) {
    if (auto Einsum = dyn_cast<onnx::EinsumOp>(Op))
      return isProduct(Einsum);
    return isa<onnx::AttentionOp, onnx::RotaryEmbeddingOp,
               onnx::MsRotaryEmbeddingOp, onnx::MsGroupQueryAttentionOp,
               onnx::MsMultiHeadAttentionOp,
               onnx::MsDecoderMaskedMultiHeadAttentionOp, onnx::MsAttentionOp,
               onnx::MsPagedAttentionOp, onnx::MsSparseAttentionOp,
               onnx::MsMRotaryEmbeddingOp, onnx::MsGemmaRotaryEmbeddingOp,
               onnx::MsFusedMatMulOp>(Op);
  }

  static LogicalResult expandOne(Operation *Op) {
    return TypeSwitch<Operation *, LogicalResult>(Op)
        .Case<onnx::AttentionOp, onnx::RotaryEmbeddingOp,
              onnx::MsRotaryEmbeddingOp, onnx::MsGroupQueryAttentionOp,
              onnx::MsMultiHeadAttentionOp,
              onnx::MsDecoderMaskedMultiHeadAttentionOp, onnx::MsAttentionOp,
              onnx::MsPagedAttentionOp, onnx::MsSparseAttentionOp,
              onnx::MsMRotaryEmbeddingOp, onnx::MsGemmaRotaryEmbeddingOp,
              onnx::MsFusedMatMulOp, onnx::EinsumOp>(
            [](auto Fused) { return expand(Fused); })
        .Default([](Operation *) { return failure(); });
  }

  /// The argument that V is a cast or another shape of, if it is one.
  static BlockArgument argumentOf(Value V) {
    while (Operation *Op = V.getDefiningOp()) {
      if (!isa<onnx::IdentityOp, onnx::CastOp, onnx::ReshapeOp,
               onnx::UnsqueezeOp, onnx::SqueezeOp>(Op))
        return {};
      V = Op->getOperand(0);
    }
    return cast<BlockArgument>(V);
  }

  /// Notes on arguments what ops take them for; the recognisers ask later.
  static void markLengths(func::FuncOp F, Operation *Op) {
    auto Mark = [&](Value V, StringRef What) {
      BlockArgument Arg = onnx::isNone(V) ? BlockArgument() : argumentOf(V);
      if (Arg && Arg.getOwner() == &F.getBody().front())
        F.setArgAttr(Arg.getArgNumber(), LengthAttr,
                     StringAttr::get(F.getContext(), What));
    };
    if (auto Scatter = dyn_cast<onnx::TensorScatterOp>(Op))
      Mark(Scatter.getWriteIndices(), "past");
    if (auto Attention = dyn_cast<onnx::AttentionOp>(Op))
      Mark(Attention.getNonpadKvSeqlen(), "total");
    if (auto Grouped = dyn_cast<onnx::MsGroupQueryAttentionOp>(Op)) {
      Mark(Grouped.getSeqlensK(), "last");
      Mark(Grouped.getTotalSequenceLength(), "total");
    }
  }

  /// A graph with paged attention takes the tokens of all rows side by side:
  /// ids [tokens] become those of one row, [1, tokens].
  static void unpackTokens(func::FuncOp F) {
    bool Paged = false;
    F.walk([&](onnx::MsPagedAttentionOp) { Paged = true; });
    if (!Paged)
      return;
    SmallVector<Type> Inputs(F.getArgumentTypes());
    F.walk([&](onnx::GatherOp Gather) {
      BlockArgument Arg = argumentOf(Gather.getIndices());
      if (!Arg || staticRank(Arg) != 1 || staticRank(Gather.getData()) != 2)
        return;
      auto Type = cast<RankedTensorType>(Arg.getType());
      Builder B(F.getContext());
      auto Known = dyn_cast_or_null<onnx::DimsAttr>(Type.getEncoding());
      StringAttr Tokens = Known ? Known.getExprs()[0] : B.getStringAttr("?");
      auto New = RankedTensorType::get(
          {1, Type.getDimSize(0)}, Type.getElementType(),
          onnx::DimsAttr::get(F.getContext(), {B.getStringAttr("1"), Tokens}));
      Arg.setType(New);
      Inputs[Arg.getArgNumber()] = New;
    });
    F.setFunctionType(
        FunctionType::get(F.getContext(), Inputs, F.getResultTypes()));
  }
};
} // namespace
} // namespace llmc
