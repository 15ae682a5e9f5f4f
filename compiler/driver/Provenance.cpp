// The provenance section. Keys are sorted (nlohmann's default object), so the
// text is the same for the same facts.
#include "compiler/driver/Provenance.h"

#include "llvm/Config/llvm-config.h"

#include <nlohmann/json.hpp>

namespace llmc {

std::string provenanceJson(const CompileOptions &O, const WeightStore &Files,
                           const ProvenanceFacts &F) {
  nlohmann::json Out;
  Out["llmc"] = "0.1.0";
  Out["llvm"] = LLVM_VERSION_STRING;
  if (!F.NvrtcVersion.empty())
    Out["nvrtc"] = F.NvrtcVersion;
  Out["targets"] = F.Targets;
  Out["cpu_features"] = F.CpuFeatures;
  nlohmann::json Flags;
  Flags["precision"] = O.Precision.empty() ? "file" : O.Precision;
  Flags["activations"] = O.Activations;
  Flags["kv_cache"] = O.KvCache.empty() ? "auto" : O.KvCache;
  Flags["max_context"] = O.MaxContext;
  Flags["max_batch"] = O.MaxBatch;
  Out["flags"] = Flags;
  nlohmann::json Inputs = nlohmann::json::array();
  for (uint32_t I = 0; I < Files.numFiles(); ++I)
    if (Files.name(I) != "<memory>")
      Inputs.push_back({{"name", Files.name(I)}, {"bytes", Files.size(I)}});
  Out["inputs"] = Inputs;
  return Out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace llmc
