// Feature tests by cpuid, with the operating system's support of registers.
#include "runtime/device/cpu/CpuFeatures.h"

namespace llmc {

bool hasCpuFeature(std::string_view Name) {
#if defined(__x86_64__)
#define LLMC_FEATURE(Feature)                                                  \
  if (Name == Feature)                                                         \
    return __builtin_cpu_supports(Feature) != 0;
  LLMC_FEATURE("avx")
  LLMC_FEATURE("avx2")
  LLMC_FEATURE("avx512bf16")
  LLMC_FEATURE("avx512bw")
  LLMC_FEATURE("avx512cd")
  LLMC_FEATURE("avx512dq")
  LLMC_FEATURE("avx512f")
  LLMC_FEATURE("avx512vl")
  LLMC_FEATURE("avx512vnni")
  LLMC_FEATURE("bmi")
  LLMC_FEATURE("bmi2")
  LLMC_FEATURE("f16c")
  LLMC_FEATURE("fma")
  LLMC_FEATURE("lzcnt")
  LLMC_FEATURE("movbe")
#undef LLMC_FEATURE
#endif
  return false;
}

} // namespace llmc
