// Numbers that kernels get as integer constants. Apart from the catalogue, so
// that freestanding kernel sources can include them.
#ifndef LLMC_COMPILER_KERNELS_CONSTANTS_H
#define LLMC_COMPILER_KERNELS_CONSTANTS_H

#include <stdint.h>

namespace llmc::kernels {

/// Numbers used as integer constants of kernels. Append only. Besides these a
/// weight type is the number of a format (WeightFormat.h).
enum WeightType : int64_t {
  WF32 = 0,
  WI8B32 = 1,
  WF16 = 2,
  WBF16 = 3,
  WM16F16 = 4, ///< in the order of mma fragments (FragmentFormat.h)
  WM16BF16 = 5
};
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
/// KvI8: codes with an f32 scale per token, head and half (K, V); CUDA only.
enum KvType : int64_t { KvF32 = 0, KvF16 = 1, KvI8 = 2 };
/// Activation numerics of a product: exact f32, or int8 blocks of 32 (one
/// plane for prompt rows, two planes for generated rows).
enum ActPolicy : int64_t { XF32 = 0, XI8 = 1 };
/// Rows that a kernel works on: all T token rows or the R logit rows.
enum RowDomain : int64_t { RowsT = 0, RowsR = 1 };

/// Largest head, of keys or values, that the kernels of all targets have room
/// for; latent rows with a rotated part have 576.
constexpr int64_t MaxHeadDim = 640;

} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CONSTANTS_H
