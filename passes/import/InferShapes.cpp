// llmc-infer-shapes: writes what the shape analysis finds into the types.
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"
#include "passes/import/ShapeAnalysis.h"
#include "passes/util/DeadCode.h"

namespace llmc {
#define GEN_PASS_DEF_INFERSHAPES
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {
class InferShapesPass : public impl::InferShapesBase<InferShapesPass> {
public:
  void runOnOperation() override {
    for (func::FuncOp F : getOperation().getOps<func::FuncOp>())
      if (!F.isExternal())
        annotate(F);
  }

private:
  static void annotate(func::FuncOp F) {
    ShapeAnalysis Shapes(F);
    auto Mark = [&](Value V) {
      const ValueInfo &Info = Shapes.of(V);
      if (Info.Element)
        V.setType(typeOf(Info));
    };
    for (BlockArgument Arg : F.getArguments())
      Mark(Arg);
    F.walk([&](Operation *Op) {
      for (OpResult R : Op->getResults())
        Mark(R);
    });
    updateResultTypes(F);
  }
};
} // namespace
} // namespace llmc
