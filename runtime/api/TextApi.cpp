// Errors and the text side of llmc.h.
#include "runtime/api/Handles.h"

#include "runtime/base/File.h"
#include "runtime/text/TokenizerCompiler.h"

#include <cstdlib>
#include <filesystem>

using namespace llmc;

namespace {

/// A copy for the caller, zero-terminated.
char *copyText(const std::string &S, size_t *Length) {
  char *P = static_cast<char *>(std::malloc(S.size() + 1));
  if (P == nullptr)
    return nullptr;
  std::memcpy(P, S.c_str(), S.size() + 1);
  if (Length != nullptr)
    *Length = S.size();
  return P;
}

llmc_error *giveText(const std::string &S, char **Out, size_t *Length) {
  char *P = copyText(S, Length);
  if (P == nullptr)
    return toError(doesNotFitError("no memory for a text of " +
                                   std::to_string(S.size()) + " bytes"));
  *Out = P;
  return nullptr;
}

Status loadFolder(const std::string &Path, llmc_tokenizer &Out) {
  LLMC_ASSIGN_OR_RETURN(std::vector<uint8_t> Bytes, compileTokenizer(Path));
  if (Bytes.empty())
    return malformedError(Path + ": no tokenizer; expected tokenizer.json, a "
                                 "SentencePiece or tiktoken model, vocab.json "
                                 "with merges.txt, or vocab.txt");
  LLMC_ASSIGN_OR_RETURN(Tokenizer T, Tokenizer::load(Bytes));
  Out.Vocabulary.emplace(std::move(T));
  LLMC_ASSIGN_OR_RETURN(Out.TemplateSource, compileChatTemplate(Path));
  LLMC_ASSIGN_OR_RETURN(std::string Defaults, compileGenerationDefaults(Path));
  LLMC_ASSIGN_OR_RETURN(Out.Defaults, readGenerationDefaults(Defaults));
  return Status::success();
}

Status needVocabulary(const llmc_tokenizer *T) {
  return T->Vocabulary ? Status::success()
                       : usageError("the artifact has no tokenizer");
}

} // namespace

Status llmc::loadText(std::shared_ptr<const Reader> R, llmc_tokenizer &Out) {
  std::span<const uint8_t> Bytes = R->find(SectionKind::Tokenizer);
  if (!Bytes.empty()) {
    LLMC_ASSIGN_OR_RETURN(Tokenizer T, Tokenizer::borrow(Bytes, R));
    Out.Vocabulary.emplace(std::move(T));
  }
  Out.TemplateSource = textOf(R->find(SectionKind::ChatTemplate));
  LLMC_ASSIGN_OR_RETURN(
      Out.Defaults,
      readGenerationDefaults(textOf(R->find(SectionKind::GenerationDefaults))));
  if (!R->manifest().Model.EosIds.empty())
    Out.Defaults.EosIds = R->manifest().Model.EosIds;
  return Status::success();
}

llmc_error *llmc::outOfMemory() {
  // Short enough to stay inside the string object.
  static llmc_error Shared{doesNotFitError("out of memory")};
  return &Shared;
}

uint32_t llmc_api_version(void) { return LLMC_API_VERSION; }
void llmc_free(void *Memory) { std::free(Memory); }

llmc_code llmc_error_code(const llmc_error *E) {
  return static_cast<llmc_code>(E->S.code());
}
const char *llmc_error_message(const llmc_error *E) {
  return E->S.message().c_str();
}
size_t llmc_error_note_count(const llmc_error *E) {
  return E->S.notes().size();
}
const char *llmc_error_note(const llmc_error *E, size_t I) {
  return I < E->S.notes().size() ? E->S.notes()[I].c_str() : nullptr;
}
void llmc_error_destroy(llmc_error *E) {
  if (E != outOfMemory())
    delete E;
}

llmc_error *llmc_tokenizer_load(const char *Path, llmc_tokenizer **Out) {
  return guarded([&]() -> llmc_error * {
    if (!Path || !Out)
      return toError(usageError("path or out is null"));
    std::unique_ptr<llmc_tokenizer> T = std::make_unique<llmc_tokenizer>();
    std::error_code Error;
    const std::string Ending = std::filesystem::path(Path).extension().string();
    bool Folder = std::filesystem::is_directory(Path, Error) ||
                  Ending == ".json" || Ending == ".model" ||
                  Ending == ".tiktoken";
    if (Folder) {
      if (llmc_error *E = toError(loadFolder(Path, *T)))
        return E;
    } else {
      Result<std::unique_ptr<Reader>> R = Reader::open(Path);
      if (!R.ok())
        return toError(R.takeStatus());
      if (llmc_error *E = toError(loadText(R.take(), *T)))
        return E;
    }
    *Out = T.release();
    return nullptr;
  });
}
void llmc_tokenizer_destroy(llmc_tokenizer *T) { delete T; }

