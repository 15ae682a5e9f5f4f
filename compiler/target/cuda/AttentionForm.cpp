// The numbers of AttentionTile.cuh, AttentionDecode.cuh and
// AttentionPrefill.cuh on the side of the compiler.
#include "compiler/target/cuda/AttentionForm.h"

#include "compiler/kernels/Catalogue.h"
#include "compiler/kernels/CudaScratch.h"
#include "runtime/base/CudaTickets.h"

#include <algorithm>

namespace llmc::cuda {
namespace {
constexpr int64_t TileKeys = 64, PrefillRows = 64;
/// Shared memory that leaves room for two blocks on chips with 164 KiB, and one
/// on those with 100.
constexpr int64_t DecodeShared = 80 * 1024;
/// Three blocks on the former: a second stage of prefill is worth less.
constexpr int64_t PrefillShared = 50 * 1024;
/// Blocks that fill any of the chips a few times over.
constexpr int64_t ManyBlocks = 512;

int64_t ceilDiv(int64_t A, int64_t B) { return (A + B - 1) / B; }

/// Bytes of a row of so many 16-byte pieces: an odd number of them.
int64_t rowBytes(int64_t Pieces) { return (Pieces | 1) * 16; }

struct Head {
  int64_t Heads, KvHeads, Group, Dim, VDim, KeyRow;
  bool Codes;     ///< the cache holds int8
  int64_t Pieces; ///< features in 16 bytes of the cache
  explicit Head(const KernelRequest &R)
      : Heads(R.Ints.at("heads")), KvHeads(R.Ints.at("kv_heads")),
        Group(Heads / KvHeads), Dim(R.Ints.at("head_dim")),
        VDim(R.Ints.at("v_head_dim")), KeyRow(rowBytes(ceilDiv(Dim, 16) * 2)),
        Codes(R.Ints.at("kvtype") == kernels::KvI8), Pieces(Codes ? 16 : 8) {}
};

/// Shared memory of a block that every chip has.
constexpr int64_t MostShared = 99 * 1024;

/// Parts of the value's features in the grid of prefill.
int64_t partsOf(const Head &H) { return ceilDiv(H.VDim, 128); }

AttentionMemory memoryOf(const Head &H, bool Decode) {
  int64_t Columns =
      Decode ? H.VDim : ceilDiv(H.VDim / H.Pieces, partsOf(H)) * H.Pieces;
  int64_t Keys = TileKeys * H.KeyRow, Values = TileKeys * rowBytes(Columns / 8);
  int64_t Tile = Keys + Values;
  // Codes come in pieces of 16, each with its scale, beside tiles of f16.
  int64_t Stage = H.Codes ? TileKeys * (H.Dim + Columns) / 16 * 20 : Tile;
  // Queries; for decode also probabilities, maxima, sums and the ticket.
  int64_t Fixed = Decode ? 16 * H.KeyRow + 16 * rowBytes(TileKeys / 8) +
                               4 * 16 * 4 + 4 * 64 * 4 + 16
                         : PrefillRows * H.KeyRow;
  bool OneTile = H.Codes && Fixed + Tile + Stage > MostShared;
  if (H.Codes)
    Fixed += OneTile ? std::max(Keys, Values) : Tile;
  int64_t Limit = Decode ? DecodeShared : PrefillShared;
  int64_t Stages = std::clamp<int64_t>((Limit - Fixed) / Stage, 1, 4);
  return {Stages, Fixed + Stages * Stage, OneTile};
}

bool usesTensorCores(const KernelRequest &R) {
  for (const char *Name :
       {"heads", "kv_heads", "head_dim", "v_head_dim", "kvtype"})
    if (!R.Ints.count(Name) || R.Ints.at(Name) < 1)
      return false; // refused elsewhere, or a cache in f32
  Head H(R);
  return H.Dim % H.Pieces == 0 && H.VDim % H.Pieces == 0 && H.Dim <= 256 &&
         H.VDim <= 256 && R.KvPageStride % 16 == 0 && H.KvHeads <= 65535 &&
         H.KvHeads * ceilDiv(H.Group, 16) * kernels::CudaPartialRows <=
             LLMC_CUDA_TICKETS &&
         memoryOf(H, false).SharedBytes <= MostShared &&
         memoryOf(H, true).SharedBytes <= MostShared;
}

bool hasPartial(const KernelRequest &R) {
  std::span<const std::string_view> Names =
      kernels::findKernel(R.Kernel)->Buffers;
  for (size_t I = 0; I != Names.size(); ++I)
    if (Names[I] == "partial")
      return R.Present[I];
  return false;
}
} // namespace

AttentionForm attentionForm(const KernelRequest &R) {
  if (R.Kernel != "attention")
    return AttentionForm::None;
  if (!usesTensorCores(R))
    return AttentionForm::Plain;
  return R.Stage == 0 ? AttentionForm::Prefill : AttentionForm::Decode;
}

unsigned attentionStages(const KernelRequest &R) {
  return usesTensorCores(R) ? 2 : 1;
}

std::string_view attentionSuffix(const KernelRequest &R) {
  AttentionForm F = attentionForm(R);
  return F == AttentionForm::Prefill  ? "_prefill"
         : F == AttentionForm::Decode ? "_decode"
                                      : "";
}

std::string_view attentionFunction(const KernelRequest &R) {
  AttentionForm F = attentionForm(R);
  return F == AttentionForm::Prefill  ? "attentionPrefill"
         : F == AttentionForm::Decode ? "attentionDecode"
                                      : "attentionPlain";
}

AttentionMemory attentionMemory(const KernelRequest &R) {
  AttentionForm F = attentionForm(R);
  if (F != AttentionForm::Prefill && F != AttentionForm::Decode)
    return {};
  return memoryOf(Head(R), F == AttentionForm::Decode);
}

Grid attentionGrid(const KernelRequest &R, uint32_t Tokens) {
  Head H(R);
  int64_t T = Tokens;
  auto Make = [](int64_t X, int64_t Y, int64_t Z) {
    return Grid{static_cast<uint32_t>(X), static_cast<uint32_t>(Y),
                static_cast<uint32_t>(Z)};
  };
  AttentionForm F = attentionForm(R);
  if (F == AttentionForm::Plain)
    return Make(H.Heads, T, 1);
  if (F == AttentionForm::Prefill)
    return T <= AttentionDecodeRows
               ? Make(0, 1, 1)
               : Make(ceilDiv(T * H.Group, PrefillRows), H.KvHeads, partsOf(H));
  int64_t X = H.KvHeads * ceilDiv(H.Group, 16);
  // Most often a sequence has one row; where it has more, blocks have more.
  if (T > AttentionDecodeRows && R.MaxSequences > 0)
    T = std::min(T, R.MaxSequences);
  if (!hasPartial(R)) // nowhere to keep segments
    return Make(X, T, 1);
  int64_t Rows = std::min(T, kernels::CudaPartialRows);
  int64_t Splits = std::max<int64_t>(1, ManyBlocks / (X * Rows));
  if (R.MaxContext > 0)
    Splits =
        std::min(Splits, ceilDiv(R.MaxContext, kernels::CudaSegmentTokens));
  for (const char *Limit : {"window", "chunk"}) // what a row can see at most
    if (int64_t Keys = R.Ints.at(Limit); Keys > 0)
      Splits = std::min(Splits, Keys / kernels::CudaSegmentTokens + 2);
  return Make(X, T, Splits);
}

} // namespace llmc::cuda
