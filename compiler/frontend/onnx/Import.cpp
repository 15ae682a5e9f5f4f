// The import, step by step: scan, parse, flatten, look for issues, build,
// verify.
#include "compiler/frontend/onnx/Import.h"

#include "compiler/frontend/onnx/Graph.h"
#include "compiler/frontend/onnx/GraphImporter.h"
#include "compiler/frontend/onnx/Issues.h"
#include "compiler/frontend/onnx/Signatures.h"
#include "compiler/frontend/onnx/WireScan.h"
#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "dialects/onnx/Onnx.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "runtime/base/Quote.h"
#include "llvm/ADT/StringSet.h"

using namespace llmc;
using namespace mlir;

namespace {
/// Files that people take for models.
Status explainOtherFiles(const WeightStore &Store) {
  std::vector<uint8_t> Head(std::min<uint64_t>(Store.size(0), 64));
  LLMC_RETURN_IF_ERROR(Store.read(0, 0, Head, ""));
  llvm::StringRef Text(reinterpret_cast<const char *>(Head.data()),
                       Head.size());
  std::string Name = quoted(Store.name(0));
  if (Text.starts_with("version https://git-lfs"))
    return malformedError(Name + " is a Git LFS pointer, not an ONNX model; "
                                 "fetch the file itself");
  if (Text.starts_with("GGUF"))
    return malformedError(Name + " is a GGUF file, not an ONNX model");
  if (Text.starts_with("PK\3\4"))
    return malformedError(Name + " is a zip archive, not an ONNX model");
  return Status::success();
}

Status checkHeader(const ::onnx::ModelProto &Model, const std::string &File,
                   ImportLog &Log) {
  if (!Model.has_graph())
    return malformedError(quoted(File) + " is not an ONNX model: no graph");
  if (Model.ir_version() < OldestIr)
    return unsupportedError(quoted(File) + " has IR version " +
                            std::to_string(Model.ir_version()) +
                            ", expected at least " + std::to_string(OldestIr));
  if (Model.ir_version() > NewestIr)
    Log.Warnings.push_back(quoted(File) + " has IR version " +
                           std::to_string(Model.ir_version()) +
                           ", newer than " + std::to_string(NewestIr));
  return Status::success();
}

/// Parses the slim message. Its nesting is bounded by the scan.
Status parseSlim(const std::string &Slim, const std::string &File,
                 ::onnx::ModelProto &Model) {
  if (Model.ParseFromArray(Slim.data(), static_cast<int>(Slim.size())))
    return Status::success();
  return malformedError(quoted(File) +
                        " is malformed: protobuf cannot parse its structure");
}

/// How often live nodes and graph outputs read each value.
llvm::StringMap<unsigned> countUses(const ::onnx::GraphProto &Graph,
                                    const FlatGraph &Flat) {
  llvm::StringMap<unsigned> Uses;
  for (const GraphNode &Node : Flat.Nodes)
    if (Node.Live)
      for (const std::string &Name : Node.Proto->input())
        ++Uses[Name];
  for (const ::onnx::ValueInfoProto &Output : Graph.output())
    ++Uses[Output.name()];
  Uses.erase("");
  return Uses;
}

/// Damaged tensors are reported even where the graph is not supported anyway.
Status checkTensors(const FlatGraph &Flat,
                    const llvm::StringMap<unsigned> &Uses,
                    TensorReader &Tensors) {
  const auto Check = [&](const ::onnx::TensorProto &T,
                         const std::string &Name) -> Status {
    Result<TensorRef> Ref = Tensors.resolve(T, Name);
    if (!Ref.ok() && Ref.status().code() != StatusCode::Unsupported)
      return Ref.takeStatus();
    return Status::success();
  };
  for (const FlatGraph::Initializer &I : Flat.Initializers)
    if (Uses.contains(I.first))
      LLMC_RETURN_IF_ERROR(Check(*I.second, I.first));
  for (const GraphNode &Node : Flat.Nodes)
    if (Node.Live && Node.Proto->op_type() == "Constant")
      for (const ::onnx::AttributeProto &A : Node.Proto->attribute())
        if (A.has_t())
          LLMC_RETURN_IF_ERROR(Check(A.t(), Node.Label));
  return Status::success();
}

/// Whether an input (no initializer) has integers, as the token ids of a
/// decoder are.
bool takesIntegers(const FlatGraph &Flat) {
  llvm::StringSet<> Initializers;
  for (const FlatGraph::Initializer &I : Flat.Initializers)
    Initializers.insert(I.first);
  for (const ::onnx::ValueInfoProto &Input : Flat.graph().input()) {
    int Type = Input.type().tensor_type().elem_type();
    if ((Type == ::onnx::TensorProto::INT64 ||
         Type == ::onnx::TensorProto::INT32) &&
        !Initializers.contains(Input.name()))
      return true;
  }
  return false;
}

Status verifyModule(ModuleOp Module) {
  std::string First;
  ScopedDiagnosticHandler Handler(Module.getContext(), [&](Diagnostic &D) {
    if (First.empty()) {
      if (NameLoc Loc = dyn_cast<NameLoc>(D.getLocation()))
        First = "node " + quoted(Loc.getName().getValue()) + ": ";
      First += D.str();
    }
    return success();
  });
  if (succeeded(verify(Module)))
    return Status::success();
  return malformedError(First);
}

/// Everything that lives as long as one import.
class Importer {
public:
  Importer(MLIRContext &Context, WeightStore &Store, ImportLog &Log)
      : Context(Context), Store(Store), Log(Log) {}

