// Times of kernels, by events around all launches of a kernel: those of all
// layers, one after another, so that each finds its own weights in memory and
// not in the cache of the chip.
#include "runtime/device/cuda/CudaExecutable.h"

namespace llmc::cuda {
namespace {

class OwnedEvent {
public:
  explicit OwnedEvent(const Driver &Of) : Api(Of) {}
  ~OwnedEvent() {
    if (Handle)
      Api.EventDestroy(Handle);
  }
  OwnedEvent(const OwnedEvent &) = delete;
  OwnedEvent &operator=(const OwnedEvent &) = delete;
  Status record(Stream Where) {
    if (!Handle)
      LLMC_RETURN_IF_ERROR(
          Api.check(Api.EventCreate(&Handle, 0), "create an event"));
    return Api.check(Api.EventRecord(Handle, Where), "record an event");
  }
  Event get() const { return Handle; }

private:
  const Driver &Api;
  Event Handle = nullptr;
};
} // namespace

/// Microseconds of all of them together.
Result<double> CudaExecutable::timeLaunches(std::vector<ReadyLaunch *> &Some,
                                            unsigned Repeats) {
  const Driver &Api = *Ctx->Api;
  OwnedEvent Begin(Api), End(Api);
  for (ReadyLaunch *L : Some) // the first launches load code
    LLMC_RETURN_IF_ERROR(launchOne(*L));
  LLMC_RETURN_IF_ERROR(Begin.record(Work.get()));
  for (unsigned N = 0; N != Repeats; ++N)
    for (ReadyLaunch *L : Some)
      LLMC_RETURN_IF_ERROR(launchOne(*L));
  LLMC_RETURN_IF_ERROR(End.record(Work.get()));
  LLMC_RETURN_IF_ERROR(
      Api.check(Api.EventSynchronize(End.get()), "time a kernel"));
  float Milliseconds = 0;
  LLMC_RETURN_IF_ERROR(
      Api.check(Api.EventElapsedTime(&Milliseconds, Begin.get(), End.get()),
                "read the time of a kernel"));
  return static_cast<double>(Milliseconds) * 1000;
}

Result<std::vector<KernelTime>> CudaExecutable::timeKernels(const StepInput &In,
                                                            unsigned Repeats) {
  if (!Ctx->Api->hasEvents())
    return doesNotFitError("the cuda driver has no events");
  LLMC_RETURN_IF_ERROR(step(In)); // fills the descriptor
  size_t Bucket = bucketOf(In.Ids.size());
  std::vector<KernelTime> Out;
  for (uint32_t K = 0; K != KernelNames.size(); ++K) {
    std::vector<ReadyLaunch *> Some;
    KernelTime T;
    for (ReadyLaunch &L : Launches[Bucket])
      if (L.Number == K && L.Grid[0] != 0 && L.Grid[1] != 0 && L.Grid[2] != 0) {
        Some.push_back(&L);
        T.Bytes += L.Bytes;
        T.Macs += L.Macs;
        T.Predicted += L.Predicted;
      }
    if (Some.empty())
      continue;
    Result<double> Microseconds = timeLaunches(Some, Repeats);
    if (!Microseconds.ok())
      return Broken = Microseconds.takeStatus();
    uint64_t Count = Some.size();
    T.Kernel = KernelNames[K];
    T.Launches = static_cast<uint32_t>(Count);
    T.Microseconds = *Microseconds / static_cast<double>(Count * Repeats);
    T.Bytes /= Count;
    T.Macs /= Count;
    T.Predicted /= static_cast<double>(Count);
    Out.push_back(std::move(T));
  }
  return Out;
}

} // namespace llmc::cuda
