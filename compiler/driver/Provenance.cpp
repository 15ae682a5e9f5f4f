// The provenance section. Keys are sorted (nlohmann's default object), so the
// text is the same for the same facts.
#include "compiler/driver/Provenance.h"

#include "runtime/base/File.h"
#include "runtime/base/Hash.h"

#include "llvm/Config/llvm-config.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace llmc {
namespace {

/// Larger files are weights, which have hashes in the artifact.
constexpr uint64_t MaxHashed = 64 << 20;

/// The files of ModelFolder.cpp and of the tokenizer.
constexpr const char *TextFiles[] = {"config.json", "generation_config.json",
                                     "tokenizer.json", "tokenizer_config.json",
                                     "chat_template.jinja"};

/// Hashes in pieces, so that memory stays small.
Result<InputFile> hashStored(const WeightStore &Files, uint32_t Index) {
  InputFile In{Files.name(Index), Files.size(Index), ""};
  if (In.Bytes > MaxHashed)
    return In;
  Sha256 Hash;
  std::vector<uint8_t> Piece;
  for (uint64_t At = 0; At < In.Bytes; At += Piece.size()) {
    Piece.resize(std::min<uint64_t>(In.Bytes - At, 1 << 20));
    LLMC_RETURN_IF_ERROR(Files.read(Index, At, Piece, In.Name));
    Hash.update(Piece);
  }
  In.Sha256 = hexOf(Hash.finish());
  return In;
}

/// Adds the file when it is there.
Status addText(const std::string &Folder, const char *Name,
               std::vector<InputFile> &Out) {
  std::filesystem::path Path = std::filesystem::path(Folder) / Name;
  std::error_code Error;
  if (!std::filesystem::exists(Path, Error))
    return {};
  LLMC_ASSIGN_OR_RETURN(std::vector<uint8_t> Bytes,
                        readFile(Path.string(), MaxHashed));
  Out.push_back({Name, Bytes.size(), hexOf(sha256(Bytes))});
  return {};
}

nlohmann::json inputsJson(const std::vector<InputFile> &Inputs) {
  nlohmann::json Out = nlohmann::json::array();
  for (const InputFile &In : Inputs) {
    Out.push_back({{"name", In.Name}, {"bytes", In.Bytes}});
    if (!In.Sha256.empty())
      Out.back()["sha256"] = In.Sha256;
  }
  return Out;
}

} // namespace

std::string ProvenanceFacts::precisions() const {
  std::vector<std::string> Seen;
  std::string Out;
  for (const std::string &Target : Targets) {
    auto It = Precision.find(Target);
    if (It == Precision.end() ||
        std::find(Seen.begin(), Seen.end(), It->second) != Seen.end())
      continue;
    Seen.push_back(It->second);
    Out += (Out.empty() ? "" : ", ") + It->second;
  }
  return Out;
}

Result<std::vector<InputFile>> readInputs(const WeightStore &Files,
                                          const std::string &TextFolder) {
  std::vector<InputFile> Out;
  for (uint32_t I = 0; I < Files.numFiles(); ++I) {
    if (Files.name(I) == "<memory>")
      continue;
    LLMC_ASSIGN_OR_RETURN(InputFile In, hashStored(Files, I));
    Out.push_back(std::move(In));
  }
  // It decides the default context, wherever the tokenizer comes from.
  if (!TextFolder.empty())
    LLMC_RETURN_IF_ERROR(addText(Files.folder(), "config.json", Out));
  for (const char *Name : TextFiles)
    LLMC_RETURN_IF_ERROR(
        addText(TextFolder.empty() ? Files.folder() : TextFolder, Name, Out));
  return Out;
}

std::string provenanceJson(const CompileOptions &O, const ProvenanceFacts &F) {
  nlohmann::json Out;
  Out["llmc"] = "0.1.0";
  Out["llvm"] = LLVM_VERSION_STRING;
  if (!F.NvrtcVersion.empty())
    Out["nvrtc"] = F.NvrtcVersion;
  Out["targets"] = F.Targets;
  Out["cpu_features"] = nlohmann::json(nlohmann::json::object_t());
  for (const auto &[Target, Features] : F.CpuFeatures)
    Out["cpu_features"][Target] = Features;
  nlohmann::json Flags;
  Flags["precision"] = F.precisions();
  Flags["activations"] = O.Activations;
  Flags["kv_cache"] = O.KvCache.empty() ? "auto" : O.KvCache;
  Flags["max_context"] = O.MaxContext;
  Flags["max_batch"] = O.MaxBatch;
  Out["flags"] = Flags;
  Out["inputs"] = inputsJson(F.Inputs);
  if (!F.Architecture.empty())
    Out["architecture"] = nlohmann::json::parse(F.Architecture, nullptr, false);
  return Out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace llmc
