// State of a running grid: warps, blocks, and what they share. Device memory is
// host memory at the same address; shared and local memory are offsets, with
// windows in the generic address space that nothing is mapped at.
#ifndef LLMC_TOOLS_CUDASIM_EXEC_MACHINE_H
#define LLMC_TOOLS_CUDASIM_EXEC_MACHINE_H

#include "tools/cudasim/program/Program.h"

#include <atomic>
#include <deque>
#include <functional>

namespace llmc::cudasim {

class DeviceMemory;
struct Launch;
struct Cta;
class Watcher;

constexpr unsigned LaneCount = 32;
constexpr uint32_t AllLanes = ~uint32_t{0};

/// What ends a launch: an error code of the driver and one line of text.
struct Fault {
  int Code = 719;
  std::string Text;
};

/// Error codes of cuda.h that a kernel can cause.
enum DeviceError : int {
  IllegalAddress = 700,
  LaunchTimeout = 702,
  AssertFailed = 710,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  LaunchFailed = 719
};

struct Group { ///< lanes of a warp at the same place
  enum State : uint8_t { Ready, AtSync, AtBarrier, AtGridWait };
  uint32_t Block = 0;
  uint32_t Mask = 0;
  State Now = Ready;
  uint8_t Barrier = 0;
  const Inst *Waiting = nullptr; ///< the barrier with a result
};

/// A copy of cp.async by one lane that has not happened yet.
struct PendingCopy {
  uint8_t *To;
  const uint8_t *From;
  uint8_t Bytes, Read; ///< the rest is zeroed
};
struct AsyncLane {
  std::vector<PendingCopy> Open;
  std::deque<std::vector<PendingCopy>> Groups;
};

struct Warp {
  uint8_t *Regs = nullptr;
  const uint32_t *Lists = nullptr; ///< of the program
  uint32_t Mask = 0;               ///< lanes of the current instruction
  alignas(
      64) uint32_t MaskLanes[LaneCount] = {}; ///< 0 or all ones, if not full
  Cta *Block = nullptr;
  Launch *Run = nullptr;
  uint8_t *Local = nullptr; ///< lane-major, Program::LocalBytes each
  uint32_t Index = 0;
  uint32_t Live = 0;         ///< lanes that have not exited
  std::vector<Group> Groups; ///< all but exited lanes; sorted by Block
  uint64_t Executed = 0, LaneExecuted = 0, Divergent = 0; ///< counters
  std::vector<AsyncLane> Async; ///< per lane, of lazy copies
  uint32_t Spins = 0;           ///< backward steps while other groups are ready
  uint64_t Random = 0;          ///< state of its random numbers

  uint64_t random() {
    Random ^= Random << 13;
    Random ^= Random >> 7;
    Random ^= Random << 17;
    return Random;
  }
  template <class T> T *slot(Value V) {
    return reinterpret_cast<T *>(Regs + V);
  }
};

struct NamedBarrier {
  uint32_t Expected = 0;                ///< threads, 0: all of the block
  uint32_t Count = 0, All = 1, Any = 0; ///< of bar.red
  std::vector<uint32_t> Arrived;        ///< lanes by warp
  bool Active = false;
};

struct Cta {
  uint32_t Id[3] = {};
  Launch *Run = nullptr;
  uint8_t *Shared = nullptr;
  uint32_t SharedBytes = 0; ///< static and dynamic
  std::vector<Warp> Warps;
  std::array<NamedBarrier, 16> Barriers;
  bool Done = false;
  bool Triggered = false; ///< a thread has let dependents start
  uint64_t Started = 0;
};

/// Settings of the whole simulator, from the environment (Settings.cpp).
struct Settings {
  unsigned Threads = 0;     ///< 0: one per processor
  unsigned Target = 0;      ///< chip; 0: see driver/Device.cpp
  uint64_t MemoryBytes = 0; ///< 0: as the chip, but at most of the host
  unsigned TimeLimit = 600; ///< seconds of a launch
  uint64_t Seed = 0;        ///< of all that is random
  bool RandomOrder = false; ///< of warps, blocks
  bool LazyCopies = false;  ///< cp.async happens at the wait
  bool FuzzApprox = false;
  bool RandomStreams = false, EagerStreams = false;
  unsigned MaxPtx = 0; ///< highest version, 0: any
  enum Tensor : uint8_t { Fp32, Ideal, Arch } TensorMode = Fp32;
  bool Sanitize = false, NanOrigin = false;
  bool SanitizeFirst = false; ///< two launches of each kernel and grid only
  std::string Report;         ///< file of findings as JSON
  std::string Profile;        ///< file of counters as JSON, "-": a table
};
const Settings &settings();
/// Reads the environment again: for tests.
void reloadSettings();

/// One kernel launch.
struct Launch {
  const Program *Prog = nullptr;
  uint32_t Grid[3] = {1, 1, 1}, Block[3] = {1, 1, 1};
  uint32_t DynamicShared = 0;
  std::vector<uint8_t> Params;
  DeviceMemory *Memory = nullptr;
  Watcher *Watch = nullptr; ///< sanitizer, counters; then one thread runs all
  bool Cooperative = false;
  /// May begin before the launch before it has ended (programmatic
  /// serialization); griddepcontrol.wait then waits for that.
  bool Early = false;
  bool PredecessorDone = true;
  Launch *Dependent = nullptr; ///< the next one, if that may begin early
  bool HoldAtTrigger = false;  ///< blocks stop where they let it begin
  std::shared_ptr<void> Begun; ///< of a launch that has begun (exec/Grid.cpp)
  uint32_t Resident = 1;       ///< blocks that may be started at a time
  uint32_t Multiprocessors = 1;
  Settings::Tensor Tensor = Settings::Fp32;
  bool LazyCopies = false;
  uint64_t Seed = 0;
  const uint64_t Serial = nextSerial(); ///< no two launches have the same
  std::atomic<uint64_t> Executed{0}, LaneExecuted{0}, Divergent{0};
  static uint64_t nextSerial() {
    static std::atomic<uint64_t> Last{0};
    return ++Last;
  }

