// llmc-opt: runs passes on .mlir files, one by one or as a pipeline. Knows all
// dialects and passes of llmc and those upstream dialects that they use.
#include "dialects/exe/ExeDialect.h"
#include "dialects/llm/LlmDialect.h"
#include "dialects/onnx/Onnx.h"
#include "passes/fusion/Passes.h"
#include "passes/import/Passes.h"
#include "passes/lowering/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/quant/Passes.h"
#include "passes/raise/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int Argc, char **Argv) {
  mlir::DialectRegistry Registry;
  Registry.insert<mlir::func::FuncDialect>();
  Registry.insert<llmc::onnx::OnnxDialect>();
  Registry.insert<llmc::llm::LlmDialect>();
  Registry.insert<llmc::exe::ExeDialect>();

  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
  llmc::registerImportPasses();
  llmc::registerRaisePasses();
  llmc::registerFusionPasses();
  llmc::registerQuantPasses();
  llmc::registerLoweringPasses();
  llmc::registerMemoryPasses();

  return mlir::asMainReturnCode(mlir::MlirOptMain(
      Argc, Argv, "llmc-opt: passes of llmc on .mlir files\n", Registry));
}
