// The older pairs of files are turned into the tokenizer.json that the
// reference library would make of them.
#include "runtime/text/TokenizerFiles.h"

#include "runtime/text/JsonFile.h"
#include "runtime/text/Lines.h"
#include "runtime/text/Utf8.h"

#include <nlohmann/json.hpp>

namespace llmc {

namespace {

using Json = nlohmann::json;

Json addedTokens(const TokenizerFolder &F) {
  Json List = Json::array();
  for (const AddedToken &A : F.Added)
    List.push_back({{"id", A.Id},
                    {"content", A.Content},
                    {"special", A.Special},
                    {"normalized", A.Normalized},
                    {"lstrip", A.LStrip},
                    {"rstrip", A.RStrip},
                    {"single_word", A.SingleWord}});
  return List;
}

/// Texts of special tokens that no file lists as added become so.
void addSpecial(Json &List, const Json &Vocab, const std::string &Content) {
  if (Content.empty() || !Vocab.contains(Content))
    return;
  for (const Json &A : List)
    if (A["content"] == Content)
      return;
  List.push_back({{"id", Vocab[Content]},
                  {"content", Content},
                  {"special", true},
                  {"normalized", false}});
}

Json part(const char *Kind, const std::string &Id, int Type) {
  return {{Kind, {{"id", Id}, {"type_id", Type}}}};
}

/// BOS and EOS around each text, as the flags ask.
Json frame(const TokenizerFolder &F, const Json &Vocab) {
  Json P = {{"type", "TemplateProcessing"}, {"special_tokens", Json::object()}};
  for (int Texts = 1; Texts <= 2; ++Texts) {
    Json List = Json::array();
    for (int I = 0; I < Texts; ++I) {
      auto Put = [&](bool On, const std::string &Token) {
        if (!On || !Vocab.contains(Token))
          return;
        List.push_back(part("SpecialToken", Token, I));
        P["special_tokens"][Token] = {
            {"id", Token}, {"ids", {Vocab[Token]}}, {"tokens", {Token}}};
      };
      Put(F.AddBos.value_or(false), F.Bos);
      List.push_back(part("Sequence", I == 0 ? "A" : "B", I));
      Put(F.AddEos.value_or(false), F.Eos);
    }
    P[Texts == 1 ? "single" : "pair"] = std::move(List);
  }
  return P;
}

/// Lines of merges.txt.
Result<Json> mergeList(std::string_view Text) {
  Json List = Json::array();
  Lines All(Text);
  for (std::string_view Line; All.next(Line);) {
    if (Line.empty() || Line.starts_with("#version"))
      continue;
    size_t Space = Line.find(' ');
    if (Space == std::string_view::npos ||
        findBadUtf8(Line) != std::string_view::npos ||
        Line.find(' ', Space + 1) != std::string_view::npos)
      return malformedError("merges.txt: line " + std::to_string(All.number()) +
                            " is not a pair of tokens");
    List.push_back(std::string(Line));
  }
  return List;
}

constexpr const char *QwenPattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

Json byteLevel(bool Prefix, bool Regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", Prefix},
          {"trim_offsets", true},
          {"use_regex", Regex}};
}

/// The steps of the class that tokenizer_config.json names.
void addByteLevelSteps(const TokenizerFolder &F, const Json &Vocab,
                       Json &Root) {
  bool Prefix = F.AddPrefixSpace.value_or(false);
  Root["decoder"] = byteLevel(true, true);
  Root["pre_tokenizer"] = byteLevel(Prefix, true);
  if (F.Class == "Qwen2Tokenizer") {
    Root["normalizer"] = {{"type", "NFC"}};
    Json Split = {{"type", "Split"},
                  {"pattern", {{"Regex", QwenPattern}}},
                  {"behavior", "Isolated"},
                  {"invert", false}};
    Root["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers", Json::array({Split, byteLevel(Prefix, false)})}};
  }
  bool Roberta = F.Class == "RobertaTokenizer" || F.Class == "BartTokenizer" ||
                 F.Class == "LongformerTokenizer" || F.Class == "LEDTokenizer";
  if (Roberta && Vocab.contains("<s>") && Vocab.contains("</s>"))
    Root["post_processor"] = {{"type", "RobertaProcessing"},
                              {"sep", {"</s>", Vocab["</s>"]}},
                              {"cls", {"<s>", Vocab["<s>"]}}};
  else
    Root["post_processor"] = frame(F, Vocab);
}

} // namespace

Result<std::string> jsonOfVocabAndMerges(std::string_view VocabText,
                                         std::string_view MergeText,
                                         const TokenizerFolder &F) {
  LLMC_ASSIGN_OR_RETURN(Json Vocab, parseJsonAs<Json>(VocabText, "vocab.json"));
  if (!Vocab.is_object() || Vocab.empty())
    return malformedError("vocab.json: is not an object of tokens");
  // The spelling of the space tells this kind from those that end words with
  // a mark of their own.
  if (!Vocab.contains("\xC4\xA0"))
    return unsupportedError("vocab.json: a vocabulary without the byte-level "
                            "space 'Ġ' is not implemented");
  LLMC_ASSIGN_OR_RETURN(Json Merges, mergeList(MergeText));
  Json Root;
  Root["model"] = {{"type", "BPE"}};
  Json Added = addedTokens(F);
  for (const std::string &Token : {F.Bos, F.Eos, F.Unk})
    addSpecial(Added, Vocab, Token);
  Root["added_tokens"] = std::move(Added);
  addByteLevelSteps(F, Vocab, Root);
  Root["model"]["vocab"] = std::move(Vocab);
  Root["model"]["merges"] = std::move(Merges);
  return Root.dump();
}

Result<std::string> jsonOfVocabText(std::string_view Text,
                                    const TokenizerFolder &F) {
  if (size_t Bad = findBadUtf8(Text); Bad != std::string_view::npos)
    return malformedError("vocab.txt: not UTF-8 at byte " +
                          std::to_string(Bad) + " of " +
                          std::to_string(Text.size()));
  Json Vocab = Json::object();
  Lines All(Text);
  for (std::string_view Line; All.next(Line);) {
    while (!Line.empty() &&
           (Line.back() == '\r' || Line.back() == ' ' || Line.back() == '\t'))
      Line.remove_suffix(1);
    Vocab[std::string(Line)] = All.number() - 1;
  }
  if (!Vocab.contains("[CLS]") || !Vocab.contains("[SEP]") ||
      !Vocab.contains("[UNK]"))
    return unsupportedError("vocab.txt: a vocabulary without [CLS], [SEP] and "
                            "[UNK] is not implemented");
  Json Added = addedTokens(F);
  for (const char *Token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    addSpecial(Added, Vocab, Token);
  bool Lower = F.LowerCase.value_or(true);
  Json Root;
  Root["added_tokens"] = std::move(Added);
  Root["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", true},
                        {"handle_chinese_chars", F.ChineseChars.value_or(true)},
                        {"strip_accents", F.StripAccents.value_or(Lower)},
                        {"lowercase", Lower}};
  Root["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  Root["post_processor"] = {{"type", "BertProcessing"},
                            {"sep", {"[SEP]", Vocab["[SEP]"]}},
                            {"cls", {"[CLS]", Vocab["[CLS]"]}}};
  Root["decoder"] = {
      {"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  Root["model"] = {{"type", "WordPiece"},
                   {"unk_token", "[UNK]"},
                   {"continuing_subword_prefix", "##"},
                   {"max_input_chars_per_word", 100}};
  Root["model"]["vocab"] = std::move(Vocab);
  return Root.dump();
}

} // namespace llmc
