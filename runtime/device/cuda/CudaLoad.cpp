// Loading: facts, memory, weights, and the arguments of all launches.
#include "runtime/artifact/Program_generated.h"
#include "runtime/base/CudaTickets.h"
#include "runtime/base/Workspace.h"
#include "runtime/device/cuda/CudaExecutable.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace llmc::cuda {
namespace {
static_assert(sizeof(LlmcCounts) <= 256 &&
                  LLMC_CUDA_LOGIT_ROWS == LogitRowsAtLeast,
              "the workspace of the memory plan is another one");

size_t aligned(size_t Bytes) { return (Bytes + 255) / 256 * 256; }

/// Exact for small sizes, where MiB would make two numbers the same.
std::string sizeText(uint64_t Bytes) {
  if (Bytes < (uint64_t{100} << 20))
    return std::to_string(Bytes) + " bytes";
  return std::to_string((Bytes + (1 << 20) - 1) >> 20) + " MiB";
}

/// The variable is "0": for experiments.
bool isOff(const char *Variable) {
  const char *Value = std::getenv(Variable);
  return Value && std::string_view(Value) == "0";
}

DescriptorLayout layoutOf(uint32_t Tokens, uint32_t Sequences,
                          uint32_t PagesPerSequence) {
  DescriptorLayout L;
  size_t At = aligned(sizeof(LlmcCounts));
  auto Take = [&](size_t Bytes) {
    size_t Begin = At;
    At += aligned(Bytes);
    return Begin;
  };
  L.Ids = Take(size_t{Tokens} * 4);
  L.Positions = Take(size_t{Tokens} * 4);
  L.RowSeq = Take(size_t{Tokens} * 4);
  L.Lengths = Take(size_t{Tokens} * 4);
  L.LogitRows = Take(size_t{Tokens} * 4);
  L.PageTable = Take(size_t{Sequences} * PagesPerSequence * 4);
  L.Bytes = At;
  L.PagesPerSequence = PagesPerSequence;
  return L;
}
} // namespace

Result<std::unique_ptr<Executable>>
CudaExecutable::load(std::shared_ptr<DeviceContext> Ctx, const ProgramView &P,
                     const DeviceLoadOptions &O) {
  LLMC_RETURN_IF_ERROR(Ctx->use());
  flatbuffers::Verifier Verifier(P.Program.data(), P.Program.size());
  if (!fb::VerifyProgramBuffer(Verifier))
    return malformedError("the program of target " + P.Target + " is damaged");
  const fb::Program *Program = fb::GetProgram(P.Program.data());
  std::unique_ptr<CudaExecutable> E(new CudaExecutable(std::move(Ctx)));
  LLMC_RETURN_IF_ERROR(E->readFacts(*Program, O));
  LLMC_RETURN_IF_ERROR(E->Code.load(E->Ctx, P.Code, P.Ptx));
  LLMC_RETURN_IF_ERROR(E->Work.create(E->Ctx));
  LLMC_RETURN_IF_ERROR(E->allocate(*Program, P));
  LLMC_RETURN_IF_ERROR(E->upload(P.Weights.first(Program->weight_bytes())));
  LLMC_RETURN_IF_ERROR(E->clearTickets());
  LLMC_RETURN_IF_ERROR(E->resolve(*Program));
  return std::unique_ptr<Executable>(std::move(E));
}

Status CudaExecutable::readFacts(const fb::Program &P,
                                 const DeviceLoadOptions &O) {
  if (P.step_abi() != LLMC_STEP_ABI)
    return doesNotFitError(
        "the GPU code has step ABI " + std::to_string(P.step_abi()) +
        ", this runtime has " + std::to_string(LLMC_STEP_ABI));
  if (!P.buckets() || !P.arena_bytes() || P.buckets()->size() == 0 ||
      P.buckets()->size() != P.arena_bytes()->size())
    return malformedError("the program of a GPU target has no buckets");
  if (!P.kernels() || !P.launches() || P.launches()->size() == 0)
    return malformedError("the program of a GPU target has no launches");
  if (P.page_tokens() != LLMC_CUDA_PAGE_TOKENS)
    return malformedError(
        "the KV pages have " + std::to_string(P.page_tokens()) +
        " tokens, expected " + std::to_string(LLMC_CUDA_PAGE_TOKENS));
  Buckets.assign(P.buckets()->begin(), P.buckets()->end());
  Facts.MaxTokens = Buckets.back();
  Facts.MaxSequences = P.max_sequences();
  Facts.PageTokens = P.page_tokens();
  Facts.Pages = O.Pages ? O.Pages : P.pages();
  Facts.PageBytes = P.page_bytes();
  Facts.ArenaBytes =
      *std::max_element(P.arena_bytes()->begin(), P.arena_bytes()->end());
  Facts.Vocab = P.vocab();
  Facts.Outputs = P.outputs();
  Facts.Records = P.records();
  LogitRows = std::min(Facts.MaxTokens, LLMC_CUDA_LOGIT_ROWS);
  uint32_t PerSequence =
      (P.max_context() + P.page_tokens() - 1) / P.page_tokens();
  Layout = layoutOf(Facts.MaxTokens, Facts.MaxSequences, PerSequence);
  return Status::success();
}

