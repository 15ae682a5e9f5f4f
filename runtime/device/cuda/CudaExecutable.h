// A program loaded on a GPU: code, weights, arena, KV pool, and its launches
// with every argument already resolved, so that a step copies one descriptor,
// launches, and copies logits back. Nothing is allocated in a step.
#ifndef LLMC_RUNTIME_DEVICE_CUDA_CUDAEXECUTABLE_H
#define LLMC_RUNTIME_DEVICE_CUDA_CUDAEXECUTABLE_H

#include "runtime/device/StepAbi.h"
#include "runtime/device/cuda/DeviceBuffer.h"
#include "runtime/device/cuda/StepGraph.h"

#include <array>
#include <vector>

namespace llmc::fb {
struct Program;
struct Launch;
struct LaunchArg;
} // namespace llmc::fb

namespace llmc::cuda {

/// Where the parts of the step descriptor lie in it. The page table is last:
/// only as much of it as a step has is copied.
struct DescriptorLayout {
  size_t Ids = 0, Positions = 0, RowSeq = 0, Lengths = 0, LogitRows = 0,
         PageTable = 0;
  size_t Bytes = 0;
  uint32_t PagesPerSequence = 0; ///< most entries of a page table row
};

/// A launch with its arguments in one bucket.
struct ReadyLaunch {
  Function Kernel = nullptr;
  std::array<unsigned, 3> Grid{}, Block{};
  unsigned SharedBytes = 0;
  bool WritesLogits = false;
  uint32_t Number = 0;          ///< of its kernel
  uint64_t Bytes = 0, Macs = 0; ///< as the compiler counts them
  double Predicted = 0;         ///< its microseconds
  bool Early = false; ///< may begin before the launch before it has ended
  std::vector<uint64_t> Values;
  std::vector<void *> Params; ///< into Values
};

/// Which launches of a bucket a step makes.
enum class StepPart : uint8_t { All, WithoutLogits, LogitsOnly };

class CudaExecutable : public Executable {
public:
  static Result<std::unique_ptr<Executable>>
  load(std::shared_ptr<DeviceContext> Ctx, const ProgramView &P,
       const DeviceLoadOptions &O);

  const ExecutableInfo &info() const override { return Facts; }
  Status step(const StepInput &In) override;
  Status copyPage(uint32_t From, uint32_t To) override;
  Result<std::vector<KernelTime>> timeKernels(const StepInput &In,
                                              unsigned Repeats) override;

private:
  explicit CudaExecutable(std::shared_ptr<DeviceContext> C)
      : Ctx(std::move(C)) {}
  Status readFacts(const fb::Program &P, const DeviceLoadOptions &O);
  Status allocate(const fb::Program &P, const ProgramView &View);
  Status upload(std::span<const uint8_t> Weights);
  Status clearTickets();
  Status resolve(const fb::Program &P);
  Status resolveArg(const fb::LaunchArg &A, size_t Bucket, ReadyLaunch &L);
  DevicePtr stepPointer(uint32_t Arg) const;
  Status checkStep(const StepInput &In) const;
  Status checkRows(const StepInput &In) const;
  void fillDescriptor(const StepInput &In, size_t Bucket);
  Status runChunk(const StepInput &In, size_t Bucket, size_t FirstRow);
  Status launch(size_t Bucket, StepPart Part);
  Status launchEach(size_t Bucket, StepPart Part);
  Status launchOne(ReadyLaunch &L);
  size_t bucketOf(size_t Tokens) const;
  Result<double> timeLaunches(std::vector<ReadyLaunch *> &Some,
                              unsigned Repeats);

  std::shared_ptr<DeviceContext> Ctx;
  ExecutableInfo Facts;
  DescriptorLayout Layout;
  std::vector<uint32_t> Buckets;
  uint32_t LogitRows = 0; ///< rows of the logits buffer
  OwnedModule Code;
  DeviceBuffer Weights, Arena, Kv, Descriptor, Logits, Tickets;
  PinnedBuffer Host; ///< the descriptor's image
  OwnedStream Work;
  std::vector<std::string> KernelNames;
  std::vector<std::vector<ReadyLaunch>> Launches; ///< per bucket
  std::vector<std::array<StepGraph, 3>> Graphs;   ///< by bucket and StepPart
  bool UseGraphs = false, UseEarly = false;
  Status Broken; ///< set by the first error of the device; it stays broken
};

} // namespace llmc::cuda

#endif // LLMC_RUNTIME_DEVICE_CUDA_CUDAEXECUTABLE_H
