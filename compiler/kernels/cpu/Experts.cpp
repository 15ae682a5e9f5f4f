// experts: each row by the matrices of the experts that it is routed to.
//
// A thread owns a range of the N outputs of every expert, so that sums over
// experts need no other thread. Rows are packed once for all; then experts are
// the outer loop, panels of an expert's weights the middle one and its rows the
// inner one: a panel comes from memory once per expert and step. N need not be
// a multiple of 16: a panel may hold rows of two experts, whose lanes are told
// apart when they are stored.
#include "compiler/kernels/cpu/Product.h"

using namespace llmc::kernels;

namespace {
inline namespace LLMC_ISA {

struct Job {
  const float *Route, *Bias;
  float *Out;
  const uint8_t *Packed;
  PackedMatrix M;
  int64_t K, N, Experts, Slots, RowBytes, Tokens, Prompt;
  bool Combine;
};

/// Number of the row's experts before Expert.
LLMC_INLINE int64_t slotOf(const float *Route, int64_t Expert) {
  int64_t Slot = 0;
  for (int64_t E = 0; E < Expert; ++E)
    Slot += Route[E] != 0.0f;
  return Slot;
}

/// One row's lanes of panel P that belong to outputs [Begin, End) of Expert.
LLMC_INLINE void finish(const Job &J, int64_t T, int64_t Slot, int64_t Expert,
                        int64_t P, Range Mine, VF V) {
  float Share = J.Route[T * J.Experts + Expert];
  float *Row = J.Out + (J.Combine ? T : T * J.Slots + Slot) * J.N;
  int64_t First = P * 16 - Expert * J.N;
  if (First >= Mine.Begin && First + 16 <= Mine.End) {
    if (J.Bias)
      V = V + load(J.Bias + Expert * J.N + First);
    store(Row + First, J.Combine ? fma(splat(Share), V, load(Row + First)) : V);
    return;
  }
  for (int64_t L = 0; L < 16; ++L) {
    int64_t I = First + L;
    if (I < Mine.Begin || I >= Mine.End)
      continue;
    float X = V[L];
    if (J.Bias)
      X = X + J.Bias[Expert * J.N + I];
    Row[I] = J.Combine ? fma(Share, X, Row[I]) : X;
  }
}

/// All rows of one expert with the panels that hold this thread's outputs.
LLMC_SHARED void runExpert(const Job &J, int64_t Expert, Range Mine) {
  int64_t First = (Expert * J.N + Mine.Begin) / 16;
  int64_t End = (Expert * J.N + Mine.End + 15) / 16;
  for (int64_t P = First; P < End; ++P)
    for (int64_t T = 0; T < J.Tokens; ++T) {
      const float *Route = J.Route + T * J.Experts;
      if (Route[Expert] == 0.0f)
        continue;
      int64_t Slot = slotOf(Route, Expert);
      if (Slot >= J.Slots)
        continue;
      Unit U{J.Combine ? T * J.Slots + Slot : T, 1, T >= J.Prompt};
      runUnit<false>(J.M, P, 1, U, J.Packed + U.Row * J.RowBytes, false,
                     [&](int64_t, int64_t, VF V)
                         __attribute__((always_inline)) {
                           finish(J, T, Slot, Expert, P, Mine, V);
                         });
    }
}

} // namespace LLMC_ISA
} // namespace

extern "C" void LLMC_KERNEL(experts)(const LlmcCtx *C, const float *X,
                                     const float *Route, const uint8_t *Weight,
                                     const float *Bias, float *Out, uint8_t *Xq,
                                     int64_t K, int64_t N, int64_t Experts,
                                     int64_t Slots, int64_t Combine,
                                     int64_t WType, int64_t XPolicy) {
  RowSource S{X, nullptr, K, NormNone, nullptr, nullptr, 0.0f, XPolicy};
  int64_t Tokens = C->counts->tokens, Each = Combine ? Slots : 1;
  Job J{Route,
        Bias,
        Out,
        Xq,
        PackedMatrix{Weight, K, Experts * N, WType, XPolicy},
        K,
        N,
        Experts,
        Slots,
        xqBytesPerToken(K, XPolicy),
        Tokens,
        int64_t(C->counts->prompt_tokens),
        Combine != 0};
  Range Rows = share(C, Tokens * Each);
  for (int64_t R = Rows.Begin; R < Rows.End; ++R)
    packUnit(S, Unit{R, 1, R / Each >= J.Prompt}, nullptr, Xq + R * J.RowBytes);

  Range Mine = share(C, (N + 15) / 16);
  Mine = {Mine.Begin * 16, Mine.End * 16 < N ? Mine.End * 16 : N};
  for (int64_t R = 0; R < Tokens * (Combine ? 1 : Slots); ++R)
    for (int64_t I = Mine.Begin; I < Mine.End; ++I)
      Out[R * N + I] = 0.0f;
  barrier(C);
  if (Mine.Begin < Mine.End)
    for (int64_t E = 0; E < Experts; ++E)
      runExpert(J, E, Mine);
}
