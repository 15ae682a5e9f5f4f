// Largest values that a reader accepts. Inside this room only.
#ifndef LLMC_RUNTIME_ARTIFACT_LIMITS_H
#define LLMC_RUNTIME_ARTIFACT_LIMITS_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string_view>

namespace llmc {

inline constexpr uint64_t MaxNameBytes = 4096;
inline constexpr uint64_t MaxCount = (UINT64_C(1) << 31) - 1;
inline constexpr uint64_t MaxFeatures = 1 << 24;
inline constexpr uint64_t MaxLayers = 1 << 16;
inline constexpr uint64_t MaxSequences = 1 << 16;
inline constexpr uint64_t MaxTokens = 1 << 20;
inline constexpr uint64_t MaxEosIds = 256;
inline constexpr uint64_t MaxTargets = 64;
inline constexpr uint64_t MaxBuckets = 64;
inline constexpr uint64_t MaxStates = 256;
inline constexpr uint64_t MaxBytes = UINT64_C(1) << 46;
inline constexpr uint64_t MaxSegmentBytes = UINT64_C(1) << 36;
inline constexpr uint64_t MaxElements = UINT64_C(1) << 40;
inline constexpr uint64_t MaxPageTokens = 4096;
inline constexpr uint64_t MaxSharedBytes = 1 << 20;
inline constexpr uint64_t MaxLaunchArgs = 256;

/// Malformed unless Least <= Value <= Most.
Status checkRange(std::string_view What, uint64_t Value, uint64_t Least,
                  uint64_t Most);

} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_LIMITS_H
