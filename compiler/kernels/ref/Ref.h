// The reference kernels: every kernel of the catalogue in plain scalar code,
// slow, one row and one output at a time. They define the arithmetic of the CPU
// kernels and are the oracle of their tests. Same signatures as the fast ones,
// name k_<kernel>_ref; thread 0 does all the work, barriers are not needed.
//
// Kernels with a KV pool take `kv_page_stride` behind their integers.
#ifndef LLMC_COMPILER_KERNELS_REF_REF_H
#define LLMC_COMPILER_KERNELS_REF_REF_H

#include "runtime/device/StepAbi.h"

#include <stdint.h>

/// Declares all kernels of one instruction set.
#define LLMC_DECLARE_KERNELS(Isa)                                              \
  void k_embed_##Isa(const LlmcCtx *, const int32_t *Ids,                      \
                     const uint8_t *Weight, float *Out, int64_t Vocab,         \
                     int64_t Hidden, int64_t WType, float Scale);              \
  void k_rope_table_##Isa(const LlmcCtx *, const int32_t *Positions,           \
                          const float *Freq, const float *CosTable,            \
                          const float *SinTable, float *Out, int64_t Half,     \
                          int64_t TableRows, float Scaling);                   \
  void k_qkv_##Isa(                                                            \
      const LlmcCtx *, const float *X, const float *Gain,                      \
      const float *NormBias, const uint8_t *Weight, const float *Bias,         \
      const float *Rope, uint8_t *Kv, float *QOut, uint8_t *Xq, int64_t K,     \
      int64_t Heads, int64_t KvHeads, int64_t HeadDim, int64_t VHeadDim,       \
      int64_t RotaryHalf, int64_t Interleaved, int64_t WType, int64_t XPolicy, \
      int64_t Norm, int64_t KvKind, int64_t PageStride, float Eps);            \
  void k_attention_##Isa(const LlmcCtx *, const float *Q, uint8_t *Kv,         \
                         float *Out, float *Partial, const float *Slopes,      \
                         const float *Sinks, int64_t Heads, int64_t KvHeads,   \
                         int64_t HeadDim, int64_t VHeadDim, int64_t Window,    \
                         int64_t Chunk, int64_t KvKind, int64_t PageStride,    \
                         float Scale, float Cap);                              \
  void k_attention_rounded_##Isa(                                              \
      const LlmcCtx *, const float *Q, uint8_t *Kv, float *Out,                \
      const float *Slopes, const float *Sinks, int64_t Heads, int64_t KvHeads, \
      int64_t HeadDim, int64_t VHeadDim, int64_t Window, int64_t Chunk,        \
      int64_t KvKind, int64_t PageStride, float Scale, float Cap,              \
      float ScoreStep, float ScoreLow, float ScoreHigh, float ProbStep,        \
      float ProbLow, float ProbHigh);                                          \
  void k_linear_##Isa(const LlmcCtx *, const float *X, const float *Gain,      \
                      const float *NormBias, const uint8_t *Weight,            \
                      const float *Bias, const float *Residual, float *Out,    \
                      uint8_t *Xq, int64_t K, int64_t N, int64_t WType,        \
                      int64_t XPolicy, int64_t Norm, int64_t Glu,              \
                      int64_t Activation, int64_t Domain, float Eps);          \
  void k_logits_##Isa(const LlmcCtx *, const float *X, const float *Gain,      \
                      const float *NormBias, const uint8_t *Weight,            \
                      const float *Bias, const int32_t *LogitRows, float *Out, \
                      uint8_t *Xq, int64_t K, int64_t N, int64_t WType,        \
                      int64_t XPolicy, int64_t Norm, float Eps,                \
                      float Multiplier, float Cap);                            \
  void k_norm_##Isa(const LlmcCtx *, const float *X, const float *Gain,        \
                    const float *NormBias, float *Out, int64_t N,              \
                    int64_t Norm, int64_t Heads, float Eps);                   \
  void k_rope_##Isa(const LlmcCtx *, const float *X, const float *Rope,        \
                    float *Out, int64_t Heads, int64_t HeadDim,                \
                    int64_t RotaryHalf, int64_t Interleaved);                  \
  void k_kv_write_##Isa(const LlmcCtx *, const float *K, const float *V,       \
                        uint8_t *Kv, int64_t KvHeads, int64_t HeadDim,         \
                        int64_t VHeadDim, int64_t KvKind, int64_t PageStride); \
  void k_glu_##Isa(const LlmcCtx *, const float *Gate, const float *Up,        \
                   float *Out, int64_t N, int64_t Activation);                 \
  void k_activation_##Isa(const LlmcCtx *, const float *X, float *Out,         \
                          int64_t N, int64_t Activation);                      \
  void k_add_##Isa(const LlmcCtx *, const float *A, const float *B,            \
                   float *Out, int64_t N);                                     \
  void k_scale_##Isa(const LlmcCtx *, const float *X, float *Out, int64_t N,   \
                     float Factor);                                            \
  void k_rowwise_##Isa(                                                        \
      const LlmcCtx *, const float *In0, const float *In1, const float *In2,   \
      const float *In3, const float *In4, const float *In5, const float *In6,  \
      const float *In7, const float *Program, float *Out, float *Scratch,      \
      int64_t Count, int64_t ScratchN, int64_t N, int64_t N0, int64_t N1,      \
      int64_t N2, int64_t N3, int64_t N4, int64_t N5, int64_t N6, int64_t N7); \
  void k_experts_##Isa(const LlmcCtx *, const float *X, const float *Route,    \
                       const uint8_t *Weight, const float *Bias, float *Out,   \
                       uint8_t *Xq, int64_t K, int64_t N, int64_t Experts,     \
                       int64_t Slots, int64_t Combine, int64_t WType,          \
                       int64_t XPolicy);                                       \
  void k_causal_conv_##Isa(const LlmcCtx *, const float *X, uint8_t *Kv,       \
                           const float *Weight, const float *Bias, float *Out, \
                           int64_t N, int64_t Taps, int64_t Activation,        \
                           int64_t KvKind, int64_t PageStride);                \
  void k_linear_attention_##Isa(                                               \
      const LlmcCtx *, const float *Q, const float *K, const float *V,         \
      const float *Decay, const float *Beta, uint8_t *Kv, float *Out,          \
      int64_t Heads, int64_t KvHeads, int64_t HeadDim, int64_t VHeadDim,       \
      int64_t DecayDim, int64_t Delta, int64_t Block, int64_t PageStride,      \
      float Scale);                                                            \
  void k_select_by_length_##Isa(const LlmcCtx *, const float *A,               \
                                const float *B, float *Out, int64_t N,         \
                                int64_t Threshold);                            \
  void k_take_rows_##Isa(const LlmcCtx *, const float *X, const float *Gain,   \
                         const float *NormBias, const int32_t *LogitRows,      \
                         float *Out, int64_t N, int64_t Norm, float Eps);

extern "C" {
LLMC_DECLARE_KERNELS(ref)
}

#endif // LLMC_COMPILER_KERNELS_REF_REF_H
