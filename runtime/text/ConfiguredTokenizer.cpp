// Each function is one of the places where transformers changes a tokenizer
// after it has read tokenizer.json. The parts come and go as JSON text, since
// the flags are gone once they have become steps.
#include "runtime/text/ConfiguredTokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace llmc {

namespace {

using Json = nlohmann::json;

/// Classes with a template of their own, and whether it has a BOS.
constexpr std::pair<const char *, bool> FramingClasses[] = {
    {"LlamaTokenizer", true},    {"CodeLlamaTokenizer", true},
    {"GemmaTokenizer", true},    {"CohereTokenizer", true},
    {"GPTNeoXTokenizer", false},
};

constexpr const char *BertClasses[] = {
    "BertTokenizer",       "ConvBertTokenizer",   "DistilBertTokenizer",
    "ElectraTokenizer",    "FunnelTokenizer",     "LayoutLMTokenizer",
    "LayoutLMv2Tokenizer", "LxmertTokenizer",     "MobileBertTokenizer",
    "MPNetTokenizer",      "RoFormerTokenizer",   "SplinterTokenizer",
    "RetriBertTokenizer",  "SqueezeBertTokenizer"};

/// The part as an object; null when it is something else (its reader says so).
Json objectOf(const std::string &Part) {
  Json J = Json::parse(Part, nullptr, false);
  return J.is_object() && J.contains("type") && J["type"].is_string() ? J
                                                                      : Json();
}

/// Sets add_prefix_space of every component that has it.
void setEverywhere(Json &J) {
  if (J.is_object() && J.contains("add_prefix_space"))
    J["add_prefix_space"] = true;
  if (J.is_structured())
    for (Json &Member : J)
      setEverywhere(Member);
}

bool sameFlags(const AddedToken &A, const AddedToken &B) {
  return A.Special == B.Special && A.Normalized == B.Normalized &&
         A.LStrip == B.LStrip && A.RStrip == B.RStrip &&
         A.SingleWord == B.SingleWord;
}

int32_t idOf(const TokenizerSource &S, const std::string &Text) {
  if (const AddedToken *A = findAdded(S.Config.AddedTokens, Text))
    return A->Id;
  return TokenIndex(S).find(Text);
}

} // namespace

std::string configurePreTokenizer(std::string Part, const TokenizerFolder &F) {
  Json J = F.HasConfig ? objectOf(Part) : Json();
  // The class of Llama hands on "not told".
  if (J.is_null() || F.Class == "LlamaTokenizer")
    return Part;
  bool Wanted = F.AddPrefixSpace.value_or(false);
  bool Everywhere = F.Class == "BloomTokenizer" || F.Class == "CohereTokenizer";
  if (Wanted && Everywhere)
    setEverywhere(J);
  else if (J["type"] == "ByteLevel")
    J["add_prefix_space"] = Wanted;
  else
    return Part;
  return J.dump();
}

std::string configureNormalizer(std::string Part, const TokenizerFolder &F) {
  bool Bert = std::find(std::begin(BertClasses), std::end(BertClasses),
                        F.Class) != std::end(BertClasses);
  Json J = Bert ? objectOf(Part) : Json();
  if (J.is_null() || J["type"] != "BertNormalizer")
    return Part;
  J["lowercase"] = F.LowerCase.value_or(true);
  J["strip_accents"] = F.StripAccents ? Json(*F.StripAccents) : Json();
  if (F.Class != "MPNetTokenizer")
    J["handle_chinese_chars"] = F.ChineseChars.value_or(true);
  return J.dump();
}

Status configureAdded(const TokenizerSource &S, AddedNumbering &Numbers,
                      const TokenizerFolder &F) {
  if (!F.HasConfig)
    return Status::success();
  auto Add = [&Numbers](AddedToken A, const AddedToken *Old) {
    // A special token is looked for in the text as it was at first.
    if (Old && Old->Special && A.Special)
      A.Normalized = Old->Normalized;
    return Numbers.add(std::move(A));
  };
  for (const AddedToken &Told : F.Added) {
    const AddedToken *Old = findAdded(S.Config.AddedTokens, Told.Content);
    if (Old && sameFlags(*Old, Told))
      continue;
    AddedToken A = Told;
    for (const TokenizerFolder::NamedToken &N : F.Named)
      A.Special = A.Special || N.Token.Content == A.Content;
    LLMC_RETURN_IF_ERROR(Add(std::move(A), Old));
  }
  std::optional<TokenIndex> Index; // of 150,000 words: made when asked for
  for (const TokenizerFolder::NamedToken &N : F.Named) {
    const AddedToken *Old = findAdded(S.Config.AddedTokens, N.Token.Content);
    const AddedToken *Listed =
        F.HasTable ? findAdded(F.Added, N.Token.Content) : Old;
    if (N.Plain && Old && !Listed)
      continue;
    AddedToken A = Listed ? *Listed : N.Token;
    A.Special = true;
    if (!Old && !Index)
      Index.emplace(S);
    A.Id = Old ? Old->Id : Index->find(A.Content);
    if (A.Id >= 0) // S keeps its size: the index stays good
      LLMC_RETURN_IF_ERROR(Add(std::move(A), Old));
  }
  return Status::success();
}

void configureFrame(TokenizerSource &S, const TokenizerFolder &F) {
  const UsualTokens *Usual = usualTokens(F.Class);
  for (const auto &[Class, AddBos] : FramingClasses) {
    if (!Usual || F.Class != Class)
      continue;
    auto Id = [&S](bool Add, const std::string &Told, const char *Else) {
      return Add ? idOf(S, Told.empty() ? Else : Told) : -1;
    };
    frameTexts(S.Config, Id(F.AddBos.value_or(AddBos), F.Bos, Usual->Bos),
               Id(F.AddEos.value_or(false), F.Eos, Usual->Eos));
  }
}

} // namespace llmc
