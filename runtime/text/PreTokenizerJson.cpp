// The "pre_tokenizer" of tokenizer.json. Sequences are flattened; a component
// that does two things becomes two steps.
#include "runtime/text/JsonFields.h"
#include "runtime/text/JsonFile.h"
#include "runtime/text/PreTokenizer.h"
#include "runtime/text/TokenizerParts.h"
#include "runtime/text/Utf8.h"

#include <nlohmann/json.hpp>

namespace llmc {

const char *const Gpt2Pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
    "\\s+(?!\\S)|\\s+";

namespace {

using Json = nlohmann::json;

PreStep step(PreStep::Kind K, SplitBehavior B = SplitBehavior::Isolated) {
  PreStep S;
  S.What = K;
  S.Behavior = B;
  return S;
}

Result<SplitBehavior> behaviorOf(Fields<Json> &F) {
  std::string Name = F.text("behavior", "Isolated");
  static const std::pair<const char *, SplitBehavior> Names[] = {
      {"Isolated", SplitBehavior::Isolated},
      {"Removed", SplitBehavior::Removed},
      {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
      {"MergedWithNext", SplitBehavior::MergedWithNext},
      {"Contiguous", SplitBehavior::Contiguous}};
  for (const auto &[Known, B] : Names)
    if (Name == Known)
      return B;
  return unsupportedError("tokenizer.json: split behavior " + Name +
                          " is not implemented");
}

/// A text of one character.
Status readChar(Fields<Json> &F, const char *Key, const char *Default,
                std::string &Out) {
  if (Default == nullptr)
    F.need(Key, "one character");
  Out = F.text(Key, Default == nullptr ? "?" : Default);
  size_t End = 0;
  if (!Out.empty())
    nextCodePoint(Out, End);
  if (Out.empty() || End != Out.size())
    F.wrong(Key, Json(Out), "one character");
  return F.status();
}

Status readSplit(Fields<Json> &F, std::vector<PreStep> &Out) {
  const Json *P = F.need("pattern", "an object with String or Regex");
  LLMC_RETURN_IF_ERROR(F.status());
  Fields<Json> Pattern(*P, "pre_tokenizer Split: pattern");
  bool Literal = Pattern.get("String") != nullptr;
  LLMC_ASSIGN_OR_RETURN(SplitBehavior B, behaviorOf(F));
  PreStep S = step(Literal ? PreStep::Text : PreStep::Regex, B);
  if (!Literal)
    Pattern.need("Regex", "a text");
  S.Pattern = Pattern.text(Literal ? "String" : "Regex", "");
  S.Invert = F.flag("invert", false);
  LLMC_RETURN_IF_ERROR(Pattern.status());
  LLMC_RETURN_IF_ERROR(F.status());
  Out.push_back(std::move(S));
  return Status::success();
}

Status readMetaspace(Fields<Json> &F, std::vector<PreStep> &Out) {
  PreStep S = step(PreStep::Metaspace);
  LLMC_RETURN_IF_ERROR(readChar(F, "replacement", "\xE2\x96\x81", S.Pattern));
  // Older files have add_prefix_space instead of the scheme.
  bool Prefix = F.flag("add_prefix_space", true);
  std::string Scheme = F.text("prepend_scheme", Prefix ? "always" : "never");
  if (Scheme != "never" && Scheme != "first" && Scheme != "always")
    return unsupportedError("tokenizer.json: prepend_scheme " + Scheme +
                            " is not implemented");
  S.Number = !Prefix || Scheme == "never" ? 0 : Scheme == "first" ? 1 : 2;
  PreStep Cut = step(PreStep::Text, SplitBehavior::MergedWithNext);
  Cut.Pattern = S.Pattern;
  Out.push_back(std::move(S));
  if (F.flag("split", true))
    Out.push_back(std::move(Cut));
  return F.status();
}

Status readByteLevel(Fields<Json> &F, std::vector<PreStep> &Out) {
  if (F.flag("add_prefix_space", true))
    Out.push_back(step(PreStep::PrefixSpace));
  if (F.flag("use_regex", true)) {
    Out.push_back(step(PreStep::Regex));
    Out.back().Pattern = Gpt2Pattern;
  }
  Out.push_back(step(PreStep::Bytes));
  return F.status();
}

Status read(const Json &J, std::vector<PreStep> &Out, int Depth);

Status readSequence(Fields<Json> &F, std::vector<PreStep> &Out, int Depth) {
  const Json *List = F.need("pretokenizers", "a list");
  LLMC_RETURN_IF_ERROR(F.status());
  if (!List->is_array() || Depth > 100)
    return malformedError("tokenizer.json: pre_tokenizer Sequence has no list");
  for (const Json &Part : *List)
    LLMC_RETURN_IF_ERROR(read(Part, Out, Depth + 1));
  return Status::success();
}

Status read(const Json &J, std::vector<PreStep> &Out, int Depth) {
  Fields<Json> F(J, "pre_tokenizer");
  std::string Type = F.type();
  LLMC_RETURN_IF_ERROR(F.status());
  if (Type == "Sequence")
    return readSequence(F, Out, Depth);
  if (Type == "Split")
    return readSplit(F, Out);
  if (Type == "Metaspace")
    return readMetaspace(F, Out);
  if (Type == "ByteLevel")
    return readByteLevel(F, Out);
  if (Type == "Digits") {
    Out.push_back(step(PreStep::Digits, F.flag("individual_digits", false)
                                            ? SplitBehavior::Isolated
                                            : SplitBehavior::Contiguous));
  } else if (Type == "Punctuation") {
    LLMC_ASSIGN_OR_RETURN(SplitBehavior B, behaviorOf(F));
    Out.push_back(step(PreStep::Punctuation, B));
  } else if (Type == "WhitespaceSplit") {
    Out.push_back(step(PreStep::White, SplitBehavior::Removed));
  } else if (Type == "Whitespace") {
    Out.push_back(step(PreStep::Words));
  } else if (Type == "BertPreTokenizer") {
    Out.push_back(step(PreStep::White, SplitBehavior::Removed));
    Out.push_back(step(PreStep::Punctuation));
  } else if (Type == "UnicodeScripts") {
    Out.push_back(step(PreStep::Scripts));
  } else if (Type == "FixedLength") {
    Out.push_back(step(PreStep::Length));
    Out.back().Number =
        static_cast<uint32_t>(F.number("length", 5, 1, INT32_MAX));
  } else if (Type == "CharDelimiterSplit") {
    PreStep S = step(PreStep::Text, SplitBehavior::Removed);
    LLMC_RETURN_IF_ERROR(readChar(F, "delimiter", nullptr, S.Pattern));
    Out.push_back(std::move(S));
  } else {
    return unsupportedError("tokenizer.json: pre_tokenizer " + Type +
                            " is not implemented");
  }
  return F.status();
}

} // namespace

Result<std::vector<PreStep>> readPreTokenizer(const std::string &Text) {
  std::vector<PreStep> Out;
  if (Text.empty())
    return Out;
  LLMC_ASSIGN_OR_RETURN(Json J, parseJsonAs<Json>(Text, "tokenizer.json"));
  LLMC_RETURN_IF_ERROR(read(J, Out, 0));
  Result<PreTokenizer> Check = PreTokenizer::create(Out, true);
  if (!Check.ok())
    return inTokenizerFile(Check.status(), "pre_tokenizer");
  return Out;
}

} // namespace llmc
