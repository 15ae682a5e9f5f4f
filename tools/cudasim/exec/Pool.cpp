// A pool of threads that all run the same job.
#include "tools/cudasim/exec/Pool.h"

#include "tools/cudasim/exec/Machine.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <sched.h>
#include <thread>

namespace llmc::cudasim {
namespace {

class Pool {
public:
  ~Pool() {
    {
      std::lock_guard<std::mutex> Lock(Guard);
      Stop = true;
    }
    Start.notify_all();
    for (std::thread &T : Threads)
      T.join();
  }
  void run(const std::function<void()> &Job, unsigned Others) {
    {
      std::lock_guard<std::mutex> Lock(Guard);
      while (Threads.size() < Others)
        Threads.emplace_back([this] { loop(); });
      Now = &Job;
      ++Round;
      Running = static_cast<unsigned>(Threads.size());
    }
    Start.notify_all();
    Job();
    std::unique_lock<std::mutex> Lock(Guard);
    Finished.wait(Lock, [&] { return Running == 0; });
    Now = nullptr;
  }

private:
  void loop() {
    uint64_t Seen = 0;
    std::unique_lock<std::mutex> Lock(Guard);
    while (true) {
      Start.wait(Lock, [&] { return Stop || (Now && Round != Seen); });
      if (Stop)
        return;
      Seen = Round;
      const std::function<void()> &Job = *Now;
      Lock.unlock();
      Job();
      Lock.lock();
      if (--Running == 0)
        Finished.notify_one();
    }
  }

  std::mutex Guard;
  std::condition_variable Start, Finished;
  std::vector<std::thread> Threads;
  const std::function<void()> *Now = nullptr;
  uint64_t Round = 0;
  unsigned Running = 0;
  bool Stop = false;
};
} // namespace

unsigned poolThreads() {
  static const unsigned Processors = [] {
    cpu_set_t Set;
    if (sched_getaffinity(0, sizeof(Set), &Set) == 0)
      return static_cast<unsigned>(CPU_COUNT(&Set));
    return std::max(1u, std::thread::hardware_concurrency());
  }();
  unsigned Wanted = settings().Threads;
  return std::min(Wanted ? Wanted : Processors, 256u);
}

void runOnPool(const std::function<void()> &Job) {
  static Pool P;
  P.run(Job, poolThreads() - 1);
}

} // namespace llmc::cudasim
