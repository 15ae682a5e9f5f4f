// Loading of a program on the CPU and its steps. Sizes are exactly the plan's;
// weights are used where they are mapped. A step checks every index that the
// compiled code uses without checking.
#include "runtime/device/cpu/CpuExecutable.h"

#include "runtime/artifact/Program_generated.h"
#include "runtime/device/cpu/CpuThreads.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace llmc {
namespace {
/// Physical memory; 0 when unknown. Mappings are lazy, so a pool that no
/// machine holds would only fail in the middle of a request.
uint64_t machineBytes() {
  long Pages = sysconf(_SC_PHYS_PAGES), Size = sysconf(_SC_PAGESIZE);
  return Pages > 0 && Size > 0
             ? static_cast<uint64_t>(Pages) * static_cast<uint64_t>(Size)
             : 0;
}

constexpr uint32_t MaxThreads = 1024;
constexpr uint64_t HugePage = UINT64_C(2) << 20;
constexpr uint64_t Alignment = 64; ///< of arena and KV pool (StepAbi.h)

uint64_t roundUp(uint64_t N, uint64_t To) { return (N + To - 1) / To * To; }

Status tooMany(const char *What, uint64_t Most, uint64_t Found) {
  return doesNotFitError("step: expected at most " + std::to_string(Most) +
                         " " + What + ", found " + std::to_string(Found));
}
Status wrong(const char *What, uint64_t Limit, int64_t Found, size_t At) {
  return internalError("step: " + std::string(What) + " " +
                       std::to_string(Found) + " at " + std::to_string(At) +
                       " is not below " + std::to_string(Limit));
}

/// Default rounding and denormals while a step runs on a thread of the caller,
/// whose libraries may have set other modes.
class DefaultFloatMode {
public:
#if defined(__x86_64__)
  DefaultFloatMode() : Saved(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~DefaultFloatMode() { _mm_setcsr(Saved); }
  DefaultFloatMode(const DefaultFloatMode &) = delete;

private:
  unsigned Saved;
#endif
};
} // namespace

Mapping &Mapping::operator=(Mapping &&O) noexcept {
  std::swap(Data, O.Data);
  std::swap(Size, O.Size);
  std::swap(Start, O.Start);
  std::swap(Length, O.Length);
  return *this;
}

Mapping::~Mapping() {
  if (Start)
    munmap(Start, Length);
}

Result<Mapping> Mapping::create(uint64_t Bytes, std::string_view What) {
  Mapping M;
  if (Bytes == 0)
    return M;
  uint64_t Page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t Whole = roundUp(Bytes, Page);
  void *P = mmap(nullptr, Whole + Page, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (P == MAP_FAILED)
    return doesNotFitError("no " + std::to_string(Bytes) + " bytes for the " +
                           std::string(What));
  M.Start = static_cast<uint8_t *>(P);
  M.Length = Whole + Page;
  if (mprotect(M.Start + Whole, Page, PROT_NONE) != 0)
    return doesNotFitError("the system refuses another mapping for the " +
                           std::string(What));
  // Large pages where the system has them: fewer faults and TLB misses.
  if (Bytes >= HugePage)
    madvise(P, Whole, MADV_HUGEPAGE);
  M.Data = M.Start + Whole - roundUp(Bytes, Alignment);
  M.Size = Bytes;
  return M;
}

Result<std::unique_ptr<Executable>>
CpuExecutable::load(const ProgramView &P, const DeviceLoadOptions &O) {
  flatbuffers::Verifier Verifier(P.Program.data(), P.Program.size());
  if (!fb::VerifyProgramBuffer(Verifier))
    return malformedError("the program of target '" + P.Target +
                          "' is damaged");
  const fb::Program *Program = fb::GetProgram(P.Program.data());
  if (!Program->buckets() || !Program->arena_bytes() ||
      Program->buckets()->size() == 0 ||
      Program->buckets()->size() != Program->arena_bytes()->size() ||
      Program->page_tokens() != LLMC_CPU_PAGE_TOKENS)
    return malformedError("the program of target '" + P.Target +
                          "' has no buckets or another page size than " +
                          std::to_string(LLMC_CPU_PAGE_TOKENS));
  if (P.Weights.size() < Program->weight_bytes())
    return malformedError("target '" + P.Target + "': expected " +
                          std::to_string(Program->weight_bytes()) +
                          " bytes of weights, found " +
                          std::to_string(P.Weights.size()));
  if (reinterpret_cast<uintptr_t>(P.Weights.data()) % 64 != 0)
    return malformedError("target '" + P.Target +
                          "': its weights are not aligned to 64 bytes");

  std::unique_ptr<CpuExecutable> E(new CpuExecutable());
  E->Weights = P.Weights;
  E->Buckets.assign(Program->buckets()->begin(), Program->buckets()->end());
  E->MaxContext = Program->max_context();
  E->Info.MaxTokens = E->Buckets.back();
  E->Info.MaxSequences = Program->max_sequences();
  E->Info.PageTokens = Program->page_tokens();
  E->Info.Pages = O.Pages ? O.Pages : Program->pages();
  E->Info.PageBytes = Program->page_bytes();
  E->Info.ArenaBytes = *std::max_element(Program->arena_bytes()->begin(),
                                         Program->arena_bytes()->end());
  E->Lengths.resize(E->Info.MaxTokens);
  E->Info.Vocab = Program->vocab();
  E->Info.Outputs = Program->outputs();
  E->Info.Records = Program->records();
  if (E->Info.Pages && E->Info.PageBytes > (UINT64_C(1) << 46) / E->Info.Pages)
    return doesNotFitError("a KV pool of " + std::to_string(E->Info.Pages) +
                           " pages of " + std::to_string(E->Info.PageBytes) +
                           " bytes is larger than any machine");
  uint64_t Wanted = E->Info.ArenaBytes + E->Info.Pages * E->Info.PageBytes;
  if (uint64_t Has = machineBytes(); Has && Wanted > Has)
    return doesNotFitError(
        "arena and KV pool need " + std::to_string(Wanted) +
        " bytes, the machine has " + std::to_string(Has) +
        "; compile with a smaller --max-context or --max-batch");
  LLMC_ASSIGN_OR_RETURN(E->Image, CpuImage::load(P.Code));
  LLMC_ASSIGN_OR_RETURN(E->Arena, Mapping::create(E->Info.ArenaBytes, "arena"));
  LLMC_ASSIGN_OR_RETURN(
      E->Kv, Mapping::create(E->Info.Pages * E->Info.PageBytes, "KV pool"));
  uint32_t Threads = O.Threads ? O.Threads : grantedThreads();
  if (Threads > MaxThreads)
    return usageError("threads: expected at most " +
                      std::to_string(MaxThreads) + ", found " +
                      std::to_string(Threads));
  LLMC_ASSIGN_OR_RETURN(E->Pool, ThreadPool::create(Threads));
  return std::unique_ptr<Executable>(std::move(E));
}

/// Sizes of the arrays.
Status CpuExecutable::check(const StepInput &In) const {
  size_t T = In.Ids.size(), R = In.LogitRows.size();
  if (T > Info.MaxTokens)
    return tooMany("tokens", Info.MaxTokens, T);
  if (In.Sequences > Info.MaxSequences)
    return tooMany("sequences", Info.MaxSequences, In.Sequences);
  if (R > T)
    return tooMany("logit rows", T, R);
  if (In.Positions.size() != T || In.RowSequence.size() != T)
    return internalError("step: expected " + std::to_string(T) +
                         " positions and row sequences, found " +
                         std::to_string(In.Positions.size()) + " and " +
                         std::to_string(In.RowSequence.size()));
  if (!In.Lengths.empty() && In.Lengths.size() != T)
    return internalError("step: expected " + std::to_string(T) +
                         " lengths, found " +
                         std::to_string(In.Lengths.size()));
  if (In.PromptRows > T)
    return tooMany("prompt rows", T, In.PromptRows);
  uint64_t Entries = uint64_t(In.Sequences) * In.PagesPerSequence;
  if (In.PageTable.size() < Entries)
    return internalError("step: expected " + std::to_string(Entries) +
                         " page table entries, found " +
                         std::to_string(In.PageTable.size()));
  if (In.Logits.size() < R * Info.rowFloats())
    return internalError("step: expected room for " +
                         std::to_string(R * Info.rowFloats()) +
                         " logits, found " + std::to_string(In.Logits.size()));
  return Status::success();
}

/// Values that the compiled code takes as indices.
Status CpuExecutable::checkRows(const StepInput &In) const {
  uint64_t Context = std::min<uint64_t>(
      MaxContext, uint64_t(In.PagesPerSequence) * Info.PageTokens);
  for (size_t I = 0; I < In.Ids.size(); ++I) {
    if (static_cast<uint32_t>(In.Ids[I]) >= Info.Vocab)
      return wrong("token id", Info.Vocab, In.Ids[I], I);
    if (static_cast<uint32_t>(In.RowSequence[I]) >= In.Sequences)
      return wrong("sequence", In.Sequences, In.RowSequence[I], I);
    if (static_cast<uint32_t>(In.Positions[I]) >= Context)
      return wrong("position", Context, In.Positions[I], I);
    // Keys of all positions up to the row's own are read.
    const uint32_t *Pages =
        In.PageTable.data() + size_t(In.RowSequence[I]) * In.PagesPerSequence;
    uint32_t Last = static_cast<uint32_t>(In.Positions[I]) / Info.PageTokens;
    bool NewRow =
        I == 0 || In.RowSequence[I] != In.RowSequence[I - 1] ||
        Last > static_cast<uint32_t>(In.Positions[I - 1]) / Info.PageTokens;
    for (uint32_t P = 0; NewRow && P <= Last; ++P)
      if (Pages[P] >= Info.Pages)
        return wrong("page", Info.Pages, Pages[P], P);
  }
  for (size_t I = 0; I < In.LogitRows.size(); ++I)
    if (static_cast<size_t>(In.LogitRows[I]) >= In.Ids.size() ||
        (I > 0 && In.LogitRows[I] <= In.LogitRows[I - 1]))
      return wrong("logit row", In.Ids.size(), In.LogitRows[I], I);
  return Status::success();
}

Status CpuExecutable::step(const StepInput &In) {
  LLMC_RETURN_IF_ERROR(check(In));
  LLMC_RETURN_IF_ERROR(checkRows(In));
  if (In.Ids.empty())
    return Status::success();
  LlmcCounts Counts;
  Counts.tokens = static_cast<uint32_t>(In.Ids.size());
  Counts.prompt_tokens = In.PromptRows;
  Counts.sequences = In.Sequences;
  Counts.logit_rows = static_cast<uint32_t>(In.LogitRows.size());
  Counts.pages_per_sequence = In.PagesPerSequence;
  Counts.bucket = static_cast<uint32_t>(
      std::lower_bound(Buckets.begin(), Buckets.end(), Counts.tokens) -
      Buckets.begin());

  struct Job {
    LlmcStepArgs Args;
    LlmcCpuStepFn Step;
    uint32_t Threads;
  } J{};
  J.Step = Image.step();
  J.Threads = Pool->size();
  J.Args.abi = LLMC_STEP_ABI;
  J.Args.count = LLMC_ARG_COUNT;
  auto Set = [&](LlmcArg At, const void *P) {
    J.Args.ptr[At] = const_cast<void *>(P);
  };
  Set(LLMC_ARG_COUNTS, &Counts);
  Set(LLMC_ARG_IDS, In.Ids.data());
  Set(LLMC_ARG_POSITIONS, In.Positions.data());
  Set(LLMC_ARG_ROW_SEQ, In.RowSequence.data());
  Set(LLMC_ARG_PAGE_TABLE, In.PageTable.data());
  Set(LLMC_ARG_LOGIT_ROWS, In.LogitRows.data());
  Set(LLMC_ARG_LOGITS, In.Logits.data());
  Set(LLMC_ARG_WEIGHTS, Weights.data());
  Set(LLMC_ARG_ARENA, Arena.data());
  Set(LLMC_ARG_KV, Kv.data());
  Set(LLMC_ARG_BARRIER, Barrier.get());
  if (In.Lengths.empty())
    for (size_t I = 0; I < In.Positions.size(); ++I)
      Lengths[I] = In.Positions[I] + 1;
  Set(LLMC_ARG_LENGTHS,
      In.Lengths.empty() ? Lengths.data() : In.Lengths.data());
  Pool->run(
      [](void *Arg, uint32_t Thread) {
        Job *J = static_cast<Job *>(Arg);
        DefaultFloatMode Mode;
        J->Step(&J->Args, Thread, J->Threads);
      },
      &J);
  return Status::success();
}

Status CpuExecutable::copyPage(uint32_t From, uint32_t To) {
  if (From >= Info.Pages || To >= Info.Pages)
    return internalError("copy of page " + std::to_string(From) + " to " +
                         std::to_string(To) + ": the pool has " +
                         std::to_string(Info.Pages));
  if (From != To)
    std::memcpy(Kv.data() + To * Info.PageBytes,
                Kv.data() + From * Info.PageBytes, Info.PageBytes);
  return Status::success();
}

} // namespace llmc
