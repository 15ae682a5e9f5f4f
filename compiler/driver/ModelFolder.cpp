// Reading of the files beside a model through runtime/text, which compiles the
// forms that the runtime reads. A part that is damaged or not understood is
// left out with a warning, since the model itself still compiles; a folder that
// is not there is an error.
#include "compiler/driver/ModelFolder.h"

#include "runtime/text/GenerationDefaults.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace llmc {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;
constexpr uintmax_t MaxConfigBytes = 64 << 20;

/// config.json as an object; empty when it is missing or something else.
Json readConfig(const fs::path &Path) {
  std::error_code Error;
  uintmax_t Size = fs::file_size(Path, Error);
  if (Error || Size > MaxConfigBytes || !fs::is_regular_file(Path, Error))
    return Json::object();
  std::ifstream In(Path, std::ios::binary);
  Json Value = Json::parse(std::string(std::istreambuf_iterator<char>(In), {}),
                           nullptr, /*allow_exceptions=*/false);
  return Value.is_object() ? Value : Json::object();
}

/// An integer of the object in [0, Max]; otherwise Default.
int64_t integerOf(const Json &Object, const char *Key, int64_t Max,
                  int64_t Default) {
  auto It = Object.find(Key);
  if (It == Object.end() || !It->is_number_integer())
    return Default;
  if (It->is_number_unsigned() &&
      It->get<uint64_t>() > static_cast<uint64_t>(Max))
    return Default;
  int64_t N = It->get<int64_t>();
  return N >= 0 && N <= Max ? N : Default;
}

/// Takes the value, or warns and leaves Out as it is.
template <typename T>
void takeOrWarn(Result<T> R, T &Out, const char *Without,
                std::vector<std::string> &Warnings) {
  if (R.ok())
    Out = R.take();
  else
    Warnings.push_back(R.status().message() + "; " + Without);
}

void readGeneration(const std::string &Folder, ModelFolder &F) {
  takeOrWarn(compileGenerationDefaults(Folder), F.Generation,
             "the artifact has no generation defaults", F.Warnings);
  Result<GenerationDefaults> D = readGenerationDefaults(F.Generation);
  if (!D.ok()) {
    F.Warnings.push_back(D.status().message() +
                         "; the artifact has no generation defaults");
    F.Generation.clear();
    return;
  }
  F.EosIds = D->EosIds;
  F.BosId = D->BosId;
}

} // namespace

int64_t readMaxPositions(const std::string &Folder) {
  return integerOf(readConfig(fs::path(Folder) / "config.json"),
                   "max_position_embeddings", int64_t(1) << 24, 0);
}

Result<ModelFolder> readModelFolder(const std::string &Given) {
  std::string Folder = Given.empty() ? "." : Given;
  std::error_code Error;
  if (!fs::is_directory(Folder, Error))
    return malformedError("'" + Folder +
                          "' is not a folder; expected one with "
                          "tokenizer.json");
  ModelFolder F;
  readGeneration(Folder, F);
  F.PadId = static_cast<int32_t>(
      integerOf(readConfig(fs::path(Folder) / "generation_config.json"),
                "pad_token_id", INT32_MAX, -1));
  F.MaxPositions = readMaxPositions(Folder);
  takeOrWarn(compileChatTemplate(Folder), F.ChatTemplate,
             "the artifact has no chat template", F.Warnings);
  takeOrWarn(compileTokenizer(Folder), F.Tokenizer,
             "the artifact takes token ids only", F.Warnings);
  return F;
}

int64_t tokenizerSize(const ModelFolder &F) {
  if (F.Tokenizer.empty())
    return 0;
  Result<Tokenizer> T = Tokenizer::load(F.Tokenizer);
  return T.ok() ? static_cast<int64_t>(T->vocabSize()) : 0;
}

} // namespace llmc
