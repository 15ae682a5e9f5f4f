// The table behind Catalogue.h. Each kernel has a sentence on what it computes;
// its exact arithmetic is that of compiler/kernels/ref.
#include "compiler/kernels/Catalogue.h"

namespace llmc::kernels {
namespace {
using Names = std::string_view;

// out[t][:] = scale * W[ids[t]][:], W dequantised to f32. [T][hidden]
constexpr Names EmbedB[] = {"ids", "weight", "out"};
constexpr Names EmbedI[] = {"vocab", "hidden", "wtype"};
constexpr Names EmbedF[] = {"scale"};

// out[t] = {cos[0..half), sin[0..half)} * scaling of positions[t] * freq[i] in
// f32; or, when cos/sin tables are given, their rows at positions[t]
// (cos_table and sin_table are [table_rows][half] f32). [T][2*half]
constexpr Names RopeTableB[] = {"positions", "freq", "cos_table", "sin_table",
                                "out"};
constexpr Names RopeTableI[] = {"half", "table_rows"};
constexpr Names RopeTableF[] = {"scaling"};

// norm -> x * Wqkv + bias -> rope on q and k -> q_out f32 [T][heads*head_dim],
// k and v rounded into the KV pool. Packed rows are ordered per KV group: its
// q heads, k, v. Head order of q_out is the model's. rope may be null
// (rotary_half 0). xq is scratch for the normed/quantised rows.
constexpr Names QkvB[] = {"x",    "gain", "norm_bias", "weight", "bias",
                          "rope", "kv",   "q_out",     "xq"};
constexpr Names QkvI[] = {
    "k",           "heads", "kv_heads", "head_dim", "v_head_dim", "rotary_half",
    "interleaved", "wtype", "xpolicy",  "norm",     "kvtype"};
constexpr Names NormF[] = {"eps"};

// The rows of a fused product (x [T], packed order as above, after norm and
// bias) to q_out and the cache; a head becomes codes as a whole. CUDA only.
constexpr Names QkvFinishB[] = {"x", "rope", "kv", "q_out"};
constexpr Names QkvFinishI[] = {"heads",      "kv_heads",    "head_dim",
                                "v_head_dim", "rotary_half", "interleaved",
                                "kvtype"};

// out[t] = softmax(scale * q k^T, visible keys) v over the row's own sequence,
// keys at positions (pos - window, pos] (window 0: all <= pos) and, with a
// chunk, not before the multiple of chunk below pos; with optional softcap (0:
// none), then slopes[h] * (key - pos) added to the scores, and exp(sinks[h]) to
// the sum of the softmax (both f32 [heads], may be null).
// [T][heads*v_head_dim]. partial: scratch.
constexpr Names AttentionB[] = {"q", "kv", "out", "partial", "slopes", "sinks"};
constexpr Names AttentionI[] = {"heads",  "kv_heads", "head_dim", "v_head_dim",
                                "window", "chunk",    "kvtype"};
constexpr Names AttentionF[] = {"scale", "softcap"};

// attention with scores s (before the softcap) and probabilities made step *
// clamp(round(s / step), low, high); step 0: as they are.
constexpr Names AttentionRoundedB[] = {"q", "kv", "out", "slopes", "sinks"};
constexpr Names AttentionRoundedF[] = {"scale",     "softcap",    "score_step",
                                       "score_low", "score_high", "prob_step",
                                       "prob_low",  "prob_high"};

// norm -> x W^T + bias -> activation or GLU -> + residual -> out. With glu != 0
// the n packed rows interleave 16 gate rows and 16 up rows, and out has n/2
// features: out = act(gate) * up. activation and glu exclude each other.
constexpr Names LinearB[] = {"x",    "gain",     "norm_bias", "weight",
                             "bias", "residual", "out",       "xq"};
constexpr Names LinearI[] = {"k",    "n",   "wtype",      "xpolicy",
                             "norm", "glu", "activation", "rows"};

// Row r: norm of x[logit_rows[r]] -> W^T + bias -> * multiplier -> softcap ->
// logits[r]. x is [T][k].
constexpr Names LogitsB[] = {"x",    "gain",       "norm_bias", "weight",
                             "bias", "logit_rows", "out",       "xq"};
constexpr Names LogitsI[] = {"k", "n", "wtype", "xpolicy", "norm"};
constexpr Names LogitsF[] = {"eps", "multiplier", "softcap"};

// Unfused forms, one row at a time. norm: each of `heads` slices of n features
// by itself, all with the same gain [n] (heads 1: the whole row).
constexpr Names NormB[] = {"x", "gain", "norm_bias", "out"};
constexpr Names NormI[] = {"n", "norm", "heads"};
constexpr Names RopeB[] = {"x", "rope", "out"};
constexpr Names RopeI[] = {"heads", "head_dim", "rotary_half", "interleaved"};
constexpr Names KvWriteB[] = {"k", "v", "kv"};
constexpr Names KvWriteI[] = {"kv_heads", "head_dim", "v_head_dim", "kvtype"};
constexpr Names GluB[] = {"gate", "up", "out"};
constexpr Names ActB[] = {"x", "out"};
constexpr Names ActI[] = {"n", "activation"};
constexpr Names AddB[] = {"a", "b", "out"};
constexpr Names AddI[] = {"n"};
constexpr Names ScaleB[] = {"x", "out"};
constexpr Names ScaleF[] = {"factor"};

// One row at a time, the `count` records of a program of RowCode.h over rows of
// up to eight inputs of n0 … n7 features; out has n. xq: `scratch` floats per
// row.
constexpr Names RowwiseB[] = {"in0", "in1", "in2",     "in3", "in4", "in5",
                              "in6", "in7", "program", "out", "xq"};
constexpr Names RowwiseI[] = {"count", "scratch", "n",  "n0", "n1", "n2",
                              "n3",    "n4",      "n5", "n6", "n7"};

// For each row of x and each expert e with route[t][e] != 0, `slots` at most,
// in ascending order: W[e*n … e*n+n) x + bias, into slice number j of out
// [T][slots*n]. With combine x is [T][slots*k], slice j the j-th expert's, and
// out[t] [n] the sum of route * (W x + bias). xq: packed rows, `slots` per
// token with combine.
constexpr Names ExpertsB[] = {"x", "route", "weight", "bias", "out", "xq"};
constexpr Names ExpertsI[] = {"k",       "n",     "experts", "slots",
                              "combine", "wtype", "xpolicy"};

// Row at position p, feature c: activation(bias[c] + sum over j < taps of
// weight[c*taps + j] * x[p - taps + 1 + j][c]), positions before 0 counting as
// zeros. The page of a token holds its row of x, [page_tokens][n] of kvtype,
// where all rows are read from, so rounded. [T][n]
constexpr Names ConvB[] = {"x", "kv", "weight_vector", "bias", "out"};
constexpr Names ConvI[] = {"n", "taps", "activation", "kvtype"};

// Per KV head a matrix S [head_dim][v_head_dim] in f32 at the sequence's page,
// `block` bytes per head: S of the last token that lies in the page. For each
// row of a sequence in order: S *= exp(decay) (decay_dim 1: per head, head_dim:
// per key feature, 0: none); v' = delta ? beta (v - k S) : beta v; S += k v';
// out of query head h = scale * q_h S. Sums over key features are fma chains in
// ascending order. [T][heads*v_head_dim]
constexpr Names LinearAttentionB[] = {"q",    "k",  "v",  "decay",
                                      "beta", "kv", "out"};
constexpr Names LinearAttentionI[] = {"heads",      "kv_heads",  "head_dim",
                                      "v_head_dim", "decay_dim", "delta",
                                      "block"};
constexpr Names LinearAttentionF[] = {"scale"};

// out[t] = length of row t > threshold ? b[t] : a[t]. [T][n]
constexpr Names SelectI[] = {"n", "threshold"};

// Row r of out: norm of x[logit_rows[r]]. [R][n]
constexpr Names TakeRowsB[] = {"x", "gain", "norm_bias", "logit_rows", "out"};
constexpr Names TakeRowsI[] = {"n", "norm"};

constexpr KernelInfo Kernels[] = {
    {"embed", EmbedB, EmbedI, EmbedF},
    {"rope_table", RopeTableB, RopeTableI, RopeTableF},
    {"qkv", QkvB, QkvI, NormF},
    {"qkv_finish", QkvFinishB, QkvFinishI, {}},
    {"attention", AttentionB, AttentionI, AttentionF},
    {"attention_rounded", AttentionRoundedB, AttentionI, AttentionRoundedF},
    {"linear", LinearB, LinearI, NormF},
    {"logits", LogitsB, LogitsI, LogitsF},
    {"norm", NormB, NormI, NormF},
    {"rope", RopeB, RopeI, {}},
    {"kv_write", KvWriteB, KvWriteI, {}},
    {"glu", GluB, ActI, {}},
    {"activation", ActB, ActI, {}},
    {"add", AddB, AddI, {}},
    {"scale", ScaleB, AddI, ScaleF},
    {"rowwise", RowwiseB, RowwiseI, {}},
    {"experts", ExpertsB, ExpertsI, {}},
    {"causal_conv", ConvB, ConvI, {}},
    {"linear_attention", LinearAttentionB, LinearAttentionI, LinearAttentionF},
    {"select_by_length", AddB, SelectI, {}},
    {"take_rows", TakeRowsB, TakeRowsI, NormF},
};
} // namespace

std::span<const KernelInfo> catalogue() { return Kernels; }

const KernelInfo *findKernel(std::string_view Name) {
  for (const KernelInfo &K : Kernels)
    if (K.Name == Name)
      return &K;
  return nullptr;
}
} // namespace llmc::kernels
