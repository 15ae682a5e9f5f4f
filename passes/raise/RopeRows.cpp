// Sources of rotated elements by numbering; see RopeRows.h.
#include "passes/raise/RopeRows.h"

#include "passes/raise/Match.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {

RowLayout layoutOf(Value X, Probe &P) {
  RowLayout Out;
  eval::Dims Shape;
  int64_t Tokens = P.sample().Seq, Rank = rankOf(X);
  if (Rank < 3 || Rank > 4 || !P.shapeOf(X, Shape) ||
      int64_t(Shape.size()) != Rank)
    return Out;
  Out.Features = eval::countOf(Shape) / Tokens;
  Out.Dim = Shape.back();
  Out.HeadsFirst = Rank == 4 && Shape[2] == Tokens && Shape[1] != Tokens;
  if (Rank == 4 && Shape[1] == Shape[2])
    Out.HeadsFirst = cast<RankedTensorType>(X.getType()).isDynamicDim(2);
  return Out;
}

bool readFeatures(Probe &P, Value X, const RowLayout &In, Value Y,
                  const RowLayout &Out, int64_t Rotated, double Scaling,
                  std::vector<int64_t> &Features) {
  // Numbers times a scale must stay apart in f32.
  constexpr int64_t Most = int64_t(1) << 21;
  eval::Dims Shape;
  int64_t Tokens = P.sample().Seq;
  if (In.Features < 1 || In.Features > Most || Scaling == 0 ||
      !P.shapeOf(X, Shape) || eval::countOf(Shape) != Tokens * In.Features)
    return false;
  std::vector<double> Ids(size_t(eval::countOf(Shape)), 0);
  for (int64_t F = 0; F < In.Features; ++F)
    Ids[size_t(In.at(0, F, Tokens))] = double(F + 1);
  P.bind(X, eval::Tensor::ofFloats(DType::F32, Shape, Ids));
  Result<const eval::Tensor *> Got = P.evaluate(Y);
  if (!Got || (*Got)->count() != Tokens * Out.Features)
    return false;
  Features.clear();
  for (int64_t F = 0; F < Out.Features; ++F) {
    double V = eval::floatAt(**Got, Out.at(0, F, Tokens));
    double Id = F % Out.Dim < Rotated ? V / Scaling : V;
    int64_t Number = std::llround(Id);
    if (!(std::abs(Id - double(Number)) < 0.25) || Number < 1 ||
        Number > In.Features)
      return false;
    Features.push_back(Number - 1);
  }
  return true;
}

bool areAll(ArrayRef<int64_t> Features, int64_t Width) {
  for (auto [I, F] : llvm::enumerate(Features))
    if (F != int64_t(I))
      return false;
  return int64_t(Features.size()) == Width;
}

} // namespace llmc::raise
