// Reads tokenizer.json and reduces its components to TokenizerData. The file
// is a stranger's: each access checks the kind of value, each number its
// range, and what is not known is refused by name instead of ignored.
#include "runtime/text/TokenizerCompiler.h"

#include "runtime/text/ByteLevel.h"
#include "runtime/text/JsonFile.h"
#include "runtime/text/SplitRegex.h"
#include "runtime/text/TokenizerImage.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace llmc {

namespace {

using Json = nlohmann::json;

constexpr const char *Gpt2Pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
    "\\s+(?!\\S)|\\s+";
constexpr const char *PunctuationPattern = "[\\p{P}!-/:-@\\[-`{-~]";
constexpr int64_t MaxId = (1 << 24) - 1;

Status bad(const std::string &What) {
  return malformedError("tokenizer.json: " + What);
}
Status missing(const std::string &Component) {
  return unsupportedError("tokenizer.json: " + Component +
                          " is not implemented");
}

/// Members of an object with a default for absent and null.
std::string textOr(const Json &J, const char *Key, const char *Default) {
  auto It = J.find(Key);
  return It != J.end() && It->is_string() ? It->get<std::string>() : Default;
}
bool flagOr(const Json &J, const char *Key, bool Default) {
  auto It = J.find(Key);
  return It != J.end() && It->is_boolean() ? It->get<bool>() : Default;
}
const Json *present(const Json &J, const char *Key) {
  auto It = J.find(Key);
  return It != J.end() && !It->is_null() ? &*It : nullptr;
}

/// Fills a TokenizerData from the parsed file, part by part.
class Compiler {
public:
  explicit Compiler(const Json &Root) : Root(Root) {}
  Result<TokenizerData> run();

private:
  Status readModel();
  Status checkModel(const Json &Model);
  Status readVocab(const Json &Vocab);
  Status readMerges(const Json &Merges);
  Status readAdded();
  Status readNormalizer(const Json &N);
  Status readPreTokenizer(const Json &P, bool &ByteLevel);
  Status readSplit(const Json &P);
  Status readPostProcessor(const Json &P);
  Status readTemplate(const Json &P);
  Status readDecoder(const Json &D);
  Status addSplit(std::string Pattern, SplitBehavior B, bool Invert);
  void layOutTokens();

