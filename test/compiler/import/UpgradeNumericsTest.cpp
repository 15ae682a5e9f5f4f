// Imported graphs compute what ONNX Runtime computed on the files
// (test/Inputs/import/numbers.json): upgrades keep the meaning.
#include "compiler/eval/Evaluator.h"
#include "compiler/frontend/onnx/Import.h"
#include "dialects/onnx/Onnx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace llmc;
using Json = nlohmann::json;

namespace {
Json numbers() {
  std::ifstream In(LLMC_TEST_INPUTS "/import/numbers.json");
  return Json::parse(In);
}

TEST(UpgradeNumerics, MatchOnnxRuntime) {
  Json All = numbers();
  ASSERT_GE(All.size(), 9u);
  for (const auto &[Name, Case] : All.items()) {
    SCOPED_TRACE(Name);
    mlir::MLIRContext Context(mlir::MLIRContext::Threading::DISABLED);
    WeightStore Store;
    Result<mlir::OwningOpRef<mlir::ModuleOp>> Module = importOnnx(
        Context, LLMC_TEST_INPUTS "/import/" + Name + ".onnx", {}, Store);
    ASSERT_TRUE(Module.ok()) << Module.status().message();
    mlir::func::FuncOp Main =
        (*Module)->lookupSymbol<mlir::func::FuncOp>("main");
    eval::Evaluator E(eval::Budget(1 << 20, 1 << 20),
                      [&](onnx::WeightDataOp W, std::vector<uint8_t> &Bytes) {
                        Bytes.resize(W.getLength());
                        return Store.read(static_cast<uint32_t>(W.getFile()),
                                          W.getOffset(), Bytes, W.getSymName());
                      });
    E.bind(Main.getArgument(0),
           eval::Tensor::ofFloats(
               DType::F32, Case["x"]["shape"].get<std::vector<int64_t>>(),
               Case["x"]["data"].get<std::vector<double>>()));
    Result<const eval::Tensor *> Y =
        E.evaluate(Main.front().getTerminator()->getOperand(0));
    ASSERT_TRUE(Y.ok()) << Y.status().message();
    EXPECT_EQ((*Y)->Shape, Case["y"]["shape"].get<std::vector<int64_t>>());
    std::vector<double> Want = Case["y"]["data"].get<std::vector<double>>();
    ASSERT_EQ((*Y)->count(), static_cast<int64_t>(Want.size()));
    for (size_t I = 0; I < Want.size(); ++I)
      EXPECT_NEAR((*Y)->data<float>()[I], Want[I], 2e-5) << "element " << I;
  }
}
} // namespace
