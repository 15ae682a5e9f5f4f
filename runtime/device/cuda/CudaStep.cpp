// One step: check the input, copy its descriptor, launch, copy logits back.
// When more rows want logits than the buffer holds, the launches that write
// logits are repeated for the next rows; rows do not depend on each other.
#include "runtime/device/cuda/CudaExecutable.h"

#include <algorithm>
#include <cstring>

namespace llmc::cuda {

static Status tooMany(const char *What, size_t Found, size_t Most) {
  return doesNotFitError("a step takes at most " + std::to_string(Most) + " " +
                         What + ", found " + std::to_string(Found));
}

Status CudaExecutable::checkStep(const StepInput &In) const {
  size_t T = In.Ids.size(), R = In.LogitRows.size();
  if (T > Facts.MaxTokens)
    return tooMany("tokens", T, Facts.MaxTokens);
  if (In.Sequences > Facts.MaxSequences)
    return tooMany("sequences", In.Sequences, Facts.MaxSequences);
  if (In.PagesPerSequence > Layout.PagesPerSequence)
    return tooMany("pages of a sequence", In.PagesPerSequence,
                   Layout.PagesPerSequence);
  if (R > T)
    return tooMany("logit rows", R, T);
  if (T == 0 || In.Positions.size() != T || In.RowSequence.size() != T ||
      In.PromptRows > T || (!In.Lengths.empty() && In.Lengths.size() != T))
    return internalError("a step of " + std::to_string(T) + " tokens has " +
                         std::to_string(In.Positions.size()) +
                         " positions and " +
                         std::to_string(In.RowSequence.size()) + " sequences");
  size_t Entries = size_t{In.Sequences} * In.PagesPerSequence;
  if (In.PageTable.size() < Entries || In.Logits.size() < R * Facts.rowFloats())
    return internalError(
        "a step needs " + std::to_string(Entries) + " page table entries and " +
        std::to_string(R * Facts.rowFloats()) + " logits, found " +
        std::to_string(In.PageTable.size()) + " and " +
        std::to_string(In.Logits.size()));
  return checkRows(In);
}

/// Every index that a kernel follows, since it checks none: it reads the pages
/// of all positions up to the row's own.
Status CudaExecutable::checkRows(const StepInput &In) const {
  for (size_t I = 0; I != In.Ids.size(); ++I) {
    uint32_t Id = static_cast<uint32_t>(In.Ids[I]);
    uint32_t Sequence = static_cast<uint32_t>(In.RowSequence[I]);
    uint32_t Last = static_cast<uint32_t>(In.Positions[I]) / Facts.PageTokens;
    if (Id >= Facts.Vocab || Sequence >= In.Sequences ||
        Last >= In.PagesPerSequence)
      return internalError("row " + std::to_string(I) + " of a step has id " +
                           std::to_string(In.Ids[I]) + ", sequence " +
                           std::to_string(In.RowSequence[I]) + ", position " +
                           std::to_string(In.Positions[I]));
    // The row before has checked the pages of its own sequence.
    uint32_t First = 0;
    if (I != 0 && In.RowSequence[I - 1] == In.RowSequence[I])
      First = static_cast<uint32_t>(In.Positions[I - 1]) / Facts.PageTokens;
    const uint32_t *Pages =
        In.PageTable.data() + size_t{Sequence} * In.PagesPerSequence;
    for (uint32_t P = First; P <= Last; ++P)
      if (Pages[P] >= Facts.Pages)
        return internalError("a page table names page " +
                             std::to_string(Pages[P]) + " of " +
                             std::to_string(Facts.Pages));
  }
  for (int32_t Row : In.LogitRows)
    if (static_cast<uint32_t>(Row) >= In.Ids.size())
      return internalError("logits of row " + std::to_string(Row) + " of " +
                           std::to_string(In.Ids.size()));
  return Status::success();
}

void CudaExecutable::fillDescriptor(const StepInput &In, size_t Bucket) {
  LlmcCounts C{};
  C.tokens = static_cast<uint32_t>(In.Ids.size());
  C.prompt_tokens = In.PromptRows;
  C.sequences = In.Sequences;
  C.pages_per_sequence = In.PagesPerSequence;
  C.bucket = static_cast<uint32_t>(Bucket);
  uint8_t *To = Host.get();
  std::memcpy(To, &C, sizeof(C));
  std::memcpy(To + Layout.Ids, In.Ids.data(), In.Ids.size_bytes());
  std::memcpy(To + Layout.Positions, In.Positions.data(),
              In.Positions.size_bytes());
  std::memcpy(To + Layout.RowSeq, In.RowSequence.data(),
              In.RowSequence.size_bytes());
  int32_t *Lengths = reinterpret_cast<int32_t *>(To + Layout.Lengths);
  for (size_t I = 0; I != In.Ids.size(); ++I)
    Lengths[I] = In.Lengths.empty() ? In.Positions[I] + 1 : In.Lengths[I];
  std::memcpy(To + Layout.PageTable, In.PageTable.data(),
              size_t{In.Sequences} * In.PagesPerSequence * 4);
}

/// Logit rows from FirstRow on; the whole step when FirstRow is 0.
Status CudaExecutable::runChunk(const StepInput &In, size_t Bucket,
                                size_t FirstRow) {
  const Driver &Api = *Ctx->Api;
  size_t Rows = std::min<size_t>(LogitRows, In.LogitRows.size() - FirstRow);
  reinterpret_cast<LlmcCounts *>(Host.get())->logit_rows =
      static_cast<uint32_t>(Rows);
  if (Rows != 0)
    std::memcpy(Host.get() + Layout.LogitRows, In.LogitRows.data() + FirstRow,
                Rows * 4);
  size_t Bytes =
      Layout.PageTable + size_t{In.Sequences} * In.PagesPerSequence * 4;
  LLMC_RETURN_IF_ERROR(Api.check(
      Api.MemcpyHtoDAsync(Descriptor.get(), Host.get(), Bytes, Work.get()),
      "copy a step to the GPU"));
  LLMC_RETURN_IF_ERROR(launch(Bucket, FirstRow != 0 ? StepPart::LogitsOnly
                                      : Rows == 0   ? StepPart::WithoutLogits
                                                    : StepPart::All));
  if (Rows != 0)
    LLMC_RETURN_IF_ERROR(Api.check(
        Api.MemcpyDtoHAsync(In.Logits.data() + FirstRow * Facts.rowFloats(),
                            Logits.get(), Rows * Facts.rowFloats() * 4,
                            Work.get()),
        "copy logits from the GPU"));
  return Api.check(Api.StreamSynchronize(Work.get()), "run a step");
}

size_t CudaExecutable::bucketOf(size_t Tokens) const {
  return static_cast<size_t>(
      std::lower_bound(Buckets.begin(), Buckets.end(), Tokens) -
      Buckets.begin());
}

Status CudaExecutable::step(const StepInput &In) {
  if (!Broken.ok())
    return Broken;
  LLMC_RETURN_IF_ERROR(checkStep(In));
  LLMC_RETURN_IF_ERROR(Ctx->use());
  size_t Bucket = bucketOf(In.Ids.size());
  fillDescriptor(In, Bucket);
  size_t Row = 0;
  do {
    Status S = runChunk(In, Bucket, Row);
    if (!S.ok())
      return Broken = S; // the driver repeats such an error for ever
    Row += LogitRows;
  } while (Row < In.LogitRows.size());
  return Status::success();
}

Status CudaExecutable::copyPage(uint32_t From, uint32_t To) {
  if (!Broken.ok())
    return Broken;
  if (From >= Facts.Pages || To >= Facts.Pages)
    return internalError("cannot copy page " + std::to_string(From) +
                         " to page " + std::to_string(To) + " of " +
                         std::to_string(Facts.Pages));
  LLMC_RETURN_IF_ERROR(Ctx->use());
  // In stream order with the steps; nobody else reads pages.
  return Ctx->Api->check(
      Ctx->Api->MemcpyDtoDAsync(Kv.get() + To * Facts.PageBytes,
                                Kv.get() + From * Facts.PageBytes,
                                Facts.PageBytes, Work.get()),
      "copy a KV page");
}

} // namespace llmc::cuda