  Result<OwningOpRef<ModuleOp>> run() {
    const std::string &File = Store.name(0);
    LLMC_RETURN_IF_ERROR(explainOtherFiles(Store));
    LLMC_ASSIGN_OR_RETURN(ScannedModel Scanned, scanModel(Store));
    LLMC_RETURN_IF_ERROR(parseSlim(Scanned.Slim, File, Model));
    std::string().swap(Scanned.Slim);
    LLMC_RETURN_IF_ERROR(checkHeader(Model, File, Log));
    FlatGraph Flat;
    LLMC_RETURN_IF_ERROR(Flat.build(Model, File));
    Log.Nodes = static_cast<unsigned>(Flat.Nodes.size());
    Log.DeadNodes = Flat.DeadNodes;
    if (Log.Nodes == 0)
      return malformedError(quoted(File) + " has a graph without nodes");
    llvm::append_range(Log.Warnings, Flat.Warnings);
    llvm::StringMap<unsigned> Uses = countUses(Flat.graph(), Flat);
    TensorReader Tensors(Context, Store, Scanned.Tensors);
    LLMC_RETURN_IF_ERROR(checkTensors(Flat, Uses, Tensors));
    IssueCollector Issues;
    collectIssues(Flat, Uses, Issues);
    Log.Issues = Issues.issues();
    if (Status Unsupported = Issues.status(); !Unsupported.ok()) {
      // Else the list of ops reads as if they were all that is missing.
      if (!takesIntegers(Flat))
        Unsupported.addNote("the graph is no decoder: it has no token input "
                            "(integers such as input_ids)");
      return Unsupported;
    }
    return build(Flat, Tensors);
  }

private:
  Result<OwningOpRef<ModuleOp>> build(const FlatGraph &Flat,
                                      TensorReader &Tensors) {
    Context.loadDialect<llmc::onnx::OnnxDialect, func::FuncDialect>();
    OwningOpRef<ModuleOp> Module(ModuleOp::create(
        NameLoc::get(StringAttr::get(&Context, printable(Store.name(0))))));
    GraphImporter Graph(*Module, Tensors);
    LLMC_RETURN_IF_ERROR(Graph.run(Flat));
    Builder B(&Context);
    SmallVector<Attribute> Files;
    for (uint32_t I = 0; I < Store.numFiles(); ++I)
      Files.push_back(B.getStringAttr(printable(Store.name(I))));
    (*Module)->setAttr(llmc::onnx::FilesAttr, B.getArrayAttr(Files));
    (*Module)->setAttr(llmc::onnx::OpsetAttr, B.getI64IntegerAttr(Flat.Opset));
    LLMC_RETURN_IF_ERROR(verifyModule(*Module));
    return Module;
  }

  MLIRContext &Context;
  WeightStore &Store;
  ImportLog &Log;
  ::onnx::ModelProto Model;
};
} // namespace

Result<OwningOpRef<ModuleOp>> llmc::importOnnx(MLIRContext &Context,
                                               const std::string &Path,
                                               const ImportOptions &Options,
                                               WeightStore &Store) {
  ImportLog Unused;
  LLMC_ASSIGN_OR_RETURN(Store,
                        WeightStore::open(Path, {Options.AllowSymlinks}));
  return Importer(Context, Store, Options.Log ? *Options.Log : Unused).run();
}
