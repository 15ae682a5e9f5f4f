// Which watcher sees the launches: the sanitizer, the counters, or nobody.
#include "tools/cudasim/driver/ApiCapture.h"
#include "tools/cudasim/profile/Profile.h"
#include "tools/cudasim/sanitize/Sanitizer.h"

namespace llmc::cudasim {

static Sanitizer *sanitizerOf(Context &C) {
  if (!settings().Sanitize)
    return nullptr;
  if (!C.Checks) {
    reportFindingsAtExit();
    C.Checks = std::make_shared<Sanitizer>(settings().NanOrigin);
  }
  return static_cast<Sanitizer *>(C.Checks.get());
}

void noteTransfer(Context &C, uint64_t To, uint64_t, uint64_t Bytes) {
  if (Sanitizer *S = sanitizerOf(C); S && To)
    S->written(C.Memory, To, Bytes);
}

void noteAllocation(Context &C, uint64_t At, uint64_t Bytes) {
  if (Sanitizer *S = sanitizerOf(C))
    S->allocated(At, Bytes);
}

Watcher *launchWatcher(Context &C, const Launch &L) {
  if (Sanitizer *S = sanitizerOf(C)) {
    if (settings().SanitizeFirst && S->hasSeen(L))
      return nullptr;
    return S;
  }
  return settings().Profile.empty() ? nullptr : profileWatcher();
}

} // namespace llmc::cudasim
