// Printing, counting and the end of the process.
#include "tools/cudasim/sanitize/Findings.h"

#include "tools/cudasim/exec/Machine.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace llmc::cudasim {

constexpr int FoundCode = 86; ///< exit code of a process with findings

Findings &findings() {
  static Findings *F = new Findings(); // outlives the handlers of exit
  return *F;
}

void Findings::add(Finding F) {
  std::string Key = F.Kind + " " + F.Kernel + " " + std::to_string(F.Line) +
                    " " + std::to_string(F.OtherLine);
  auto [It, New] = Known.emplace(Key, List.size());
  if (!New) {
    ++List[It->second].Count;
    return;
  }
  F.Count = 1;
  std::fprintf(stderr, "cudasim: %s: %s\n", F.Kind.c_str(), F.Text.c_str());
  List.push_back(std::move(F));
}

void Findings::clear() {
  Known.clear();
  List.clear();
}

static std::string quoted(const std::string &Text) {
  std::string Out = "\"";
  for (char C : Text) {
    if (C == '"' || C == '\\')
      Out += '\\';
    Out += static_cast<unsigned char>(C) < 32 ? ' ' : C;
  }
  return Out + "\"";
}

std::string Findings::json() const {
  std::string Out = "{\"findings\":[";
  for (const Finding &F : List)
    Out += std::string(&F == &List[0] ? "" : ",") +
           "\n{\"kind\":" + quoted(F.Kind) + ",\"kernel\":" + quoted(F.Kernel) +
           ",\"source_line\":" + std::to_string(F.SourceLine) +
           ",\"ptx_line\":" + std::to_string(F.Line) +
           ",\"other_ptx_line\":" + std::to_string(F.OtherLine) +
           ",\"count\":" + std::to_string(F.Count) +
           ",\"text\":" + quoted(F.Text) + "}";
  Out += "],\n\"executed\":{";
  const char *Between = "";
  for (const auto &[Kernel, Lines] : Executed) {
    Out += Between + ("\n" + quoted(Kernel)) + ":[";
    const char *Comma = "";
    for (size_t Line = 0; Line != Lines.size(); ++Line)
      if (Lines[Line]) {
        Out += Comma + std::to_string(Line);
        Comma = ",";
      }
    Out += "]";
    Between = ",";
  }
  return Out + "}}\n";
}

std::vector<uint8_t> &Findings::executed(const std::string &Kernel,
                                         size_t Lines) {
  std::vector<uint8_t> &Flags = Executed[Kernel];
  if (Flags.size() < Lines)
    Flags.resize(Lines, 0);
  return Flags;
}

static void atEnd() {
  const Findings &F = findings();
  if (!settings().Report.empty())
    if (std::FILE *File = std::fopen(settings().Report.c_str(), "w")) {
      std::fputs(F.json().c_str(), File);
      std::fclose(File);
    }
  if (F.all().empty())
    return;
  uint64_t Events = 0;
  for (const Finding &One : F.all())
    Events += One.Count;
  std::fprintf(stderr, "cudasim: %zu findings, %llu events, seed %llu\n",
               F.all().size(), static_cast<unsigned long long>(Events),
               static_cast<unsigned long long>(settings().Seed));
  std::fflush(nullptr);
  _exit(FoundCode);
}

void reportFindingsAtExit() {
  static const int Registered = std::atexit(atEnd);
  (void)Registered;
}

} // namespace llmc::cudasim
