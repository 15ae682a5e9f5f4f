// llmc run --batch: many requests at once.
#ifndef LLMC_TOOLS_LLMCRUN_BATCH_H
#define LLMC_TOOLS_LLMCRUN_BATCH_H

#include "tools/llmc-run/RunFlags.h"

namespace llmcrun {

void runBatch(const RunFlags &F);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_BATCH_H
