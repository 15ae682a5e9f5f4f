// Each thread sums its part of a buffer far larger than the caches, in eight
// independent lanes so that only memory limits it.
#include "tools/llmc-run/ReadProbe.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace llmcrun {

namespace {

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
uint64_t
sumOf(const uint64_t *P, size_t N) {
  uint64_t Lanes[32] = {};
  for (size_t I = 0; I + 32 <= N; I += 32)
    for (size_t L = 0; L < 32; ++L)
      Lanes[L] += P[I + L];
  uint64_t Sum = 0;
  for (uint64_t L : Lanes)
    Sum += L;
  return Sum;
}

} // namespace

double readBandwidth(uint32_t Threads) {
  uint64_t Available = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
                       static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  size_t Bytes = std::min<uint64_t>(1u << 30, Available / 2);
  void *P = mmap(nullptr, Bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (P == MAP_FAILED)
    return 0;
  madvise(P, Bytes, MADV_HUGEPAGE);
  std::memset(P, 1, Bytes);
  Threads = std::max(Threads, 1u);
  size_t Words = Bytes / 8 / Threads;
  double Best = 0;
  for (int Pass = 0; Pass < 5; ++Pass) {
    std::vector<uint64_t> Sums(Threads);
    std::vector<std::thread> Pool;
    auto Start = std::chrono::steady_clock::now();
    for (uint32_t T = 0; T < Threads; ++T)
      Pool.emplace_back([&, T] {
        Sums[T] = sumOf(static_cast<const uint64_t *>(P) + T * Words, Words);
      });
    for (std::thread &T : Pool)
      T.join();
    double Seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
            .count();
    if (Sums[0] != 0)
      Best = std::max(Best, double(Words) * 8 * Threads / Seconds);
  }
  munmap(P, Bytes);
  return Best;
}

} // namespace llmcrun
