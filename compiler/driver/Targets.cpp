// The aliases of targets. A chip's alias is the name that its users type; it
// stands for the architecture that the chip has.
#include "compiler/driver/Targets.h"

#include "compiler/target/cpu/CpuTarget.h"

#include <algorithm>
#include <array>
#include <utility>

namespace llmc {
namespace {

constexpr std::string_view Known =
    "native, x86-64-v3, x86-64-avx512vnni, sm_80, sm_86, sm_89, sm_90, "
    "sm_100, sm_120";

constexpr std::array<std::pair<std::string_view, std::string_view>, 24>
    Aliases = {{{"ampere", "sm_80"},
                {"a100", "sm_80"},
                {"a30", "sm_80"},
                {"a10", "sm_86"},
                {"a40", "sm_86"},
                {"a6000", "sm_86"},
                {"rtx3090", "sm_86"},
                {"ada", "sm_89"},
                {"l4", "sm_89"},
                {"l40", "sm_89"},
                {"l40s", "sm_89"},
                {"rtx4090", "sm_89"},
                {"hopper", "sm_90"},
                {"h100", "sm_90"},
                {"h200", "sm_90"},
                {"gh200", "sm_90"},
                {"blackwell", "sm_100"},
                {"b100", "sm_100"},
                {"b200", "sm_100"},
                {"gb200", "sm_100"},
                {"rtx5090", "sm_120"},
                {"rtx5080", "sm_120"},
                {"avx512", "x86-64-avx512vnni"},
                {"avx2", "x86-64-v3"}}};

Result<TargetDesc> parseOne(std::string_view Given) {
  std::string Name(Given);
  if (Name == "native") {
    LLMC_ASSIGN_OR_RETURN(Name, cpu::nativeTarget());
  }
  for (const auto &[Alias, Canonical] : Aliases)
    if (Name == Alias)
      Name = Canonical;
  if (std::optional<TargetDesc> T = describeTarget(Name))
    return *T;
  if (Name == "aarch64")
    return unsupportedError("target 'aarch64' is not implemented yet");
  return usageError("unknown target '" + Name + "'; known are " +
                    std::string(Known));
}

} // namespace

Result<std::vector<TargetDesc>> parseTargets(std::string_view List) {
  std::vector<TargetDesc> Out;
  while (true) {
    size_t Comma = List.find(',');
    LLMC_ASSIGN_OR_RETURN(TargetDesc T, parseOne(List.substr(0, Comma)));
    bool Seen = std::any_of(Out.begin(), Out.end(), [&](const TargetDesc &O) {
      return O.Name == T.Name;
    });
    if (!Seen)
      Out.push_back(std::move(T));
    if (Comma == std::string_view::npos)
      return Out;
    List.remove_prefix(Comma + 1);
  }
}

} // namespace llmc
