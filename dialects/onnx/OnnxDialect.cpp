// Dialect, the dims attribute and constant materialisation.
#include "dialects/onnx/Onnx.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc::onnx;

#include "dialects/onnx/OnnxDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/onnx/OnnxAttrs.cpp.inc"

void OnnxDialect::initialize() {
  registerAttributes();
  registerCoreOps();
  registerMathOps();
  registerShapeOps();
  registerIndexOps();
  registerNeuralOps();
  registerActivationOps();
  registerAttentionOps();
  registerQuantOps();
  registerMsAttentionOps();
  registerMsWeightOps();
}

void OnnxDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/onnx/OnnxAttrs.cpp.inc"
      >();
}

Operation *OnnxDialect::materializeConstant(OpBuilder &B, Attribute Value,
                                            Type T, Location Loc) {
  ElementsAttr Elements = dyn_cast<ElementsAttr>(Value);
  if (!Elements || !isa<RankedTensorType>(T))
    return nullptr;
  return ConstantOp::create(B, Loc, T, Elements);
}

LogicalResult
DimsAttr::verifyEncoding(ArrayRef<int64_t> Shape, Type ElementType,
                         function_ref<InFlightDiagnostic()> EmitError) const {
  if (Shape.size() != getExprs().size())
    return EmitError() << "C1: dims has " << getExprs().size()
                       << " expressions, the tensor " << Shape.size()
                       << " dims";
  for (auto [Dim, Expr] : llvm::zip(Shape, getExprs()))
    if (!ShapedType::isDynamic(Dim) && Expr.getValue() != std::to_string(Dim))
      return EmitError() << "C2: static dim " << Dim << " has expression '"
                         << Expr.getValue() << "'";
  return success();
}
