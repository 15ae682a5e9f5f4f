// Reading of the files beside a model: tokenizer.json (compiled by
// runtime/text), tokenizer_config.json or chat_template.jinja (template),
// generation_config.json and config.json (special ids, sampling defaults).
// All of them are untrusted: sizes are bounded, JSON is parsed without
// exceptions, and wrong types count as absent.
#include "compiler/driver/ModelFolder.h"

#include "runtime/text/TokenizerCompiler.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace llmc {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;
constexpr uintmax_t MaxFileBytes = 64 << 20;

/// Text of a file; empty when it is not there.
Result<std::string> readText(const fs::path &Path) {
  std::error_code Error;
  if (!fs::exists(Path, Error))
    return std::string();
  uintmax_t Size = fs::file_size(Path, Error);
  if (Error || Size > MaxFileBytes)
    return malformedError(
        Path.filename().string() + ": " +
        (Error ? Error.message()
               : std::to_string(Size) + " bytes, at most 67108864 are read"));
  std::ifstream In(Path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(In), {});
}

/// The JSON object in a file; an empty object when there is no file.
Result<Json> readObject(const fs::path &Path) {
  LLMC_ASSIGN_OR_RETURN(std::string Text, readText(Path));
  if (Text.empty())
    return Json::object();
  Json Value = Json::parse(Text, nullptr, /*allow_exceptions=*/false);
  if (!Value.is_object())
    return malformedError(Path.filename().string() +
                          ": not a JSON object (parse failed)");
  return Value;
}

/// An id or a list of ids.
std::vector<int32_t> idsOf(const Json &Object, const char *Key) {
  std::vector<int32_t> Ids;
  auto It = Object.find(Key);
  if (It == Object.end())
    return Ids;
  if (It->is_number_integer())
    Ids.push_back(It->get<int32_t>());
  if (It->is_array())
    for (const Json &E : *It)
      if (E.is_number_integer())
        Ids.push_back(E.get<int32_t>());
  return Ids;
}

int32_t idOf(const Json &Object, const char *Key) {
  std::vector<int32_t> Ids = idsOf(Object, Key);
  return Ids.empty() ? -1 : Ids.front();
}

/// 0 when it is absent or no sensible number.
int64_t positionsOf(const Json &Config) {
  auto It = Config.find("max_position_embeddings");
  if (It == Config.end() || !It->is_number_integer())
    return 0;
  int64_t N = It->get<int64_t>();
  return N > 0 && N <= int64_t(1) << 24 ? N : 0;
}

/// "<s>" or {"content": "<s>"}.
std::string tokenText(const Json &Object, const char *Key) {
  auto It = Object.find(Key);
  if (It == Object.end())
    return "";
  if (It->is_string())
    return It->get<std::string>();
  if (It->is_object() && It->contains("content") &&
      (*It)["content"].is_string())
    return (*It)["content"].get<std::string>();
  return "";
}

/// chat_template as a string, or the one named "default" of a list.
std::string templateOf(const Json &Config) {
  auto It = Config.find("chat_template");
  if (It == Config.end())
    return "";
  if (It->is_string())
    return It->get<std::string>();
  if (!It->is_array())
    return "";
  for (const Json &Entry : *It)
    if (Entry.is_object() && tokenText(Entry, "name") == "default")
      return tokenText(Entry, "template");
  return "";
}

/// The sampling keys that the runtime knows, special ids and token texts, as
/// one JSON object with sorted keys.
std::string normaliseGeneration(const Json &Generation, const Json &Tokenizer,
                                const ModelFolder &F) {
  Json Out = Json::object();
  for (const char *Key : {"temperature", "top_k", "top_p", "min_p",
                          "repetition_penalty", "do_sample", "max_new_tokens"})
    if (Generation.contains(Key) &&
        (Generation[Key].is_number() || Generation[Key].is_boolean()))
      Out[Key] = Generation[Key];
  Out["eos_token_id"] = F.EosIds;
  if (F.BosId >= 0)
    Out["bos_token_id"] = F.BosId;
  if (F.PadId >= 0)
    Out["pad_token_id"] = F.PadId;
  for (const char *Key : {"bos_token", "eos_token", "pad_token", "unk_token"})
    if (std::string Text = tokenText(Tokenizer, Key); !Text.empty())
      Out[Key] = Text;
  return Out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

int64_t readMaxPositions(const std::string &Folder) {
  Result<Json> Config = readObject(fs::path(Folder) / "config.json");
  return Config.ok() ? positionsOf(*Config) : 0;
}

Result<ModelFolder> readModelFolder(const std::string &Folder) {
  fs::path Dir(Folder.empty() ? "." : Folder);
  ModelFolder F;
  LLMC_ASSIGN_OR_RETURN(Json Config, readObject(Dir / "config.json"));
  LLMC_ASSIGN_OR_RETURN(Json Generation,
                        readObject(Dir / "generation_config.json"));
  LLMC_ASSIGN_OR_RETURN(Json Tokenizer,
                        readObject(Dir / "tokenizer_config.json"));

  F.EosIds = idsOf(Generation, "eos_token_id");
  if (F.EosIds.empty())
    F.EosIds = idsOf(Config, "eos_token_id");
  F.BosId = idOf(Generation, "bos_token_id");
  if (F.BosId < 0)
    F.BosId = idOf(Config, "bos_token_id");
  F.PadId = idOf(Generation, "pad_token_id");
  F.MaxPositions = positionsOf(Config);

  LLMC_ASSIGN_OR_RETURN(F.ChatTemplate, readText(Dir / "chat_template.jinja"));
  if (F.ChatTemplate.empty())
    F.ChatTemplate = templateOf(Tokenizer);
  F.Generation = normaliseGeneration(Generation, Tokenizer, F);

  std::error_code Error;
  if (fs::exists(Dir / "tokenizer.json", Error)) {
    Result<std::vector<uint8_t>> Compiled = compileTokenizer(Dir.string());
    if (Compiled.ok())
      F.Tokenizer = Compiled.take();
    else
      F.TokenizerProblem = Compiled.status().message();
  }
  return F;
}

} // namespace llmc
