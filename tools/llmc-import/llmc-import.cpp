// llmc-import: prints a model as the importer gives it, for tests and for
// looking at models. Exit codes and errors as in llmc.
//
//   llmc-import MODEL.onnx [--allow-symlinks] [--locations] [--stats]
#include "compiler/frontend/onnx/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/raw_ostream.h"

using namespace llmc;

static int fail(const Status &S) {
  llvm::errs() << "llmc: error: " << S.message() << "\n";
  for (const std::string &Note : S.notes())
    llvm::errs() << "llmc: note: " << Note << "\n";
  return static_cast<int>(S.code());
}

int main(int Argc, char **Argv) {
  ImportLog Log;
  ImportOptions Options;
  Options.Log = &Log;
  std::string Path;
  bool Locations = false, Stats = false;
  for (int I = 1; I < Argc; ++I) {
    std::string Arg = Argv[I];
    if (Arg == "--allow-symlinks")
      Options.AllowSymlinks = true;
    else if (Arg == "--locations")
      Locations = true;
    else if (Arg == "--stats")
      Stats = true;
    else if (Path.empty() && (Arg.empty() || Arg[0] != '-'))
      Path = Arg;
    else
      return fail(usageError("unknown argument '" + Arg + "'"));
  }
  if (Path.empty())
    return fail(usageError("usage: llmc-import MODEL.onnx [--allow-symlinks] "
                           "[--locations] [--stats]"));
  mlir::MLIRContext Context(mlir::MLIRContext::Threading::DISABLED);
  WeightStore Store;
  Result<mlir::OwningOpRef<mlir::ModuleOp>> Module =
      importOnnx(Context, Path, Options, Store);
  for (const std::string &Warning : Log.Warnings)
    llvm::errs() << "llmc: warning: " << Warning << "\n";
  if (!Module.ok())
    return fail(Module.status());
  if (Stats) {
    llvm::outs() << "nodes " << Log.Nodes << ", dead " << Log.DeadNodes
                 << ", files " << Store.numFiles() << "\n";
    return 0;
  }
  mlir::OpPrintingFlags Flags;
  Flags.enableDebugInfo(Locations, /*prettyForm=*/true);
  (*Module)->print(llvm::outs(), Flags);
  llvm::outs() << "\n";
  return 0;
}
