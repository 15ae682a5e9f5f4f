// Operations of the evaluator along axes: reductions, ArgMax, Softmax, CumSum,
// TopK. Sums are taken in double and rounded once.
#include "compiler/eval/Ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace llmc::eval {

namespace {
/// An axis in the middle: element (o, a, i) is at (o * Dim + a) * Inner + i.
struct AxisView {
  int64_t Outer, Dim, Inner;
  size_t at(int64_t O, int64_t A, int64_t I) const {
    return static_cast<size_t>((O * Dim + A) * Inner + I);
  }
};
} // namespace

template <typename Wide> static Wide addWrapping(Wide A, Wide B) {
  if constexpr (std::is_integral_v<Wide>)
    return static_cast<Wide>(static_cast<uint64_t>(A) +
                             static_cast<uint64_t>(B));
  return A + B;
}

template <typename Wide> static Wide multiplyWrapping(Wide A, Wide B) {
  if constexpr (std::is_integral_v<Wide>)
    return static_cast<Wide>(static_cast<uint64_t>(A) *
                             static_cast<uint64_t>(B));
  return A * B;
}

static Result<AxisView> viewAxis(const Tensor &X, int64_t Axis) {
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, X.rank()));
  return AxisView{countOf(Dims(X.Shape.begin(), X.Shape.begin() + A)),
                  X.Shape[static_cast<size_t>(A)],
                  countOf(Dims(X.Shape.begin() + A + 1, X.Shape.end()))};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Smallest and largest integer of a type, as int64 (u64: as far as it goes).
static std::pair<int64_t, int64_t> integerRange(DType T) {
  unsigned Bits = bitsOf(T);
  if (T == DType::Bool)
    return {0, 1};
  bool Signed = isSigned(T);
  int64_t Most = std::numeric_limits<int64_t>::max();
  if (Bits < 64)
    Most >>= Signed ? 64 - Bits : 63 - Bits;
  return {Signed ? -Most - 1 : 0, Most};
}

/// What a reduction of nothing gives.
template <typename Wide> static Wide initial(Reduce Kind, DType T) {
  bool IsMax = Kind == Reduce::Max;
  if (Kind == Reduce::Prod)
    return 1;
  if (!IsMax && Kind != Reduce::Min)
    return 0;
  if constexpr (std::is_floating_point_v<Wide>) {
    Wide Infinity = std::numeric_limits<Wide>::infinity();
    return IsMax ? -Infinity : Infinity;
  } else {
    return IsMax ? integerRange(T).first : integerRange(T).second;
  }
}

template <typename Wide> static void take(Reduce Kind, Wide &Sum, Wide X) {
  switch (Kind) {
  case Reduce::Sum:
  case Reduce::Mean:
  case Reduce::LogSum:
    Sum += X;
    break;
  case Reduce::L1:
    Sum += X < 0 ? -X : X;
    break;
  case Reduce::L2:
  case Reduce::SumSquare:
    Sum += X * X;
    break;
  case Reduce::Prod:
    Sum *= X;
    break;
  case Reduce::Max:
    Sum = X != X ? X : Sum < X ? X : Sum;
    break;
  case Reduce::Min:
    Sum = X != X ? X : Sum > X ? X : Sum;
    break;
  case Reduce::LogSumExp:
    Sum += static_cast<Wide>(std::exp(static_cast<double>(X)));
    break;
  }
}

template <typename Wide> static Wide finish(Reduce Kind, Wide Sum, int64_t N) {
  switch (Kind) {
  case Reduce::Mean:
    if constexpr (std::is_integral_v<Wide>)
      return N ? Sum / N : 0;
    else
      return Sum / static_cast<Wide>(N);
  case Reduce::L2:
    return static_cast<Wide>(std::sqrt(static_cast<double>(Sum)));
  case Reduce::LogSum:
  case Reduce::LogSumExp:
    return static_cast<Wide>(std::log(static_cast<double>(Sum)));
  default:
    return Sum;
  }
}