  const Json &Root;
  TokenizerData D;
  std::unordered_map<std::string, int32_t> Ids; ///< by spelling
  std::map<int32_t, std::string> Spellings;     ///< by id, model and added
};

Status Compiler::checkModel(const Json &Model) {
  std::string Type = textOr(Model, "type", "BPE");
  if (Type != "BPE")
    return missing("model type " + Type);
  if (flagOr(Model, "byte_fallback", false))
    return missing("byte_fallback of the BPE model");
  for (const char *Key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!textOr(Model, Key, "").empty())
      return missing(std::string(Key) + " of the BPE model");
  return Status::success();
}

Status Compiler::readVocab(const Json &Vocab) {
  if (!Vocab.is_object() || Vocab.empty())
    return bad("model.vocab is not an object of tokens");
  for (auto It = Vocab.begin(); It != Vocab.end(); ++It) {
    if (!It->is_number_integer() || It->get<int64_t>() < 0 ||
        It->get<int64_t>() > MaxId)
      return bad("id of token '" + It.key() + "' is " + It->dump() +
                 ", expected 0 to " + std::to_string(MaxId));
    int32_t Id = It->get<int32_t>();
    Ids.emplace(It.key(), Id);
    if (!Spellings.emplace(Id, It.key()).second)
      return bad("tokens '" + Spellings[Id] + "' and '" + It.key() +
                 "' have the same id " + std::to_string(Id));
  }
  return Status::success();
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
  if (Space == std::string::npos)
    return false;
  Left = S.substr(0, Space);
  Right = S.substr(Space + 1);
  return true;
}

Status Compiler::readMerges(const Json &Merges) {
  if (!Merges.is_array())
    return bad("model.merges is not a list");
  std::map<std::pair<int32_t, int32_t>, Merge> Sorted;
  uint32_t Rank = 0;
  std::string Left, Right;
  for (const Json &M : Merges) {
    if (!readPair(M, Left, Right))
      return bad("merge " + std::to_string(Rank) + " is not a pair of tokens");
    int32_t Id[3] = {};
    const std::string Names[3] = {Left, Right, Left + Right};
    for (int I = 0; I < 3; ++I) {
      auto It = Ids.find(Names[I]);
      if (It == Ids.end())
        return bad("merge " + std::to_string(Rank) + " names '" + Names[I] +
                   "', which is not in the vocabulary");
      Id[I] = It->second;
    }
    Sorted.insert_or_assign({Id[0], Id[1]}, Merge{Id[1], Rank, Id[2]});
    ++Rank;
  }
  std::vector<uint32_t> Count(Spellings.rbegin()->first + 1, 0);
  for (const auto &[Pair, M] : Sorted) {
    ++Count[Pair.first];
    D.Merges.push_back(M);
  }
  D.MergeBegin.assign(1, 0);
  for (uint32_t N : Count)
    D.MergeBegin.push_back(D.MergeBegin.back() + N);
  return Status::success();
}

Status Compiler::readModel() {
  const Json *Model = present(Root, "model");
  if (Model == nullptr || !Model->is_object())
    return bad("has no model");
  LLMC_RETURN_IF_ERROR(checkModel(*Model));
  const Json *Vocab = present(*Model, "vocab");
  const Json *Merges = present(*Model, "merges");
  if (Vocab == nullptr || Merges == nullptr)
    return bad("model has no vocab or no merges");
  LLMC_RETURN_IF_ERROR(readVocab(*Vocab));
  LLMC_RETURN_IF_ERROR(readMerges(*Merges));
  bool AllBytes = true;
  for (unsigned B = 0; B < 256; ++B) {
    char C = static_cast<char>(B);
    auto It = Ids.find(bytesToByteLevel(std::string_view(&C, 1)));
    D.ByteId[B] = It == Ids.end() ? -1 : It->second;
    AllBytes &= D.ByteId[B] >= 0;
  }
  if (!AllBytes && present(*Model, "unk_token") != nullptr)
    return missing("unk_token of a BPE model that lacks some bytes");
  if (!flagOr(*Model, "ignore_merges", false))
    return Status::success();
  std::vector<std::pair<std::string, int32_t>> Whole;
  for (const auto &[Id, Spelling] : Spellings)
    if (std::optional<std::string> Bytes = byteLevelToBytes(Spelling))
      Whole.emplace_back(std::move(*Bytes), Id);
  std::sort(Whole.begin(), Whole.end());
  for (const auto &[Bytes, Id] : Whole)
    D.ByText.push_back(Id);
  return Status::success();
}

Status Compiler::readAdded() {
  const Json *List = present(Root, "added_tokens");
  if (List == nullptr)
    return Status::success();
  if (!List->is_array())
    return bad("added_tokens is not a list");
  for (const Json &J : *List) {
    const Json *Id = J.is_object() ? present(J, "id") : nullptr;
    AddedToken A;
    A.Content = J.is_object() ? textOr(J, "content", "") : "";
    if (Id == nullptr || !Id->is_number_integer() || Id->get<int64_t>() < 0 ||
        Id->get<int64_t>() > MaxId)
      return bad("added token '" + A.Content + "' has no id from 0 to " +
                 std::to_string(MaxId));
    if (A.Content.empty())
      continue;
    A.Id = Id->get<int32_t>();
    A.Special = flagOr(J, "special", false);
    A.Normalized = flagOr(J, "normalized", !A.Special);
    A.LStrip = flagOr(J, "lstrip", false);
    A.RStrip = flagOr(J, "rstrip", false);
    A.SingleWord = flagOr(J, "single_word", false);
    Spellings[A.Id] = A.Content;
    D.AddedTokens.push_back(std::move(A));
  }
  return Status::success();
}

Status Compiler::readNormalizer(const Json &N) {
  std::string Type = N.is_object() ? textOr(N, "type", "?") : "?";
  if (Type == "Sequence") {
    const Json *List = present(N, "normalizers");
    if (List == nullptr || !List->is_array())
      return bad("normalizer Sequence has no list");
    for (const Json &J : *List) {
      if (J.is_object() && textOr(J, "type", "") == "Sequence")
        return missing("a normalizer Sequence inside a Sequence");
      LLMC_RETURN_IF_ERROR(readNormalizer(J));
    }
    return Status::success();
  }
  static const std::pair<const char *, NormalForm> Forms[] = {
      {"NFC", NormalForm::C},
      {"NFD", NormalForm::D},
      {"NFKC", NormalForm::KC},
      {"NFKD", NormalForm::KD}};
  for (const auto &[Name, Form] : Forms)
    if (Type == Name) {
      D.Normalizers.push_back(Form);
      return Status::success();
    }
  return missing("normalizer " + Type);
}

Status Compiler::addSplit(std::string Pattern, SplitBehavior B, bool Invert) {
  Result<SplitRegex> R = SplitRegex::compile(Pattern);
  if (!R.ok())
    return bad("pre_tokenizer: " + R.status().message());
  D.PreSteps.push_back({PreStep::Split, B, Invert, std::move(Pattern)});
  return Status::success();
}

Result<SplitBehavior> behaviorOf(const Json &P, const char *Default) {
  std::string Name = textOr(P, "behavior", Default);
  static const std::pair<const char *, SplitBehavior> Names[] = {
      {"Isolated", SplitBehavior::Isolated},
      {"Removed", SplitBehavior::Removed},
      {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
      {"MergedWithNext", SplitBehavior::MergedWithNext},
      {"Contiguous", SplitBehavior::Contiguous}};
  for (const auto &[Known, B] : Names)
    if (Name == Known)
      return B;
  return missing("split behavior " + Name);
}

/// A pattern that matches the text itself.
std::string quote(const std::string &Text) {
  std::string Out;
  for (char C : Text) {
    if (static_cast<unsigned char>(C) < 0x80 && !std::isalnum(C))
      Out.push_back('\\');
    Out.push_back(C);
  }
  return Out;
}

Status Compiler::readSplit(const Json &P) {
  const Json *Pattern = present(P, "pattern");
  std::string Regex;
  if (Pattern != nullptr && Pattern->is_object()) {
    if (Pattern->contains("String"))
      Regex = quote(textOr(*Pattern, "String", ""));
    else
      Regex = textOr(*Pattern, "Regex", "");
  }
  if (Regex.empty())
    return bad("pre_tokenizer Split has no pattern");
  LLMC_ASSIGN_OR_RETURN(SplitBehavior B, behaviorOf(P, "Isolated"));
  return addSplit(Regex, B, flagOr(P, "invert", false));
}

Status Compiler::readPreTokenizer(const Json &P, bool &ByteLevel) {
  std::string Type = P.is_object() ? textOr(P, "type", "?") : "?";
  if (ByteLevel)
    return missing("pre_tokenizer " + Type + " after ByteLevel");
  if (Type == "Sequence") {
    const Json *List = present(P, "pretokenizers");
    if (List == nullptr || !List->is_array())
      return bad("pre_tokenizer Sequence has no list");
    for (const Json &J : *List) {
      if (J.is_object() && textOr(J, "type", "") == "Sequence")
        return missing("a pre_tokenizer Sequence inside a Sequence");
      LLMC_RETURN_IF_ERROR(readPreTokenizer(J, ByteLevel));
    }
    return Status::success();
  }
  if (Type == "Split")
    return readSplit(P);
  if (Type == "Digits")
    return addSplit(flagOr(P, "individual_digits", false) ? "\\p{N}"
                                                          : "\\p{N}+",
                    SplitBehavior::Isolated, false);
  if (Type == "Punctuation") {
    LLMC_ASSIGN_OR_RETURN(SplitBehavior B, behaviorOf(P, "Isolated"));
    return addSplit(PunctuationPattern, B, false);
  }
  if (Type != "ByteLevel")
    return missing("pre_tokenizer " + Type);
  ByteLevel = true;
  if (flagOr(P, "add_prefix_space", true))
    D.PreSteps.push_back({PreStep::PrefixSpace, {}, false, ""});
  if (flagOr(P, "use_regex", true))
    return addSplit(Gpt2Pattern, SplitBehavior::Isolated, false);
  return Status::success();
}

Status Compiler::readTemplate(const Json &P) {
  const Json *Single = present(P, "single");
  const Json *Specials = present(P, "special_tokens");
  if (Single == nullptr || !Single->is_array())
    return bad("TemplateProcessing has no list 'single'");
  bool Behind = false;
  for (const Json &Part : *Single) {
    const Json *Token =
        Part.is_object() ? present(Part, "SpecialToken") : nullptr;
    if (Token == nullptr) {
      if (Behind)
        return bad("TemplateProcessing names the text twice");
      Behind = true;
      continue;
    }
    std::string Name = Token->is_object() ? textOr(*Token, "id", "") : "";
    const Json *Entry =
        Specials && Specials->is_object() && Specials->contains(Name)
            ? present((*Specials)[Name], "ids")
            : nullptr;
    if (Entry == nullptr || !Entry->is_array())
      return bad("TemplateProcessing has no ids for '" + Name + "'");
    for (const Json &Id : *Entry) {
      if (!Id.is_number_integer() || Id.get<int64_t>() < 0 ||
          Id.get<int64_t>() > MaxId)
        return bad("TemplateProcessing: id of '" + Name + "' is " + Id.dump());
      (Behind ? D.Suffix : D.Prefix).push_back(Id.get<int32_t>());
    }
  }
  return Status::success();
}

Status Compiler::readPostProcessor(const Json &P) {
  std::string Type = P.is_object() ? textOr(P, "type", "?") : "?";
  if (Type == "ByteLevel") // moves offsets only
    return Status::success();
  if (Type == "TemplateProcessing")
    return readTemplate(P);
  if (Type != "Sequence")
    return missing("post_processor " + Type);
  const Json *List = present(P, "processors");
  if (List == nullptr || !List->is_array())
    return bad("post_processor Sequence has no list");
  for (const Json &J : *List) {
    if (J.is_object() && textOr(J, "type", "") == "Sequence")
      return missing("a post_processor Sequence inside a Sequence");
    LLMC_RETURN_IF_ERROR(readPostProcessor(J));
  }
  return Status::success();
}

Status Compiler::readDecoder(const Json &J) {
  std::string Type = J.is_object() ? textOr(J, "type", "?") : "?";
  if (Type == "Sequence") {
    const Json *List = present(J, "decoders");
    if (List != nullptr && List->is_array() && List->size() == 1)
      return readDecoder((*List)[0]);
  }
  return Type == "ByteLevel" ? Status::success() : missing("decoder " + Type);
}

void Compiler::layOutTokens() {
  size_t Vocab = static_cast<size_t>(Spellings.rbegin()->first) + 1;
  D.Flags.assign(Vocab, 0);
  D.TextBegin.assign(1, 0);
  D.MergeBegin.resize(Vocab + 1, D.MergeBegin.back());
  auto Next = Spellings.begin();
  for (size_t Id = 0; Id < Vocab; ++Id) {
    if (Next != Spellings.end() && Next->first == static_cast<int32_t>(Id)) {
      std::optional<std::string> Bytes = byteLevelToBytes(Next->second);
      D.Flags[Id] = TokenizerData::Known | (Bytes ? 0 : TokenizerData::Plain);
      D.Text += Bytes ? *Bytes : Next->second;
      ++Next;
    }
    D.TextBegin.push_back(static_cast<uint32_t>(D.Text.size()));
  }
  for (const AddedToken &A : D.AddedTokens)
    D.Flags[A.Id] |=
        TokenizerData::Added | (A.Special ? TokenizerData::Special : 0);
}

Result<TokenizerData> Compiler::run() {
  if (!Root.is_object())
    return bad("is not an object");
  LLMC_RETURN_IF_ERROR(readModel());
  LLMC_RETURN_IF_ERROR(readAdded());
  if (const Json *N = present(Root, "normalizer"))
    LLMC_RETURN_IF_ERROR(readNormalizer(*N));
  bool ByteLevel = false;
  if (const Json *P = present(Root, "pre_tokenizer"))
    LLMC_RETURN_IF_ERROR(readPreTokenizer(*P, ByteLevel));
  if (!ByteLevel)
    return missing("a BPE model without the ByteLevel pre_tokenizer");
  if (const Json *P = present(Root, "post_processor"))
    LLMC_RETURN_IF_ERROR(readPostProcessor(*P));
  if (const Json *Dec = present(Root, "decoder"))
    LLMC_RETURN_IF_ERROR(readDecoder(*Dec));
  else
    return missing("a ByteLevel pre_tokenizer without a decoder");
  layOutTokens();
  return std::move(D);
}

} // namespace

Result<std::vector<uint8_t>> compileTokenizerJson(std::string_view Text) {
  LLMC_ASSIGN_OR_RETURN(Json Root, parseJsonAs<Json>(Text, "tokenizer.json"));
  LLMC_ASSIGN_OR_RETURN(TokenizerData D, Compiler(Root).run());
  std::vector<uint8_t> Bytes = writeTokenizerImage(D);
  // What we write we must be able to read.
  Result<TokenizerData> Back = readTokenizerImage(Bytes);
  if (!Back.ok())
    return bad(Back.status().message());
  return Bytes;
}

Result<std::vector<uint8_t>> compileTokenizer(const std::string &Folder) {
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Text,
                        readTextFile(Folder, "tokenizer.json"));
  if (!Text)
    return std::vector<uint8_t>();
  return compileTokenizerJson(*Text);
}

} // namespace llmc
