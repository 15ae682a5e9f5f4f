// Kernel requests of the tests: every kernel of the catalogue with small shapes
// and variants of what is optional.
#ifndef LLMC_TEST_COMPILER_CUDA_REQUESTS_H
#define LLMC_TEST_COMPILER_CUDA_REQUESTS_H

#include "compiler/kernels/Catalogue.h"
#include "compiler/kernels/FragmentFormat.h"
#include "compiler/kernels/WeightFormat.h"
#include "compiler/target/cuda/KernelText.h"

#include <initializer_list>

namespace llmc::test {
using cuda::KernelRequest;

/// A request of Kernel with these constants; the buffers named in Absent are
/// null, and so are partial and, but for rowwise and experts, xq.
inline KernelRequest
request(std::string_view Kernel, std::map<std::string, int64_t> Ints,
        std::map<std::string, float> Floats = {},
        std::initializer_list<std::string_view> Absent = {},
        int64_t PageStride = 0) {
  KernelRequest R;
  R.Kernel = Kernel;
  R.Ints = std::move(Ints);
  R.Floats = std::move(Floats);
  R.KvPageStride = PageStride;
  for (std::string_view B : kernels::findKernel(Kernel)->Buffers) {
    bool Here = (B != "xq" || Kernel == "rowwise" || Kernel == "experts") &&
                B != "partial";
    for (std::string_view A : Absent)
      Here &= A != B;
    R.Present.push_back(Here);
  }
  return R;
}

/// What a product is made for; rows of tokens, no policy of activations.
struct LinearShape {
  int64_t K, N, WType, Norm, Glu, Act;
};

inline KernelRequest
linear(const LinearShape &S, float Eps,
       std::initializer_list<std::string_view> Absent = {}) {
  return request("linear",
                 {{"k", S.K},
                  {"n", S.N},
                  {"wtype", S.WType},
                  {"xpolicy", kernels::XF32},
                  {"norm", S.Norm},
                  {"glu", S.Glu},
                  {"activation", S.Act},
                  {"rows", kernels::RowsT}},
                 {{"eps", Eps}}, Absent);
}

/// Products of the experts that a router chose, at most Slots per token.
struct ExpertShape {
  int64_t K, N, Experts, Slots;
  bool Combine; ///< slots of a token are summed, else one beside another
  int64_t WType;
};

inline KernelRequest experts(const ExpertShape &S) {
  return request("experts", {{"k", S.K},
                             {"n", S.N},
                             {"experts", S.Experts},
                             {"slots", S.Slots},
                             {"combine", S.Combine},
                             {"wtype", S.WType},
                             {"xpolicy", kernels::XF32}});
}

/// A request for attention, with or without slopes and sinks.
inline KernelRequest attentionRequest(std::map<std::string, int64_t> Ints,
                                      std::map<std::string, float> Floats,
                                      bool Slopes, bool Sinks,
                                      int64_t PageStride) {
  KernelRequest R =
      request("attention", std::move(Ints), std::move(Floats), {}, PageStride);
  std::span<const std::string_view> Names =
      kernels::findKernel("attention")->Buffers;
  for (size_t I = 0; I != Names.size(); ++I) {
    if (Names[I] == "partial")
      R.Present[I] = true;
    if (Names[I] == "slopes")
      R.Present[I] = Slopes;
    if (Names[I] == "sinks")
      R.Present[I] = Sinks;
  }
  return R;
}

/// The products of SmolLM2-135M with weights of these types.
inline void smolProducts(std::vector<KernelRequest> &All,
                         std::initializer_list<int64_t> Types) {
  int64_t Page = 30 * 3 * 128 * 32 * 2;
  for (int64_t W : Types) {
    All.push_back(request("embed",
                          {{"vocab", 49152}, {"hidden", 576}, {"wtype", W}},
                          {{"scale", 1.0f}}));
    All.push_back(request("qkv",
                          {{"k", 576},
                           {"heads", 9},
                           {"kv_heads", 3},
                           {"head_dim", 64},
                           {"v_head_dim", 64},
                           {"rotary_half", 32},
                           {"interleaved", 0},
                           {"wtype", W},
                           {"xpolicy", kernels::XF32},
                           {"norm", kernels::NormRms},
                           {"kvtype", kernels::KvF16}},
                          {{"eps", 1e-5f}}, {"norm_bias", "bias"}, Page));
    All.push_back(linear({576, 576, W, kernels::NormNone, 0, 0}, 0.0f,
                         {"gain", "norm_bias", "bias"}));
    All.push_back(linear({576, 3072, W, kernels::NormRms, kernels::ActSilu, 0},
                         1e-5f, {"norm_bias", "bias", "residual"}));
    All.push_back(linear({1536, 576, W, kernels::NormNone, 0, 0}, 0.0f,
                         {"gain", "norm_bias", "bias"}));
    All.push_back(
        request("logits",
                {{"k", 576},
                 {"n", 49152},
                 {"wtype", W},
                 {"xpolicy", kernels::XF32},
                 {"norm", kernels::NormRms}},
                {{"eps", 1e-5f}, {"multiplier", 1.0f}, {"softcap", 0.0f}},
                {"norm_bias", "bias"}));
  }
}

/// Activations alone, and products of odd sizes.
inline void oddProducts(std::vector<KernelRequest> &All) {
  for (int64_t A = kernels::ActSilu; A <= kernels::ActRelu2; ++A) {
    All.push_back(request("activation", {{"n", 96}, {"activation", A}}));
    All.push_back(request("glu", {{"n", 96}, {"activation", A}}));
  }
  All.push_back(
      request("logits",
              {{"k", 4096},
               {"n", 333},
               {"wtype", kernels::WI8B32},
               {"xpolicy", kernels::XF32},
               {"norm", kernels::NormLayer}},
              {{"eps", 1e-5f}, {"multiplier", 0.5f}, {"softcap", 30.0f}}));
  All.push_back(request("linear",
                        {{"k", 99},
                         {"n", 33},
                         {"wtype", kernels::WF16},
                         {"xpolicy", kernels::XF32},
                         {"norm", kernels::NormLayer},
                         {"glu", 0},
                         {"activation", kernels::ActGelu},
                         {"rows", kernels::RowsR}},
                        {{"eps", 1e-5f}}));
}

/// Attention over both cache types, with and without window, softcap, slopes
/// and sinks.
inline void attentions(std::vector<KernelRequest> &All) {
  for (int64_t Kv : {kernels::KvF32, kernels::KvF16})
    for (int64_t Head : {80, Kv == kernels::KvF16 ? 64 : 256})
      for (bool Extra : {false, true})
        All.push_back(attentionRequest(
            {{"heads", 8},
             {"kv_heads", 2},
             {"head_dim", Head},
             {"v_head_dim", Head},
             {"window", Head == 80 ? 512 : 0},
             {"chunk", Extra && Head == 80 ? 96 : 0},
             {"kvtype", Kv}},
            {{"scale", 0.125f}, {"softcap", Head == 80 ? 50.0f : 0.0f}}, Extra,
            Extra, 2 * 2 * Head * 32 * 4));
  All.push_back(request("attention_rounded",
                        {{"heads", 8},
                         {"kv_heads", 2},
                         {"head_dim", 80},
                         {"v_head_dim", 80},
                         {"window", 0},
                         {"chunk", 0},
                         {"kvtype", kernels::KvF16}},
                        {{"scale", 0.125f},
                         {"softcap", 0.0f},
                         {"score_step", 0.1f},
                         {"score_low", -128.0f},
                         {"score_high", 127.0f},
                         {"prob_step", 0.00390625f},
                         {"prob_low", 0.0f},
                         {"prob_high", 255.0f}},
                        {"slopes", "sinks"}, 2 * 2 * 80 * 32 * 2));
  // Codes and everything else: what needs most registers.
  All.push_back(attentionRequest({{"heads", 8},
                                  {"kv_heads", 2},
                                  {"head_dim", 128},
                                  {"v_head_dim", 128},
                                  {"window", 512},
                                  {"chunk", 96},
                                  {"kvtype", kernels::KvI8}},
                                 {{"scale", 0.125f}, {"softcap", 50.0f}}, true,
                                 true, 2 * (2 * 128 * 32 + 256)));
}

/// What works on rows only.
inline void rowKernels(std::vector<KernelRequest> &All) {
  All.push_back(request("rope_table", {{"half", 32}, {"table_rows", 0}},
                        {{"scaling", 1.0f}}, {"cos_table", "sin_table"}));
  All.push_back(request("rope_table", {{"half", 32}, {"table_rows", 2048}},
                        {{"scaling", 1.0f}}, {"freq"}));
  All.push_back(request("norm",
                        {{"n", 576}, {"norm", kernels::NormRms}, {"heads", 1}},
                        {{"eps", 1e-5f}}, {"norm_bias"}));
  All.push_back(request("norm",
                        {{"n", 64}, {"norm", kernels::NormLayer}, {"heads", 9}},
                        {{"eps", 1e-5f}}));
  All.push_back(request("rope", {{"heads", 9},
                                 {"head_dim", 64},
                                 {"rotary_half", 16},
                                 {"interleaved", 0}}));
  All.push_back(request("rope", {{"heads", 9},
                                 {"head_dim", 64},
                                 {"rotary_half", 32},
                                 {"interleaved", 1}}));
  int64_t CodePage = 30 * 3 * (128 * 32 + 256);
  All.push_back(request("kv_write",
                        {{"kv_heads", 3},
                         {"head_dim", 64},
                         {"v_head_dim", 64},
                         {"kvtype", kernels::KvI8}},
                        {}, {}, CodePage));
  All.push_back(request("qkv_finish",
                        {{"heads", 9},
                         {"kv_heads", 3},
                         {"head_dim", 64},
                         {"v_head_dim", 64},
                         {"rotary_half", 32},
                         {"interleaved", 0},
                         {"kvtype", kernels::KvI8}},
                        {}, {}, CodePage));
  All.push_back(request("kv_write",
                        {{"kv_heads", 3},
                         {"head_dim", 64},
                         {"v_head_dim", 64},
                         {"kvtype", kernels::KvF16}},
                        {}, {}, 30 * 3 * 128 * 32 * 2));
  All.push_back(request("add", {{"n", 576}}));
  All.push_back(request("scale", {{"n", 576}}, {{"factor", 0.125f}}));
}

/// Plain products with codes of files and with whole numbers.
inline void codeProducts(std::vector<KernelRequest> &All) {
  using kernels::CodeKind, kernels::ZeroKind;
  auto Number = [](CodeKind Kind, uint8_t Bits, bool Half, ZeroKind Zero,
                   uint32_t Block) {
    return kernels::numberOf({Kind, Bits, Half, Zero, Block});
  };
  for (int64_t WType :
       {Number(CodeKind::Integer, 4, true, ZeroKind::Byte, 32),
        Number(CodeKind::Integer, 2, false, ZeroKind::Float, 16),
        Number(CodeKind::Integer, 8, true, ZeroKind::Minimum, 0),
        Number(CodeKind::Table, 4, false, ZeroKind::None, 64),
        Number(CodeKind::F8E4M3, 8, false, ZeroKind::None, 128),
        int64_t(kernels::WF32), int64_t(kernels::WBF16)})
    All.push_back(
        linear({4096, 1024, WType, kernels::NormRms, kernels::ActSilu, 0},
               1e-5f, {"norm_bias", "bias", "residual"}));
}

/// What families of models need beside attention.
inline void familyKernels(std::vector<KernelRequest> &All) {
  All.push_back(request("rowwise",
                        {{"count", 4},
                         {"scratch", 99},
                         {"n", 576},
                         {"n0", 576},
                         {"n1", 0},
                         {"n2", 0},
                         {"n3", 0},
                         {"n4", 0},
                         {"n5", 0},
                         {"n6", 0},
                         {"n7", 0}},
                        {}, {"in1", "in2", "in3", "in4", "in5", "in6", "in7"}));
  All.push_back(request("select_by_length", {{"n", 96}, {"threshold", 4096}}));
  All.push_back(request("take_rows", {{"n", 576}, {"norm", kernels::NormRms}},
                        {{"eps", 1e-5f}}, {"norm_bias"}));
  for (bool Combine : {false, true})
    All.push_back(experts({2048, 768, 128, 8, Combine, kernels::WI8B32}));
  All.push_back(request(
      "causal_conv",
      {{"n", 1024}, {"taps", 3}, {"activation", 0}, {"kvtype", kernels::KvF16}},
      {}, {"bias"}, 1024 * 32 * 2));
  for (int64_t Head : {128, 512})
    All.push_back(request("linear_attention",
                          {{"heads", 32},
                           {"kv_heads", 16},
                           {"head_dim", Head},
                           {"v_head_dim", 128},
                           {"decay_dim", Head == 128 ? 1 : Head},
                           {"delta", Head == 128},
                           {"block", Head * 512}},
                          {{"scale", 0.1f}}, {}, 16 * Head * 512));
}

/// The product like Linear with codes of 2 bits and floats of 8, and experts.
inline void otherFragments(std::vector<KernelRequest> &All,
                           KernelRequest Linear) {
  using kernels::CodeKind, kernels::ZeroKind;
  Linear.Ints["k"] = 4096;
  for (kernels::WeightFormat F :
       {kernels::WeightFormat{CodeKind::Integer, 2, true, ZeroKind::Byte, 64},
        kernels::WeightFormat{CodeKind::Integer, 4, false, ZeroKind::Byte, 16},
        kernels::WeightFormat{CodeKind::F8E4M3, 8, false, ZeroKind::None, 128},
        kernels::WeightFormat{CodeKind::F8E5M2, 8, false, ZeroKind::None, 0}}) {
    Linear.Ints["wtype"] = kernels::numberOf(F) | kernels::FragmentFlag;
    All.push_back(Linear);
  }
  for (int64_t W : {kernels::numberOf(kernels::Int8Format),
                    kernels::numberOf(kernels::Int4Format)})
    for (bool Combine : {false, true})
      All.push_back(
          experts({2048, 768, 128, 8, Combine, W | kernels::FragmentFlag}));
}

/// Products of mma fragments: SmolLM2-135M in int8 (the first 6 of allKernels),
/// f16, bf16 and int4, and the widest linear layers of a model of 8 B.
inline void mmaProducts(std::vector<KernelRequest> &All, bool Everything) {
  constexpr int64_t Int8 = kernels::numberOf(kernels::Int8Format) |
                           kernels::FragmentFlag,
                    Int4 = kernels::numberOf(kernels::Int4Format) |
                           kernels::FragmentFlag;
  size_t First = All.size();
  smolProducts(All, {Int8});
  if (Everything)
    smolProducts(All, {kernels::WM16F16, kernels::WM16BF16, Int4});
  for (int64_t W : {Int4, int64_t(kernels::WM16F16), Int8}) {
    if (!Everything && W == Int8)
      continue;
    KernelRequest R = All[First + 3]; // gate and up
    R.Ints["wtype"] = W;
    R.Ints["k"] = 4096;
    R.Ints["n"] = 28672;
    All.push_back(R);
    R = All[First + 4]; // down
    R.Ints["wtype"] = W;
    R.Ints["k"] = 14336;
    R.Ints["n"] = 4096;
    All.push_back(R);
  }
  if (Everything)
    otherFragments(All, All[First + 3]);
  for (size_t I = First; I != All.size(); ++I) {
    if (All[I].Kernel == "embed")
      continue;
    All[I].Present.back() = true; // xq
    All[I].MaxSequences = 32;
  }
}

/// The products of SmolLM2-135M with int8 weights (the first 6) and others, and
/// at least one request of each other kernel. Everything: all weight types.
inline std::vector<KernelRequest> allKernels(bool Everything = false) {
  std::vector<KernelRequest> All;
  mmaProducts(All, Everything);
  smolProducts(All, {kernels::WI8B32, kernels::WF16});
  oddProducts(All);
  attentions(All);
  rowKernels(All);
  codeProducts(All);
  familyKernels(All);
  return All;
}

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CUDA_REQUESTS_H
