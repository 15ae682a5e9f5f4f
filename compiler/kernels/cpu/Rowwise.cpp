// rowwise: a program of llm.rowwise, row by row. Elementwise records along
// dense (or constant) loops of at least 16 values are done in vectors, all else
// by the scalar machine that the reference kernel is made of, too.
#include "compiler/kernels/RowMachine.h"
#include "compiler/kernels/cpu/Elementwise.h"

using namespace llmc::kernels;

namespace {
inline namespace LLMC_ISA {

/// Sixteen values of an operand whose stride is 0 or 1, N of them valid.
LLMC_INLINE VF take(const float *P, int64_t Stride, int64_t I, int64_t N) {
  return Stride == 0 ? splat(*P) : loadRow(P, I, N);
}
LLMC_INLINE void put(float *P, int64_t I, int64_t N, VF V) {
  if (I + 16 <= N)
    store(P + I, V);
  else
    storePart(P + I, V, N - I);
}
LLMC_INLINE bool isDense(const RowOperand &O) {
  return O.Stride[3] == 0 || O.Stride[3] == 1;
}

template <typename Function>
LLMC_INLINE void mapOne(const RowStep &S, const row::Place &P, Function Fn) {
  for (int64_t I = 0; I < S.Dim[3]; I += 16)
    put(P.D, I, S.Dim[3], Fn(take(P.A, S.A.Stride[3], I, S.Dim[3])));
}
template <typename Function>
LLMC_INLINE void mapTwo(const RowStep &S, const row::Place &P, Function Fn) {
  for (int64_t I = 0; I < S.Dim[3]; I += 16)
    put(P.D, I, S.Dim[3],
        Fn(take(P.A, S.A.Stride[3], I, S.Dim[3]),
           take(P.B, S.B.Stride[3], I, S.Dim[3])));
}

/// Whether the operation has a vector form, done for loop 3 if so.
LLMC_SHARED bool vectors(const RowStep &S, const row::Place &P) {
#define LLMC_ONE(Op, Expr)                                                     \
  case Op:                                                                     \
    mapOne(S, P, [](VF X) __attribute__((always_inline)) { return Expr; });    \
    return true;
#define LLMC_TWO(Op, Expr)                                                     \
  case Op:                                                                     \
    mapTwo(S, P,                                                               \
           [](VF X, VF Y) __attribute__((always_inline)) { return Expr; });    \
    return true;
  switch (S.Op) {
    LLMC_ONE(RowCopy, X)
    LLMC_ONE(RowNeg, -X)
    LLMC_ONE(RowAbs, abs(X))
    LLMC_ONE(RowSqrt, __builtin_elementwise_sqrt(X))
    LLMC_ONE(RowReciprocal, splat(1.0f) / X)
    LLMC_ONE(RowExp, exp(X))
    LLMC_ONE(RowTanh, tanh(X))
    LLMC_ONE(RowErf, erf(X))
    LLMC_ONE(RowSigmoid, sigmoid(X))
    LLMC_TWO(RowAdd, X + Y)
    LLMC_TWO(RowSub, X - Y)
    LLMC_TWO(RowMul, X * Y)
    LLMC_TWO(RowDiv, X / Y)
    LLMC_TWO(RowMin, min(X, Y))
    LLMC_TWO(RowMax, max(X, Y))
  default:
    return false;
  }
#undef LLMC_ONE
#undef LLMC_TWO
}

LLMC_SHARED void executeStep(const RowStep &S, const row::Spaces &M) {
  bool Vector = S.Op < RowSelect && S.Dim[3] >= 16 && S.D.Stride[3] == 1 &&
                isDense(S.A) && isDense(S.B);
  if (!Vector)
    return row::execute(S, M);
  row::outerLoops(S, M, [&](const row::Place &P) {
    if (!vectors(S, P))
      row::elementwise(S, P);
  });
}

} // namespace LLMC_ISA
} // namespace

extern "C" void LLMC_KERNEL(rowwise)(
    const LlmcCtx *C, const float *In0, const float *In1, const float *In2,
    const float *In3, const float *In4, const float *In5, const float *In6,
    const float *In7, const float *Program, float *Out, float *Scratch,
    int64_t Count, int64_t ScratchN, int64_t N, int64_t N0, int64_t N1,
    int64_t N2, int64_t N3, int64_t N4, int64_t N5, int64_t N6, int64_t N7) {
  const float *In[RowInputs] = {In0, In1, In2, In3, In4, In5, In6, In7};
  const int64_t Width[RowInputs] = {N0, N1, N2, N3, N4, N5, N6, N7};
  Range Mine = share(C, C->counts->tokens);
  // Records outside, so that each is decoded once.
  for (int64_t I = 0; I < Count; ++I) {
    RowStep S = decodeRowStep(Program + I * RowRecord);
    for (int64_t T = Mine.Begin; T < Mine.End; ++T) {
      row::Spaces M;
      M.Base[RowScratch] = Scratch + T * ScratchN;
      M.Base[RowConstant] = const_cast<float *>(Program) + Count * RowRecord;
      M.Base[RowResult] = Out + T * N;
      for (int64_t J = 0; J < RowInputs; ++J)
        M.Base[RowInput + J] = const_cast<float *>(In[J]) + T * Width[J];
      executeStep(S, M);
    }
  }
}
