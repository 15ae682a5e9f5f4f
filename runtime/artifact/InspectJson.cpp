// `llmc inspect --json`. Field names of kernels are fixed by the command line
// contract; the others follow the manifest.
#include "runtime/artifact/Inspect.h"

#include "runtime/artifact/LaunchTimes.h"

#include "runtime/artifact/Flat.h"
#include "runtime/artifact/Program_generated.h"
#include "runtime/base/Json.h"

#include <nlohmann/json.hpp>

namespace llmc {
namespace {

void writeNames(
    JsonWriter &W, std::string_view Key,
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *V) {
  W.key(Key).beginArray();
  if (V)
    for (const flatbuffers::String *S : *V)
      W.value(viewOf(S));
  W.endArray();
}

/// A JSON section as it is, or null when it is no JSON.
void writeSection(JsonWriter &W, std::span<const uint8_t> Bytes) {
  if (!Bytes.empty() && nlohmann::json::accept(Bytes.begin(), Bytes.end()))
    W.raw(textOf(Bytes));
  else
    W.null();
}

void writeModel(JsonWriter &W, const ManifestModel &M) {
  W.key("model").beginObject();
  W.member("name", M.Name).member("vocab", M.Vocab);
  W.member("hidden", M.Hidden).member("layers", M.Layers);
  W.member("parameters", M.Parameters);
  W.member("max_positions", M.MaxPositions);
  W.member("max_context", M.MaxContext).member("max_batch", M.MaxBatch);
  W.member("precision", M.Precision).member("activations", M.Activations);
  W.member("bos_id", M.BosId).list("eos_ids", M.EosIds);
  W.member("pad_id", M.PadId);
  W.endObject();
}

void writeSummary(JsonWriter &W, const Reader &R) {
  const FileHeader &H = R.header();
  W.member("format", std::to_string(H.Major) + "." + std::to_string(H.Minor));
  W.member("runtime", std::to_string(H.RuntimeMajor) + "." +
                          std::to_string(H.RuntimeMinor));
  W.member("identity", R.identity()).member("file_bytes", H.FileBytes);
  W.member("producer", R.manifest().Producer);
  writeModel(W, R.manifest().Model);
  W.key("targets").beginArray();
  for (const TargetView &T : R.targets()) {
    W.beginObject().member("name", T.Target).member("layout", T.Layout);
    W.member("code_bytes", uint64_t{T.Code.size()});
    W.member("ptx_bytes", uint64_t{T.Ptx.size()});
    W.member("weight_bytes", uint64_t{T.Weights.size()});
    writeNames(W, "cpu_features",
               fb::GetProgram(T.Program.data())->cpu_features());
    W.endObject();
  }
  W.endArray().key("sections").beginArray();
  for (const SectionEntry &E : R.sections()) {
    W.beginObject().member("kind", nameOf(static_cast<SectionKind>(E.Kind)));
    W.member("offset", E.Offset).member("bytes", E.Bytes).endObject();
  }
  W.endArray();
}

void writePlan(JsonWriter &W, const Reader &R) {
  W.key("plan").beginArray();
  for (const ManifestPlan &P : R.manifest().Plans) {
    W.beginObject().member("target", P.Target);
    W.member("weight_bytes", P.WeightBytes).list("buckets", P.Buckets);
    W.list("arena_bytes", P.ArenaBytes);
    W.member("workspace_bytes", P.WorkspaceBytes);
    W.member("kv_page_tokens", P.PageTokens);
    W.member("kv_page_bytes", P.PageBytes).member("kv_pages", P.Pages);
    W.member("kv_bytes", P.PageBytes * P.Pages);
    W.key("states").beginArray();
    for (const ManifestState &S : P.States) {
      W.beginObject().member("name", S.Name).member("layers", S.Layers);
      W.member("kv_heads", S.KvHeads).member("head_dim", S.HeadDim);
      W.member("v_head_dim", S.VHeadDim).member("dtype", nameOf(S.Type));
      W.endObject();
    }
    W.endArray().endObject();
  }
  W.endArray();
}

void writeTensors(JsonWriter &W, const Reader &R, bool Places) {
  W.beginArray();
  for (const ManifestTensor &T : R.manifest().Tensors) {
    W.beginObject().member("name", T.Name).member("layout", T.Layout);
    if (Places) {
      W.member("rows", T.Rows).member("cols", T.Cols);
      W.member("section", T.Weights).member("offset", T.Offset);
      W.member("bytes", T.Bytes);
    }
    W.member("snr_db", double{T.SnrDb}).member("max_error", double{T.MaxError});
    W.member("exact", T.Exact).endObject();
  }
  W.endArray();
}

void writeKernels(JsonWriter &W, const Reader &R) {
  W.key("kernels").beginArray();
  for (const TargetView &T : R.targets()) {
    const fb::Program &P = *fb::GetProgram(T.Program.data());
    if (!P.kernels())
      continue;
    for (const fb::Kernel *K : *P.kernels()) {
      W.beginObject().member("name", viewOf(K->entry()));
      W.member("target", T.Target).member("kernel", viewOf(K->kernel()));
      W.member("registers", K->registers());
      W.member("shared_bytes",
               K->static_shared_bytes() + K->dynamic_shared_bytes());
      W.member("static_shared_bytes", K->static_shared_bytes());
      W.member("dynamic_shared_bytes", K->dynamic_shared_bytes());
      W.member("spill_bytes", K->spill_bytes());
      W.member("local_bytes", K->local_bytes());
      W.member("cubin_bytes",
               K->cubin_bytes() ? K->cubin_bytes() : uint64_t{T.Code.size()});
      W.member("ptx_bytes",
               K->ptx_bytes() ? K->ptx_bytes() : uint64_t{T.Ptx.size()});
      std::vector<uint32_t> Block = {K->block_x(), K->block_y(), K->block_z()};
      W.list("block", Block);
      writeNames(W, "source_nodes", K->source_nodes());
      W.endObject();
    }
  }
  W.endArray();
}

void writeGrids(JsonWriter &W, const fb::Launch &L) {
  auto At = [](const flatbuffers::Vector<uint32_t> *V, uint32_t I) {
    return V && V->size() ? V->Get(I) : 1u;
  };
  W.key("grids").beginArray();
  for (uint32_t I = 0; I < L.grid_x()->size(); ++I) {
    W.beginArray().value(At(L.grid_x(), I)).value(At(L.grid_y(), I));
    W.value(At(L.grid_z(), I)).endArray();
  }
  W.endArray();
}

void writeCosts(JsonWriter &W, const fb::Launch &L, const LaunchTimes &Times,
                uint32_t Number) {
  if (!Times.Chip || Times.Of[Number].empty())
    return;
  W.member("chip", std::string_view(Times.Chip->Key));
  W.key("costs").beginArray();
  for (uint32_t B = 0; B != Times.Of[Number].size(); ++B) {
    const LaunchPrediction &T = Times.Of[Number][B];
    W.beginObject();
    W.member("bytes", L.costs()->Get(B)->bytes());
    W.member("macs", L.costs()->Get(B)->macs());
    W.member("microseconds", T.Microseconds);
    W.member("bound", std::string_view(boundName(T.By)));
    W.endObject();
  }
  W.endArray();
}

void writeLaunches(JsonWriter &W, const Reader &R, const std::string &Chip) {
  W.key("launches").beginArray();
  for (const TargetView &T : R.targets()) {
    const fb::Program &P = *fb::GetProgram(T.Program.data());
    if (!P.launches())
      continue;
    Result<LaunchTimes> Known = launchTimes(T, Chip);
    LaunchTimes Times = Known.ok() ? Known.take() : LaunchTimes();
    for (uint32_t I = 0; I != P.launches()->size(); ++I) {
      const fb::Launch *L = P.launches()->Get(I);
      W.beginObject().member("target", T.Target);
      W.member("kernel", viewOf(P.kernels()->Get(L->kernel())->entry()));
      W.member("layer", L->layer());
      writeGrids(W, *L);
      writeCosts(W, *L, Times, I);
      W.member("args", uint64_t{L->args() ? L->args()->size() : 0});
      writeNames(W, "source_nodes", L->source_nodes());
      W.endObject();
    }
  }
  W.endArray();
}
} // namespace

std::string detail::inspectJson(const Reader &R, const InspectOptions &O) {
  JsonWriter W;
  W.beginObject();
  if (!O.any())
    writeSummary(W, R);
  if (O.Plan)
    writePlan(W, R);
  if (O.Weights) {
    W.key("weights");
    writeTensors(W, R, true);
  }
  if (O.Quality) {
    W.key("quality").beginObject().key("model");
    writeSection(W, R.find(SectionKind::Quality));
    W.key("tensors");
    writeTensors(W, R, false);
    W.endObject();
  }
  if (O.Kernels)
    writeKernels(W, R);
  if (O.Launches)
    writeLaunches(W, R, O.Chip);
  if (O.Provenance) {
    W.key("provenance");
    writeSection(W, R.find(SectionKind::Provenance));
  }
  W.endObject();
  return W.text() + "\n";
}

} // namespace llmc
