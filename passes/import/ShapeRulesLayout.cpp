// Shape rules of ops that make shapes and move elements.
#include "dialects/onnx/Onnx.h"
#include "passes/import/ShapeRules.h"

#include <limits>

using namespace mlir;

namespace llmc {

/// Elements keep their order: what is carried stays (reshape-like ops).
static void keepData(RuleCall &C) {
  if (C.in(0).HasData && C.carries(C.out()))
    C.out().setData(C.in(0).Data);
}

/// Unknown dims, as many as the shape operand I has elements.
static bool rankFromOperand(RuleCall &C, unsigned I) {
  if (C.in(I).rank() != 1)
    return false;
  std::optional<int64_t> N =
      C.in(I).Shape[0] ? C.in(I).Shape[0]->constant() : std::nullopt;
  if (!N || *N < 0 || *N > 64)
    return false;
  C.out().setShape(DimList(static_cast<size_t>(*N), Dim()));
  return true;
}

/// An element of a shape operand as a dim; unknown where it may be negative.
static Dim asDim(const Dim &E) {
  return E && E->lowerBound().value_or(-1) >= 0 ? E : Dim();
}

//===----------------------------------------------------------------------===//
// Shape, Size, Reshape and its like
//===----------------------------------------------------------------------===//

static void shapeOf(RuleCall &C) {
  C.out().Element = C.intType(64);
  if (!C.in(0).Ranked) {
    C.out().setShape({Dim()});
    return;
  }
  int64_t N = static_cast<int64_t>(C.in(0).rank());
  auto Bound = [N](int64_t B) {
    return std::clamp<int64_t>(B < 0 ? B + N : B, 0, N);
  };
  int64_t Begin = Bound(C.attr("start", 0)), End = Bound(C.attr("end", N));
  ArrayRef<Dim> Dims(C.in(0).Shape);
  Dims = Dims.slice(static_cast<size_t>(Begin),
                    static_cast<size_t>(std::max<int64_t>(End - Begin, 0)));
  C.out().setShape({DimExpr(static_cast<int64_t>(Dims.size()))});
  C.out().setData(DimList(Dims.begin(), Dims.end()));
}

static void sizeOf(RuleCall &C) {
  C.out().Element = C.intType(64);
  C.out().setShape({});
  if (C.in(0).Ranked)
    C.out().setData({productOf(C.in(0).Shape)});
}

/// Fills the one open dim of Out, such that both have equally many elements.
/// Dims that are copied from the same place cancel even if unknown.
static void fillOpen(const DimList &In, DimList &Out,
                     const std::vector<bool> &Copied, size_t Open) {
  Dim Total = DimExpr(1), Known = DimExpr(1);
  for (size_t I = 0; I < In.size(); ++I)
    if (!(I < Copied.size() && Copied[I]))
      Total = mul(Total, In[I]);
  for (size_t I = 0; I < Out.size(); ++I)
    if (I != Open && !Copied[I])
      Known = mul(Known, Out[I]);
  if (!Known || Known->lowerBound().value_or(-1) < 0)
    return;
  Out[Open] = asDim(divideExactly(Total, Known));
}

static void reshape(RuleCall &C) {
  if (!rankFromOperand(C, 1))
    return;
  keepData(C);
  const ValueInfo &Wanted = C.in(1), &In = C.in(0);
  if (!Wanted.HasData)
    return;
  DimList Out;
  std::vector<bool> Copied;
  SmallVector<size_t> Open;
  bool AllowZero = C.attr("allowzero", 0);
  for (auto [I, E] : llvm::enumerate(Wanted.Data)) {
    bool Copy = isNumber(E, 0) && !AllowZero;
    Copied.push_back(Copy);
    Out.push_back(Copy ? (I < In.rank() ? In.Shape[I] : Dim()) : asDim(E));
    if (!Copy && !Out.back())
      Open.push_back(I);
  }
  // One open dim, -1 or not known, follows from the number of elements.
  if (Open.size() == 1 && In.Ranked)
    fillOpen(In.Shape, Out, Copied, Open[0]);
  C.out().setShape(std::move(Out));
}

static void flatten(RuleCall &C) {
  keepData(C);
  if (!C.in(0).Ranked)
    return;
  ArrayRef<Dim> In(C.in(0).Shape);
  int64_t N = static_cast<int64_t>(In.size()), A = C.attr("axis", 1);
  A = std::clamp<int64_t>(A < 0 ? A + N : A, 0, N);
  C.out().setShape({productOf(In.take_front(static_cast<size_t>(A))),
                    productOf(In.drop_front(static_cast<size_t>(A)))});
}

static void unsqueeze(RuleCall &C) {
  keepData(C);
  std::optional<SmallVector<int64_t>> Axes = C.constants(1);
  if (!Axes || !C.in(0).Ranked)
    return;
  size_t Rank = C.in(0).rank() + Axes->size();
  std::vector<bool> Inserted(Rank, false);
  for (int64_t Axis : *Axes) {
    std::optional<size_t> A = axisOf(Axis, Rank);
    if (!A || Inserted[*A])
      return;
    Inserted[*A] = true;
  }
  DimList Out;
  size_t Next = 0;
  for (bool One : Inserted)
    Out.push_back(One ? Dim(DimExpr(1)) : C.in(0).Shape[Next++]);
  C.out().setShape(std::move(Out));
}

static void squeeze(RuleCall &C) {
  keepData(C);
  if (!C.in(0).Ranked)
    return;
  const DimList &In = C.in(0).Shape;
  std::vector<bool> Drop(In.size(), false);
  if (C.absent(1)) {
    // Which dims go is certain only where none is merely unknown.
    for (auto [I, D] : llvm::enumerate(In)) {
      if (!D || (!D->isConstant() && D->lowerBound().value_or(0) < 2))
        return;
      Drop[I] = isNumber(D, 1);
    }
  } else {
    std::optional<SmallVector<int64_t>> Axes = C.constants(1);
    if (!Axes)
      return;
    for (int64_t Axis : *Axes) {
      std::optional<size_t> A = axisOf(Axis, In.size());
      if (!A)
        return;
      Drop[*A] = true;
    }
  }
  DimList Out;
  for (auto [I, D] : llvm::enumerate(In))
    if (!Drop[I])
      Out.push_back(D);
  C.out().setShape(std::move(Out));
}

static void transpose(RuleCall &C) {
  if (!C.in(0).Ranked)
    return;
  const DimList &In = C.in(0).Shape;
  DimList Out(In.rbegin(), In.rend());
  if (std::optional<ArrayRef<int64_t>> Perm =
          cast<onnx::TransposeOp>(C.Op).getPerm()) {
    if (Perm->size() != In.size())
      return;
    for (auto [I, P] : llvm::enumerate(*Perm)) {
      if (P < 0 || static_cast<size_t>(P) >= In.size())
        return;
      Out[I] = In[static_cast<size_t>(P)];
    }
  }
  C.out().setShape(std::move(Out));
  if (In.size() <= 1)
    keepData(C);
}

static void expand(RuleCall &C) {
  if (!C.in(0).Ranked || !rankFromOperand(C, 1))
    return;
  DimList Wanted = C.out().Shape;
  if (C.in(1).HasData)
    for (size_t I = 0; I < Wanted.size(); ++I)
      Wanted[I] = asDim(C.in(1).Data[I]);
  const DimList &In = C.in(0).Shape;
  size_t Rank = std::max(In.size(), Wanted.size());
  DimList Out(Rank, DimExpr(1));
  for (size_t I = 0; I < Wanted.size(); ++I)
    Out[Rank - Wanted.size() + I] = Wanted[I];
  for (size_t I = 0; I < In.size(); ++I) {
    Dim &D = Out[Rank - In.size() + I];
    D = broadcastDim(In[I], D);
  }
  C.out().setShape(std::move(Out));
  // Only the first operand has elements to repeat.
  C.In.resize(1);
  C.mapData([](ArrayRef<Dim> E) { return E[0]; });
}

static void tile(RuleCall &C) {
  if (!C.in(0).Ranked)
    return;
  DimList Out(C.in(0).rank(), Dim());
  if (C.in(1).HasData && C.in(1).Data.size() == Out.size())
    for (size_t I = 0; I < Out.size(); ++I)
      Out[I] = mul(C.in(0).Shape[I], asDim(C.in(1).Data[I]));
  C.out().setShape(std::move(Out));
}

//===----------------------------------------------------------------------===//
// Concat, Split, Slice, Pad
//===----------------------------------------------------------------------===//

static void concat(RuleCall &C) {
  size_t Rank = 0;
  for (const ValueInfo *V : C.In) {
    if (!V->Ranked)
      return;
    Rank = V->rank();
  }
  std::optional<size_t> Axis = axisOf(C.attr("axis", 0), Rank);
  if (!Axis)
    return;
  DimList Out = C.in(0).Shape, Data;
  bool HasData = Rank == 1;
  Dim Sum = DimExpr(0);
  bool Declared = isa<BlockArgument>(C.Op->getOperand(0));
  for (auto [N, V] : llvm::enumerate(C.In)) {
    if (V->rank() != Rank)
      return;
    Sum = add(Sum, V->Shape[*Axis]);
    // Other dims are equal in a valid program: keep the best known one, a
    // number, else what was computed. Files are known to name dims of their
    // inputs wrongly ("batch" for batch * heads).
    bool Better = Declared && !isa<BlockArgument>(C.Op->getOperand(N));
    for (size_t I = 0; I < Rank; ++I)
      if (V->Shape[I] && (!Out[I] || V->Shape[I]->isConstant() ||
                          (Better && !Out[I]->isConstant())))
        Out[I] = V->Shape[I];
    Declared &= !Better;
    HasData &= V->HasData;
    if (HasData)
      Data.append(V->Data);
  }
  Out[*Axis] = Sum;
  C.out().setShape(std::move(Out));
  if (HasData && Data.size() <= ShapeAnalysis::MaxData)
    C.out().setData(std::move(Data));
}

static void split(RuleCall &C) {
  if (!C.in(0).Ranked)
    return;
  std::optional<size_t> Axis = axisOf(C.attr("axis", 0), C.in(0).rank());
  if (!Axis)
    return;
  size_t Parts = C.Out.size();
  DimList Sizes(Parts, Dim());
  const Dim &Whole = C.in(0).Shape[*Axis];
  if (!C.absent(1)) {
    if (C.in(1).HasData && C.in(1).Data.size() == Parts)
      Sizes = C.in(1).Data;
  } else if (Dim Each =
                 divideExactly(Whole, DimExpr(static_cast<int64_t>(Parts)))) {
    Sizes.assign(Parts, Each);
  } else if (std::optional<int64_t> N =
                 Whole ? Whole->constant() : std::nullopt) {
    int64_t P = static_cast<int64_t>(Parts), Chunk = (*N + P - 1) / P;
    for (int64_t I = 0; I < P; ++I)
      Sizes[static_cast<size_t>(I)] =
          DimExpr(std::clamp<int64_t>(*N - I * Chunk, 0, Chunk));
  }
  bool Carry = C.in(0).HasData && C.in(0).rank() == 1;
  size_t Begin = 0;
  for (size_t I = 0; I < Parts; ++I) {
    DimList Shape = C.in(0).Shape;
    Shape[*Axis] = asDim(Sizes[I]);
    C.Out[I].setShape(std::move(Shape));
    std::optional<int64_t> N = Sizes[I] ? Sizes[I]->constant() : std::nullopt;
    Carry &=
        N && *N >= 0 && Begin + static_cast<size_t>(*N) <= C.in(0).Data.size();
    if (!Carry)
      continue;
    ArrayRef<Dim> Part =
        ArrayRef<Dim>(C.in(0).Data).slice(Begin, static_cast<size_t>(*N));
    C.Out[I].setData(DimList(Part.begin(), Part.end()));
    Begin += static_cast<size_t>(*N);
  }
}

/// A slice bound clamped to [0, D] for step 1; nothing if not certain.
static Dim clampBound(const Dim &Bound, const Dim &D) {
  if (!Bound || !D)
    return std::nullopt;
  std::optional<int64_t> Number = Bound->constant();
  if (Number && *Number >= INT32_MAX) // "to the end", in all its spellings
    return D;
  Dim B = Bound;
  std::optional<int64_t> Low = B->lowerBound(), High = B->upperBound();
  if (High && *High < 0)
    return maximum(Number && *Number <= -INT32_MAX ? Dim(DimExpr(0))
                                                   : add(B, D),
                   DimExpr(0));
  if (!Low || *Low < 0)
    return std::nullopt;
  return minimum(B, D);
}

static Dim sliceDim(const Dim &D, const Dim &Start, const Dim &End,
                    int64_t Step) {
  std::optional<int64_t> N = D ? D->constant() : std::nullopt;
  if (Step < 0) {
    // Reversal of a whole dim, or numbers only.
    std::optional<int64_t> S = Start ? Start->constant() : std::nullopt;
    std::optional<int64_t> E = End ? End->constant() : std::nullopt;
    bool Whole = S && E && (*S == -1 || *S >= INT32_MAX) && *E <= -INT32_MAX;
    if (Whole && Step == -1)
      return D;
    if (!N || !S || !E || Step == std::numeric_limits<int64_t>::min())
      return std::nullopt;
    int64_t From = std::clamp<int64_t>(*S < 0 ? *S + *N : *S, -1, *N - 1);
    int64_t To = std::clamp<int64_t>(*E < 0 ? *E + *N : *E, -1, *N - 1);
    return DimExpr(From > To ? (From - To - 1) / -Step + 1 : 0);
  }
  Dim Length =
      maximum(sub(clampBound(End, D), clampBound(Start, D)), DimExpr(0));
  if (Step == 1)
    return Length;
  return floorDiv(add(Length, DimExpr(Step - 1)), DimExpr(Step));
}

/// The elements of a sliced vector.
static void sliceData(RuleCall &C, int64_t Start, int64_t Step) {
  std::optional<int64_t> N =
      C.out().Shape[0] ? C.out().Shape[0]->constant() : std::nullopt;
  int64_t Size = static_cast<int64_t>(C.in(0).Data.size());
  if (!N)
    return;
  int64_t At = std::clamp<int64_t>(Start < 0 ? Start + Size : Start, 0,
                                   Step < 0 ? Size - 1 : Size);
  DimList Data;
  for (int64_t I = 0; I < *N; ++I, At += Step) {
    if (At < 0 || At >= Size)
      return;
    Data.push_back(C.in(0).Data[static_cast<size_t>(At)]);
  }
  C.out().setData(std::move(Data));
}

static void slice(RuleCall &C) {
  if (!C.in(0).Ranked)
    return;
  DimList Out(C.in(0).rank(), Dim());
  std::optional<SmallVector<int64_t>> Axes = C.constants(3);
  std::optional<SmallVector<int64_t>> Steps = C.constants(4);
  size_t Count = 0;
  if (C.in(1).rank() == 1 && C.in(1).Shape[0])
    Count = static_cast<size_t>(
        std::clamp<int64_t>(C.in(1).Shape[0]->constant().value_or(0), 0, 64));
  if (C.absent(3)) {
    Axes.emplace();
    for (size_t I = 0; I < Count; ++I)
      Axes->push_back(static_cast<int64_t>(I));
  }
  // Without known axes any dim may be cut.
  if (Axes && Axes->size() == Count && Count) {
    Out = C.in(0).Shape;
    for (auto [I, Axis] : llvm::enumerate(*Axes)) {
      std::optional<size_t> A = axisOf(Axis, Out.size());
      if (!A)
        return;
      bool Known = C.in(1).HasData && C.in(2).HasData &&
                   I < C.in(2).Data.size() &&
                   (C.absent(4) || (Steps && I < Steps->size()));
      int64_t Step = Known && Steps ? (*Steps)[I] : 1;
      Out[*A] = Known && Step != 0
                    ? sliceDim(C.in(0).Shape[*A], C.in(1).Data[I],
                               C.in(2).Data[I], Step)
                    : Dim();
    }
  }
  C.out().setShape(std::move(Out));
  std::optional<SmallVector<int64_t>> Starts = C.constants(1);
  if (C.in(0).HasData && C.in(0).rank() == 1 && Starts && Starts->size() == 1 &&
      (C.absent(4) || Steps))
    sliceData(C, Starts->front(), Steps ? Steps->front() : 1);
}

static void pad(RuleCall &C) {
  if (!C.in(0).Ranked)
    return;
  DimList Out(C.in(0).rank(), Dim());
  std::optional<SmallVector<int64_t>> Axes = C.constants(3);
  if (C.absent(3)) {
    Axes.emplace();
    for (size_t I = 0; I < Out.size(); ++I)
      Axes->push_back(static_cast<int64_t>(I));
  }
  if (Axes && C.in(1).HasData && C.in(1).Data.size() == 2 * Axes->size()) {
    Out = C.in(0).Shape;
    for (auto [I, Axis] : llvm::enumerate(*Axes))
      if (std::optional<size_t> A = axisOf(Axis, Out.size()))
        Out[*A] = asDim(
            add(Out[*A], add(C.in(1).Data[I], C.in(1).Data[I + Axes->size()])));
  }
  C.out().setShape(std::move(Out));
}

void addLayoutRules(RuleTable &T) {
  T["onnx.shape"] = shapeOf;
  T["onnx.size"] = sizeOf;
  T["onnx.reshape"] = reshape;
  T["onnx.flatten"] = flatten;
  T["onnx.unsqueeze"] = unsqueeze;
  T["onnx.squeeze"] = squeeze;
  T["onnx.transpose"] = transpose;
  T["onnx.expand"] = expand;
  T["onnx.tile"] = tile;
  T["onnx.concat"] = concat;
  T["onnx.split"] = split;
  T["onnx.slice"] = slice;
  T["onnx.pad"] = pad;
}

} // namespace llmc
