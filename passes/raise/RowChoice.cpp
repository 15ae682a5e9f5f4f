// Reads the choice of rows off the constants of a node; see RowChoice.h.
#include "passes/raise/RowChoice.h"

#include "passes/raise/Match.h"

#include <limits>

using namespace mlir;

namespace llmc::raise {
namespace {

using Kind = RowChoice::Kind;

/// Axis of [batch, sequence, features].
constexpr int64_t Sequence = 1;

/// Whether V is dim 1 of token data or of the ids, read from its Shape.
bool isTokenCount(Value V) {
  for (int Steps = 0; Steps < 8; ++Steps) {
    Operation *Op = V.getDefiningOp();
    if (!Op)
      return false;
    if (auto Gather = dyn_cast<onnx::GatherOp>(Op)) {
      std::optional<SmallVector<int64_t>> Which = integers(Gather.getIndices());
      return Which && Which->size() == 1 && Which->front() == Sequence &&
             Gather.getData().getDefiningOp<onnx::ShapeOp>();
    }
    if (auto Slice = dyn_cast<onnx::SliceOp>(Op)) {
      std::optional<SmallVector<int64_t>> Starts = integers(Slice.getStarts());
      return Starts && Starts->size() == 1 && Starts->front() == Sequence &&
             Slice.getData().getDefiningOp<onnx::ShapeOp>();
    }
    if (auto Shape = dyn_cast<onnx::ShapeOp>(Op)) {
      auto Start = Op->getAttrOfType<IntegerAttr>("start"),
           End = Op->getAttrOfType<IntegerAttr>("end");
      return Start && End && Start.getInt() == Sequence && End.getInt() == 2;
    }
    if (!isa<onnx::ReshapeOp, onnx::UnsqueezeOp, onnx::SqueezeOp, onnx::CastOp,
             onnx::IdentityOp>(Op))
      return false;
    V = Op->getOperand(0);
  }
  return false;
}

std::string listOf(ArrayRef<int64_t> Values) {
  constexpr size_t Most = 8;
  std::string Text;
  for (int64_t V : Values.take_front(Most))
    Text += (Text.empty() ? "" : ", ") + std::to_string(V);
  return Text + (Values.size() > Most ? ", …" : "");
}

int64_t axisOf(int64_t Axis, Value Data) {
  return Axis < 0 ? Axis + rankOf(Data) : Axis;
}

/// Whether V is a length minus one: Shape of something, its element 1, less 1.
bool isLastIndex(Value V) {
  for (int Steps = 0; Steps < 8; ++Steps) {
    Operation *Op = V.getDefiningOp();
    if (!Op)
      return false;
    bool Less = isa<onnx::SubOp>(Op) && isScalar(Op->getOperand(1), 1);
    bool More = isa<onnx::AddOp>(Op) && (scalar(Op->getOperand(0)) == -1 ||
                                         scalar(Op->getOperand(1)) == -1);
    if (Less || More) {
      unsigned I = More && scalar(Op->getOperand(0)) ? 1 : 0;
      return isTokenCount(Op->getOperand(I));
    }
    if (!isa<onnx::ReshapeOp, onnx::UnsqueezeOp, onnx::SqueezeOp, onnx::CastOp,
             onnx::IdentityOp>(Op))
      return false;
    V = Op->getOperand(0);
  }
  return false;
}

RowChoice gatherChoice(onnx::GatherOp Op) {
  if (axisOf(Op.getAxis(), Op.getData()) != Sequence)
    return {};
  std::optional<SmallVector<int64_t>> Rows = integers(Op.getIndices());
  if (!Rows && isLastIndex(Op.getIndices()))
    return {Kind::Last, {}};
  if (!Rows)
    return {Kind::Other, "known only at run time"};
  // A file for a fixed number of tokens may count the last one from the front.
  auto Type = cast<RankedTensorType>(Op.getData().getType());
  int64_t Fixed = Type.getDimSize(Sequence);
  if (Rows->size() == 1 && (Rows->front() == -1 || Rows->front() == Fixed - 1))
    return {Kind::Last, {}};
  return {Kind::Other, listOf(*Rows)};
}

RowChoice sliceChoice(onnx::SliceOp Op) {
  std::optional<SmallVector<int64_t>> Axes = integers(Op.getAxes()),
                                      Starts = integers(Op.getStarts()),
                                      Ends = integers(Op.getEnds()),
                                      Steps = integers(Op.getSteps());
  if (!Axes || Axes->size() != 1)
    return {};
  bool Along = axisOf(Axes->front(), Op.getData()) == Sequence;
  bool Stepless = onnx::isNone(Op.getSteps());
  if (Along && !Starts && isLastIndex(Op.getStarts()))
    return {Kind::Last, {}};
  if (!Starts || !Ends || Starts->size() != 1 || Ends->size() != 1 ||
      (!Stepless && (!Steps || Steps->size() != 1)))
    return Along ? RowChoice{Kind::Other, "known only at run time"}
                 : RowChoice();
  int64_t Start = Starts->front(), End = Ends->front(),
          Step = Stepless ? 1 : Steps->front();
  // Exporters write the largest i32 or i64 for an open end.
  bool Open = End >= std::numeric_limits<int32_t>::max() && Step == 1;
  if (Open && Start == 0)
    return {Kind::All, {}};
  if (!Along)
    return {};
  if (Open && Start < 0)
    return {Kind::Last, {}};
  std::string Rows = "from " + std::to_string(Start);
  if (End < std::numeric_limits<int32_t>::max())
    Rows += " to " + std::to_string(End);
  return {Kind::Other, Rows + " in steps of " + std::to_string(Step)};
}
} // namespace

RowChoice rowChoiceOf(Operation *Op) {
  if (auto Gather = dyn_cast<onnx::GatherOp>(Op))
    return gatherChoice(Gather);
  if (auto Slice = dyn_cast<onnx::SliceOp>(Op))
    return sliceChoice(Slice);
  return {};
}

} // namespace llmc::raise
