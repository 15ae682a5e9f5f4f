// How fast this machine reads memory: the roof of decoding.
#ifndef LLMC_TOOLS_LLMCRUN_READPROBE_H
#define LLMC_TOOLS_LLMCRUN_READPROBE_H

#include <cstdint>

namespace llmcrun {

/// Bytes per second that this many threads read from a buffer of 1 GiB (less
/// when memory is short), best of five passes.
double readBandwidth(uint32_t Threads);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_READPROBE_H
