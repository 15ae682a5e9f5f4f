// Which kernels an attention phase becomes: tensor core forms for a cache in
// f16 with heads that are multiples of 8, up to 256 features; a plain one for
// all others. Their blocks, grids and shared memory.
#ifndef LLMC_COMPILER_TARGET_CUDA_ATTENTIONFORM_H
#define LLMC_COMPILER_TARGET_CUDA_ATTENTIONFORM_H

#include "compiler/target/cuda/KernelText.h"

namespace llmc::cuda {

/// What a launch of an attention request is; None for other kernels. Prefill
/// (stage 0: prompt rows of large buckets) and Decode (stage 1: all other rows)
/// share the rows of a step, or Plain has them all.
enum class AttentionForm { None, Plain, Prefill, Decode };
AttentionForm attentionForm(const KernelRequest &R);
unsigned attentionStages(const KernelRequest &R);

/// Rows up to which a bucket has the form Decode alone.
constexpr uint32_t AttentionDecodeRows = 8;

/// "_decode": for the name of the entry.
std::string_view attentionSuffix(const KernelRequest &R);

/// Template in namespace llmc.
std::string_view attentionFunction(const KernelRequest &R);

/// Tiles of keys and values on their way at once, and the dynamic shared memory
/// of a block, which the template checks; 0 for other forms and kernels.
struct AttentionMemory {
  int64_t Stages = 0;
  int64_t SharedBytes = 0;
  bool OneTile = false; ///< f16 of codes: keys and values take turns
};
AttentionMemory attentionMemory(const KernelRequest &R);

/// X is 0 where the form has nothing to do.
Grid attentionGrid(const KernelRequest &R, uint32_t Tokens);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_ATTENTIONFORM_H
