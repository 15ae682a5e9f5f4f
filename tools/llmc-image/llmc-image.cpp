// llmc-image: the CPU back end by itself, for tests and for looking at its
// code: an .mlir file with one exe.program becomes an image, LLVM IR or
// assembly.
#include "compiler/target/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llmc;

static llvm::cl::opt<std::string> Input(llvm::cl::Positional,
                                        llvm::cl::desc("<file.mlir>"),
                                        llvm::cl::init("-"));
static llvm::cl::opt<std::string> Output("o", llvm::cl::desc("output file"),
                                         llvm::cl::init("-"));
static llvm::cl::opt<std::string>
    Emit("emit", llvm::cl::desc("image, llvm or asm"), llvm::cl::init("image"));
static llvm::cl::opt<std::string> Isa("isa",
                                      llvm::cl::desc("avx512vnni or avx2"));

/// The bytes of the asked form.
static Result<std::string> emit(exe::ProgramOp Program) {
  cpu::CpuTargetOptions Options{Isa};
  if (Emit == "llvm")
    return cpu::emitCpuText(Program, cpu::CpuText::Llvm, Options);
  if (Emit == "asm")
    return cpu::emitCpuText(Program, cpu::CpuText::Asm, Options);
  if (Emit != "image")
    return usageError("--emit: expected image, llvm or asm, found '" + Emit +
                      "'");
  LLMC_ASSIGN_OR_RETURN(std::vector<uint8_t> Image,
                        cpu::emitCpuImage(Program, Options));
  return std::string(Image.begin(), Image.end());
}

int main(int Argc, char **Argv) {
  llvm::cl::ParseCommandLineOptions(Argc, Argv, "llmc CPU back end\n");
  mlir::MLIRContext Context;
  Context.loadDialect<exe::ExeDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> Module =
      mlir::parseSourceFile<mlir::ModuleOp>(Input, &Context);
  if (!Module)
    return 4;
  // lld resets all options when it runs.
  std::string OutputName = Output;
  auto Programs = Module->getOps<exe::ProgramOp>();
  if (Programs.empty()) {
    llvm::errs() << "error: " << Input << " holds no exe.program\n";
    return 4;
  }
  Result<std::string> Bytes = emit(*Programs.begin());
  if (!Bytes) {
    llvm::errs() << "error: " << Bytes.status().message() << "\n";
    return static_cast<int>(Bytes.status().code());
  }
  std::error_code EC;
  llvm::raw_fd_ostream OS(OutputName, EC);
  if (EC) {
    llvm::errs() << "error: " << OutputName << ": " << EC.message() << "\n";
    return 1;
  }
  OS << *Bytes;
  return 0;
}
