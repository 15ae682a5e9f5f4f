// Operations of the evaluator that only move elements: reshape, transpose,
// expand, concat, split, slice, pad, tile, trilu.
#include "compiler/eval/Ops.h"

#include <algorithm>
#include <limits>

namespace llmc::eval {

/// X with another shape of the same count.
static Result<Tensor> reshaped(Budget &B, const Tensor &X, const Dims &Shape) {
  if (countOf(Shape) != X.count())
    return malformedError("reshape of " + std::to_string(X.count()) +
                          " elements to " + std::to_string(countOf(Shape)));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, Shape));
  Out.Bytes = X.Bytes;
  return Out;
}

/// Copies elements picked by strides (and a start) into a new tensor.
static Result<Tensor> strided(Budget &B, const Tensor &X, const Dims &Shape,
                              const Dims &Strides, int64_t Start = 0) {
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, Shape));
  size_t Size = storedBytes(X.Type);
  forEachIndex(Shape, {Strides}, [&](int64_t I, const int64_t *At) {
    std::memcpy(&Out.Bytes[static_cast<size_t>(I) * Size],
                &X.Bytes[static_cast<size_t>(Start + At[0]) * Size], Size);
  });
  return Out;
}

Result<Tensor> reshape(Budget &B, const Tensor &X, const Dims &Shape,
                       bool AllowZero) {
  Dims Out = Shape;
  int64_t Infer = -1;
  for (size_t I = 0; I < Out.size(); ++I) {
    if (Out[I] == 0 && !AllowZero) {
      if (I >= X.Shape.size())
        return malformedError("reshape copies dim " + std::to_string(I) +
                              " of " + describe(X));
      Out[I] = X.Shape[I];
    } else if (Out[I] == -1) {
      if (Infer >= 0)
        return malformedError("reshape with two dims of -1");
      Infer = static_cast<int64_t>(I);
    }
  }
  if (Infer >= 0) {
    Out[static_cast<size_t>(Infer)] = 1;
    int64_t Known = countOf(Out);
    if (Known <= 0 || X.count() % Known != 0)
      return malformedError("reshape of " + std::to_string(X.count()) +
                            " elements to a multiple of " +
                            std::to_string(Known));
    Out[static_cast<size_t>(Infer)] = X.count() / Known;
  }
  return reshaped(B, X, Out);
}

Result<Tensor> flatten(Budget &B, const Tensor &X, int64_t Axis) {
  int64_t A = Axis < 0 ? Axis + X.rank() : Axis;
  if (A < 0 || A > X.rank())
    return malformedError("flatten: axis " + std::to_string(Axis) +
                          " is out of range for rank " +
                          std::to_string(X.rank()));
  Dims Outer(X.Shape.begin(), X.Shape.begin() + A);
  Dims Inner(X.Shape.begin() + A, X.Shape.end());
  return reshaped(B, X, {countOf(Outer), countOf(Inner)});
}

Result<Tensor> unsqueeze(Budget &B, const Tensor &X, const Dims &Axes) {
  int64_t Rank = X.rank() + static_cast<int64_t>(Axes.size());
  Dims Shape(static_cast<size_t>(Rank), -1);
  for (int64_t Axis : Axes) {
    LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, Rank));
    if (Shape[static_cast<size_t>(A)] == 1)
      return malformedError("unsqueeze: axis " + std::to_string(A) +
                            " is given twice");
    Shape[static_cast<size_t>(A)] = 1;
  }
  size_t Next = 0;
  for (int64_t &D : Shape)
    if (D == -1)
      D = X.Shape[Next++];
  return reshaped(B, X, Shape);
}

Result<Tensor> squeeze(Budget &B, const Tensor &X, const Dims &Axes,
                       bool AllOnes) {
  std::vector<bool> Drop(X.Shape.size(), false);
  if (AllOnes)
    for (size_t I = 0; I < X.Shape.size(); ++I)
      Drop[I] = X.Shape[I] == 1;
  for (int64_t Axis : Axes) {
    LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, X.rank()));
    if (X.Shape[static_cast<size_t>(A)] != 1)
      return malformedError("squeeze: dim " + std::to_string(A) + " of " +
                            describe(X) + " is not 1");
    Drop[static_cast<size_t>(A)] = true;
  }
  Dims Shape;
  for (size_t I = 0; I < X.Shape.size(); ++I)
    if (!Drop[I])
      Shape.push_back(X.Shape[I]);
  return reshaped(B, X, Shape);
}

Result<Tensor> transpose(Budget &B, const Tensor &X, const Dims &Permutation) {
  Dims Perm = Permutation;
  if (Perm.empty())
    for (int64_t I = X.rank(); I-- > 0;)
      Perm.push_back(I);
  Dims Sorted = Perm;
  std::sort(Sorted.begin(), Sorted.end());
  for (size_t I = 0; I < Sorted.size(); ++I)
    if (Sorted[I] != static_cast<int64_t>(I))
      return malformedError("transpose: not a permutation");
  if (Perm.size() != X.Shape.size())
    return malformedError("transpose: permutation of " +
                          std::to_string(Perm.size()) + " axes for " +
                          describe(X));
  Dims From = stridesOf(X.Shape), Shape, Strides;
  for (int64_t P : Perm) {
    Shape.push_back(X.Shape[static_cast<size_t>(P)]);
    Strides.push_back(From[static_cast<size_t>(P)]);
  }
  return strided(B, X, Shape, Strides);
}

