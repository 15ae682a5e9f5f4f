// What a kernel may do while its predecessor still runs (programmatic dependent
// launch, sm_90 and newer), checked on the PTX that ships.
#ifndef LLMC_COMPILER_TARGET_CUDA_EARLYLAUNCH_H
#define LLMC_COMPILER_TARGET_CUDA_EARLYLAUNCH_H

#include "runtime/base/Status.h"

#include <set>
#include <string_view>
#include <vector>

namespace llmc::cuda {

/// Checks the entry of that name: every path passes griddepcontrol.wait before
/// it ends; before it, nothing is stored and only memory is read whose address
/// comes from the parameters of Constant (numbers from 0), which no launch
/// writes. Internal, with the instruction, when one of this is not so.
Status checkEarlyLaunch(std::string_view Ptx, std::string_view Entry,
                        const std::set<unsigned> &Constant);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_EARLYLAUNCH_H
