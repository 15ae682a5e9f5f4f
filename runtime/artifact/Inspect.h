// What `llmc inspect` prints: an artifact in words or as JSON. The JSON is one
// object; each part has its key ("kernels", "launches", "weights", "plan",
// "provenance", "quality"; without a choice: the summary).
#ifndef LLMC_RUNTIME_ARTIFACT_INSPECT_H
#define LLMC_RUNTIME_ARTIFACT_INSPECT_H

#include "runtime/artifact/Reader.h"

#include <string>

namespace llmc {

/// Parts to show; none: the summary.
struct InspectOptions {
  bool Json = false;
  bool Weights = false;
  bool Plan = false;
  bool Provenance = false;
  bool Quality = false;
  bool Kernels = false;
  bool Launches = false;
  std::string Chip =
      {}; ///< that launches are predicted for; empty: as compiled

  bool any() const {
    return Weights || Plan || Provenance || Quality || Kernels || Launches;
  }
};

/// The text, ending in a newline. Names from the artifact are shown with
/// control characters escaped.
std::string inspectArtifact(const Reader &R, const InspectOptions &Options);

namespace detail {
std::string inspectText(const Reader &R, const InspectOptions &Options);
std::string inspectJson(const Reader &R, const InspectOptions &Options);
} // namespace detail
} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_INSPECT_H
