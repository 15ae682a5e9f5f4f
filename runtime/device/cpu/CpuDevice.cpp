// The CPU device: says whether a program can run here, and loads it.
#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/artifact/Program_generated.h"
#include "runtime/device/StepAbi.h"
#include "runtime/device/cpu/CpuExecutable.h"
#include "runtime/device/cpu/CpuFeatures.h"

namespace llmc {
namespace {
class CpuDevice : public Device {
public:
  std::string_view name() const override { return "cpu"; }
  std::string whyNot(const ProgramView &P) const override;
  Result<std::unique_ptr<Executable>>
  load(const ProgramView &P, const DeviceLoadOptions &O) override {
    if (std::string Reason = whyNot(P); !Reason.empty())
      return doesNotFitError(Reason);
    return CpuExecutable::load(P, O);
  }
};

std::string CpuDevice::whyNot(const ProgramView &P) const {
  if (!P.Target.starts_with("x86-64"))
    return "target '" + P.Target + "' is no CPU target of this runtime";
  flatbuffers::Verifier Verifier(P.Program.data(), P.Program.size());
  if (!fb::VerifyProgramBuffer(Verifier))
    return "the program of target '" + P.Target + "' is damaged";
  const fb::Program *Program = fb::GetProgram(P.Program.data());
  if (Program->step_abi() != LLMC_STEP_ABI)
    return "target '" + P.Target + "' needs a runtime of step ABI " +
           std::to_string(Program->step_abi()) + ", this one has " +
           std::to_string(LLMC_STEP_ABI);
  std::string Missing;
  if (Program->cpu_features())
    for (const flatbuffers::String *F : *Program->cpu_features())
      if (!hasCpuFeature(F->string_view()))
        Missing += (Missing.empty() ? "" : ", ") + F->str();
  if (!Missing.empty())
    return "target '" + P.Target +
           "' needs CPU features that this machine "
           "does not have: " +
           Missing;
  return {};
}
} // namespace

Result<std::unique_ptr<Device>> openCpuDevice() {
  return std::unique_ptr<Device>(std::make_unique<CpuDevice>());
}

} // namespace llmc
