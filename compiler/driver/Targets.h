// Target names of the command line: aliases, `native`, and what each target
// needs from the machine it runs on.
#ifndef LLMC_COMPILER_DRIVER_TARGETS_H
#define LLMC_COMPILER_DRIVER_TARGETS_H

#include "passes/quant/TargetDesc.h"
#include "runtime/base/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace llmc {

/// Resolves "native,a100,sm_80" to canonical targets, each once, in the order
/// given. Usage error that lists the known names when one is unknown.
Result<std::vector<TargetDesc>> parseTargets(std::string_view List);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_TARGETS_H
