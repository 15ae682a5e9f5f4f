// Executes one record of a rowwise program on one row, in scalar code. The
// whole of the reference kernel, and of the CPU kernel what its vector paths do
// not cover. Freestanding.
#ifndef LLMC_COMPILER_KERNELS_ROWMACHINE_H
#define LLMC_COMPILER_KERNELS_ROWMACHINE_H

#include "compiler/kernels/RowMath.h"

namespace llmc::kernels::row {

/// Memory of one row by RowSpace. Inputs and constants are only read.
struct Spaces {
  float *Base[RowInput + RowInputs];

  float *at(const RowOperand &O) const { return Base[O.Space] + O.Offset; }
};

/// Where a nest is: offsets of the operands in loops 0 to 2.
struct Place {
  float *D;
  const float *A, *B;
  float *C;
};

/// Calls Fn(Place) for every round of loops 0 to 2.
template <typename Function>
static inline void outerLoops(const RowStep &S, const Spaces &M, Function Fn) {
  for (int64_t I = 0; I < S.Dim[0]; ++I)
    for (int64_t J = 0; J < S.Dim[1]; ++J)
      for (int64_t K = 0; K < S.Dim[2]; ++K) {
        auto Move = [&](const RowOperand &O) {
          return M.at(O) + I * O.Stride[0] + J * O.Stride[1] + K * O.Stride[2];
        };
        Fn(Place{Move(S.D), Move(S.A), Move(S.B), Move(S.C)});
      }
}

static inline void elementwise(const RowStep &S, const Place &P) {
  int64_t D = S.D.Stride[3], A = S.A.Stride[3], B = S.B.Stride[3],
          C = S.C.Stride[3];
  for (int64_t I = 0; I < S.Dim[3]; ++I) {
    float X = P.A[I * A];
    if (S.Op >= RowSelect)
      P.D[I * D] = P.C[I * C] != 0.0f ? X : P.B[I * B];
    else if (S.Op >= RowAdd)
      P.D[I * D] = binary(S.Op, X, P.B[I * B]);
    else
      P.D[I * D] = unary(S.Op, X);
  }
}

/// Sum, maximum, minimum, product or dot product over loop 3.
static inline float reduced(const RowStep &S, const Place &P) {
  int64_t A = S.A.Stride[3], N = S.Dim[3];
  if (S.Op == RowSum) {
    float L[16] = {};
    for (int64_t I = 0; I < N; ++I)
      L[I % 16] += P.A[I * A];
    for (int Step = 8; Step >= 1; Step /= 2)
      for (int I = 0; I < Step; ++I)
        L[I] += L[I + Step];
    return L[0];
  }
  float R = S.Op == RowDot ? 0.0f : S.Op == RowProd ? 1.0f : P.A[0];
  for (int64_t I = 0; I < N; ++I) {
    float X = P.A[I * A];
    if (S.Op == RowDot)
      R = __builtin_fmaf(X, P.B[I * S.B.Stride[3]], R);
    else if (S.Op == RowProd)
      R *= X;
    else if (S.Op == RowMaxOf)
      R = R < X || R != R ? X : R;
    else
      R = R > X || R != R ? X : R;
  }
  return R;
}

static inline void cumSum(const RowStep &S, const Place &P) {
  int64_t N = S.Dim[3];
  float Sum = 0.0f;
  for (int64_t I = 0; I < N; ++I) {
    int64_t At = S.Extra[1] ? N - 1 - I : I;
    float X = P.A[At * S.A.Stride[3]];
    P.D[At * S.D.Stride[3]] = S.Extra[0] ? Sum : Sum + X;
    Sum += X;
  }
}

/// One after another: the best that comes after the last one found in the order
/// of value, then index.
static inline void topK(const RowStep &S, const Place &P) {
  int64_t Last = -1;
  float LastValue = 0.0f;
  for (int64_t K = 0; K < S.Extra[0]; ++K) {
    int64_t Best = -1;
    float BestValue = 0.0f;
    for (int64_t I = 0; I < S.Dim[3]; ++I) {
      float X = P.A[I * S.A.Stride[3]];
      float V = S.Extra[1] ? X : -X;
      bool After = Last < 0 || V < LastValue || (V == LastValue && I > Last);
      if (After && V == V && (Best < 0 || V > BestValue)) {
        Best = I;
        BestValue = V;
      }
    }
    if (Best < 0)
      Best = 0; // nothing but NaN is left
    else
      LastValue = BestValue, Last = Best;
    P.D[K * S.D.Stride[3]] = P.A[Best * S.A.Stride[3]];
    P.C[K * S.C.Stride[3]] = static_cast<float>(Best);
  }
}

static inline void byIndex(const RowStep &S, const Place &P) {
  for (int64_t I = 0; I < S.Dim[3]; ++I) {
    float F = P.B[I * S.B.Stride[3]];
    int64_t At = F == F ? static_cast<int64_t>(F) : 0;
    At = At < 0 ? At + S.Extra[1] : At;
    At = At < 0 ? 0 : At >= S.Extra[1] ? S.Extra[1] - 1 : At;
    int64_t D = I * S.D.Stride[3], A = I * S.A.Stride[3];
    if (S.Op == RowTake)
      P.D[D] = P.A[A + At * S.Extra[0]];
    else if (S.Op == RowPut)
      P.D[D + At * S.Extra[0]] = P.A[A];
    else
      P.D[D + At * S.Extra[0]] += P.A[A];
  }
}

static inline void execute(const RowStep &S, const Spaces &M) {
  outerLoops(S, M, [&](const Place &P) {
    if (S.Op <= RowSelect)
      elementwise(S, P);
    else if (S.Op <= RowDot)
      *P.D = reduced(S, P);
    else if (S.Op == RowCumSum)
      cumSum(S, P);
    else if (S.Op == RowTopK)
      topK(S, P);
    else
      byIndex(S, P);
  });
}

} // namespace llmc::kernels::row

#endif // LLMC_COMPILER_KERNELS_ROWMACHINE_H
