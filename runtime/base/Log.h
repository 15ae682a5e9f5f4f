// What programs say on standard error: `llmc: error: …` with notes below, and
// the same for warnings. Libraries return a Status and never print.
#ifndef LLMC_RUNTIME_BASE_LOG_H
#define LLMC_RUNTIME_BASE_LOG_H

#include "runtime/base/Status.h"

#include <string_view>

namespace llmc {

/// Prints `llmc: error: MESSAGE` and one `llmc: note: …` line per note, with
/// colour on a terminal unless NO_COLOR is set. Control characters in the text
/// are shown escaped, so that a hostile name cannot drive the terminal.
void printError(const Status &S);
/// Prints `llmc: warning: MESSAGE`.
void printWarning(std::string_view Message);
/// Prints `llmc: note: MESSAGE`.
void printNote(std::string_view Message);

/// Prints the failure, if any, and returns the exit code of the program.
int exitCodeOf(const Status &S);

/// Flushes standard output. Malformed when what was printed could not be
/// written (a full disk, a closed descriptor): programs must not end with 0
/// then.
Status finishOutput();

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_LOG_H
