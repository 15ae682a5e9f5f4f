// llmc-widen-floats: a graph of f16 or bf16 activations becomes one of f32.
// Half precision in a file says how an exporter's device computed, not what the
// model is: computed in f32 the result is nearer to the model than the file's
// own. Weights keep their encoding (a cast of the onnx.weight, which products
// look through), so that nothing grows.
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace llmc {
#define GEN_PASS_DEF_WIDENFLOATS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {
/// f32 for f16 and bf16, else null.
Type wideElement(Type Element) {
  if (isa<Float16Type, BFloat16Type>(Element))
    return Float32Type::get(Element.getContext());
  return {};
}

/// The type with wide elements, or null when it has them.
Type wideType(Type T) {
  TensorType Tensor = dyn_cast<TensorType>(T);
  if (!Tensor)
    return wideElement(T);
  Type Element = wideElement(Tensor.getElementType());
  if (!Element)
    return {};
  if (RankedTensorType Ranked = dyn_cast<RankedTensorType>(Tensor))
    return RankedTensorType::get(Ranked.getShape(), Element,
                                 Ranked.getEncoding());
  return UnrankedTensorType::get(Element);
}

/// Small constants and element types among the attributes; exact.
Attribute wideAttribute(Attribute A) {
  if (TypeAttr T = dyn_cast<TypeAttr>(A)) {
    Type Wide = wideType(T.getValue());
    return Wide ? TypeAttr::get(Wide) : Attribute();
  }
  DenseFPElementsAttr Data = dyn_cast<DenseFPElementsAttr>(A);
  Type Element = Data ? wideElement(Data.getElementType()) : Type();
  if (!Element)
    return {};
  return Data.mapValues(Element, [](const APFloat &F) {
    APFloat Wide = F;
    bool Loses;
    Wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &Loses);
    return Wide.bitcastToAPInt();
  });
}

class WidenFloatsPass : public impl::WidenFloatsBase<WidenFloatsPass> {
public:
  void runOnOperation() override {
    for (func::FuncOp F : getOperation().getOps<func::FuncOp>())
      if (!F.isExternal())
        widen(F);
  }

private:
  void widen(func::FuncOp F) {
    F.walk([&](Operation *Op) {
      for (Region &R : Op->getRegions())
        for (Block &B : R)
          for (BlockArgument Arg : B.getArguments())
            widen(Arg);
      if (Op == F.getOperation())
        return;
      if (onnx::WeightOp Weight = dyn_cast<onnx::WeightOp>(Op))
        return widenWeight(Weight);
      for (Value Result : Op->getResults())
        widen(Result);
      widenAttributes(Op);
    });
    SmallVector<Type> Results;
    for (Type T : F.getResultTypes())
      Results.push_back(wideType(T) ? wideType(T) : T);
    F.setType(FunctionType::get(
        &getContext(), F.getBody().front().getArgumentTypes(), Results));
  }

  void widen(Value V) {
    if (Type Wide = wideType(V.getType())) {
      V.setType(Wide);
      ++NumWidened;
    }
  }

  /// The weight stays what the file holds; its users see a cast of it.
  void widenWeight(onnx::WeightOp Weight) {
    Type Wide = wideType(Weight.getType());
    if (!Wide)
      return;
    OpBuilder B(&getContext());
    B.setInsertionPointAfter(Weight);
    onnx::CastOp Cast = onnx::CastOp::create(B, Weight.getLoc(), Wide, Weight,
                                             B.getF32Type(), /*saturate=*/1);
    Weight.getResult().replaceAllUsesExcept(Cast.getOutput(), Cast);
    ++NumWidened;
  }

  void widenAttributes(Operation *Op) {
    SmallVector<NamedAttribute> Wide;
    for (NamedAttribute A : Op->getAttrs())
      if (Attribute To = wideAttribute(A.getValue()))
        Wide.emplace_back(A.getName(), To);
    for (NamedAttribute A : Wide)
      Op->setAttr(A.getName(), A.getValue());
  }
};
} // namespace
} // namespace llmc
