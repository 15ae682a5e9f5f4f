// The lazy evaluator of onnx functions: what it computes, what it does not
// touch, how it fails; and that every op of the dialect is known to it and to
// the shape analysis.
#include "compiler/eval/Evaluator.h"
#include "dialects/onnx/Onnx.h"
#include "passes/import/ShapeRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace llmc;
using namespace llmc::eval;

namespace {

/// A module of one function, its arguments and what it returns.
class Source {
public:
  explicit Source(const char *Text) {
    Context.loadDialect<mlir::func::FuncDialect, onnx::OnnxDialect>();
    Module = mlir::parseSourceString<mlir::ModuleOp>(Text, &Context);
  }
  mlir::func::FuncOp function() {
    return *Module->getOps<mlir::func::FuncOp>().begin();
  }
  mlir::Value argument(unsigned I) { return function().getArgument(I); }
  mlir::Value result(unsigned I = 0) {
    return function().getBody().front().getTerminator()->getOperand(I);
  }

private:
  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> Module;
};

Tensor floats(Dims Shape, const std::vector<double> &V) {
  return Tensor::ofFloats(DType::F32, std::move(Shape), V);
}

TEST(Evaluator, KnowsEveryOpOfTheDialect) {
  mlir::MLIRContext Context;
  Context.loadDialect<onnx::OnnxDialect>();
  for (mlir::RegisteredOperationName Op :
       Context.getRegisteredOperationsByDialect("onnx")) {
    llvm::StringRef Name = Op.getStringRef();
    bool Structure = Name == "onnx.constant" || Name == "onnx.weight" ||
                     Name == "onnx.weight_data" || Name == "onnx.none" ||
                     Name == "onnx.if" || Name == "onnx.yield";
    EXPECT_EQ(handlerOf(Name) == nullptr, Structure) << Name.str();
    EXPECT_EQ(ruleOf(Name) == nullptr, Structure) << Name.str();
  }
}

const char *const Branches = R"(
  func.func @main(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xf32>)
      -> tensor<*xf32> {
    %r = onnx.if %c {
      %n = onnx.neg %x : (tensor<2xf32>) -> tensor<*xf32>
      onnx.yield %n : tensor<*xf32>
    } else {
      onnx.yield %y : tensor<2xf32>
    } : (tensor<i1>) -> tensor<*xf32>
    return %r : tensor<*xf32>
  })";

TEST(Evaluator, TakesOneBranchAndNeedsOnlyThat) {
  Source S(Branches);
  Evaluator E(Budget(1000, 1000));
  E.bind(S.argument(0), Tensor::ofInts(DType::Bool, {}, {1}));
  E.bind(S.argument(1), floats({2}, {1, -2})); // the third is not given
  Result<const Tensor *> R = E.evaluate(S.result());
  ASSERT_TRUE(R.ok()) << R.status().message();
  EXPECT_EQ(load<double>(**R), (std::vector<double>{-1, 2}));
}

TEST(Evaluator, NamesWhatIsMissing) {
  Source S(Branches);
  Evaluator E(Budget(1000, 1000));
  E.bind(S.argument(0), Tensor::ofInts(DType::Bool, {}, {0}));
  Result<const Tensor *> R = E.evaluate(S.result());
  ASSERT_FALSE(R.ok());
  EXPECT_EQ(R.status().message(),
            "evaluation: an argument of the graph is not given");
}

TEST(Evaluator, GivesUpWhatNobodyNeedsAnyMore) {
  Source S(R"(
  func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
    %n = onnx.neg %x : (tensor<2xf32>) -> tensor<*xf32>
    %a = onnx.add %n, %n : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    %r = onnx.if %c {
      %b = onnx.mul %a, %n : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
      onnx.yield %b : tensor<*xf32>
    } else {
      onnx.yield %a : tensor<*xf32>
    } : (tensor<i1>) -> tensor<*xf32>
    %y = onnx.add %r, %x : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>
    %z = onnx.neg %y : (tensor<*xf32>) -> tensor<*xf32>
    return %z, %n : tensor<*xf32>, tensor<*xf32>
  })");
  for (int64_t Condition : {0, 1}) {
    Evaluator E(Budget(1000, 1000));
    E.bind(S.argument(0), Tensor::ofInts(DType::Bool, {}, {Condition}));
    E.bind(S.argument(1), floats({2}, {1, -2}));
    Result<std::vector<Tensor>> R =
        E.evaluateOnce({S.result(0), S.result(1), S.result(0)});
    ASSERT_TRUE(R.ok()) << R.status().message();
    std::vector<double> Want =
        Condition ? std::vector<double>{-3, -6} : std::vector<double>{1, -2};
    EXPECT_EQ(load<double>((*R)[0]), Want);
    EXPECT_EQ(load<double>((*R)[1]), (std::vector<double>{-1, 2}));
    EXPECT_EQ(load<double>((*R)[2]), Want);
    mlir::Value Y = S.result(0).getDefiningOp()->getOperand(0);
    EXPECT_EQ(E.lookup(Y), nullptr);
    EXPECT_NE(E.lookup(S.argument(1)), nullptr);
  }
}

