// Cases of llmc debug that search over tokens: beam, speculative.
#ifndef LLMC_TOOLS_LLMCRUN_DEBUGSEARCH_H
#define LLMC_TOOLS_LLMCRUN_DEBUGSEARCH_H

#include <nlohmann/json_fwd.hpp>

namespace llmcrun {

/// Beam search over a toy model given as a table of logits.
nlohmann::ordered_json beamCase(const nlohmann::ordered_json &In);
/// One round of drafts with their probabilities and random numbers.
nlohmann::ordered_json speculativeCase(const nlohmann::ordered_json &In);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_DEBUGSEARCH_H
