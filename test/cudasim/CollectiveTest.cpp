// Warp-wide operations, divergence, barriers, and blocks that wait for others.
#include "test/cudasim/Harness.h"

#include "tools/cudasim/exec/Machine.h"

#include <cstdlib>

namespace {

using Words = std::vector<uint32_t>;

/// Runs Body, which stores %r9 of every thread, and gives the results.
Words perThread(const std::string &Body, unsigned Threads = 32,
                unsigned Blocks = 1, const std::string &Outside = "") {
  SimContext Context;
  Words Out(size_t{Threads} * Blocks, 0xdeadbeef);
  std::string Text =
      "mov.u32 %r70, %ctaid.x; mov.u32 %r71, %ntid.x;\n"
      "mad.lo.s32 %r72, %r70, %r71, %tx; mul.wide.u32 %rd2, %r72, 4;\n"
      "add.s64 %rd2, %rd1, %rd2;\n" +
      Body + "\nst.global.u32 [%rd2], %r9;\n";
  EXPECT_EQ(runBuffer(kernelText(Text, Outside), Out, Threads, Blocks), 0);
  return Out;
}

TEST(Collective, Shuffles) {
  Words Down = perThread("shfl.sync.down.b32 %r9, %tx, 3, 31, -1;");
  Words Up = perThread("shfl.sync.up.b32 %r9|%p1, %tx, 2, 0, -1;\n"
                       "@!%p1 mov.u32 %r9, 99;");
  Words Xor = perThread("shfl.sync.bfly.b32 %r9, %tx, 5, 31, -1;");
  // Segments of 8 lanes: c = (32 - 8) << 8 | 7.
  Words Index = perThread("shfl.sync.idx.b32 %r9, %tx, 2, 0x1807, -1;");
  for (unsigned L = 0; L != 32; ++L) {
    EXPECT_EQ(Down[L], L + 3 < 32 ? L + 3 : L);
    EXPECT_EQ(Up[L], L >= 2 ? L - 2 : 99);
    EXPECT_EQ(Xor[L], L ^ 5);
    EXPECT_EQ(Index[L], L / 8 * 8 + 2);
  }
}

TEST(Collective, VotesMatchesAndReductions) {
  Words Ballot = perThread("and.b32 %r3, %tx, 1; setp.eq.s32 %p1, %r3, 1;\n"
                           "vote.sync.ballot.b32 %r9, %p1, -1;");
  Words Any = perThread("setp.eq.s32 %p1, %tx, 40;\n"
                        "vote.sync.any.pred %p2, %p1, -1;\n"
                        "selp.b32 %r9, 1, 0, %p2;");
  Words Match = perThread("shr.u32 %r3, %tx, 4;\n"
                          "match.any.sync.b32 %r9, %r3, -1;");
  Words Sum = perThread("redux.sync.add.s32 %r9, %tx, -1;");
  Words Least = perThread("sub.s32 %r3, 5, %tx;\n"
                          "redux.sync.min.s32 %r9, %r3, -1;");
  for (unsigned L = 0; L != 32; ++L) {
    EXPECT_EQ(Ballot[L], 0xaaaaaaaau);
    EXPECT_EQ(Any[L], 0u);
    EXPECT_EQ(Match[L], L < 16 ? 0x0000ffffu : 0xffff0000u);
    EXPECT_EQ(Sum[L], 496u);
    EXPECT_EQ(Least[L], static_cast<uint32_t>(-26));
  }
}

TEST(Divergence, LanesMeetBehindABranchAndALoop) {
  // Each lane loops tid times; then all are there for the vote.
  Words Out = perThread("mov.u32 %r9, 0; mov.u32 %r3, %tx;\n"
                        "LOOP: setp.eq.s32 %p1, %r3, 0;\n@%p1 bra DONE;\n"
                        "add.s32 %r9, %r9, %r3; sub.s32 %r3, %r3, 1;\n"
                        "bra LOOP;\nDONE: activemask.b32 %r4;\n"
                        "setp.ne.s32 %p2, %r4, -1;\n@%p2 mov.u32 %r9, -1;");
  for (unsigned L = 0; L != 32; ++L)
    EXPECT_EQ(Out[L], L * (L + 1) / 2);
}

TEST(Divergence, ASelfLoopLeavesItsLanesBehind) {
  Words Out = perThread("mov.u32 %r9, 0; or.b32 %r3, %tx, -32;\n"
                        "LOOP: add.s32 %r9, %r9, 1; add.s32 %r3, %r3, 32;\n"
                        "setp.lt.s32 %p1, %r3, 16;\n@%p1 bra LOOP;\n"
                        "redux.sync.add.s32 %r9, %r9, -1;");
  for (unsigned L = 0; L != 32; ++L)
    EXPECT_EQ(Out[L], 48u);
}

TEST(Divergence, JumpTables) {
  Words Out = perThread("and.b32 %r3, %tx, 3;\n"
                        "TABLE: .branchtargets A, B, C, A;\n"
                        "brx.idx %r3, TABLE;\n"
                        "A: mov.u32 %r9, 10; bra END;\n"
                        "B: mov.u32 %r9, 20; bra END;\n"
                        "C: mov.u32 %r9, 30;\nEND:");
  for (unsigned L = 0; L != 32; ++L)
    EXPECT_EQ(Out[L], (L & 3) == 1 ? 20u : (L & 3) == 2 ? 30u : 10u);
}

TEST(Divergence, EarlyExitIsNoHindranceForABarrier) {
  Words Out = perThread("mov.u32 %r9, 7;\nsetp.lt.u32 %p1, %tx, 40;\n"
                        "@%p1 bra GO;\nst.global.u32 [%rd2], %r9; exit;\n"
                        "GO: bar.sync 0; mov.u32 %r9, 8;",
                        64);
  for (unsigned T = 0; T != 64; ++T)
    EXPECT_EQ(Out[T], T < 40 ? 8u : 7u);
}

const char Shared[] = ".shared .align 4 .b8 buf[1024];\n";

TEST(Barrier, SharedMemoryIsSeenByTheBlock) {
  Words Out = perThread("mov.u32 %r3, buf; shl.b32 %r4, %tx, 2;\n"
                        "add.u32 %r5, %r3, %r4; st.shared.u32 [%r5], %tx;\n"
                        "bar.sync 0; xor.b32 %r6, %r4, 508;\n"
                        "add.u32 %r6, %r6, %r3; ld.shared.u32 %r9, [%r6];",
                        128, 3, Shared);
  for (unsigned I = 0; I != Out.size(); ++I)
    EXPECT_EQ(Out[I], (I % 128) ^ 127);
}

TEST(Barrier, Reductions) {
  Words Out = perThread("setp.lt.u32 %p1, %tx, 50;\n"
                        "bar.red.popc.u32 %r9, 0, %p1;",
                        96);
  for (uint32_t V : Out)
    EXPECT_EQ(V, 50u);
  Out = perThread("setp.lt.u32 %p1, %tx, 95;\n"
                  "bar.red.and.pred %p2, 1, %p1; selp.b32 %r9, 1, 2, %p2;",
                  96);
  for (uint32_t V : Out)
    EXPECT_EQ(V, 2u);
}

TEST(Barrier, ProducerAndConsumerWarps) {
  // Warp 0 arrives, warp 1 waits for it: 64 threads at barrier 2.
  Words Out = perThread("mov.u32 %r3, buf; mov.u32 %r9, 1;\n"
                        "setp.ge.u32 %p1, %tx, 32; @%p1 bra WAIT;\n"
                        "shl.b32 %r4, %tx, 2; add.u32 %r4, %r4, %r3;\n"
                        "st.shared.u32 [%r4], %tx; bar.arrive 2, 64; bra END;\n"
                        "WAIT: bar.sync 2, 64; sub.u32 %r4, %tx, 32;\n"
                        "shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r3;\n"
                        "ld.shared.u32 %r9, [%r4];\nEND:",
                        64, 1, Shared);
  for (unsigned T = 32; T != 64; ++T)
    EXPECT_EQ(Out[T], T - 32);
}

TEST(Barrier, ADeadlockIsReported) {
  SimContext Context;
  Words Out(64);
  std::string Text = kernelText("setp.lt.u32 %p1, %tx, 32; @%p1 bra A;\n"
                                "bar.sync 1, 64;\nbra B;\nA: bar.sync 2, 64;\n"
                                "B:");
  testing::internal::CaptureStderr();
  EXPECT_EQ(runBuffer(Text, Out, 64), 702);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("deadlock"),
            std::string::npos);
}

