// Rarer operations of the evaluator that move elements or pick them by value.
#include "compiler/eval/Ops.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace llmc::eval {

Result<Tensor> compress(Budget &B, const Tensor &X, const Tensor &Condition,
                        std::optional<int64_t> Axis) {
  if (Condition.Type != DType::Bool || Condition.rank() != 1)
    return malformedError("compress by " + describe(Condition));
  Tensor Flat = X;
  if (!Axis)
    Flat.Shape = {X.count()};
  LLMC_ASSIGN_OR_RETURN(int64_t A,
                        normaliseAxis(Axis.value_or(0), Flat.rank()));
  Dims Picked;
  for (int64_t I = 0; I < Condition.count(); ++I)
    if (Condition.Bytes[static_cast<size_t>(I)])
      Picked.push_back(I);
  int64_t Count = static_cast<int64_t>(Picked.size());
  return gather(B, Flat, Tensor::ofInts(DType::I64, {Count}, Picked), A);
}

Result<Tensor> reverseSequence(Budget &B, const Tensor &X,
                               const Tensor &Lengths, int64_t BatchAxis,
                               int64_t TimeAxis) {
  LLMC_ASSIGN_OR_RETURN(int64_t BA, normaliseAxis(BatchAxis, X.rank()));
  LLMC_ASSIGN_OR_RETURN(int64_t TA, normaliseAxis(TimeAxis, X.rank()));
  size_t Batch = static_cast<size_t>(BA), Time = static_cast<size_t>(TA);
  if (Batch == Time || Batch > 1 || Time > 1 || !isInteger(Lengths.Type) ||
      Lengths.count() != X.Shape[Batch])
    return malformedError("reverse_sequence of " + describe(X) + " by " +
                          describe(Lengths));
  std::vector<int64_t> N = load<int64_t>(Lengths);
  for (int64_t L : N)
    if (L < 0 || L > X.Shape[Time])
      return malformedError("reverse_sequence: length " + std::to_string(L) +
                            " of " + std::to_string(X.Shape[Time]));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  int64_t Rows = X.Shape[0] * X.Shape[1];
  size_t Row = Rows ? X.Bytes.size() / static_cast<size_t>(Rows) : 0;
  for (int64_t I = 0; I < X.Shape[Batch]; ++I)
    for (int64_t T = 0; T < X.Shape[Time]; ++T) {
      int64_t Length = N[static_cast<size_t>(I)];
      int64_t From = T < Length ? Length - 1 - T : T;
      int64_t To = Batch == 0 ? I * X.Shape[1] + T : T * X.Shape[1] + I;
      int64_t Source =
          Batch == 0 ? I * X.Shape[1] + From : From * X.Shape[1] + I;
      std::copy_n(X.Bytes.begin() + Source * static_cast<int64_t>(Row), Row,
                  Out.Bytes.begin() + To * static_cast<int64_t>(Row));
    }
  return Out;
}

namespace {
/// A slice of a tensor by its values; NaN is one value, behind all others.
using Key = std::vector<double>;
struct KeyLess {
  bool operator()(const Key &A, const Key &B) const {
    return std::lexicographical_compare(
        A.begin(), A.end(), B.begin(), B.end(), [](double X, double Y) {
          return std::isnan(Y) ? !std::isnan(X) : X < Y;
        });
  }
};
struct Group {
  int64_t First, Count, Number;
};
} // namespace

/// Slices along an axis as rows of a matrix.
static Result<Tensor> asRows(Budget &B, const Tensor &X,
                             std::optional<int64_t> Axis) {
  Tensor Rows = X;
  if (!Axis) {
    Rows.Shape = {X.count(), 1};
    return Rows;
  }
  Dims Order{*Axis};
  for (int64_t I = 0; I < X.rank(); ++I)
    if (I != *Axis)
      Order.push_back(I);
  LLMC_ASSIGN_OR_RETURN(Rows, transpose(B, X, Order));
  int64_t N = Rows.Shape.front();
  Rows.Shape = {N, N ? Rows.count() / N : 0};
  return Rows;
}

