// A launch: blocks in order on a few threads. A block that waits for another
// one (it has had its turns and is not done) is put aside and others are
// started, up to what would be resident on the chip; so grids that synchronise
// among their blocks work.
#include "tools/cudasim/exec/DeviceMemory.h"
#include "tools/cudasim/exec/Handlers.h"
#include "tools/cudasim/exec/Pool.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>

namespace llmc::cudasim {
namespace {

using Clock = std::chrono::steady_clock;

/// Memory of one block at a time: registers of its warps, shared and local
/// memory. Values that stay the same for all blocks are filled in once.
class BlockStorage {
public:
  explicit BlockStorage(Launch &Of) : L(Of), P(*Of.Prog) {
    Warps = (L.threads() + LaneCount - 1) / LaneCount;
    Cta &B = Block;
    B.Run = &L;
    B.SharedBytes = P.SharedBytes + dynamicPad() + L.DynamicShared;
    size_t RegBytes = (size_t{P.RegisterBytes} + 63) / 64 * 64;
    size_t LocalBytes = size_t{P.LocalBytes} * LaneCount;
    Bytes.resize(Warps * (RegBytes + LocalBytes) + B.SharedBytes + 4096 + 64);
    uint8_t *At = Bytes.data();
    At += (4096 - reinterpret_cast<uintptr_t>(At) % 4096) % 4096;
    // Shared offset 1024 is as aligned as the widest variable may ask for.
    B.Shared = At;
    At += (size_t{B.SharedBytes} + 63) / 64 * 64;
    B.Warps.resize(Warps);
    for (uint32_t I = 0; I != Warps; ++I) {
      Warp &W = B.Warps[I];
      W.Regs = At;
      At += RegBytes;
      W.Local = At;
      At += LocalBytes;
      W.Lists = P.Lists.data();
      W.Block = &B;
      W.Run = &L;
      W.Index = I;
    }
    for (Warp &W : B.Warps)
      for (const Fill &F : P.Fills)
        if (F.What != Fill::SpecialRegister || !perBlock(F.Name))
          fill(W, F);
  }

  void start(uint64_t Number) {
    Cta &B = Block;
    B.Id[0] = static_cast<uint32_t>(Number % L.Grid[0]);
    B.Id[1] = static_cast<uint32_t>(Number / L.Grid[0] % L.Grid[1]);
    B.Id[2] = static_cast<uint32_t>(Number / L.Grid[0] / L.Grid[1]);
    B.Done = false;
    B.Triggered = false;
    B.Started = Number;
    std::memset(B.Shared, 0xff, B.SharedBytes);
    for (NamedBarrier &Bar : B.Barriers) {
      Bar.Active = false;
      Bar.Expected = 0;
      std::fill(Bar.Arrived.begin(), Bar.Arrived.end(), 0);
    }
    for (Warp &W : B.Warps) {
      uint32_t Threads = L.threads() - W.Index * LaneCount;
      W.Live = Threads >= LaneCount ? AllLanes : (1u << Threads) - 1;
      W.Mask = 0;
      Group G;
      G.Mask = W.Live;
      W.Groups.assign(1, G);
      W.Spins = 0;
      W.Async.clear();
      W.Random = (L.Seed + 1) * 0x9e3779b97f4a7c15u ^
                 (Number * 1031 + W.Index + 1) * 0xbf58476d1ce4e5b9u;
      if (W.Random == 0)
        W.Random = 1;
      for (const Fill &F : P.Fills)
        if (F.What == Fill::SpecialRegister && perBlock(F.Name))
          fill(W, F);
    }
    if (L.Watch)
      L.Watch->beginBlock(B);
  }

  void finish() {
    uint64_t Executed = 0, Lanes = 0, Divergent = 0;
    for (Warp &W : Block.Warps) {
      Executed += W.Executed;
      Lanes += W.LaneExecuted;
      Divergent += W.Divergent;
      W.Executed = W.LaneExecuted = W.Divergent = 0;
    }
    L.Executed += Executed;
    L.LaneExecuted += Lanes;
    L.Divergent += Divergent;
  }

  Cta Block;

private:
  static bool perBlock(const std::string &Name) {
    return Name.rfind("%ctaid", 0) == 0 || Name == "%smid";
  }
  /// Dynamic shared memory begins 16-byte aligned behind the static one.
  uint32_t dynamicPad() const {
    return L.DynamicShared ? (16 - P.SharedBytes % 16) % 16 : 0;
  }

  uint64_t parameter(const Fill &F) const {
    uint64_t V = 0;
    std::memcpy(&V, L.Params.data() + F.Bits, F.Bytes);
    if (F.Signed) {
      unsigned Shift = 64 - 8 * F.Bytes;
      V = static_cast<uint64_t>(static_cast<int64_t>(V << Shift) >> Shift);
    }
    return V;
  }

