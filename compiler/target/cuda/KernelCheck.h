// What the CUDA kernels take: limits of the templates, checked before text is
// written, so that a model outside them is an error and not wrong code.
#ifndef LLMC_COMPILER_TARGET_CUDA_KERNELCHECK_H
#define LLMC_COMPILER_TARGET_CUDA_KERNELCHECK_H

#include "runtime/base/Status.h"

namespace llmc::cuda {

struct KernelRequest;

/// Fails when R lacks a constant, has a wrong number of buffers (Internal), or
/// needs what no template does (Unsupported).
Status checkRequest(const KernelRequest &R);

} // namespace llmc::cuda

#endif // LLMC_COMPILER_TARGET_CUDA_KERNELCHECK_H
