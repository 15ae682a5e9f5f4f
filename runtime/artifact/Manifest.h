// The manifest as plain data, and its encoding (Manifest.fbs). Decoding
// verifies structure and values; nothing in it is trusted before.
#ifndef LLMC_RUNTIME_ARTIFACT_MANIFEST_H
#define LLMC_RUNTIME_ARTIFACT_MANIFEST_H

#include "runtime/base/DType.h"
#include "runtime/base/MemoryPlan.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace llmc {

struct ManifestModel {
  std::string Name;
  uint32_t Vocab = 0;
  uint32_t Hidden = 0;
  uint32_t Layers = 0;
  uint32_t MaxPositions = 0; ///< of the model; 0: unknown
  uint32_t MaxContext = 0;   ///< tokens of one sequence, as compiled
  uint32_t MaxBatch = 0;     ///< sequences at once, as compiled
  int32_t BosId = -1;        ///< -1: none; else below Vocab, as all ids here
  std::vector<int32_t> EosIds;
  int32_t PadId = -1;
  std::string Precision;   ///< "f32", "int8", …
  std::string Activations; ///< "f32", "int8", …
  uint64_t Parameters = 0;
};

/// A target and its sections (indices of the section table; -1: none).
struct ManifestTarget {
  std::string Name;   ///< "x86-64-avx512vnni", "sm_80", …
  std::string Layout; ///< family of its packed weights: "x86", "cuda"
  int32_t Program = -1;
  int32_t Code = -1;
  int32_t Ptx = -1;
  int32_t Weights = -1;
};

struct ManifestTensor {
  std::string Name;
  std::string Layout; ///< layout id: "p16.w8b32", …
  uint64_t Rows = 0;
  uint64_t Cols = 0;
  int32_t Weights = -1; ///< section
  uint64_t Offset = 0;  ///< in it
  uint64_t Bytes = 0;
  // Measured against the source weights.
  float SnrDb = 0;
  float MaxError = 0;
  bool Exact = false;
};

struct ManifestState {
  std::string Name;
  uint32_t Layers = 0;
  uint32_t KvHeads = 0;
  uint32_t HeadDim = 0;
  uint32_t VHeadDim = 0;
  DType Type = DType::None;
};

/// Memory that one target needs.
struct ManifestPlan {
  std::string Target;
  uint64_t WeightBytes = 0;
  std::vector<uint32_t> Buckets;    ///< tokens per step, ascending
  std::vector<uint64_t> ArenaBytes; ///< one per bucket
  uint32_t PageTokens = 0;
  uint64_t PageBytes = 0; ///< all layers
  uint32_t Pages = 0;
  std::vector<ManifestState> States;
  uint64_t WorkspaceBytes = 0; ///< logits and the step's descriptor
  /// What the arena takes more for every further SegmentTokens of context.
  uint32_t SegmentTokens = 0;
  uint64_t SegmentBytes = 0;
};

struct Manifest {
  ManifestModel Model;
  std::vector<ManifestTarget> Targets;
  std::vector<ManifestTensor> Tensors;
  std::vector<ManifestPlan> Plans; ///< one per target, in their order
  std::string Producer;            ///< "llmc 0.1.0"
};

/// The plans of all targets, to print and judge.
std::vector<MemoryPlan> memoryPlansOf(const Manifest &M);

/// The section's bytes. Their number depends on strings and list lengths only,
/// so a manifest without measured numbers tells how much to reserve.
std::vector<uint8_t> encodeManifest(const Manifest &M);

/// Malformed when the bytes are no manifest or a value is out of range.
/// Section indices are checked by the reader, which knows the sections.
Result<Manifest> decodeManifest(std::span<const uint8_t> Bytes);

} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_MANIFEST_H
