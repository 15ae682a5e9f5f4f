// See PassErrors.h.
#include "compiler/pipeline/PassErrors.h"

#include "passes/util/NodeNames.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace llmc {
namespace {
/// Nodes that a message names at most.
constexpr size_t MaxNodes = 4;

/// The diagnostic's text in one line, with the ONNX nodes that it is about.
/// What is about the whole module has the module's place and names no node.
std::string lineOf(Diagnostic &D, Location Whole) {
  std::string Text = D.str();
  std::replace(Text.begin(), Text.end(), '\n', ' ');
  llvm::SmallSetVector<llvm::StringRef, 8> Names;
  if (D.getLocation() != Whole)
    collectNodeNames(D.getLocation(), Names);
  size_t Count = 0;
  std::string List;
  for (llvm::StringRef Name : Names) {
    if (Text.find(Name.str()) != std::string::npos)
      return Text; // says it itself
    if (Count++ < MaxNodes)
      List += (List.empty() ? "'" : ", '") + Name.str() + "'";
  }
  if (List.empty())
    return Text;
  if (Count > MaxNodes)
    List += " and " + std::to_string(Count - MaxNodes) + " more";
  return Text + " (at " + List + ")";
}
} // namespace

Status runPasses(PassManager &PM, ModuleOp Module, StatusCode Failure) {
  // Else a note holds the op, and that may be the whole module.
  Module.getContext()->printOpOnDiagnostic(false);
  std::vector<std::string> Lines;
  ScopedDiagnosticHandler Handler(Module.getContext(), [&](Diagnostic &D) {
    if (D.getSeverity() != DiagnosticSeverity::Error)
      return failure(); // not ours
    Lines.push_back(lineOf(D, Module.getLoc()));
    for (Diagnostic &Note : D.getNotes())
      Lines.push_back(lineOf(Note, Module.getLoc()));
    return success();
  });
  if (succeeded(PM.run(Module)))
    return Status::success();
  if (Lines.empty())
    return internalError("a pass failed without saying why");
  Status S(Failure, Lines.front());
  for (size_t I = 1; I != Lines.size(); ++I)
    S.addNote(Lines[I]);
  return S;
}

} // namespace llmc
