// Implementation of Progress.h: one line per phase, at most ten updates a
// second, resident memory from /proc/self/statm.
#include "compiler/driver/Progress.h"

#include <unistd.h>

#include <cstdio>

namespace llmc {
namespace {

double residentMiB() {
  long Total = 0, Resident = 0;
  if (std::FILE *F = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(F, "%ld %ld", &Total, &Resident) != 2)
      Resident = 0;
    std::fclose(F);
  }
  return double(Resident) * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

} // namespace

Progress::Progress(bool Quiet)
    : On(!Quiet && isatty(STDERR_FILENO)),
      Start(std::chrono::steady_clock::now()), PhaseStart(Start),
      LastPrint(Start) {}

void Progress::phase(std::string_view Name) {
  finish();
  Current = Name;
  PhaseStart = std::chrono::steady_clock::now();
  print("", false);
}

void Progress::share(double Done) {
  std::chrono::steady_clock::time_point Now = std::chrono::steady_clock::now();
  if (!On || Now - LastPrint < std::chrono::milliseconds(100))
    return;
  LastPrint = Now;
  char Text[16];
  std::snprintf(Text, sizeof(Text), " %3.0f %%", 100 * Done);
  print(Text, false);
}

void Progress::finish() {
  if (!Current.empty())
    print("", true);
  Current.clear();
}

void Progress::print(std::string_view Extra, bool End) {
  if (!On)
    return;
  std::chrono::duration<double> Phase =
      std::chrono::steady_clock::now() - PhaseStart;
  std::fprintf(stderr, "\r\033[K%-28s%6.2f s %6.0f MiB%.*s%s", Current.c_str(),
               Phase.count(), residentMiB(), int(Extra.size()), Extra.data(),
               End ? "\n" : "");
  std::fflush(stderr);
}

} // namespace llmc
