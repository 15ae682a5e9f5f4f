// Bytes are those of the buffers that a launch has as arguments: a weight once,
// rows of slots once each, the cache once per key (rows of a prompt share keys
// in tiles of 64). Multiplications are those of the kernel's definition; of a
// phase of several launches the one that has the weight, or the first one that
// has the cache, does them.
#include "compiler/target/cuda/LaunchWork.h"

#include "compiler/kernels/Catalogue.h"
#include "compiler/target/cuda/AttentionForm.h"
#include "runtime/base/GpuModel.h"
#include "runtime/device/StepAbi.h"

#include <algorithm>
#include <cmath>

namespace llmc::cuda {
namespace {
using exe::BufferAttr;
using exe::BufferKind;

constexpr uint32_t CostContext = 1024, PromptTile = 64;

uint64_t number(const KernelRequest &R, const char *Name) {
  auto It = R.Ints.find(Name);
  return It == R.Ints.end() ? 0 : static_cast<uint64_t>(It->second);
}

/// Bytes of the packed weight at an offset.
uint64_t weightBytes(exe::ProgramOp Program, uint64_t Offset) {
  for (exe::PackedWeightOp W : Program.getBody().getOps<exe::PackedWeightOp>())
    if (W.getOffset() == static_cast<int64_t>(Offset))
      return static_cast<uint64_t>(std::max<int64_t>(W.getBytes(), 0));
  return 0;
}

uint64_t rowBytes(exe::ProgramOp Program, BufferAttr B) {
  exe::SlotOp S = llvm::dyn_cast_or_null<exe::SlotOp>(
      mlir::SymbolTable::lookupSymbolIn(Program, B.getSym().getValue()));
  return S ? static_cast<uint64_t>(S.getPerToken()) : 0;
}

/// Of one row, by the kernel's definition (compiler/kernels/Catalogue.cpp).
uint64_t productMacs(const KernelRequest &R) {
  uint64_t K = number(R, "k"), N = number(R, "n");
  if (R.Kernel == "qkv")
    N = (number(R, "heads") + number(R, "kv_heads")) * number(R, "head_dim") +
        number(R, "kv_heads") * number(R, "v_head_dim");
  if (R.Kernel == "experts")
    N *= number(R, "slots");
  return K * N;
}

/// Bytes of one token in the layer of the cache at an offset of the page.
uint64_t keyBytes(const LaunchProgram &P, uint64_t Offset) {
  for (const LaunchState &S : P.States) {
    uint64_t Layer = S.layerBytes(P.PageTokens);
    if (Offset >= S.PageOffset && Offset - S.PageOffset < S.Layers * Layer)
      return Layer / P.PageTokens;
  }
  return 0;
}

void addAttention(const LaunchProgram &P, const KernelRequest &R,
                  uint64_t Offset, LaunchWork &W) {
  uint64_t Dims = number(R, "head_dim") + number(R, "v_head_dim");
  W.BytesPerKey = keyBytes(P, Offset);
  W.MacsPerKey = number(R, "heads") * Dims;
  for (const char *Limit : {"window", "chunk"})
    if (uint64_t Most = number(R, Limit))
      W.Keys = static_cast<uint32_t>(W.Keys ? std::min<uint64_t>(W.Keys, Most)
                                            : Most);
}
} // namespace

LaunchWork workOf(exe::ProgramOp Program, exe::PhaseOp Phase,
                  const LaunchProgram &P, const KernelRequest &R,
                  const KernelInstance &I, const Launch &L) {
  const kernels::KernelInfo *Info = kernels::findKernel(R.Kernel);
  LaunchWork W;
  for (size_t N = 0; N != L.Args.size() && N != I.Params.size(); ++N) {
    if (I.Params[N].Kind != ParamKind::Buffer ||
        L.Args[N].Kind == LaunchArgKind::Null)
      continue;
    std::string_view Name = Info->Buffers[I.Params[N].Index];
    BufferAttr B =
        llvm::cast<BufferAttr>(Phase.getBuffers()[I.Params[N].Index]);
    if (L.Args[N].Kind == LaunchArgKind::Weight)
      W.WeightBytes += weightBytes(Program, L.Args[N].Offsets[0]);
    else if (B.getKind() == BufferKind::slot)
      W.BytesPerRow += rowBytes(Program, B);
    W.OfLogitRows |= Name == "logit_rows";
    if (Name == "weight" && L.Args[N].Kind == LaunchArgKind::Weight)
      W.MacsPerRow = R.Kernel == "embed" ? 0 : productMacs(R);
    if (L.Args[N].Kind == LaunchArgKind::Kv && R.Kernel == "attention")
      addAttention(P, R, L.Args[N].Offsets[0], W);
  }
  if (R.Kernel == "embed")
    W.WeightShare = 1 / std::max(1.0, static_cast<double>(number(R, "vocab")));
  if (R.Kernel == "rope_table") // rows of tables, if it has any
    W.WeightShare =
        1 / std::max(1.0, static_cast<double>(number(R, "table_rows")));
  W.OfPrompts = attentionForm(R) != AttentionForm::Decode;
  W.OfGenerated = attentionForm(R) != AttentionForm::Prefill;
  if (R.Kernel == "experts")
    W.WeightShare = static_cast<double>(number(R, "slots")) /
                    std::max(1.0, static_cast<double>(number(R, "experts")));
  return W;
}

static uint32_t costContext(const LaunchProgram &P) {
  return std::min(CostContext, std::max(P.MaxContext, 1u));
}

uint64_t keysOf(const LaunchProgram &P, const LaunchWork &W) {
  uint64_t Keys = costContext(P);
  return W.Keys ? std::min<uint64_t>(Keys, W.Keys) : Keys;
}

static LaunchCost costOf(const LaunchProgram &P, const LaunchWork &W,
                         uint32_t Bucket) {
  uint64_t Rows = Bucket;
  if (W.OfLogitRows)
    Rows = std::min<uint64_t>(Rows, LLMC_CUDA_LOGIT_ROWS);
  uint64_t Keys = std::max<uint64_t>(P.CostContext, 1);
  uint64_t Readers = Rows; // of the whole context
  bool Prompt = Bucket > P.MaxSequences;
  if (Prompt ? !W.OfPrompts : !W.OfGenerated)
    return {};
  if (Prompt) {
    Readers = (Rows + PromptTile - 1) / PromptTile;
    Keys = std::max<uint64_t>((Rows + 1) / 2, 1); // on average, from the start
  }
  if (W.Keys)
    Keys = std::min<uint64_t>(Keys, W.Keys);
  double Share = std::min(1.0, W.WeightShare * static_cast<double>(Rows));
  LaunchCost C;
  C.Bytes = static_cast<uint64_t>(
                std::llround(Share * static_cast<double>(W.WeightBytes))) +
            Rows * W.BytesPerRow + Readers * Keys * W.BytesPerKey;
  C.Macs = Rows * (W.MacsPerRow + Keys * W.MacsPerKey);
  return C;
}

void predictCosts(LaunchProgram &P, std::string_view Ptx) {
  const GpuChip *Chip = gpuChipOfTarget(P.Target);
  if (!Chip)
    return;
  P.Chip = Chip->Key;
  P.CostContext = costContext(P);
  PtxEntries Tensor = ptxEntriesWith(Ptx, "mma.sync");
  PtxEntries Async = ptxEntriesWith(Ptx, "cp.async");
  for (Launch &L : P.Launches) {
    const LaunchKernel &K = P.Kernels[L.Kernel];
    L.Costs.clear();
    for (size_t B = 0; B != P.Buckets.size(); ++B) {
      const Grid &G = L.Grids[B];
      LaunchFacts F;
      F.Blocks = uint64_t{G.X} * G.Y * G.Z;
      LaunchCost C;
      if (F.Blocks != 0) {
        C = costOf(P, L.Work, P.Buckets[B]);
        F.Threads = K.Block;
        F.Registers = K.Registers;
        F.SharedBytes = K.SharedBytes + K.DynamicBytes;
        F.Bytes = C.Bytes;
        F.Macs = C.Macs;
        F.Tensor = Tensor.count(K.Entry) != 0;
        F.Early = K.Early;
        F.BlockBytesInFlight = K.BytesInFlight;
        F.AsyncCopies = Async.count(K.Entry) != 0;
        if (B < L.Efforts.size()) {
          F.Instructions = L.Efforts[B].Instructions;
          F.CachedBytes = L.Efforts[B].CachedBytes;
          F.RoundTrips = L.Efforts[B].RoundTrips;
        }
        C.Microseconds = predictLaunch(*Chip, F).Microseconds;
      }
      L.Costs.push_back(C);
    }
  }
}

} // namespace llmc::cuda
