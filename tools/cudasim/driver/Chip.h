// The chips that the simulator can stand for: limits, and the numbers of the
// cost model.
#ifndef LLMC_TOOLS_CUDASIM_DRIVER_CHIP_H
#define LLMC_TOOLS_CUDASIM_DRIVER_CHIP_H

#include <cstdint>

namespace llmc::cudasim {

struct Chip {
  const char *Key;  ///< of LLMC_CUDASIM_CHIP
  const char *Name; ///< cuDeviceGetName
  int Major, Minor;
  unsigned Multiprocessors;
  unsigned SharedPerSm, SharedOptIn; ///< bytes
  unsigned WarpsPerSm, BlocksPerSm;
  uint64_t MemoryBytes, L2Bytes;
  double GHz;
  double MemoryTBs; ///< terabytes per second, as specified
  double Tensor16;  ///< dense tera operations per second of f16 and bf16
  double Tensor8;   ///< of int8
  double Fp32;      ///< of fma on the plain cores
};

/// The chip of $LLMC_CUDASIM_CHIP; without it one that takes the PTX of every
/// target.
const Chip &chip();

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_DRIVER_CHIP_H
