// `llmc check`: import, count, continue with what the caller gives, and the
// two forms of the report.
#include "compiler/driver/Check.h"

#include "dialects/onnx/Onnx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

using namespace llmc;
using Json = nlohmann::ordered_json;

namespace {
std::string typeText(mlir::Type T) {
  std::string Text;
  llvm::raw_string_ostream(Text) << T;
  return Text;
}

std::string nameOf(mlir::Attribute A, unsigned Index) {
  mlir::StringAttr Name = mlir::dyn_cast_or_null<mlir::StringAttr>(A);
  return Name ? Name.getValue().str() : std::to_string(Index);
}

void describeGraph(mlir::ModuleOp Module, CheckReport &Report) {
  for (onnx::WeightDataOp W : Module.getOps<onnx::WeightDataOp>()) {
    ++Report.WeightTensors;
    Report.WeightBytes += W.getLength();
  }
  if (mlir::IntegerAttr Opset =
          Module->getAttrOfType<mlir::IntegerAttr>(onnx::OpsetAttr))
    Report.Opset = Opset.getInt();
  mlir::func::FuncOp Main = Module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!Main)
    return;
  for (unsigned I = 0; I < Main.getNumArguments(); ++I)
    Report.Inputs.push_back({nameOf(Main.getArgAttr(I, onnx::NameAttr), I),
                             typeText(Main.getArgumentTypes()[I])});
  for (unsigned I = 0; I < Main.getNumResults(); ++I)
    Report.Outputs.push_back({nameOf(Main.getResultAttr(I, onnx::NameAttr), I),
                              typeText(Main.getResultTypes()[I])});
  for (mlir::Operation &Op : Main.front())
    if (!mlir::isa<onnx::ConstantOp, onnx::WeightOp, onnx::NoneOp,
                   mlir::func::ReturnOp>(Op))
      ++Report.Ops[Op.getName().getStringRef().str()];
}

std::string sizeText(uint64_t Bytes) {
  if (Bytes < 1024)
    return std::to_string(Bytes) + " B";
  static constexpr const char *Units[] = {"KiB", "MiB", "GiB", "TiB"};
  double Size = static_cast<double>(Bytes);
  int Unit = -1;
  for (; Size >= 1024 && Unit < 3; ++Unit)
    Size /= 1024;
  return llvm::formatv("{0:f1} {1}", Size, Units[Unit]).str();
}

Json toJson(const std::vector<CheckedValue> &Values) {
  Json Out = Json::array();
  for (const CheckedValue &V : Values)
    Out.push_back({{"name", V.Name}, {"type", V.Type}});
  return Out;
}

Json toJson(const ImportIssue &Issue) {
  return {{"op", Issue.Op},         {"domain", Issue.Domain},
          {"reason", Issue.Reason}, {"advice", Issue.Advice},
          {"count", Issue.Count},   {"nodes", Issue.Nodes}};
}
} // namespace

CheckReport llmc::inspectModel(mlir::MLIRContext &Context,
                               const std::string &Path,
                               const CheckOptions &Options) {
  CheckReport Report;
  Report.Model = Path;
  ImportLog Log;
  ImportOptions Import;
  Import.AllowSymlinks = Options.AllowSymlinks;
  Import.Log = &Log;
  WeightStore Store;
  Result<mlir::OwningOpRef<mlir::ModuleOp>> Module =
      importOnnx(Context, Path, Import, Store);
  Report.Nodes = Log.Nodes;
  Report.DeadNodes = Log.DeadNodes;
  Report.Issues = std::move(Log.Issues);
  Report.Warnings = std::move(Log.Warnings);
  for (uint32_t I = 0; I < Store.numFiles(); ++I)
    Report.Files.push_back({Store.name(I), Store.size(I)});
  if (!Module.ok()) {
    Report.Outcome = Module.takeStatus();
    return Report;
  }
  describeGraph(**Module, Report);
  if (Options.Continue)
    Report.Outcome = Options.Continue(**Module, Store, Report);
  return Report;
}

std::string llmc::checkText(const CheckReport &Report) {
  std::string Out = Report.Model + ": " +
                    (Report.Outcome.ok() ? "supported" : "not supported") +
                    "\n";
  Out += "  graph    " + std::to_string(Report.Nodes) + " nodes (" +
         std::to_string(Report.DeadNodes) + " unused)";
  if (Report.Opset > 0)
    Out += ", opset " + std::to_string(Report.Opset);
  Out += "\n";
  if (Report.WeightTensors > 0)
    Out += "  weights  " + std::to_string(Report.WeightTensors) + " tensors, " +
           sizeText(Report.WeightBytes) + "\n";
  for (const CheckedFile &File : Report.Files)
    Out += "  file     " + File.Name + ", " + sizeText(File.Bytes) + "\n";
  // Caches make the list long; the first few tell what kind of model it is.
  constexpr size_t Shown = 6;
  const auto List = [&](const char *Title,
                        const std::vector<CheckedValue> &Values) {
    for (size_t I = 0; I < std::min(Values.size(), Shown); ++I)
      Out += std::string(Title) + Values[I].Name + ": " + Values[I].Type + "\n";
    if (Values.size() > Shown)
      Out += std::string(Title) + "... " +
             std::to_string(Values.size() - Shown) + " more\n";
  };
  Out += architectureText(Report.Parts);
  List("  input    ", Report.Inputs);
  List("  output   ", Report.Outputs);
  for (const std::string &Warning : Report.Warnings)
    Out += "  warning  " + Warning + "\n";
  return Out;
}

std::string llmc::checkJson(const CheckReport &Report) {
  Json Files = Json::array(), Issues = Json::array();
  for (const CheckedFile &File : Report.Files)
    Files.push_back({{"name", File.Name}, {"bytes", File.Bytes}});
  for (const ImportIssue &Issue : Report.Issues)
    Issues.push_back(toJson(Issue));
  Json Out = {
      {"model", Report.Model},
      {"supported", Report.Outcome.ok()},
      {"exit_code", static_cast<int>(Report.Outcome.code())},
      {"error", Report.Outcome.ok() ? Json() : Json(Report.Outcome.message())},
      {"notes", Report.Outcome.notes()},
      {"opset", Report.Opset},
      {"nodes", Report.Nodes},
      {"dead_nodes", Report.DeadNodes},
      {"weights",
       {{"tensors", Report.WeightTensors}, {"bytes", Report.WeightBytes}}},
      {"files", Files},
      {"inputs", toJson(Report.Inputs)},
      {"outputs", toJson(Report.Outputs)},
      {"ops", Report.Ops},
      {"issues", Issues},
      {"architecture", Report.Parts.known()
                           ? Json::parse(architectureJson(Report.Parts))
                           : Json()},
      {"warnings", Report.Warnings}};
  // Names come from the file and need not be UTF-8.
  return Out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