const char *const Weights = R"(
  onnx.weight_data @w file 0 offset 8 length 16 : tensor<4xf32>
  func.func @main(%x: tensor<?x4xf32>) -> (tensor<*xi64>, tensor<*xf32>) {
    %w = onnx.weight @w : tensor<4xf32>
    %y = onnx.add %x, %w : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<*xf32>
    %s = onnx.shape %y : (tensor<*xf32>) -> tensor<*xi64>
    return %s, %y : tensor<*xi64>, tensor<*xf32>
  })";

TEST(Evaluator, AnswersShapesWithoutData) {
  Source S(Weights);
  Evaluator E(Budget(1000, 1000));
  E.setShapeOracle([&](mlir::Value V, Dims &Shape) {
    Shape = {7, 4};
    return true;
  });
  Result<const Tensor *> R = E.evaluate(S.result(0));
  ASSERT_TRUE(R.ok()) << R.status().message();
  EXPECT_EQ(load<int64_t>(**R), (std::vector<int64_t>{7, 4}));
}

TEST(Evaluator, ReadsWeightsOnceAndWithinTheBudget) {
  Source S(Weights);
  int Reads = 0;
  WeightReader Reader = [&](onnx::WeightDataOp W, std::vector<uint8_t> &Bytes) {
    ++Reads;
    Bytes.assign(static_cast<size_t>(W.getLength()), 0);
    return Status::success();
  };
  Evaluator E(Budget(1000, 1000), Reader);
  E.bind(S.argument(0), floats({1, 4}, {1, 2, 3, 4}));
  ASSERT_TRUE(E.evaluate(S.result(1)).ok());
  ASSERT_TRUE(E.evaluate(S.result(0)).ok());
  EXPECT_EQ(Reads, 1);

  Evaluator Small(Budget(3, 1000), Reader);
  Small.bind(S.argument(0), floats({1, 4}, {1, 2, 3, 4}));
  Result<const Tensor *> R = Small.evaluate(S.result(1));
  ASSERT_FALSE(R.ok());
  EXPECT_NE(R.status().message().find("a weight of 4 elements, 3 are left"),
            std::string::npos)
      << R.status().message();
  EXPECT_EQ(Reads, 1);
}

TEST(Evaluator, PassesOnWhatTheReaderSays) {
  Source S(Weights);
  Evaluator E(Budget(1000, 1000),
              [](onnx::WeightDataOp, std::vector<uint8_t> &Bytes) {
                Bytes.resize(3);
                return Status::success();
              });
  E.bind(S.argument(0), floats({1, 4}, {1, 2, 3, 4}));
  Result<const Tensor *> R = E.evaluate(S.result(1));
  ASSERT_FALSE(R.ok());
  EXPECT_NE(R.status().message().find("has 3 bytes, expected 16"),
            std::string::npos)
      << R.status().message();
}

TEST(Evaluator, DeepGraphsAndLongWorkAreBounded) {
  std::string Text = "func.func @main(%x0: tensor<1xf32>) -> tensor<1xf32> {\n";
  const int Depth = 20000;
  for (int I = 0; I < Depth; ++I)
    Text += "%x" + std::to_string(I + 1) + " = onnx.neg %x" +
            std::to_string(I) + " : (tensor<1xf32>) -> tensor<1xf32>\n";
  Text += "return %x" + std::to_string(Depth) + " : tensor<1xf32>\n}";
  Source S(Text.c_str());
  Evaluator E(Budget(1 << 20, 1 << 20));
  E.bind(S.argument(0), floats({1}, {3}));
  Result<const Tensor *> R = E.evaluate(S.result());
  ASSERT_TRUE(R.ok()) << R.status().message();
  EXPECT_EQ(floatAt(**R, 0), 3);
  Evaluator Short(Budget(1 << 20, Depth));
  Short.bind(S.argument(0), floats({1}, {3}));
  EXPECT_FALSE(Short.evaluate(S.result()).ok());
}

} // namespace
