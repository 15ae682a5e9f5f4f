// The importer's table of ops says the same as the dialect's definitions.
#include "compiler/frontend/onnx/Signatures.h"

#include "dialects/onnx/Onnx.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>
#include <set>

using namespace llmc;

namespace {
/// A value that every required attribute may have.
mlir::Attribute someValue(const AttrSpec &A, mlir::Builder &B) {
  if (A.Kind == AttrKind::Type)
    return mlir::TypeAttr::get(B.getF16Type());
  if (A.Kind == AttrKind::String)
    return B.getStringAttr("LEFT");
  if (A.Kind == AttrKind::Ints)
    return B.getDenseI64ArrayAttr({1});
  return B.getI64IntegerAttr(A.Name == "block_size" ? 16 : 1);
}

class SignaturesTest : public ::testing::Test {
protected:
  SignaturesTest() { Context.loadDialect<llmc::onnx::OnnxDialect>(); }
  mlir::MLIRContext Context{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(SignaturesTest, EveryOpOfTheDialectHasARow) {
  std::set<std::string> Rows;
  for (const OpSpec &Op : allOps())
    EXPECT_TRUE(Rows.insert(Op.Mnemonic.str()).second) << Op.Mnemonic.str();
  // These hold data and structure; no node of a file becomes them by name.
  for (const char *Core :
       {"constant", "none", "weight", "weight_data", "yield", "if"})
    Rows.insert(std::string("onnx.") + Core);
  std::set<std::string> Registered;
  for (mlir::RegisteredOperationName Name :
       Context.getRegisteredOperationsByDialect("onnx"))
    Registered.insert(Name.getStringRef().str());
  EXPECT_EQ(Rows, Registered);
}

TEST_F(SignaturesTest, AttributesAgree) {
  for (const OpSpec &Op : allOps()) {
    std::set<std::string> Row, Defined;
    for (const AttrSpec &A : Op.Attrs)
      Row.insert(A.Name.str());
    for (mlir::StringAttr Name :
         mlir::OperationName(Op.Mnemonic, &Context).getAttributeNames())
      Defined.insert(Name.str());
    EXPECT_EQ(Row, Defined) << Op.Name.str();
  }
}

TEST_F(SignaturesTest, OperandsAndResultsAgree) {
  mlir::OpBuilder B(&Context);
  mlir::Location Loc = B.getUnknownLoc();
  mlir::Type T = mlir::UnrankedTensorType::get(B.getF32Type());
  for (const OpSpec &Op : allOps()) {
    mlir::Block Block;
    B.setInsertionPointToStart(&Block);
    mlir::OperationState State(Loc, Op.Mnemonic);
    int Inputs = Op.MaxInputs < 0 ? 2 : Op.MaxInputs;
    // Optional operands are absent, as some exclude one another; those of
    // com.microsoft do not, but required ones stand behind them.
    bool All = Op.MaxInputs < 0 || Op.Domain == "com.microsoft";
    for (int I = 0; I < Inputs; ++I)
      State.addOperands(Block.addArgument(
          I < Op.MinInputs || All ? T : B.getNoneType(), Loc));
    State.addTypes(llvm::SmallVector<mlir::Type>(
        Op.Results < 0 ? 3 : static_cast<size_t>(Op.Results), T));
    for (const AttrSpec &A : Op.Attrs)
      if (A.Required)
        State.addAttribute(A.Name, someValue(A, B));
    mlir::Operation *Node = B.create(State);
    std::string Message;
    mlir::ScopedDiagnosticHandler Handler(&Context, [&](mlir::Diagnostic &D) {
      Message += D.str();
      return mlir::success();
    });
    EXPECT_TRUE(mlir::succeeded(mlir::verify(Node)))
        << Op.Name.str() << ": " << Message;
    EXPECT_LE(Op.MinInputs, Inputs) << Op.Name.str();
  }
}

TEST(Signatures, SuggestsSimilarNames) {
  EXPECT_EQ(similarOp("Matmul"), "MatMul");
  EXPECT_EQ(similarOp("ReduceMeen"), "ReduceMean");
  EXPECT_EQ(similarOp("Det"), "");
}
} // namespace
