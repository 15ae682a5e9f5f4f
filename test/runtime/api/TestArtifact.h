// A whole artifact of a small synthetic model with random weights, a real
// tokenizer and a chat template.
#ifndef LLMC_TEST_RUNTIME_API_TESTARTIFACT_H
#define LLMC_TEST_RUNTIME_API_TESTARTIFACT_H

#include "runtime/base/Status.h"

#include <string>

namespace llmc::test {

/// Writes it for this machine's CPU. Int8 chooses the precision of weights.
Status writeTestArtifact(const std::string &Path, bool Int8,
                         bool WithText = true);

/// The file of this program's run; written once per precision.
std::string testArtifact(bool Int8 = false, bool WithText = true);

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_API_TESTARTIFACT_H
