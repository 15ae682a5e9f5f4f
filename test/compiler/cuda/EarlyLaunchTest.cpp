// What may run before griddepcontrol.wait, on small PTX; and the block shapes
// that the model of a chip chooses.
#include "compiler/target/cuda/EarlyLaunch.h"
#include "compiler/target/cuda/ProductChoice.h"

#include "compiler/kernels/FragmentFormat.h"

#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::cuda;

namespace {

/// Parameter 0 is a weight, parameter 1 an activation.
Status check(const std::string &Body) {
  std::string Ptx = ".version 8.0\n.target sm_90\n"
                    ".visible .entry k(\n\t.param .u64 k_param_0,\n"
                    "\t.param .u64 k_param_1\n)\n{\n"
                    "\t.reg .b64 \t%rd<9>;\n"
                    "\tld.param.u64 \t%rd1, [k_param_0];\n"
                    "\tld.param.u64 \t%rd2, [k_param_1];\n"
                    "\tcvta.to.global.u64 \t%rd3, %rd1;\n"
                    "\tcvta.to.global.u64 \t%rd4, %rd2;\n" +
                    Body + "\tret;\n\n}\n";
  return checkEarlyLaunch(Ptx, "k", {0});
}
const std::string Wait = "\t// begin inline asm\n\tgriddepcontrol.wait;\n"
                         "\t// end inline asm\n";

TEST(EarlyLaunch, WeightsMayBeReadBeforeTheWait) {
  EXPECT_TRUE(check("\tadd.s64 \t%rd5, %rd3, 512;\n"
                    "\tld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd5];\n" +
                    Wait +
                    "\tld.global.f32 \t%f1, [%rd4];\n"
                    "\tst.global.f32 \t[%rd4], %f1;\n")
                  .ok());
}

TEST(EarlyLaunch, ResultsOfOthersMayNot) {
  Status S = check("\tld.global.f32 \t%f1, [%rd4+4];\n" + Wait);
  ASSERT_FALSE(S.ok());
  EXPECT_EQ(S.message(), "kernel k: ld.global.f32 %f1, [%rd4+4] may read "
                         "results of an earlier launch before "
                         "griddepcontrol.wait");
  // Through arithmetic with both, too.
  EXPECT_FALSE(check("\tadd.s64 \t%rd5, %rd3, %rd4;\n"
                     "\tld.global.f32 \t%f1, [%rd5];\n" +
                     Wait)
                   .ok());
}

TEST(EarlyLaunch, NothingIsWrittenBeforeTheWait) {
  EXPECT_FALSE(check("\tst.global.f32 \t[%rd3], %f1;\n" + Wait).ok());
  EXPECT_FALSE(
      check("\tcp.async.cg.shared.global [%r1], [%rd3], 16;\n" + Wait).ok());
}

TEST(EarlyLaunch, EveryPathWaits) {
  Status S = check("\t@%p1 bra \t$L__BB0_2;\n" + Wait + "$L__BB0_2:\n");
  ASSERT_FALSE(S.ok());
  EXPECT_EQ(S.message(), "kernel k can end without griddepcontrol.wait");
  EXPECT_FALSE(check("\t@%p1 ret;\n" + Wait).ok());
  EXPECT_TRUE(check("\t@%p1 bra \t$L__BB0_2;\n" + Wait +
                    "\tld.global.f32 \t%f1, [%rd4];\n\tbra.uni \t$L__BB0_3;\n"
                    "$L__BB0_2:\n" +
                    Wait + "$L__BB0_3:\n")
                  .ok());
}

TEST(EarlyLaunch, ABackwardBranchDoesNotHideALoad) {
  EXPECT_FALSE(check("\tbra.uni \t$L__BB0_3;\n$L__BB0_2:\n"
                     "\tld.global.f32 \t%f1, [%rd4];\n" +
                     Wait +
                     "\tbra.uni \t$L__BB0_4;\n$L__BB0_3:\n"
                     "\tbra.uni \t$L__BB0_2;\n$L__BB0_4:\n")
                   .ok());
}

int64_t int8() {
  return kernels::numberOf(kernels::Int8Format) | kernels::FragmentFlag;
}

DecodeProblem problem(int64_t RowTiles, int64_t Cols) {
  DecodeProblem P;
  P.RowTiles = RowTiles;
  P.Cols = Cols;
  P.WType = int8();
  return P;
}

TEST(ProductChoice, FewRowsKeepEnoughOnTheirWay) {
  // 4096 rows on 108 multiprocessors: a block or two for each of them, which
  // by themselves have to cover the latency.
  DecodeProblem P = problem(256, 4096);
  LaunchFacts L = decodeFacts(P, chooseDecode(P, "sm_80"));
  EXPECT_GE(L.Blocks, 108u);
  LaunchPrediction T = predictLaunch(*findGpuChip("a100"), L);
  EXPECT_NE(T.By, LaunchPrediction::Latency);
}

TEST(ProductChoice, PairsStayTogetherAndWarpsHaveSegments) {
  for (const char *Target :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    for (int64_t Cols : {64, 576, 1536, 14336}) {
      DecodeProblem P = problem(36, Cols);
      P.Pairs = P.Norm = true;
      ProductForm F = chooseDecode(P, Target);
      EXPECT_EQ(F.Tiles, 2u);
      EXPECT_LE(F.Warps, segmentsOf(Cols));
      P = problem(36, Cols);
      P.Prepared = true;
      P.TokenTiles = 4;
      P.Tokens = 32;
      ProductForm Rows = chooseDecode(P, Target);
      EXPECT_EQ(Rows.TokenTiles, 4u);
      EXPECT_TRUE(Rows.Prepared);
    }
}
} // namespace