Result<Tensor> expand(Budget &B, const Tensor &X, const Dims &Shape) {
  for (int64_t D : Shape)
    if (D < 0)
      return malformedError("expand to dim " + std::to_string(D));
  LLMC_ASSIGN_OR_RETURN(Dims Out, broadcastShapes(X.Shape, Shape));
  return strided(B, X, Out, broadcastStrides(X.Shape, Out));
}

Result<Tensor> tile(Budget &B, const Tensor &X, const Dims &Repeats) {
  if (Repeats.size() != X.Shape.size())
    return malformedError("tile: " + std::to_string(Repeats.size()) +
                          " repeats for " + describe(X));
  // [a, b] x (p, q) is [p, a, q, b] with strides 0 for p and q.
  Dims Shape, Strides, Own = stridesOf(X.Shape), Final;
  for (size_t I = 0; I < Repeats.size(); ++I) {
    Shape.insert(Shape.end(), {Repeats[I], X.Shape[I]});
    Strides.insert(Strides.end(), {0, Own[I]});
    int64_t D;
    if (Repeats[I] < 0 || __builtin_mul_overflow(Repeats[I], X.Shape[I], &D))
      return malformedError("tile: bad repeat " + std::to_string(Repeats[I]));
    Final.push_back(D);
  }
  LLMC_ASSIGN_OR_RETURN(Tensor Out, strided(B, X, Shape, Strides));
  Out.Shape = Final;
  return Out;
}

/// Product of the dims in [Begin, End).
static int64_t product(const Dims &Shape, int64_t Begin, int64_t End) {
  return countOf(Dims(Shape.begin() + Begin, Shape.begin() + End));
}

Result<Tensor> concat(Budget &B, const std::vector<const Tensor *> &Parts,
                      int64_t Axis) {
  if (Parts.empty())
    return malformedError("concat of nothing");
  const Tensor &First = *Parts.front();
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, First.rank()));
  Dims Shape = First.Shape;
  int64_t Sum = 0;
  for (const Tensor *P : Parts) {
    if (P->rank() != First.rank() || P->Type != First.Type)
      return malformedError("concat of " + describe(First) + " and " +
                            describe(*P));
    Dims Expected = P->Shape;
    Sum += Expected[static_cast<size_t>(A)];
    Expected[static_cast<size_t>(A)] = Shape[static_cast<size_t>(A)];
    if (Expected != Shape)
      return malformedError("concat of " + describe(First) + " and " +
                            describe(*P));
  }
  Shape[static_cast<size_t>(A)] = Sum;
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(First.Type, Shape));
  int64_t Outer = product(Shape, 0, A);
  size_t Size = storedBytes(First.Type);
  size_t Row = static_cast<size_t>(product(Shape, A, First.rank())) * Size;
  size_t At = 0;
  for (const Tensor *P : Parts) {
    size_t Length =
        static_cast<size_t>(product(P->Shape, A, First.rank())) * Size;
    for (int64_t I = 0; I < Outer && Length; ++I)
      std::memcpy(&Out.Bytes[static_cast<size_t>(I) * Row + At],
                  &P->Bytes[static_cast<size_t>(I) * Length], Length);
    At += Length;
  }
  return Out;
}

Result<std::vector<Tensor>> split(Budget &B, const Tensor &X, int64_t Axis,
                                  const Dims &Sizes) {
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, X.rank()));
  int64_t Sum = 0, Begin = 0;
  for (int64_t S : Sizes) {
    if (S < 0 || S > X.Shape[static_cast<size_t>(A)])
      return malformedError("split: bad size " + std::to_string(S));
    Sum += S;
  }
  if (Sum != X.Shape[static_cast<size_t>(A)])
    return malformedError("split: sizes add up to " + std::to_string(Sum) +
                          ", the dim is " +
                          std::to_string(X.Shape[static_cast<size_t>(A)]));
  std::vector<Tensor> Out;
  for (int64_t S : Sizes) {
    LLMC_ASSIGN_OR_RETURN(Tensor Part,
                          slice(B, X, {Begin}, {Begin + S}, {A}, {}));
    Out.push_back(std::move(Part));
    Begin += S;
  }
  return Out;
}

SliceRange sliceRange(int64_t Dim, int64_t Start, int64_t End, int64_t Step) {
  int64_t Low = Step > 0 ? 0 : -1, High = Step > 0 ? Dim : Dim - 1;
  int64_t S =
      std::clamp(Start < 0 ? Start + Dim : Start, Step > 0 ? 0 : Low, High);
  int64_t E = std::clamp(End < 0 ? End + Dim : End, Low, Step > 0 ? Dim : High);
  if (Step > 0)
    return {S, E > S ? (E - S - 1) / Step + 1 : 0};
  // -Step may not be representable; one element is all that such a step takes.
  if (Step == std::numeric_limits<int64_t>::min())
    return {S, S > E ? 1 : 0};
  return {S, S > E ? (S - E - 1) / -Step + 1 : 0};
}

