// Loads, stores, spaces, atomics, asynchronous copies, calls.
#include "test/cudasim/Harness.h"

namespace {

using Words = std::vector<uint32_t>;

Words run(const std::string &Body, Words In, unsigned Threads = 32,
          const std::string &Outside = "", unsigned Blocks = 1,
          unsigned Shared = 0) {
  SimContext Context;
  EXPECT_EQ(runBuffer(kernelText(Body, Outside), In, Threads, Blocks, Shared),
            0);
  return In;
}
/// %rd2 = the thread's word.
const char Own[] = "mul.wide.u32 %rd2, %tx, 4; add.s64 %rd2, %rd1, %rd2;\n";

Words counting(size_t N) {
  Words W(N);
  for (size_t I = 0; I != N; ++I)
    W[I] = static_cast<uint32_t>(I) * 0x01010101u;
  return W;
}

TEST(Memory, NarrowLoadsExtend) {
  Words Out = run("mul.wide.u32 %rd2, %tx, 4; add.s64 %rd2, %rd1, %rd2;\n"
                  "ld.global.s8 %r3, [%rd2]; ld.global.u8 %r4, [%rd2];\n"
                  "ld.global.s16 %h1, [%rd2]; cvt.s32.s16 %r5, %h1;\n"
                  "sub.s32 %r3, %r3, %r4; add.s32 %r3, %r3, %r5;\n"
                  "st.global.u32 [%rd2], %r3;",
                  Words(32, 0xffff8081));
  EXPECT_EQ(Out[0], static_cast<uint32_t>(-256 + static_cast<int16_t>(0x8081)));
}

TEST(Memory, VectorsInEveryPattern) {
  // Neighbours, the same address, and a scattered one.
  for (const char *Index :
       {"mov.u32 %r3, %tx;", "mov.u32 %r3, 3;", "xor.b32 %r3, %tx, 21;"}) {
    Words In = counting(32 * 4 + 32);
    Words Out =
        run(std::string(Index) +
                "mul.wide.u32 %rd3, %r3, 16; add.s64 %rd3, %rd1, %rd3;\n"
                "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];\n"
                "mad.lo.u32 %r4, %r5, 3, %r4;\n"
                "mad.lo.u32 %r4, %r6, 5, %r4;\n"
                "mad.lo.u32 %r4, %r7, 7, %r4;\n"
                "mul.wide.u32 %rd2, %tx, 4;\n"
                "add.s64 %rd2, %rd1, %rd2;\n"
                "st.global.u32 [%rd2+512], %r4;",
            In);
    for (unsigned L = 0; L != 32; ++L) {
      unsigned I = *Index == 'x' ? L ^ 21 : std::strstr(Index, ", 3") ? 3 : L;
      EXPECT_EQ(Out[128 + L], In[4 * I] + 3 * In[4 * I + 1] +
                                  5 * In[4 * I + 2] + 7 * In[4 * I + 3]);
    }
  }
}

TEST(Memory, SomeLanesOnly) {
  Words Out = run(std::string(Own) + "and.b32 %r3, %tx, 1;\n"
                                     "setp.eq.s32 %p1, %r3, 1;\n"
                                     "mov.u32 %r4, 77;\n"
                                     "@%p1 ld.global.u32 %r4, [%rd2];\n"
                                     "add.u32 %r4, %r4, 1;\n"
                                     "@!%p1 st.global.u32 [%rd2], %r4;",
                  Words(32, 5));
  for (unsigned L = 0; L != 32; ++L)
    EXPECT_EQ(Out[L], L & 1 ? 5u : 78u);
}

TEST(Memory, GenericAddressesOfAllSpaces) {
  Words Out = run(std::string(Own) +
                      ".local .align 4 .b8 depot[16];\n"
                      "mov.u32 %r3, buf; cvt.u64.u32 %rd3, %r3; "
                      "cvta.shared.u64 %rd3, %rd3;\n"
                      "mul.wide.u32 %rd4, %tx, 4; add.s64 %rd3, %rd3, %rd4;\n"
                      "st.u32 [%rd3], %tx; ld.u32 %r4, [%rd3];\n"
                      "mov.u64 %rd5, depot; cvta.local.u64 %rd5, %rd5;\n"
                      "st.u32 [%rd5+4], %r4; cvta.to.local.u64 %rd6, %rd5;\n"
                      "ld.local.u32 %r5, [%rd6+4]; isspacep.shared %p1, %rd3;\n"
                      "isspacep.global %p2, %rd1; @%p1 add.u32 %r5, %r5, 100;\n"
                      "@%p2 add.u32 %r5, %r5, 1000; st.u32 [%rd2], %r5;",
                  Words(32), 32, ".shared .align 4 .b8 buf[128];\n");
  for (unsigned L = 0; L != 32; ++L)
    EXPECT_EQ(Out[L], 1100 + L);
}

TEST(Memory, DynamicSharedMemoryLiesBehindTheStatic) {
  Words Out = run(std::string(Own) +
                      "mov.u32 %r3, dyn; mov.u32 %r4, stat;\n"
                      "shl.b32 %r5, %tx, 2; add.u32 %r3, %r3, %r5;\n"
                      "st.shared.u32 [%r3], %tx; st.shared.u32 [%r4], 9;\n"
                      "ld.shared.u32 %r6, [%r3]; st.global.u32 [%rd2], %r6;",
                  Words(32), 32,
                  ".extern .shared .align 16 .b8 dyn[];\n"
                  ".shared .align 4 .b8 stat[12];\n",
                  1, 128);
  for (unsigned L = 0; L != 32; ++L)
    EXPECT_EQ(Out[L], L);
}

TEST(Atomic, OfBlocksOnSeveralThreads) {
  Words Out = run("atom.global.add.u32 %r3, [%rd1], 1;\n"
                  "red.global.max.s32 [%rd1+4], %r3;\n"
                  "mov.f32 %f1, 0f3F000000; red.global.add.f32 [%rd1+8], %f1;\n"
                  "atom.global.inc.u32 %r4, [%rd1+12], 6;\n"
                  "mov.b32 %r5, 0x3C003800;\n"
                  "red.global.add.noftz.f16x2 [%rd1+16], %r5;",
                  Words(5), 64, "", 16);
  EXPECT_EQ(Out[0], 1024u);
  EXPECT_EQ(Out[1], 1023u);
  EXPECT_EQ(asFloat(Out[2]), 512.0f);
  EXPECT_EQ(Out[3], 1024u % 7);
  EXPECT_EQ(Out[4], 0x64006000u); // 1024 and 512
}

TEST(Atomic, CompareAndSwapReturnsTheOld) {
  Words Out =
      run(std::string(Own) + "mov.u32 %r3, 3; mov.u32 %r4, 8;\n"
                             "atom.global.cas.b32 %r5, [%rd1+128], %r3, %r4;\n"
                             "st.global.u32 [%rd2], %r5;",
          [] {
            Words W(33);
            W[32] = 3;
            return W;
          }());
  EXPECT_EQ(Out[32], 8u);
  EXPECT_EQ(Out[0], 3u); // lanes go one after another
  EXPECT_EQ(Out[31], 8u);
}

TEST(AsyncCopy, FillsWithZerosAndWaits) {
  // Lane l copies 16 bytes, of which it reads (l & 3) * 4.
  Words In = counting(32 * 4);
  for (uint32_t &W : In)
    W |= 1;
  Words Out =
      run("mov.u32 %r3, buf; shl.b32 %r4, %tx, 4; add.u32 %r3, %r3, %r4;\n"
          "cvt.u64.u32 %rd3, %r4; add.s64 %rd3, %rd1, %rd3;\n"
          "and.b32 %r5, %tx, 3; shl.b32 %r5, %r5, 2;\n"
          "cp.async.cg.shared.global [%r3], [%rd3], 16, %r5;\n"
          "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
          "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r3];\n"
          "st.global.v4.u32 [%rd3], {%r6, %r7, %r8, %r9};",
          In, 32, ".shared .align 16 .b8 buf[512];\n");
  for (unsigned I = 0; I != In.size(); ++I)
    EXPECT_EQ(Out[I], I % 4 < (I / 4 & 3) ? In[I] : 0u);
}

TEST(Call, FunctionsAreInlined) {
  std::string Twice =
      ".func (.param .b32 out) twice(.param .b32 in)\n{\n.reg .b32 %r<3>;\n"
      ".reg .pred %p<2>;\nld.param.u32 %r1, [in];\n"
      "setp.gt.u32 %p1, %r1, 20;\n@%p1 bra BIG;\nadd.u32 %r2, %r1, %r1;\n"
      "st.param.b32 [out], %r2;\nret;\n"
      "BIG: st.param.b32 [out], %r1;\nret;\n}\n";
  Words Out = run(std::string(Own) +
                      "mov.u32 %r3, 0; mov.u32 %r5, %tx;\n"
                      "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r5;\n"
                      "call.uni (r), twice, (a); ld.param.b32 %r5, [r]; }\n"
                      "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r5;\n"
                      "call.uni (r), twice, (a); ld.param.b32 %r5, [r]; }\n"
                      "st.global.u32 [%rd2], %r5;",
                  Words(32), 32, Twice);
  auto Want = [](uint32_t V) { return V > 20 ? V : 2 * V; };
  for (unsigned L = 0; L != 32; ++L)
    EXPECT_EQ(Out[L], Want(Want(L)));
}

TEST(Special, Registers) {
  Words Out = run("mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
                  "mad.lo.u32 %r5, %r3, %r4, %tx; mul.wide.u32 %rd2, %r5, 4;\n"
                  "add.s64 %rd2, %rd1, %rd2; mov.u32 %r6, %laneid;\n"
                  "mov.u32 %r7, %warpid; mov.u32 %r8, %nctaid.x;\n"
                  "mov.u32 %r9, %lanemask_lt; popc.b32 %r9, %r9;\n"
                  "mad.lo.u32 %r6, %r7, 100, %r6;\n"
                  "mad.lo.u32 %r6, %r8, 10000, %r6;\n"
                  "sub.u32 %r9, %r9, %tx; shl.b32 %r9, %r9, 27;\n"
                  "add.u32 %r6, %r6, %r9; st.global.u32 [%rd2], %r6;",
                  Words(192), 64, "", 3);
  for (unsigned I = 0; I != 192; ++I)
    EXPECT_EQ(Out[I], 30000 + I % 64 / 32 * 100 + I % 32);
}
} // namespace
