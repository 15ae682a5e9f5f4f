// The PTX version that a text really needs. NVRTC writes its own newest one,
// which drivers older than it refuse; the instructions need much less.
#ifndef LLMC_COMPILER_TARGET_CUDA_PTXVERSION_H
#define LLMC_COMPILER_TARGET_CUDA_PTXVERSION_H

#include "runtime/base/Status.h"

#include <string>
#include <string_view>

namespace llmc::cuda {

struct PtxVersion {
  int Major = 0, Minor = 0;
  friend bool operator<(PtxVersion A, PtxVersion B) {
    return A.Major != B.Major ? A.Major < B.Major : A.Minor < B.Minor;
  }
  friend bool operator==(PtxVersion, PtxVersion) = default;
};

/// Lowest version that the target and every instruction of Ptx need. An opcode
/// that the table does not know needs the version that Ptx states.
Result<PtxVersion> neededPtxVersion(std::string_view Ptx);

/// Ptx with its `.version` line set to neededPtxVersion. Malformed when there
/// is no `.version` or `.target` line.
Result<std::string> relabelPtx(std::string_view Ptx);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_PTXVERSION_H
