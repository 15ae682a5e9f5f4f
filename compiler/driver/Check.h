// The data behind `llmc check`: what a model is made of, whether it would
// compile and if not, every reason. Reads no weights.
#ifndef LLMC_COMPILER_DRIVER_CHECK_H
#define LLMC_COMPILER_DRIVER_CHECK_H

#include "compiler/driver/Architecture.h"
#include "compiler/frontend/onnx/Import.h"

#include <functional>
#include <map>

namespace llmc {

/// A graph input or output as the file declares it.
struct CheckedValue {
  std::string Name;
  std::string Type; ///< as MLIR prints it
};

struct CheckedFile {
  std::string Name;
  uint64_t Bytes = 0;
};

struct CheckReport {
  std::string Model;
  Status Outcome; ///< what `llmc compile` would say
  int64_t Opset = 0;
  unsigned Nodes = 0;     ///< of the graph, local functions inlined
  unsigned DeadNodes = 0; ///< that no output needs
  uint64_t WeightTensors = 0;
  uint64_t WeightBytes = 0;
  std::vector<CheckedFile> Files;
  std::vector<CheckedValue> Inputs, Outputs;
  std::map<std::string, unsigned> Ops; ///< live nodes by op, as imported
  std::vector<ImportIssue> Issues;
  std::vector<std::string> Warnings;
  Architecture Parts; ///< as far as raising came
};

struct CheckOptions {
  bool AllowSymlinks = false;
  /// What follows the import (shape inference, raising), on the imported
  /// module; may add to the report. Without it the import alone is checked.
  std::function<Status(mlir::ModuleOp, const WeightStore &, CheckReport &)>
      Continue;
};

/// Never fails as a call: the outcome is in the report.
CheckReport inspectModel(mlir::MLIRContext &Context, const std::string &Path,
                         const CheckOptions &Options);

/// A few lines for a terminal. The errors of Outcome are not in it: programs
/// print a failed status themselves.
std::string checkText(const CheckReport &Report);

/// One JSON object, everything in it.
std::string checkJson(const CheckReport &Report);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_CHECK_H
