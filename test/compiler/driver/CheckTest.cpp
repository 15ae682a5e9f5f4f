// The report of `llmc check`: a good model, refused ones, what follows the
// import.
#include "compiler/driver/Check.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace llmc;
using Json = nlohmann::json;

namespace {
CheckReport inspect(const char *Name, const CheckOptions &Options = {}) {
  mlir::MLIRContext Context(mlir::MLIRContext::Threading::DISABLED);
  return inspectModel(Context, std::string(LLMC_TEST_INPUTS "/") + Name,
                      Options);
}

TEST(Check, DescribesAModel) {
  CheckReport R = inspect("import/external.onnx");
  EXPECT_TRUE(R.Outcome.ok());
  EXPECT_EQ(R.Opset, 18);
  EXPECT_EQ(R.Nodes, 4u);
  EXPECT_EQ(R.WeightTensors, 2u);
  EXPECT_EQ(R.WeightBytes, 32u);
  ASSERT_EQ(R.Files.size(), 2u);
  EXPECT_EQ(R.Files[1].Name, "data/w.bin");
  ASSERT_EQ(R.Inputs.size(), 1u);
  EXPECT_EQ(R.Inputs[0].Type, "tensor<?x4xf32, #onnx.dims<[\"n\", \"4\"]>>");
  EXPECT_EQ(R.Ops["onnx.add"], 2u);
  EXPECT_EQ(R.Ops.count("onnx.weight"), 0u);
  std::string Text = checkText(R);
  EXPECT_NE(Text.find("external.onnx: supported\n"), std::string::npos);
  EXPECT_NE(Text.find("weights  2 tensors, 32 B\n"), std::string::npos);
}

TEST(Check, ListsEveryReason) {
  Json R = Json::parse(checkJson(inspect("bad/unsupported.onnx")));
  EXPECT_EQ(R["supported"], false);
  EXPECT_EQ(R["exit_code"], 3);
  EXPECT_EQ(R["issues"].size(), 7u);
  EXPECT_EQ(R["issues"][0]["op"], "org.example.Magic");
  EXPECT_EQ(R["issues"][0]["count"], 2);
  EXPECT_EQ(R["issues"][0]["nodes"], Json::parse(R"(["m1", "m2"])"));
  EXPECT_EQ(R["dead_nodes"], 1);
  EXPECT_TRUE(R["architecture"].is_null());
}

TEST(Check, ReportsDamage) {
  Json R = Json::parse(checkJson(inspect("bad/cycle.onnx")));
  EXPECT_EQ(R["exit_code"], 4);
  EXPECT_EQ(R["error"], "the graph has a cycle: first -> second -> first");
  EXPECT_EQ(Json::parse(checkJson(inspect("none.onnx")))["exit_code"], 4);
}

TEST(Check, ContinuesAfterTheImport) {
  CheckOptions Options;
  Options.Continue = [](mlir::ModuleOp Module, const WeightStore &Store,
                        CheckReport &Report) {
    EXPECT_TRUE(Module.lookupSymbol("main") != nullptr);
    EXPECT_EQ(Store.numFiles(), 2u);
    Report.Issues.push_back({"Add", "ai.onnx", "no attention", "", 1, {"a"}});
    return unsupportedError("no attention found");
  };
  CheckReport R = inspect("import/external.onnx", Options);
  EXPECT_EQ(R.Outcome.code(), StatusCode::Unsupported);
  EXPECT_EQ(R.Issues.size(), 1u);
  EXPECT_NE(checkText(R).find(": not supported\n"), std::string::npos);
  // A refused import is not continued.
  EXPECT_EQ(inspect("bad/cycle.onnx", Options).Issues.size(), 0u);
}
} // namespace