TEST(Grid, EndlessLoopsEnd) {
  setenv("LLMC_CUDASIM_TIMEOUT", "0", 1);
  llmc::cudasim::reloadSettings();
  for (const char *Body : {"L: bar.sync 0; bra L;", "L: bra L;",
                           "L: setp.gt.u32 %p1, %tx, 40; @%p1 bra L;\n"
                           "nanosleep.u32 5; bra L;"}) {
    SimContext Context;
    Words Out(64);
    testing::internal::CaptureStderr();
    EXPECT_EQ(runBuffer(kernelText(Body), Out, 64, 3), 702) << Body;
    testing::internal::GetCapturedStderr();
  }
  unsetenv("LLMC_CUDASIM_TIMEOUT");
  llmc::cudasim::reloadSettings();
}

TEST(Grid, BlocksMayWaitForEachOther) {
  // Every block adds one and waits for all: a barrier of the grid.
  SimContext Context;
  Words Out(2);
  std::string Text =
      kernelText("setp.ne.s32 %p1, %tx, 0; @%p1 bra END;\n"
                 "atom.add.release.gpu.global.u32 %r3, [%rd1], 1;\n"
                 "SPIN: ld.acquire.gpu.global.u32 %r4, [%rd1];\n"
                 "setp.lt.u32 %p2, %r4, 24; @%p2 bra SPIN;\n"
                 "atom.global.add.u32 %r5, [%rd1+4], %r4;\nEND:");
  EXPECT_EQ(runBuffer(Text, Out, 32, 24), 0);
  EXPECT_EQ(Out[0], 24u);
  EXPECT_EQ(Out[1], 24u * 24u);
}

TEST(Grid, ALaneMayWaitForAnotherOfItsWarp) {
  // Lane 0 takes the lock last in program order; others spin in front of it.
  SimContext Context;
  Words Out(3);
  std::string Text = kernelText(
      "setp.eq.s32 %p1, %tx, 5; @%p1 bra WRITER;\n"
      "SPIN: ld.volatile.global.u32 %r3, [%rd1];\n"
      "setp.eq.s32 %p2, %r3, 0; @%p2 bra SPIN;\n"
      "atom.global.add.u32 %r4, [%rd1+4], 1; bra END;\n"
      "WRITER: mov.u32 %r5, 1; st.volatile.global.u32 [%rd1], %r5;\nEND:");
  EXPECT_EQ(runBuffer(Text, Out, 32), 0);
  EXPECT_EQ(Out[1], 31u);
}
} // namespace
