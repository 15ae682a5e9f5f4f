// Launches that may begin before those in front of them have ended
// (programmatic serialization). Until its griddepcontrol.wait a thread may only
// touch what no launch since the last complete wait has written; how early the
// chip begins is not known, so all of them count. A launch that does not wait
// at all also breaks the order for those behind it, whose wait is for it alone.
#include "tools/cudasim/sanitize/Sanitizer.h"

#include <cstdio>

namespace llmc::cudasim {

void Sanitizer::beginHistory(const Launch &L) {
  if (L.Early) {
    Before.add(Here);
  } else {
    Before.clear();
    Kernels.clear();
  }
  Here.clear();
  Kernel = static_cast<uint32_t>(Kernels.size());
  Kernels.push_back(L.Prog->Name);
  AnyWaited = false;
}

void Sanitizer::endHistory(const Launch &L) {
  if (!L.Early || AnyWaited)
    return;
  Finding F;
  F.Kind = "early-launch";
  F.Kernel = L.Prog->Name;
  F.Text = "no thread waits for the launch before (griddepcontrol.wait), so "
           "later launches are not ordered behind that: kernel " +
           L.Prog->Name;
  findings().add(std::move(F));
}

void Sanitizer::gridWait(Warp &W, const Inst &I) {
  (*Executed)[I.Line] = 1;
  stateOf(*W.Block).Warps[W.Index].Waited = true;
  AnyWaited = true;
}

void Sanitizer::checkEarly(Warp &W, const Inst &I, const AccessEvent &E) {
  bool Writes = E.What != AccessEvent::Read;
  bool Waits = W.Run->Early && !stateOf(*W.Block).Warps[W.Index].Waited;
  for (uint32_t Rest = E.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    uint64_t First = E.Addresses[Lane];
    for (uint64_t At = First / 4 * 4; At < First + E.Bytes; At += 4) {
      if (Waits)
        if (const LaunchHistory::Page *P = Before.conflict(At, Writes)) {
          char Place[32];
          std::snprintf(Place, sizeof(Place), "0x%llx",
                        static_cast<unsigned long long>(At));
          found("early-launch", W, I, Lane,
                std::string(Writes ? "write" : "read") + " at global address " +
                    Place +
                    " in front of griddepcontrol.wait; launches before use "
                    "it, " +
                    (P->HasWriter ? "kernel " + Kernels[P->Writer] + " writes"
                                  : "one of them reads") +
                    " there");
        }
      Here.add(At, Writes, Kernel);
      if (E.What == AccessEvent::ReadWrite)
        Here.add(At, false, Kernel);
    }
  }
}

} // namespace llmc::cudasim
