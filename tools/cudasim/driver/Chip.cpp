// Data sheet numbers: capacities and peak rates, dense.
#include "tools/cudasim/driver/Chip.h"

#include <cstdlib>
#include <cstring>

namespace llmc::cudasim {

constexpr uint64_t GiB = uint64_t{1} << 30, MiB = uint64_t{1} << 20;

static const Chip Chips[] = {
    // The capability of the newest target with the memory of an H100.
    {"any", "llmc simulator", 12, 0, 132, 233472, 232448, 64, 32, 80 * GiB,
     50 * MiB, 1.83, 3.35, 989, 1979, 66.9},
    {"a100", "llmc simulator (A100)", 8, 0, 108, 167936, 166912, 64, 32,
     80 * GiB, 40 * MiB, 1.41, 2.039, 312, 624, 19.5},
    {"a10", "llmc simulator (A10)", 8, 6, 72, 102400, 101376, 48, 16, 24 * GiB,
     6 * MiB, 1.695, 0.60, 125, 250, 31.2},
    {"l4", "llmc simulator (L4)", 8, 9, 58, 102400, 101376, 48, 24, 24 * GiB,
     48 * MiB, 2.04, 0.30, 121, 242, 30.3},
    {"rtx4090", "llmc simulator (RTX 4090)", 8, 9, 128, 102400, 101376, 48, 24,
     24 * GiB, 72 * MiB, 2.52, 1.008, 165, 660, 82.6},
    {"h100", "llmc simulator (H100)", 9, 0, 132, 233472, 232448, 64, 32,
     80 * GiB, 50 * MiB, 1.83, 3.35, 989, 1979, 66.9},
    {"h200", "llmc simulator (H200)", 9, 0, 132, 233472, 232448, 64, 32,
     141 * GiB, 50 * MiB, 1.83, 4.8, 989, 1979, 66.9},
    {"b200", "llmc simulator (B200)", 10, 0, 148, 233472, 232448, 64, 32,
     180 * GiB, 126 * MiB, 1.85, 7.7, 2250, 4500, 75.0},
    {"rtx5090", "llmc simulator (RTX 5090)", 12, 0, 170, 102400, 101376, 48, 24,
     32 * GiB, 96 * MiB, 2.41, 1.792, 209, 838, 104.8}};

const Chip &chip() {
  const char *Wanted = std::getenv("LLMC_CUDASIM_CHIP");
  for (const Chip &C : Chips)
    if (Wanted && std::strcmp(Wanted, C.Key) == 0)
      return C;
  return Chips[0];
}

} // namespace llmc::cudasim
