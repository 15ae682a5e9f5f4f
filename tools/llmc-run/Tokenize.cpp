// llmc tokenize and llmc render: the text side alone, no device.
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

namespace llmcrun {

namespace {

struct TokenizeFlags {
  std::string Resource, Text, Decode;
  bool HasText = false, HasDecode = false, Json = false, NoSpecial = false;
};

void decode(const TokenizeFlags &F, const llmc::Text &T) {
  std::vector<int32_t> Ids = parseIds(F.Decode);
  for (int32_t Id : Ids)
    if (T.spelling(Id).empty())
      std::fprintf(stderr,
                   "llmc: warning: token %d is not in the vocabulary and gives "
                   "no text\n",
                   Id);
  std::string Text = T.decode(Ids, F.NoSpecial);
  if (F.Json) {
    llmc::JsonWriter W;
    W.beginObject().member("text", Text).endObject();
    Text = W.text();
  }
  Text += '\n'; // it may hold NUL
  std::fwrite(Text.data(), 1, Text.size(), stdout);
}

void tokenize(const TokenizeFlags &F) {
  checkCompiled(F.Resource, true);
  llmc::Text T = llmc::Text::load(F.Resource);
  if (!T.hasVocabulary())
    usage(F.Resource + ": has no tokenizer");
  if (F.HasDecode && F.HasText)
    usage("a text and --decode exclude each other");
  if (F.HasDecode)
    return decode(F, T);
  std::string Text = F.HasText && F.Text != "-" ? F.Text : readStandardInput();
  std::vector<int32_t> Ids = T.encode(Text, F.NoSpecial ? LLMC_NO_SPECIAL : 0);
  llmc::JsonWriter W;
  W.beginObject();
  W.list("ids", Ids);
  W.key("tokens").beginArray();
  for (int32_t Id : Ids)
    W.value(T.spelling(Id));
  W.endArray().endObject();
  if (F.Json) {
    std::printf("%s\n", W.text().c_str());
    return;
  }
  for (size_t I = 0; I < Ids.size(); ++I)
    std::printf(I == 0 ? "%d" : ",%d", Ids[I]);
  std::printf("\n");
}

struct RenderFlags {
  std::string Resource, Messages, Tools, Documents, Variables;
  bool NoPrompt = false;
};

} // namespace

void addTokenize(CLI::App &App) {
  CLI::App *C = App.add_subcommand("tokenize", "text to token ids, or back");
  std::shared_ptr<TokenizeFlags> F = std::make_shared<TokenizeFlags>();
  C->add_option("resource", F->Resource, "artifact, or folder of a model")
      ->required();
  CLI::Option *Text =
      C->add_option("text", F->Text, "- or none reads standard input");
  CLI::Option *Decode =
      C->add_option("--decode", F->Decode, "token ids to turn into text");
  C->add_flag("--json", F->Json, "ids and tokens as a JSON object");
  C->add_flag("--no-special", F->NoSpecial,
              "add no special tokens; with --decode: leave them out");
  C->footer("Example: llmc tokenize model.llmc \"Hello there\" --json");
  C->callback([F, Text, Decode] {
    F->HasText = Text->count() != 0;
    F->HasDecode = Decode->count() != 0;
    catchInterrupts();
    tokenize(*F);
  });
}

void addRender(CLI::App &App) {
  CLI::App *C = App.add_subcommand("render", "chat template to text");
  std::shared_ptr<RenderFlags> F = std::make_shared<RenderFlags>();
  C->add_option("resource", F->Resource, "artifact, or folder of a model")
      ->required();
  C->add_option("--messages", F->Messages,
                "JSON file (-: standard input): [{\"role\":…,\"content\":…},…]")
      ->required();
  C->add_option("--tools", F->Tools, "JSON file: list of tools");
  C->add_option("--documents", F->Documents, "JSON file: list of documents");
  C->add_option("--variables", F->Variables,
                "JSON file: object of further variables of the template");
  C->add_flag("--no-generation-prompt", F->NoPrompt,
              "end behind the last message");
  C->footer("Example: llmc render model.llmc --messages chat.json");
  C->callback([F] {
    checkCompiled(F->Resource, true);
    llmc::Text T = llmc::Text::load(F->Resource);
    auto Read = [](const char *Flag, const std::string &File) {
      return File.empty() ? std::string() : readFileOf(Flag, File);
    };
    std::string Text =
        T.render(Read("--messages", F->Messages), Read("--tools", F->Tools),
                 !F->NoPrompt, Read("--documents", F->Documents),
                 Read("--variables", F->Variables));
    std::fwrite(Text.data(), 1, Text.size(), stdout);
  });
}

} // namespace llmcrun
