// Value checks on what FlatBuffers' verifier lets pass: ranges, counts, and
// that everything refers to something that exists. Inside this room only.
#ifndef LLMC_RUNTIME_ARTIFACT_VALIDATE_H
#define LLMC_RUNTIME_ARTIFACT_VALIDATE_H

#include "runtime/artifact/Manifest.h"

#include <cstdint>
#include <span>

namespace llmc {

/// Ranges inside a manifest, without the sections.
Status validateManifest(const Manifest &M);

/// Structure and values of a program section (FlatBuffer llmc.fb.Program), and
/// that it agrees with the manifest's target and plan.
Status validateProgram(std::span<const uint8_t> Bytes,
                       const ManifestTarget &Target, const ManifestPlan &Plan,
                       const ManifestModel &Model, uint64_t WeightBytes);

} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_VALIDATE_H
