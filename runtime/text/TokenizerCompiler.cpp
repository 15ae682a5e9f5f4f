// Reads tokenizer.json: the model and the added tokens here, the other
// components in files of their own. The file is a stranger's: each access
// checks the kind of value, each number its range, and what is not known is
// refused by name instead of ignored.
#include "runtime/text/TokenizerCompiler.h"

#include "runtime/text/AddedTokenJson.h"
#include "runtime/text/ConfiguredTokenizer.h"
#include "runtime/text/JsonFields.h"
#include "runtime/text/JsonFile.h"
#include "runtime/text/TokenizerFiles.h"
#include "runtime/text/TokenizerParts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace llmc {

namespace {

using Json = nlohmann::json;

Status bad(const std::string &What) {
  return malformedError("tokenizer.json: " + What);
}

/// Fills a TokenizerSource from the parsed file, part by part.
class Compiler {
public:
  Compiler(const Json &Root, const TokenizerFolder &Folder)
      : Root(Root), Folder(Folder) {}
  Result<TokenizerSource> run();

private:
  Status readModel(const Json &Model);
  Status readVocab(const Json &Vocab);
  Status readScores(Fields<Json> &F, const Json &Vocab);
  Status readMerges(const Json &Merges, const TokenIndex &Index);
  Status readBpe(Fields<Json> &F);
  Status readAdded();
  Status put(int64_t Id, const std::string &Spelling);
  std::string partText(const char *Key) const {
    auto It = Root.find(Key);
    return It == Root.end() || It->is_null() ? "" : It->dump();
  }

