// Convolution of the evaluator: any number of spatial dims, groups, strides,
// dilation, padding. Sums in double, exact for 8-bit integers.
#include "compiler/eval/Ops.h"

#include <algorithm>

namespace llmc::eval {

namespace {
/// One spatial dim.
struct ConvAxis {
  int64_t In, Kernel, Out, Stride, Dilation, Before;
};
struct ConvPlan {
  int64_t Batch, Groups, InPerGroup, OutPerGroup;
  std::vector<ConvAxis> Axes;
  Dims Result;
};
} // namespace

static Result<ConvAxis> planAxis(int64_t In, int64_t Kernel, size_t I,
                                 size_t Rank, const ConvOptions &O) {
  const auto At = [](const Dims &List, size_t N, int64_t Default) {
    return N < List.size() ? List[N] : Default;
  };
  ConvAxis A{In, Kernel, 0, At(O.Strides, I, 1), At(O.Dilations, I, 1), 0};
  constexpr int64_t Limit = 1 << 24;
  if (A.Stride < 1 || A.Dilation < 1 || A.Stride > Limit ||
      A.Dilation > Limit || Kernel < 1 || Kernel > Limit)
    return malformedError("conv: kernel " + std::to_string(Kernel) +
                          ", stride " + std::to_string(A.Stride) +
                          ", dilation " + std::to_string(A.Dilation));
  int64_t Reach = (Kernel - 1) * A.Dilation + 1, Total;
  if (O.Pad == ConvPad::SameUpper || O.Pad == ConvPad::SameLower) {
    A.Out = (In + A.Stride - 1) / A.Stride;
    Total = std::max<int64_t>((A.Out - 1) * A.Stride + Reach - In, 0);
    A.Before = (Total + (O.Pad == ConvPad::SameLower)) / 2;
    return A;
  }
  bool Valid = O.Pad == ConvPad::Valid;
  A.Before = Valid ? 0 : At(O.Pads, I, 0);
  int64_t After = Valid ? 0 : At(O.Pads, I + Rank, 0);
  if (A.Before < 0 || After < 0 || A.Before > Limit || After > Limit ||
      In + A.Before + After < Reach)
    return malformedError("conv: kernel reaches over " + std::to_string(Reach) +
                          " of " + std::to_string(In) + " elements padded by " +
                          std::to_string(A.Before) + " and " +
                          std::to_string(After));
  A.Out = (In + A.Before + After - Reach) / A.Stride + 1;
  return A;
}

static Result<ConvPlan> planConv(const Tensor &X, const Tensor &W,
                                 const ConvOptions &O) {
  std::string What = "conv of " + describe(X) + " with " + describe(W) +
                     " in " + std::to_string(O.Groups) + " groups";
  if (X.rank() < 3 || W.rank() != X.rank() || O.Groups < 1 ||
      W.Shape[0] % O.Groups || X.Shape[1] % O.Groups ||
      X.Shape[1] / O.Groups != W.Shape[1])
    return malformedError(What);
  size_t Rank = X.Shape.size() - 2;
  Dims Kernel(W.Shape.begin() + 2, W.Shape.end());
  if (!O.Kernel.empty() && O.Kernel != Kernel)
    return malformedError(What + ": kernel_shape differs");
  ConvPlan P{X.Shape[0], O.Groups, W.Shape[1], W.Shape[0] / O.Groups, {}, {}};
  P.Result = {X.Shape[0], W.Shape[0]};
  for (size_t I = 0; I < Rank; ++I) {
    LLMC_ASSIGN_OR_RETURN(ConvAxis A,
                          planAxis(X.Shape[I + 2], W.Shape[I + 2], I, Rank, O));
    P.Axes.push_back(A);
    P.Result.push_back(A.Out);
  }
  return P;
}

/// Offset of the input element under kernel position Tap for an output
/// position, or -1 in the padding. Both are linear in the spatial dims.
static int64_t sourceOf(const ConvPlan &P, int64_t Position, int64_t Tap) {
  int64_t At = 0, Stride = 1;
  for (size_t I = P.Axes.size(); I-- > 0;) {
    const ConvAxis &A = P.Axes[I];
    int64_t Index =
        Position % A.Out * A.Stride + Tap % A.Kernel * A.Dilation - A.Before;
    if (Index < 0 || Index >= A.In)
      return -1;
    At += Index * Stride;
    Stride *= A.In;
    Position /= A.Out;
    Tap /= A.Kernel;
  }
  return At;
}

static Result<Tensor> convolve(Budget &B, const ConvPlan &P, DType Type,
                               const std::vector<double> &X,
                               const std::vector<double> &W,
                               const std::vector<double> &Bias) {
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(Type, P.Result));
  if (Out.count() == 0) // other dims may have any size then
    return Out;
  int64_t In = 1, Taps = 1, Positions = 1;
  for (const ConvAxis &A : P.Axes) {
    In *= A.In;
    Taps *= A.Kernel;
    Positions *= A.Out;
  }
  LLMC_RETURN_IF_ERROR(
      B.work(countOf({Out.count(), Taps, std::max<int64_t>(P.InPerGroup, 1)})));
  int64_t Channels = P.Groups * P.OutPerGroup;
  std::vector<double> Y(static_cast<size_t>(Out.count()), 0.0);
  for (int64_t N = 0; N < P.Batch; ++N)
    for (int64_t M = 0; M < Channels; ++M)
      for (int64_t S = 0; S < Positions; ++S) {
        double Sum = Bias.empty() ? 0 : Bias[static_cast<size_t>(M)];
        for (int64_t T = 0; T < Taps; ++T) {
          int64_t From = sourceOf(P, S, T);
          for (int64_t C = 0; C < P.InPerGroup && From >= 0; ++C) {
            int64_t Channel = M / P.OutPerGroup * P.InPerGroup + C;
            Sum += X[static_cast<size_t>(
                       (N * P.Groups * P.InPerGroup + Channel) * In + From)] *
                   W[static_cast<size_t>((M * P.InPerGroup + C) * Taps + T)];
          }
        }
        Y[static_cast<size_t>((N * Channels + M) * Positions + S)] = Sum;
      }
  store(Out, Y);
  return Out;
}