  uint32_t threads() const { return Block[0] * Block[1] * Block[2]; }
};

/// One access to memory by the lanes of Mask, before it happens.
struct AccessEvent {
  enum Kind : uint8_t { Read, Write, ReadWrite, AsyncWrite };
  Kind What;
  Space Where; ///< never Generic
  uint32_t Mask;
  const uint64_t *Addresses; ///< device addresses, or offsets in their space
  unsigned Bytes;            ///< of one lane
};

/// Sees everything that a launch does; all calls come from one thread.
class Watcher {
public:
  virtual ~Watcher() = default;
  virtual void begin(Launch &L) = 0;
  virtual void beginBlock(Cta &B) = 0;
  virtual void access(Warp &W, const Inst &I, const AccessEvent &E) = 0;
  /// In front of and behind every instruction that is not a barrier.
  virtual void before(Warp &W, const Inst &I) = 0;
  virtual void after(Warp &W, const Inst &I) = 0;
  /// I, or the branch behind I, asks a predicate (or the index of a table) in
  /// these lanes.
  virtual void decide(Warp &W, const Inst &I, Value Predicate,
                      uint32_t Lanes) = 0;
  /// Lanes of Mask have met in a warp-wide operation.
  virtual void warpSync(Warp &W, const Inst &I, uint32_t Members) = 0;
  virtual void arrive(Warp &W, const Inst &I, uint32_t Mask) = 0;
  virtual void release(Cta &B, unsigned Barrier) = 0;
  virtual void copyWait(Warp &W, const Inst &I) = 0;
  virtual void copyCommit(Warp &W) = 0;
  virtual void gridWait(Warp &W, const Inst &I) = 0;
  virtual void endBlock(Cta &B) = 0;
  virtual void end(Launch &L) = 0;
  /// An error of the kernel; Text is one line.
  virtual void fault(const Launch &L, const Fault &F) = 0;
};

/// Handlers for one instruction set of the host.
struct Executor {
  const char *Name;
  Handler Handlers[OpCount];
  /// Lanes whose predicate slot is set.
  uint32_t (*MaskOf)(const uint32_t *Lanes);
  void (*Expand)(uint32_t Mask, uint32_t *Lanes);
};
/// The best for this machine; $LLMC_CUDASIM_ISA names another (for tests).
const Executor &executor();

/// Runs all blocks of L; throws nothing. An empty text is success. With a seed
/// some blocks of L.Dependent begin in between.
Fault runGrid(Launch &L);
/// Fills in Inst::Run.
void resolveHandlers(Program &P);

/// "block (0,0,0), thread (1,0,0)"; "kernel k, source line 3, PTX line 7".
std::string placeText(Warp &W, unsigned Lane);
std::string instText(const Launch &L, const Inst &I);

/// The lane that Lane reads in a shuffle; itself outside its segment.
unsigned shuffleSource(Warp &W, const Inst &I, unsigned Lane);
/// Runs W for so many steps at most; those that are left. Throws Fault.
uint32_t runWarp(Warp &W, uint32_t Steps);
/// Runs B until it is done or every warp has had its turns. Throws Fault.
void runCta(Cta &B);
/// Finishes copies of cp.async until at most Groups of a lane are left.
void finishCopies(Warp &W, uint32_t Mask, size_t Groups);

// Used by handlers (exec/Access.cpp).
[[noreturn]] void throwFault(Warp &W, const Inst &I, int Code,
                             const std::string &Text);
/// Host pointers of the active lanes for an access of Bytes at Addresses; any
/// space. Checks bounds and alignment, tells the watcher.
void resolveLanes(Warp &W, const Inst &I, Space Where,
                  const uint64_t *Addresses, unsigned Bytes,
                  AccessEvent::Kind Kind, uint8_t **Host);
/// For the fast paths, which have checked all but this: true if [Low, High)
/// lies in one allocation.
bool inOneAllocation(const Launch &L, uint64_t Low, uint64_t High);

/// Where the windows of the generic address space lie.
struct Windows {
  uint64_t Shared, Local, Param;
  static constexpr uint64_t Bytes = uint64_t{1} << 24;
};
const Windows &windows();

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_EXEC_MACHINE_H
