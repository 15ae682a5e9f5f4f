// The mma products as kernels: which forms a product of the catalogue takes in
// which bucket, with which block shape. Fragment-ordered weights have one copy
// and all forms add in one order (cuda/ProductSum.cuh), so this chooses speed
// only, never results.
#ifndef LLMC_COMPILER_TARGET_CUDA_PRODUCTFORMS_H
#define LLMC_COMPILER_TARGET_CUDA_PRODUCTFORMS_H

#include "compiler/target/cuda/KernelText.h"
#include "runtime/base/GpuModel.h"

#include <span>

namespace llmc::cuda {

/// A kernel of a phase with the grid of each bucket; X = 0: not launched there.
struct KernelForm {
  KernelRequest Request;
  std::vector<Grid> Grids;
};

/// Products of fragment-ordered weights (linear, qkv, logits).
bool isMmaProduct(const KernelRequest &R);

/// The launches of a phase, in order. Those with gridOf for all that are no
/// mma products.
std::vector<KernelForm> formsOf(const KernelRequest &R,
                                std::span<const uint32_t> Buckets,
                                std::string_view Target);

/// Of a request with a form: template, threads of a block and the constants of
/// the form as text.
std::string formFunction(const KernelRequest &R);
unsigned formBlock(const KernelRequest &R);
std::string formConstants(const KernelRequest &R);
/// "_decode": for the name of the entry.
std::string formName(const KernelRequest &R);

/// Whether the form reads or writes that buffer of the catalogue.
bool formUses(const KernelRequest &R, std::string_view Buffer);
/// What a launch of the form is and does for so many tokens, for predictions;
/// registers, bytes and multiplications are better known elsewhere.
LaunchFacts formFacts(const KernelRequest &R, int64_t Tokens);

/// Rows and columns of a product.
struct ProductSize {
  int64_t Rows, Cols;
};
ProductSize productSize(const KernelRequest &R);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_PRODUCTFORMS_H
