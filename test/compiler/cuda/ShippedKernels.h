// Small requests for every kernel, form, weight type and cache type that the
// CUDA target has: what the suite of the sanitizer runs.
#ifndef LLMC_TEST_COMPILER_CUDA_SHIPPEDKERNELS_H
#define LLMC_TEST_COMPILER_CUDA_SHIPPEDKERNELS_H

#include "test/compiler/cuda/KernelMemory.h"

namespace llmc::test {

/// Types of weights of the plain products.
inline std::vector<int64_t> plainTypes() {
  using kernels::CodeKind, kernels::ZeroKind;
  std::vector<int64_t> Types = {kernels::WF32, kernels::WF16, kernels::WBF16,
                                kernels::WI8B32};
  for (kernels::WeightFormat F : std::initializer_list<kernels::WeightFormat>{
           {CodeKind::Integer, 2, false, ZeroKind::Float, 16},
           {CodeKind::Integer, 4, true, ZeroKind::Byte, 32},
           {CodeKind::Integer, 4, false, ZeroKind::None, 64},
           {CodeKind::Integer, 8, true, ZeroKind::Minimum, 0},
           {CodeKind::Integer, 8, false, ZeroKind::Middle, 128},
           {CodeKind::Table, 4, false, ZeroKind::None, 64},
           {CodeKind::F8E4M3, 8, false, ZeroKind::None, 128},
           {CodeKind::F8E5M2, 8, true, ZeroKind::None, 0},
           {CodeKind::F8E4M3Z, 8, false, ZeroKind::None, 32},
           {CodeKind::F8E5M2Z, 8, false, ZeroKind::None, 32}})
    Types.push_back(kernels::numberOf(F));
  return Types;
}

/// Those of the products with tensor cores: all widths with every kind of zero
/// point, every kind of block and of scale, and all floats of 8 bits.
inline std::vector<int64_t> fragmentTypes() {
  using kernels::CodeKind, kernels::ZeroKind;
  std::vector<int64_t> Types = {kernels::WM16F16, kernels::WM16BF16};
  constexpr uint32_t Blocks[] = {32, 0, 64, 128};
  uint32_t Number = 0;
  for (uint8_t Bits : {uint8_t(8), uint8_t(4), uint8_t(2)})
    for (ZeroKind Zero : {ZeroKind::Middle, ZeroKind::None, ZeroKind::Byte,
                          ZeroKind::Float, ZeroKind::Minimum}) {
      Types.push_back(
          kernels::numberOf({CodeKind::Integer, Bits, Number % 3 == 0, Zero,
                             Blocks[(Number + Number / 4) % 4]}) |
          kernels::FragmentFlag);
      ++Number;
    }
  for (CodeKind Kind : {CodeKind::F8E4M3, CodeKind::F8E5M2, CodeKind::F8E4M3Z,
                        CodeKind::F8E5M2Z})
    Types.push_back(kernels::numberOf({Kind, 8, Number % 3 == 0, ZeroKind::None,
                                       Blocks[Number++ % 4]}) |
                    kernels::FragmentFlag);
  for (kernels::WeightFormat F :
       {kernels::WeightFormat{CodeKind::Integer, 2, true, ZeroKind::Byte, 16},
        {CodeKind::Integer, 4, false, ZeroKind::Float, 16},
        {CodeKind::Integer, 8, true, ZeroKind::Middle, 16}})
    Types.push_back(kernels::numberOf(F) | kernels::FragmentFlag);
  return Types;
}

/// With the scratch of products; logits have it where a step may have many.
inline KernelRequest withScratch(KernelRequest R) {
  if (cuda::isMmaProduct(R)) {
    R.Present.back() = true;
    R.MaxSequences = 32;
  }
  return R;
}

struct HeadShape {
  int64_t Dim, VDim, Half, Interleaved;
};

inline KernelRequest qkvRequest(int64_t WType, const HeadShape &H, int64_t Norm,
                                int64_t Kv) {
  int64_t Stride = 2 * kernels::kvBlockBytes(H.Dim, H.VDim, KernelStep::Page,
                                             Kv == kernels::KvF16 ? 16 : 32);
  KernelRequest R = request("qkv",
                            {{"k", 136},
                             {"heads", 6},
                             {"kv_heads", 2},
                             {"head_dim", H.Dim},
                             {"v_head_dim", H.VDim},
                             {"rotary_half", H.Half},
                             {"interleaved", H.Interleaved},
                             {"wtype", WType},
                             {"xpolicy", kernels::XF32},
                             {"norm", Norm},
                             {"kvtype", Kv}},
                            {{"eps", 1e-5f}}, {"norm_bias"}, Stride);
  R.Present[1] = Norm != kernels::NormNone;
  R.Present[2] = Norm == kernels::NormLayer;
  R.Present[5] = H.Half != 0;
  return withScratch(R);
}

/// linear, embed, logits, qkv and experts over all types of weights; norms,
/// activations and optional buffers take turns.
inline void shippedProducts(std::vector<KernelRequest> &All) {
  constexpr HeadShape Heads[] = {{32, 32, 16, 0}, {32, 16, 8, 1},
                                 {48, 48, 0, 0},  {12, 9, 6, 0},
                                 {40, 40, 10, 1}, {64, 64, 8, 0}};
  std::vector<int64_t> Types = fragmentTypes(), Plain = plainTypes();
  size_t Fragments = Types.size();
  Types.insert(Types.end(), Plain.begin(), Plain.end());
  for (size_t I = 0; I != Types.size(); ++I) {
    int64_t W = Types[I], Number = static_cast<int64_t>(I);
    int64_t Norm = Number % 3, Act = Number / 2 % 8;
    bool Glu = I % 2 == 0;
    bool Simple = I < 4 || (I >= Fragments && I < Fragments + 4);
    KernelRequest L = linear(
        {I % 4 == 1 ? 99 : 136, 64, W, Norm, Glu ? Act : 0, Glu ? 0 : Act},
        1e-5f);
    L.Present[1] = Norm != kernels::NormNone;
    L.Present[2] = Norm == kernels::NormLayer;
    L.Present[4] = I % 3 == 0;
    L.Present[5] = I % 3 != 1;
    L.Ints["rows"] = I % 5 == 4 ? kernels::RowsR : kernels::RowsT;
    All.push_back(withScratch(L));
    if (I % 2 == 0 || Simple)
      All.push_back(request("embed",
                            {{"vocab", 45}, {"hidden", 99}, {"wtype", W}},
                            {{"scale", I % 4 == 0 ? 1.0f : 0.5f}}));
    if (I % 3 == 0 || Simple)
      All.push_back(qkvRequest(W, Heads[I % 6], Norm,
                               I % 2 == 0 ? kernels::KvF16 : kernels::KvF32));
    if (I % 3 == 1 || Simple) {
      KernelRequest R = request("logits",
                                {{"k", 136},
                                 {"n", 45},
                                 {"wtype", W},
                                 {"xpolicy", kernels::XF32},
                                 {"norm", kernels::NormLayer}},
                                {{"eps", 1e-5f},
                                 {"multiplier", 0.5f},
                                 {"softcap", I % 2 == 0 ? 3.0f : 0.0f}});
      All.push_back(I % 2 == 0 ? R : withScratch(R));
    }
    if (I % 3 == 2 || Simple || I >= Fragments)
      All.push_back(experts(
          {99, I < Fragments ? 48 : 33, 10, 2, Number / 3 % 2 == 1, W}));
  }
}

/// Attention in all forms over all caches.
inline void shippedAttention(std::vector<KernelRequest> &All) {
  auto Add = [&](int64_t Group, int64_t Dim, int64_t VDim, int64_t Kv,
                 int64_t Window, int64_t Chunk, float Softcap, bool Extra) {
    int64_t Bits = Kv == kernels::KvI8 ? 8 : Kv == kernels::KvF16 ? 16 : 32;
    KernelRequest R = attentionRequest(
        {{"heads", 2 * Group},
         {"kv_heads", 2},
         {"head_dim", Dim},
         {"v_head_dim", VDim},
         {"window", Window},
         {"chunk", Chunk},
         {"kvtype", Kv}},
        {{"scale", 0.3f}, {"softcap", Softcap}}, Extra, Extra,
        2 * kernels::kvBlockBytes(Dim, VDim, KernelStep::Page, Bits));
    R.SmallBuckets = 1;
    R.MaxSequences = KernelStep::Sequences;
    R.MaxContext = KernelStep::Context;
    All.push_back(R);
  };
  for (int64_t Kv : {kernels::KvF32, kernels::KvF16, kernels::KvI8}) {
    Add(3, 64, 64, Kv, 0, 0, 0.0f, false);
    Add(1, 80, 80, Kv, 40, 0, 30.0f, true);
    Add(17, 16, 32, Kv, 0, 48, 0.0f, true);
  }
  Add(2, 8, 8, kernels::KvF16, 0, 0, 0.0f, false);
  Add(4, 256, 256, kernels::KvF16, 0, 0, 0.0f, false);
  Add(4, 256, 256, kernels::KvI8, 0, 0, 0.0f, false);
  Add(2, 20, 12, kernels::KvF16, 0, 0, 0.0f, false); // no tensor cores
  for (int64_t Kv : {kernels::KvF32, kernels::KvF16})
    for (bool Extra : {false, true}) {
      KernelRequest R =
          request("attention_rounded",
                  {{"heads", 4},
                   {"kv_heads", 2},
                   {"head_dim", 40},
                   {"v_head_dim", 24},
                   {"window", 0},
                   {"chunk", 0},
                   {"kvtype", Kv}},
                  {{"scale", 0.3f},
                   {"softcap", 0.0f},
                   {"score_step", Extra ? 0.0f : 0.1f},
                   {"score_low", -128.0f},
                   {"score_high", 127.0f},
                   {"prob_step", 0.00390625f},
                   {"prob_low", 0.0f},
                   {"prob_high", 255.0f}},
                  {},
                  2 * kernels::kvBlockBytes(40, 24, 32,
                                            Kv == kernels::KvF16 ? 16 : 32));
      R.Present[3] = R.Present[4] = Extra;
      All.push_back(R);
    }
}

/// What works on rows and states.
inline void shippedRows(std::vector<KernelRequest> &All) {
  for (int64_t A = kernels::ActNone; A <= kernels::ActRelu2; ++A) {
    All.push_back(request("activation", {{"n", 77}, {"activation", A}}));
    if (A != kernels::ActNone)
      All.push_back(request("glu", {{"n", 77}, {"activation", A}}));
  }
  All.push_back(request("rope_table", {{"half", 20}, {"table_rows", 0}},
                        {{"scaling", 0.5f}}, {"cos_table", "sin_table"}));
  All.push_back(request("rope_table", {{"half", 20}, {"table_rows", 320}},
                        {{"scaling", 1.0f}}, {"freq"}));
  for (int64_t Norm : {kernels::NormRms, kernels::NormLayer}) {
    All.push_back(request("norm", {{"n", 45}, {"norm", Norm}, {"heads", 3}},
                          {{"eps", 1e-5f}}, {"norm_bias"}));
    All.push_back(request("take_rows", {{"n", 45}, {"norm", Norm}},
                          {{"eps", 1e-5f}}, {"norm_bias"}));
    for (size_t I = All.size() - 2; I != All.size(); ++I)
      All[I].Present[2] = Norm == kernels::NormLayer;
  }
  All.push_back(request("take_rows", {{"n", 45}, {"norm", kernels::NormNone}},
                        {{"eps", 0.0f}}, {"gain", "norm_bias"}));
  for (int64_t Interleaved : {0, 1})
    All.push_back(request("rope", {{"heads", 3},
                                   {"head_dim", 40},
                                   {"rotary_half", Interleaved ? 20 : 8},
                                   {"interleaved", Interleaved}}));
  for (int64_t Kv : {kernels::KvF32, kernels::KvF16, kernels::KvI8}) {
    int64_t Bits = Kv == kernels::KvI8 ? 8 : Kv == kernels::KvF16 ? 16 : 32;
    int64_t Stride = 2 * kernels::kvBlockBytes(48, 32, KernelStep::Page, Bits);
    All.push_back(request(
        "kv_write",
        {{"kv_heads", 2}, {"head_dim", 48}, {"v_head_dim", 32}, {"kvtype", Kv}},
        {}, {}, Stride));
    All.push_back(request("qkv_finish",
                          {{"heads", 6},
                           {"kv_heads", 2},
                           {"head_dim", 48},
                           {"v_head_dim", 32},
                           {"rotary_half", 24},
                           {"interleaved", Kv == kernels::KvF16},
                           {"kvtype", Kv}},
                          {}, {}, Stride));
    if (Kv == kernels::KvI8)
      continue;
    All.push_back(request("causal_conv",
                          {{"n", 37},
                           {"taps", 4},
                           {"activation", kernels::ActSilu},
                           {"kvtype", Kv}},
                          {}, {}, 37 * KernelStep::Page * Bits / 8));
  }
  All.push_back(request("add", {{"n", 77}}));
  All.push_back(request("scale", {{"n", 77}}, {{"factor", 0.125f}}));
  All.push_back(request("select_by_length", {{"n", 77}, {"threshold", 250}}));
  std::map<std::string, int64_t> Sizes = {
      {"count",
       static_cast<int64_t>(everyRowOperation().size()) / kernels::RowRecord},
      {"scratch", 40},
      {"n", 40},
      {"n0", 40},
      {"n1", 40}};
  for (const char *None : {"n2", "n3", "n4", "n5", "n6", "n7"})
    Sizes[None] = 0;
  All.push_back(request("rowwise", Sizes, {},
                        {"in2", "in3", "in4", "in5", "in6", "in7"}));
  for (int64_t Head : {16, 24, 260}) {
    int64_t Block = Head * 33 * 4 + 64;
    KernelRequest R = request("linear_attention",
                              {{"heads", 4},
                               {"kv_heads", 2},
                               {"head_dim", Head},
                               {"v_head_dim", 33},
                               {"decay_dim", Head == 24   ? 24
                                             : Head == 16 ? 1
                                                          : 0},
                               {"delta", Head != 260},
                               {"block", Block}},
                              {{"scale", 0.1f}}, {}, 2 * Block);
    R.Present[3] = Head != 260; // decay
    R.Present[4] = Head != 260; // beta
    All.push_back(R);
  }
}

inline std::vector<KernelRequest> shippedKernels() {
  std::vector<KernelRequest> All;
  shippedProducts(All);
  shippedAttention(All);
  shippedRows(All);
  return All;
}

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CUDA_SHIPPEDKERNELS_H