Result<Tensor> conv(Budget &B, const Tensor &X, const Tensor &W,
                    const Tensor &Bias, const ConvOptions &O) {
  if (!isFloat(X.Type) || W.Type != X.Type ||
      (Bias.present() &&
       (Bias.Type != X.Type || W.rank() == 0 || Bias.count() != W.Shape[0])))
    return malformedError("conv of " + describe(X) + " with " + describe(W) +
                          ", bias " + describe(Bias));
  LLMC_ASSIGN_OR_RETURN(ConvPlan P, planConv(X, W, O));
  return convolve(B, P, X.Type, load<double>(X), load<double>(W),
                  Bias.present() ? load<double>(Bias) : std::vector<double>());
}

Result<Tensor> convInteger(Budget &B, const Tensor &X, const Tensor &W,
                           const Tensor &XZero, const Tensor &WZero,
                           const ConvOptions &O) {
  if (bitsOf(X.Type) != 8 || bitsOf(W.Type) != 8 ||
      (XZero.present() && XZero.count() != 1))
    return malformedError("conv_integer of " + describe(X) + " with " +
                          describe(W) + ", zero points " + describe(XZero) +
                          " and " + describe(WZero));
  LLMC_ASSIGN_OR_RETURN(ConvPlan P, planConv(X, W, O));
  std::vector<double> A = load<double>(X), C = load<double>(W), Zero{0};
  if (XZero.present())
    for (double &E : A)
      E -= floatAt(XZero, 0);
  if (WZero.present())
    Zero = load<double>(WZero);
  size_t PerChannel = C.size() / std::max<size_t>(1, W.Shape[0]);
  if (Zero.size() != 1 && static_cast<int64_t>(Zero.size()) != W.Shape[0])
    return malformedError("conv_integer: zero point " + describe(WZero) +
                          " for " + describe(W));
  for (size_t I = 0; I < C.size(); ++I)
    C[I] -= Zero[Zero.size() == 1 ? 0 : I / PerChannel];
  return convolve(B, P, DType::I32, A, C, {});
}

} // namespace llmc::eval
