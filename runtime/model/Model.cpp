// On a device the best of the artifact's targets that it accepts.
#include "runtime/model/Model.h"

#include "runtime/artifact/Program_generated.h"

#include <algorithm>
#include <cstdlib>

namespace llmc {

namespace {

bool isGpuTarget(const std::string &T) { return T.starts_with("sm_"); }

/// Larger is better on a machine that can run both.
int preference(const std::string &T) {
  if (isGpuTarget(T))
    return std::atoi(T.c_str() + 3);
  return T == "x86-64-v3" ? 1 : 2;
}

ProgramView viewOf(const TargetView &T) {
  return {T.Target, T.Program, T.Code, T.Ptx, T.Weights};
}

/// Pages of the target's size for so many tokens.
uint32_t pagesOf(const TargetView &T, uint32_t Tokens) {
  // 0 in a program without states.
  uint64_t Size = std::max(1u, fb::GetProgram(T.Program.data())->page_tokens());
  return static_cast<uint32_t>((Tokens + Size - 1) / Size);
}

std::string listOf(const std::vector<TargetView> &Targets) {
  std::string S;
  for (const TargetView &T : Targets)
    S += (S.empty() ? "" : ", ") + T.Target;
  return S;
}

} // namespace

Result<std::unique_ptr<Model>> Model::loadOn(std::shared_ptr<const Reader> A,
                                             std::unique_ptr<Device> D,
                                             const ModelOptions &O) {
  const TargetView *Best = nullptr;
  Status Refused =
      doesNotFitError("no code for device " + std::string(D->name()) +
                      ", the artifact is for " + listOf(A->targets()));
  for (const TargetView &T : A->targets()) {
    std::string Why = D->whyNot(viewOf(T));
    if (!Why.empty())
      Refused.addNote(T.Target + ": " + Why);
    else if (Best == nullptr || preference(T.Target) > preference(Best->Target))
      Best = &T;
  }
  if (Best == nullptr)
    return Refused;
  DeviceLoadOptions L;
  L.Threads = O.Threads;
  L.Pages = pagesOf(*Best, O.KvTokens);
  LLMC_ASSIGN_OR_RETURN(std::unique_ptr<Executable> E,
                        D->load(viewOf(*Best), L));
  std::unique_ptr<Model> M(new Model());
  M->Target = Best->Target;
  M->Artifact = std::move(A);
  M->Machine = std::move(D);
  M->Exec = std::move(E);
  return M;
}

} // namespace llmc
