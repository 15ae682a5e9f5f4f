// The kernel catalogue: name, buffers and constants of every kernel that an
// exe.phase may name, in call order. It is the one contract between llm-to-exe
// (builds phases), the CPU emitter (calls k_<name>_<isa>), the CUDA emitter
// (generates <name> text) and the reference kernels. No MLIR here.
//
// A CPU kernel is
//   extern "C" void k_<name>_<isa>(const LlmcCtx *, buffers…, i64 consts…,
//                                  f32 consts…);
// with isa in {avx512vnni, avx2, ref}. Every buffer is a raw pointer (null when
// the phase gives none), already resolved for the current layer. Activations
// are row-major f32 [rows][features]. Integer constants are int64_t, float
// constants float, both literals at compile time of the model, so that they
// propagate after inlining.
#ifndef LLMC_COMPILER_KERNELS_CATALOGUE_H
#define LLMC_COMPILER_KERNELS_CATALOGUE_H

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace llmc::kernels {

/// Numbers used as integer constants of kernels. Append only.
enum WeightType : int64_t { WF32 = 0, WI8B32 = 1, WF16 = 2 };
enum NormKind : int64_t { NormNone = 0, NormRms = 1, NormLayer = 2 };
enum Activation : int64_t {
  ActNone = 0,
  ActSilu = 1,
  ActGelu = 2,
  ActGeluTanh = 3,
  ActRelu = 4,
  ActSigmoid = 5,
  ActTanh = 6,
  ActRelu2 = 7
};
enum KvType : int64_t { KvF32 = 0, KvF16 = 1 };
/// Activation numerics of a product: exact f32, or int8 blocks of 32 (one
/// plane for prompt rows, two planes for generated rows).
enum ActPolicy : int64_t { XF32 = 0, XI8 = 1 };
/// Rows that a kernel works on: all T token rows or the R logit rows.
enum RowDomain : int64_t { RowsT = 0, RowsR = 1 };

struct KernelInfo {
  std::string_view Name;
  std::span<const std::string_view> Buffers;
  std::span<const std::string_view> Ints;
  std::span<const std::string_view> Floats;
};

/// All kernels; the order is not significant.
std::span<const KernelInfo> catalogue();
/// The kernel of that name, or null.
const KernelInfo *findKernel(std::string_view Name);

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CATALOGUE_H
