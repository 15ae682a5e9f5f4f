// Progress lines on a terminal: phase, elapsed time, resident memory.
#ifndef LLMC_COMPILER_DRIVER_PROGRESS_H
#define LLMC_COMPILER_DRIVER_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmc {

/// Writes to standard error, and only when that is a terminal. Each phase
/// overwrites its own line until it is done.
class Progress {
public:
  explicit Progress(bool Quiet);
  /// Ends the phase before, if any, and starts this one.
  void phase(std::string_view Name);
  /// Share of the running phase, 0 to 1.
  void share(double Done);
  /// Ends the running phase.
  void finish();

private:
  void print(std::string_view Extra, bool End);

  bool On;
  std::string Current;
  std::chrono::steady_clock::time_point Start, PhaseStart, LastPrint;
};

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_PROGRESS_H
