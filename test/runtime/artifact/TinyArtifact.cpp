// The artifact of the tests; see TinyArtifact.h.
#include "test/runtime/artifact/TinyArtifact.h"

#include "runtime/artifact/Program_generated.h"

namespace llmc::test {
namespace {

uint32_t pageTokens(const TinyOptions &O, bool Cuda) {
  return Cuda ? 16 : O.X86PageTokens;
}

ManifestPlan planOf(const TinyOptions &O, const char *Target, uint64_t Bytes) {
  ManifestPlan P;
  P.Target = Target;
  P.WeightBytes = Bytes;
  P.Buckets = {1, O.LastBucket};
  P.ArenaBytes = {64, 512};
  P.PageTokens = pageTokens(O, P.Target == "sm_80");
  P.PageBytes = O.PageBytes * P.PageTokens / 16;
  P.Pages = 4;
  P.States = {{"kv", 2, 2, 8, 8, DType::F32}};
  return P;
}
} // namespace

Manifest tinyManifest(const TinyOptions &O) {
  Manifest M;
  M.Model.Name = "tiny";
  M.Model.Vocab = 16;
  M.Model.Hidden = 8;
  M.Model.Layers = 2;
  M.Model.MaxPositions = 128;
  M.Model.MaxContext = 64;
  M.Model.MaxBatch = 1;
  M.Model.BosId = 1;
  M.Model.EosIds = {O.EosId};
  M.Model.Precision = "int8";
  M.Model.Activations = "int8";
  M.Model.Parameters = 1300;
  M.Producer = "llmc test";
  // Sections in the order in which writeTiny adds them.
  M.Targets = {{"x86-64-v3", "x86", 1, 2, -1, 8},
               {"sm_80", "cuda", 3, 4, 5, 10}};
  M.Plans = {planOf(O, "x86-64-v3", O.X86Bytes),
             planOf(O, "sm_80", O.CudaBytes)};
  ManifestTensor T;
  T.Name = "w";
  T.Layout = "vec.f32";
  T.Rows = 4;
  T.Cols = 1;
  T.Weights = 8;
  T.Offset = 64;
  T.Bytes = 16;
  M.Tensors = {T};
  return M;
}

std::vector<uint8_t> tinyProgram(const TinyOptions &O, bool Cuda) {
  flatbuffers::FlatBufferBuilder B;
  uint32_t PageTokens = pageTokens(O, Cuda);
  std::vector<uint32_t> Buckets = {1, O.LastBucket};
  std::vector<uint64_t> Arena = {64, 512}, Weight = {O.WeightOffset};
  std::vector<flatbuffers::Offset<fb::KvState>> States = {
      fb::CreateKvStateDirect(B, "kv", 2, 2, 8, 8,
                              static_cast<uint8_t>(DType::F32), 0)};
  std::vector<flatbuffers::Offset<fb::Kernel>> Kernels;
  std::vector<flatbuffers::Offset<fb::Launch>> Launches;
  if (Cuda) {
    std::vector<flatbuffers::Offset<flatbuffers::String>> Nodes = {
        B.CreateString("/model/Add")};
    Kernels = {fb::CreateKernelDirect(B, "add_f32_sm80", "add", 128, 1, 1, 20,
                                      0, 0, 0, 0, 0, 0, &Nodes)};
    std::vector<flatbuffers::Offset<fb::LaunchArg>> Args = {
        fb::CreateLaunchArgDirect(B, fb::ArgKind::Step, 0),
        fb::CreateLaunchArgDirect(B, static_cast<fb::ArgKind>(O.ArgKind), 0,
                                  &Weight),
        fb::CreateLaunchArgDirect(B, fb::ArgKind::Arena, 0, &Arena)};
    std::vector<uint32_t> Grid = {1, 8};
    Launches = {fb::CreateLaunchDirect(B, O.LaunchKernel, &Grid, nullptr,
                                       nullptr, &Args, 0)};
  }
  std::vector<flatbuffers::Offset<flatbuffers::String>> Features;
  if (!Cuda)
    Features = {B.CreateString("avx2"), B.CreateString("fma")};
  B.Finish(fb::CreateProgramDirect(B, Cuda ? "sm_80" : "x86-64-v3",
                                   Cuda ? "cuda" : "x86", 1, &Buckets, &Arena,
                                   O.LastBucket, 1, 64, 16, 8,
                                   Cuda ? O.CudaBytes : O.X86Bytes, PageTokens,
                                   O.PageBytes * PageTokens / 16, 4, &States,
                                   &Features, &Kernels, &Launches),
           fb::ProgramIdentifier());
  return {B.GetBufferPointer(), B.GetBufferPointer() + B.GetSize()};
}

std::vector<uint8_t> tinyWeights(uint64_t Bytes) {
  std::vector<uint8_t> W(Bytes);
  for (uint64_t I = 0; I < Bytes; ++I)
    W[I] = static_cast<uint8_t>(I * 31 + (I >> 8) + 7);
  return W;
}

Status writeTiny(const std::string &Path, const TinyOptions &O) {
  LLMC_ASSIGN_OR_RETURN(std::unique_ptr<Writer> W, Writer::create(Path));
  Manifest M = tinyManifest(O);
  std::vector<uint8_t> Encoded = encodeManifest(M);
  LLMC_ASSIGN_OR_RETURN(
      uint32_t Reserved,
      W->reserveSection(SectionKind::Manifest, Encoded.size() + 100));
  struct Small {
    SectionKind Kind;
    std::vector<uint8_t> Data;
  };
  std::vector<Small> Sections = {{SectionKind::Program, tinyProgram(O, false)},
                                 {SectionKind::CpuImage, tinyWeights(333)},
                                 {SectionKind::Program, tinyProgram(O, true)},
                                 {SectionKind::Cubin, tinyWeights(77)},
                                 {SectionKind::Ptx, tinyWeights(11)},
                                 {SectionKind::Tokenizer, tinyWeights(128)},
                                 {SectionKind::Provenance, {'{', '}'}}};
  for (const Small &S : Sections)
    LLMC_RETURN_IF_ERROR(W->addSection(S.Kind, S.Data).takeStatus());
  LLMC_ASSIGN_OR_RETURN(uint32_t X86, W->declareWeights(O.X86Bytes));
  LLMC_ASSIGN_OR_RETURN(uint32_t Cuda, W->declareWeights(O.CudaBytes));
  std::vector<uint8_t> Bytes = tinyWeights(O.X86Bytes);
  std::span<const uint8_t> All(Bytes);
  LLMC_RETURN_IF_ERROR(W->appendWeights(X86, All.first(All.size() / 3)));
  LLMC_RETURN_IF_ERROR(W->appendWeights(X86, All.subspan(All.size() / 3)));
  LLMC_RETURN_IF_ERROR(W->appendWeights(Cuda, tinyWeights(O.CudaBytes)));
  LLMC_RETURN_IF_ERROR(W->fillSection(Reserved, Encoded));
  return W->finish();
}

} // namespace llmc::test