template <typename Wide>
static void reduceAs(Reduce Kind, const Tensor &X, Tensor &Out,
                     const Dims &OutStrides, int64_t PerOutput) {
  std::vector<Wide> V = load<Wide>(X);
  std::vector<Wide> Sum(static_cast<size_t>(Out.count()),
                        initial<Wide>(Kind, X.Type));
  // The maximum is subtracted before exp, as every implementation does.
  std::vector<Wide> Peak(Sum.size(), 0);
  if (Kind == Reduce::LogSumExp) {
    std::fill(Peak.begin(), Peak.end(), initial<Wide>(Reduce::Max, X.Type));
    forEachIndex(X.Shape, {OutStrides}, [&](int64_t I, const int64_t *At) {
      take(Reduce::Max, Peak[static_cast<size_t>(At[0])],
           V[static_cast<size_t>(I)]);
    });
    for (Wide &P : Peak)
      P = std::isfinite(static_cast<double>(P)) ? P : 0;
  }
  forEachIndex(X.Shape, {OutStrides}, [&](int64_t I, const int64_t *At) {
    size_t O = static_cast<size_t>(At[0]);
    take(Kind, Sum[O], static_cast<Wide>(V[static_cast<size_t>(I)] - Peak[O]));
  });
  for (size_t I = 0; I < Sum.size(); ++I)
    Sum[I] = finish(Kind, Sum[I], PerOutput) + Peak[I];
  store(Out, Sum);
}

Result<Tensor> reduce(Budget &B, Reduce Kind, const Tensor &X, const Dims &Axes,
                      bool KeepDims, bool NoopOnEmpty) {
  std::vector<bool> Drop(X.Shape.size(), Axes.empty() && !NoopOnEmpty);
  for (int64_t Axis : Axes) {
    LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, X.rank()));
    Drop[static_cast<size_t>(A)] = true;
  }
  Dims Kept = X.Shape, Final;
  int64_t PerOutput = 1;
  for (size_t I = 0; I < Kept.size(); ++I) {
    if (Drop[I]) {
      PerOutput *= Kept[I];
      Kept[I] = 1;
    }
    if (!Drop[I] || KeepDims)
      Final.push_back(Kept[I]);
  }
  LLMC_RETURN_IF_ERROR(B.work(X.count()));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, Final));
  Dims Strides = broadcastStrides(Kept, X.Shape);
  // A kept dim of 1 has stride 0 either way.
  if (isFloat(X.Type))
    reduceAs<double>(Kind, X, Out, Strides, PerOutput);
  else
    reduceAs<int64_t>(Kind, X, Out, Strides, PerOutput);
  return Out;
}

Result<Tensor> argReduce(Budget &B, const Tensor &X, int64_t Axis,
                         bool KeepDims, bool Max, bool SelectLast) {
  LLMC_ASSIGN_OR_RETURN(AxisView View, viewAxis(X, Axis));
  size_t A = static_cast<size_t>(Axis < 0 ? Axis + X.rank() : Axis);
  Dims Shape = X.Shape;
  if (KeepDims)
    Shape[A] = 1;
  else
    Shape.erase(Shape.begin() + static_cast<int64_t>(A));
  if (View.Dim == 0)
    return malformedError("arg_max over an empty dim of " + describe(X));
  LLMC_RETURN_IF_ERROR(B.work(X.count()));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(DType::I64, Shape));
  std::vector<double> V = load<double>(X);
  int64_t *To = Out.data<int64_t>();
  for (int64_t O = 0; O < View.Outer; ++O)
    for (int64_t I = 0; I < View.Inner; ++I) {
      int64_t Best = 0;
      for (int64_t K = 1; K < View.Dim; ++K) {
        double E = V[View.at(O, K, I)], Now = V[View.at(O, Best, I)];
        bool Better = Max ? E > Now : E < Now;
        if (Better || (SelectLast && E == Now))
          Best = K;
      }
      *To++ = Best;
    }
  return Out;
}

//===----------------------------------------------------------------------===//
// Softmax, Hardmax, CumSum, CumProd, TopK
//===----------------------------------------------------------------------===//

Result<Tensor> softmax(Budget &B, const Tensor &X, int64_t Axis, bool Log) {
  if (!isFloat(X.Type))
    return malformedError("softmax of " + describe(X));
  LLMC_ASSIGN_OR_RETURN(AxisView View, viewAxis(X, Axis));
  LLMC_RETURN_IF_ERROR(B.work(2 * X.count()));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  std::vector<double> V = load<double>(X);
  for (int64_t O = 0; O < View.Outer; ++O)
    for (int64_t I = 0; I < View.Inner; ++I) {
      double Peak = -std::numeric_limits<double>::infinity(), Sum = 0;
      for (int64_t K = 0; K < View.Dim; ++K)
        Peak = std::max(Peak, V[View.at(O, K, I)]);
      for (int64_t K = 0; K < View.Dim; ++K)
        Sum += std::exp(V[View.at(O, K, I)] - Peak);
      for (int64_t K = 0; K < View.Dim; ++K) {
        double &E = V[View.at(O, K, I)];
        E = Log ? E - Peak - std::log(Sum) : std::exp(E - Peak) / Sum;
      }
    }
  store(Out, V);
  return Out;
}

