// Import, import passes, pairing of caches, evaluation, .npy.
#include "compiler/driver/Reference.h"

#include "compiler/driver/Phases.h"
#include "compiler/frontend/onnx/Import.h"
#include "compiler/pipeline/PassErrors.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Roles.h"
#include "passes/raise/VerifyRaised.h"
#include "runtime/base/File.h"

#include "mlir/Pass/PassManager.h"

namespace llmc {

/// Version 1.0 of the format: magic, header length, a Python dict, the data.
static Status writeNpy(const std::string &Path, int64_t Rows, int64_t Columns,
                       const std::vector<float> &Values) {
  std::string Dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                     std::to_string(Rows) + ", " + std::to_string(Columns) +
                     "), }";
  // Magic, version and length are 10 bytes; all together a multiple of 64.
  Dict.append(63 - (10 + Dict.size()) % 64, ' ');
  Dict += '\n';
  std::string Header("\x93NUMPY\x01\x00", 8);
  Header += static_cast<char>(Dict.size() & 255);
  Header += static_cast<char>(Dict.size() >> 8);
  Header += Dict;
  LLMC_ASSIGN_OR_RETURN(AtomicFile File, AtomicFile::create(Path));
  LLMC_RETURN_IF_ERROR(File.writeAt(0, bytesOf(Header)));
  LLMC_RETURN_IF_ERROR(File.writeAt(
      Header.size(), {reinterpret_cast<const uint8_t *>(Values.data()),
                      Values.size() * sizeof(float)}));
  return File.commit();
}

Status writeReference(const ReferenceOptions &O) {
  std::unique_ptr<ImportedModel> M = makeEmptyModel(false, true);
  ImportOptions Import;
  Import.AllowSymlinks = O.AllowSymlinks;
  LLMC_ASSIGN_OR_RETURN(M->Module,
                        importOnnx(M->Context, O.Model, Import, M->Store));
  mlir::PassManager PM(&M->Context);
  buildImportPasses(PM);
  // With caches paired, so that they are not taken for logits.
  PM.addPass(raise::createRaiseKvCache());
  LLMC_RETURN_IF_ERROR(runPasses(PM, *M->Module, StatusCode::Unsupported));
  mlir::func::FuncOp Main = raise::graphOf(*M->Module);
  if (!Main)
    return unsupportedError("the model has no graph to evaluate");
  LLMC_ASSIGN_OR_RETURN(
      eval::Tensor T,
      raise::graphLogits(Main, weightReader(M->Store), O.Tokens, O.Features));
  int64_t Rows = O.Features > 0 ? T.count() / O.Features : 0;
  if (Rows < 1 || Rows * O.Features != T.count())
    return unsupportedError("the graph gives " + eval::describe(T) +
                            ", expected rows of " + std::to_string(O.Features));
  return writeNpy(O.Output, Rows, O.Features, eval::load<float>(T));
}

} // namespace llmc
