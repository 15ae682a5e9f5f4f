// Chips and predictions. A launch takes what its slowest resource takes, and a
// fixed time:
//   memory   bytes / (share * bandwidth), and for the multiprocessor with the
//            most blocks its bytes / (bytes in flight / latency), where those
//            in flight are of its resident blocks (Little's law), so that small
//            grids, few warps and uneven shares show;
//   latency  round trips that a block makes one after another, by waves;
//   cache    bytes that blocks read again from L2;
//   compute  2 * macs / (share * rate), times what the last wave of blocks
//            leaves idle;
//   issue    warp instructions of the busiest multiprocessor, four a clock;
//   fixed    1.3 us between the kernels of a graph (0.4 where a kernel begins
//            while its predecessor runs), and 1.6 us for the first loads of a
//            kernel and its last blocks.
// Shares of peak rates that real kernels reach were measured by others on these
// chips: 89 to 93 % of the bandwidth; about 30 bytes of L2 per clock and
// multiprocessor; mma.sync reaches about half of what the newer instructions of
// sm_90 and sm_100 do. The 1.3 us are a published measurement for the H100. The
// 1.6 us come from published times of a decoder of 2.47 GB in 100 kernels that
// begin early: 979 us on the H100 and 795 us on the H200 are 1.8 and 2.2 us a
// kernel more than the bytes need (a test repeats this).
#include "runtime/base/GpuModel.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace llmc {
namespace {
constexpr uint64_t GiB = uint64_t{1} << 30, MiB = uint64_t{1} << 20;

constexpr GpuChip Chips[] = {
    {"a100", "A100 80 GB SXM", 8, 0, 108, 167936, 166912, 64, 32, 80 * GiB,
     40 * MiB, 1.41, 2.039, 312, 624, 19.5},
    {"a10", "A10", 8, 6, 72, 102400, 101376, 48, 16, 24 * GiB, 6 * MiB, 1.695,
     0.60, 125, 250, 31.2},
    {"l4", "L4", 8, 9, 58, 102400, 101376, 48, 24, 24 * GiB, 48 * MiB, 2.04,
     0.30, 121, 242, 30.3},
    {"rtx4090", "RTX 4090", 8, 9, 128, 102400, 101376, 48, 24, 24 * GiB,
     72 * MiB, 2.52, 1.008, 165, 660, 82.6},
    {"h100", "H100 SXM", 9, 0, 132, 233472, 232448, 64, 32, 80 * GiB, 50 * MiB,
     1.83, 3.35, 989, 1979, 66.9},
    {"h200", "H200", 9, 0, 132, 233472, 232448, 64, 32, 141 * GiB, 50 * MiB,
     1.83, 4.8, 989, 1979, 66.9},
    {"b200", "B200", 10, 0, 148, 233472, 232448, 64, 32, 180 * GiB, 126 * MiB,
     1.85, 7.7, 2250, 4500, 75.0},
    {"rtx5090", "RTX 5090", 12, 0, 170, 102400, 101376, 48, 24, 32 * GiB,
     96 * MiB, 2.41, 1.792, 209, 838, 104.8}};

struct Default {
  std::string_view Target, Key;
};
constexpr Default Defaults[] = {{"sm_80", "a100"},    {"sm_86", "a10"},
                                {"sm_89", "l4"},      {"sm_90", "h100"},
                                {"sm_90a", "h100"},   {"sm_100", "b200"},
                                {"sm_120", "rtx5090"}};

constexpr unsigned BytesOutstanding = 32; // of a thread: two loads of 16 bytes
constexpr double GraphGapUs = 1.3, EarlyGapUs = 0.4, EdgesUs = 1.6;
/// Bytes per clock of one multiprocessor: from memory or L2 at most, and from
/// L2 when all of them read.
constexpr double SmBytesPerClock = 64, CacheBytesPerClock = 30;
constexpr double IssueShare = 0.7; // of four instructions a clock

unsigned rounded(unsigned Value, unsigned To) {
  return (Value + To - 1) / To * To;
}
} // namespace

std::span<const GpuChip> gpuChips() { return Chips; }

const GpuChip *findGpuChip(std::string_view Key) {
  for (const GpuChip &C : Chips)
    if (Key == C.Key)
      return &C;
  return nullptr;
}

bool isChipOf(const GpuChip &C, std::string_view Target) {
  std::string Number = std::to_string(C.Major) + std::to_string(C.Minor);
  if (!Target.starts_with("sm_"))
    return false;
  Target.remove_prefix(3);
  return Target == Number || Target == Number + "a";
}

const GpuChip *gpuChipOfTarget(std::string_view Target) {
  for (const Default &D : Defaults)
    if (D.Target == Target)
      return findGpuChip(D.Key);
  return nullptr;
}

