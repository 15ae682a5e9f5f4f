// Reading, importing and raising; printing what a phase gives.
#include "compiler/driver/Phases.h"

#include "compiler/driver/Embedding.h"

#include "compiler/driver/Dump.h"
#include "compiler/driver/ModelFolder.h"
#include "compiler/frontend/onnx/Import.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cuda/EmitCuda.h"
#include "dialects/exe/ExeDialect.h"
#include "dialects/llm/LlmDialect.h"
#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>

namespace llmc {
namespace {

/// Warnings go to standard error, remarks too when asked for.
void installDiagnostics(mlir::MLIRContext &Context, bool PrintRemarks,
                        bool Quiet) {
  Context.getDiagEngine().registerHandler(
      [PrintRemarks, Quiet](mlir::Diagnostic &D) -> mlir::LogicalResult {
        if (D.getSeverity() == mlir::DiagnosticSeverity::Warning && Quiet)
          return mlir::success();
        if (D.getSeverity() == mlir::DiagnosticSeverity::Warning)
          llvm::errs() << "llmc: warning: " << D.str() << "\n";
        else if (D.getSeverity() == mlir::DiagnosticSeverity::Error)
          llvm::errs() << "llmc: note: " << D.str() << "\n";
        else if (PrintRemarks)
          llvm::errs() << "llmc: remark: " << D.str() << "\n";
        return mlir::success();
      });
  if (!PrintRemarks)
    return;
  mlir::remark::RemarkCategories Which;
  Which.passed = "fusion|raise";
  Which.missed = "fusion";
  // Without a streamer remarks come as diagnostics, to the handler above.
  (void)mlir::remark::enableOptimizationRemarks(
      Context, nullptr,
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), Which,
      /*printAsEmitRemarks=*/true);
}

std::string textOf(mlir::ModuleOp Module) {
  std::string Text;
  llvm::raw_string_ostream Out(Text);
  mlir::OpPrintingFlags Flags;
  Flags.elideLargeElementsAttrs(64);
  Flags.enableDebugInfo(false);
  Module.print(Out, Flags);
  Out << "\n";
  return Text;
}

/// --dump-phases: FOLDER/<nn>-<phase>-<target>.mlir.
Status dumpPhase(const std::string &Folder, const std::string &Target, Phase P,
                 mlir::ModuleOp Module) {
  std::string Name = std::to_string(static_cast<unsigned>(P)) + "-" +
                     std::string(nameOf(P)) +
                     (Target.empty() ? "" : "-" + Target) + ".mlir";
  return writeDump("--dump-phases", Folder, Name, textOf(Module));
}

Result<std::string> emitOne(const CompileOptions &O, mlir::ModuleOp Module,
                            const TargetDesc &T) {
  if (O.Emit.empty() || O.Emit == "onnx" || O.Emit == "llm" || O.Emit == "exe")
    return textOf(Module);
  exe::ProgramOp Program = *Module.getOps<exe::ProgramOp>().begin();
  bool WantsCuda = O.Emit == "cuda" || O.Emit == "ptx";
  if (WantsCuda != (T.Kind == TargetKind::Cuda))
    return usageError("--emit " + O.Emit + " is not for target " + T.Name);
  if (!WantsCuda)
    return cpu::emitCpuText(Program, O.Emit == "asm" ? cpu::CpuText::Asm
                                                     : cpu::CpuText::Llvm);
  cuda::CudaTargetOptions Options;
  Options.NvrtcPath = O.Nvrtc;
  Options.TextOnly = O.Emit == "cuda";
  LLMC_ASSIGN_OR_RETURN(cuda::CudaProgram P, cuda::emitCuda(Program, Options));
  return O.Emit == "cuda" ? P.Text : P.Ptx;
}

/// Whether the wanted form is that of the raised (or imported) module.
bool stopsBeforeTargets(const CompileOptions &O) {
  return O.StopAfter == "import" || O.StopAfter == "raise" ||
         O.Emit == "onnx" || (O.Emit == "llm" && O.StopAfter.empty());
}

} // namespace

std::unique_ptr<ImportedModel> makeEmptyModel(bool PrintRemarks, bool Quiet) {
  std::unique_ptr<ImportedModel> M = std::make_unique<ImportedModel>();
  M->Context.disableMultithreading();
  M->Context.loadDialect<mlir::func::FuncDialect, onnx::OnnxDialect,
                         llm::LlmDialect, exe::ExeDialect>();
  installDiagnostics(M->Context, PrintRemarks, Quiet);
  return M;
}

