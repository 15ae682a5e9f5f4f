// Encoding and decoding of the manifest. All default values are written, too,
// so that the size does not depend on numbers.
#include "runtime/artifact/Manifest.h"

#include "runtime/artifact/Flat.h"
#include "runtime/artifact/Format.h"
#include "runtime/artifact/Manifest_generated.h"
#include "runtime/artifact/Validate.h"

#include <cmath>

namespace llmc {
namespace {
using Builder = flatbuffers::FlatBufferBuilder;

flatbuffers::Offset<fb::MemoryPlan> encode(Builder &B, const ManifestPlan &P);
ManifestPlan decode(const fb::MemoryPlan &P);

flatbuffers::Offset<fb::ModelFacts> encode(Builder &B, const ManifestModel &M) {
  return fb::CreateModelFacts(
      B, B.CreateString(M.Name), M.Vocab, M.Hidden, M.Layers, M.MaxPositions,
      M.MaxContext, M.MaxBatch, M.BosId, B.CreateVector(M.EosIds), M.PadId,
      B.CreateString(M.Precision), B.CreateString(M.Activations), M.Parameters);
}

flatbuffers::Offset<fb::Target> encode(Builder &B, const ManifestTarget &T) {
  return fb::CreateTarget(B, B.CreateString(T.Name), B.CreateString(T.Layout),
                          T.Program, T.Code, T.Ptx, T.Weights);
}

flatbuffers::Offset<fb::PackedTensor> encode(Builder &B,
                                             const ManifestTensor &T) {
  return fb::CreatePackedTensor(
      B, B.CreateString(T.Name), B.CreateSharedString(T.Layout), T.Rows, T.Cols,
      T.Weights, T.Offset, T.Bytes,
      fb::CreateTensorQuality(B, T.SnrDb, T.MaxError, T.Exact));
}

flatbuffers::Offset<fb::StateFacts> encode(Builder &B, const ManifestState &S) {
  return fb::CreateStateFacts(B, B.CreateString(S.Name), S.Layers, S.KvHeads,
                              S.HeadDim, S.VHeadDim,
                              static_cast<uint8_t>(S.Type));
}

template <typename Out, typename In>
auto encodeAll(Builder &B, const std::vector<In> &List) {
  std::vector<flatbuffers::Offset<Out>> Offsets;
  for (const In &Item : List)
    Offsets.push_back(encode(B, Item));
  return B.CreateVector(Offsets);
}

flatbuffers::Offset<fb::MemoryPlan> encode(Builder &B, const ManifestPlan &P) {
  return fb::CreateMemoryPlan(
      B, B.CreateString(P.Target), P.WeightBytes, B.CreateVector(P.Buckets),
      B.CreateVector(P.ArenaBytes), P.PageTokens, P.PageBytes, P.Pages,
      encodeAll<fb::StateFacts>(B, P.States), P.WorkspaceBytes, P.SegmentTokens,
      P.SegmentBytes);
}

std::string textOf(const flatbuffers::String *S) {
  return S ? S->str() : std::string();
}

template <typename T> std::vector<T> listOf(const flatbuffers::Vector<T> *V) {
  return V ? std::vector<T>(V->begin(), V->end()) : std::vector<T>();
}

ManifestModel decode(const fb::ModelFacts &M) {
  ManifestModel Out;
  Out.Name = textOf(M.name());
  Out.Vocab = M.vocab();
  Out.Hidden = M.hidden();
  Out.Layers = M.layers();
  Out.MaxPositions = M.max_positions();
  Out.MaxContext = M.max_context();
  Out.MaxBatch = M.max_batch();
  Out.BosId = M.bos_id();
  Out.EosIds = listOf(M.eos_ids());
  Out.PadId = M.pad_id();
  Out.Precision = textOf(M.precision());
  Out.Activations = textOf(M.activations());
  Out.Parameters = M.parameters();
  return Out;
}

ManifestTarget decode(const fb::Target &T) {
  return {textOf(T.name()), textOf(T.layout()), T.program(), T.code(),
          T.ptx(),          T.weights()};
}

ManifestTensor decode(const fb::PackedTensor &T) {
  ManifestTensor Out;
  Out.Name = textOf(T.name());
  Out.Layout = textOf(T.layout());
  Out.Rows = T.rows();
  Out.Cols = T.cols();
  Out.Weights = T.weights();
  Out.Offset = T.offset();
  Out.Bytes = T.bytes();
  if (const fb::TensorQuality *Q = T.quality()) {
    Out.SnrDb = Q->snr_db();
    Out.MaxError = Q->max_error();
    Out.Exact = Q->exact();
  }
  return Out;
}

ManifestState decode(const fb::StateFacts &S) {
  return {textOf(S.name()), S.layers(),     S.kv_heads(),
          S.head_dim(),     S.v_head_dim(), static_cast<DType>(S.dtype())};
}

template <typename Out, typename In>
std::vector<Out>
decodeAll(const flatbuffers::Vector<flatbuffers::Offset<In>> *List) {
  std::vector<Out> Items;
  if (List)
    for (const In *Item : *List)
      Items.push_back(decode(*Item));
  return Items;
}

ManifestPlan decode(const fb::MemoryPlan &P) {
  ManifestPlan Out;
  Out.Target = textOf(P.target());
  Out.WeightBytes = P.weight_bytes();
  Out.Buckets = listOf(P.buckets());
  Out.ArenaBytes = listOf(P.arena_bytes());
  Out.PageTokens = P.kv_page_tokens();
  Out.PageBytes = P.kv_page_bytes();
  Out.Pages = P.kv_pages();
  Out.States = decodeAll<ManifestState>(P.states());
  Out.WorkspaceBytes = P.workspace_bytes();
  Out.SegmentTokens = P.segment_tokens();
  Out.SegmentBytes = P.segment_bytes();
  return Out;
}
} // namespace

std::vector<MemoryPlan> memoryPlansOf(const Manifest &M) {
  std::vector<MemoryPlan> Plans;
  for (const ManifestPlan &P : M.Plans) {
    MemoryPlan Out;
    Out.Target = P.Target;
    Out.WeightBytes = P.WeightBytes;
    Out.Buckets.assign(P.Buckets.begin(), P.Buckets.end());
    Out.ArenaBytes = P.ArenaBytes;
    Out.WorkspaceBytes = P.WorkspaceBytes;
    Out.PageTokens = P.PageTokens;
    Out.PageBytes = P.PageBytes;
    Out.Pages = P.Pages;
    Out.MaxContext = M.Model.MaxContext;
    Out.MaxSequences = M.Model.MaxBatch;
    Out.SegmentTokens = P.SegmentTokens;
    Out.SegmentBytes = P.SegmentBytes;
    Plans.push_back(std::move(Out));
  }
  return Plans;
}

std::vector<uint8_t> encodeManifest(const Manifest &M) {
  Builder B;
  B.ForceDefaults(true);
  B.Finish(fb::CreateManifest(B, FormatMajor, FormatMinor, encode(B, M.Model),
                              encodeAll<fb::Target>(B, M.Targets),
                              encodeAll<fb::PackedTensor>(B, M.Tensors),
                              encodeAll<fb::MemoryPlan>(B, M.Plans),
                              B.CreateString(M.Producer)),
           fb::ManifestIdentifier());
  return {B.GetBufferPointer(), B.GetBufferPointer() + B.GetSize()};
}

Result<Manifest> decodeManifest(std::span<const uint8_t> Bytes) {
  flatbuffers::Verifier Verifier(Bytes.data(), Bytes.size());
  if (Bytes.size() < 8 || !fb::VerifyManifestBuffer(Verifier))
    return malformedError("the manifest is not well formed");
  const fb::Manifest &Root = *fb::GetManifest(Bytes.data());
  if (!Root.model())
    return malformedError("the manifest has no model facts");
  if (Root.plans())
    for (const fb::MemoryPlan *P : *Root.plans())
      if (!isAligned(P->arena_bytes()))
        return malformedError("the manifest's arena sizes are not aligned");
  Manifest M;
  M.Model = decode(*Root.model());
  M.Targets = decodeAll<ManifestTarget>(Root.targets());
  M.Tensors = decodeAll<ManifestTensor>(Root.tensors());
  M.Plans = decodeAll<ManifestPlan>(Root.plans());
  M.Producer = textOf(Root.producer());
  LLMC_RETURN_IF_ERROR(validateManifest(M));
  return M;
}

} // namespace llmc
