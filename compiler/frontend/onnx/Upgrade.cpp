// Upgrade rules. Most are a table: an attribute that became an operand.
#include "compiler/frontend/onnx/Upgrade.h"

#include "compiler/frontend/onnx/Graph.h"
#include "compiler/frontend/onnx/Signatures.h"
#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "dialects/onnx/Onnx.h"
#include "runtime/base/Quote.h"
#include "llvm/ADT/STLExtras.h"

using namespace llmc;
using namespace mlir;
using ::onnx::AttributeProto;

namespace {
enum class Form : uint8_t {
  Vector, ///< ints -> 1-D i64
  Single, ///< int -> 1-D i64 of one element
  Scalar, ///< float -> scalar of the first operand's type
  F32,    ///< float -> f32 scalar
  One     ///< int that must be 1: what the newest op always does
};

struct LegacyAttr {
  llvm::StringLiteral Op;
  llvm::StringLiteral Name;
  unsigned Operand;
  Form Kind;
};

constexpr LegacyAttr Legacy[] = {
    {"Squeeze", "axes", 1, Form::Vector},    // until 12
    {"Unsqueeze", "axes", 1, Form::Vector},  // until 12
    {"ReduceSum", "axes", 1, Form::Vector},  // until 12
    {"ReduceMean", "axes", 1, Form::Vector}, // until 17, as the next
    {"ReduceMax", "axes", 1, Form::Vector},
    {"ReduceMin", "axes", 1, Form::Vector},
    {"ReduceProd", "axes", 1, Form::Vector},
    {"ReduceSumSquare", "axes", 1, Form::Vector},
    {"ReduceL1", "axes", 1, Form::Vector},
    {"ReduceL2", "axes", 1, Form::Vector},
    {"ReduceLogSum", "axes", 1, Form::Vector},
    {"ReduceLogSumExp", "axes", 1, Form::Vector},
    {"Split", "split", 1, Form::Vector},  // until 12
    {"Slice", "starts", 1, Form::Vector}, // until 9
    {"Slice", "ends", 2, Form::Vector},
    {"Slice", "axes", 3, Form::Vector},
    {"Clip", "min", 1, Form::Scalar}, // until 10
    {"Clip", "max", 2, Form::Scalar},
    {"Pad", "pads", 1, Form::Vector}, // until 10
    {"Pad", "value", 2, Form::Scalar},
    {"TopK", "k", 1, Form::Single},                  // until 9
    {"Dropout", "ratio", 1, Form::F32},              // until 11
    {"BatchNormalization", "spatial", 0, Form::One}, // until 8
};

const LegacyAttr *findLegacy(llvm::StringRef Op, llvm::StringRef Attr) {
  for (const LegacyAttr &L : Legacy)
    if (L.Op == Op && L.Name == Attr)
      return &L;
  return nullptr;
}

Value vectorConstant(OpBuilder &B, Location Loc, ArrayRef<int64_t> Values) {
  RankedTensorType T = RankedTensorType::get(
      {static_cast<int64_t>(Values.size())}, B.getI64Type());
  return llmc::onnx::ConstantOp::create(B, Loc,
                                        DenseElementsAttr::get(T, Values));
}

/// Null when `T` is not a number type.
Value scalarConstant(OpBuilder &B, Location Loc, Type T, double Value) {
  Attribute Element;
  if (isa<FloatType>(T))
    Element = B.getFloatAttr(T, Value);
  else if (isa<IntegerType>(T))
    Element = B.getIntegerAttr(T, static_cast<int64_t>(Value));
  if (!Element)
    return nullptr;
  return llmc::onnx::ConstantOp::create(
      B, Loc, DenseElementsAttr::get(RankedTensorType::get({}, T), Element));
}

Value legacyOperand(const LegacyAttr &L, const AttributeProto &A,
                    PendingNode &Node, OpBuilder &B) {
  switch (L.Kind) {
  case Form::Vector:
    return vectorConstant(
        B, Node.Loc, SmallVector<int64_t>(A.ints().begin(), A.ints().end()));
  case Form::Single:
    return vectorConstant(B, Node.Loc, {A.i()});
  case Form::F32:
    return scalarConstant(B, Node.Loc, B.getF32Type(), A.f());
  case Form::Scalar: {
    if (Node.Operands.empty() || !Node.Operands[0])
      return nullptr;
    ShapedType T = dyn_cast<ShapedType>(Node.Operands[0].getType());
    return T ? scalarConstant(B, Node.Loc, T.getElementType(), A.f()) : nullptr;
  }
  case Form::One: // no operand
    break;
  }
  return nullptr;
}

Status takeLegacyAttributes(PendingNode &Node, OpBuilder &B) {
  for (const AttributeProto *&A : Node.Attrs) {
    const LegacyAttr *L = findLegacy(Node.Spec.Name, A->name());
    if (!L)
      continue;
    if (L->Kind == Form::One) {
      if (A->i() != 1)
        return unsupportedError("node " + quoted(Node.Source.Label) + " has " +
                                quoted(A->name()) + " " +
                                std::to_string(A->i()) + ", expected 1");
      A = nullptr;
      continue;
    }
    if (Node.Operands.size() <= L->Operand)
      Node.Operands.resize(L->Operand + 1);
    if (Node.Operands[L->Operand])
      return malformedError(
          "node " + quoted(Node.Source.Label) + " has " + quoted(A->name()) +
          " both as an attribute and as input " + std::to_string(L->Operand));
    Node.Operands[L->Operand] = legacyOperand(*L, *A, Node, B);
    if (!Node.Operands[L->Operand])
      return malformedError("node " + quoted(Node.Source.Label) +
                            " has no operand that attribute " +
                            quoted(A->name()) + " could belong to");
    A = nullptr;
  }
  llvm::erase(Node.Attrs, nullptr);
  return Status::success();
}

bool hasAttr(const PendingNode &Node, llvm::StringRef Name) {
  return llvm::any_of(
      Node.Attrs, [&](const AttributeProto *A) { return A->name() == Name; });
}
} // namespace

