// Instruction sets of the CPU targets by name and by feature.
#include "compiler/target/cpu/CpuTarget.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace llmc::cpu {

Result<std::string> isaOfTarget(std::string_view Target) {
  if (Target == "x86-64-v3")
    return std::string("avx2");
  if (Target == "x86-64-avx512vnni")
    return std::string("avx512vnni");
  return usageError("unknown CPU target '" + std::string(Target) +
                    "', expected x86-64-v3 or x86-64-avx512vnni");
}

std::vector<std::string> featuresOfIsa(std::string_view Isa) {
  std::vector<std::string> Features = {"avx",  "avx2", "bmi",   "bmi2",
                                       "f16c", "fma",  "lzcnt", "movbe"};
  if (Isa == "avx512vnni")
    Features = {"avx",     "avx2",     "avx512bw",   "avx512cd", "avx512dq",
                "avx512f", "avx512vl", "avx512vnni", "bmi",      "bmi2",
                "f16c",    "fma",      "lzcnt",      "movbe"};
  return Features;
}

Result<std::string> nativeTarget() {
  llvm::StringMap<bool> Host = llvm::sys::getHostCPUFeatures();
  std::string Missing;
  for (const char *Target : {"x86-64-avx512vnni", "x86-64-v3"}) {
    Missing.clear();
    for (const std::string &F : featuresOfIsa(*isaOfTarget(Target)))
      if (!Host.lookup(F))
        Missing += " " + F;
    if (Missing.empty())
      return std::string(Target);
  }
  return unsupportedError("this machine runs no CPU target of llmc: x86-64-v3 "
                          "needs" +
                          Missing);
}

} // namespace llmc::cpu
