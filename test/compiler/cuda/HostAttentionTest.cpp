// Attention compiled for the host: every form against a double-precision twin,
// and the same bits of a row in every company. The fast set takes a few shapes;
// the simulator (SimAttentionTest) runs the real PTX.
#include "test/compiler/cuda/AttentionPool.h"

#include <cstdlib>

using namespace llmc;
using namespace llmc::cuda;
using namespace llmc::test;

namespace {
void runOnHost(const KernelRequest &R, uint32_t Bucket,
               const std::vector<Argument> &Args) {
  std::vector<const void *> Pointers;
  for (const Argument &A : Args)
    Pointers.push_back(A.Data);
  Library::get().run(R, Bucket, Pointers);
}

class AttentionHost : public testing::TestWithParam<AttentionShape> {};

TEST_P(AttentionHost, SameInAnyCompany) {
  AttentionPool P(GetParam());
  checkCompany(P, runOnHost);
  if (GetParam().Wide)
    checkChunks(P, runOnHost);
}

std::vector<AttentionShape> shapes() {
  std::vector<AttentionShape> All = attentionShapes(), Some;
  if (std::getenv("LLMC_SLOW"))
    return All;
  for (const AttentionShape &S : All)
    if (S.Kv == kernels::KvF32 || std::string(S.Name) == "g16")
      Some.push_back(S);
  return Some;
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionHost, testing::ValuesIn(shapes()),
                         [](const testing::TestParamInfo<AttentionShape> &I) {
                           return std::string(I.param.Name);
                         });

} // namespace
