// Weights are q * 2^-9 with q in [-127, 127]: exact in f32, in f16, and in int8
// with the scale 2^-9.
#include "test/support/TinyModel.h"

#include "compiler/kernels/Catalogue.h"
#include "compiler/kernels/cpu/Scratch.h"
#include "runtime/base/Half.h"
#include "runtime/device/StepAbi.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace llmc::test {
namespace {
constexpr float Step = 1.0f / 512;

std::string num(int64_t V) { return std::to_string(V); }

template <typename T> void append(std::vector<uint8_t> &Out, T Value) {
  const uint8_t *P = reinterpret_cast<const uint8_t *>(&Value);
  Out.insert(Out.end(), P, P + sizeof(T));
}

/// Integers in [-127, 127] from a seed.
std::vector<int> integers(int64_t Count, uint32_t Seed) {
  std::vector<int> Out(Count);
  uint32_t State = Seed * 2654435761u + 12345u;
  for (int &Q : Out) {
    State = State * 1664525u + 1013904223u;
    Q = static_cast<int>((State >> 8) % 255) - 127;
  }
  return Out;
}

std::vector<uint8_t> packPanels(const std::vector<int> &Q, int64_t Rows,
                                int64_t Cols) {
  std::vector<uint8_t> Out;
  for (int64_t Panel = 0; Panel < Rows; Panel += 16)
    for (int64_t K = 0; K != Cols; ++K)
      for (int64_t R = Panel; R != Panel + 16; ++R)
        append(Out, R < Rows ? Q[R * Cols + K] * Step : 0.0f);
  return Out;
}

std::vector<uint8_t> packHalf(const std::vector<int> &Q) {
  std::vector<uint8_t> Out;
  for (int V : Q)
    append(Out, floatToF16(V * Step));
  return Out;
}

std::vector<uint8_t> packBytes(const std::vector<int> &Q, int64_t Rows,
                               int64_t Cols) {
  int64_t Padded = (Cols + 31) / 32 * 32;
  std::vector<uint8_t> Out;
  for (int64_t R = 0; R != Rows; ++R)
    for (int64_t K = 0; K != Padded; ++K)
      append(Out, static_cast<int8_t>(K < Cols ? Q[R * Cols + K] : 0));
  Out.resize((Out.size() + 255) / 256 * 256);
  for (int64_t I = 0; I != Rows * Padded / 32; ++I)
    append(Out, floatToF16(Step));
  return Out;
}
} // namespace

int64_t TinyModel::pageTokens() const {
  return O.Kind == TinyKind::CpuF32 ? LLMC_CPU_PAGE_TOKENS
                                    : LLMC_CUDA_PAGE_TOKENS;
}

int64_t TinyModel::pages() const {
  if (O.Pages != 0)
    return O.Pages;
  return (O.MaxContext + pageTokens() - 1) / pageTokens() * O.MaxSequences;
}

void TinyModel::place(const std::string &Name, int64_t Rows, int64_t Cols,
                      const std::string &Layout,
                      const std::vector<uint8_t> &Bytes) {
  Segment.resize((Segment.size() + 255) / 256 * 256);
  std::string Type = "tensor<" + num(Rows) + "x" + num(Cols) + "xf32>";
  Symbols += "  exe.packed_weight @" + Name + " {rows = " + num(Rows) +
             ", cols = " + num(Cols) + ", layout = \"" + Layout +
             "\", program = [#exe.source<name = \"" + Name +
             "\", type = " + Type +
             ", file = 0, offset = 0, length = " + num(Rows * Cols * 4) +
             ", begin = 0, count = " + num(Rows) +
             ", transposed = false>], offset = " + num(Segment.size()) +
             ", bytes = " + num(Bytes.size()) + "}\n";
  Segment.insert(Segment.end(), Bytes.begin(), Bytes.end());
}

void TinyModel::addWeight(const std::string &Name, int64_t Rows, int64_t Cols,
                          uint32_t Seed) {
  std::vector<int> Q = integers(Rows * Cols, Seed);
  for (int V : Q)
    Values[Name].push_back(V * static_cast<double>(Step));
  if (O.Kind == TinyKind::CpuF32)
    place(Name, Rows, Cols, "p16.f32", packPanels(Q, Rows, Cols));
  else if (O.Kind == TinyKind::CudaF16)
    place(Name, Rows, Cols, "n.f16", packHalf(Q));
  else
    place(Name, Rows, Cols, "n.w8b32", packBytes(Q, Rows, Cols));
}

