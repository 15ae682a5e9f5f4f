// Counters of launches and the time that a model of the chip gives them.
#ifndef LLMC_TOOLS_CUDASIM_PROFILE_PROFILE_H
#define LLMC_TOOLS_CUDASIM_PROFILE_PROFILE_H

#include "tools/cudasim/exec/Machine.h"

#include <map>

namespace llmc::cudasim {

/// Sums over the launches of a kernel. Names in the report follow ncu where
/// there is a cousin; PTX instructions are not SASS instructions.
struct Counters {
  uint64_t Launches = 0, Blocks = 0, Threads = 0;
  uint64_t Instructions = 0, LaneInstructions = 0, Divergent = 0;
  uint64_t LoadRequests = 0, LoadSectors = 0, LoadBytes = 0;
  uint64_t StoreRequests = 0, StoreSectors = 0, StoreBytes = 0;
  uint64_t UniqueSectors = 0; ///< of a launch, summed over launches
  uint64_t BlockSectors = 0;  ///< unique within a block: what L2 serves
  uint64_t SharedRequests = 0, SharedWavefronts = 0, SharedConflicts = 0;
  uint64_t LocalSectors = 0, Atomics = 0, Barriers = 0;
  uint64_t TensorMacs16 = 0, TensorMacs8 = 0, TensorMacs32 = 0, Fma32 = 0;
  unsigned Registers = 0, SharedBytes = 0, Resident = 0;
  double Microseconds = 0; ///< modelled
  double BoundMicroseconds[6] = {};
};
/// What limits a kernel, by the index of BoundMicroseconds.
const char *boundName(unsigned Bound);

/// Sectors of 32 bytes that the lanes touch.
unsigned sectorsOf(const AccessEvent &E);
/// Passes through the 32 banks of 4 bytes that an access needs; Least is what
/// it would need without conflicts.
unsigned wavefrontsOf(const AccessEvent &E, unsigned &Least);

/// Modelled time of one launch, from its counters alone.
double modelledMicroseconds(const Counters &C, double (&Bounds)[6]);

/// The watcher that counts; reports at exit.
Watcher *profileWatcher();
/// Counters by kernel so far.
const std::map<std::string, Counters> &profileCounters();

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_PROFILE_PROFILE_H
