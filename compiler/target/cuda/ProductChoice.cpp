// The model is that of runtime/base/GpuModel.h. Here is what it needs to know
// of a product before there is one: registers (what NVRTC 13 gave for such
// kernels, within a tenth), warp instructions of a step (counted in the text),
// and the bytes that a warp really keeps on their way: a step's loads begin
// when the step before it in the same registers is done, so the time of the
// work itself lengthens the latency.
#include "compiler/target/cuda/ProductChoice.h"

#include "compiler/kernels/FragmentFormat.h"
#include "runtime/base/GpuModel.h"

#include <algorithm>
#include <cmath>

namespace llmc::cuda {
namespace {
/// Of a warp that waits for its own results now and then.
constexpr double NsPerInstruction = 2;

double stepBytes(const DecodeProblem &P) {
  return static_cast<double>(kernels::fragmentStepBytes(P.WType));
}

/// What grows with the form: weights on their way, sums, a tile's operand.
int64_t growingRegisters(const DecodeProblem &P, const ProductForm &F) {
  int64_t Step = kernels::fragmentStepBytes(P.WType) / 128 +
                 kernels::fragmentBlocksTogether(P.WType) *
                     (kernels::fragmentScaleBytes(P.WType) +
                      kernels::fragmentZeroBytes(P.WType)) /
                     2;
  return F.Depth * F.Tiles * Step + F.Tiles * F.TokenTiles * 4 + F.Tiles * 4;
}

unsigned registersOf(const DecodeProblem &P, const ProductForm &F) {
  int64_t Fixed = 46 + (P.Norm ? 24 : 0);
  if (F.TokenTiles > 1) // rows and operands of each
    Fixed += 16 * F.TokenTiles;
  return static_cast<unsigned>(
      std::min<int64_t>(Fixed + growingRegisters(P, F), 255));
}

unsigned sharedOf(const DecodeProblem &P, const ProductForm &F) {
  return static_cast<unsigned>(segmentsOf(P.Cols)) * F.Tiles * F.TokenTiles *
             512 +
         320;
}

/// Instructions that make f16 of the codes of a lane in a step, 16 registers.
double expandInstructions(int64_t WType) {
  if (!kernels::isQuantized(WType))
    return 0;
  kernels::WeightFormat F = kernels::formatOf(WType);
  if (F.Kind == kernels::CodeKind::F8E5M2)
    return 16;
  if (F.Kind != kernels::CodeKind::Integer)
    return 80; // the sign moves apart from the rest
  return F.Bits == 8 ? 32 : F.Bits == 4 ? 36 : 42;
}

/// Warp instructions of one step of 64 columns of a warp's tiles.
double stepInstructions(const DecodeProblem &P, unsigned Tiles,
                        unsigned TokenTiles) {
  double Loads = std::ceil(stepBytes(P) / 512);
  double Scales = 0;
  if (kernels::isQuantized(P.WType))
    Scales = 6.0 * static_cast<double>(
                       kernels::fragmentBlocksTogether(P.WType) * TokenTiles);
  double PerTile =
      Loads + 2 + expandInstructions(P.WType) + Scales + 4 * TokenTiles;
  // Per half and eight tokens: a load; or two, then rounding and clamping of
  // eight numbers, and their norm with its gain.
  double Rows = P.Prepared ? 1 : P.Norm ? 36 : 14;
  return PerTile * Tiles + 2 * Rows * TokenTiles + 6;
}

double weightBytes(const DecodeProblem &P) {
  return static_cast<double>(P.RowTiles *
                             kernels::fragmentTileBytes(P.WType, P.Cols));
}
/// Growing registers up to which no kernel spilled. For sm_100 and later NVRTC
/// keeps more loads in flight than the text asks for, most of all where a step
/// has several tiles of tokens.
int64_t mostRegisters(const DecodeProblem &P, std::string_view Target) {
  if (!Target.starts_with("sm_1"))
    return 144;
  return P.TokenTiles > 1 ? 48 : 94;
}

/// Time over the floor of the bandwidth, added over the chips of the target.
double shareOf(const DecodeProblem &P, const ProductForm &F,
               std::string_view Target) {
  LaunchFacts L = decodeFacts(P, F);
  double Sum = 0;
  for (const GpuChip &C : gpuChips())
    if (isChipOf(C, Target))
      Sum += predictLaunch(C, L).Microseconds * C.MemoryTBs / weightBytes(P);
  return Sum;
}

/// Tries one shape against the best one so far.
void consider(const DecodeProblem &P, std::string_view Target,
              const ProductForm &F, ProductForm &Best, double &Least) {
  if (sharedOf(P, F) > 48 * 1024 ||
      growingRegisters(P, F) > mostRegisters(P, Target))
    return;
  double T = shareOf(P, F, Target);
  if (T < Least * 0.999) {
    Least = T;
    Best = F;
  }
}
} // namespace

int64_t segmentsOf(int64_t Cols) {
  int64_t Steps = kernels::fragmentSteps(Cols), Each = (Steps + 7) / 8;
  return (Steps + Each - 1) / Each;
}

LaunchFacts decodeFacts(const DecodeProblem &P, const ProductForm &F) {
  double Tokens = static_cast<double>(
      std::min<int64_t>(P.Tokens, int64_t{F.TokenTiles} * 8));
  double Passes = std::ceil(static_cast<double>(P.Tokens) / F.TokenTiles / 8);
  double Blocks = std::ceil(static_cast<double>(P.RowTiles) / F.Tiles) * Passes;
  double Cols = static_cast<double>(P.Cols);
  double Steps = static_cast<double>(kernels::fragmentSteps(P.Cols));
  double Step = stepInstructions(P, F.Tiles, F.TokenTiles);
  // A round is the steps that are on their way together.
  double Work = Step * NsPerInstruction;
  double Round = std::max(GpuLatencyNs + Work, F.Depth * Work) / GpuLatencyNs;
  double Rounds = std::ceil(Steps / F.Warps / F.Depth);
  LaunchFacts L;
  L.Blocks = static_cast<uint64_t>(Blocks);
  L.Threads = F.Warps * 32;
  L.Registers = registersOf(P, F);
  L.SharedBytes = sharedOf(P, F);
  L.Bytes = static_cast<uint64_t>(weightBytes(P) * Passes);
  L.Macs = static_cast<uint64_t>(P.RowTiles * 16 * P.Cols * 8 * F.TokenTiles);
  L.Tensor = true;
  L.BlockBytesInFlight =
      static_cast<uint64_t>(F.Warps * F.Depth * F.Tiles * stepBytes(P) / Round);
  // The prologue: a wave of loads, sums and barriers per row and warp.
  double Statistics = P.Norm ? Tokens * (Cols / 128 * 6 + 16 * 12) : 0;
  L.Instructions = static_cast<uint64_t>(
      Blocks * (Steps * Step + F.Warps * 60 + Statistics));
  double RowBytes = P.Prepared ? 2 : 4, GainBytes = P.Norm ? 4 : 0;
  L.CachedBytes =
      static_cast<uint64_t>(Blocks * Cols * (RowBytes * Tokens + GainBytes));
  L.RoundTrips =
      static_cast<uint32_t>(std::ceil((P.Norm ? 2 : 1) + Rounds * Round));
  L.Early = true;
  return L;
}

LaunchFacts tileFacts(const DecodeProblem &P, const ProductForm &F) {
  constexpr unsigned Tiles = 2, TokenTiles = 4;
  double Tokens = 32.0 * F.TokenGroups, Cols = static_cast<double>(P.Cols);
  double Columns = std::ceil(static_cast<double>(P.RowTiles) / 8);
  double Rows = std::ceil(static_cast<double>(P.Tokens) / Tokens);
  double Steps = static_cast<double>(kernels::fragmentSteps(P.Cols));
  double Step = stepInstructions(P, Tiles, TokenTiles) + 24; // copies, barrier
  LaunchFacts L;
  L.Blocks = static_cast<uint64_t>(Columns * Rows);
  L.Threads = F.TokenGroups * 128;
  L.Bytes = static_cast<uint64_t>(weightBytes(P));
  L.Macs = static_cast<uint64_t>(P.RowTiles * 16 * P.Cols * P.Tokens);
  L.Tensor = true;
  double Work = Step * NsPerInstruction;
  L.BlockBytesInFlight = static_cast<uint64_t>(
      4 * Tiles * stepBytes(P) / std::max(1.0, Work / GpuLatencyNs) +
      (F.Stages - 1) * Tokens * 128);
  L.Instructions =
      static_cast<uint64_t>(Columns * Rows * 4 * F.TokenGroups * Steps * Step);
  // Weights of a row of blocks, and its tokens by every column of them.
  L.CachedBytes = static_cast<uint64_t>(weightBytes(P) * Rows * F.TokenGroups +
                                        Columns * Rows * Tokens * Cols * 2);
  L.RoundTrips = static_cast<uint32_t>(
      2 + std::ceil(Steps * std::max(0.3, Work / GpuLatencyNs)));
  L.Early = true;
  return L;
}

ProductForm chooseDecode(const DecodeProblem &P, std::string_view Target) {
  unsigned Most = static_cast<unsigned>(segmentsOf(P.Cols));
  ProductForm F;
  F.Kind = FormKind::Decode;
  F.Prepared = P.Prepared;
  F.TokenTiles = P.TokenTiles;
  F.Tiles = 2;
  F.Warps = Most;
  F.Depth = 1;
  ProductForm Best = F;
  double Least = shareOf(P, F, Target) * 2; // any that fits is better
  for (unsigned Tiles : {2u, 1u})
    for (unsigned Depth : {2u, 1u, 3u, 4u})
      for (unsigned Warps = Most; Warps != 0; --Warps) {
        if (P.Pairs && Tiles == 1)
          continue;
        F.Tiles = Tiles;
        F.Depth = Depth;
        F.Warps = Warps;
        consider(P, Target, F, Best, Least);
      }
  return Best;
}

} // namespace llmc::cuda
