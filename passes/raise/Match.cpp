// Matchers of the recognisers; see Match.h.
#include "passes/raise/Match.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {

Value skip(Value V) {
  while (Operation *Op = V.getDefiningOp()) {
    if (auto Identity = dyn_cast<onnx::IdentityOp>(Op))
      V = Identity.getInput();
    else if (auto Dropout = dyn_cast<onnx::DropoutOp>(Op))
      V = Dropout.getData();
    else if (auto Cast = dyn_cast<onnx::CastOp>(Op);
             Cast && getElementTypeOrSelf(Cast.getInput()) == Cast.getTo())
      V = Cast.getInput();
    else
      break;
  }
  return V;
}

static DenseElementsAttr constantOf(Value V) {
  V = skip(V);
  if (auto Cast = V.getDefiningOp<onnx::CastOp>())
    V = skip(Cast.getInput());
  auto Constant = V.getDefiningOp<onnx::ConstantOp>();
  return Constant ? dyn_cast<DenseElementsAttr>(Constant.getValue())
                  : DenseElementsAttr();
}

std::optional<double> scalar(Value V) {
  DenseElementsAttr Data = constantOf(V);
  if (!Data || Data.getNumElements() != 1)
    return std::nullopt;
  if (isa<FloatType>(Data.getElementType())) {
    APFloat F = *Data.value_begin<APFloat>();
    bool Loses = false;
    F.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Loses);
    return F.convertToDouble();
  }
  if (isa<IntegerType>(Data.getElementType()))
    return double((*Data.value_begin<APInt>()).getSExtValue());
  return std::nullopt;
}

bool isFixed(Value V) {
  constexpr size_t Most = 32;
  SmallVector<Value> Work{V};
  for (size_t I = 0; I < Work.size(); ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || I > Most || !isa<onnx::OnnxDialect>(Op->getDialect()) ||
        Op->getNumRegions() > 0)
      return false;
    if (!isa<onnx::ShapeOp>(Op) ||
        !cast<ShapedType>(Op->getOperand(0).getType()).hasStaticShape())
      Work.append(Op->operand_begin(), Op->operand_end());
  }
  return true;
}

bool isScalar(Value V, double Want) {
  std::optional<double> Have = scalar(V);
  return Have && std::abs(*Have - Want) <= 1e-4 * std::abs(Want);
}

std::optional<SmallVector<int64_t>> integers(Value V) {
  if (onnx::isNone(V))
    return std::nullopt;
  DenseElementsAttr Data = constantOf(V);
  if (!Data || !isa<IntegerType>(Data.getElementType()))
    return std::nullopt;
  SmallVector<int64_t> Out;
  for (const APInt &I : Data.getValues<APInt>())
    Out.push_back(I.getSExtValue());
  return Out;
}

Operation *onlyUser(Value V) {
  while (true) {
    Operation *Only = nullptr;
    for (Operation *User : V.getUsers()) {
      if (isa<onnx::ShapeOp>(User) || User == Only)
        continue;
      if (Only)
        return nullptr;
      Only = User;
    }
    if (!Only || Only->getNumResults() == 0)
      return nullptr;
    if (skip(Only->getResult(0)) != skip(V))
      return Only;
    V = Only->getResult(0);
  }
}

int64_t rankOf(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  return Type ? Type.getRank() : -1;
}

int64_t featuresOf(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  if (!Type || Type.getRank() == 0 || Type.isDynamicDim(Type.getRank() - 1))
    return -1;
  return Type.getShape().back();
}

std::string nodeName(Operation *Op) {
  if (auto Name = dyn_cast<NameLoc>(Op->getLoc()))
    return Name.getName().str();
  return Op->getName().getStringRef().str();
}

StringRef argName(BlockArgument Arg) {
  auto Func = dyn_cast<func::FuncOp>(Arg.getOwner()->getParentOp());
  if (!Func)
    return {};
  auto Name =
      Func.getArgAttrOfType<StringAttr>(Arg.getArgNumber(), onnx::NameAttr);
  return Name ? Name.getValue() : StringRef();
}

void missed(StringRef Pass, Operation *Op, const Twine &Why) {
  remark::missed(Op->getLoc(), remark::RemarkOpts::name(Pass).category("raise"))
      << (Twine("'") + nodeName(Op) + "': " + Why).str();
}

void passed(StringRef Pass, Operation *Op, const Twine &What) {
  remark::passed(Op->getLoc(), remark::RemarkOpts::name(Pass).category("raise"))
      << (Twine("'") + nodeName(Op) + "': " + What).str();
}

void eraseDead(Block &Body) {
  for (Operation &Op : llvm::make_early_inc_range(llvm::reverse(Body)))
    if (isOpTriviallyDead(&Op))
      Op.erase();
}
} // namespace llmc::raise
