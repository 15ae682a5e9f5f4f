// Value checks of a program section: what the device rooms rely on when they
// add offsets to base pointers and launch grids.
#include "runtime/artifact/Flat.h"
#include "runtime/artifact/Limits.h"
#include "runtime/artifact/Validate.h"
#include "runtime/base/CudaTickets.h"

#include "runtime/artifact/Program_generated.h"

#include <algorithm>

namespace llmc {
namespace {

bool isNamed(const flatbuffers::String *S) {
  return S && S->size() != 0 && S->size() <= MaxNameBytes;
}

bool equals(const flatbuffers::String *S, const std::string &Text) {
  return S && S->str() == Text;
}

/// Number of LlmcArg values that a launch may pass (StepAbi.h); later ones
/// need a newer runtime.
constexpr uint32_t KnownStepArgs = 11;

Status checkSizes(const fb::Program &P) {
  LLMC_RETURN_IF_ERROR(checkRange("step_abi", P.step_abi(), 1, 1));
  size_t Buckets = sizeOf(P.buckets());
  LLMC_RETURN_IF_ERROR(checkRange("number of buckets", Buckets, 1, MaxBuckets));
  LLMC_RETURN_IF_ERROR(checkRange("number of arena sizes",
                                  sizeOf(P.arena_bytes()), Buckets, Buckets));
  if (!isAligned(P.arena_bytes()))
    return malformedError("the arena sizes are not aligned");
  LLMC_RETURN_IF_ERROR(checkRange("max_tokens", P.max_tokens(), 1, MaxTokens));
  uint32_t Before = 0;
  for (uint32_t I = 0; I < Buckets; ++I) {
    uint32_t Bucket = P.buckets()->Get(I);
    LLMC_RETURN_IF_ERROR(checkRange("bucket " + std::to_string(I), Bucket,
                                    Before + 1, P.max_tokens()));
    LLMC_RETURN_IF_ERROR(checkRange("arena size " + std::to_string(I),
                                    P.arena_bytes()->Get(I), 0, MaxBytes));
    Before = Bucket;
  }
  LLMC_RETURN_IF_ERROR(
      checkRange("last bucket", Before, P.max_tokens(), P.max_tokens()));
  LLMC_RETURN_IF_ERROR(
      checkRange("max_sequences", P.max_sequences(), 1, MaxSequences));
  LLMC_RETURN_IF_ERROR(checkRange("max_context", P.max_context(), 1, MaxCount));
  LLMC_RETURN_IF_ERROR(checkRange("vocab", P.vocab(), 1, MaxCount));
  LLMC_RETURN_IF_ERROR(checkRange("outputs", P.outputs(), 0, MaxCount));
  return checkRange("hidden", P.hidden(), 0, MaxFeatures);
}

/// States lie in a page one behind the other, in their order.
Status checkPages(const fb::Program &P) {
  LLMC_RETURN_IF_ERROR(
      checkRange("number of states", sizeOf(P.states()), 0, MaxStates));
  if (sizeOf(P.states()) == 0)
    return Status::success();
  LLMC_RETURN_IF_ERROR(
      checkRange("page_tokens", P.page_tokens(), 1, MaxPageTokens));
  LLMC_RETURN_IF_ERROR(checkRange("page_bytes", P.page_bytes(), 1, MaxBytes));
  LLMC_RETURN_IF_ERROR(checkRange("pages", P.pages(), 1, MaxCount));
  LLMC_RETURN_IF_ERROR(checkRange("bytes of the KV pool / 2^20",
                                  (P.page_bytes() >> 20) * P.pages(), 0,
                                  MaxBytes >> 20));
  uint64_t End = 0;
  for (const fb::KvState *S : *P.states()) {
    std::string Name = S->name() ? S->name()->str() : "state";
    LLMC_RETURN_IF_ERROR(
        checkRange(Name + ": layers", S->layers(), 1, MaxLayers));
    LLMC_RETURN_IF_ERROR(
        checkRange(Name + ": kv_heads", S->kv_heads(), 1, 1 << 12));
    LLMC_RETURN_IF_ERROR(
        checkRange(Name + ": head_dim", S->head_dim(), 1, 1 << 12));
    LLMC_RETURN_IF_ERROR(
        checkRange(Name + ": v_head_dim", S->v_head_dim(), 1, 1 << 12));
    if (S->dtype() != static_cast<uint8_t>(DType::F32) &&
        S->dtype() != static_cast<uint8_t>(DType::F16) &&
        S->dtype() != static_cast<uint8_t>(DType::I8))
      return malformedError(Name + ": element type " +
                            std::to_string(S->dtype()) +
                            " of the cache needs a newer runtime");
    uint64_t Elements = uint64_t{S->layers()} * S->kv_heads() *
                        (S->head_dim() + S->v_head_dim()) * P.page_tokens();
    uint64_t Size = Elements * bitsOf(static_cast<DType>(S->dtype())) / 8;
    LLMC_RETURN_IF_ERROR(checkRange(Name + ": page_offset", S->page_offset(),
                                    End, P.page_bytes()));
    LLMC_RETURN_IF_ERROR(checkRange(Name + ": bytes in a page", Size, 1,
                                    P.page_bytes() - S->page_offset()));
    End = S->page_offset() + Size;
  }
  return Status::success();
}

Status checkKernel(const fb::Kernel &K) {
  if (!isNamed(K.entry()))
    return malformedError("a kernel has no entry name");
  std::string Name = K.entry()->str();
  LLMC_RETURN_IF_ERROR(checkRange(Name + ": block_x", K.block_x(), 1, 1024));
  LLMC_RETURN_IF_ERROR(checkRange(Name + ": block_y", K.block_y(), 1, 1024));
  LLMC_RETURN_IF_ERROR(checkRange(Name + ": block_z", K.block_z(), 1, 64));
  LLMC_RETURN_IF_ERROR(
      checkRange(Name + ": threads of a block",
                 uint64_t{K.block_x()} * K.block_y() * K.block_z(), 1, 1024));
  return checkRange(Name + ": shared bytes",
                    uint64_t{K.static_shared_bytes()} +
                        K.dynamic_shared_bytes(),
                    0, MaxSharedBytes);
}

/// 0 blocks: no launch in that bucket.
Status checkGrid(const std::string &Name, const fb::Program &P,
                 const flatbuffers::Vector<uint32_t> *Grid, bool Required,
                 uint64_t Most) {
  size_t Buckets = P.buckets()->size();
  if (!Required && sizeOf(Grid) == 0)
    return Status::success();
  LLMC_RETURN_IF_ERROR(
      checkRange(Name + ": number of grids", sizeOf(Grid), Buckets, Buckets));
  for (uint32_t Blocks : *Grid)
    LLMC_RETURN_IF_ERROR(checkRange(Name + ": grid", Blocks, 0, Most));
  return Status::success();
}

/// Offsets are Count many and each lies below its limit.
Status checkOffsets(const std::string &Name, const fb::LaunchArg &A,
                    const flatbuffers::Vector<uint64_t> *Limits,
                    uint64_t Limit) {
  size_t Count = Limits ? Limits->size() : 1;
  LLMC_RETURN_IF_ERROR(checkRange(Name + ": number of offsets",
                                  sizeOf(A.offsets()), Count, Count));
  if (!isAligned(A.offsets()))
    return malformedError(Name + ": the offsets are not aligned");
  for (uint32_t I = 0; I < Count; ++I)
    LLMC_RETURN_IF_ERROR(checkRange(Name + ": offset", A.offsets()->Get(I), 0,
                                    Limits ? Limits->Get(I) : Limit));
  return Status::success();
}

Status checkArg(const std::string &Name, const fb::Program &P,
                const fb::LaunchArg &A) {
  switch (A.kind()) {
  case fb::ArgKind::Null:
    return Status::success();
  case fb::ArgKind::Step:
    if (A.index() >= KnownStepArgs && A.index() != LLMC_ARG_CUDA_TICKETS)
      return malformedError(Name + ": step argument " +
                            std::to_string(A.index()) +
                            " needs a newer runtime");
    return Status::success();
  case fb::ArgKind::Arena:
    return checkOffsets(Name, A, P.arena_bytes(), 0);
  case fb::ArgKind::Weight:
    return checkOffsets(Name, A, nullptr, P.weight_bytes());
  case fb::ArgKind::Kv:
    return checkOffsets(Name, A, nullptr, P.page_bytes());
  case fb::ArgKind::Immediate:
    if (A.bytes() == 1 || A.bytes() == 2 || A.bytes() == 4 || A.bytes() == 8)
      return Status::success();
    return malformedError(Name + ": immediate of " + std::to_string(A.bytes()) +
                          " bytes, expected 1, 2, 4 or 8");
  }
  return malformedError(Name + ": argument kind " +
                        std::to_string(static_cast<unsigned>(A.kind())) +
                        " needs a newer runtime");
}

Status checkLaunches(const fb::Program &P) {
  if (P.kernels())
    for (const fb::Kernel *K : *P.kernels())
      LLMC_RETURN_IF_ERROR(checkKernel(*K));
  if (!P.launches())
    return Status::success();
  uint32_t Number = 0;
  for (const fb::Launch *L : *P.launches()) {
    std::string Name = "launch " + std::to_string(Number++);
    if (L->kernel() >= sizeOf(P.kernels()))
      return malformedError(Name + ": kernel " + std::to_string(L->kernel()) +
                            ", expected less than " +
                            std::to_string(sizeOf(P.kernels())));
    LLMC_RETURN_IF_ERROR(checkGrid(Name, P, L->grid_x(), true, MaxCount));
    LLMC_RETURN_IF_ERROR(checkGrid(Name, P, L->grid_y(), false, 65535));
    LLMC_RETURN_IF_ERROR(checkGrid(Name, P, L->grid_z(), false, 65535));
    LLMC_RETURN_IF_ERROR(checkRange(Name + ": number of arguments",
                                    sizeOf(L->args()), 0, MaxLaunchArgs));
    if (L->args())
      for (const fb::LaunchArg *A : *L->args())
        LLMC_RETURN_IF_ERROR(checkArg(Name, P, *A));
  }
  return Status::success();
}

/// The manifest says the same as the program about what both hold.
Status checkAgreement(const fb::Program &P, const ManifestTarget &Target,
                      const ManifestPlan &Plan, const ManifestModel &Model,
                      uint64_t WeightBytes) {
  if (!equals(P.target(), Target.Name) || !equals(P.layout(), Target.Layout))
    return malformedError("the program is for another target");
  LLMC_RETURN_IF_ERROR(
      checkRange("weight_bytes", P.weight_bytes(), 0, WeightBytes));
  LLMC_RETURN_IF_ERROR(
      checkRange("vocab", P.vocab(), Model.Vocab, Model.Vocab));
  LLMC_RETURN_IF_ERROR(checkRange("planned weight bytes", Plan.WeightBytes,
                                  P.weight_bytes(), P.weight_bytes()));
  bool Same = std::equal(Plan.Buckets.begin(), Plan.Buckets.end(),
                         P.buckets()->begin(), P.buckets()->end()) &&
              std::equal(Plan.ArenaBytes.begin(), Plan.ArenaBytes.end(),
                         P.arena_bytes()->begin(), P.arena_bytes()->end()) &&
              Plan.PageTokens == P.page_tokens() &&
              Plan.PageBytes == P.page_bytes() && Plan.Pages == P.pages();
  if (!Same)
    return malformedError("the memory plan differs from the program");
  return Status::success();
}

Status checkProgram(const fb::Program &P, const ManifestTarget &Target,
                    const ManifestPlan &Plan, const ManifestModel &Model,
                    uint64_t WeightBytes) {
  LLMC_RETURN_IF_ERROR(checkSizes(P));
  LLMC_RETURN_IF_ERROR(checkPages(P));
  LLMC_RETURN_IF_ERROR(checkAgreement(P, Target, Plan, Model, WeightBytes));
  if (P.cpu_features())
    for (const flatbuffers::String *Feature : *P.cpu_features())
      if (!isNamed(Feature))
        return malformedError("a CPU feature has no name");
  return checkLaunches(P);
}
} // namespace

Status validateProgram(std::span<const uint8_t> Bytes,
                       const ManifestTarget &Target, const ManifestPlan &Plan,
                       const ManifestModel &Model, uint64_t WeightBytes) {
  flatbuffers::Verifier Verifier(Bytes.data(), Bytes.size());
  Status S = malformedError("the program is not well formed");
  if (Bytes.size() >= 8 && fb::VerifyProgramBuffer(Verifier))
    S = checkProgram(*fb::GetProgram(Bytes.data()), Target, Plan, Model,
                     WeightBytes);
  if (S.ok())
    return S;
  return Status(S.code(), "target " + Target.Name + ": " + S.message());
}

} // namespace llmc
