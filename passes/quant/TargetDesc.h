// What the passes behind raising know about a target. Everything else about it
// (instructions, emitters) belongs to compiler/target.
#ifndef LLMC_PASSES_QUANT_TARGETDESC_H
#define LLMC_PASSES_QUANT_TARGETDESC_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmc {

enum class TargetKind { Cpu, Cuda };

struct TargetDesc {
  std::string Name; ///< as given with --target, resolved: "x86-64-v3", "sm_80"
  TargetKind Kind = TargetKind::Cpu;
  std::string Family; ///< of its packed weights: "x86", "cuda"
  int64_t PageTokens = 0;
  int64_t WeightAlign = 0;      ///< bytes
  std::vector<int64_t> Buckets; ///< of T; clipped by make-buckets
};

/// The target of that name, or nothing when llmc has no such target.
std::optional<TargetDesc> describeTarget(llvm::StringRef Name);

} // namespace llmc

#endif // LLMC_PASSES_QUANT_TARGETDESC_H
