// An artifact on a device: picks the device and the target's code, loads it.
#ifndef LLMC_RUNTIME_MODEL_MODEL_H
#define LLMC_RUNTIME_MODEL_MODEL_H

#include "runtime/artifact/Reader.h"
#include "runtime/device/Device.h"

#include <memory>
#include <string>

namespace llmc {

struct ModelOptions {
  /// "auto", "cpu", "cuda", "cuda:N", "cuda-sim". auto: a GPU that the
  /// artifact has code for, else the CPU; never a silent switch (note()).
  std::string Device = "auto";
  uint32_t Threads = 0; ///< CPU: 0 = as many as the machine grants
  /// Tokens that the KV pages hold; 0 = the plan's number. Tokens and not
  /// pages, as the size of a page is the chosen target's.
  uint32_t KvTokens = 0;
};

/// An Executable with all that it borrows from. Owned by the caller.
class Model {
public:
  /// DoesNotFit with the reason when no code of the artifact can run here.
  static Result<std::unique_ptr<Model>> load(std::shared_ptr<const Reader> A,
                                             const ModelOptions &O);
  /// The same on a given device, for tests.
  static Result<std::unique_ptr<Model>> loadOn(std::shared_ptr<const Reader> A,
                                               std::unique_ptr<Device> D,
                                               const ModelOptions &O);

  const Reader &artifact() const { return *Artifact; }
  Device &device() { return *Machine; }
  Executable &executable() { return *Exec; }
  const std::string &target() const { return Target; }
  /// What the user should know about the choice of device; often empty.
  const std::string &note() const { return Note; }

private:
  Model() = default;

  std::shared_ptr<const Reader> Artifact;
  std::unique_ptr<Device> Machine; ///< outlives Exec
  std::unique_ptr<Executable> Exec;
  std::string Target, Note;
};

} // namespace llmc

#endif // LLMC_RUNTIME_MODEL_MODEL_H