void TinyModel::addVector(const std::string &Name,
                          const std::vector<float> &Floats) {
  std::vector<uint8_t> Bytes;
  for (float V : Floats)
    append(Bytes, V);
  Values[Name].assign(Floats.begin(), Floats.end());
  place(Name, static_cast<int64_t>(Floats.size()), 1, "vec.f32", Bytes);
}

void TinyModel::addSlot(const std::string &Name, int64_t PerToken,
                        int64_t Fixed) {
  std::string Offsets;
  for (size_t B = 0; B != O.Buckets.size(); ++B) {
    Offsets += (B ? ", " : "") + num(Arena[B]);
    Arena[B] += (PerToken * O.Buckets[B] + Fixed + 63) / 64 * 64;
  }
  Symbols += "  exe.slot @" + Name + " {per_token = " + num(PerToken) +
             ", fixed = " + num(Fixed) + ", offsets = array<i64: " + Offsets +
             ">}\n";
}

void TinyModel::addWeights() {
  int64_t Qkv = (O.Heads + 2 * O.KvHeads) * O.HeadDim;
  addWeight("embed", O.Vocab, O.Hidden, 1);
  std::vector<float> Freq, Gain;
  for (int64_t I = 0; I != O.HeadDim / 2; ++I)
    Freq.push_back(std::pow(10000.0f, -2.0f * I / O.HeadDim));
  addVector("freq", Freq);
  for (int64_t I = 0; I != O.Hidden; ++I)
    Gain.push_back(1.0f + 0.125f * (I % 5 - 2));
  for (int64_t L = 0; L != O.Layers; ++L) {
    std::string P = "l" + num(L) + "_";
    uint32_t Seed = static_cast<uint32_t>(10 * (L + 1));
    addVector(P + "g1", Gain);
    addVector(P + "g2", Gain);
    addWeight(P + "qkv", Qkv, O.Hidden, Seed);
    addWeight(P + "o", O.Hidden, O.Heads * O.HeadDim, Seed + 1);
    addWeight(P + "gu", 2 * O.Ff, O.Hidden, Seed + 2);
    addWeight(P + "down", O.Hidden, O.Ff, Seed + 3);
  }
  addVector("gf", Gain);
}

/// exe.step, in the form that fusion yields: five phases a layer.
std::string TinyModel::phases() const {
  auto Slot = [](const char *S) {
    return std::string("#exe.buf<slot, \"") + S + "\">";
  };
  auto Arg = [](const char *S) {
    return std::string("#exe.buf<arg, \"") + S + "\">";
  };
  auto Weight = [](const char *S) {
    return std::string("#exe.buf<weight, \"") + S + "\">";
  };
  auto Role = [](const char *S) {
    return std::string("#exe.buf<layer, \"") + S + "\">";
  };
  const std::string None = "#exe.buf<none>", Sep = ", ";
  const std::string State = "#exe.buf<state, \"kv\">";
  auto Int = [](const char *Name, int64_t V) {
    return std::string(Name) + " = " + num(V) + " : i64, ";
  };
  int64_t W = O.Kind == TinyKind::CpuF32    ? kernels::WF32
              : O.Kind == TinyKind::CudaF16 ? kernels::WF16
                                            : kernels::WI8B32;
  std::string WType = Int("wtype", W) + Int("xpolicy", 0);
  std::string KvType = Int("kvtype", O.KvF32 ? 0 : 1);
  std::string Heads = Int("heads", O.Heads) + Int("kv_heads", O.KvHeads) +
                      Int("head_dim", O.HeadDim) + Int("v_head_dim", O.HeadDim);
  auto Linear = [&](const std::string &X, const std::string &Gain,
                    const std::string &Wt, const std::string &Residual,
                    const std::string &To, int64_t K, int64_t N, int64_t Glu) {
    return "      exe.phase \"linear\" [" + X + Sep + Gain + Sep + None + Sep +
           Wt + Sep + None + Sep + Residual + Sep + To + Sep + Slot("xq") +
           "] {" + Int("k", K) + Int("n", N) + WType +
           Int("norm", Gain == None ? 0 : 1) + Int("glu", Glu) +
           Int("activation", 0) + Int("rows", 0) + "eps = 1.0e-5 : f32}" +
           " {source_nodes = [\"/layer/MatMul_" + num(N) + "\"]}\n";
  };
  std::string S = "  exe.step {\n    exe.phase \"embed\" [" + Arg("ids") + Sep +
                  Weight("embed") + Sep + Slot("x") + "] {" +
                  Int("vocab", O.Vocab) + Int("hidden", O.Hidden) +
                  Int("wtype", W) + "scale = 1.0 : f32}\n";
  S += "    exe.phase \"rope_table\" [" + Arg("positions") + Sep +
       Weight("freq") + Sep + None + Sep + None + Sep + Slot("rope") + "] {" +
       Int("half", O.HeadDim / 2) + Int("table_rows", 0) +
       "scaling = 1.0 : f32}\n";
  std::string Table;
  for (const char *R : {"g1", "g2", "qkv", "o", "gu", "down"}) {
    Table += (Table.empty() ? "" : ", ") + std::string(R) + " = [";
    for (int64_t L = 0; L != O.Layers; ++L)
      Table += (L ? ", @l" : "@l") + num(L) + "_" + R;
    Table += "]";
  }
  S += "    exe.layers attributes {first = 0, count = " + num(O.Layers) +
       ", weights = {" + Table + "}} {\n";
  S += "      exe.phase \"qkv\" [" + Slot("x") + Sep + Role("g1") + Sep + None +
       Sep + Role("qkv") + Sep + None + Sep + Slot("rope") + Sep + State + Sep +
       Slot("q") + Sep + Slot("xq") + "] {" + Int("k", O.Hidden) + Heads +
       Int("rotary_half", O.HeadDim / 2) + Int("interleaved", 0) + WType +
       Int("norm", 1) + KvType + "eps = 1.0e-5 : f32}\n";
  S += "      exe.phase \"attention\" [" + Slot("q") + Sep + State + Sep +
       Slot("a") + Sep + Slot("partial") + Sep + None + Sep + None + "] {" +
       Heads + Int("window", O.Window) + Int("chunk", 0) + KvType +
       "scale = 0.25 : f32, softcap = 0.0 : f32}\n";
  S += Linear(Slot("a"), None, Role("o"), Slot("x"), Slot("x1"),
              O.Heads * O.HeadDim, O.Hidden, 0);
  S += Linear(Slot("x1"), Role("g2"), Role("gu"), None, Slot("h"), O.Hidden,
              2 * O.Ff, kernels::ActSilu);
  S += Linear(Slot("h"), None, Role("down"), Slot("x1"), Slot("x"), O.Ff,
              O.Hidden, 0);
  S += "    }\n    exe.phase \"logits\" [" + Slot("x") + Sep + Weight("gf") +
       Sep + None + Sep + Weight("embed") + Sep + None + Sep +
       Arg("logit_rows") + Sep + Arg("logits") + Sep + Slot("xq") + "] {" +
       Int("k", O.Hidden) + Int("n", O.Vocab) + WType + Int("norm", 1) +
       "eps = 1.0e-5 : f32, multiplier = 1.0 : f32, softcap = 0.0 : f32}\n";
  return S + "  }\n";
}

