// Value checks of the manifest. Limits are generous for real models and small
// enough that no product of two of them overflows 64 bits.
#include "runtime/artifact/Validate.h"

#include "runtime/artifact/Limits.h"

#include <algorithm>
#include <cmath>

namespace llmc {
namespace {

bool isName(const std::string &S) {
  return !S.empty() && S.size() <= MaxNameBytes;
}

Status checkId(std::string_view What, int32_t Id, const ManifestModel &M) {
  if (Id == -1 || (Id >= 0 && static_cast<uint32_t>(Id) < M.Vocab))
    return Status::success();
  return malformedError("the manifest's " + std::string(What) + " is " +
                        std::to_string(Id) + ", expected less than " +
                        std::to_string(M.Vocab));
}

Status checkModel(const ManifestModel &M) {
  LLMC_RETURN_IF_ERROR(checkRange("vocab", M.Vocab, 1, MaxCount));
  LLMC_RETURN_IF_ERROR(checkRange("hidden", M.Hidden, 1, MaxFeatures));
  LLMC_RETURN_IF_ERROR(checkRange("layers", M.Layers, 0, MaxLayers));
  LLMC_RETURN_IF_ERROR(checkRange("max_context", M.MaxContext, 1, MaxCount));
  LLMC_RETURN_IF_ERROR(checkRange("max_batch", M.MaxBatch, 1, MaxSequences));
  LLMC_RETURN_IF_ERROR(
      checkRange("number of eos ids", M.EosIds.size(), 0, MaxEosIds));
  LLMC_RETURN_IF_ERROR(checkId("bos id", M.BosId, M));
  LLMC_RETURN_IF_ERROR(checkId("pad id", M.PadId, M));
  for (int32_t Id : M.EosIds)
    if (Status S = checkId("eos id", Id, M); Id == -1 || !S.ok())
      return Id == -1 ? malformedError("the manifest's eos id is -1") : S;
  return Status::success();
}

Status checkTensor(const ManifestTensor &T) {
  if (!isName(T.Name) || !isName(T.Layout))
    return malformedError("a packed tensor of the manifest has no name");
  LLMC_RETURN_IF_ERROR(checkRange(T.Name + ": rows", T.Rows, 1, MaxElements));
  LLMC_RETURN_IF_ERROR(checkRange(T.Name + ": cols", T.Cols, 1, MaxElements));
  if (std::isnan(T.SnrDb) || !(T.MaxError >= 0))
    return malformedError(T.Name + ": its quality is not a number");
  return Status::success();
}

Status checkPlan(const ManifestPlan &P) {
  LLMC_RETURN_IF_ERROR(
      checkRange("number of buckets", P.Buckets.size(), 1, MaxBuckets));
  LLMC_RETURN_IF_ERROR(checkRange("number of arena sizes", P.ArenaBytes.size(),
                                  P.Buckets.size(), P.Buckets.size()));
  LLMC_RETURN_IF_ERROR(
      checkRange("workspace_bytes", P.WorkspaceBytes, 0, MaxBytes));
  LLMC_RETURN_IF_ERROR(
      checkRange("segment_tokens", P.SegmentTokens, 0, MaxCount));
  LLMC_RETURN_IF_ERROR(
      checkRange("segment_bytes", P.SegmentBytes, 0, MaxSegmentBytes));
  for (const ManifestState &S : P.States) {
    if (!isName(S.Name))
      return malformedError("a state of the manifest has no name");
    LLMC_RETURN_IF_ERROR(checkRange(S.Name + ": element type",
                                    static_cast<unsigned>(S.Type), 1,
                                    DTypeCount - 1));
  }
  return Status::success();
}
} // namespace

Status checkRange(std::string_view What, uint64_t Value, uint64_t Least,
                  uint64_t Most) {
  if (Value >= Least && Value <= Most)
    return Status::success();
  return malformedError(std::string(What) + " is " + std::to_string(Value) +
                        ", expected " + std::to_string(Least) + " to " +
                        std::to_string(Most));
}

Status validateManifest(const Manifest &M) {
  LLMC_RETURN_IF_ERROR(checkModel(M.Model));
  LLMC_RETURN_IF_ERROR(
      checkRange("number of targets", M.Targets.size(), 1, MaxTargets));
  LLMC_RETURN_IF_ERROR(checkRange("number of memory plans", M.Plans.size(),
                                  M.Targets.size(), M.Targets.size()));
  for (size_t I = 0; I < M.Targets.size(); ++I) {
    const ManifestTarget &T = M.Targets[I];
    if (!isName(T.Name) || !isName(T.Layout))
      return malformedError("a target of the manifest has no name");
    for (size_t J = 0; J < I; ++J)
      if (M.Targets[J].Name == T.Name)
        return malformedError("target " + T.Name + " is there twice");
    if (M.Plans[I].Target != T.Name)
      return malformedError("the memory plan of target " + T.Name +
                            " is that of " + M.Plans[I].Target);
    LLMC_RETURN_IF_ERROR(checkPlan(M.Plans[I]));
  }
  for (const ManifestTensor &T : M.Tensors)
    LLMC_RETURN_IF_ERROR(checkTensor(T));
  return Status::success();
}

} // namespace llmc
