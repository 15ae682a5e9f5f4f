// A kernel request (catalogue name, constants, which buffers there are) as
// CUDA C++: one struct of constants and one entry function that calls the
// template of compiler/kernels/cuda. No MLIR, no NVRTC.
#ifndef LLMC_COMPILER_TARGET_CUDA_KERNELTEXT_H
#define LLMC_COMPILER_TARGET_CUDA_KERNELTEXT_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::cuda {

/// Everything that decides the text of a kernel. Equal requests are one kernel.
struct KernelRequest {
  std::string Kernel; ///< name in compiler/kernels/Catalogue.h
  std::map<std::string, int64_t> Ints;
  std::map<std::string, float> Floats;
  std::vector<bool> Present; ///< per buffer of the catalogue: not null
  int64_t KvPageStride = 0;  ///< bytes from a page to the next
};

struct Grid {
  uint32_t X = 1, Y = 1, Z = 1;
};

/// A parameter of an entry function, in order.
enum class ParamKind { Counts, Positions, RowSeq, PageTable, Buffer };
struct Param {
  ParamKind Kind;
  unsigned Buffer = 0; ///< index in the catalogue, for Kind Buffer
};

/// A request turned into text.
struct KernelInstance {
  std::string Entry;  ///< <kernel>_<types>_<shape>_<hash>_<target>
  std::string Text;   ///< struct of constants and entry function
  unsigned Block = 0; ///< threads, one dimension
  std::vector<Param> Params;
};

/// Checks the constants and writes the text. Unsupported names the constant
/// with its value and what the CUDA kernels take.
Result<KernelInstance> instantiate(const KernelRequest &R,
                                   std::string_view Target);

/// Blocks that cover Tokens token rows (a bucket).
Grid gridOf(const KernelRequest &R, uint32_t Tokens);

/// The hermetic module: device header, kernel templates, instances.
std::string moduleText(const std::vector<KernelInstance> &Instances,
                       std::string_view Target);

/// The same with Arch in place of compiler/kernels/cuda/arch (for tests).
std::string moduleText(const std::vector<KernelInstance> &Instances,
                       std::string_view Target, std::string_view Arch);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_KERNELTEXT_H
