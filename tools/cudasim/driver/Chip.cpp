// Which chip: the environment says.
#include "tools/cudasim/driver/Chip.h"

#include <cstdlib>

namespace llmc::cudasim {

/// An H100 with the capability of the newest target.
static GpuChip anyChip() {
  GpuChip C = *findGpuChip("h100");
  C.Key = "any";
  C.Title = "any chip";
  C.Major = 12;
  C.Minor = 0;
  return C;
}

const GpuChip &chip() {
  static const GpuChip Any = anyChip();
  const char *Wanted = std::getenv("LLMC_CUDASIM_CHIP");
  const GpuChip *Found = Wanted ? findGpuChip(Wanted) : nullptr;
  return Found ? *Found : Any;
}

} // namespace llmc::cudasim
