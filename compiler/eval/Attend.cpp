// Attention in double precision, in plain loops.
#include "compiler/eval/Attend.h"

#include <cmath>
#include <limits>

namespace llmc::eval {

Result<HeadTensor> makeHeads(Budget &B, int64_t Batch, int64_t Heads,
                             int64_t Rows, int64_t Size) {
  HeadTensor Out{Batch, Heads, Rows, Size, {}};
  int64_t Count = countOf({Batch, Heads, Rows, Size});
  // Through the budget, though the numbers are ours.
  LLMC_ASSIGN_OR_RETURN(Tensor Unused,
                        B.allocate(DType::F64, {Batch, Heads, Rows, Size}));
  LLMC_RETURN_IF_ERROR(B.work(Count));
  Out.Data.assign(static_cast<size_t>(Count), 0);
  return Out;
}

Result<HeadTensor> splitHeads(Budget &B, const Tensor &X, int64_t Heads,
                              int64_t First, int64_t Size) {
  if (X.rank() != 3 || First < 0 || Size < 1 ||
      First + Heads * Size > X.Shape[2])
    return malformedError("attention: " + describe(X) + " has not " +
                          std::to_string(Heads) + " heads of " +
                          std::to_string(Size));
  LLMC_ASSIGN_OR_RETURN(HeadTensor Out,
                        makeHeads(B, X.Shape[0], Heads, X.Shape[1], Size));
  std::vector<double> V = load<double>(X);
  for (int64_t N = 0; N < X.Shape[0]; ++N)
    for (int64_t R = 0; R < X.Shape[1]; ++R) {
      const double *From = V.data() + (N * X.Shape[1] + R) * X.Shape[2] + First;
      for (int64_t H = 0; H < Heads; ++H)
        std::copy_n(From + H * Size, Size, Out.row(N, H, R));
    }
  return Out;
}

Result<HeadTensor> fromHeads(Budget &B, const Tensor &X) {
  if (X.rank() != 4)
    return malformedError("attention: " + describe(X) + ", expected 4 dims");
  LLMC_ASSIGN_OR_RETURN(HeadTensor Out, makeHeads(B, X.Shape[0], X.Shape[1],
                                                  X.Shape[2], X.Shape[3]));
  Out.Data = load<double>(X);
  return Out;
}

Result<Tensor> toTensor(Budget &B, const HeadTensor &X, DType Type) {
  LLMC_ASSIGN_OR_RETURN(Tensor Out,
                        B.allocate(Type, {X.Batch, X.Heads, X.Rows, X.Size}));
  store(Out, X.Data);
  return Out;
}

Result<HeadTensor> joinRows(Budget &L, const HeadTensor &A,
                            const HeadTensor &B) {
  if (A.Batch != B.Batch || A.Heads != B.Heads || A.Size != B.Size)
    return malformedError("attention: a past of " + std::to_string(A.Heads) +
                          " heads of " + std::to_string(A.Size) + " before " +
                          std::to_string(B.Heads) + " heads of " +
                          std::to_string(B.Size));
  LLMC_ASSIGN_OR_RETURN(
      HeadTensor Out, makeHeads(L, A.Batch, A.Heads, A.Rows + B.Rows, A.Size));
  for (int64_t N = 0; N < A.Batch; ++N)
    for (int64_t H = 0; H < A.Heads; ++H) {
      std::copy_n(A.row(N, H, 0), A.Rows * A.Size, Out.row(N, H, 0));
      std::copy_n(B.row(N, H, 0), B.Rows * B.Size, Out.row(N, H, A.Rows));
    }
  return Out;
}

namespace {
/// Probabilities from scores, in place; the rest of the mass is the sink's.
void softmaxRow(std::vector<double> &Scores, bool HasSink, double Sink) {
  constexpr double Low = -std::numeric_limits<double>::infinity();
  double Max = HasSink ? Sink : Low, Sum = 0;
  for (double S : Scores)
    Max = std::max(Max, S);
  if (Max == Low) { // nothing is visible
    std::fill(Scores.begin(), Scores.end(), 0);
    return;
  }
  for (double &S : Scores)
    Sum += S = std::exp(S - Max);
  if (HasSink)
    Sum += std::exp(Sink - Max);
  for (double &S : Scores)
    S /= Sum;
}
} // namespace

Result<Tensor> attend(Budget &B, const Attend &How, const HeadTensor &Q,
                      const HeadTensor &K, const HeadTensor &V, DType Type) {
  if (K.Heads == 0 || Q.Heads % K.Heads != 0 || K.Size != Q.Size ||
      K.Batch != Q.Batch || V.Batch != Q.Batch || V.Rows != K.Rows ||
      V.Heads != K.Heads)
    return malformedError("attention: " + std::to_string(Q.Heads) +
                          " query heads of " + std::to_string(Q.Size) + " on " +
                          std::to_string(K.Heads) + " key heads of " +
                          std::to_string(K.Size));
  int64_t Work = countOf({Q.Batch, Q.Heads, Q.Rows, K.Rows, Q.Size + V.Size});
  LLMC_RETURN_IF_ERROR(B.work(Work < 0 ? INT64_MAX : Work));
  LLMC_ASSIGN_OR_RETURN(Tensor Out,
                        B.allocate(Type, {Q.Batch, Q.Rows, Q.Heads * V.Size}));
  std::vector<double> Sums(static_cast<size_t>(Out.count()), 0);
  double Scale =
      How.Scale != 0 ? How.Scale : 1 / std::sqrt(static_cast<double>(Q.Size));
  int64_t Group = Q.Heads / K.Heads;
  for (int64_t N = 0; N < Q.Batch; ++N) {
    int64_t Keys = How.KeyRows.empty()
                       ? K.Rows
                       : std::min(K.Rows, How.KeyRows[static_cast<size_t>(N)]);
    for (int64_t H = 0; H < Q.Heads; ++H)
      for (int64_t S = 0; S < Q.Rows; ++S) {
        std::vector<double> Scores(
            static_cast<size_t>(std::max<int64_t>(Keys, 0)));
        const double *Query = Q.row(N, H, S);
        for (int64_t T = 0; T < Keys; ++T) {
          const double *Key = K.row(N, H / Group, T);
          double Dot = 0;
          for (int64_t I = 0; I < Q.Size; ++I)
            Dot += Query[I] * Key[I];
          Dot *= Scale;
          if (How.Softcap > 0)
            Dot = How.Softcap * std::tanh(Dot / How.Softcap);
          Scores[static_cast<size_t>(T)] =
              Dot + (How.Bias ? How.Bias(N, H, S, T) : 0);
        }
        softmaxRow(Scores, How.HasSink,
                   How.Sinks.empty() ? 0 : How.Sinks[static_cast<size_t>(H)]);
        double *Result =
            Sums.data() + ((N * Q.Rows + S) * Q.Heads + H) * V.Size;
        for (int64_t T = 0; T < Keys; ++T) {
          const double *Val = V.row(N, H / Group, T);
          double P = Scores[static_cast<size_t>(T)];
          for (int64_t I = 0; I < V.Size && P != 0; ++I)
            Result[I] += P * Val[I];
        }
      }
  }
  store(Out, Sums);
  return Out;
}

void rotate(double *Row, const double *Cos, const double *Sin, int64_t Width,
            bool Interleaved) {
  for (int64_t I = 0; I < Width; ++I) {
    double &A = Row[Interleaved ? 2 * I : I];
    double &B = Row[Interleaved ? 2 * I + 1 : I + Width];
    double X = A * Cos[I] - B * Sin[I];
    B = B * Cos[I] + A * Sin[I];
    A = X;
  }
}

} // namespace llmc::eval
