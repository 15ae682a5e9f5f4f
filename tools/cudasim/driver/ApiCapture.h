// What the files of the driver API share: stream capture, and telling the
// sanitizer about memory.
#ifndef LLMC_TOOLS_CUDASIM_DRIVER_APICAPTURE_H
#define LLMC_TOOLS_CUDASIM_DRIVER_APICAPTURE_H

#include "tools/cudasim/driver/State.h"

namespace llmc::cudasim {

/// Adds a node behind the capture's last one.
int record(Stream &S, GraphNode::Kind What, std::function<int()> Do);
int record(Stream &S, std::shared_ptr<KernelWork> Launch);
/// A call that a capture cannot hold: CaptureUnsupported, and the capture is
/// no longer valid.
int breakCapture(Stream &S);

/// The host wrote (To) or read (From) device memory; 0 for none.
void noteTransfer(Context &C, uint64_t To, uint64_t From, uint64_t Bytes);
/// A new allocation, whose content is undefined.
void noteAllocation(Context &C, uint64_t At, uint64_t Bytes);
/// The watcher of a launch, or null.
Watcher *launchWatcher(Context &C, const Launch &L);

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_DRIVER_APICAPTURE_H