Result<Tensor> slice(Budget &B, const Tensor &X, const Dims &Starts,
                     const Dims &Ends, const Dims &Axes, const Dims &Steps) {
  if (Starts.size() != Ends.size() ||
      (!Axes.empty() && Axes.size() != Starts.size()) ||
      (!Steps.empty() && Steps.size() != Starts.size()))
    return malformedError("slice: starts, ends, axes and steps differ in size");
  Dims Shape = X.Shape, Strides = stridesOf(X.Shape);
  int64_t Begin = 0;
  std::vector<bool> Seen(Shape.size(), false);
  for (size_t I = 0; I < Starts.size(); ++I) {
    LLMC_ASSIGN_OR_RETURN(
        int64_t A,
        normaliseAxis(Axes.empty() ? static_cast<int64_t>(I) : Axes[I],
                      X.rank()));
    size_t D = static_cast<size_t>(A);
    int64_t Step = Steps.empty() ? 1 : Steps[I];
    if (Step == 0 || Seen[D])
      return malformedError("slice: step 0 or an axis given twice");
    Seen[D] = true;
    SliceRange R = sliceRange(X.Shape[D], Starts[I], Ends[I], Step);
    Begin += R.Count ? R.Begin * Strides[D] : 0;
    Shape[D] = R.Count;
    Strides[D] = R.Count > 1 ? Strides[D] * Step : 0;
  }
  return strided(B, X, Shape, Strides, Begin);
}

/// Source index of a padded position, or -1 for the constant.
static int64_t padSource(int64_t I, int64_t Dim, PadMode Mode) {
  if (I >= 0 && I < Dim)
    return I;
  switch (Mode) {
  case PadMode::Constant:
    return -1;
  case PadMode::Edge:
    return I < 0 ? 0 : Dim - 1;
  case PadMode::Wrap:
    return ((I % Dim) + Dim) % Dim;
  case PadMode::Reflect: {
    if (Dim == 1)
      return 0;
    int64_t Period = 2 * (Dim - 1);
    int64_t M = ((I % Period) + Period) % Period;
    return M < Dim ? M : Period - M;
  }
  }
  return -1;
}

Result<Tensor> pad(Budget &B, const Tensor &X, const Dims &Begin,
                   const Dims &End, PadMode Mode, const Tensor &Value) {
  if (Begin.size() != X.Shape.size() || End.size() != X.Shape.size())
    return malformedError("pad: wrong number of pads for " + describe(X));
  Dims Shape;
  for (size_t I = 0; I < Begin.size(); ++I) {
    int64_t D;
    if (__builtin_add_overflow(X.Shape[I], Begin[I], &D) ||
        __builtin_add_overflow(D, End[I], &D) || D < 0)
      return malformedError("pad: bad pads for " + describe(X));
    if (Mode != PadMode::Constant && X.Shape[I] == 0 && D > 0)
      return malformedError("pad: an empty dim cannot be extended");
    Shape.push_back(D);
  }
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, Shape));
  size_t Size = storedBytes(X.Type);
  Dims Own = stridesOf(Shape), From = stridesOf(X.Shape);
  for (int64_t I = 0, N = Out.count(); I < N; ++I) {
    int64_t Source = 0, Rest = I;
    for (size_t D = 0; D < Shape.size() && Source >= 0; ++D) {
      int64_t P = padSource(Rest / Own[D] - Begin[D], X.Shape[D], Mode);
      Rest %= Own[D];
      Source = P < 0 ? -1 : Source + P * From[D];
    }
    if (Source >= 0)
      std::memcpy(&Out.Bytes[static_cast<size_t>(I) * Size],
                  &X.Bytes[static_cast<size_t>(Source) * Size], Size);
    else if (Value.present() && Value.Bytes.size() >= Size)
      std::memcpy(&Out.Bytes[static_cast<size_t>(I) * Size], Value.Bytes.data(),
                  Size);
  }
  return Out;
}

Result<Tensor> trilu(Budget &B, const Tensor &X, int64_t K, bool Upper) {
  if (X.rank() < 2)
    return malformedError("trilu of " + describe(X));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  int64_t Columns = X.Shape.back(), Rows = X.Shape[X.Shape.size() - 2];
  size_t Size = storedBytes(X.Type);
  __int128 Diagonal = K;
  for (int64_t I = 0, N = X.count(); I < N; ++I) {
    int64_t Row = I / Columns % Rows, Column = I % Columns;
    bool Keep = Upper ? Column - Row >= Diagonal : Column - Row <= Diagonal;
    if (Keep)
      std::memcpy(&Out.Bytes[static_cast<size_t>(I) * Size],
                  &X.Bytes[static_cast<size_t>(I) * Size], Size);
  }
  return Out;
}

} // namespace llmc::eval
