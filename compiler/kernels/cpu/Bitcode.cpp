// Table of the embedded bitcode modules.
#include "compiler/kernels/cpu/Bitcode.h"

#include <cctype>

#define LLMC_BITCODE(Source, Isa)                                              \
  extern "C" const uint8_t llmc_bc_##Source##_##Isa[];                         \
  extern "C" const uint8_t llmc_bc_##Source##_##Isa##_end[];
#include "compiler/kernels/cpu/BitcodeTable.inc"
#undef LLMC_BITCODE

namespace llmc::kernels {
namespace {
/// "rope_table" names the file RopeTable.
bool matches(std::string_view Source, std::string_view Name) {
  size_t At = 0;
  for (char C : Name) {
    if (C == '_')
      continue;
    if (At == Source.size() || std::tolower(Source[At]) != C)
      return false;
    ++At;
  }
  return At == Source.size();
}
} // namespace

std::span<const KernelBitcode> kernelBitcode() {
  static const KernelBitcode Table[] = {
#define LLMC_BITCODE(Source, Isa)                                              \
  {#Source, #Isa, {llmc_bc_##Source##_##Isa, llmc_bc_##Source##_##Isa##_end}},
#include "compiler/kernels/cpu/BitcodeTable.inc"
#undef LLMC_BITCODE
  };
  return Table;
}

std::span<const uint8_t> kernelBitcode(std::string_view Name,
                                       std::string_view Isa) {
  for (const KernelBitcode &B : kernelBitcode())
    if (B.Isa == Isa && matches(B.Source, Name))
      return B.Data;
  return {};
}

} // namespace llmc::kernels