  const Json &Root;
  const TokenizerFolder &Folder;
  TokenizerSource S;
  size_t ModelSize = 0;
};

/// A token of the model.
Status Compiler::put(int64_t Id, const std::string &Spelling) {
  if (S.Tokens.size() <= static_cast<size_t>(Id))
    S.Tokens.resize(Id + 1);
  TokenizerSource::Token &T = S.Tokens[Id];
  if (T.Flags != 0)
    return bad("tokens '" + T.Spelling + "' and '" + Spelling +
               "' have the same id " + std::to_string(Id));
  T.Spelling = Spelling;
  T.Flags = KnownToken | InModel;
  ++ModelSize;
  return Status::success();
}

Status Compiler::readVocab(const Json &Vocab) {
  if (!Vocab.is_object() || Vocab.empty())
    return bad("model.vocab is not an object of tokens");
  for (auto It = Vocab.begin(); It != Vocab.end(); ++It) {
    if (!It->is_number_integer() || It->get<int64_t>() < 0 ||
        It->get<int64_t>() > MaxTokenId)
      return bad("id of token '" + It.key() + "' is " + It->dump() +
                 ", expected 0 to " + std::to_string(MaxTokenId));
    LLMC_RETURN_IF_ERROR(put(It->get<int64_t>(), It.key()));
  }
  return Status::success();
}

/// The list of pieces and scores of a Unigram model.
Status Compiler::readScores(Fields<Json> &F, const Json &Vocab) {
  if (!Vocab.is_array() || Vocab.empty())
    return bad("model.vocab is not a list of pieces and scores");
  double Least = INFINITY;
  for (const Json &Entry : Vocab) {
    bool Good = Entry.is_array() && Entry.size() == 2 && Entry[0].is_string() &&
                Entry[1].is_number();
    if (!Good || S.Tokens.size() > static_cast<size_t>(MaxTokenId))
      return bad("piece " + std::to_string(S.Tokens.size()) +
                 " of model.vocab is not a text and a score");
    LLMC_RETURN_IF_ERROR(put(static_cast<int64_t>(S.Tokens.size()),
                             Entry[0].get<std::string>()));
    S.Tokens.back().Score = Entry[1].get<double>();
    Least = std::min(Least, S.Tokens.back().Score);
  }
  S.Config.UnkScore = Least - 10;
  S.Config.FuseUnk = true;
  S.Config.ByteFallback = F.flag("byte_fallback", false);
  S.Config.UnkId = static_cast<int32_t>(
      F.number("unk_id", -1, 0, static_cast<int64_t>(S.Tokens.size()) - 1));
  return F.status();
}

/// Both spellings of a merge: "a b" and ["a", "b"].
bool readPair(const Json &M, std::string &Left, std::string &Right) {
  if (M.is_array() && M.size() == 2 && M[0].is_string() && M[1].is_string()) {
    Left = M[0].get<std::string>();
    Right = M[1].get<std::string>();
    return true;
  }
  if (!M.is_string())
    return false;
  const std::string &S = M.get_ref<const std::string &>();
  size_t Space = S.find(' ');
  if (Space == std::string::npos || S.find(' ', Space + 1) != std::string::npos)
    return false;
  Left = S.substr(0, Space);
  Right = S.substr(Space + 1);
  return true;
}

Status Compiler::readMerges(const Json &Merges, const TokenIndex &Index) {
  if (!Merges.is_array())
    return bad("model.merges is not a list");
  uint32_t Rank = 0;
  std::string Left, Right;
  const size_t Prefix = S.Config.Prefix.size();
  S.Merges.reserve(Merges.size());
  for (const Json &M : Merges) {
    if (M.is_string() &&
        M.get_ref<const std::string &>().starts_with("#version"))
      continue;
    if (!readPair(M, Left, Right))
      return bad("merge " + std::to_string(Rank) + " is not a pair of tokens");
    if (Right.size() < Prefix)
      return bad("merge " + std::to_string(Rank) + " has the right side '" +
                 Right + "', shorter than the prefix '" + S.Config.Prefix +
                 "'");
    int32_t Id[3] = {};
    const std::string Names[3] = {Left, Right, Left + Right.substr(Prefix)};
    for (int I = 0; I < 3; ++I) {
      Id[I] = Index.find(Names[I]);
      if (Id[I] < 0)
        return bad("merge " + std::to_string(Rank) + " names '" + Names[I] +
                   "', which is not in the vocabulary");
    }
    S.Merges.push_back({Id[0], Id[1], Rank, Id[2]});
    ++Rank;
  }
  return Status::success();
}

/// Options of a BPE model. With dropout the reference leaves out merges by
/// chance, at run time too.
Status Compiler::readBpe(Fields<Json> &F) {
  TokenizerConfig &C = S.Config;
  C.Model = ModelKind::Bpe;
  C.ByteFallback = F.flag("byte_fallback", false);
  C.FuseUnk = F.flag("fuse_unk", false);
  C.IgnoreMerges = F.flag("ignore_merges", false);
  C.Prefix = F.text("continuing_subword_prefix", "");
  C.Suffix = F.text("end_of_word_suffix", "");
  std::string Unknown = F.text("unk_token", "");
  if (const Json *D = F.get("dropout"); D != nullptr && !D->is_null())
    if (!D->is_number() || D->get<double>() != 0)
      return bad("dropout is " + D->dump() +
                 ", expected null or 0: merges would be left out by chance");
  const Json *Merges = F.need("merges", "a list");
  LLMC_RETURN_IF_ERROR(F.status());
  TokenIndex Index(S);
  if (F.get("unk_token") != nullptr)
    C.UnkId = Index.find(Unknown);
  return readMerges(*Merges, Index);
}

/// Files without a type tell it by their members.
std::string typeOf(Fields<Json> &F) {
  if (F.get("type") != nullptr)
    return F.text("type", "?");
  const Json *Vocab = F.get("vocab");
  if (F.get("merges") != nullptr)
    return "BPE";
  if (Vocab != nullptr && Vocab->is_array())
    return "Unigram";
  return F.get("max_input_chars_per_word") != nullptr ? "WordPiece"
                                                      : "WordLevel";
}

Status Compiler::readModel(const Json &Model) {
  Fields<Json> F(Model, "model");
  LLMC_RETURN_IF_ERROR(F.status());
  std::string Type = typeOf(F);
  LLMC_RETURN_IF_ERROR(F.status());
  TokenizerConfig &C = S.Config;
  if (Type != "BPE" && Type != "Unigram" && Type != "WordPiece" &&
      Type != "WordLevel")
    return unsupportedError("tokenizer.json: model type " + Type +
                            " is not implemented");
  const Json *Vocab = F.need("vocab", "the tokens");
  LLMC_RETURN_IF_ERROR(F.status());
  if (Type == "Unigram") {
    C.Model = ModelKind::Unigram;
    return readScores(F, *Vocab);
  }
  LLMC_RETURN_IF_ERROR(readVocab(*Vocab));
  if (Type == "BPE")
    return readBpe(F);
  C.Model = Type == "WordPiece" ? ModelKind::WordPiece : ModelKind::WordLevel;
  C.UnkId = TokenIndex(S).find(
      F.text("unk_token", Type == "WordPiece" ? "[UNK]" : "<unk>"));
  if (C.Model == ModelKind::WordPiece) {
    C.Prefix = F.text("continuing_subword_prefix", "##");
    C.MaxChars = static_cast<uint32_t>(
        F.number("max_input_chars_per_word", 100, 0, UINT32_MAX));
  }
  return F.status();
}

Status Compiler::readAdded() {
  AddedNumbering Numbering(S, ModelSize);
  auto It = Root.find("added_tokens");
  const Json None = Json::array();
  const Json &List = It == Root.end() || It->is_null() ? None : *It;
  if (!List.is_array())
    return bad("added_tokens is not a list");
  for (const Json &J : List) {
    Fields<Json> F(J, "added token");
    F.need("id", "a number");
    AddedToken A = readAddedToken(F);
    A.Id = static_cast<int32_t>(F.number("id", 0, 0, MaxTokenId));
    LLMC_RETURN_IF_ERROR(F.status());
    if (!A.Content.empty())
      LLMC_RETURN_IF_ERROR(Numbering.add(std::move(A)));
  }
  return configureAdded(S, Numbering, Folder);
}

/// An unknown token that a text may ask for must exist.
Status checkUnknown(const Json &Model, const TokenizerConfig &C,
                    const TokenIndex &Index) {
  auto It = Model.find("unk_token");
  if (C.Model != ModelKind::Bpe || C.UnkId >= 0 || It == Model.end() ||
      !It->is_string())
    return Status::success();
  bool Bytes = !C.PreSteps.empty() && C.PreSteps.back().What == PreStep::Bytes;
  if (Bytes || (C.ByteFallback && Index.find("<0x00>") >= 0))
    return Status::success();
  return bad("unk_token '" + It->get<std::string>() +
             "' is not in the vocabulary");
}

Result<TokenizerSource> Compiler::run() {
  if (!Root.is_object())
    return bad("is not an object");
  auto Model = Root.find("model");
  if (Model == Root.end() || !Model->is_object())
    return bad("has no model");
  LLMC_RETURN_IF_ERROR(readModel(*Model));
  TokenizerConfig &C = S.Config;
  LLMC_ASSIGN_OR_RETURN(C.Normalizers, readNormalizer(configureNormalizer(
                                           partText("normalizer"), Folder)));
  LLMC_ASSIGN_OR_RETURN(C.PreSteps, readPreTokenizer(configurePreTokenizer(
                                        partText("pre_tokenizer"), Folder)));
  LLMC_ASSIGN_OR_RETURN(C.Decoders, readDecoder(partText("decoder")));
  LLMC_RETURN_IF_ERROR(checkUnknown(*Model, C, TokenIndex(S)));
  LLMC_RETURN_IF_ERROR(readPostProcessor(partText("post_processor"), C));
  LLMC_RETURN_IF_ERROR(readAdded());
  configureFrame(S, Folder);
  return std::move(S);
}

} // namespace

static Result<std::vector<uint8_t>> compileJson(std::string_view Text,
                                                const TokenizerFolder &Folder) {
  LLMC_ASSIGN_OR_RETURN(Json Root, parseJsonAs<Json>(Text, "tokenizer.json"));
  LLMC_ASSIGN_OR_RETURN(TokenizerSource S, Compiler(Root, Folder).run());
  Result<std::vector<uint8_t>> Bytes = finishTokenizer(std::move(S));
  if (!Bytes.ok())
    return bad(Bytes.status().message());
  return Bytes;
}

Result<std::vector<uint8_t>> compileTokenizerJson(std::string_view Text) {
  return compileJson(Text, TokenizerFolder());
}

Result<std::vector<uint8_t>> compileTokenizer(const std::string &Folder) {
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Text,
                        readTextFile(Folder, "tokenizer.json"));
  if (!Text)
    return compileOtherTokenizer(Folder);
  std::error_code Error;
  if (!std::filesystem::is_directory(Folder, Error)) // the file itself
    return compileTokenizerJson(*Text);
  LLMC_ASSIGN_OR_RETURN(TokenizerFolder Settings, readTokenizerFolder(Folder));
  return compileJson(*Text, Settings);
}

} // namespace llmc