bool llmc::isLegacyAttribute(llvm::StringRef Op, llvm::StringRef Attr) {
  return findLegacy(Op, Attr) != nullptr;
}

Status llmc::upgradeNode(PendingNode &Node, OpBuilder &B) {
  LLMC_RETURN_IF_ERROR(takeLegacyAttributes(Node, B));
  // Without sizes the newest Split wants the number of parts.
  if (Node.Spec.Name == "Split" && !hasAttr(Node, "num_outputs") &&
      (Node.Operands.size() < 2 || !Node.Operands[1]))
    Node.Extra.push_back(
        B.getNamedAttr("num_outputs", B.getI64IntegerAttr(Node.NumOutputs)));
  // Scale and bias were per group until 20.
  if (Node.Spec.Name == "GroupNormalization" && Node.Source.Opset < 21)
    return unsupportedError("node " + quoted(Node.Source.Label) +
                            " is GroupNormalization of opset " +
                            std::to_string(Node.Source.Opset) +
                            ", supported is opset 21");
  return Status::success();
}

Value llmc::buildFlattenedSoftmax(PendingNode &Node, OpBuilder &B) {
  llvm::StringRef Name = Node.Spec.Name;
  if (Node.Source.Opset >= 13 ||
      (Name != "Softmax" && Name != "LogSoftmax" && Name != "Hardmax") ||
      Node.Operands.empty() || !Node.Operands[0])
    return nullptr;
  int64_t Axis = 1;
  for (const AttributeProto *A : Node.Attrs)
    if (A->name() == "axis")
      Axis = A->i();
  Value Input = Node.Operands[0];
  RankedTensorType Ranked = dyn_cast<RankedTensorType>(Input.getType());
  if (Axis == -1 || (Ranked && Axis == Ranked.getRank() - 1)) {
    // The default differs: say it.
    if (!hasAttr(Node, "axis"))
      Node.Extra.push_back(B.getNamedAttr("axis", B.getI64IntegerAttr(Axis)));
    return nullptr;
  }
  Type Element = cast<ShapedType>(Input.getType()).getElementType();
  Type Matrix = UnrankedTensorType::get(Element);
  Type Dims = UnrankedTensorType::get(B.getI64Type());
  Value Flat = llmc::onnx::FlattenOp::create(B, Node.Loc, Matrix, Input,
                                             B.getI64IntegerAttr(Axis));
  IntegerAttr Last = B.getI64IntegerAttr(-1);
  OperationState State(Node.Loc, Node.Spec.Mnemonic, Flat, Matrix,
                       B.getNamedAttr("axis", Last));
  Value Soft = B.create(State)->getResult(0);
  Value Shape = llmc::onnx::ShapeOp::create(
      B, Node.Loc, Dims, Input, B.getI64IntegerAttr(0), IntegerAttr());
  return llmc::onnx::ReshapeOp::create(B, Node.Loc, Matrix, Soft, Shape,
                                       B.getI64IntegerAttr(0));
}
