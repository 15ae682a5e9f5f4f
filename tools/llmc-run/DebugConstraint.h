// llmc debug schema|regex|grammar: constraints against texts.
#ifndef LLMC_TOOLS_LLMCRUN_DEBUGCONSTRAINT_H
#define LLMC_TOOLS_LLMCRUN_DEBUGCONSTRAINT_H

#include <string>

namespace llmcrun {

/// One case as JSON text in and out: {"schema"|"pattern"|"grammar" (and
/// "dialect", "whitespace"), "texts"} to {"refused", "results"}.
std::string constraintCase(const std::string &Kind, const std::string &Case);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_DEBUGCONSTRAINT_H
