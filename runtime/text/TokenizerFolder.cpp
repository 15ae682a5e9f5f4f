// The files are read leniently where they only hint (a token may be a text or
// an object), strictly where ids are concerned.
#include "runtime/text/TokenizerFolder.h"

#include "runtime/text/AddedTokenJson.h"
#include "runtime/text/JsonFile.h"
#include "runtime/text/TokenizerParts.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace llmc {

namespace {

using Json = nlohmann::json;

Status bad(const std::string &What) { return malformedError(What); }

std::optional<bool> flag(const Json &J, const char *Key) {
  auto It = J.find(Key);
  if (It == J.end() || !It->is_boolean())
    return std::nullopt;
  return It->get<bool>();
}

/// A token with a role: its text, or an object with flags. Such tokens are
/// special, whatever the flags say; what is neither is no token.
void readNamed(const Json &J, std::vector<TokenizerFolder::NamedToken> &Out) {
  AddedToken A;
  if (J.is_string()) {
    A.Content = J.get<std::string>();
    A.Normalized = false;
  } else if (J.is_object()) {
    Fields<Json> F(J, "special token");
    A = readAddedToken(F);
    if (!F.status().ok())
      return;
  }
  A.Special = true;
  if (!A.Content.empty())
    Out.push_back({std::move(A), J.is_string()});
}

constexpr UsualTokens KnownClasses[] = {
    {"LlamaTokenizer", "<s>", "</s>", "<unk>", ""},
    {"CodeLlamaTokenizer", "<s>", "</s>", "<unk>", ""},
    {"GemmaTokenizer", "<bos>", "<eos>", "<unk>", "<pad>"},
    {"CohereTokenizer", "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<UNK>", ""},
    {"GPTNeoXTokenizer", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", ""},
    {"GPT2Tokenizer", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", ""},
    {"Qwen2Tokenizer", "", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>"},
    {"BloomTokenizer", "<s>", "</s>", "<unk>", "<pad>"},
    {"T5Tokenizer", "", "</s>", "<unk>", "<pad>"},
};

void addUsualTokens(const Json &J, const std::string &Class,
                    std::vector<TokenizerFolder::NamedToken> &Out) {
  const UsualTokens *K = usualTokens(Class);
  if (!K)
    return;
  const std::pair<const char *, const char *> Usual[] = {{"bos_token", K->Bos},
                                                         {"eos_token", K->Eos},
                                                         {"unk_token", K->Unk},
                                                         {"pad_token", K->Pad}};
  for (const auto &[Key, Text] : Usual)
    if (!J.contains(Key))
      readNamed(Text, Out);
}

void readAllNamed(const Json &J, const std::string &Class,
                  std::vector<TokenizerFolder::NamedToken> &Out) {
  for (const char *Key : {"bos_token", "eos_token", "unk_token", "sep_token",
                          "pad_token", "cls_token", "mask_token"})
    if (J.contains(Key))
      readNamed(J[Key], Out);
  addUsualTokens(J, Class, Out);
  for (const char *Key : {"additional_special_tokens", "extra_special_tokens"})
    if (J.contains(Key) && J[Key].is_structured())
      for (const Json &Entry : J[Key])
        readNamed(Entry, Out);
}

/// {"32000": {"content": "<|user|>", …}}
Status readDecoderMap(const Json &Map, TokenizerFolder &Out) {
  if (!Map.is_object())
    return bad("tokenizer_config.json: added_tokens_decoder is no object");
  for (auto It = Map.begin(); It != Map.end(); ++It) {
    int64_t Id = -1;
    const std::string &Key = It.key();
    std::from_chars_result R =
        std::from_chars(Key.data(), Key.data() + Key.size(), Id);
    if (R.ec != std::errc() || R.ptr != Key.data() + Key.size() || Id < 0 ||
        Id > MaxTokenId)
      return bad("tokenizer_config.json: id of an added token is '" + Key +
                 "', expected 0 to " + std::to_string(MaxTokenId));
    Fields<Json> F(*It, "added token " + Key);
    AddedToken A = readAddedToken(F);
    A.Id = static_cast<int32_t>(Id);
    if (!F.status().ok())
      return bad("tokenizer_config.json: " + F.status().message());
    if (!A.Content.empty())
      Out.Added.push_back(std::move(A));
  }
  return Status::success();
}

/// added_tokens.json: {"<|user|>": 32000}
Status readAddedFile(const Json &Map, TokenizerFolder &Out) {
  if (!Map.is_object())
    return bad("added_tokens.json: is no object");
  for (auto It = Map.begin(); It != Map.end(); ++It) {
    bool Good = It->is_number_integer() && It->get<int64_t>() >= 0 &&
                It->get<int64_t>() <= MaxTokenId && !It.key().empty();
    if (!Good)
      return bad("added_tokens.json: id of '" + It.key() + "' is " +
                 It->dump() + ", expected 0 to " + std::to_string(MaxTokenId));
    if (findAdded(Out.Added, It.key()))
      continue;
    AddedToken A;
    A.Id = It->get<int32_t>();
    A.Content = It.key();
    Out.Added.push_back(std::move(A));
  }
  return Status::success();
}

} // namespace

const UsualTokens *usualTokens(const std::string &Class) {
  for (const UsualTokens &K : KnownClasses)
    if (Class == K.Class)
      return &K;
  return nullptr;
}

const AddedToken *findAdded(const std::vector<AddedToken> &List,
                            const std::string &Text) {
  for (const AddedToken &A : List)
    if (A.Content == Text)
      return &A;
  return nullptr;
}

/// Before there was added_tokens_decoder, special_tokens_map.json had the last
/// word about tokens with a role.
static Status takeOlderMap(const std::string &Folder, Json &Config) {
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Text,
                        readTextFile(Folder, "special_tokens_map.json"));
  if (!Text)
    return Status::success();
  LLMC_ASSIGN_OR_RETURN(Json Map,
                        parseJsonAs<Json>(*Text, "special_tokens_map.json"));
  if (!Map.is_object())
    return bad("special_tokens_map.json: is no object");
  Config.update(Map);
  return Status::success();
}

Result<TokenizerFolder> readTokenizerFolder(const std::string &Folder) {
  TokenizerFolder Out;
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Config,
                        readTextFile(Folder, "tokenizer_config.json"));
  if (Config) {
    LLMC_ASSIGN_OR_RETURN(Json J,
                          parseJsonAs<Json>(*Config, "tokenizer_config.json"));
    if (!J.is_object())
      return bad("tokenizer_config.json: is no object");
    Out.HasConfig = true;
    Out.HasTable = J.contains("added_tokens_decoder");
    if (!Out.HasTable)
      LLMC_RETURN_IF_ERROR(takeOlderMap(Folder, J));
    Out.Class = tokenText(J, "tokenizer_class");
    if (Out.Class.ends_with("Fast"))
      Out.Class.resize(Out.Class.size() - 4);
    Out.Pattern = tokenText(J, "pat_str");
    if (Out.Pattern.empty())
      Out.Pattern = tokenText(J, "pattern");
    Out.Bos = tokenText(J, "bos_token");
    Out.Eos = tokenText(J, "eos_token");
    Out.Unk = tokenText(J, "unk_token");
    Out.AddBos = flag(J, "add_bos_token");
    Out.AddEos = flag(J, "add_eos_token");
    Out.AddPrefixSpace = flag(J, "add_prefix_space");
    Out.LowerCase = flag(J, "do_lower_case");
    Out.StripAccents = flag(J, "strip_accents");
    Out.ChineseChars = flag(J, "tokenize_chinese_chars");
    readAllNamed(J, Out.Class, Out.Named);
    if (Out.HasTable)
      LLMC_RETURN_IF_ERROR(readDecoderMap(J["added_tokens_decoder"], Out));
  }
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Added,
                        readTextFile(Folder, "added_tokens.json"));
  if (Added) {
    LLMC_ASSIGN_OR_RETURN(Json J,
                          parseJsonAs<Json>(*Added, "added_tokens.json"));
    LLMC_RETURN_IF_ERROR(readAddedFile(J, Out));
  }
  std::sort(
      Out.Added.begin(), Out.Added.end(),
      [](const AddedToken &A, const AddedToken &B) { return A.Id < B.Id; });
  return Out;
}

