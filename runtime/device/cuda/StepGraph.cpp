// Capture, instantiation and replay of a step's launches.
#include "runtime/device/cuda/StepGraph.h"

namespace llmc::cuda {

StepGraph::~StepGraph() {
  if (Ctx && Exec)
    Ctx->Api->GraphExecDestroy(Exec);
}

bool StepGraph::capture(const std::shared_ptr<DeviceContext> &C, Stream Where,
                        const std::function<Status()> &Launch) {
  constexpr int ThreadLocal = 1; // other threads may call what they like
  const Driver &Api = *C->Api;
  if (Api.StreamBeginCapture(Where, ThreadLocal) != DriverSuccess)
    return false;
  bool Launched = Launch().ok();
  Graph Whole = nullptr;
  bool Ended = Api.StreamEndCapture(Where, &Whole) == DriverSuccess;
  if (Launched && Ended && Whole &&
      Api.GraphInstantiate(&Exec, Whole, 0) != DriverSuccess)
    Exec = nullptr;
  if (Whole)
    Api.GraphDestroy(Whole);
  Ctx = C;
  return Exec != nullptr;
}

Status StepGraph::launch(Stream Where) const {
  return Ctx->Api->check(Ctx->Api->GraphLaunch(Exec, Where), "launch a step");
}

} // namespace llmc::cuda
