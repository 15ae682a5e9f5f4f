// How the warps of a block take turns, until the block is done or has had its
// own; and what is said when none of them can go on.
#include "tools/cudasim/exec/Machine.h"

#include <algorithm>

namespace llmc::cudasim {
namespace {

/// Steps of a warp, and rounds of all warps, before others get a turn.
constexpr uint32_t WarpTurn = 1 << 15;
constexpr unsigned BlockTurns = 4;
constexpr unsigned BlockRounds = 4096;

bool waitsForGrid(const Cta &B) {
  for (const Warp &W : B.Warps)
    for (const Group &G : W.Groups)
      if (G.Now == Group::AtGridWait)
        return true;
  return false;
}

/// What keeps a block from going on, in words.
std::string waitingText(Cta &B) {
  std::string Text;
  unsigned Named = 0;
  for (Warp &W : B.Warps)
    for (const Group &G : W.Groups) {
      if (Named++ == 3)
        return Text + " and others";
      const Program &P = *B.Run->Prog;
      const Block &Bl = P.Blocks[G.Block];
      bool AtBarrier = G.Now == Group::AtBarrier;
      const Inst &I = AtBarrier ? *G.Waiting : P.Code[Bl.Begin];
      Text += (Text.empty() ? "" : "; ") + std::string("warp ") +
              std::to_string(W.Index) + " at PTX line " +
              std::to_string(I.Line);
      if (I.SourceLine)
        Text += ", source line " + std::to_string(I.SourceLine);
      Text += AtBarrier ? " (barrier " + std::to_string(G.Barrier) + ")"
                        : " (warp-wide operation)";
    }
  return Text;
}
} // namespace

void runCta(Cta &B) {
  size_t Warps = B.Warps.size();
  unsigned Rounds = 0;
  for (unsigned Turn = 0; Turn < BlockTurns;) {
    bool Alive = false, Progress = false, Long = false;
    size_t Start = settings().RandomOrder ? B.Warps[0].random() % Warps : 0;
    for (size_t N = 0; N != Warps; ++N) {
      Warp &W = B.Warps[(Start + N) % Warps];
      if (W.Live == 0)
        continue;
      bool CanRun =
          std::any_of(W.Groups.begin(), W.Groups.end(),
                      [](const Group &G) { return G.Now == Group::Ready; });
      if (CanRun) {
        Progress = true;
        bool Random = settings().RandomOrder;
        uint32_t Steps =
            Random ? 1 + static_cast<uint32_t>(W.random() % 64) : WarpTurn;
        uint32_t Left = runWarp(W, Steps);
        Long |= Left == 0 && !Random && !B.Run->HoldAtTrigger;
      }
      Alive |= W.Live != 0;
      if (B.Run->HoldAtTrigger && B.Triggered)
        return;
    }
    if (!Alive) {
      B.Done = true;
      return;
    }
    if (!Progress && waitsForGrid(B))
      return;
    if (!Progress)
      throw Fault{LaunchTimeout,
                  "deadlock: kernel " + B.Run->Prog->Name + ", block (" +
                      std::to_string(B.Id[0]) + "," + std::to_string(B.Id[1]) +
                      "," + std::to_string(B.Id[2]) + "): " + waitingText(B)};
    // Short rounds count, too: the clock must be looked at.
    Turn += Long || ++Rounds % BlockRounds == 0;
  }
}

} // namespace llmc::cudasim
