// Launches that begin before their predecessor has ended (programmatic stream
// serialization, griddepcontrol): results do not change where kernels wait, and
// what reads too early is seen, by its result under some seed and by the
// sanitizer in any case.
#include "test/cudasim/Harness.h"

#include "tools/cudasim/exec/Machine.h"
#include "tools/cudasim/sanitize/Findings.h"

#include <cstdlib>

extern "C" int cuLaunchKernelEx(const void *, void *, void **, void **);

namespace {

using namespace llmc::cudasim;

struct Attribute {
  int Id, Pad, Value[16];
};
struct Config {
  unsigned Grid[3], Block[3], Shared;
  void *Stream;
  Attribute *Attributes;
  unsigned Count;
};

/// `fill` lets dependents begin at once and then writes tid + 1 + the number of
/// its launches to its words; `copy` copies words to the second half, with its
/// griddepcontrol.wait where Wait is.
std::string kernels(const char *BeforeRead, const char *BehindRead) {
  std::string Head = ptxHeader("sm_90");
  auto Entry = [](const std::string &Name, const std::string &Body) {
    return ".visible .entry " + Name +
           "(.param .u64 p)\n{\n.reg .pred %p<9>; .reg .b32 %r<20>;\n"
           ".reg .b64 %rd<20>;\nld.param.u64 %rd1, [p];\n"
           "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
           "mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd2, %r4, 4;\n"
           "add.s64 %rd3, %rd1, %rd2;\n" +
           Body + "ret;\n}\n";
  };
  return Head +
         Entry("fill", "griddepcontrol.launch_dependents;\n"
                       "griddepcontrol.wait;\n"
                       "ld.global.u32 %r6, [%rd3];\n"
                       "add.u32 %r5, %r6, 1; st.global.u32 [%rd3], %r5;\n") +
         Entry("copy", std::string("griddepcontrol.launch_dependents;\n") +
                           BeforeRead + "ld.global.u32 %r5, [%rd3];\n" +
                           BehindRead + "st.global.u32 [%rd3+4096], %r5;\n");
}

class DependenceTest : public testing::Test {
protected:
  static constexpr unsigned Words = 1024, Rounds = 6;
  void TearDown() override {
    unsetenv("LLMC_CUDASIM_SANITIZE");
    unsetenv("LLMC_CUDASIM_SEED");
    reloadSettings();
    findings().clear();
  }
  void set(const char *Sanitize, unsigned Seed) {
    setenv("LLMC_CUDASIM_SANITIZE", Sanitize, 1);
    setenv("LLMC_CUDASIM_SEED", std::to_string(Seed).c_str(), 1);
    reloadSettings();
    findings().clear();
  }
  /// fill, copy, fill, copy …; the words of the copy at the end.
  std::vector<uint32_t> run(const std::string &Text, bool Graph) {
    SimContext Context;
    void *Module = nullptr, *Fill = nullptr, *Copy = nullptr, *Stream = nullptr;
    EXPECT_EQ(cuModuleLoadData(&Module, Text.c_str()), 0);
    EXPECT_EQ(cuModuleGetFunction(&Fill, Module, "fill"), 0);
    EXPECT_EQ(cuModuleGetFunction(&Copy, Module, "copy"), 0);
    EXPECT_EQ(cuStreamCreate(&Stream, 1), 0);
    DeviceAddress Buffer = 0;
    EXPECT_EQ(cuMemAlloc_v2(&Buffer, 2 * Words * 4), 0);
    EXPECT_EQ(cuMemsetD32Async(Buffer, 0, 2 * Words, Stream), 0);
    if (Graph) {
      EXPECT_EQ(cuStreamBeginCapture_v2(Stream, 0), 0);
    }
    Attribute Early = {6, 0, {1}};
    for (unsigned N = 0; N != Rounds; ++N)
      for (void *F : {Fill, Copy}) {
        Config C = {{8, 1, 1}, {128, 1, 1}, 0, Stream, &Early, 1};
        void *Params[] = {&Buffer};
        EXPECT_EQ(cuLaunchKernelEx(&C, F, Params, nullptr), 0);
      }
    if (Graph) {
      void *G = nullptr, *Exec = nullptr;
      EXPECT_EQ(cuStreamEndCapture(Stream, &G), 0);
      EXPECT_EQ(cuGraphInstantiateWithFlags(&Exec, G, 0), 0);
      EXPECT_EQ(cuGraphLaunch(Exec, Stream), 0);
    }
    EXPECT_EQ(cuStreamSynchronize(Stream), 0);
    std::vector<uint32_t> Out(Words);
    EXPECT_EQ(cuMemcpyDtoH_v2(Out.data(), Buffer + Words * 4, Words * 4), 0);
    return Out;
  }
  std::string kinds(const std::string &Text) {
    testing::internal::CaptureStderr();
    run(Text, false);
    testing::internal::GetCapturedStderr();
    std::string Out;
    for (const Finding &F : findings().all())
      if (Out.find(F.Kind) == std::string::npos)
        Out += (Out.empty() ? "" : ",") + F.Kind;
    return Out;
  }
};

TEST_F(DependenceTest, KernelsThatWaitGiveTheSame) {
  std::vector<uint32_t> Want(Words, Rounds);
  for (unsigned Seed = 0; Seed != 6; ++Seed)
    for (bool Graph : {false, true}) {
      set(Graph ? "first" : "0", Seed); // the sanitizer sees some of them
      EXPECT_EQ(run(kernels("griddepcontrol.wait;\n", ""), Graph), Want)
          << "seed " << Seed;
    }
}

TEST_F(DependenceTest, ReadingTooEarlyShowsUnderSomeSeed) {
  std::vector<uint32_t> Want(Words, Rounds);
  unsigned Different = 0;
  for (unsigned Seed = 1; Seed != 6; ++Seed) {
    set("0", Seed);
    Different += run(kernels("", "griddepcontrol.wait;\n"), Seed % 2) != Want;
  }
  EXPECT_GT(Different, 0u);
}

TEST_F(DependenceTest, TheSanitizerSeesIt) {
  for (unsigned Seed : {0u, 1u}) {
    set("1", Seed);
    EXPECT_EQ(kinds(kernels("griddepcontrol.wait;\n", "")), "");
    findings().clear();
    EXPECT_EQ(kinds(kernels("", "griddepcontrol.wait;\n")), "early-launch");
    findings().clear();
    EXPECT_EQ(kinds(kernels("", "")), "early-launch");
  }
}

TEST_F(DependenceTest, OneWarpMayWaitForItsBlock) {
  set("1", 0);
  EXPECT_EQ(kinds(kernels("setp.lt.u32 %p1, %r1, 32;\n"
                          "@%p1 griddepcontrol.wait;\nbar.sync 0;\n",
                          "")),
            "");
}
} // namespace