unsigned residentBlocks(const GpuChip &C, unsigned Threads, unsigned Registers,
                        unsigned SharedBytes) {
  constexpr unsigned RegistersPerQuarter = 16384, Reserved = 1024;
  unsigned Warps = std::max(1u, (Threads + 31) / 32);
  unsigned PerWarp = rounded(std::max(Registers, 1u) * 32, 256);
  unsigned ByRegisters = 4 * (RegistersPerQuarter / PerWarp) / Warps;
  unsigned ByShared = C.SharedPerSm / rounded(SharedBytes + Reserved, 128);
  unsigned ByWarps = C.WarpsPerSm / Warps;
  return std::min({ByRegisters, ByShared, ByWarps, C.BlocksPerSm});
}

const char *boundName(LaunchPrediction::Bound B) {
  constexpr const char *Names[] = {"memory", "latency", "compute",
                                   "launch", "issue",   "cache"};
  return Names[B];
}

namespace {
/// Times of the resources in microseconds.
class Predictor {
public:
  Predictor(const GpuChip &C, const LaunchFacts &L)
      : C(C), L(L), Sms(C.Multiprocessors), Blocks(double(L.Blocks)),
        Resident(std::max(
            1u, residentBlocks(C, L.Threads, L.Registers, L.SharedBytes))),
        Busiest(std::ceil(Blocks / Sms)) {}

  double memory() const {
    double Reached = (C.Major == 8 && C.Minor == 0 ? 0.85 : 0.90) * C.MemoryTBs;
    return double(L.Bytes) / Reached * 1e-6;
  }
  /// Of the busiest multiprocessor, by what it can keep on its way.
  double inFlight() const {
    double PerBlock = double(L.Threads) * BytesOutstanding;
    if (L.AsyncCopies)
      PerBlock = std::max(PerBlock, L.SharedBytes * 2.0 / 3.0);
    if (L.BlockBytesInFlight)
      PerBlock = double(L.BlockBytesInFlight);
    double Bytes = std::min(Busiest, Resident) * PerBlock;
    double Rate = std::min(Bytes / GpuLatencyNs, SmBytesPerClock * C.GHz);
    return Busiest * double(L.Bytes) / Blocks / Rate * 1e-3;
  }
  double trips() const { return waves() * L.RoundTrips * GpuLatencyNs * 1e-3; }
  double cache() const {
    return double(L.CachedBytes) / (CacheBytesPerClock * Sms * C.GHz) * 1e-3;
  }
  double compute() const {
    bool Newer = C.Major == 9 || C.Major == 10;
    double Rate = L.Tensor ? C.Tensor16 * (Newer ? 0.55 : 0.85) : C.Fp32 * 0.6;
    double Waves = Blocks / (Resident * Sms);
    double Idle = Waves > 1 ? std::ceil(Waves) / Waves : 1;
    double Busy = std::min(1.0, Blocks / Sms); // of the chip
    return 2.0 * double(L.Macs) / Rate * 1e-6 * Idle / Busy;
  }
  double issue() const {
    return Busiest * double(L.Instructions) / Blocks /
           (4 * IssueShare * C.GHz) * 1e-3;
  }

private:
  double waves() const { return std::ceil(Busiest / Resident); }

  const GpuChip &C;
  const LaunchFacts &L;
  double Sms, Blocks, Resident, Busiest;
};
} // namespace

LaunchPrediction predictLaunch(const GpuChip &C, const LaunchFacts &L) {
  LaunchPrediction P;
  double Fixed = L.Early && C.Major >= 9 ? EarlyGapUs : GraphGapUs;
  P.Microseconds = Fixed;
  if (L.Blocks == 0)
    return P;
  Fixed += EdgesUs;
  Predictor Of(C, L);
  const std::pair<double, LaunchPrediction::Bound> Times[] = {
      {Of.memory(), LaunchPrediction::Memory},
      {Of.inFlight(), LaunchPrediction::Latency},
      {Of.trips(), LaunchPrediction::Latency},
      {Of.cache(), LaunchPrediction::Cache},
      {Of.compute(), LaunchPrediction::Compute},
      {Of.issue(), LaunchPrediction::Issue}};
  double Most = 0;
  for (const auto &[Time, By] : Times)
    if (Time > Most) {
      Most = Time;
      P.By = By;
    }
  P.Microseconds = Fixed + Most;
  if (Most < Fixed)
    P.By = LaunchPrediction::Launch;
  return P;
}

PtxEntries ptxEntriesWith(std::string_view Ptx, std::string_view Opcode) {
  constexpr std::string_view Entry = ".entry ";
  PtxEntries Out;
  for (size_t At = Ptx.find(Entry); At != std::string_view::npos;) {
    size_t Begin = At + Entry.size(), Next = Ptx.find(Entry, Begin);
    std::string_view Body = Ptx.substr(Begin, Next - Begin);
    if (Body.find(Opcode) != std::string_view::npos)
      Out.emplace(Body.substr(0, Body.find_first_of("( \t\n")));
    At = Next;
  }
  return Out;
}

} // namespace llmc
