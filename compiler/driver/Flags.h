// Flags of `llmc compile` that do not go together.
#ifndef LLMC_COMPILER_DRIVER_FLAGS_H
#define LLMC_COMPILER_DRIVER_FLAGS_H

#include "compiler/driver/Options.h"
#include "runtime/base/Status.h"

namespace llmc {

/// A usage error for flags that contradict each other: of two such flags one
/// would be ignored without a word.
Status checkFlags(const CompileOptions &O);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_FLAGS_H
