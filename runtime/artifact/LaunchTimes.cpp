// Counted bytes and multiplications come from the artifact, resources from its
// kernels, the use of tensor cores from its PTX.
#include "runtime/artifact/LaunchTimes.h"

#include "runtime/artifact/Program_generated.h"

#include <map>

namespace llmc {
namespace {

uint64_t blocksOf(const fb::Launch &L, uint32_t Bucket) {
  auto Along = [&](const flatbuffers::Vector<uint32_t> *G) -> uint64_t {
    return G && Bucket < G->size() ? G->Get(Bucket) : 1;
  };
  return Along(L.grid_x()) * Along(L.grid_y()) * Along(L.grid_z());
}
} // namespace

double LaunchTimes::stepMicroseconds(size_t Bucket) const {
  double Sum = 0;
  for (const std::vector<LaunchPrediction> &L : Of)
    Sum += Bucket < L.size() ? L[Bucket].Microseconds : 0;
  return Sum;
}

Result<LaunchTimes> launchTimes(const TargetView &T, std::string_view Key) {
  const fb::Program &P = *fb::GetProgram(T.Program.data());
  LaunchTimes Out;
  std::string Recorded = P.chip() ? P.chip()->str() : "";
  Out.Chip = findGpuChip(Key.empty() ? std::string_view(Recorded) : Key);
  if (!Out.Chip && !Key.empty()) {
    std::string Names;
    for (const GpuChip &C : gpuChips())
      Names += (Names.empty() ? "" : ", ") + std::string(C.Key);
    return usageError("unknown chip '" + std::string(Key) + "'; known are " +
                      Names);
  }
  if (!Out.Chip || !P.launches())
    return Out;
  std::string_view Ptx(reinterpret_cast<const char *>(T.Ptx.data()),
                       T.Ptx.size());
  PtxEntries Tensor = ptxEntriesWith(Ptx, "mma.sync");
  PtxEntries Async = ptxEntriesWith(Ptx, "cp.async");
  for (const fb::Launch *L : *P.launches()) {
    const fb::Kernel *K = P.kernels()->Get(L->kernel());
    std::vector<LaunchPrediction> &Times = Out.Of.emplace_back();
    if (!L->costs() || L->costs()->size() == 0)
      continue;
    LaunchFacts F;
    F.Threads = K->block_x() * K->block_y() * K->block_z();
    F.Registers = K->registers();
    F.SharedBytes = K->static_shared_bytes() + K->dynamic_shared_bytes();
    F.Tensor = Tensor.find(K->entry()->string_view()) != Tensor.end();
    F.AsyncCopies = Async.find(K->entry()->string_view()) != Async.end();
    F.Early = K->pdl();
    F.BlockBytesInFlight = K->bytes_in_flight();
    for (uint32_t B = 0; B != L->costs()->size(); ++B) {
      F.Blocks = blocksOf(*L, B);
      F.Bytes = L->costs()->Get(B)->bytes();
      F.Macs = L->costs()->Get(B)->macs();
      if (L->efforts() && B < L->efforts()->size()) {
        const fb::LaunchEffort &E = *L->efforts()->Get(B);
        F.Instructions = E.instructions();
        F.CachedBytes = E.cached_bytes();
        F.RoundTrips = static_cast<uint32_t>(E.round_trips());
      }
      Times.push_back(F.Blocks ? predictLaunch(*Out.Chip, F)
                               : LaunchPrediction());
    }
  }
  return Out;
}

std::vector<LayerLaunches> launchesByLayer(const TargetView &T,
                                           const LaunchTimes &Times) {
  const fb::Program &P = *fb::GetProgram(T.Program.data());
  std::map<int32_t, LayerLaunches> Layers;
  for (uint32_t I = 0; P.launches() && I != P.launches()->size(); ++I) {
    const fb::Launch &L = *P.launches()->Get(I);
    LayerLaunches &Layer = Layers[L.layer()];
    Layer.First = Layer.Last = L.layer();
    Layer.Launches += blocksOf(L, 0) != 0;
    if (I < Times.Of.size() && !Times.Of[I].empty())
      Layer.Microseconds += Times.Of[I][0].Microseconds;
  }
  std::vector<LayerLaunches> Out;
  for (const auto &[Number, Layer] : Layers) {
    bool Same = !Out.empty() && Out.back().First >= 0 &&
                Out.back().Last + 1 == Number &&
                Out.back().Launches == Layer.Launches;
    if (Same)
      Out.back().Last = Number;
    else
      Out.push_back(Layer);
  }
  return Out;
}

} // namespace llmc
