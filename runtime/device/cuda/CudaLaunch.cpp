// The launches of a step, one by one or as a graph. A bucket's graph is made by
// its second step: a bucket that is used once (the tail of a prompt) would pay
// more for the graph than for its launches. A driver that cannot capture gets
// the launches one by one, for good.
// Kernels that wait for their predecessor themselves (Kernel.pdl) are launched
// so that they may begin while it still runs; the driver knows that from the
// attribute, in graphs as well.
#include "runtime/device/cuda/CudaExecutable.h"

namespace llmc::cuda {
namespace {

int queue(const Driver &Api, ReadyLaunch &L, Stream Where, bool Early) {
  if (!Early)
    return Api.LaunchKernel(L.Kernel, L.Grid[0], L.Grid[1], L.Grid[2],
                            L.Block[0], L.Block[1], L.Block[2], L.SharedBytes,
                            Where, L.Params.data(), nullptr);
  LaunchAttribute Attribute;
  Attribute.Id = LaunchAttribute::ProgrammaticStreamSerialization;
  Attribute.Value[0] = 1;
  LaunchConfig C;
  for (unsigned I = 0; I != 3; ++I) {
    C.Grid[I] = L.Grid[I];
    C.Block[I] = L.Block[I];
  }
  C.SharedBytes = L.SharedBytes;
  C.Where = Where;
  C.Attributes = &Attribute;
  C.Count = 1;
  return Api.LaunchKernelEx(&C, L.Kernel, L.Params.data(), nullptr);
}
} // namespace

Status CudaExecutable::launchEach(size_t Bucket, StepPart Part) {
  for (ReadyLaunch &L : Launches[Bucket]) {
    bool Made = L.Grid[0] != 0 && L.Grid[1] != 0 && L.Grid[2] != 0;
    if (!Made || (L.WritesLogits ? Part == StepPart::WithoutLogits
                                 : Part == StepPart::LogitsOnly))
      continue;
    LLMC_RETURN_IF_ERROR(launchOne(L));
  }
  return Status::success();
}

Status CudaExecutable::launchOne(ReadyLaunch &L) {
  return Ctx->Api->check(queue(*Ctx->Api, L, Work.get(), L.Early && UseEarly),
                         "launch a kernel");
}

Status CudaExecutable::launch(size_t Bucket, StepPart Part) {
  if (!UseGraphs)
    return launchEach(Bucket, Part);
  StepGraph &G = Graphs[Bucket][static_cast<size_t>(Part)];
  if (!G.ready() && !G.wanted())
    return launchEach(Bucket, Part);
  if (!G.ready()) {
    auto Launch = [&] { return launchEach(Bucket, Part); };
    UseGraphs = G.capture(Ctx, Work.get(), Launch);
    if (!UseGraphs)
      return launchEach(Bucket, Part);
  }
  return G.launch(Work.get());
}

} // namespace llmc::cuda
