// What the files that are compiled once per instruction set of the host
// (-DSIM_ISA=…) give each other, and the pieces of the fast paths.
#ifndef LLMC_TOOLS_CUDASIM_EXEC_HANDLERS_H
#define LLMC_TOOLS_CUDASIM_EXEC_HANDLERS_H

#include "tools/cudasim/exec/Machine.h"

namespace llmc::cudasim::SIM_ISA {

void fillAlu(Executor &E);
void fillMemory(Executor &E);
void fillMatrix(Executor &E);

} // namespace llmc::cudasim::SIM_ISA

namespace llmc::cudasim {
// One instruction set's table (exec/Alu.cpp).
const Executor &baselineExecutor();
const Executor &avx2Executor();
const Executor &avx512Executor();

// Written once, for all instruction sets.
void fillCollective(Executor &E);
void fillSpecial(Executor &E);
/// shfl.sync of any mode.
void shuffleAny(Warp &W, const Inst &I);
} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_EXEC_HANDLERS_H
