// Memory for one launch of any kernel of the catalogue: every buffer has the
// bytes that the kernel may touch, so that the simulator's sanitizer sees each
// access outside, and contents that are numbers for it. Values are not checked.
#ifndef LLMC_TEST_COMPILER_CUDA_KERNELMEMORY_H
#define LLMC_TEST_COMPILER_CUDA_KERNELMEMORY_H

#include "compiler/kernels/CudaScratch.h"
#include "compiler/kernels/ProductShape.h"
#include "compiler/target/cuda/ProductForms.h"
#include "compiler/weights/Layout.h"
#include "runtime/base/CudaTickets.h"
#include "test/compiler/cuda/HostRun.h"
#include "test/compiler/cuda/RowRecords.h"

namespace llmc::test {

/// Rows of a step of three sequences with up to 320 tokens, and its bucket.
struct KernelStep {
  static constexpr int64_t Context = 320, Page = 32, Sequences = 3;
  uint32_t Bucket;
  std::vector<int32_t> Positions, Seq, LogitRows, Lengths;
  std::vector<uint32_t> Pages;
  uint32_t Prompt;

  /// 6, 26 or 51 rows for buckets of 8, 32 and 128: a prompt over the end of a
  /// segment of attention, a second one, and generated rows.
  explicit KernelStep(uint32_t Bucket) : Bucket(Bucket) {
    int32_t Long = Bucket <= 8 ? 3 : Bucket <= 32 ? 23 : 41;
    rows(0, 245, 245 + Long);
    if (Bucket > 32)
      rows(1, 0, 8);
    Prompt = static_cast<uint32_t>(Positions.size());
    if (Bucket <= 32)
      rows(1, 63, 64);
    rows(2, 311, 313);
    for (int32_t P : Positions)
      Lengths.push_back(P + 1);
    int32_t Last = static_cast<int32_t>(Positions.size()) - 1;
    LogitRows = {0, Last / 2, Last};
    for (int32_t I = 1; Bucket > 32 && I != 9; ++I) // more than 8
      LogitRows.insert(LogitRows.begin() + I, I * 2);
    for (uint32_t I = 0; I != Sequences * Context / Page; ++I)
      Pages.push_back(I * 7 % (Sequences * Context / Page));
  }
  LlmcCounts counts() const {
    return {static_cast<uint32_t>(Positions.size()),
            Prompt,
            Sequences,
            static_cast<uint32_t>(LogitRows.size()),
            Context / Page,
            Bucket <= 8    ? 0u
            : Bucket <= 32 ? 1u
                           : 2u};
  }

private:
  void rows(int32_t Sequence, int32_t Begin, int32_t End) {
    for (int32_t P = Begin; P != End; ++P) {
      Positions.push_back(P);
      Seq.push_back(Sequence);
    }
  }
};

/// Floats of a buffer: a product of constants of the kernel, per row or for
/// all. "rows" are token rows, "logits" those with logits.
struct FloatRule {
  std::string_view Kernel, Buffer, Count;
};
constexpr FloatRule FloatRules[] = {
    {"embed", "out", "rows*hidden"},
    {"rope_table", "freq", "half"},
    {"rope_table", "cos_table", "table_rows*half"},
    {"rope_table", "sin_table", "table_rows*half"},
    {"rope_table", "out", "rows*2*half"},
    {"qkv", "x", "rows*k"},
    {"qkv", "gain", "k"},
    {"qkv", "norm_bias", "k"},
    {"qkv", "bias", "packed"},
    {"qkv", "rope", "rows*2*rotary_half"},
    {"qkv", "q_out", "rows*heads*head_dim"},
    {"qkv_finish", "x", "rows*packed"},
    {"qkv_finish", "rope", "rows*2*rotary_half"},
    {"qkv_finish", "q_out", "rows*heads*head_dim"},
    {"attention", "q", "rows*heads*head_dim"},
    {"attention", "out", "rows*heads*v_head_dim"},
    {"attention", "partial", "partial"},
    {"attention", "slopes", "heads"},
    {"attention", "sinks", "heads"},
    {"attention_rounded", "q", "rows*heads*head_dim"},
    {"attention_rounded", "out", "rows*heads*v_head_dim"},
    {"attention_rounded", "slopes", "heads"},
    {"attention_rounded", "sinks", "heads"},
    {"linear", "x", "domain*k"},
    {"linear", "gain", "k"},
    {"linear", "norm_bias", "k"},
    {"linear", "bias", "n"},
    {"linear", "residual", "domain*outputs"},
    {"linear", "out", "domain*outputs"},
    {"logits", "x", "rows*k"},
    {"logits", "gain", "k"},
    {"logits", "norm_bias", "k"},
    {"logits", "bias", "n"},
    {"logits", "out", "logits*n"},
    {"norm", "x", "rows*n*heads"},
    {"norm", "gain", "n"},
    {"norm", "norm_bias", "n"},
    {"norm", "out", "rows*n*heads"},
    {"rope", "x", "rows*heads*head_dim"},
    {"rope", "rope", "rows*2*rotary_half"},
    {"rope", "out", "rows*heads*head_dim"},
    {"kv_write", "k", "rows*kv_heads*head_dim"},
    {"kv_write", "v", "rows*kv_heads*v_head_dim"},
    {"glu", "gate", "rows*n"},
    {"glu", "up", "rows*n"},
    {"glu", "out", "rows*n"},
    {"activation", "x", "rows*n"},
    {"activation", "out", "rows*n"},
    {"add", "a", "rows*n"},
    {"add", "b", "rows*n"},
    {"add", "out", "rows*n"},
    {"scale", "x", "rows*n"},
    {"scale", "out", "rows*n"},
    {"rowwise", "in0", "rows*n0"},
    {"rowwise", "in1", "rows*n1"},
    {"rowwise", "out", "rows*n"},
    {"rowwise", "xq", "rows*scratch"},
    {"experts", "x", "rows*in_slots*k"},
    {"experts", "route", "rows*experts"},
    {"experts", "bias", "experts*n"},
    {"experts", "out", "rows*out_slots*n"},
    {"experts", "xq", "rows*slots*n"},
    {"causal_conv", "x", "rows*n"},
    {"causal_conv", "weight_vector", "n*taps"},
    {"causal_conv", "bias", "n"},
    {"causal_conv", "out", "rows*n"},
    {"linear_attention", "q", "rows*heads*head_dim"},
    {"linear_attention", "k", "rows*kv_heads*head_dim"},
    {"linear_attention", "v", "rows*kv_heads*v_head_dim"},
    {"linear_attention", "decay", "rows*kv_heads*decay_dim"},
    {"linear_attention", "beta", "rows*kv_heads"},
    {"linear_attention", "out", "rows*heads*v_head_dim"},
    {"select_by_length", "a", "rows*n"},
    {"select_by_length", "b", "rows*n"},
    {"select_by_length", "out", "rows*n"},
    {"take_rows", "x", "rows*n"},
    {"take_rows", "gain", "n"},
    {"take_rows", "norm_bias", "n"},
    {"take_rows", "out", "logits*n"},
};

/// A name of a rule as a number; "" fails the test.
inline int64_t factorOf(const KernelRequest &R, std::string_view Name,
                        const KernelStep &S) {
  auto Int = [&](const char *N) { return R.Ints.at(N); };
  int64_t Rows = static_cast<int64_t>(S.Positions.size()),
          Logits = static_cast<int64_t>(S.LogitRows.size());
  bool Combine = R.Kernel == "experts" && Int("combine") != 0;
  if (Name == "2")
    return 2;
  if (Name == "rows")
    return Rows;
  if (Name == "logits")
    return Logits;
  if (Name == "domain")
    return Int("rows") == kernels::RowsR ? Logits : Rows;
  if (Name == "outputs")
    return Int("glu") ? Int("n") / 2 : Int("n");
  if (Name == "packed")
    return (Int("heads") + Int("kv_heads")) * Int("head_dim") +
           Int("kv_heads") * Int("v_head_dim");
  if (Name == "partial")
    return kernels::cudaPartialBytes(Int("heads"), Int("v_head_dim"),
                                     KernelStep::Context) /
           4;
  if (Name == "in_slots")
    return Combine ? Int("slots") : 1;
  if (Name == "out_slots")
    return Combine ? 1 : Int("slots");
  return R.Ints.at(std::string(Name));
}

/// Rows of a weight.
inline int64_t weightRows(const KernelRequest &R, const KernelStep &S) {
  if (R.Kernel == "embed")
    return R.Ints.at("vocab");
  if (R.Kernel == "qkv")
    return factorOf(R, "packed", S);
  return R.Ints.at("n") * (R.Kernel == "experts" ? R.Ints.at("experts") : 1);
}

inline int64_t weightBytes(const KernelRequest &R, const KernelStep &S) {
  int64_t W = R.Ints.at("wtype");
  Layout L = W == kernels::WF32       ? Layout::NF32
             : W == kernels::WF16     ? Layout::NF16
             : W == kernels::WBF16    ? Layout::NBF16
             : W == kernels::WI8B32   ? Layout::NW8B32
             : W == kernels::WM16F16  ? Layout::M16F16
             : W == kernels::WM16BF16 ? Layout::M16BF16
             : kernels::isFragment(W) ? static_cast<Layout>(W)
                                      : rowsOf(kernels::formatOf(W));
  int64_t Cols = R.Ints.at(R.Kernel == "embed" ? "hidden" : "k");
  return static_cast<int64_t>(packedBytes(
      L, static_cast<uint64_t>(weightRows(R, S)), static_cast<uint64_t>(Cols)));
}

/// Bytes that are small finite numbers as f32, f16 and bf16.
inline std::vector<uint8_t> numbers(int64_t Count, unsigned Seed) {
  std::vector<uint8_t> Out(static_cast<size_t>(Count));
  unsigned State = Seed * 747796405u + 1u;
  for (uint8_t &B : Out) {
    State = State * 1664525u + 1013904223u;
    B = static_cast<uint8_t>(State >> 26);
  }
  return Out;
}

template <typename T> std::vector<uint8_t> bytesOf(const std::vector<T> &V) {
  const uint8_t *P = reinterpret_cast<const uint8_t *>(V.data());
  return {P, P + V.size() * sizeof(T)};
}

/// The contents of a buffer of the catalogue for that step.
inline std::vector<uint8_t> memoryOf(const KernelRequest &R, std::string_view B,
                                     const KernelStep &S) {
  unsigned Seed = static_cast<unsigned>(B.size() * 31 + B[0]);
  if (B == "ids") {
    std::vector<int32_t> Ids;
    for (size_t I = 0; I != S.Positions.size(); ++I)
      Ids.push_back(static_cast<int32_t>(I) * 13 %
                    static_cast<int32_t>(R.Ints.at("vocab")));
    return bytesOf(Ids);
  }
  if (B == "positions")
    return bytesOf(S.Positions);
  if (B == "logit_rows")
    return bytesOf(S.LogitRows);
  if (B == "program")
    return bytesOf(everyRowOperation());
  if (B == "weight")
    return numbers(weightBytes(R, S), Seed);
  if (B == "kv")
    return numbers(R.KvPageStride * static_cast<int64_t>(S.Pages.size()), Seed);
  if (B == "xq" && cuda::isMmaProduct(R) && R.Kernel == "experts")
    return std::vector<uint8_t>(static_cast<size_t>(
        S.Bucket * kernels::fragmentExpertBytes(R.Ints.at("k"), R.Ints.at("n"),
                                                R.Ints.at("slots"),
                                                R.Ints.at("combine") != 0)));
  if (B == "xq" && cuda::isMmaProduct(R)) {
    bool Raw = R.Kernel == "qkv" &&
               !kernels::hasTileHeads(
                   R.Ints.at("head_dim"), R.Ints.at("v_head_dim"),
                   R.Ints.at("rotary_half"), R.Ints.at("interleaved") != 0);
    int64_t Row = kernels::fragmentXqBytes(R.Ints.at("k"),
                                           Raw ? factorOf(R, "packed", S) : 0);
    return std::vector<uint8_t>(static_cast<size_t>(S.Bucket * Row));
  }
  for (const FloatRule &Rule : FloatRules) {
    if (Rule.Kernel != R.Kernel || Rule.Buffer != B)
      continue;
    int64_t Count = 1;
    for (std::string_view Rest = Rule.Count; !Rest.empty();) {
      std::string_view Name = Rest.substr(0, Rest.find('*'));
      Count *= factorOf(R, Name, S);
      Rest.remove_prefix(std::min(Rest.size(), Name.size() + 1));
    }
    Floats Values = randomFloats(static_cast<size_t>(Count), Seed);
    for (size_t I = 0; B == "route" && I != Values.size(); ++I)
      Values[I] = I % 5 == 1 ? 0.5f : 0.0f; // of 10 experts two
    for (size_t I = 0; B == "in1" && I != Values.size(); ++I)
      Values[I] = static_cast<float>(static_cast<int>(I * 7 % 8) - 4);
    return bytesOf(Values);
  }
  ADD_FAILURE() << "no rule for buffer " << B << " of kernel " << R.Kernel;
  return {};
}

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CUDA_KERNELMEMORY_H
