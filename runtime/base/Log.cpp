// Lines on standard error. Each is one fwrite, so that lines of threads and
// processes do not mix.
#include "runtime/base/Log.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace llmc {
namespace {

void appendSafe(std::string &Out, std::string_view Text) {
  constexpr char Hex[] = "0123456789abcdef";
  for (char C : Text) {
    unsigned char U = static_cast<unsigned char>(C);
    if (U >= 0x20 && U != 0x7f) {
      Out += C;
      continue;
    }
    Out += "\\x";
    Out += Hex[U >> 4];
    Out += Hex[U & 15];
  }
}

bool useColour() {
  const char *NoColour = std::getenv("NO_COLOR");
  return ::isatty(STDERR_FILENO) && !(NoColour && *NoColour);
}

void printLine(std::string_view Label, std::string_view Colour,
               std::string_view Text) {
  bool Coloured = useColour();
  std::string Line = "llmc: ";
  if (Coloured)
    Line += Colour;
  Line += Label;
  if (Coloured)
    Line += "\033[0m";
  Line += ' ';
  appendSafe(Line, Text);
  Line += '\n';
  std::fwrite(Line.data(), 1, Line.size(), stderr);
}
} // namespace

void printError(const Status &S) {
  printLine("error:", "\033[1;31m", S.message());
  for (const std::string &Note : S.notes())
    printNote(Note);
  if (S.code() == StatusCode::Internal)
    printNote("this is a bug of llmc; please report it with the command line "
              "and this text");
}

void printWarning(std::string_view Message) {
  printLine("warning:", "\033[1;33m", Message);
}

void printNote(std::string_view Message) {
  printLine("note:", "\033[1m", Message);
}

int exitCodeOf(const Status &S) {
  if (!S.ok())
    printError(S);
  return static_cast<int>(S.code());
}

Status finishOutput() {
  errno = 0;
  bool Failed = std::fflush(stdout) != 0;
  if (!Failed && !std::ferror(stdout))
    return {};
  return malformedError(
      "cannot write standard output: " +
      std::string(errno ? std::strerror(errno) : "an earlier write failed"));
}

} // namespace llmc
