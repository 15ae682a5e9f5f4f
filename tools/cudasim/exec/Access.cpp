// The careful way to memory: spaces, bounds, alignment, one lane after another;
// and what a fault says.
#include "tools/cudasim/exec/DeviceMemory.h"
#include "tools/cudasim/exec/Machine.h"

#include <cstdio>
#include <sys/mman.h>

namespace llmc::cudasim {

const Windows &windows() {
  static const Windows W = [] {
    auto Reserve = [] {
      void *P = mmap(nullptr, Windows::Bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      return P == MAP_FAILED ? uint64_t{0} : reinterpret_cast<uint64_t>(P);
    };
    return Windows{Reserve(), Reserve(), Reserve()};
  }();
  return W;
}

bool inOneAllocation(const Launch &L, uint64_t Low, uint64_t High) {
  thread_local uint64_t In = 0, Begin = 0, End = 0;
  if (In == L.Serial && Low >= Begin && High <= End)
    return true;
  const Allocation *A = L.Memory->find(Low, High - Low);
  if (!A || A->ReadOnly)
    return false; // the careful way tells loads and stores apart
  In = L.Serial;
  Begin = A->Begin;
  End = A->end();
  return true;
}

std::string placeText(Warp &W, unsigned Lane) {
  const Launch &L = *W.Run;
  uint32_t T = W.Index * LaneCount + Lane;
  char Text[96];
  std::snprintf(Text, sizeof(Text), "block (%u,%u,%u), thread (%u,%u,%u)",
                W.Block->Id[0], W.Block->Id[1], W.Block->Id[2], T % L.Block[0],
                T / L.Block[0] % L.Block[1], T / L.Block[0] / L.Block[1]);
  return Text;
}

std::string instText(const Launch &L, const Inst &I) {
  std::string Text = "kernel " + L.Prog->Name;
  if (I.SourceLine)
    Text += ", source line " + std::to_string(I.SourceLine);
  return Text + ", PTX line " + std::to_string(I.Line);
}

void throwFault(Warp &W, const Inst &I, int Code, const std::string &Text) {
  unsigned Lane = W.Mask ? static_cast<unsigned>(__builtin_ctz(W.Mask)) : 0;
  throw Fault{Code,
              Text + ": " + instText(*W.Run, I) + ", " + placeText(W, Lane)};
}

static const char *spaceName(Space S) {
  static const char *const Names[] = {"generic", "global", "shared",
                                      "local",   "const",  "param"};
  return Names[static_cast<size_t>(S)];
}

[[noreturn]] static void faultAt(Warp &W, const Inst &I, unsigned Lane,
                                 int Code, const std::string &Text) {
  throw Fault{Code,
              Text + ": " + instText(*W.Run, I) + ", " + placeText(W, Lane)};
}

static std::string hex(uint64_t V) {
  char Text[24];
  std::snprintf(Text, sizeof(Text), "0x%llx",
                static_cast<unsigned long long>(V));
  return Text;
}

/// The space of a generic address, which becomes the address in it.
static Space classify(uint64_t &Address) {
  const Windows &Win = windows();
  auto In = [&](uint64_t Window) {
    return Address >= Window && Address - Window < Windows::Bytes;
  };
  if (In(Win.Shared)) {
    Address -= Win.Shared;
    return Space::Shared;
  }
  if (In(Win.Local)) {
    Address -= Win.Local;
    return Space::Local;
  }
  if (In(Win.Param)) {
    Address -= Win.Param;
    return Space::Param;
  }
  return Space::Global;
}

static uint8_t *resolveOne(Warp &W, const Inst &I, unsigned Lane, Space S,
                           uint64_t Address, unsigned Bytes, bool Writes) {
  const Launch &L = *W.Run;
  uint64_t Low = 0, High = 0;
  uint8_t *Base = nullptr;
  switch (S) {
  case Space::Shared:
    Low = SharedBase;
    High = SharedBase + uint64_t{W.Block->SharedBytes};
    Base = W.Block->Shared - SharedBase;
    break;
  case Space::Local:
    High = L.Prog->LocalBytes;
    Base = W.Local + size_t{Lane} * L.Prog->LocalBytes;
    break;
  case Space::Param:
    High = L.Params.size();
    Base = const_cast<uint8_t *>(L.Params.data());
    if (Writes)
      faultAt(W, I, Lane, IllegalAddress, "a write to a parameter");
    break;
  default: {
    const Allocation *A = L.Memory->find(Address, Bytes);
    if (!A || (A->ReadOnly && Writes))
      faultAt(W, I, Lane, IllegalAddress,
              std::string(Writes ? "invalid write of " : "invalid read of ") +
                  std::to_string(Bytes) + " bytes at " + hex(Address) + ", " +
                  (A ? "read-only memory" : L.Memory->describe(Address)));
    return reinterpret_cast<uint8_t *>(Address);
  }
  }
  if (Address < Low || Address > High || Bytes > High - Address)
    faultAt(W, I, Lane, IllegalAddress,
            std::string(Writes ? "invalid write of " : "invalid read of ") +
                std::to_string(Bytes) + " bytes at " + spaceName(S) +
                " address " + hex(Address) + ", which has " + hex(Low) +
                " to " + hex(High));
  return Base + Address;
}

void resolveLanes(Warp &W, const Inst &I, Space Where,
                  const uint64_t *Addresses, unsigned Bytes,
                  AccessEvent::Kind Kind, uint8_t **Host) {
  uint64_t Local[LaneCount];
  uint32_t OfSpace[6] = {};
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    uint64_t Address = Addresses[Lane];
    Space S = Where == Space::Generic ? classify(Address) : Where;
    if (Address % Bytes != 0)
      faultAt(W, I, Lane, MisalignedAddress,
              "misaligned access of " + std::to_string(Bytes) + " bytes at " +
                  spaceName(S) + " address " + hex(Address));
    Host[Lane] =
        resolveOne(W, I, Lane, S, Address, Bytes, Kind != AccessEvent::Read);
    Local[Lane] = Address;
    OfSpace[static_cast<size_t>(S)] |= 1u << Lane;
  }
  if (Watcher *Watch = W.Run->Watch)
    for (unsigned S = 0; S != 6; ++S)
      if (OfSpace[S] != 0)
        Watch->access(W, I,
                      {Kind, static_cast<Space>(S), OfSpace[S], Local, Bytes});
}

} // namespace llmc::cudasim
