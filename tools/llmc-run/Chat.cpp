// llmc chat: a conversation on the terminal. The whole history is rendered by
// the template each turn, so that the model sees what it was trained on.
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"
#include "tools/llmc-run/ConstraintFlags.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace llmcrun {

namespace {

struct ChatFlags {
  std::string Artifact, System;
  uint32_t MaxTokens = 1024;
  SamplingFlags Sampling;
  ConstraintFlags Constraint;
  DeviceFlags Device;
};

class Conversation {
public:
  Conversation(const ChatFlags &F, const llmc::Model &M) : F(F), M(M), E(M, 1) {
    reset();
  }
  void reset() {
    Messages.clear();
    if (!F.System.empty())
      Messages.push_back(messageJson("system", F.System));
  }
  void undo() {
    if (Messages.size() >= (F.System.empty() ? 2u : 3u))
      Messages.resize(Messages.size() - 2);
  }
  void say(const std::string &Text);

private:
  const ChatFlags &F;
  const llmc::Model &M;
  llmc::Engine E;
  std::vector<std::string> Messages;
};

void Conversation::say(const std::string &Text) {
  Messages.push_back(messageJson("user", Text));
  std::string All;
  for (const std::string &Message : Messages)
    All += (All.empty() ? "[" : ",") + Message;
  llmc::RequestOptions O;
  try {
    O.Tokens = chatTokens(M.text(), All + "]");
    O.Sampling = F.Sampling.over(M.defaultSampling());
    O.MaxTokens = F.MaxTokens;
    F.Constraint.apply(O);
    O.OnToken = [](const llmc_event &Event) {
      std::fwrite(Event.text, 1, Event.text_length, stdout);
      std::fflush(stdout);
      return !interrupted();
    };
    llmc::Request R = E.submit(O);
    while (E.step())
      throwIfInterrupted();
    llmc_result Result = R.result();
    checkConstrained(Result, F.MaxTokens);
    Messages.push_back(
        messageJson("assistant", std::string(Result.text, Result.text_length)));
  } catch (...) {
    Messages.pop_back();
    throw;
  }
  std::printf("\n");
}

/// One turn; what does not fit into the context ends the turn only.
void turn(Conversation &C, const std::string &Line) {
  try {
    C.say(Line);
  } catch (const llmc::Error &E) {
    if (E.code() != LLMC_DOES_NOT_FIT && E.code() != LLMC_USAGE)
      throw;
    std::fprintf(stderr, "%s; /undo or /reset makes room\n", E.what());
  }
}

void help() {
  std::fprintf(stderr, "/help   this text\n"
                       "/reset  forget the conversation\n"
                       "/undo   forget the last question and its answer\n"
                       "/exit   leave (also Ctrl-D, Ctrl-C)\n");
}

void chat(const ChatFlags &F) {
  llmc::Model M = F.Device.load(F.Artifact);
  if (!M.text().hasVocabulary() || !M.text().hasTemplate())
    usage("chat needs a tokenizer and a chat template, and the artifact "
          "lacks one of them");
  Conversation C(F, M);
  bool Terminal = isatty(STDIN_FILENO);
  if (Terminal)
    std::fprintf(stderr, "/help lists the commands\n");
  for (std::string Line;;) {
    if (Terminal)
      std::fprintf(stderr, "> ");
    if (!std::getline(std::cin, Line))
      break;
    throwIfInterrupted();
    if (Line == "/exit")
      break;
    if (Line == "/help")
      help();
    else if (Line == "/reset")
      C.reset();
    else if (Line == "/undo")
      C.undo();
    else if (Line.starts_with('/'))
      std::fprintf(stderr, "unknown command, /help lists them\n");
    else if (!Line.empty())
      turn(C, Line);
  }
  throwIfInterrupted();
}

} // namespace

void addChat(CLI::App &App) {
  CLI::App *C = App.add_subcommand("chat", "interactive conversation");
  std::shared_ptr<ChatFlags> F = std::make_shared<ChatFlags>();
  C->add_option("artifact", F->Artifact, "compiled model")->required();
  C->add_option("--system", F->System, "system message");
  C->add_option("--max-tokens", F->MaxTokens,
                "tokens of an answer at most (default 1024)");
  F->Sampling.add(*C);
  F->Constraint.add(*C);
  F->Device.add(*C);
  C->footer("Example: llmc chat model.llmc --system \"Answer briefly.\"");
  C->callback([F] {
    catchInterrupts();
    chat(*F);
  });
}

} // namespace llmcrun