Result<Tensor> hardmax(Budget &B, const Tensor &X, int64_t Axis) {
  if (!isFloat(X.Type))
    return malformedError("hardmax of " + describe(X));
  LLMC_ASSIGN_OR_RETURN(AxisView View, viewAxis(X, Axis));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  std::vector<double> V = load<double>(X), Y(V.size(), 0.0);
  for (int64_t O = 0; O < View.Outer; ++O)
    for (int64_t I = 0; I < View.Inner && View.Dim; ++I) {
      int64_t Best = 0;
      for (int64_t K = 1; K < View.Dim; ++K)
        if (V[View.at(O, K, I)] > V[View.at(O, Best, I)])
          Best = K;
      Y[View.at(O, Best, I)] = 1;
    }
  store(Out, Y);
  return Out;
}

template <typename Wide>
static void cumulateAs(const Tensor &X, Tensor &Out, const AxisView &View,
                       bool Exclusive, bool Reverse, bool Products) {
  std::vector<Wide> V = load<Wide>(X);
  for (int64_t O = 0; O < View.Outer; ++O)
    for (int64_t I = 0; I < View.Inner; ++I) {
      Wide Sum = Products ? 1 : 0;
      for (int64_t K = 0; K < View.Dim; ++K) {
        Wide &E = V[View.at(O, Reverse ? View.Dim - 1 - K : K, I)];
        Wide Before = Sum;
        Sum = Products ? multiplyWrapping(Sum, E) : addWrapping(Sum, E);
        E = Exclusive ? Before : Sum;
      }
    }
  store(Out, V);
}

Result<Tensor> cumulate(Budget &B, const Tensor &X, int64_t Axis,
                        bool Exclusive, bool Reverse, bool Products) {
  LLMC_ASSIGN_OR_RETURN(AxisView View, viewAxis(X, Axis));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  if (isFloat(X.Type))
    cumulateAs<double>(X, Out, View, Exclusive, Reverse, Products);
  else
    cumulateAs<int64_t>(X, Out, View, Exclusive, Reverse, Products);
  return Out;
}

Result<std::vector<Tensor>> topK(Budget &B, const Tensor &X, int64_t K,
                                 int64_t Axis, bool Largest) {
  LLMC_ASSIGN_OR_RETURN(AxisView View, viewAxis(X, Axis));
  if (K < 0 || K > View.Dim)
    return malformedError("top_k: k is " + std::to_string(K) + ", the dim is " +
                          std::to_string(View.Dim));
  Dims Shape = X.Shape;
  Shape[static_cast<size_t>(Axis < 0 ? Axis + X.rank() : Axis)] = K;
  LLMC_RETURN_IF_ERROR(B.work(16 * X.count()));
  LLMC_ASSIGN_OR_RETURN(Tensor Values, B.allocate(X.Type, Shape));
  LLMC_ASSIGN_OR_RETURN(Tensor Indices, B.allocate(DType::I64, Shape));
  std::vector<double> V = load<double>(X);
  size_t Size = storedBytes(X.Type);
  std::vector<int64_t> Order(static_cast<size_t>(View.Dim));
  AxisView To{View.Outer, K, View.Inner};
  for (int64_t O = 0; O < View.Outer; ++O)
    for (int64_t I = 0; I < View.Inner; ++I) {
      std::iota(Order.begin(), Order.end(), 0);
      // Stable: ties go to the lower index.
      std::stable_sort(Order.begin(), Order.end(), [&](int64_t P, int64_t Q) {
        double E = V[View.at(O, P, I)], F = V[View.at(O, Q, I)];
        return Largest ? E > F : E < F;
      });
      for (int64_t J = 0; J < K; ++J) {
        int64_t From = Order[static_cast<size_t>(J)];
        Indices.data<int64_t>()[To.at(O, J, I)] = From;
        std::memcpy(&Values.Bytes[To.at(O, J, I) * Size],
                    &X.Bytes[View.at(O, From, I) * Size], Size);
      }
    }
  std::vector<Tensor> Out;
  Out.push_back(std::move(Values));
  Out.push_back(std::move(Indices));
  return Out;
}

} // namespace llmc::eval
