// Handlers that are compiled once, and what they share.
#ifndef LLMC_TOOLS_CUDASIM_EXEC_SPECIAL_H
#define LLMC_TOOLS_CUDASIM_EXEC_SPECIAL_H

#include "tools/cudasim/exec/Machine.h"

namespace llmc::cudasim {

/// A's addresses plus the displacement, for all lanes.
void laneAddresses(Warp &W, const Inst &I, uint64_t *Addresses);

void atomic(Warp &W, const Inst &I);
void copyAsync(Warp &W, const Inst &I);
void copyCommit(Warp &W, const Inst &I);
void copyWait(Warp &W, const Inst &I);
void print(Warp &W, const Inst &I);
void assertFail(Warp &W, const Inst &I);

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_EXEC_SPECIAL_H
