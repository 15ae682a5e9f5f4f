// Choosing the device. A file of its own, so that a program that brings its
// device (a test) does not link all devices that there are.
#include "runtime/model/Model.h"

#include <algorithm>

namespace llmc {

namespace {

bool hasTarget(const Reader &A, bool Gpu) {
  return std::any_of(
      A.targets().begin(), A.targets().end(),
      [&](const TargetView &T) { return T.Target.starts_with("sm_") == Gpu; });
}

} // namespace

Result<std::unique_ptr<Model>> Model::load(std::shared_ptr<const Reader> A,
                                           const ModelOptions &O) {
  if (O.Device != "auto") {
    LLMC_ASSIGN_OR_RETURN(std::unique_ptr<Device> D, openDevice(O.Device));
    return loadOn(std::move(A), std::move(D), O);
  }
  std::string Note;
  if (hasTarget(*A, true)) {
    Result<std::unique_ptr<Device>> D = openDevice("cuda");
    Result<std::unique_ptr<Model>> M =
        D.ok() ? loadOn(A, D.take(), O)
               : Result<std::unique_ptr<Model>>(D.takeStatus());
    if (M.ok() || !hasTarget(*A, false))
      return M;
    Note = "the CPU is used: " + M.status().message();
  }
  LLMC_ASSIGN_OR_RETURN(std::unique_ptr<Device> D, openDevice("cpu"));
  LLMC_ASSIGN_OR_RETURN(std::unique_ptr<Model> M,
                        loadOn(std::move(A), std::move(D), O));
  M->Note = std::move(Note);
  return M;
}

} // namespace llmc
