// The "decoder" of tokenizer.json. Sequences are flattened; a file without one
// puts spaces between its tokens.
#include "runtime/text/Decoder.h"
#include "runtime/text/JsonFields.h"
#include "runtime/text/JsonFile.h"
#include "runtime/text/TokenizerParts.h"
#include "runtime/text/Utf8.h"

#include <nlohmann/json.hpp>

namespace llmc {

namespace {

using Json = nlohmann::json;

Status readReplace(Fields<Json> &F, DecodeStep &S) {
  const Json *P = F.need("pattern", "an object with String or Regex");
  S.Content = F.text("content", "");
  LLMC_RETURN_IF_ERROR(F.status());
  Fields<Json> Pattern(*P, "decoder Replace: pattern");
  bool Literal = Pattern.get("String") != nullptr;
  S.What = Literal ? DecodeStep::ReplaceText : DecodeStep::ReplaceRegex;
  if (!Literal)
    Pattern.need("Regex", "a text");
  S.Pattern = Pattern.text(Literal ? "String" : "Regex", "");
  return Pattern.status();
}

Status readMetaspace(Fields<Json> &F, DecodeStep &S) {
  S.What = DecodeStep::Metaspace;
  S.Pattern = F.text("replacement", "\xE2\x96\x81");
  bool Prefix = F.flag("add_prefix_space", true);
  S.Start = Prefix && F.text("prepend_scheme", "always") != "never";
  if (S.Pattern.empty())
    F.wrong("replacement", Json(S.Pattern), "one character");
  return F.status();
}

Status readStrip(Fields<Json> &F, DecodeStep &S) {
  S.What = DecodeStep::Strip;
  S.Content = F.text("content", " ");
  S.Start = static_cast<uint32_t>(F.number("start", 0, 0, 1 << 20));
  S.Stop = static_cast<uint32_t>(F.number("stop", 0, 0, 1 << 20));
  size_t End = 0;
  if (!S.Content.empty())
    nextCodePoint(S.Content, End);
  if (S.Content.empty() || End != S.Content.size())
    F.wrong("content", Json(S.Content), "one character");
  return F.status();
}

Status read(const Json &J, std::vector<DecodeStep> &Out, int Depth) {
  Fields<Json> F(J, "decoder");
  std::string Type = F.type();
  LLMC_RETURN_IF_ERROR(F.status());
  if (Type == "Sequence") {
    const Json *List = F.need("decoders", "a list");
    LLMC_RETURN_IF_ERROR(F.status());
    if (!List->is_array() || Depth > 100)
      return malformedError("tokenizer.json: decoder Sequence has no list");
    for (const Json &Part : *List)
      LLMC_RETURN_IF_ERROR(read(Part, Out, Depth + 1));
    return Status::success();
  }
  DecodeStep S;
  if (Type == "ByteLevel") {
    S.What = DecodeStep::ByteLevel;
  } else if (Type == "ByteFallback") {
    S.What = DecodeStep::ByteFallback;
  } else if (Type == "Fuse") {
    S.What = DecodeStep::Fuse;
  } else if (Type == "Metaspace") {
    LLMC_RETURN_IF_ERROR(readMetaspace(F, S));
  } else if (Type == "Replace") {
    LLMC_RETURN_IF_ERROR(readReplace(F, S));
  } else if (Type == "Strip") {
    LLMC_RETURN_IF_ERROR(readStrip(F, S));
  } else if (Type == "WordPiece") {
    S.What = DecodeStep::WordPiece;
    S.Pattern = F.text("prefix", "##");
    S.Start = F.flag("cleanup", true);
  } else if (Type == "CTC") {
    S.What = DecodeStep::Ctc;
    S.Pattern = F.text("pad_token", "<pad>");
    S.Content = F.text("word_delimiter_token", "|");
    S.Start = F.flag("cleanup", true);
  } else if (Type == "BPEDecoder") {
    S.What = DecodeStep::Bpe;
    S.Pattern = F.text("suffix", "</w>");
  } else {
    return unsupportedError("tokenizer.json: decoder " + Type +
                            " is not implemented");
  }
  LLMC_RETURN_IF_ERROR(F.status());
  Out.push_back(std::move(S));
  return Status::success();
}

} // namespace

Result<std::vector<DecodeStep>> readDecoder(const std::string &Text) {
  std::vector<DecodeStep> Out;
  if (Text.empty()) {
    Out.emplace_back();
    Out.back().What = DecodeStep::Spaces;
    return Out;
  }
  LLMC_ASSIGN_OR_RETURN(Json J, parseJsonAs<Json>(Text, "tokenizer.json"));
  LLMC_RETURN_IF_ERROR(read(J, Out, 0));
  Result<Decoder> Check = Decoder::create(Out);
  if (!Check.ok())
    return inTokenizerFile(Check.status(), "decoder");
  return Out;
}

} // namespace llmc
