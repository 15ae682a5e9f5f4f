// The small JSON files beside a model, as transformers writes them. Values of
// the wrong kind or range are an error: a temperature of "0.7" is not 0.
#include "runtime/text/GenerationDefaults.h"

#include "runtime/base/Json.h"
#include "runtime/text/ChatTemplate.h"
#include "runtime/text/JsonFile.h"

#include <nlohmann/json.hpp>

namespace llmc {

using Json = nlohmann::json;

namespace {

/// An object from FOLDER/Name; an empty one when there is no such file.
Result<Json> readObject(const std::string &Folder, const std::string &Name) {
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Text,
                        readTextFile(Folder, Name));
  if (!Text)
    return Json::object();
  LLMC_ASSIGN_OR_RETURN(Json J, parseJsonAs<Json>(*Text, Name));
  if (!J.is_object())
    return malformedError(Name + ": not a JSON object");
  return J;
}

Status readNumber(const Json &J, const std::string &File, const char *Key,
                  double Low, double High, float &Out) {
  auto It = J.find(Key);
  if (It == J.end() || It->is_null())
    return Status::success();
  double V = It->is_number() ? It->get<double>() : Low - 1;
  if (!(V >= Low && V <= High))
    return malformedError(File + ": " + Key + " is " + It->dump() +
                          ", expected a number from " + jsonNumber(Low) +
                          " to " + jsonNumber(High));
  Out = static_cast<float>(V);
  return Status::success();
}

Status readIds(const Json &J, const std::string &File, const char *Key,
               std::vector<int32_t> &Out) {
  auto It = J.find(Key);
  if (It == J.end() || It->is_null())
    return Status::success();
  Json List = It->is_array() ? *It : Json::array({*It});
  for (const Json &Id : List) {
    if (!Id.is_number_integer() || Id.get<int64_t>() < 0 ||
        Id.get<int64_t>() > INT32_MAX)
      return malformedError(File + ": " + Key + " is " + It->dump() +
                            ", expected token ids");
    Out.push_back(Id.get<int32_t>());
  }
  return Status::success();
}

/// Sampling fields under the names of generation_config.json. Without
/// do_sample a model is greedy whatever its temperature says; with it absent
/// fields are what transformers takes.
Status readSampling(const Json &J, const std::string &File,
                    GenerationDefaults &D) {
  auto It = J.find("do_sample");
  bool Sample = It != J.end() && It->is_boolean() && It->get<bool>();
  float TopK = Sample ? 50 : 0;
  D.Temperature = Sample ? 1 : 0;
  GenerationDefaults Ignored;
  GenerationDefaults &To = Sample ? D : Ignored;
  LLMC_RETURN_IF_ERROR(
      readNumber(J, File, "temperature", 0, 1e6, To.Temperature));
  LLMC_RETURN_IF_ERROR(readNumber(J, File, "top_k", -1, 1e7, TopK));
  LLMC_RETURN_IF_ERROR(readNumber(J, File, "top_p", 0, 1, To.TopP));
  LLMC_RETURN_IF_ERROR(readNumber(J, File, "min_p", 0, 1, To.MinP));
  LLMC_RETURN_IF_ERROR(readNumber(J, File, "repetition_penalty", 1e-3, 1e3,
                                  D.RepetitionPenalty));
  To.TopK = TopK < 0 ? 0 : static_cast<int32_t>(TopK);
  return Status::success();
}

/// The template of a "chat_template" member: text (the default one), or that
/// of a list with the name.
std::string templateIn(const Json &J, const char *Name) {
  auto It = J.find("chat_template");
  if (It == J.end())
    return "";
  if (It->is_string())
    return std::string_view(Name) == "default" ? It->get<std::string>() : "";
  if (It->is_array())
    for (const Json &Named : *It)
      if (Named.is_object() && Named.value("name", Json()) == Name)
        return Named.contains("template") && Named["template"].is_string()
                   ? Named["template"].get<std::string>()
                   : "";
  return "";
}

/// One template that is Tools where there are tools, which is what
/// transformers picks then. The signs keep white space at the seams.
std::string withTools(std::string Default, std::string Tools) {
  for (std::string *T : {&Default, &Tools})
    if (T->ends_with('\n'))
      T->pop_back();
  return "{% if tools is not none +%}" + Tools + "{%+ else +%}" + Default +
         "{%+ endif %}";
}

} // namespace

Result<std::string> compileChatTemplate(const std::string &Folder) {
  std::string File = "chat_template.jinja", Source, Tools;
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Plain,
                        readTextFile(Folder, File));
  if (Plain)
    Source = *Plain;
  for (const char *Name : {"chat_template.json", "tokenizer_config.json"}) {
    if (!Source.empty())
      break;
    LLMC_ASSIGN_OR_RETURN(Json J, readObject(Folder, Name));
    Source = templateIn(J, "default");
    Tools = templateIn(J, "tool_use");
    File = Name;
  }
  if (Source.empty())
    return Source;
  Result<ChatTemplate> T = ChatTemplate::compile(Source);
  if (!T.ok())
    return Status(T.status().code(), File + ": " + T.status().message());
  if (Tools.empty())
    return Source;
  std::string Both = withTools(Source, Tools);
  return ChatTemplate::compile(Both).ok() ? Both : Source;
}

