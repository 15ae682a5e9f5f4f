// llmc verify --against: the artifact's numbers beside those of the graph.
#ifndef LLMC_TOOLS_LLMCRUN_VERIFYAGAINST_H
#define LLMC_TOOLS_LLMCRUN_VERIFYAGAINST_H

#include "tools/llmc-run/Common.h"

#include <string>

namespace llmcrun {

struct AgainstOptions {
  std::string Artifact, Model;
  /// Of the artifact's weights and activations: which bound holds.
  std::string Precision, Activations;
  bool AllowSymlinks = false;
  DeviceFlags Device;
};

/// How far the artifact is from the graph on one sequence of tokens.
struct AgainstReport {
  size_t Tokens = 0, Rows = 0; ///< fed, compared
  double Largest = 0;          ///< of the reference's numbers
  double Difference = 0;       ///< the largest
  double RelativeError = 0;    ///< root mean square of all rows
  double KlMean = 0;
  size_t SameTop = 0;
  double Bound = 0; ///< of RelativeError
  bool agrees() const { return RelativeError <= Bound; }
};

/// Runs the graph (in llmc-compile, through a file) and the artifact. Part of
/// the tokens is a prompt, the rest comes one by one as generated tokens do.
AgainstReport verifyAgainst(const AgainstOptions &O);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_VERIFYAGAINST_H
