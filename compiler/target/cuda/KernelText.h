// A kernel request (catalogue name, constants, which buffers there are) as
// CUDA C++: one struct of constants and one entry function that calls the
// template of compiler/kernels/cuda. No MLIR, no NVRTC.
#ifndef LLMC_COMPILER_TARGET_CUDA_KERNELTEXT_H
#define LLMC_COMPILER_TARGET_CUDA_KERNELTEXT_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::cuda {

/// One of the kernels that make an mma product (ProductForms.h).
enum class FormKind {
  Prepare, ///< rows normed and rounded into scratch
  Decode,  ///< few tokens, K split over the warps of a block
  Tile,    ///< many tokens
  Finish   ///< rope and cache behind raw sums of qkv
};
struct ProductForm {
  FormKind Kind = FormKind::Decode;
  bool Prepared = false;    ///< reads prepared rows
  unsigned Tiles = 2;       ///< row tiles per block (Decode) or warp (Tile)
  unsigned Warps = 1;       ///< Decode: at most segments of K
  unsigned TokenTiles = 1;  ///< Decode: tokens / 8
  unsigned Depth = 1;       ///< Decode: steps of weights on their way
  unsigned TokenGroups = 1; ///< Tile: tokens / 32
  unsigned Stages = 0;      ///< Tile: buffers of activations
  bool Early = false;       ///< waits for the launch before it by itself
};

/// Everything that decides the text of a kernel. Equal requests are one kernel.
struct KernelRequest {
  std::string Kernel; ///< name in compiler/kernels/Catalogue.h
  std::map<std::string, int64_t> Ints;
  std::map<std::string, float> Floats;
  std::vector<bool> Present; ///< per buffer of the catalogue: not null
  int64_t KvPageStride = 0;  ///< bytes from a page to the next
  int64_t MaxContext = 0; ///< tokens of a sequence at most; for grids, 0: many
  int64_t MaxSequences = 0; ///< of a step; for grids, 0: as many as rows
  int64_t SmallBuckets = 0; ///< buckets of at most AttentionDecodeRows rows
  unsigned Stage = 0;       ///< of a kernel of several launches
  std::optional<ProductForm> Form = std::nullopt; ///< of an mma product
};

struct Grid {
  uint32_t X = 1, Y = 1, Z = 1;
};

/// A parameter of an entry function, in order.
enum class ParamKind {
  Counts,
  Positions,
  RowSeq,
  PageTable,
  Tickets, ///< LLMC_ARG_CUDA_TICKETS
  Lengths,
  Buffer,
  Integer
};
struct Param {
  ParamKind Kind;
  /// Index in the catalogue: of a buffer or of an integer constant.
  unsigned Index = 0;
};

/// A request turned into text.
struct KernelInstance {
  std::string Entry;          ///< <kernel>_<types>_<shape>_<hash>_<target>
  std::string Text;           ///< struct of constants and entry function
  unsigned Block = 0;         ///< threads, one dimension
  unsigned DynamicShared = 0; ///< bytes of shared memory that a launch gives
  uint64_t BytesInFlight = 0; ///< of memory, by a block; 0: not known
  std::vector<Param> Params;
};

/// Launches that R takes (its Stage apart), one after another. At least 1, for
/// unknown kernels, too.
unsigned stagesOf(const KernelRequest &R);

/// Whether launches of that target may begin before their predecessor ends:
/// all its kernels wait by themselves.
bool beginsEarly(std::string_view Target);

/// Checks the constants and writes the text. Unsupported names the constant
/// with its value and what the CUDA kernels take.
Result<KernelInstance> instantiate(const KernelRequest &R,
                                   std::string_view Target);

/// Blocks that cover Tokens token rows (a bucket); for requests without form.
Grid gridOf(const KernelRequest &R, uint32_t Tokens);

/// The hermetic module: device header, kernel templates, instances.
std::string moduleText(const std::vector<KernelInstance> &Instances,
                       std::string_view Target);

/// The same with Arch in place of compiler/kernels/cuda/arch (for tests).
std::string moduleText(const std::vector<KernelInstance> &Instances,
                       std::string_view Target, std::string_view Arch);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_KERNELTEXT_H
