// Threads that run one step together: the caller is thread 0, the others sleep
// between steps.
#ifndef LLMC_RUNTIME_DEVICE_CPU_THREADPOOL_H
#define LLMC_RUNTIME_DEVICE_CPU_THREADPOOL_H

#include "runtime/base/Status.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace llmc {

/// Created once per Executable; run() is called by one thread at a time.
class ThreadPool {
public:
  /// A pool of Count threads, the caller included. DoesNotFit when the system
  /// gives no more threads.
  static Result<std::unique_ptr<ThreadPool>> create(uint32_t Count);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;

  uint32_t size() const { return Count; }

  /// Calls Fn(Arg, thread) on all threads and returns when all are done.
  using Function = void (*)(void *Arg, uint32_t Thread);
  void run(Function Fn, void *Arg);

private:
  explicit ThreadPool(uint32_t Count) : Count(Count) {}
  Status start();
  void work(uint32_t Thread);

  uint32_t Count;
  Function Fn = nullptr; ///< null: end
  void *Arg = nullptr;
  alignas(64) uint32_t Job = 0; ///< futex word, grows with every run
  alignas(64) std::atomic<uint32_t> Sleepers{0};
  alignas(64) uint32_t Done = 0; ///< futex word, workers that finished
  std::vector<std::thread> Workers;
};

} // namespace llmc

#endif // LLMC_RUNTIME_DEVICE_CPU_THREADPOOL_H
