// What a step needs beside weights, arena and cache: rows of logits, and on a
// GPU the descriptor of the step. One definition for those who allocate it
// (engine, devices) and those who plan it (compiler), so that they agree.
#ifndef LLMC_RUNTIME_BASE_WORKSPACE_H
#define LLMC_RUNTIME_BASE_WORKSPACE_H

#include "runtime/base/CudaTickets.h"

#include <algorithm>
#include <cstdint>

namespace llmc {

/// Rows of logits of one step at least; more wanted rows come in pieces.
constexpr uint32_t LogitRowsAtLeast = 32;

/// Rows of logits that the engine asks of one step: one for every sequence.
constexpr uint32_t stepLogitRows(uint32_t MaxTokens, uint32_t MaxSequences) {
  return std::min(MaxTokens, std::max(LogitRowsAtLeast, MaxSequences));
}

constexpr uint64_t logitBytes(uint64_t Rows, uint64_t Vocab) {
  return Rows * Vocab * 4;
}

constexpr uint64_t roundUpTo256(uint64_t Bytes) {
  return (Bytes + 255) / 256 * 256;
}

/// A CPU step writes its logits where the engine keeps them.
constexpr uint64_t cpuWorkspaceBytes(uint32_t MaxTokens, uint32_t MaxSequences,
                                     uint32_t Vocab) {
  return logitBytes(stepLogitRows(MaxTokens, MaxSequences), Vocab);
}

/// On a GPU: counts, five arrays of a number per token, the page table; each
/// part begins at a multiple of 256.
constexpr uint64_t cudaDescriptorBytes(uint64_t MaxTokens,
                                       uint64_t MaxSequences,
                                       uint64_t PagesPerSequence) {
  return 256 + 5 * roundUpTo256(MaxTokens * 4) +
         roundUpTo256(MaxSequences * PagesPerSequence * 4);
}

constexpr uint64_t CudaTicketBytes = LLMC_CUDA_TICKETS * 4;

/// GPU memory: its own rows of logits, the descriptor and the tickets.
constexpr uint64_t cudaWorkspaceBytes(uint32_t MaxTokens, uint32_t MaxSequences,
                                      uint32_t Vocab, uint32_t MaxContext,
                                      uint32_t PageTokens) {
  uint64_t Pages = (uint64_t{MaxContext} + PageTokens - 1) / PageTokens;
  return logitBytes(std::min(MaxTokens, LogitRowsAtLeast), Vocab) +
         cudaDescriptorBytes(MaxTokens, MaxSequences, Pages) + CudaTicketBytes;
}

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_WORKSPACE_H
