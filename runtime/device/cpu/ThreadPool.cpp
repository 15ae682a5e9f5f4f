// Persistent worker threads. A worker polls a little for the next job, since
// decode steps follow each other closely, then sleeps on a futex: an idle
// process uses no CPU.
#include "runtime/device/cpu/ThreadPool.h"

#include "runtime/device/cpu/StepBarrier.h"

#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace llmc {
namespace {
void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Returns when *Word != Seen, or after the polls.
uint32_t poll(const uint32_t *Word, uint32_t Seen) {
  uint32_t Now = __atomic_load_n(Word, __ATOMIC_SEQ_CST);
  for (uint32_t I = 0; Now == Seen && I < SpinPolls; ++I) {
    pause();
    Now = __atomic_load_n(Word, __ATOMIC_SEQ_CST);
  }
  return Now;
}
} // namespace

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(uint32_t Count) {
  std::unique_ptr<ThreadPool> Pool(new ThreadPool(Count ? Count : 1));
  LLMC_RETURN_IF_ERROR(Pool->start());
  return Pool;
}

Status ThreadPool::start() {
  Workers.reserve(Count - 1);
  // The standard library reports a refused thread by an exception only.
  try {
    for (uint32_t I = 1; I < Count; ++I)
      Workers.emplace_back([this, I] { work(I); });
  } catch (const std::system_error &) {
    return doesNotFitError("the system refuses thread " +
                           std::to_string(Workers.size() + 1) + " of " +
                           std::to_string(Count));
  }
  return Status::success();
}

ThreadPool::~ThreadPool() {
  Fn = nullptr;
  __atomic_add_fetch(&Job, 1, __ATOMIC_SEQ_CST);
  futexWakeAll(&Job);
  for (std::thread &T : Workers)
    T.join();
}

void ThreadPool::work(uint32_t Thread) {
  uint32_t Seen = 0;
  while (true) {
    uint32_t Now = poll(&Job, Seen);
    if (Now == Seen) {
      Sleepers.fetch_add(1, std::memory_order_seq_cst);
      while ((Now = __atomic_load_n(&Job, __ATOMIC_SEQ_CST)) == Seen)
        futexWait(&Job, Seen);
      Sleepers.fetch_sub(1, std::memory_order_seq_cst);
    }
    Seen = Now;
    if (!Fn)
      return;
    Fn(Arg, Thread);
    if (__atomic_add_fetch(&Done, 1, __ATOMIC_SEQ_CST) == Count - 1)
      futexWakeAll(&Done);
  }
}

void ThreadPool::run(Function F, void *A) {
  if (Count == 1) {
    F(A, 0);
    return;
  }
  Fn = F;
  Arg = A;
  __atomic_store_n(&Done, 0, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&Job, 1, __ATOMIC_SEQ_CST);
  if (Sleepers.load(std::memory_order_seq_cst) != 0)
    futexWakeAll(&Job);
  F(A, 0);
  uint32_t Polls = 0;
  for (uint32_t Now = __atomic_load_n(&Done, __ATOMIC_SEQ_CST);
       Now != Count - 1; Now = __atomic_load_n(&Done, __ATOMIC_SEQ_CST)) {
    if (++Polls < SpinPolls)
      pause();
    else
      futexWait(&Done, Now);
  }
}

} // namespace llmc
