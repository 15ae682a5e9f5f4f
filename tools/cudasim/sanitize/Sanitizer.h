// The sanitizer of launches: bounds and alignment (from the executor's faults),
// values never written, races in shared and global memory, misuse of barriers
// and warp-wide operations, asynchronous copies that nobody waited for, and
// where the first NaN comes from.
//
// Order is kept by vector clocks of warps: a barrier joins the clocks of those
// who arrive; inside a warp lanes are ordered by operations that name both in
// their mask; a release keeps the clock at its address and an acquire takes it.
// Two accesses of a word, one of them a write, that are not ordered are a race.
#ifndef LLMC_TOOLS_CUDASIM_SANITIZE_SANITIZER_H
#define LLMC_TOOLS_CUDASIM_SANITIZE_SANITIZER_H

#include "tools/cudasim/exec/Machine.h"
#include "tools/cudasim/sanitize/Findings.h"
#include "tools/cudasim/sanitize/Shadow.h"

namespace llmc::cudasim {

class Sanitizer : public Watcher {
public:
  /// Nan: report the origin of NaNs, too.
  explicit Sanitizer(bool NanOrigin) : Nan(NanOrigin) {}

  void begin(Launch &L) override;
  void beginBlock(Cta &B) override;
  void access(Warp &W, const Inst &I, const AccessEvent &E) override;
  void before(Warp &W, const Inst &I) override;
  void after(Warp &W, const Inst &I) override;
  void decide(Warp &W, const Inst &I, Value Predicate, uint32_t Lanes) override;
  void warpSync(Warp &W, const Inst &I, uint32_t Members) override;
  void arrive(Warp &W, const Inst &I, uint32_t Mask) override;
  void release(Cta &B, unsigned Barrier) override;
  void copyWait(Warp &W, const Inst &I) override;
  void copyCommit(Warp &W) override;
  void gridWait(Warp &W, const Inst &I) override;
  void endBlock(Cta &B) override;
  void end(Launch &L) override;
  void fault(const Launch &L, const Fault &F) override;

  /// Whether two launches of its kernel and grid were asked about before. Then
  /// it runs unseen, and all memory counts as written from here on.
  bool hasSeen(const Launch &L);

  // Memory of the context, between launches.
  void allocated(uint64_t At, uint64_t Bytes);
  void written(const DeviceMemory &M, uint64_t At, uint64_t Bytes);

private:
  /// Copies of one lane: words of shared memory by group.
  struct LaneCopies {
    std::vector<uint32_t> Open;
    std::deque<std::vector<uint32_t>> Groups;
  };
  /// Lanes of a value that nobody has written, and the register that they
  /// come from, in Program::Unset.
  struct Undefined {
    uint32_t Lanes = 0, Name = 0;
  };
  struct WarpState {
    Clock Knows;
    uint32_t Ticket = 1, AllSync = 1;
    std::array<std::array<uint32_t, 32>, 32> PairSync{};
    std::array<LaneCopies, 32> Copies;
    std::map<Value, Undefined> Unset; ///< by slot; Lanes is never 0
    Undefined Next;                   ///< of the instruction that runs
    bool HadNan = false;
    bool Waited = false; ///< for the launches before: griddepcontrol.wait
  };
  struct BlockState {
    std::vector<WarpState> Warps;
    std::vector<WordShadow> Shared;
    ValidBits SharedValid, LocalValid;
    std::array<Clock, 16> Arrivals;
    std::array<uint32_t, 16> ArrivedWarps{};
  };

  /// Asked several times per access, nearly always for the block before.
  BlockState &stateOf(Cta &B) {
    if (!LastState || LastBlock != B.Started) {
      LastState = &Blocks[B.Started];
      LastBlock = B.Started;
    }
    return *LastState;
  }
  void forgetBlocks() {
    Blocks.clear();
    LastState = nullptr;
  }
  void checkValid(Warp &W, const Inst &I, const AccessEvent &E);
  void checkRaces(Warp &W, const Inst &I, const AccessEvent &E);
  void checkWord(Warp &W, const Inst &I, const AccessEvent &E, unsigned Lane,
                 uint64_t Address, WordShadow &S, const Touch &Now);
  void checkSameInstruction(Warp &W, const Inst &I, const AccessEvent &E);
  bool ordered(Warp &W, const WarpState &Mine, unsigned Lane, const Touch &T);
  void checkEarly(Warp &W, const Inst &I, const AccessEvent &E);
  void beginHistory(const Launch &L);
  void endHistory(const Launch &L);
  void acquireRelease(Warp &W, const Inst &I, const AccessEvent &E);
  void found(const std::string &Kind, Warp &W, const Inst &I, unsigned Lane,
             const std::string &Text, const Inst *Other = nullptr);
  std::string otherText(Warp &W, const Touch &T, const char *What);
  void checkShuffle(Warp &W, const Inst &I);
  void reportUndefined(Warp &W, const Inst &I, Undefined &U, uint32_t Lanes);
  void useUndefined(Warp &W, const Inst &I, WarpState &S, Value V);
  void followUndefined(Warp &W, const Inst &I, WarpState &S);
  void defineResults(Warp &W, const Inst &I, WarpState &S);

  bool Nan;
  std::vector<uint8_t> *Executed = nullptr; ///< of the launch, by PTX line
  std::unordered_map<uint64_t, BlockState> Blocks;
  BlockState *LastState = nullptr;
  uint64_t LastBlock = 0;
  GlobalShadow Global;
  std::map<uint64_t, ValidBits> GlobalValid; ///< by allocation
  std::map<uint64_t, Clock> Released;        ///< by address
  std::map<std::string, unsigned> Seen;      ///< launches by kernel and grid
  // Launches that may begin early.
  LaunchHistory Before, Here; ///< of the launches before, of this one
  std::vector<std::string> Kernels;
  uint32_t Kernel = 0; ///< of this launch, in Kernels
  bool AnyWaited = false;
};

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_SANITIZE_SANITIZER_H
