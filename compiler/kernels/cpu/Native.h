// The CPU kernels as ordinary functions, for unit tests and benchmarks. A
// program must ask hasAvx512Vnni() or hasAvx2() before it calls one.
#ifndef LLMC_COMPILER_KERNELS_CPU_NATIVE_H
#define LLMC_COMPILER_KERNELS_CPU_NATIVE_H

#include "compiler/kernels/ref/Ref.h"

extern "C" {
LLMC_DECLARE_KERNELS(avx512vnni)
LLMC_DECLARE_KERNELS(avx2)
}

namespace llmc::kernels {
/// Whether this machine runs the kernels of that instruction set.
bool hasAvx512Vnni();
bool hasAvx2();
} // namespace llmc::kernels

#endif // LLMC_COMPILER_KERNELS_CPU_NATIVE_H
