// Reading of rotation tables; see RopeTable.h.
#include "passes/raise/RopeTable.h"

#include "compiler/eval/Convert.h"
#include "dialects/llm/LlmDialect.h"
#include "dialects/onnx/Onnx.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {

bool RopeTable::at(int64_t Position, int64_t I, double &C, double &S) const {
  if (Freq.empty()) {
    if (Position < 0 || Position >= Rows)
      return false;
    C = Cos[size_t(Position * Half + I)];
    S = Sin[size_t(Position * Half + I)];
    return true;
  }
  float Angle = float(Position) * Freq[size_t(I)];
  C = std::cos(Angle) * Scaling;
  S = std::sin(Angle) * Scaling;
  return true;
}

std::vector<float> anglesOf(const eval::Tensor &A, int64_t Seq, int64_t S,
                            bool Columns) {
  int64_t Width = A.count() / Seq;
  std::vector<float> Row;
  for (int64_t I = 0; I < Width; ++I)
    Row.push_back(
        float(eval::floatAt(A, Columns ? I * Seq + S : S * Width + I)));
  return Row;
}

int64_t tableRows(Value V) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  int64_t Rows = 0;
  for (size_t I = 0; I < Work.size() && I < 256; ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || isa<onnx::ShapeOp>(Op))
      continue;
    auto Type = dyn_cast<RankedTensorType>(Work[I].getType());
    if (isa<onnx::WeightOp, onnx::ConstantOp, llm::QuantizedValueOp>(Op) &&
        Type && Type.hasStaticShape() && Type.getRank() >= 2 &&
        isa<FloatType>(Type.getElementType()))
      Rows = std::max(Rows, Type.getNumElements() / Type.getShape().back());
    Work.insert(Op->operand_begin(), Op->operand_end());
  }
  return Rows;
}

void takeAngles(const eval::Tensor &W, int64_t Width, int64_t Used,
                int64_t Looked, RopeTable &T, std::vector<float> &Out) {
  bool Halves = Used % 2 == 0, Pairs = Halves;
  for (int64_t P = 1; P < Looked; ++P)
    for (int64_t I = 0; Used > 1 && I < Used / 2; ++I) {
      auto At = [&](int64_t C) { return eval::floatAt(W, P * Width + C); };
      Halves &= At(I) == At(I + Used / 2);
      Pairs &= At(2 * I) == At(2 * I + 1);
    }
  T.Half = Halves || Pairs ? Used / 2 : Used;
  T.Rows = W.count() / Width;
  for (int64_t P = 0; P < T.Rows; ++P)
    for (int64_t I = 0; I < T.Half; ++I)
      Out.push_back(
          float(eval::floatAt(W, P * Width + (!Halves && Pairs ? 2 * I : I))));
}

std::string
loadBoth(Value CosLeaf, Value SinLeaf, RopeTable &T,
         llvm::function_ref<std::string(Value, std::vector<float> &)> Load) {
  if (std::string Why = Load(CosLeaf, T.Cos); !Why.empty())
    return Why;
  if (std::string Why = Load(SinLeaf, T.Sin); !Why.empty())
    return Why;
  return T.Cos.size() == T.Sin.size() ? std::string()
                                      : "cos and sin tables differ in size";
}

std::string readPlaces(Probe &All, Value CosLeaf, Value SinLeaf, RopeTable &T) {
  int64_t Rows = All.sample().Seq;
  auto Load = [&](Value Leaf, std::vector<float> &Out) -> std::string {
    Result<const eval::Tensor *> Data = All.evaluate(Leaf);
    if (!Data)
      return Data.status().message();
    const eval::Tensor &W = **Data;
    if (W.count() == 0 || W.count() % Rows != 0)
      return "its tables give shape " + eval::describe(W) + " for " +
             std::to_string(Rows) + " positions";
    int64_t Used = W.count() / Rows;
    takeAngles(W, Used, Used, std::min<int64_t>(Rows, 4), T, Out);
    return {};
  };
  return loadBoth(CosLeaf, SinLeaf, T, Load);
}

} // namespace llmc::raise
