// Weights, constants, absent operands, If: printing, folding, verifiers.
#include "dialects/onnx/Onnx.h"
#include "dialects/support/Verify.h"

using namespace mlir;
using namespace llmc::onnx;

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxCoreOps.cpp.inc"

void OnnxDialect::registerCoreOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/OnnxCoreOps.cpp.inc"
      >();
}

static bool sameTensor(ShapedType A, ShapedType B) {
  return A.getElementType() == B.getElementType() &&
         A.getShape() == B.getShape();
}

LogicalResult WeightDataOp::verify() {
  RankedTensorType T = cast<RankedTensorType>(getType());
  if (!T.hasStaticShape())
    return emitOpError("C1: type has dynamic dims: ") << T;
  int64_t Offset = getOffset(), Length = getLength(), File = getFile();
  std::optional<int64_t> Bytes = llmc::tensorBytes(T);
  if (!Bytes)
    return emitOpError("C2: the size of ") << T << " overflows";
  if (Offset < 0 || Length != *Bytes)
    return emitOpError("C2: offset ")
           << Offset << ", length " << Length << ", expected length " << *Bytes;
  if (File < 0)
    return emitOpError("C3: file ") << File << " is negative";
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &Symbols) {
  WeightDataOp Source =
      Symbols.lookupNearestSymbolFrom<WeightDataOp>(*this, getDataAttr());
  if (!Source)
    return emitOpError("C1: no onnx.weight_data @") << getData();
  ShapedType Want = cast<ShapedType>(Source.getType());
  ShapedType Have = cast<ShapedType>(getOutput().getType());
  if (!sameTensor(Want, Have))
    return emitOpError("C2: is ") << Have << ", its data " << Want;
  return success();
}

ParseResult ConstantOp::parse(OpAsmParser &Parser, OperationState &State) {
  ElementsAttr Value;
  if (Parser.parseAttribute(Value, "value", State.attributes) ||
      Parser.parseOptionalAttrDict(State.attributes))
    return failure();
  Type T = Value.getType();
  if (succeeded(Parser.parseOptionalArrow()) && Parser.parseType(T))
    return failure();
  State.addTypes(T);
  return success();
}

void ConstantOp::print(OpAsmPrinter &Printer) {
  Printer << ' ' << getValue();
  Printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  if (getType() != getValue().getType())
    Printer << " -> " << getType();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult ConstantOp::verify() {
  ShapedType Have = cast<ShapedType>(getOutput().getType());
  if (!sameTensor(getValue().getShapedType(), Have))
    return emitOpError("C1: is ")
           << Have << ", its value " << getValue().getType();
  return success();
}

LogicalResult IfOp::verify() {
  for (Region *R : getRegions()) {
    Operation *End = R->front().empty() ? nullptr : &R->front().back();
    if (!isa_and_nonnull<YieldOp>(End))
      return emitOpError("C1: branch ")
             << R->getRegionNumber() << " does not end in onnx.yield";
    if (End->getNumOperands() != getNumResults())
      return emitOpError("C1: branch ")
             << R->getRegionNumber() << " yields " << End->getNumOperands()
             << " values, expected " << getNumResults();
  }
  return success();
}
