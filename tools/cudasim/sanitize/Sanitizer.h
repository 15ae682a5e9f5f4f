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
  void warpSync(Warp &W, const Inst &I, uint32_t Members) override;
  void arrive(Warp &W, const Inst &I, uint32_t Mask) override;
  void release(Cta &B, unsigned Barrier) override;
  void copyWait(Warp &W, const Inst &I) override;
  void copyCommit(Warp &W) override;
  void endBlock(Cta &B) override;
  void end(Launch &L) override;
  void fault(const Launch &L, const Fault &F) override;

  // Memory of the context, between launches.
  void allocated(uint64_t At, uint64_t Bytes);
  void written(const DeviceMemory &M, uint64_t At, uint64_t Bytes);

private:
  /// Copies of one lane: words of shared memory by group.
  struct LaneCopies {
    std::vector<uint32_t> Open;
    std::deque<std::vector<uint32_t>> Groups;
  };
  struct WarpState {
    Clock Knows;
    uint32_t Ticket = 1, AllSync = 1;
    std::array<std::array<uint32_t, 32>, 32> PairSync{};
    std::array<LaneCopies, 32> Copies;
    std::map<Value, uint32_t> Defined; ///< lanes of the Unset registers
    bool HadNan = false;
  };
  struct BlockState {
    std::vector<WarpState> Warps;
    std::vector<WordShadow> Shared;
    ValidBits SharedValid, LocalValid;
    std::array<Clock, 16> Arrivals;
    std::array<uint32_t, 16> ArrivedWarps{};
  };

  BlockState &stateOf(Cta &B) { return Blocks[B.Started]; }
  void checkValid(Warp &W, const Inst &I, const AccessEvent &E);
  void checkRaces(Warp &W, const Inst &I, const AccessEvent &E);
  void checkWord(Warp &W, const Inst &I, const AccessEvent &E, unsigned Lane,
                 uint64_t Address, WordShadow &S, const Touch &Now);
  void checkSameInstruction(Warp &W, const Inst &I, const AccessEvent &E);
  bool ordered(Warp &W, const WarpState &Mine, unsigned Lane, const Touch &T);
  void acquireRelease(Warp &W, const Inst &I, const AccessEvent &E);
  void found(const std::string &Kind, Warp &W, const Inst &I, unsigned Lane,
             const std::string &Text, const Inst *Other = nullptr);
  std::string otherText(Warp &W, const Touch &T, const char *What);
  void checkShuffle(Warp &W, const Inst &I);

  bool Nan;
  std::unordered_map<uint64_t, BlockState> Blocks;
  GlobalShadow Global;
  std::map<uint64_t, ValidBits> GlobalValid; ///< by allocation
  std::map<uint64_t, Clock> Released;        ///< by address
};

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_SANITIZE_SANITIZER_H
