// Affinity, cores and control-group quota.
#include "runtime/device/cpu/CpuThreads.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sched.h>
#include <set>
#include <string>

namespace llmc {
namespace {
/// The first line of a small file; empty when there is none.
std::string firstLine(const std::string &Path) {
  std::FILE *F = std::fopen(Path.c_str(), "re");
  if (!F)
    return {};
  char Line[512];
  std::string Text;
  if (std::fgets(Line, sizeof Line, F))
    Text = Line;
  std::fclose(F);
  while (!Text.empty() && Text.back() == '\n')
    Text.pop_back();
  return Text;
}

/// Smallest quota on the way from the process's group to the root.
uint32_t groupQuota() {
  std::string Group = firstLine("/proc/self/cgroup");
  if (Group.rfind("0::", 0) != 0)
    return 0;
  Group = Group.substr(3);
  uint32_t Least = 0;
  while (true) {
    if (uint32_t Q = quotaOf(firstLine("/sys/fs/cgroup" + Group + "/cpu.max")))
      Least = Least ? std::min(Least, Q) : Q;
    size_t Slash = Group.rfind('/');
    if (Slash == std::string::npos)
      return Least;
    Group.resize(Slash);
  }
}

/// Distinct cores among the CPUs that this process may run on.
uint32_t affinityCores() {
  cpu_set_t Set;
  CPU_ZERO(&Set);
  if (sched_getaffinity(0, sizeof Set, &Set) != 0)
    return 1;
  std::set<std::string> Cores;
  for (int I = 0; I < CPU_SETSIZE; ++I)
    if (CPU_ISSET(I, &Set)) {
      std::string Siblings =
          firstLine("/sys/devices/system/cpu/cpu" + std::to_string(I) +
                    "/topology/thread_siblings_list");
      Cores.insert(Siblings.empty() ? "cpu" + std::to_string(I) : Siblings);
    }
  return static_cast<uint32_t>(Cores.size());
}
} // namespace

uint32_t quotaOf(std::string_view CpuMax) {
  uint64_t Quota = 0, Period = 0;
  const char *End = CpuMax.data() + CpuMax.size();
  std::from_chars_result R = std::from_chars(CpuMax.data(), End, Quota);
  if (R.ec != std::errc() || R.ptr == End || *R.ptr != ' ')
    return 0;
  R = std::from_chars(R.ptr + 1, End, Period);
  if (R.ec != std::errc() || Period == 0 || Quota == 0)
    return 0;
  return static_cast<uint32_t>(
      std::min<uint64_t>((Quota + Period - 1) / Period, 1u << 16));
}

uint32_t grantedThreads() {
  uint32_t Cores = std::max(1u, affinityCores());
  uint32_t Quota = groupQuota();
  return Quota ? std::min(Cores, Quota) : Cores;
}

} // namespace llmc
