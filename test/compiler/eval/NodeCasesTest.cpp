// Runs test/Inputs/eval/node_cases.mlir: every function returns pairs of what
// an op computes and what onnx.reference computed for it.
#include "compiler/eval/Evaluator.h"
#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace llmc::eval;

namespace {

double toleranceOf(llmc::DType T) {
  switch (T) {
  case llmc::DType::F32:
    return 2e-6;
  case llmc::DType::F16:
    return 2e-3;
  case llmc::DType::F64:
    return 1e-12;
  default:
    return 0;
  }
}

void expectClose(const Tensor &Got, const Tensor &Wanted) {
  ASSERT_EQ(describe(Got), describe(Wanted));
  std::vector<double> A = load<double>(Got), B = load<double>(Wanted);
  double Tolerance = toleranceOf(Wanted.Type);
  for (size_t I = 0; I < A.size(); ++I) {
    if (std::isnan(B[I]) || std::isinf(B[I]))
      EXPECT_TRUE(A[I] == B[I] || (std::isnan(A[I]) && std::isnan(B[I])))
          << "element " << I << ": " << A[I] << ", expected " << B[I];
    else
      EXPECT_NEAR(A[I], B[I], Tolerance * std::max(1.0, std::fabs(B[I])))
          << "element " << I;
  }
}

TEST(NodeCases, AgreeWithOnnxReference) {
  mlir::DialectRegistry Registry;
  Registry.insert<mlir::func::FuncDialect, llmc::onnx::OnnxDialect>();
  mlir::MLIRContext Context(Registry);
  mlir::OwningOpRef<mlir::ModuleOp> Module =
      mlir::parseSourceFile<mlir::ModuleOp>(
          LLMC_TEST_INPUTS "/eval/node_cases.mlir", &Context);
  ASSERT_TRUE(Module);
  int Count = 0;
  for (mlir::func::FuncOp F : Module->getOps<mlir::func::FuncOp>()) {
    SCOPED_TRACE(F.getName().str());
    Evaluator E(Budget(1 << 16, 1 << 20));
    mlir::Operation *Return = F.getBody().front().getTerminator();
    for (unsigned I = 0; I < Return->getNumOperands(); I += 2) {
      llmc::Result<const Tensor *> Got = E.evaluate(Return->getOperand(I));
      llmc::Result<const Tensor *> Wanted =
          E.evaluate(Return->getOperand(I + 1));
      ASSERT_TRUE(Wanted.ok()) << Wanted.status().message();
      EXPECT_TRUE(Got.ok()) << Got.status().message();
      if (Got)
        expectClose(**Got, **Wanted);
    }
    ++Count;
  }
  EXPECT_GT(Count, 150);
}

} // namespace
