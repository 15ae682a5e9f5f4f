// Which flags of `llmc compile` go together.
#include "compiler/driver/Flags.h"

#include <string_view>

namespace llmc {
namespace {

/// The phases behind which a form of --emit exists, with spaces around.
std::string_view phasesOfForm(std::string_view Form) {
  if (Form == "onnx")
    return " import ";
  if (Form == "llm")
    return " raise fuse quantize ";
  if (Form == "exe")
    return " lower plan ";
  return " codegen ";
}

} // namespace

Status checkFlags(const CompileOptions &O) {
  bool Prints = !O.Emit.empty() || !O.StopAfter.empty();
  if (Prints && O.DryRun)
    return usageError("--dry-run excludes --emit and --stop-after");
  if (O.Emit.empty() || O.StopAfter.empty())
    return {};
  std::string_view Phases = phasesOfForm(O.Emit);
  if (Phases.find(" " + O.StopAfter + " ") != std::string_view::npos)
    return {};
  return usageError("--emit " + O.Emit + " contradicts --stop-after " +
                    O.StopAfter + "; that form exists after:" +
                    std::string(Phases.substr(0, Phases.size() - 1)));
}

} // namespace llmc
