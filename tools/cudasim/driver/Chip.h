// The chip that the simulator stands for.
#ifndef LLMC_TOOLS_CUDASIM_DRIVER_CHIP_H
#define LLMC_TOOLS_CUDASIM_DRIVER_CHIP_H

#include "runtime/base/GpuModel.h"

namespace llmc::cudasim {

/// The chip of $LLMC_CUDASIM_CHIP; without it "any", which takes the PTX of
/// every target.
const GpuChip &chip();

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_DRIVER_CHIP_H
