// Counting accesses: a watcher of launches.
#include "tools/cudasim/profile/Profile.h"

#include "tools/cudasim/driver/State.h"

#include <algorithm>
#include <bitset>
#include <cstdlib>
#include <unordered_map>

namespace llmc::cudasim {

void reportProfileAtExit(); // Report.cpp

unsigned sectorsOf(const AccessEvent &E) {
  uint64_t Sectors[LaneCount * 2];
  unsigned Count = 0;
  for (uint32_t Rest = E.Mask; Rest != 0; Rest &= Rest - 1) {
    uint64_t At = E.Addresses[__builtin_ctz(Rest)];
    uint64_t Last = (At + E.Bytes - 1) / 32;
    for (uint64_t S = At / 32; S <= Last && Count != LaneCount * 2; ++S)
      Sectors[Count++] = S;
  }
  std::sort(Sectors, Sectors + Count);
  return static_cast<unsigned>(std::unique(Sectors, Sectors + Count) - Sectors);
}

unsigned wavefrontsOf(const AccessEvent &E, unsigned &Least) {
  // Wide accesses go in parts of 128 bytes: 16 or 8 neighbouring lanes.
  unsigned Lanes = E.Bytes >= 16 ? 8 : E.Bytes == 8 ? 16 : 32;
  unsigned Words = std::max(1u, E.Bytes / 4), Total = 0;
  Least = 0;
  for (unsigned First = 0; First != LaneCount; First += Lanes) {
    std::vector<uint64_t> Banks[32];
    unsigned Most = 0;
    for (unsigned Lane = First; Lane != First + Lanes; ++Lane) {
      if (!(E.Mask >> Lane & 1))
        continue;
      for (unsigned N = 0; N != Words; ++N) {
        uint64_t Word = E.Addresses[Lane] / 4 + N;
        std::vector<uint64_t> &Bank = Banks[Word % 32];
        if (std::find(Bank.begin(), Bank.end(), Word) == Bank.end())
          Bank.push_back(Word);
        Most = std::max(Most, static_cast<unsigned>(Bank.size()));
      }
    }
    Total += Most;
    Least += Most != 0;
  }
  return Total;
}

namespace {

/// Sectors seen, by page of 4 KiB.
class SectorSet {
public:
  /// How many of the access are new.
  unsigned add(const AccessEvent &E) {
    unsigned New = 0;
    for (uint32_t Rest = E.Mask; Rest != 0; Rest &= Rest - 1) {
      uint64_t At = E.Addresses[__builtin_ctz(Rest)];
      for (uint64_t S = At / 32; S <= (At + E.Bytes - 1) / 32; ++S) {
        std::bitset<128> &Page = Pages[S / 128];
        New += !Page[S % 128];
        Page[S % 128] = true;
      }
    }
    return New;
  }
  void clear() { Pages.clear(); }

private:
  std::unordered_map<uint64_t, std::bitset<128>> Pages;
};

std::map<std::string, Counters> &all() {
  static auto *C = new std::map<std::string, Counters>();
  return *C;
}

class Profiler : public Watcher {
public:
  void begin(Launch &) override {
    Now = Counters();
    OfLaunch.clear();
    OfBlock.clear();
  }
  void beginBlock(Cta &) override { OfBlock.clear(); }

  void access(Warp &, const Inst &I, const AccessEvent &E) override {
    uint64_t Bytes =
        uint64_t{E.Bytes} * static_cast<unsigned>(__builtin_popcount(E.Mask));
    switch (E.Where) {
    case Space::Global: {
      bool Reads = E.What == AccessEvent::Read;
      (Reads ? Now.LoadRequests : Now.StoreRequests) += 1;
      (Reads ? Now.LoadSectors : Now.StoreSectors) += sectorsOf(E);
      (Reads ? Now.LoadBytes : Now.StoreBytes) += Bytes;
      Now.Atomics += I.Code == Op::Atomic;
      Now.UniqueSectors += OfLaunch.add(E);
      Now.BlockSectors += OfBlock.add(E);
      break;
    }
    case Space::Shared: {
      unsigned Least = 0, Waves = wavefrontsOf(E, Least);
      Now.SharedRequests += 1;
      Now.SharedWavefronts += Waves;
      Now.SharedConflicts += Waves - Least;
      break;
    }
    case Space::Local:
      Now.LocalSectors += sectorsOf(E);
      break;
    default:
      break;
    }
  }