TinyModel::TinyModel(const TinyOptions &Options) : O(Options) {
  Arena.assign(O.Buckets.size(), 0);
  addWeights();
  addSlot("x", O.Hidden * 4, 0);
  addSlot("x1", O.Hidden * 4, 0);
  addSlot("rope", O.HeadDim * 4, 0);
  addSlot("q", O.Heads * O.HeadDim * 4, 0);
  addSlot("a", O.Heads * O.HeadDim * 4, 0);
  addSlot("h", O.Ff * 4, 0);
  addSlot("xq", kernels::xqBytesPerToken(std::max(O.Hidden, O.Ff), 0), 0);
  addSlot("partial", 0,
          kernels::attentionPartialBytes(O.Heads, O.HeadDim, O.MaxContext));
  std::string Buckets, ArenaBytes;
  for (size_t B = 0; B != O.Buckets.size(); ++B) {
    Buckets += (B ? ", " : "") + num(O.Buckets[B]);
    ArenaBytes += (B ? ", " : "") + num(Arena[B]);
  }
  int64_t PageBytes =
      O.Layers * O.KvHeads * 2 * O.HeadDim * pageTokens() * (O.KvF32 ? 4 : 2);
  Text = "exe.program @tiny attributes {target = \"" + O.Target +
         "\", buckets = array<i64: " + Buckets +
         ">, page_tokens = " + num(pageTokens()) +
         ", max_context = " + num(O.MaxContext) +
         ", max_sequences = " + num(O.MaxSequences) +
         ", arena_bytes = array<i64: " + ArenaBytes +
         ">, weight_bytes = " + num(Segment.size()) +
         ", kv_pages = " + num(pages()) + "} {\n" + Symbols +
         "  exe.state @kv {layers = " + num(O.Layers) +
         ", kv_heads = " + num(O.KvHeads) + ", head_dim = " + num(O.HeadDim) +
         ", v_head_dim = " + num(O.HeadDim) +
         ", dtype = " + (O.KvF32 ? "f32" : "f16") +
         ", page_bytes = " + num(PageBytes) + "}\n" + phases() + "}\n";
}

} // namespace llmc::test
