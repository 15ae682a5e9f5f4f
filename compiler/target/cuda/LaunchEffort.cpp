// Products: by their forms. Attention of single rows: its chain of lookups,
// tiles one after another and the merge of segments. All else: a chain of
// counts, then data.
#include "compiler/target/cuda/LaunchEffort.h"

#include "compiler/kernels/Constants.h"
#include "compiler/target/cuda/AttentionForm.h"
#include "compiler/target/cuda/ProductForms.h"
#include "runtime/device/StepAbi.h"

#include <algorithm>
#include <cmath>

namespace llmc::cuda {

/// Positions, then pages (both in L2), then keys; tiles of about 1000 cycles
/// between barriers; a ticket and the other segments in L2.
static uint32_t decodeTrips(const Grid &G, uint64_t Keys) {
  constexpr uint64_t TilesOfSegment = kernels::CudaSegmentTokens / 64;
  constexpr double CacheNs = 300, TileNs = 550;
  uint64_t Segments =
      (Keys + kernels::CudaSegmentTokens - 1) / kernels::CudaSegmentTokens;
  uint64_t Splits = std::clamp<uint64_t>(Segments, 1, std::max(1u, G.Z));
  uint64_t Each = (Segments + Splits - 1) / Splits * TilesOfSegment;
  Each = std::min(Each, (Keys + 63) / 64);
  double Ns = 2 * CacheNs + GpuLatencyNs + static_cast<double>(Each) * TileNs;
  if (Splits > 1)
    Ns += 2 * CacheNs;
  return static_cast<uint32_t>(std::ceil(Ns / GpuLatencyNs));
}

/// Rows of the bucket that the kernel works on.
static uint32_t rowsOf(const KernelRequest &R, uint32_t Tokens) {
  auto Rows = R.Ints.find("rows");
  if (R.Kernel != "logits" &&
      (Rows == R.Ints.end() || Rows->second != kernels::RowsR))
    return Tokens;
  Tokens = std::min(Tokens, LLMC_CUDA_LOGIT_ROWS);
  return R.MaxSequences > 0
             ? std::min(Tokens, static_cast<uint32_t>(R.MaxSequences))
             : Tokens;
}

LaunchEffort effortOf(const KernelRequest &R, const Grid &G, uint32_t Tokens,
                      uint64_t Keys) {
  LaunchEffort E;
  if (G.X == 0)
    return E;
  if (R.Form) {
    LaunchFacts F = formFacts(R, rowsOf(R, Tokens));
    return {F.Instructions, F.CachedBytes, F.RoundTrips};
  }
  if (attentionForm(R) == AttentionForm::Decode)
    E.RoundTrips = decodeTrips(G, Keys);
  else
    E.RoundTrips = 2;
  return E;
}

} // namespace llmc::cuda
