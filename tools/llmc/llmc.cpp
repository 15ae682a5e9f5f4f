// llmc: starts the sibling that knows the subcommand, so that running a model
// never loads the compiler's libraries.
#include "runtime/base/Log.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr const char *Help =
    "Compiles ONNX language models and runs them.\n"
    "\n"
    "  llmc compile MODEL.onnx    to one artifact\n"
    "  llmc check MODEL.onnx      what would compile, and what not\n"
    "  llmc plan MODEL.onnx|ART   memory that it needs\n"
    "  llmc run ART [PROMPT]      one completion\n"
    "  llmc chat ART              a conversation\n"
    "  llmc bench ART             speed\n"
    "  llmc eval ART --text FILE  perplexity, distance from a reference\n"
    "  llmc verify ART            is it whole?\n"
    "  llmc inspect ART           what it holds\n"
    "  llmc tokenize ART [TEXT]   token ids\n"
    "  llmc render ART --messages FILE   chat template\n"
    "\n"
    "Each has --help. Example: llmc run model.llmc \"Hello\"\n";

constexpr const char *RunCommands[] = {"run",      "chat",   "bench",
                                       "eval",     "verify", "inspect",
                                       "tokenize", "render", "debug"};

/// Folder of this program, with its slash.
std::string ownFolder() {
  char Path[4096];
  ssize_t N = readlink("/proc/self/exe", Path, sizeof(Path));
  std::string S(Path, N > 0 ? static_cast<size_t>(N) : 0);
  return S.substr(0, S.rfind('/') + 1);
}

bool endsWith(const std::string &S, const char *End) {
  size_t N = std::strlen(End);
  return S.size() >= N && S.compare(S.size() - N, N, End) == 0;
}

/// The sibling for a command line; null when nobody knows the command.
const char *siblingFor(const std::vector<std::string> &Words) {
  const std::string &Command = Words[0];
  if (Command == "compile" || Command == "check")
    return "llmc-compile";
  if (Command == "plan") {
    for (const std::string &W : Words)
      if (endsWith(W, ".onnx"))
        return "llmc-compile";
    return "llmc-run";
  }
  for (const char *Known : RunCommands)
    if (Command == Known)
      return "llmc-run";
  return nullptr;
}

} // namespace

int main(int Count, char **Arguments) {
  std::vector<std::string> Words(Arguments + 1, Arguments + Count);
  if (Words.empty() || Words[0] == "--help" || Words[0] == "-h" ||
      Words[0] == "help") {
    std::fputs(Help, Words.empty() ? stderr : stdout);
    return Words.empty() ? 2 : 0;
  }
  if (Words[0] == "--version") {
    std::puts("llmc 0.1.0");
    return 0;
  }
  const char *Sibling = siblingFor(Words);
  if (Words[0] == "serve")
    return llmc::exitCodeOf(
        llmc::unsupportedError("llmc serve is not implemented yet"));
  if (Sibling == nullptr) {
    llmc::Status S = llmc::usageError("unknown command '" + Words[0] + "'");
    S.addNote("see llmc --help");
    return llmc::exitCodeOf(S);
  }
  std::string Path = ownFolder() + Sibling;
  Arguments[0] = Path.data();
  execv(Path.c_str(), Arguments);
  return llmc::exitCodeOf(llmc::malformedError("cannot start " + Path + ": " +
                                               std::strerror(errno)));
}
