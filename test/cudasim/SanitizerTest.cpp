// Broken kernels, one per kind of finding, each with its repaired twin: the
// broken one must be reported with the right kind, the other one must not.
#include "test/cudasim/Harness.h"

#include "tools/cudasim/exec/Machine.h"
#include "tools/cudasim/sanitize/Findings.h"

#include <cstdlib>

namespace {

using namespace llmc::cudasim;

class SanitizerTest : public testing::Test {
protected:
  void SetUp() override { set("1"); }
  void TearDown() override {
    unsetenv("LLMC_CUDASIM_SANITIZE");
    unsetenv("LLMC_CUDASIM_SEED");
    reloadSettings();
    findings().clear();
  }
  void set(const char *Mode, const char *Seed = nullptr) {
    setenv("LLMC_CUDASIM_SANITIZE", Mode, 1);
    if (Seed)
      setenv("LLMC_CUDASIM_SEED", Seed, 1);
    reloadSettings();
    findings().clear();
  }

  /// Kinds found in a run, each once, in order, with commas.
  std::string
  kinds(const std::string &Body, unsigned Threads = 64, unsigned Blocks = 1,
        const std::string &Outside = ".shared .align 16 .b8 buf[1024];\n") {
    findings().clear();
    SimContext Context;
    std::vector<uint32_t> Words(1024, 1);
    testing::internal::CaptureStderr();
    runBuffer(kernelText(Body, Outside), Words, Threads, Blocks);
    Printed = testing::internal::GetCapturedStderr();
    std::string Out;
    for (const Finding &F : findings().all())
      if (Out.find(F.Kind) == std::string::npos)
        Out += (Out.empty() ? "" : ",") + F.Kind;
    return Out;
  }
  std::string Printed;
};

/// %r3 = own word of buf, %r4 = that of the thread (tid ^ 32).
const char Places[] = "mov.u32 %r2, buf; shl.b32 %r3, %tx, 2;\n"
                      "add.u32 %r3, %r3, %r2; xor.b32 %r4, %tx, 32;\n"
                      "shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2;\n"
                      "mul.wide.u32 %rd2, %tx, 4; add.s64 %rd2, %rd1, %rd2;\n";

TEST_F(SanitizerTest, SharedRaceWithoutABarrier) {
  std::string P = Places;
  EXPECT_EQ(kinds(P + "st.shared.u32 [%r3], %tx; bar.sync 0;\n"
                      "ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd2], %r5;"),
            "");
  // Without it the value may not even be there.
  EXPECT_NE(kinds(P + "st.shared.u32 [%r3], %tx;\n"
                      "ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd2], %r5;")
                .find("shared-race"),
            std::string::npos);
  EXPECT_NE(Printed.find("kernel k"), std::string::npos);
  EXPECT_NE(Printed.find("PTX line"), std::string::npos);
}

TEST_F(SanitizerTest, SecondBarrierOfALoopIsMissing) {
  std::string P = Places;
  auto Loop = [&](const char *Second) {
    return P +
           "mov.u32 %r6, 0;\nLOOP: st.shared.u32 [%r3], %r6; bar.sync 0;\n"
           "ld.shared.u32 %r5, [%r4];\n" +
           Second +
           "add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra LOOP;\n"
           "st.global.u32 [%rd2], %r5;";
  };
  EXPECT_EQ(kinds(Loop("bar.sync 0;\n")), "");
  EXPECT_EQ(kinds(Loop("")), "shared-race");
}

TEST_F(SanitizerTest, LanesOfAWarpNeedASynchronisation) {
  std::string P = "mov.u32 %r2, buf; shl.b32 %r3, %tx, 2;\n"
                  "add.u32 %r3, %r3, %r2; xor.b32 %r4, %r3, 4;\n"
                  "mul.wide.u32 %rd2, %tx, 4; add.s64 %rd2, %rd1, %rd2;\n";
  auto Text = [&](const char *Sync) {
    return P + "st.shared.u32 [%r3], %tx;\n" + Sync +
           "ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd2], %r5;";
  };
  EXPECT_EQ(kinds(Text("bar.warp.sync -1;\n"), 32), "");
  EXPECT_EQ(kinds(Text(""), 32), "warp-race");
  // All lanes write their own number to one word.
  EXPECT_EQ(kinds("st.shared.u32 [buf], %tx;", 32), "warp-race");
  EXPECT_EQ(kinds("st.shared.u32 [buf], 5;", 32), "");
}

TEST_F(SanitizerTest, NeverWritten) {
  std::string P = Places;
  EXPECT_EQ(kinds(P + "ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd2], %r5;"),
            "uninitialized");
  EXPECT_EQ(kinds(P + "setp.lt.u32 %p1, %tx, 8; @%p1 mov.u32 %r5, 1;\n"
                      "st.global.u32 [%rd2], %r5;"),
            "uninitialized");
  EXPECT_NE(Printed.find("register %r5"), std::string::npos) << Printed;
  EXPECT_EQ(kinds(P + "setp.lt.u32 %p1, %tx, 8; @%p1 mov.u32 %r5, 1;\n"
                      "@!%p1 mov.u32 %r5, 2; st.global.u32 [%rd2], %r5;"),
            "");
  // What is computed of it may be thrown away, but not stored or asked.
  std::string Part = P + "setp.lt.u32 %p1, %tx, 8; @%p1 mov.u32 %r5, 1;\n"
                         "add.u32 %r6, %r5, 1; setp.eq.u32 %p2, %r6, 2;\n";
  EXPECT_EQ(kinds(Part + "selp.u32 %r7, %r6, 3, %p1; and.pred %p3, %p1, %p2;\n"
                         "@%p3 bra DONE; st.global.u32 [%rd2], %r7;\nDONE:"),
            "");
  EXPECT_EQ(kinds(Part + "st.global.u32 [%rd2], %r6;"), "uninitialized");
  EXPECT_NE(Printed.find("register %r5"), std::string::npos) << Printed;
  EXPECT_EQ(kinds(Part + "@%p2 bra DONE; st.global.u32 [%rd2], 1;\nDONE:"),
            "uninitialized");
  EXPECT_EQ(kinds(Part + "@%p2 st.global.u32 [%rd2], 1;"), "uninitialized");
  // Global memory that nobody has written.
  SimContext Context;
  DeviceAddress A = 0;
  ASSERT_EQ(cuMemAlloc_v2(&A, 256), 0);
  void *Module = nullptr, *Kernel = nullptr;
  std::string Text = kernelText("ld.global.u32 %r3, [%rd1+8];\n"
                                "st.global.u32 [%rd1], %r3;");
  ASSERT_EQ(cuModuleLoadData(&Module, Text.c_str()), 0);
  ASSERT_EQ(cuModuleGetFunction(&Kernel, Module, "k"), 0);
  void *Params[] = {&A};
  findings().clear();
  testing::internal::CaptureStderr();
  cuLaunchKernel(Kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, Params, nullptr);
  EXPECT_EQ(cuCtxSynchronize(), 0);
  testing::internal::GetCapturedStderr();
  ASSERT_EQ(findings().all().size(), 1u);
  EXPECT_EQ(findings().all()[0].Kind, "uninitialized");
  EXPECT_EQ(cuMemsetD32_v2(A, 0, 64), 0);
  findings().clear();
  cuLaunchKernel(Kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, Params, nullptr);
  EXPECT_EQ(cuCtxSynchronize(), 0);
  EXPECT_TRUE(findings().all().empty());
}

TEST_F(SanitizerTest, OutOfBoundsAndMisaligned) {
  EXPECT_EQ(
      kinds("ld.global.u32 %r3, [%rd1+4096]; st.global.u32 [%rd1], %r3;", 1),
      "out-of-bounds");
  EXPECT_NE(Printed.find("past an allocation of 4096 bytes"), std::string::npos)
      << Printed;
  EXPECT_EQ(kinds("st.shared.u32 [buf+1024], %tx;", 1), "out-of-bounds");
  EXPECT_EQ(kinds("ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd1+8];", 1),
            "misaligned");
}

TEST_F(SanitizerTest, GlobalRaceBetweenBlocks) {
  std::string Block = "mov.u32 %r3, %ctaid.x;\n";
  EXPECT_EQ(kinds(Block + "st.global.u32 [%rd1], %r3;", 1, 2), "global-race");
  EXPECT_EQ(kinds(Block + "mul.wide.u32 %rd3, %r3, 4; add.s64 %rd3, %rd1, %rd3;"
                          "st.global.u32 [%rd3], %r3;",
                  1, 2),
            "");
  EXPECT_EQ(kinds("red.global.add.u32 [%rd1], 1;", 1, 2), "");
  // A flag: with release and acquire it orders, without it does not.
  auto Flag = [&](const char *Store, const char *Load) {
    return Block +
           "setp.eq.s32 %p1, %r3, 1; @%p1 bra READ;\n"
           "st.global.u32 [%rd1+64], 7;\n" +
           Store + " [%rd1], 9; bra END;\nREAD: " + Load +
           " %r4, [%rd1]; setp.ne.s32 %p2, %r4, 9; @%p2 bra READ;\n"
           "ld.global.u32 %r5, [%rd1+64]; st.global.u32 [%rd1+128], %r5;\n"
           "END:";
  };
  EXPECT_EQ(
      kinds(Flag("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32"), 1,
            2),
      "");
  EXPECT_EQ(kinds(Flag("st.global.u32", "ld.global.u32"), 1, 2), "global-race");
}

TEST_F(SanitizerTest, AsynchronousCopies) {
  auto Copy = [&](const char *Wait) {
    return std::string("mov.u32 %r2, buf; shl.b32 %r3, %tx, 4;\n"
                       "add.u32 %r3, %r3, %r2; mul.wide.u32 %rd2, %tx, 16;\n"
                       "add.s64 %rd2, %rd1, %rd2;\n"
                       "cp.async.cg.shared.global [%r3], [%rd2], 16;\n"
                       "cp.async.commit_group;\n") +
           Wait + "ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd2+1024], %r5;";
  };
  EXPECT_EQ(kinds(Copy("cp.async.wait_group 0;\n"), 32), "");
  EXPECT_EQ(kinds(Copy("cp.async.wait_group 1;\n"), 32), "async-race");
  EXPECT_EQ(kinds(Copy(""), 32), "async-race");
  // The wait is the own thread's; another one needs the barrier, too.
  std::string Other =
      "mov.u32 %r2, buf; shl.b32 %r3, %tx, 4; add.u32 %r4, %r3, %r2;\n"
      "xor.b32 %r5, %r3, 512; add.u32 %r5, %r5, %r2;\n"
      "mul.wide.u32 %rd2, %tx, 16; add.s64 %rd2, %rd1, %rd2;\n"
      "cp.async.cg.shared.global [%r4], [%rd2], 16;\n"
      "cp.async.commit_group; cp.async.wait_group 0;\n";
  std::string Use = "ld.shared.u32 %r5, [%r5]; st.global.u32 [%rd2+2048], %r5;";
  EXPECT_EQ(kinds(Other + "bar.sync 0;\n" + Use), "");
  EXPECT_NE(kinds(Other + Use).find("race"), std::string::npos);
}

TEST_F(SanitizerTest, NonCoherentLoadOfWrittenData) {
  std::string P = Places;
  EXPECT_NE(kinds(P + "st.global.u32 [%rd2], %tx;\n"
                      "ld.global.nc.u32 %r5, [%rd2];\n"
                      "st.global.u32 [%rd2+1024], %r5;")
                .find("non-coherent"),
            std::string::npos);
  EXPECT_EQ(kinds(P + "ld.global.nc.u32 %r5, [%rd2];\n"
                      "st.global.u32 [%rd2+1024], %r5;"),
            "");
}

TEST_F(SanitizerTest, BarriersAndMasks) {
  EXPECT_EQ(kinds("setp.lt.u32 %p1, %tx, 16; @%p1 bra A;\nbar.sync 0; bra B;\n"
                  "A: bar.sync 0;\nB:",
                  32),
            "divergent-barrier");
  EXPECT_EQ(kinds("setp.lt.u32 %p1, %tx, 16; @%p1 bra A;\n"
                  "bar.sync 1, 64; bra B;\nA: bar.sync 2, 64;\nB:",
                  32)
                    .find("deadlock") != std::string::npos,
            true);
  EXPECT_EQ(kinds("setp.lt.u32 %p1, %tx, 16;\n"
                  "@%p1 shfl.sync.bfly.b32 %r3, %tx, 16, 31, 0xffff;",
                  32),
            "warp-mask");
  EXPECT_EQ(kinds("setp.lt.u32 %p1, %tx, 16;\n"
                  "@%p1 shfl.sync.bfly.b32 %r3, %tx, 8, 31, 0xffff;",
                  32),
            "");
}

TEST_F(SanitizerTest, RefusedLaunches) {
  findings().clear();
  SimContext Context;
  void *Module = nullptr, *Kernel = nullptr;
  std::string Text = kernelText("");
  ASSERT_EQ(cuModuleLoadData(&Module, Text.c_str()), 0);
  ASSERT_EQ(cuModuleGetFunction(&Kernel, Module, "k"), 0);
  testing::internal::CaptureStderr();
  uint64_t A = 0;
  void *Params[] = {&A};
  EXPECT_EQ(cuLaunchKernel(Kernel, 1, 1, 1, 32, 1, 1, 60 << 10, nullptr, Params,
                           nullptr),
            1);
  std::string Line = testing::internal::GetCapturedStderr();
  EXPECT_NE(Line.find("launch: 61440 bytes of shared memory, 49152 are "
                      "allowed: kernel k"),
            std::string::npos)
      << Line;
}

TEST_F(SanitizerTest, OriginOfNan) {
  std::string Text = "mov.f32 %f1, 0f00000000; mov.u32 %r2, %tx;\n"
                     "cvt.rn.f32.u32 %f2, %r2; div.rn.f32 %f3, %f1, %f2;\n"
                     "add.f32 %f4, %f3, %f1; mov.b32 %r3, %f4;\n"
                     "mul.wide.u32 %rd2, %tx, 4; add.s64 %rd2, %rd1, %rd2;\n"
                     "st.global.u32 [%rd2], %r3;";
  EXPECT_EQ(kinds(Text), "");
  set("nan");
  EXPECT_EQ(kinds(Text), "nan");
}

TEST_F(SanitizerTest, LinesOfTheSourceAreNamed) {
  // As NVRTC writes them with --generate-line-info; the second is of an inlined
  // function.
  std::string Text =
      ".loc 1 40 3\nmov.u32 %r3, buf; ld.shared.u32 %r4, [%r3];\n"
      ".loc 1 123 5, function_name $L__info_string0, inlined_at 1 41 3\n"
      "ld.shared.u32 %r5, [%r3+4]; add.u32 %r4, %r4, %r5;\n"
      "st.global.u32 [%rd1], %r4;";
  EXPECT_EQ(kinds(Text, 1), "uninitialized");
  std::vector<unsigned> Lines;
  for (const Finding &F : findings().all())
    Lines.push_back(F.SourceLine);
  EXPECT_EQ(Lines, (std::vector<unsigned>{40, 123}));
  EXPECT_NE(Printed.find("kernel k, source line 123, PTX line "),
            std::string::npos)
      << Printed;
  EXPECT_NE(Printed.find("block (0,0,0), thread (0,0,0)"), std::string::npos);
  EXPECT_NE(findings().json().find("\"source_line\":123"), std::string::npos);
}

TEST_F(SanitizerTest, EveryOrderIsClean) {
  std::string P = Places;
  for (const char *Seed : {"1", "2", "3", "4", "5"}) {
    set("1", Seed);
    EXPECT_EQ(kinds(P + "st.shared.u32 [%r3], %tx; bar.sync 0;\n"
                        "ld.shared.u32 %r5, [%r4]; bar.warp.sync -1;\n"
                        "shfl.sync.down.b32 %r5, %r5, 1, 31, -1;\n"
                        "st.global.u32 [%rd2], %r5;"),
              "");
  }
}
} // namespace