  uint64_t special(const Warp &W, const std::string &N, unsigned Lane) const {
    uint32_t T = W.Index * LaneCount + Lane;
    auto Axis = [&](const uint32_t (&Three)[3]) -> uint64_t {
      return N.back() == 'x' ? Three[0] : N.back() == 'y' ? Three[1] : Three[2];
    };
    uint32_t Tid[3] = {T % L.Block[0], T / L.Block[0] % L.Block[1],
                       T / L.Block[0] / L.Block[1]};
    if (N.rfind("%tid.", 0) == 0)
      return Axis(Tid);
    if (N.rfind("%ntid.", 0) == 0)
      return Axis(L.Block);
    if (N.rfind("%ctaid.", 0) == 0)
      return Axis(W.Block->Id);
    if (N.rfind("%nctaid.", 0) == 0)
      return Axis(L.Grid);
    uint64_t Bit = uint64_t{1} << Lane;
    if (N == "%laneid")
      return Lane;
    if (N == "%warpid")
      return W.Index;
    if (N == "%nwarpid")
      return Warps;
    if (N == "%lanemask_eq")
      return Bit;
    if (N == "%lanemask_lt")
      return Bit - 1;
    if (N == "%lanemask_le")
      return Bit | (Bit - 1);
    if (N == "%lanemask_gt")
      return AllLanes & ~(Bit | (Bit - 1));
    if (N == "%lanemask_ge")
      return AllLanes & ~(Bit - 1);
    if (N == "%smid")
      return W.Block->Started % std::max(1u, L.Multiprocessors);
    if (N == "%nsmid")
      return L.Multiprocessors;
    if (N == "%dynamic_smem_size")
      return L.DynamicShared;
    if (N == "%total_smem_size")
      return W.Block->SharedBytes;
    if (N == "%gridid")
      return L.Serial;
    if (N == "%cluster_nctarank" || N.rfind("%cluster_nctaid", 0) == 0)
      return 1;
    if (N.rfind("%nclusterid.", 0) == 0)
      return Axis(L.Grid);
    if (N.rfind("%clusterid.", 0) == 0)
      return Axis(W.Block->Id);
    return 0;
  }

  void fill(Warp &W, const Fill &F) {
    bool PerLane = F.What == Fill::SpecialRegister && !perBlock(F.Name);
    uint64_t Same = F.What == Fill::Parameter         ? parameter(F)
                    : F.What == Fill::SpecialRegister ? special(W, F.Name, 0)
                                                      : F.Bits;
    for (unsigned Lane = 0; Lane != LaneCount; ++Lane) {
      uint64_t V = PerLane ? special(W, F.Name, Lane) : Same;
      if (F.Wide)
        W.slot<uint64_t>(F.Slot)[Lane] = V;
      else
        W.slot<uint32_t>(F.Slot)[Lane] = static_cast<uint32_t>(V);
    }
  }

  Launch &L;
  const Program &P;
  uint32_t Warps = 0;
  std::vector<uint8_t> Bytes;
};

void beginGrid(Launch &L);

class GridRun {
public:
  explicit GridRun(Launch &Of)
      : L(Of), Blocks(uint64_t{L.Grid[0]} * L.Grid[1] * L.Grid[2]),
        End(Clock::now() + std::chrono::seconds(settings().TimeLimit)) {
    if (settings().RandomOrder && Blocks < (1u << 20)) {
      Order.resize(Blocks);
      std::iota(Order.begin(), Order.end(), uint64_t{0});
      uint64_t R = L.Seed * 2 + 1;
      for (size_t I = Order.size(); I > 1; --I) {
        R = R * 6364136223846793005u + 1442695040888963407u;
        std::swap(Order[I - 1], Order[(R >> 33) % I]);
      }
    }
  }

  Fault run() {
    if (L.Watch)
      L.Watch->begin(L);
    release();
    bool Overlaps = overlap();
    bool Alone = L.Watch || Blocks == 1 || Overlaps || !Held.empty();
    unsigned Threads = Alone ? 1 : poolThreads();
    if (Threads == 1)
      work(L.Resident);
    else
      runOnPool([this, Threads] { work(std::max(1u, L.Resident / Threads)); });
    if (L.Watch && Result.Text.empty())
      L.Watch->end(L);
    return Result;
  }

  /// Some blocks, until they wait for the launch before this one.
  void begin() {
    L.PredecessorDone = false;
    uint64_t R = (L.Seed + L.Serial) * 0x9e3779b97f4a7c15u;
    uint64_t Count = (R >> 40) % (std::min(Blocks, MostEarly) + 1);
    hold([&] { return Held.size() < Count; });
  }

private:
  /// Blocks of this or a dependent launch that are kept while others run.
  static constexpr uint64_t MostHeld = 128, MostEarly = 16;

