// Cases of llmc debug that search over tokens: beam, speculative.
#ifndef LLMC_TOOLS_LLMCRUN_DEBUGSEARCH_H
#define LLMC_TOOLS_LLMCRUN_DEBUGSEARCH_H

#include <string>

namespace llmcrun {

/// One case as JSON text in and out. Kind "beam": beam search over a toy model
/// given as a table of logits; "speculative": one round of drafts with their
/// probabilities and random numbers.
std::string searchCase(const std::string &Kind, const std::string &Case);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_DEBUGSEARCH_H
