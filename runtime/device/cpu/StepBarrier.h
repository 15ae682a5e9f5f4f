// The barrier of a step: an LlmcBarrier (runtime/device/StepAbi.h) whose fast
// path is in the compiled code, and what sleeps and wakes behind it.
#ifndef LLMC_RUNTIME_DEVICE_CPU_STEPBARRIER_H
#define LLMC_RUNTIME_DEVICE_CPU_STEPBARRIER_H

#include "runtime/device/StepAbi.h"

#include <atomic>

namespace llmc {

/// Polls of the generation before a thread sleeps: some tens of microseconds,
/// several times what the phases of a decode step differ by.
constexpr uint32_t SpinPolls = 1000;

/// Where others want the processors, too, polling takes them from the thread
/// that is waited for: after a sleep of LongSleep, which only a thread without
/// a processor explains, polls are few, until ShortSleeps in a row were
/// shorter.
constexpr uint32_t CrowdedPolls = 128;
constexpr int64_t LongSleepNanoseconds = 500'000;
constexpr uint32_t ShortSleeps = 64;

class StepBarrier {
public:
  StepBarrier();
  StepBarrier(const StepBarrier &) = delete;
  LlmcBarrier *get() { return &Shared; }

private:
  static void wait(LlmcBarrier *B, uint32_t Seen);
  static void wake(LlmcBarrier *B);
  void adapt(int64_t SleptNanoseconds);

  alignas(64) LlmcBarrier Shared; ///< first, so that callbacks find the rest
  std::atomic<uint32_t> Sleepers{0};
  std::atomic<uint32_t> Short{0}; ///< short sleeps in a row
};

/// Sleeps while *Word == Seen, or wakes all who do.
void futexWait(const uint32_t *Word, uint32_t Seen);
void futexWakeAll(const uint32_t *Word);

} // namespace llmc

#endif // LLMC_RUNTIME_DEVICE_CPU_STEPBARRIER_H
