// An exe program as the plain data that leaves the compiler: the weight program
// for the packer, the FlatBuffer of the runtime (CPU; the launches of CUDA come
// from compiler/target/cuda), and the plan of the manifest.
#ifndef LLMC_COMPILER_DRIVER_PROGRAMEXPORT_H
#define LLMC_COMPILER_DRIVER_PROGRAMEXPORT_H

#include "compiler/weights/WeightProgram.h"
#include "dialects/exe/ExeDialect.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace llmc {

/// The packed segment, tensors ascending by offset. The program must be
/// planned.
Result<WeightProgram> exportWeights(exe::ProgramOp Program);

/// llmc.fb.Program of a CPU target. Features: what the machine must have, by
/// LLVM names.
Result<std::vector<uint8_t>>
exportCpuProgram(exe::ProgramOp Program, std::span<const std::string> Features);

/// The memory plan for the manifest.
ManifestPlan exportPlan(exe::ProgramOp Program);

/// Sizes that the program's phases know.
struct ProgramFacts {
  uint32_t Vocab = 0;
  uint32_t Outputs = 0; ///< floats of a row of results where not vocab
  bool Records = false; ///< some state is a record
  uint32_t Hidden = 0;
  uint32_t Layers = 0;
};
ProgramFacts factsOf(exe::ProgramOp Program);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_PROGRAMEXPORT_H
