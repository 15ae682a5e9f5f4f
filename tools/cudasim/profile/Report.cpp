// The cost model and the report. Per launch
//   t = fixed + quantisation * max(DRAM, L2, tensor, fma, issue, shared)
// with the efficiencies of the kernels' design notes; the fixed part is a graph
// launch. It ranks kernels and names what bounds them; it measures nothing,
// and every time it gives is called modelled.
#include "tools/cudasim/driver/Chip.h"
#include "tools/cudasim/profile/Profile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace llmc::cudasim {

constexpr double FixedMicroseconds = 1.3;

const char *boundName(unsigned Bound) {
  static const char *const Names[] = {"memory", "l2",    "tensor",
                                      "fma",    "issue", "shared"};
  return Names[Bound];
}

double modelledMicroseconds(const Counters &C, double (&Bounds)[6]) {
  const GpuChip &Ch = chip();
  double Sms = Ch.Multiprocessors, PerUs = Ch.GHz * 1e3;
  double Bandwidth = Ch.MemoryTBs * 1e6 * (Ch.Major == 8 ? 0.85 : 0.90);
  double TensorShare = Ch.Major == 9 ? 0.55 : 0.85; // mma.sync on sm_90
  auto D = [](uint64_t V) { return static_cast<double>(V); };
  Bounds[0] = D(C.UniqueSectors) * 32 / Bandwidth;
  Bounds[1] = D(C.BlockSectors) * 32 / (Bandwidth * 2.5);
  Bounds[2] = 2 * (D(C.TensorMacs16) + 2 * D(C.TensorMacs32)) /
                  (Ch.Tensor16 * 1e6 * TensorShare) +
              2 * D(C.TensorMacs8) / (Ch.Tensor8 * 1e6 * TensorShare);
  Bounds[3] = 2 * D(C.Fma32) / (Ch.Fp32 * 1e6);
  Bounds[4] = D(C.Instructions) / (4 * Sms * PerUs);
  Bounds[5] = D(C.SharedWavefronts) / (Sms * PerUs);
  double Waves = D(C.Blocks) / (Sms * std::max(1u, C.Resident));
  double Tail = Waves > 0 ? std::ceil(Waves) / Waves : 1;
  // One partly filled wave is not slower by its idle multiprocessors alone:
  // memory is shared by those that work.
  double Fill = std::min(1.0, D(C.Blocks) / Sms);
  double Most = 0;
  for (unsigned I = 0; I != 6; ++I) {
    if (I >= 2)
      Bounds[I] *= Waves >= 1 ? Tail : 1 / std::max(Fill, 1e-9);
    Most = std::max(Most, Bounds[I]);
  }
  return FixedMicroseconds + Most;
}

static unsigned boundOf(const Counters &C) {
  return static_cast<unsigned>(
      std::max_element(C.BoundMicroseconds, C.BoundMicroseconds + 6) -
      C.BoundMicroseconds);
}

static double ratio(uint64_t A, uint64_t B) {
  return B ? static_cast<double>(A) / static_cast<double>(B) : 0;
}

static void writeJson(std::FILE *F) {
  std::fprintf(F, "{\"chip\":\"%s\",\"modelled\":true,\"kernels\":[",
               chip().Key);
  const char *Comma = "";
  for (const auto &[Name, C] : profileCounters()) {
    auto U = [](uint64_t V) { return static_cast<unsigned long long>(V); };
    std::fprintf(
        F,
        "%s\n{\"name\":\"%s\",\"launches\":%llu,\"blocks\":%llu,"
        "\"threads\":%llu,\"ptx__inst_executed.sum\":%llu,"
        "\"ptx__thread_inst_executed.sum\":%llu,\"divergent_branches\":%llu,"
        "\"global_load_requests\":%llu,\"global_load_sectors\":%llu,"
        "\"global_load_bytes\":%llu,\"global_store_requests\":%llu,"
        "\"global_store_sectors\":%llu,\"global_store_bytes\":%llu,"
        "\"unique_sectors\":%llu,\"block_sectors\":%llu,"
        "\"shared_requests\":%llu,\"shared_wavefronts\":%llu,"
        "\"shared_bank_conflicts\":%llu,\"local_sectors\":%llu,"
        "\"atomics\":%llu,\"barriers\":%llu,\"tensor_macs_16\":%llu,"
        "\"tensor_macs_8\":%llu,\"tensor_macs_tf32\":%llu,\"fma_f32\":%llu,"
        "\"registers_estimated\":%u,\"shared_bytes\":%u,"
        "\"blocks_per_sm\":%u,\"modelled_us\":%.3f,\"bound\":\"%s\"}",
        Comma, Name.c_str(), U(C.Launches), U(C.Blocks), U(C.Threads),
        U(C.Instructions), U(C.LaneInstructions), U(C.Divergent),
        U(C.LoadRequests), U(C.LoadSectors), U(C.LoadBytes), U(C.StoreRequests),
        U(C.StoreSectors), U(C.StoreBytes), U(C.UniqueSectors),
        U(C.BlockSectors), U(C.SharedRequests), U(C.SharedWavefronts),
        U(C.SharedConflicts), U(C.LocalSectors), U(C.Atomics), U(C.Barriers),
        U(C.TensorMacs16), U(C.TensorMacs8), U(C.TensorMacs32), U(C.Fma32),
        C.Registers, C.SharedBytes, C.Resident, C.Microseconds,
        boundName(boundOf(C)));
    Comma = ",";
  }
  std::fprintf(F, "]}\n");
}

static void writeTable(std::FILE *F) {
  std::vector<std::pair<std::string, const Counters *>> Sorted;
  for (const auto &[Name, C] : profileCounters())
    Sorted.emplace_back(Name, &C);
  std::sort(Sorted.begin(), Sorted.end(), [](const auto &A, const auto &B) {
    return A.second->Microseconds > B.second->Microseconds;
  });
  std::fprintf(F, "%-44s %8s %10s %8s %9s %8s %8s %6s %10s %s\n", "kernel",
               "launches", "modelled", "bound", "warp inst", "sect/req",
               "useful %", "waves", "conflicts", "blocks/SM");
  for (const auto &[Name, C] : Sorted)
    std::fprintf(
        F, "%-44.44s %8llu %7.1f us %8s %9llu %8.1f %8.0f %6.2f %10llu %u\n",
        Name.c_str(), static_cast<unsigned long long>(C->Launches),
        C->Microseconds, boundName(boundOf(*C)),
        static_cast<unsigned long long>(C->Instructions),
        ratio(C->LoadSectors, C->LoadRequests),
        std::min(100.0, 100 * ratio(C->LoadBytes, C->LoadSectors * 32)),
        ratio(C->SharedWavefronts, C->SharedRequests),
        static_cast<unsigned long long>(C->SharedConflicts), C->Resident);
  std::fprintf(F, "times are modelled for %s, not measured\n", chip().Title);
}

void reportProfileAtExit();
void reportProfileAtExit() {
  const std::string &To = settings().Profile;
  if (To.empty())
    return;
  if (To == "-")
    return writeTable(stderr);
  if (std::FILE *F = std::fopen(To.c_str(), "w")) {
    writeJson(F);
    std::fclose(F);
  } else {
    std::fprintf(stderr, "cudasim: cannot write the profile to %s\n",
                 To.c_str());
  }
}

} // namespace llmc::cudasim