Result<std::string> compileGenerationDefaults(const std::string &Folder) {
  GenerationDefaults D;
  LLMC_ASSIGN_OR_RETURN(Json Generation,
                        readObject(Folder, "generation_config.json"));
  LLMC_ASSIGN_OR_RETURN(Json Config, readObject(Folder, "config.json"));
  LLMC_ASSIGN_OR_RETURN(Json Text, readObject(Folder, "tokenizer_config.json"));
  bool Sample = Generation.value("do_sample", Json()) == true;
  if (Sample) // what transformers takes for absent fields
    D.Temperature = 1, D.TopK = 50;
  LLMC_RETURN_IF_ERROR(readSampling(Generation, "generation_config.json", D));
  if (!Sample) // temperature and its like count only when sampling
    D.Temperature = 0, D.TopK = 0, D.TopP = 1, D.MinP = 0;
  LLMC_RETURN_IF_ERROR(
      readIds(Generation, "generation_config.json", "eos_token_id", D.EosIds));
  if (D.EosIds.empty())
    LLMC_RETURN_IF_ERROR(
        readIds(Config, "config.json", "eos_token_id", D.EosIds));
  std::vector<int32_t> Bos;
  LLMC_RETURN_IF_ERROR(
      readIds(Generation, "generation_config.json", "bos_token_id", Bos));
  if (Bos.empty())
    LLMC_RETURN_IF_ERROR(readIds(Config, "config.json", "bos_token_id", Bos));
  D.BosId = Bos.empty() ? -1 : Bos.front();

  JsonWriter W;
  W.beginObject();
  W.member("do_sample", D.Temperature > 0);
  W.member("temperature", double(D.Temperature));
  W.member("top_k", D.TopK);
  W.member("top_p", double(D.TopP));
  W.member("min_p", double(D.MinP));
  W.member("repetition_penalty", double(D.RepetitionPenalty));
  W.list("eos_token_id", D.EosIds);
  if (D.BosId >= 0)
    W.member("bos_token_id", D.BosId);
  W.member("bos_token", tokenText(Text, "bos_token"));
  W.member("eos_token", tokenText(Text, "eos_token"));
  W.endObject();
  return W.text();
}

Result<GenerationDefaults> readGenerationDefaults(std::string_view Text) {
  const std::string File = "generation defaults section";
  GenerationDefaults D;
  if (Text.empty())
    return D;
  LLMC_ASSIGN_OR_RETURN(Json J, parseJsonAs<Json>(Text, File));
  if (!J.is_object())
    return malformedError(File + ": not a JSON object");
  LLMC_RETURN_IF_ERROR(readSampling(J, File, D));
  LLMC_RETURN_IF_ERROR(readIds(J, File, "eos_token_id", D.EosIds));
  std::vector<int32_t> Bos;
  LLMC_RETURN_IF_ERROR(readIds(J, File, "bos_token_id", Bos));
  D.BosId = Bos.empty() ? -1 : Bos.front();
  D.BosToken = tokenText(J, "bos_token");
  D.EosToken = tokenText(J, "eos_token");
  return D;
}

/// What a compact JSON text is, in words.
static std::string kindOfJson(const std::string &Json) {
  switch (Json.front()) {
  case '{':
    return "an object";
  case '[':
    return "a list";
  case '"':
    return "a text";
  case 'n':
    return "null";
  default:
    return "'" + Json.substr(0, 20) + "'";
  }
}

/// A JSON list as compact text; "null" for an empty text.
static Result<std::string> listOrNull(std::string_view Json,
                                      const std::string &What) {
  if (Json.empty())
    return std::string("null");
  LLMC_ASSIGN_OR_RETURN(std::string T, checkedJson(Json, What));
  if (T.front() != '[')
    return malformedError(What + " are " + kindOfJson(T) + ", expected a list");
  return T;
}

Result<std::string> chatVariables(const ChatInput &In,
                                  const GenerationDefaults &D) {
  LLMC_ASSIGN_OR_RETURN(std::string M, checkedJson(In.Messages, "messages"));
  if (M.front() != '[')
    return malformedError("messages are " + kindOfJson(M) +
                          ", expected a list such as [{\"role\": \"user\", "
                          "\"content\": \"hi\"}]");
  LLMC_ASSIGN_OR_RETURN(std::string Tools, listOrNull(In.Tools, "tools"));
  LLMC_ASSIGN_OR_RETURN(std::string Documents,
                        listOrNull(In.Documents, "documents"));
  JsonWriter W;
  W.beginObject();
  W.key("messages").raw(M);
  W.key("tools").raw(Tools);
  W.key("documents").raw(Documents);
  W.member("add_generation_prompt", In.AddGenerationPrompt);
  W.member("bos_token", D.BosToken);
  W.member("eos_token", D.EosToken);
  W.endObject();
  std::string All = W.text();
  if (In.Variables.empty())
    return All;
  LLMC_ASSIGN_OR_RETURN(std::string More,
                        checkedJson(In.Variables, "variables"));
  if (More.front() != '{')
    return malformedError("variables are not a JSON object");
  if (More.size() > 2) // later members win
    All.replace(All.size() - 1, 1, "," + More.substr(1));
  return All;
}

} // namespace llmc