Status addWithIds(TokenizerSource &S, const std::vector<AddedToken> &Added) {
  for (const AddedToken &A : Added) {
    if (S.Tokens.size() <= static_cast<size_t>(A.Id))
      S.Tokens.resize(A.Id + 1);
    TokenizerSource::Token &T = S.Tokens[A.Id];
    if ((T.Flags & KnownToken) && T.Spelling != A.Content)
      return bad("added token '" + A.Content + "' has the id " +
                 std::to_string(A.Id) + " of the token '" + T.Spelling + "'");
    T.Spelling = A.Content;
    T.Flags |= KnownToken | InAdded | (A.Special ? SpecialToken : 0);
    std::erase_if(S.Config.AddedTokens,
                  [&A](const AddedToken &B) { return B.Id == A.Id; });
    S.Config.AddedTokens.push_back(A);
  }
  return Status::success();
}

void frameTexts(TokenizerConfig &C, int32_t Begin, int32_t End) {
  for (int Special = 0; Special < 2; ++Special) {
    auto Put = [&](std::vector<OutputPart> &Out, OutputPart::Kind Text,
                   int32_t Type) {
      if (Special && Begin >= 0)
        Out.push_back({OutputPart::Token, Begin, Type});
      Out.push_back({Text, 0, Type});
      if (Special && End >= 0)
        Out.push_back({OutputPart::Token, End, Type});
    };
    C.Single[Special].clear();
    C.Pair[Special].clear();
    Put(C.Single[Special], OutputPart::First, 0);
    Put(C.Pair[Special], OutputPart::First, 0);
    Put(C.Pair[Special], OutputPart::Second, 1);
  }
}

} // namespace llmc
