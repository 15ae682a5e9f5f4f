// NVRTC found at run time of the compiler: no CUDA header, no link dependency.
// One compile of a text gives the cubin and the PTX of one chip.
#ifndef LLMC_COMPILER_TARGET_CUDA_NVRTC_H
#define LLMC_COMPILER_TARGET_CUDA_NVRTC_H

#include "compiler/target/cuda/PtxasLog.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::cuda {

/// What NVRTC made of one text.
struct CompiledModule {
  std::vector<uint8_t> Cubin;
  std::string Ptx; ///< relabelled to the lowest version that it needs
  std::vector<KernelFacts> Kernels; ///< in order of the log
  std::string Log;
};

/// A loaded NVRTC. Several threads may compile at once.
class Nvrtc {
public:
  /// Looks for the library: Path (file or folder) if not empty, else the file
  /// or folder $LLMC_NVRTC if set, else lib/nvrtc beside the program,
  /// /usr/local/cuda/lib64, the loader's path. Only the first of these that is
  /// given may fail; DoesNotFit lists everything that was tried.
  static Result<std::shared_ptr<const Nvrtc>> open(const std::string &Path);
  ~Nvrtc();
  Nvrtc(const Nvrtc &) = delete;
  Nvrtc &operator=(const Nvrtc &) = delete;

  int major() const { return Major; }
  int minor() const { return Minor; }
  /// "13.0", for the provenance.
  std::string version() const;
  const std::string &path() const { return File; }
  /// Numbers of the chips that it compiles for (80, 86, …).
  const std::vector<int> &archs() const { return Archs; }

  /// Compiles Text for Target ("sm_80"). Unsupported when this NVRTC does not
  /// know the target, Internal (with the log as notes) when the text does not
  /// compile or a kernel spills or uses local memory.
  Result<CompiledModule>
  compile(std::string_view Text, std::string_view Target,
          const std::vector<std::string> &ExtraOptions = {}) const;

private:
  struct Table;
  Nvrtc();
  Status load(const std::string &Name, std::vector<std::string> &Tried);

  std::unique_ptr<Table> Api;
  std::string File;
  int Major = 0, Minor = 0;
  std::vector<int> Archs;
};

/// Fails, naming the kernel and both numbers, when a kernel spills registers or
/// uses local memory: no kernel of ours may.
Status checkResources(const std::vector<KernelFacts> &Kernels);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_NVRTC_H
