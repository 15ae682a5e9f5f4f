// Whole models: the evaluator on the imported graph gives the logits that the
// model's expect.json has from ONNX Runtime, and the import passes change
// nothing but the spelling. Models are the folders of test/Inputs/models, and
// of $LLMC_MODELS where that is set; one that does not import is passed over.
#include "compiler/eval/Evaluator.h"
#include "compiler/frontend/onnx/Import.h"
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "nlohmann/json.hpp"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace llmc;
using namespace llmc::eval;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> modelFolders() {
  std::vector<fs::path> Out;
  const char *More = std::getenv("LLMC_MODELS");
  for (fs::path Root :
       {fs::path(LLMC_TEST_INPUTS "/models"), fs::path(More ? More : "")})
    if (!Root.empty() && fs::is_directory(Root))
      for (const fs::directory_entry &E : fs::directory_iterator(Root))
        if (fs::exists(E.path() / "expect.json"))
          Out.push_back(E.path());
  std::sort(Out.begin(), Out.end());
  return Out;
}

DType dtypeNamed(const std::string &Name) {
  if (Name == "int64")
    return DType::I64;
  if (Name == "int32")
    return DType::I32;
  if (Name == "float16")
    return DType::F16;
  return Name == "bool" ? DType::Bool : DType::F32;
}

/// The prompt alone, without a cache: what argument `Input` is given.
Tensor argumentFor(const json &Input, const json &Roles,
                   const std::vector<int64_t> &Prompt) {
  std::string Name = Input["name"];
  DType Type = dtypeNamed(Input["dtype"]);
  int64_t Length = static_cast<int64_t>(Prompt.size());
  auto Is = [&](const char *Role) {
    return Roles.contains(Role) && Roles[Role].is_string() &&
           Roles[Role] == Name;
  };
  if (Is("tokens"))
    return Tensor::ofInts(Type, {1, Length}, Prompt);
  std::vector<int64_t> Ones(Prompt.size(), 1), Positions;
  for (int64_t I = 0; I < Length; ++I)
    Positions.push_back(I);
  if (Is("mask"))
    return Tensor::ofInts(Type, {1, Length}, Ones);
  if (Is("positions"))
    return Tensor::ofInts(Type, {1, Length}, Positions);
  if (Is("cache_position"))
    return Tensor::ofInts(Type, {Length}, Positions);
  if (Is("kv_len"))
    return Tensor::ofInts(Type, {1}, {Length});
  Dims Shape;
  int64_t Factor = Roles.value("batch_factor", int64_t(1));
  size_t BatchAxis = Roles.value("batch_axis", size_t(0));
  for (const json &D : Input["shape"])
    Shape.push_back(D.is_number()               ? D.get<int64_t>()
                    : Shape.size() == BatchAxis ? Factor
                                                : 0);
  Tensor T{Type, Shape, {}};
  T.Bytes.resize(static_cast<size_t>(T.count()) * storedBytes(Type));
  return T;
}

class Model {
public:
  Model(const fs::path &Folder, const json &Expect)
      : Context(mlir::MLIRContext::Threading::DISABLED) {
    Result<mlir::OwningOpRef<mlir::ModuleOp>> M = importOnnx(
        Context, Folder / Expect.value("model_file", "model.onnx"), {}, Store);
    if (M)
      Module = M.take();
  }

  bool imported() { return static_cast<bool>(Module); }

  bool clean() {
    mlir::PassManager Passes(&Context);
    Passes.addPass(createInferShapes());
    Passes.addPass(createFoldConstants());
    Passes.addPass(createSimplifyShapes());
    Passes.addPass(createCanonicalizeGraph());
    Passes.addPass(createInferShapes());
    return mlir::succeeded(Passes.run(*Module));
  }

  Result<Tensor> logits(const json &Expect,
                        const std::vector<int64_t> &Prompt) {
    mlir::func::FuncOp F = *Module->getOps<mlir::func::FuncOp>().begin();
    Evaluator E(Budget(1 << 26, 1 << 30),
                [&](onnx::WeightDataOp W, std::vector<uint8_t> &Bytes) {
                  Bytes.resize(static_cast<size_t>(W.getLength()));
                  return Store.read(static_cast<uint32_t>(W.getFile()),
                                    static_cast<uint64_t>(W.getOffset()), Bytes,
                                    W.getSymName());
                });
    for (mlir::BlockArgument A : F.getArguments()) {
      mlir::StringAttr Name = F.getArgAttrOfType<mlir::StringAttr>(
          A.getArgNumber(), onnx::NameAttr);
      for (const json &Input : Expect["io"]["inputs"])
        if (Name.getValue() == Input["name"].get<std::string>())
          E.bind(A, argumentFor(Input, Expect["io"]["roles"], Prompt));
    }
    unsigned Index = 0;
    for (unsigned I = 0; I < F.getNumResults(); ++I)
      if (F.getResultAttrOfType<mlir::StringAttr>(I, onnx::NameAttr)
              .getValue() == Expect["io"]["roles"]["logits"].get<std::string>())
        Index = I;
    Result<const Tensor *> T =
        E.evaluate(F.getBody().front().getTerminator()->getOperand(Index));
    if (!T)
      return T.takeStatus();
    return Tensor(**T);
  }

private:
  mlir::MLIRContext Context;
  WeightStore Store;
  mlir::OwningOpRef<mlir::ModuleOp> Module;
};

double maxDifference(const Tensor &Logits, const std::vector<double> &Last) {
  std::vector<double> V = load<double>(Logits);
  if (V.size() < Last.size())
    return 1e9;
  double Max = 0;
  for (size_t I = 0; I < Last.size(); ++I)
    Max = std::max(Max, std::fabs(V[V.size() - Last.size() + I] - Last[I]));
  return Max;
}

TEST(Models, LogitsAgreeBeforeAndAfterTheImportPasses) {
  int Count = 0;
  for (const fs::path &Folder : modelFolders()) {
    SCOPED_TRACE(Folder.filename().string());
    std::ifstream File(Folder / "expect.json");
    json Expect = json::parse(File, nullptr, false);
    if (!Expect.is_object() || !Expect.contains("cases") ||
        Expect.value("wrapper", "") != "" ||
        Expect["io"]["roles"].contains("step_tokens"))
      continue;
    Model M(Folder, Expect);
    if (!M.imported())
      continue;
    // The longest prompt says most.
    json Case = Expect["cases"].back();
    std::vector<int64_t> Prompt = Case["prompt"];
    std::vector<double> Last = Case["last_logits"];
    // In f16 we round every result, ONNX Runtime only some.
    bool Single = Expect.value("dtype", "fp32") == "fp32";
    double Tolerance = Single ? Expect.value("atol", 1e-3) : 0.1;
    Result<Tensor> Raw = M.logits(Expect, Prompt);
    EXPECT_TRUE(M.clean());
    Result<Tensor> Clean = M.logits(Expect, Prompt);
    EXPECT_TRUE(Raw.ok()) << Raw.status().message();
    EXPECT_TRUE(Clean.ok()) << Clean.status().message();
    if (!Raw || !Clean)
      continue;
    EXPECT_LT(maxDifference(*Raw, Last), Tolerance);
    EXPECT_TRUE(Raw->Bytes == Clean->Bytes)
        << "the import passes changed the logits, by "
        << maxDifference(*Clean, load<double>(*Raw));
    ++Count;
  }
  std::cout << Count << " models compared\n";
  EXPECT_GE(Count, 2);
}

} // namespace
