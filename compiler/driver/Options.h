// Options of `llmc compile`, `check` and `plan`, after parsing.
#ifndef LLMC_COMPILER_DRIVER_OPTIONS_H
#define LLMC_COMPILER_DRIVER_OPTIONS_H

#include <cstdint>
#include <string>

namespace llmc {

struct CompileOptions {
  std::string Model;              ///< path of the .onnx file
  std::string Output;             ///< path of the artifact
  std::string Targets = "native"; ///< comma-separated list
  std::string Precision;          ///< "f32", "f16", …; empty: as the file
  std::string Activations = "auto";
  std::string KvCache;         ///< "f16", "f32"; empty: by precision
  std::string TokenizerFolder; ///< empty: the model's folder
  std::string SchemaFile;      ///< JSON Schema of the output; empty: none
  bool JsonWhitespace = false; ///< of that output
  std::string Embedding;       ///< .npy table of a graph that takes rows
  int64_t MaxContext = 0;      ///< 0: min(model, 8192)
  int64_t MaxBatch = 1;
  int64_t MemoryBudget = 0; ///< bytes; 0: none
  bool AllowSymlinks = false;
  bool Verify = false;     ///< run verify-raised
  bool DryRun = false;     ///< plan only, write nothing
  unsigned Jobs = 0;       ///< packer threads; 0: all cores
  std::string Nvrtc;       ///< path of the NVRTC library
  std::string StopAfter;   ///< phase name; the module is printed
  std::string Emit;        ///< "onnx", "llm", "exe", "cuda", "ptx", …
  std::string DumpPhases;  ///< folder for the module after each phase
  std::string DumpKernels; ///< folder for generated kernel texts
  std::string Report;      ///< JSON report file
  bool Remarks = false;    ///< print fusion remarks (-v)
  bool Quiet = false;
};

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_OPTIONS_H
