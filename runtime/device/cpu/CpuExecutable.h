// A program loaded on the CPU: image, arena, KV pool and threads.
#ifndef LLMC_RUNTIME_DEVICE_CPU_CPUEXECUTABLE_H
#define LLMC_RUNTIME_DEVICE_CPU_CPUEXECUTABLE_H

#include "runtime/device/Device.h"
#include "runtime/device/cpu/CpuImage.h"
#include "runtime/device/cpu/StepBarrier.h"
#include "runtime/device/cpu/ThreadPool.h"

namespace llmc {

/// Anonymous zeroed memory of its own mapping, aligned to 64 bytes; pages
/// become resident when they are touched. It ends at an inaccessible page, so
/// that a plan that is too small is a fault and not damage elsewhere.
class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&O) noexcept { *this = static_cast<Mapping &&>(O); }
  Mapping &operator=(Mapping &&O) noexcept;
  Mapping(const Mapping &) = delete;
  ~Mapping();
  static Result<Mapping> create(uint64_t Bytes, std::string_view What);
  uint8_t *data() const { return Data; }
  uint64_t size() const { return Size; }

private:
  uint8_t *Data = nullptr;
  uint64_t Size = 0;
  uint8_t *Start = nullptr; ///< of the mapping
  uint64_t Length = 0;      ///< of the mapping, with the inaccessible page
};

class CpuExecutable : public Executable {
public:
  static Result<std::unique_ptr<Executable>> load(const ProgramView &P,
                                                  const DeviceLoadOptions &O);
  const ExecutableInfo &info() const override { return Info; }
  Status step(const StepInput &In) override;
  Status copyPage(uint32_t From, uint32_t To) override;
  /// What tests look at: memory taken at load, barriers passed so far.
  uint64_t arenaBytes() const { return Arena.size(); }
  uint64_t kvBytes() const { return Kv.size(); }
  uint32_t barriers() { return Barrier.get()->generation; }

private:
  CpuExecutable() = default;
  Status check(const StepInput &In) const;
  Status checkRows(const StepInput &In) const;

  ExecutableInfo Info;
  uint32_t MaxContext = 0;
  std::vector<uint32_t> Buckets;
  std::vector<int32_t> Lengths; ///< for callers that give none
  std::span<const uint8_t> Weights;
  CpuImage Image;
  Mapping Arena, Kv;
  StepBarrier Barrier;
  std::unique_ptr<ThreadPool> Pool;
};

} // namespace llmc

#endif // LLMC_RUNTIME_DEVICE_CPU_CPUEXECUTABLE_H