Status CudaExecutable::allocate(const fb::Program &P, const ProgramView &View) {
  if (View.Weights.size() < P.weight_bytes())
    return malformedError(
        "the program needs " + std::to_string(P.weight_bytes()) +
        " bytes of weights, found " + std::to_string(View.Weights.size()));
  uint64_t KvBytes = Facts.PageBytes * Facts.Pages;
  uint64_t LogitBytes = uint64_t{LogitRows} * Facts.rowFloats() * 4;
  // The last three are the plan's workspace.
  uint64_t Needed = P.weight_bytes() + Facts.ArenaBytes + KvBytes + LogitBytes +
                    Layout.Bytes + CudaTicketBytes;
  size_t Free = 0, Total = 0;
  LLMC_RETURN_IF_ERROR(Ctx->Api->check(Ctx->Api->MemGetInfo(&Free, &Total),
                                       "ask the GPU's free memory"));
  if (Needed > Free)
    return doesNotFitError("the model needs " + sizeText(Needed) +
                           " of GPU memory, " + sizeText(Free) + " are free");
  LLMC_RETURN_IF_ERROR(Weights.alloc(Ctx, P.weight_bytes(), "weights"));
  LLMC_RETURN_IF_ERROR(Arena.alloc(Ctx, Facts.ArenaBytes, "arena"));
  LLMC_RETURN_IF_ERROR(Kv.alloc(Ctx, KvBytes, "KV cache"));
  LLMC_RETURN_IF_ERROR(Logits.alloc(Ctx, LogitBytes, "logits"));
  LLMC_RETURN_IF_ERROR(Tickets.alloc(Ctx, CudaTicketBytes, "tickets"));
  LLMC_RETURN_IF_ERROR(Descriptor.alloc(Ctx, Layout.Bytes, "descriptor"));
  return Host.alloc(Ctx, Layout.Bytes);
}

/// Through a pinned buffer: bounded host memory, and no page of the artifact
/// stays locked.
Status CudaExecutable::upload(std::span<const uint8_t> From) {
  constexpr size_t Piece = size_t{16} << 20;
  if (From.empty())
    return Status::success();
  PinnedBuffer Staging;
  LLMC_RETURN_IF_ERROR(Staging.alloc(Ctx, std::min(Piece, From.size())));
  for (size_t At = 0; At < From.size(); At += Piece) {
    size_t Bytes = std::min(Piece, From.size() - At);
    std::memcpy(Staging.get(), From.data() + At, Bytes);
    LLMC_RETURN_IF_ERROR(Ctx->Api->check(
        Ctx->Api->MemcpyHtoDAsync(Weights.get() + At, Staging.get(), Bytes,
                                  Work.get()),
        "copy weights to the GPU"));
    LLMC_RETURN_IF_ERROR(Ctx->Api->check(
        Ctx->Api->StreamSynchronize(Work.get()), "copy weights to the GPU"));
  }
  return Status::success();
}

Status CudaExecutable::clearTickets() {
  PinnedBuffer Zeros;
  LLMC_RETURN_IF_ERROR(Zeros.alloc(Ctx, CudaTicketBytes));
  std::memset(Zeros.get(), 0, CudaTicketBytes);
  LLMC_RETURN_IF_ERROR(
      Ctx->Api->check(Ctx->Api->MemcpyHtoDAsync(Tickets.get(), Zeros.get(),
                                                CudaTicketBytes, Work.get()),
                      "clear the tickets"));
  return Ctx->Api->check(Ctx->Api->StreamSynchronize(Work.get()),
                         "clear the tickets");
}

