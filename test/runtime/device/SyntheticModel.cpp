// The synthetic model: text of the exe program, random packed weights, program
// section.
#include "test/runtime/device/SyntheticModel.h"

#include "compiler/kernels/cpu/Scratch.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "runtime/artifact/Program_generated.h"
#include "runtime/base/DType.h"
#include "runtime/base/Half.h"
#include "runtime/device/StepAbi.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <cstring>
#include <random>
#include <sstream>

namespace llmc::test {
namespace {
int64_t align(int64_t N, int64_t To) { return (N + To - 1) / To * To; }

/// "a, b, c" of bucket numbers.
std::string list(const std::vector<int64_t> &V) {
  std::string S;
  for (int64_t N : V)
    S += (S.empty() ? "" : ", ") + std::to_string(N);
  return S;
}

/// Random bytes of one packed tensor.
std::vector<uint8_t> packedBytes(std::mt19937 &R, int64_t Rows, int64_t Cols,
                                 bool Vector, bool Int8) {
  std::uniform_int_distribution<int> Byte(1, 255);
  std::normal_distribution<float> Normal(0.0f, 1.0f);
  if (Vector || !Int8) {
    int64_t N = Vector ? Rows : align(Rows, 16) * Cols;
    std::vector<uint8_t> B(N * 4);
    for (int64_t I = 0; I < N; ++I) {
      float F = Vector ? 1.0f + 0.1f * Normal(R)
                       : Normal(R) / std::sqrt(static_cast<float>(Cols));
      std::memcpy(B.data() + 4 * I, &F, 4);
    }
    return B;
  }
  int64_t Records = align(Rows, 16) / 16 * (align(Cols, 64) / 64);
  std::vector<uint8_t> B(Records * 1088);
  for (int64_t I = 0; I < Records; ++I) {
    uint8_t *Rec = B.data() + I * 1088;
    for (int J = 0; J < 1024; ++J)
      Rec[J] = static_cast<uint8_t>(Byte(R));
    for (int J = 0; J < 32; ++J) {
      float Scale = (0.5f + Byte(R) / 255.0f) / 73.0f /
                    std::sqrt(static_cast<float>(Cols));
      uint16_t H = floatToF16(Scale);
      std::memcpy(Rec + 1024 + 2 * J, &H, 2);
    }
  }
  return B;
}
} // namespace

std::string SyntheticModel::weight(const std::string &Name, int64_t Rows,
                                   int64_t Cols, bool Vector) {
  std::mt19937 R(static_cast<uint32_t>(Weights.size() * 31 + Rows));
  size_t Offset = align(Weights.size(), 64);
  std::vector<uint8_t> B = packedBytes(R, Rows, Cols, Vector, Shape.Int8);
  if (Vector && Name == "freq")
    for (int64_t I = 0; I < Rows; ++I) {
      float F = std::pow(10000.0f, -static_cast<float>(I) / Rows);
      std::memcpy(B.data() + 4 * I, &F, 4);
    }
  Weights.resize(Offset);
  Weights.insert(Weights.end(), B.begin(), B.end());
  std::ostringstream S;
  S << "  exe.packed_weight @" << Name << " {rows = " << Rows
    << ", cols = " << Cols << ", layout = \""
    << (Vector       ? "vec.f32"
        : Shape.Int8 ? "p16.w8b32"
                     : "p16.f32")
    << "\", offset = " << Offset << ", bytes = " << B.size()
    << ", program = [#exe.source<name = \"" << Name << "\", type = tensor<"
    << Rows << "x" << Cols
    << "xf32>, file = 0, offset = 0, length = " << Rows * Cols * 4
    << ", begin = 0, count = " << Rows << ", transposed = false>]}\n";
  return S.str();
}

std::vector<int64_t> SyntheticModel::buckets() const {
  std::vector<int64_t> B = Shape.SmallBuckets;
  B.push_back(Shape.MaxTokens);
  return B;
}

std::string SyntheticModel::slots() {
  int64_t Policy = Shape.Int8 ? 1 : 0;
  int64_t Wide =
      std::max({Shape.Hidden, Shape.Inner, Shape.Heads * Shape.HeadDim});
  std::vector<Slot> Slots = {
      {"x", Shape.Hidden * 4, 0},
      {"x1", Shape.Hidden * 4, 0},
      {"rope", Shape.HeadDim * 4, 0},
      {"q", Shape.Heads * Shape.HeadDim * 4, 0},
      {"a", Shape.Heads * Shape.HeadDim * 4, 0},
      {"h", Shape.Inner * 4, 0},
      {"xq", kernels::xqBytesPerToken(Wide, Policy), 0},
      {"partial", 0,
       kernels::attentionPartialBytes(Shape.Heads, Shape.HeadDim,
                                      Shape.MaxContext)}};
  std::vector<int64_t> Buckets = buckets();
  Arena.assign(Buckets.size(), 0);
  std::ostringstream S;
  for (const Slot &Sl : Slots) {
    std::vector<int64_t> Offsets;
    for (size_t B = 0; B < Buckets.size(); ++B) {
      Offsets.push_back(Arena[B]);
      Arena[B] += align(Sl.Fixed + Sl.PerToken * Buckets[B], 64);
    }
    S << "  exe.slot @" << Sl.Name << " {per_token = " << Sl.PerToken
      << ", fixed = " << Sl.Fixed << ", offsets = array<i64: " << list(Offsets)
      << ">}\n";
  }
  return S.str();
}

std::string SyntheticModel::step() {
  std::ostringstream S;
  std::string Types = std::string(", wtype = ") + (Shape.Int8 ? "1" : "0") +
                      " : i64, xpolicy = " + (Shape.Int8 ? "1" : "0") +
                      " : i64";
  std::string Heads = "heads = " + std::to_string(Shape.Heads) +
                      " : i64, kv_heads = " + std::to_string(Shape.KvHeads) +
                      " : i64, head_dim = " + std::to_string(Shape.HeadDim) +
                      " : i64, v_head_dim = " + std::to_string(Shape.HeadDim) +
                      " : i64, kvtype = " + (Shape.HalfCache ? "1" : "0") +
                      " : i64";
  auto Linear = [&](const char *X, const char *Gain, const char *W,
                    const char *Residual, const char *Out, int64_t K, int64_t N,
                    int Glu) {
    auto Buf = [](const char *Kind, const char *Name) {
      return Name ? std::string("#exe.buf<") + Kind + ", \"" + Name + "\">"
                  : std::string("#exe.buf<none>");
    };
    S << "      exe.phase \"linear\" [" << Buf("slot", X) << ", "
      << Buf("layer", Gain) << ", #exe.buf<none>, " << Buf("layer", W)
      << ", #exe.buf<none>, " << Buf("slot", Residual) << ", "
      << Buf("slot", Out) << ", #exe.buf<slot, \"xq\">] {k = " << K
      << " : i64, n = " << N << " : i64" << Types
      << ", norm = " << (Gain ? 1 : 0) << " : i64, glu = " << Glu
      << " : i64, activation = 0 : i64, rows = 0 : i64, eps = 1.0e-5 : f32}\n";
  };
  S << "  exe.step {\n    exe.phase \"embed\" [#exe.buf<arg, \"ids\">, "
       "#exe.buf<weight, \"emb\">, #exe.buf<slot, \"x\">] {vocab = "
    << Shape.Vocab << " : i64, hidden = " << Shape.Hidden
    << " : i64, wtype = " << (Shape.Int8 ? 1 : 0)
    << " : i64, scale = 1.0 : f32}\n"
    << "    exe.phase \"rope_table\" [#exe.buf<arg, \"positions\">, "
       "#exe.buf<weight, \"freq\">, #exe.buf<none>, #exe.buf<none>, "
       "#exe.buf<slot, \"rope\">] {half = "
    << Shape.HeadDim / 2
    << " : i64, table_rows = 0 : i64, scaling = 1.0 : f32}\n"
    << "    exe.layers attributes {first = 0, count = " << Shape.Layers
    << ", weights = {";
  const char *Separator = "";
  for (const char *Role : {"g1", "qkv", "o", "g2", "gu", "down"}) {
    S << Separator << Role << " = [";
    for (int64_t L = 0; L < Shape.Layers; ++L)
      S << (L ? ", @l" : "@l") << L << "." << Role;
    S << "]";
    Separator = ", ";
  }
  S << "}} {\n      exe.phase \"qkv\" [#exe.buf<slot, \"x\">, #exe.buf<layer, "
       "\"g1\">, #exe.buf<none>, #exe.buf<layer, \"qkv\">, #exe.buf<none>, "
       "#exe.buf<slot, \"rope\">, #exe.buf<state, \"kv\">, #exe.buf<slot, "
       "\"q\">, #exe.buf<slot, \"xq\">] {k = "
    << Shape.Hidden << " : i64, " << Heads
    << ", rotary_half = " << Shape.HeadDim / 2
    << " : i64, interleaved = 0 : i64" << Types
    << ", norm = 1 : i64, eps = 1.0e-5 : f32}\n"
    << "      exe.phase \"attention\" [#exe.buf<slot, \"q\">, #exe.buf<state, "
       "\"kv\">, #exe.buf<slot, \"a\">, #exe.buf<slot, \"partial\">, "
       "#exe.buf<none>, #exe.buf<none>] {"
    << Heads << ", window = 0 : i64, chunk = 0 : i64, scale = "
    << 1.0 / std::sqrt(static_cast<double>(Shape.HeadDim))
    << " : f32, softcap = 0.0 : f32}\n";
  Linear("a", nullptr, "o", "x", "x1", Shape.Heads * Shape.HeadDim,
         Shape.Hidden, 0);
  Linear("x1", "g2", "gu", nullptr, "h", Shape.Hidden, 2 * Shape.Inner, 1);
  Linear("h", nullptr, "down", "x1", "x", Shape.Inner, Shape.Hidden, 0);
  S << "    }\n    exe.phase \"logits\" [#exe.buf<slot, \"x\">, "
       "#exe.buf<weight, \"gf\">, #exe.buf<none>, #exe.buf<weight, \"emb\">, "
       "#exe.buf<none>, #exe.buf<arg, \"logit_rows\">, #exe.buf<arg, "
       "\"logits\">, #exe.buf<slot, \"xq\">] {k = "
    << Shape.Hidden << " : i64, n = " << Shape.Vocab << " : i64" << Types
    << ", norm = 1 : i64, eps = 1.0e-5 : f32, multiplier = 1.0 : f32, "
       "softcap = 0.0 : f32}\n  }\n";
  return S.str();
}

void SyntheticModel::planFor(size_t Bucket) { program(Bucket); }

void SyntheticModel::program(size_t LastBucket) {
  flatbuffers::FlatBufferBuilder B;
  std::vector<uint64_t> Sizes(Arena.begin(), Arena.end());
  for (size_t I = LastBucket + 1; I < Sizes.size(); ++I)
    Sizes[I] = Sizes[LastBucket];
  std::vector<int64_t> Wide = buckets();
  std::vector<uint32_t> Buckets(Wide.begin(), Wide.end());
  DType Cache = Shape.HalfCache ? DType::F16 : DType::F32;
  uint64_t PageBytes = Shape.Layers * Shape.KvHeads * 2 * Shape.HeadDim * 64 *
                       (bitsOf(Cache) / 8);
  std::vector<flatbuffers::Offset<fb::KvState>> States = {
      fb::CreateKvStateDirect(B, "kv", Shape.Layers, Shape.KvHeads,
                              Shape.HeadDim, Shape.HeadDim,
                              static_cast<uint8_t>(Cache), 0)};
  std::vector<flatbuffers::Offset<flatbuffers::String>> Features;
  Result<std::string> Isa = cpu::isaOfTarget(Shape.Target);
  for (const std::string &F : cpu::featuresOfIsa(*Isa))
    Features.push_back(B.CreateString(F));
  fb::FinishProgramBuffer(
      B, fb::CreateProgramDirect(B, Shape.Target.c_str(), "x86", LLMC_STEP_ABI,
                                 &Buckets, &Sizes, Shape.MaxTokens,
                                 Shape.MaxSequences, Shape.MaxContext,
                                 Shape.Vocab, Shape.Hidden, WeightBytes, 64,
                                 PageBytes, Shape.Pages, &States, &Features));
  Program.assign(B.GetBufferPointer(), B.GetBufferPointer() + B.GetSize());
}

Status SyntheticModel::build() {
  Target = Shape.Target;
  std::string Body = slots();
  Body += "  exe.state @kv {layers = " + std::to_string(Shape.Layers) +
          ", kv_heads = " + std::to_string(Shape.KvHeads) +
          ", head_dim = " + std::to_string(Shape.HeadDim) +
          ", v_head_dim = " + std::to_string(Shape.HeadDim) +
          ", dtype = " + (Shape.HalfCache ? "f16" : "f32") + "}\n";
  Body += weight("emb", Shape.Vocab, Shape.Hidden, false);
  Body += weight("freq", Shape.HeadDim / 2, 1, true);
  Body += weight("gf", Shape.Hidden, 1, true);
  int64_t QDim = Shape.Heads * Shape.HeadDim;
  for (int64_t L = 0; L < Shape.Layers; ++L) {
    std::string P = "l" + std::to_string(L) + ".";
    Body += weight(P + "g1", Shape.Hidden, 1, true);
    Body += weight(P + "qkv", QDim + 2 * Shape.KvHeads * Shape.HeadDim,
                   Shape.Hidden, false);
    Body += weight(P + "o", Shape.Hidden, QDim, false);
    Body += weight(P + "g2", Shape.Hidden, 1, true);
    Body += weight(P + "gu", 2 * Shape.Inner, Shape.Hidden, false);
    Body += weight(P + "down", Shape.Hidden, Shape.Inner, false);
  }
  std::ostringstream S;
  S << "exe.program @cpu attributes {target = \"" << Shape.Target
    << "\", buckets = array<i64: " << list(buckets())
    << ">, page_tokens = 64, max_context = " << Shape.MaxContext
    << ", max_sequences = " << Shape.MaxSequences
    << ", arena_bytes = array<i64: " << list(Arena) << ">} {\n"
    << Body << step() << "}\n";
  Text = S.str();

  mlir::MLIRContext Context;
  Context.loadDialect<exe::ExeDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> Module =
      mlir::parseSourceString<mlir::ModuleOp>(Text, &Context);
  if (!Module)
    return internalError("the synthetic program does not parse");
  exe::ProgramOp Op = *Module->getOps<exe::ProgramOp>().begin();
  LLMC_ASSIGN_OR_RETURN(Image, cpu::emitCpuImage(Op));
  WeightBytes = Weights.size();
  program(Arena.size() - 1);

  // A vector is aligned to 16 bytes only.
  size_t Size = Weights.size();
  Weights.resize(Size + 64);
  Aligned = align(reinterpret_cast<intptr_t>(Weights.data()), 64) -
            reinterpret_cast<intptr_t>(Weights.data());
  std::memmove(Weights.data() + Aligned, Weights.data(), Size);
  return Status::success();
}

ProgramView SyntheticModel::view() const {
  return {Shape.Target,
          Program,
          Image,
          {},
          std::span(Weights).subspan(Aligned, Weights.size() - 64)};
}

} // namespace llmc::test
