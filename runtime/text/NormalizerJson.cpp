// The "normalizer" of tokenizer.json. Sequences are flattened.
#include "runtime/text/Base64.h"
#include "runtime/text/JsonFields.h"
#include "runtime/text/JsonFile.h"
#include "runtime/text/Normalizer.h"
#include "runtime/text/TokenizerParts.h"

#include <nlohmann/json.hpp>

namespace llmc {

namespace {

using Json = nlohmann::json;

Status readReplace(Fields<Json> &F, NormalStep &S) {
  const Json *P = F.need("pattern", "an object with String or Regex");
  S.Content = F.text("content", "");
  LLMC_RETURN_IF_ERROR(F.status());
  Fields<Json> Pattern(*P, "normalizer Replace: pattern");
  bool Literal = Pattern.get("String") != nullptr;
  S.What = Literal ? NormalStep::ReplaceText : NormalStep::ReplaceRegex;
  if (!Literal)
    Pattern.need("Regex", "a text");
  S.Pattern = Pattern.text(Literal ? "String" : "Regex", "");
  return Pattern.status();
}

Status readBert(Fields<Json> &F, NormalStep &S) {
  S.What = NormalStep::Bert;
  bool Lower = F.flag("lowercase", true);
  S.Flags = static_cast<uint8_t>(
      (F.flag("clean_text", true) ? 1 : 0) |
      (F.flag("handle_chinese_chars", true) ? 2 : 0) |
      (F.flag("strip_accents", Lower) ? 4 : 0) | (Lower ? 8 : 0));
  return F.status();
}

Status read(const Json &J, std::vector<NormalStep> &Out, int Depth) {
  Fields<Json> F(J, "normalizer");
  std::string Type = F.type();
  LLMC_RETURN_IF_ERROR(F.status());
  if (Type == "Sequence") {
    const Json *List = F.need("normalizers", "a list");
    LLMC_RETURN_IF_ERROR(F.status());
    if (!List->is_array() || Depth > 100)
      return malformedError("tokenizer.json: normalizer Sequence has no list");
    for (const Json &Part : *List)
      LLMC_RETURN_IF_ERROR(read(Part, Out, Depth + 1));
    return Status::success();
  }
  static const std::pair<const char *, NormalStep::Kind> Plain[] = {
      {"NFC", NormalStep::NFC},
      {"NFD", NormalStep::NFD},
      {"NFKC", NormalStep::NFKC},
      {"NFKD", NormalStep::NFKD},
      {"Lowercase", NormalStep::Lowercase},
      {"StripAccents", NormalStep::StripAccents},
      {"Nmt", NormalStep::Nmt},
      {"ByteLevel", NormalStep::ByteLevel}};
  NormalStep S;
  bool Known = false;
  for (const auto &[Name, Kind] : Plain)
    if (Type == Name)
      S.What = Kind, Known = true;
  if (Type == "Strip") {
    S.What = NormalStep::Strip;
    S.Flags = static_cast<uint8_t>((F.flag("strip_left", true) ? 1 : 0) |
                                   (F.flag("strip_right", true) ? 2 : 0));
  } else if (Type == "Replace") {
    LLMC_RETURN_IF_ERROR(readReplace(F, S));
  } else if (Type == "Prepend") {
    S.What = NormalStep::Prepend;
    F.need("prepend", "a text");
    S.Content = F.text("prepend", "");
  } else if (Type == "BertNormalizer") {
    LLMC_RETURN_IF_ERROR(readBert(F, S));
  } else if (Type == "Precompiled") {
    S.What = NormalStep::Precompiled;
    std::optional<std::string> Blob =
        decodeBase64(F.text("precompiled_charsmap", ""));
    if (!Blob)
      return malformedError("tokenizer.json: normalizer Precompiled has a "
                            "table that is not Base64");
    S.Pattern = std::move(*Blob);
  } else if (!Known) {
    return unsupportedError("tokenizer.json: normalizer " + Type +
                            " is not implemented");
  }
  LLMC_RETURN_IF_ERROR(F.status());
  Out.push_back(std::move(S));
  return Status::success();
}

} // namespace

Result<std::vector<NormalStep>> readNormalizer(const std::string &Text) {
  std::vector<NormalStep> Out;
  if (Text.empty())
    return Out;
  LLMC_ASSIGN_OR_RETURN(Json J, parseJsonAs<Json>(Text, "tokenizer.json"));
  LLMC_RETURN_IF_ERROR(read(J, Out, 0));
  Result<Normalizer> Check = Normalizer::create(Out);
  if (!Check.ok())
    return inTokenizerFile(Check.status(), "normalizer");
  return Out;
}

} // namespace llmc