eval::WeightReader weightReader(const WeightStore &Store) {
  return [&Store](onnx::WeightDataOp W, std::vector<uint8_t> &Bytes) {
    Bytes.resize(static_cast<size_t>(W.getLength()));
    return Store.read(static_cast<uint32_t>(W.getFile()),
                      static_cast<uint64_t>(W.getOffset()), Bytes,
                      W.getSymName().str());
  };
}

int64_t defaultContext(int64_t MaxPositions) {
  return std::min<int64_t>(std::max<int64_t>(MaxPositions, 0), 8192);
}

Result<PipelineOptions> pipelineOptions(const CompileOptions &O) {
  PipelineOptions P;
  P.Precision = O.Precision;
  P.Activations = O.Activations;
  P.KvCache = O.KvCache.empty() ? "auto" : O.KvCache;
  P.MaxContext = O.MaxContext;
  P.MaxBatch = O.MaxBatch;
  P.MemoryBudget = O.MemoryBudget;
  P.Verify = O.Verify;
  if (!O.StopAfter.empty()) {
    LLMC_ASSIGN_OR_RETURN(P.StopAfter, phaseOf(O.StopAfter));
  }
  if (!O.DumpPhases.empty())
    P.AfterPhase = [Folder = O.DumpPhases](Phase Ph, mlir::ModuleOp Module) {
      return dumpPhase(Folder, "", Ph, Module);
    };
  return P;
}

Result<std::unique_ptr<ImportedModel>> loadModel(const CompileOptions &O) {
  std::unique_ptr<ImportedModel> M = makeEmptyModel(O.Remarks, O.Quiet);
  ImportLog Log;
  ImportOptions Import;
  Import.AllowSymlinks = O.AllowSymlinks;
  Import.Log = &Log;
  LLMC_ASSIGN_OR_RETURN(M->Module,
                        importOnnx(M->Context, O.Model, Import, M->Store));
  for (const std::string &W : Log.Warnings)
    if (!O.Quiet)
      std::fprintf(stderr, "llmc: warning: %s\n", W.c_str());
  if (!O.Embedding.empty())
    LLMC_RETURN_IF_ERROR(bindEmbedding(*M->Module, M->Store, O.Embedding));
  if (O.Emit == "onnx" && O.StopAfter.empty())
    return M;
  LLMC_ASSIGN_OR_RETURN(PipelineOptions P, pipelineOptions(O));
  LLMC_RETURN_IF_ERROR(raiseGraph(*M->Module, P, weightReader(M->Store)));
  M->MaxPositions = readMaxPositions(M->Store.folder());
  if (!O.Quiet && M->MaxPositions > 0 && O.MaxContext > M->MaxPositions)
    std::fprintf(stderr,
                 "llmc: warning: --max-context %lld is more than the %lld "
                 "positions that config.json declares\n",
                 static_cast<long long>(O.MaxContext),
                 static_cast<long long>(M->MaxPositions));
  return M;
}

Result<mlir::OwningOpRef<mlir::ModuleOp>> lowerModel(const CompileOptions &O,
                                                     ImportedModel &M,
                                                     const TargetDesc &Target) {
  LLMC_ASSIGN_OR_RETURN(PipelineOptions P, pipelineOptions(O));
  if (P.MaxContext == 0 && M.MaxPositions > 0)
    P.MaxContext = defaultContext(M.MaxPositions);
  if (!O.DumpPhases.empty())
    P.AfterPhase = [&](Phase Ph, mlir::ModuleOp Module) {
      return dumpPhase(O.DumpPhases, Target.Name, Ph, Module);
    };
  return lowerForTarget(*M.Module, Target, P);
}

Status emitText(const CompileOptions &O, ImportedModel &M,
                const std::vector<TargetDesc> &Targets) {
  if (stopsBeforeTargets(O)) {
    std::fputs(textOf(*M.Module).c_str(), stdout);
    return {};
  }
  for (const TargetDesc &T : Targets) {
    LLMC_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> Module,
                          lowerModel(O, M, T));
    LLMC_ASSIGN_OR_RETURN(std::string Text, emitOne(O, *Module, T));
    std::fputs(Text.c_str(), stdout);
  }
  return {};
}

} // namespace llmc