  /// Starts blocks while More says so and runs each for a turn or two.
  template <class Condition> void hold(Condition More) {
    try {
      while (!Failed && More()) {
        uint64_t N = Next++;
        if (N >= Blocks)
          return;
        std::unique_ptr<BlockStorage> B = std::make_unique<BlockStorage>(L);
        B->start(Order.empty() ? N : Order[N]);
        runCta(B->Block);
        if (B->Block.Done)
          B->finish();
        else
          Held.push_back(std::move(B));
      }
    } catch (const Fault &F) {
      fail(F);
    } catch (const std::bad_alloc &) {
      fail({2, "out of memory: kernel " + L.Prog->Name});
    }
  }

  /// What waits for the launch before this one goes on.
  void release() {
    L.PredecessorDone = true;
    for (const std::unique_ptr<BlockStorage> &S : Held)
      for (Warp &W : S->Block.Warps)
        for (Group &G : W.Groups)
          if (G.Now == Group::AtGridWait)
            G.Now = Group::Ready;
  }

  /// Runs all blocks to where they let the dependent launch begin, then begins
  /// it: the earliest moment that the chip allows.
  bool overlap() {
    if (!L.Dependent || L.Watch || L.Dependent->Watch ||
        !settings().RandomOrder || Blocks > MostHeld)
      return false;
    L.HoldAtTrigger = true;
    hold([] { return true; });
    L.HoldAtTrigger = false;
    bool Allowed = !Failed;
    for (const std::unique_ptr<BlockStorage> &S : Held)
      Allowed &= S->Block.Triggered;
    if (Allowed)
      beginGrid(*L.Dependent);
    return true;
  }

  /// One thread's share: blocks until none is left.
  void work(uint32_t Most) {
    std::vector<std::unique_ptr<BlockStorage>> Active, Idle;
    if (!Held.empty())
      Active = std::exchange(Held, {});
    bool Stuck = true; // all active blocks have had their turns in vain
    try {
      while (!Failed) {
        if (Active.empty() || (Stuck && Active.size() < Most)) {
          uint64_t N = Next++;
          if (N < Blocks) {
            if (Idle.empty())
              Idle.push_back(std::make_unique<BlockStorage>(L));
            Active.push_back(std::move(Idle.back()));
            Idle.pop_back();
            Active.back()->start(Order.empty() ? N : Order[N]);
          } else if (Active.empty()) {
            return;
          }
        }
        Stuck = true;
        for (size_t I = 0; I < Active.size();) {
          Cta &B = Active[I]->Block;
          runCta(B);
          if (!B.Done) {
            ++I;
            continue;
          }
          Stuck = false;
          if (L.Watch)
            L.Watch->endBlock(B);
          Active[I]->finish();
          Idle.push_back(std::move(Active[I]));
          Active.erase(Active.begin() + static_cast<ptrdiff_t>(I));
        }
        if (!Active.empty() && Clock::now() > End)
          throw Fault{LaunchTimeout, "the launch has run for " +
                                         std::to_string(settings().TimeLimit) +
                                         " seconds: kernel " + L.Prog->Name};
      }
    } catch (const Fault &F) {
      fail(F);
    } catch (const std::bad_alloc &) {
      fail({2, "out of memory: kernel " + L.Prog->Name});
    }
  }

  void fail(const Fault &F) {
    std::lock_guard<std::mutex> Lock(Guard);
    if (Result.Text.empty())
      Result = F;
    Failed = true;
  }

  Launch &L;
  uint64_t Blocks;
  Clock::time_point End;
  std::vector<uint64_t> Order;
  std::vector<std::unique_ptr<BlockStorage>> Held;
  std::atomic<uint64_t> Next{0};
  std::atomic<bool> Failed{false};
  std::mutex Guard;
  Fault Result{0, ""};
};

void beginGrid(Launch &L) {
  std::shared_ptr<GridRun> R = std::make_shared<GridRun>(L);
  L.Begun = R;
  R->begin();
}
} // namespace

Fault runGrid(Launch &L) {
  try {
    if (!L.Begun)
      L.Begun = std::make_shared<GridRun>(L);
    Fault F = static_cast<GridRun *>(L.Begun.get())->run();
    L.Begun.reset();
    if (!F.Text.empty() && L.Watch)
      L.Watch->fault(L, F);
    return F;
  } catch (const std::bad_alloc &) {
    return {2, "out of memory: kernel " + L.Prog->Name};
  }
}

const Executor &executor() {
  static const Executor &Best = []() -> const Executor & {
    const char *Wanted = std::getenv("LLMC_CUDASIM_ISA");
    std::string Name = Wanted ? Wanted : "";
#if defined(__x86_64__)
    bool V4 = __builtin_cpu_supports("avx512f") &&
              __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    bool V3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (V4 && (Name.empty() || Name == "avx512"))
      return avx512Executor();
    if (V3 && Name != "baseline")
      return avx2Executor();
#endif
    return baselineExecutor();
  }();
  return Best;
}

void resolveHandlers(Program &P) {
  for (Inst &I : P.Code)
    I.Run = executor().Handlers[static_cast<size_t>(I.Code)];
}

} // namespace llmc::cudasim
