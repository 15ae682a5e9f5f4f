// The driver: options → pipeline → code and packed weights → artifact.
#ifndef LLMC_COMPILER_DRIVER_COMPILE_H
#define LLMC_COMPILER_DRIVER_COMPILE_H

#include "compiler/driver/Options.h"
#include "runtime/base/Status.h"

namespace llmc {

/// Compiles O.Model to O.Output. Nothing is at the output path unless all of it
/// succeeded. Progress goes to standard error when that is a terminal.
Status compileModel(const CompileOptions &O);

/// Prints the memory plan of each target to standard output, as a table or as
/// JSON. Reads no weights.
Status planModel(const CompileOptions &O, bool Json);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_COMPILE_H