DevicePtr CudaExecutable::stepPointer(uint32_t Arg) const {
  DevicePtr Base = Descriptor.get();
  switch (Arg) {
  case LLMC_ARG_COUNTS:
    return Base;
  case LLMC_ARG_IDS:
    return Base + Layout.Ids;
  case LLMC_ARG_POSITIONS:
    return Base + Layout.Positions;
  case LLMC_ARG_ROW_SEQ:
    return Base + Layout.RowSeq;
  case LLMC_ARG_LENGTHS:
    return Base + Layout.Lengths;
  case LLMC_ARG_PAGE_TABLE:
    return Base + Layout.PageTable;
  case LLMC_ARG_LOGIT_ROWS:
    return Base + Layout.LogitRows;
  case LLMC_ARG_LOGITS:
    return Logits.get();
  case LLMC_ARG_CUDA_TICKETS:
    return Tickets.get();
  default:
    return 0;
  }
}

Status CudaExecutable::resolveArg(const fb::LaunchArg &A, size_t Bucket,
                                  ReadyLaunch &L) {
  uint64_t Value = 0;
  switch (A.kind()) {
  case fb::ArgKind::Null:
    break;
  case fb::ArgKind::Step:
    Value = stepPointer(A.index());
    if (Value == 0)
      return malformedError("the GPU code wants step argument " +
                            std::to_string(A.index()));
    L.WritesLogits |= A.index() == LLMC_ARG_LOGITS;
    break;
  case fb::ArgKind::Arena:
    Value = Arena.get() + A.offsets()->Get(static_cast<uint32_t>(Bucket));
    break;
  case fb::ArgKind::Weight:
    Value = Weights.get() + A.offsets()->Get(0);
    break;
  case fb::ArgKind::Kv:
    Value = Kv.get() + A.offsets()->Get(0);
    break;
  case fb::ArgKind::Immediate:
    Value = A.value();
    break;
  }
  L.Values.push_back(Value);
  return Status::success();
}

Status CudaExecutable::resolve(const fb::Program &P) {
  constexpr int MaxDynamicSharedSize = 8; // of CUfunction_attribute
  constexpr uint32_t DefaultShared = 48 * 1024;
  std::vector<Function> Functions;
  for (const fb::Kernel *K : *P.kernels()) {
    LLMC_ASSIGN_OR_RETURN(Function F, Code.function(K->entry()->str()));
    uint32_t Shared = K->static_shared_bytes() + K->dynamic_shared_bytes();
    if (Shared > DefaultShared)
      LLMC_RETURN_IF_ERROR(Ctx->Api->check(
          Ctx->Api->FuncSetAttribute(
              F, MaxDynamicSharedSize,
              static_cast<int>(K->dynamic_shared_bytes())),
          "give " + K->entry()->str() + " " + std::to_string(Shared) +
              " bytes of shared memory"));
    Functions.push_back(F);
    KernelNames.push_back(K->entry()->str());
  }
  Launches.resize(Buckets.size());
  Graphs.resize(Buckets.size());
  UseGraphs = Ctx->Api->hasGraphs() && !isOff("LLMC_CUDA_GRAPHS");
  UseEarly =
      Ctx->Api->LaunchKernelEx && Ctx->Major >= 9 && !isOff("LLMC_CUDA_PDL");
  for (size_t B = 0; B != Buckets.size(); ++B) {
    uint32_t Index = static_cast<uint32_t>(B);
    for (const fb::Launch *From : *P.launches()) {
      const fb::Kernel *K = P.kernels()->Get(From->kernel());
      auto Blocks = [&](const flatbuffers::Vector<uint32_t> *G) {
        return G && G->size() != 0 ? G->Get(Index) : 1u;
      };
      ReadyLaunch &L = Launches[B].emplace_back();
      L.Kernel = Functions[From->kernel()];
      L.Grid = {Blocks(From->grid_x()), Blocks(From->grid_y()),
                Blocks(From->grid_z())};
      L.Block = {K->block_x(), K->block_y(), K->block_z()};
      L.SharedBytes = K->dynamic_shared_bytes();
      L.Early = K->pdl();
      L.Number = From->kernel();
      if (From->costs() && Index < From->costs()->size()) {
        L.Bytes = From->costs()->Get(Index)->bytes();
        L.Macs = From->costs()->Get(Index)->macs();
        L.Predicted =
            static_cast<double>(From->costs()->Get(Index)->microseconds());
      }
      if (From->args())
        for (const fb::LaunchArg *A : *From->args())
          LLMC_RETURN_IF_ERROR(resolveArg(*A, B, L));
    }
    // Addresses of the values are stable from here on.
    for (ReadyLaunch &L : Launches[B])
      for (uint64_t &Value : L.Values)
        L.Params.push_back(&Value);
  }
  return Status::success();
}

} // namespace llmc::cuda