  void before(Warp &W, const Inst &I) override {
    if (I.Code == Op::FmaF32)
      Now.Fma32 += static_cast<unsigned>(__builtin_popcount(W.Mask));
    if (I.Code != Op::Mma)
      return;
    uint64_t Macs = uint64_t{16} * 8 * static_cast<uint64_t>(I.Imm);
    (I.Of.Bits == 19   ? Now.TensorMacs32
     : I.Of.Bits == 16 ? Now.TensorMacs16
                       : Now.TensorMacs8) += Macs;
  }
  void after(Warp &, const Inst &) override {}
  void decide(Warp &, const Inst &, Value, uint32_t) override {}
  void warpSync(Warp &, const Inst &, uint32_t) override {}
  void arrive(Warp &, const Inst &, uint32_t) override { ++Now.Barriers; }
  void release(Cta &, unsigned) override {}
  void copyWait(Warp &, const Inst &) override {}
  void copyCommit(Warp &) override {}
  void gridWait(Warp &, const Inst &) override {}
  void endBlock(Cta &) override {}

  void end(Launch &L) override {
    Now.Launches = 1;
    Now.Blocks = uint64_t{L.Grid[0]} * L.Grid[1] * L.Grid[2];
    Now.Threads = L.threads();
    Now.Instructions = L.Executed;
    Now.LaneInstructions = L.LaneExecuted;
    Now.Divergent = L.Divergent;
    Now.Registers = estimatedRegisters(*L.Prog);
    Now.SharedBytes = L.Prog->SharedBytes + L.DynamicShared;
    Now.Resident = residentBlocks(*L.Prog, L.threads(), L.DynamicShared);
    Now.Microseconds = modelledMicroseconds(Now, Now.BoundMicroseconds);
    add(all()[L.Prog->Name]);
  }
  void fault(const Launch &, const Fault &F) override {
    report("error " + std::to_string(F.Code) + ": " + F.Text);
  }

private:
  void add(Counters &To) const {
    static uint64_t Counters::*const Sums[] = {&Counters::Launches,
                                               &Counters::Blocks,
                                               &Counters::Instructions,
                                               &Counters::LaneInstructions,
                                               &Counters::Divergent,
                                               &Counters::LoadRequests,
                                               &Counters::LoadSectors,
                                               &Counters::LoadBytes,
                                               &Counters::StoreRequests,
                                               &Counters::StoreSectors,
                                               &Counters::StoreBytes,
                                               &Counters::UniqueSectors,
                                               &Counters::BlockSectors,
                                               &Counters::SharedRequests,
                                               &Counters::SharedWavefronts,
                                               &Counters::SharedConflicts,
                                               &Counters::LocalSectors,
                                               &Counters::Atomics,
                                               &Counters::Barriers,
                                               &Counters::TensorMacs16,
                                               &Counters::TensorMacs8,
                                               &Counters::TensorMacs32,
                                               &Counters::Fma32};
    for (uint64_t Counters::*M : Sums)
      To.*M += Now.*M;
    To.Threads = Now.Threads;
    To.Registers = Now.Registers;
    To.SharedBytes = Now.SharedBytes;
    To.Resident = Now.Resident;
    To.Microseconds += Now.Microseconds;
    for (unsigned I = 0; I != 6; ++I)
      To.BoundMicroseconds[I] += Now.BoundMicroseconds[I];
  }

  Counters Now;
  SectorSet OfLaunch, OfBlock;
};
} // namespace

const std::map<std::string, Counters> &profileCounters() { return all(); }

Watcher *profileWatcher() {
  static Profiler *P = [] {
    std::atexit(reportProfileAtExit);
    return new Profiler();
  }();
  return P;
}

} // namespace llmc::cudasim
