// Kernel requests of the tests: every kernel of the catalogue with small shapes
// and variants of what is optional.
#ifndef LLMC_TEST_COMPILER_CUDA_REQUESTS_H
#define LLMC_TEST_COMPILER_CUDA_REQUESTS_H

#include "compiler/kernels/Catalogue.h"
#include "compiler/target/cuda/KernelText.h"

#include <initializer_list>

namespace llmc::test {
using cuda::KernelRequest;

/// A request of Kernel with these constants; the buffers named in Absent are
/// null, and so are xq and partial.
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
    bool Here = B != "xq" && B != "partial";
    for (std::string_view A : Absent)
      Here &= A != B;
    R.Present.push_back(Here);
  }
  return R;
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
    if (Names[I] == "slopes")
      R.Present[I] = Slopes;
    if (Names[I] == "sinks")
      R.Present[I] = Sinks;
  }
  return R;
}

/// The products of SmolLM2-135M with int8 weights and with f16 ones.
inline void smolProducts(std::vector<KernelRequest> &All) {
  int64_t Page = 30 * 3 * 128 * 32 * 2;
  for (int64_t W : {kernels::WI8B32, kernels::WF16}) {
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
    All.push_back(request("linear",
                          {{"k", 576},
                           {"n", 576},
                           {"wtype", W},
                           {"xpolicy", kernels::XF32},
                           {"norm", kernels::NormNone},
                           {"glu", 0},
                           {"activation", 0},
                           {"rows", kernels::RowsT}},
                          {{"eps", 0.0f}}, {"gain", "norm_bias", "bias"}));
    All.push_back(request("linear",
                          {{"k", 576},
                           {"n", 3072},
                           {"wtype", W},
                           {"xpolicy", kernels::XF32},
                           {"norm", kernels::NormRms},
                           {"glu", kernels::ActSilu},
                           {"activation", 0},
                           {"rows", kernels::RowsT}},
                          {{"eps", 1e-5f}}, {"norm_bias", "bias", "residual"}));
    All.push_back(request("linear",
                          {{"k", 1536},
                           {"n", 576},
                           {"wtype", W},
                           {"xpolicy", kernels::XF32},
                           {"norm", kernels::NormNone},
                           {"glu", 0},
                           {"activation", 0},
                           {"rows", kernels::RowsT}},
                          {{"eps", 0.0f}}, {"gain", "norm_bias", "bias"}));
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
  All.push_back(request("kv_write",
                        {{"kv_heads", 3},
                         {"head_dim", 64},
                         {"v_head_dim", 64},
                         {"kvtype", kernels::KvF16}},
                        {}, {}, 30 * 3 * 128 * 32 * 2));
  All.push_back(request("add", {{"n", 576}}));
  All.push_back(request("scale", {{"n", 576}}, {{"factor", 0.125f}}));
}

/// The products of SmolLM2-135M with int8 weights (the first 6) and f16 ones,
/// and at least one request of each other kernel.
inline std::vector<KernelRequest> allKernels() {
  std::vector<KernelRequest> All;
  smolProducts(All);
  oddProducts(All);
  attentions(All);
  rowKernels(All);
  return All;
}

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CUDA_REQUESTS_H
