// The launches of a bucket as one graph of the driver: a step is then one call
// instead of several hundred. Captured from a stream, so that there is one list
// of launches; what changes from step to step is in the descriptor's memory.
#ifndef LLMC_RUNTIME_DEVICE_CUDA_STEPGRAPH_H
#define LLMC_RUNTIME_DEVICE_CUDA_STEPGRAPH_H

#include "runtime/device/cuda/CudaDevice.h"

#include <functional>

namespace llmc::cuda {

class StepGraph {
public:
  StepGraph() = default;
  ~StepGraph();
  StepGraph(StepGraph &&) = default;
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;

  bool ready() const { return Exec != nullptr; }
  /// Counts the steps that asked; the first one is not worth a graph.
  bool wanted() { return Asked++ != 0; }
  /// What Launch queues on Where becomes the graph. False when the driver does
  /// not do it; nothing is queued then, and the stream is as before.
  bool capture(const std::shared_ptr<DeviceContext> &C, Stream Where,
               const std::function<Status()> &Launch);
  /// Queues the graph on Where.
  Status launch(Stream Where) const;

private:
  std::shared_ptr<DeviceContext> Ctx;
  GraphExec Exec = nullptr;
  unsigned Asked = 0;
};

} // namespace llmc::cuda

#endif // LLMC_RUNTIME_DEVICE_CUDA_STEPGRAPH_H