Result<std::vector<Tensor>> unique(Budget &B, const Tensor &X,
                                   std::optional<int64_t> Axis, bool Sorted) {
  if (Axis) {
    LLMC_ASSIGN_OR_RETURN(Axis, normaliseAxis(*Axis, X.rank()));
  }
  LLMC_ASSIGN_OR_RETURN(Tensor Rows, asRows(B, X, Axis));
  LLMC_RETURN_IF_ERROR(B.work(countOf({16, std::max<int64_t>(X.count(), 1)})));
  std::vector<double> V = load<double>(Rows);
  size_t Width = static_cast<size_t>(Rows.Shape[1]);
  std::map<Key, Group, KeyLess> Groups;
  std::vector<Group *> Of, Order;
  for (int64_t I = 0; I < Rows.Shape[0]; ++I) {
    const double *Begin = V.data() + static_cast<size_t>(I) * Width;
    auto [It, New] =
        Groups.try_emplace(Key(Begin, Begin + Width), Group{I, 0, 0});
    if (New)
      Order.push_back(&It->second);
    ++It->second.Count;
    Of.push_back(&It->second);
  }
  if (Sorted) {
    Order.clear();
    for (auto &[Unused, G] : Groups)
      Order.push_back(&G);
  }
  Dims First, Inverse, Counts;
  for (Group *G : Order) {
    G->Number = static_cast<int64_t>(First.size());
    First.push_back(G->First);
    Counts.push_back(G->Count);
  }
  for (Group *G : Of)
    Inverse.push_back(G->Number);
  Tensor Flat = X;
  if (!Axis)
    Flat.Shape = {X.count()};
  int64_t N = static_cast<int64_t>(First.size());
  Tensor Indices = Tensor::ofInts(DType::I64, {N}, First);
  LLMC_ASSIGN_OR_RETURN(Tensor Y, gather(B, Flat, Indices, Axis.value_or(0)));
  std::vector<Tensor> Out;
  Out.push_back(std::move(Y));
  Out.push_back(std::move(Indices));
  Out.push_back(Tensor::ofInts(
      DType::I64, {static_cast<int64_t>(Inverse.size())}, Inverse));
  Out.push_back(Tensor::ofInts(DType::I64, {N}, Counts));
  return Out;
}

Result<Tensor> centerCropPad(Budget &B, const Tensor &X, const Dims &Shape,
                             const Dims &Axes) {
  if (Shape.size() != Axes.size())
    return malformedError("center_crop_pad: " + std::to_string(Shape.size()) +
                          " dims for " + std::to_string(Axes.size()) + " axes");
  Dims Begin(X.Shape.size(), 0), End(X.Shape.size(), 0);
  for (size_t I = 0; I < Axes.size(); ++I) {
    LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axes[I], X.rank()));
    size_t At = static_cast<size_t>(A);
    if (Shape[I] < 0 || Shape[I] > (1ll << 40))
      return malformedError("center_crop_pad to " + std::to_string(Shape[I]));
    int64_t More = Shape[I] - X.Shape[At];
    // Odd rests are cut or added at the end.
    Begin[At] = More >= 0 ? More / 2 : -((X.Shape[At] - Shape[I]) / 2);
    End[At] = More - Begin[At];
  }
  return pad(B, X, Begin, End, PadMode::Constant, Tensor());
}

constexpr int64_t MaxBlock = 1 << 10;

/// Dims of tensors without elements that would overflow with a block.
static bool tooLarge(const Tensor &X) {
  return std::any_of(X.Shape.begin(), X.Shape.end(),
                     [](int64_t D) { return D > (int64_t(1) << 40); });
}

Result<Tensor> depthToSpace(Budget &B, const Tensor &X, int64_t Block,
                            bool ColumnFirst) {
  if (X.rank() != 4 || Block < 1 || Block > MaxBlock || tooLarge(X) ||
      X.Shape[1] % (Block * Block))
    return malformedError("depth_to_space of " + describe(X) + ", block size " +
                          std::to_string(Block));
  int64_t N = X.Shape[0], C = X.Shape[1] / (Block * Block), H = X.Shape[2],
          W = X.Shape[3];
  Tensor Out = X;
  Out.Shape = ColumnFirst ? Dims{N, C, Block, Block, H, W}
                          : Dims{N, Block, Block, C, H, W};
  LLMC_ASSIGN_OR_RETURN(Out, transpose(B, Out,
                                       ColumnFirst ? Dims{0, 1, 4, 2, 5, 3}
                                                   : Dims{0, 3, 4, 1, 5, 2}));
  Out.Shape = {N, C, H * Block, W * Block};
  return Out;
}

Result<Tensor> spaceToDepth(Budget &B, const Tensor &X, int64_t Block,
                            bool ColumnFirst) {
  if (X.rank() != 4 || Block < 1 || Block > MaxBlock || tooLarge(X) ||
      X.Shape[2] % Block || X.Shape[3] % Block)
    return malformedError("space_to_depth of " + describe(X) + ", block size " +
                          std::to_string(Block));
  int64_t N = X.Shape[0], C = X.Shape[1], H = X.Shape[2] / Block,
          W = X.Shape[3] / Block;
  Tensor Out = X;
  Out.Shape = {N, C, H, Block, W, Block};
  LLMC_ASSIGN_OR_RETURN(Out, transpose(B, Out,
                                       ColumnFirst ? Dims{0, 1, 3, 5, 2, 4}
                                                   : Dims{0, 3, 5, 1, 2, 4}));
  Out.Shape = {N, C * Block * Block, H, W};
  return Out;
}

} // namespace llmc::eval
