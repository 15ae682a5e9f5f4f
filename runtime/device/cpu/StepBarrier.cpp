// Slow path of the step barrier: futex on the generation.
//
// A thread announces itself as a sleeper before the kernel compares the
// generation; the last arriver stores the generation before it looks for
// sleepers. Both orders are sequentially consistent, so one sees the other.
#include "runtime/device/cpu/StepBarrier.h"

#include <chrono>
#include <climits>
#include <cstddef>
#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <type_traits>
#include <unistd.h>

namespace llmc {

void futexWait(const uint32_t *Word, uint32_t Seen) {
  syscall(SYS_futex, Word, FUTEX_WAIT_PRIVATE, Seen, nullptr, nullptr, 0);
}

void futexWakeAll(const uint32_t *Word) {
  syscall(SYS_futex, Word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

StepBarrier::StepBarrier() {
  std::memset(&Shared, 0, sizeof Shared);
  Shared.spin_limit = SpinPolls;
  Shared.wait = &wait;
  Shared.wake = &wake;
}

void StepBarrier::wait(LlmcBarrier *B, uint32_t Seen) {
  StepBarrier *Self = reinterpret_cast<StepBarrier *>(B);
  Self->Sleepers.fetch_add(1, std::memory_order_seq_cst);
  auto Start = std::chrono::steady_clock::now();
  while (__atomic_load_n(&B->generation, __ATOMIC_SEQ_CST) == Seen)
    futexWait(&B->generation, Seen);
  std::chrono::nanoseconds Slept = std::chrono::steady_clock::now() - Start;
  Self->adapt(Slept.count());
  Self->Sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

void StepBarrier::adapt(int64_t SleptNanoseconds) {
  bool Crowded = SleptNanoseconds > LongSleepNanoseconds;
  uint32_t Row = Crowded ? 0 : Short.load(std::memory_order_relaxed) + 1;
  Short.store(Row, std::memory_order_relaxed);
  if (Crowded || Row == ShortSleeps)
    __atomic_store_n(&Shared.spin_limit, Crowded ? CrowdedPolls : SpinPolls,
                     __ATOMIC_RELAXED);
}

void StepBarrier::wake(LlmcBarrier *B) {
  StepBarrier *Self = reinterpret_cast<StepBarrier *>(B);
  if (Self->Sleepers.load(std::memory_order_seq_cst) != 0)
    futexWakeAll(&B->generation);
}

} // namespace llmc
