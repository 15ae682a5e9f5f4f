// Numbers of one row of logits, for llmc eval. In float with sums in blocks:
// errors are near 1e-6 of the result.
#ifndef LLMC_TOOLS_LLMCRUN_ROWSTATISTICS_H
#define LLMC_TOOLS_LLMCRUN_ROWSTATISTICS_H

#include <cstddef>
#include <cstdint>

namespace llmcrun {

/// Logarithm of the sum of exponentials.
double logSumExp(const float *Row, size_t N);
/// Lowest index of the largest value.
size_t argMax(const float *Row, size_t N);
/// KL divergence in nats of the distribution of Other from that of Reference,
/// with their logSumExp.
double klDivergence(const float *Reference, double ReferenceLse,
                    const float *Other, double OtherLse, size_t N);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_ROWSTATISTICS_H
