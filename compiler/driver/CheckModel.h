// `llmc check`: the report of Check.h with the pipeline behind it.
#ifndef LLMC_COMPILER_DRIVER_CHECKMODEL_H
#define LLMC_COMPILER_DRIVER_CHECKMODEL_H

#include "compiler/driver/Options.h"
#include "runtime/base/Status.h"

namespace llmc {

/// Prints what the model is, or every reason why it does not compile, to
/// standard output; the status is what `llmc compile` would give. Reads no
/// weights beyond a few small tables.
Status checkModel(const CompileOptions &O, bool Json);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_CHECKMODEL_H