bool llmc_tokenizer_has_vocabulary(const llmc_tokenizer *T) {
  return T->Vocabulary.has_value();
}
bool llmc_tokenizer_has_template(const llmc_tokenizer *T) {
  return !T->TemplateSource.empty();
}

llmc_error *llmc_tokenizer_encode(const llmc_tokenizer *T, const char *Text,
                                  size_t Length, uint32_t Flags, int32_t **Ids,
                                  size_t *Count) {
  return guarded([&]() -> llmc_error * {
    if (llmc_error *E = toError(needVocabulary(T)))
      return E;
    EncodeOptions O;
    O.AddSpecial = (Flags & LLMC_NO_SPECIAL) == 0;
    O.SpecialAsText = (Flags & LLMC_SPECIAL_AS_TEXT) != 0;
    Result<std::vector<int32_t>> R =
        T->Vocabulary->encode(std::string_view(Text, Length), O);
    if (!R.ok())
      return toError(R.takeStatus());
    size_t Bytes = R->size() * sizeof(int32_t);
    int32_t *P = static_cast<int32_t *>(std::malloc(Bytes + 1));
    if (P == nullptr)
      return toError(doesNotFitError("no memory for " +
                                     std::to_string(R->size()) + " tokens"));
    if (Bytes != 0)
      std::memcpy(P, R->data(), Bytes);
    *Ids = P;
    *Count = R->size();
    return nullptr;
  });
}

llmc_error *llmc_tokenizer_decode(const llmc_tokenizer *T, const int32_t *Ids,
                                  size_t Count, bool SkipSpecial, char **Text,
                                  size_t *Length) {
  return guarded([&]() -> llmc_error * {
    if (llmc_error *E = toError(needVocabulary(T)))
      return E;
    return giveText(T->Vocabulary->decode({Ids, Count}, SkipSpecial), Text,
                    Length);
  });
}

llmc_error *llmc_tokenizer_spelling(const llmc_tokenizer *T, int32_t Id,
                                    char **Text) {
  return guarded([&]() -> llmc_error * {
    if (llmc_error *E = toError(needVocabulary(T)))
      return E;
    return giveText(T->Vocabulary->spellingOf(Id), Text, nullptr);
  });
}

llmc_error *llmc_tokenizer_render_chat(const llmc_tokenizer *T,
                                       const llmc_chat *Chat, char **Text,
                                       size_t *Length) {
  return guarded([&]() -> llmc_error * {
    llmc_chat In = copyOptions(Chat);
    if (T->TemplateSource.empty())
      return toError(usageError("the artifact has no chat template"));
    if (In.messages_json == nullptr)
      return toError(usageError("messages_json is null"));
    // Compiled here and not at load: most loads never render.
    Result<ChatTemplate> C = ChatTemplate::compile(T->TemplateSource);
    if (!C.ok())
      return toError(C.takeStatus());
    auto View = [](const char *S) { return std::string_view(S ? S : ""); };
    Result<std::string> V = chatVariables(
        {In.messages_json, View(In.tools_json), View(In.documents_json),
         View(In.variables_json), !In.no_generation_prompt},
        T->Defaults);
    if (!V.ok())
      return toError(V.takeStatus());
    Result<std::string> R = C->render(*V);
    return R.ok() ? giveText(*R, Text, Length) : toError(R.takeStatus());
  });
}
llmc_error *llmc_tokenizer_render(const llmc_tokenizer *T, const char *Messages,
                                  const char *Tools, bool AddGenerationPrompt,
                                  char **Text, size_t *Length) {
  llmc_chat Chat{};
  Chat.struct_size = sizeof(Chat);
  Chat.messages_json = Messages;
  Chat.tools_json = Tools;
  Chat.no_generation_prompt = !AddGenerationPrompt;
  return llmc_tokenizer_render_chat(T, &Chat, Text, Length);
}
