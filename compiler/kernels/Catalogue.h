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

#include "compiler/kernels/Constants.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace llmc::kernels {

struct KernelInfo {
  std::string_view Name;
  std::span<const std::string_view> Buffers;
  std::span<const std::string_view> Ints;
  std::span<const std::string_view> Floats;
};

/// True for the buffers that a kernel writes: its results (out, q_out) and its
/// scratch (xq, partial). It never reads a result, and scratch holds nothing
/// before and after. (kv is a state, not a buffer of the arena.)
constexpr bool isWritten(std::string_view Buffer) {
  return Buffer == "out" || Buffer == "q_out" || Buffer == "xq" ||
         Buffer == "partial";
}

/// All kernels; the order is not significant.
std::span<const KernelInfo> catalogue();
/// The kernel of that name, or null.
const KernelInfo *findKernel(std::string_view Name);

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CATALOGUE_H
