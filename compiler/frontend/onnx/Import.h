// Reads an ONNX file into the onnx dialect. Every node arrives in the newest
// signature of its op, in topological order, without dead nodes; weights stay
// in their files and are only described. The file is not trusted: sizes are
// checked before anything is allocated.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_IMPORT_H
#define LLMC_COMPILER_FRONTEND_ONNX_IMPORT_H

#include "compiler/weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/base/Status.h"

namespace llmc {

/// One kind of thing that the importer cannot take, with all its nodes.
struct ImportIssue {
  std::string Op;     ///< "Gemm", or with its domain "com.microsoft.MoE"
  std::string Domain; ///< "ai.onnx" for the default one
  std::string Reason;
  std::string Advice; ///< what the user can do; may be empty
  unsigned Count = 0;
  std::vector<std::string> Nodes; ///< names of the first few
};

/// What an import says besides its result.
struct ImportLog {
  std::vector<ImportIssue> Issues; ///< why the status is Unsupported
  std::vector<std::string> Warnings;
  unsigned Nodes = 0;     ///< of the file, functions inlined
  unsigned DeadNodes = 0; ///< dropped: nothing needs them
};

struct ImportOptions {
  bool AllowSymlinks = false;
  ImportLog *Log = nullptr;
};

/// Imports the model. `Store` becomes the set of its files, for later reading.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(mlir::MLIRContext &Context, const std::string &Path,
           const ImportOptions &Options, WeightStore &Store);

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_IMPORT_H
