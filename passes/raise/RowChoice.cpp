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

RowChoice gatherChoice(onnx::GatherOp Op) {
  if (axisOf(Op.getAxis(), Op.getData()) != Sequence)
    return {};
  std::optional<SmallVector<int64_t>> Rows = integers(Op.getIndices());
  if (!Rows)
    return {Kind::Other, "known only at run time"};
  if (Rows->size() == 1 && Rows->front() == -1)
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
