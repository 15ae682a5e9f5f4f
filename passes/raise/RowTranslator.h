// The translation of one op after another into records of a row program; shared
// by RowProgram.cpp and RowProgramAxes.cpp.
#ifndef LLMC_PASSES_RAISE_ROWTRANSLATOR_H
#define LLMC_PASSES_RAISE_ROWTRANSLATOR_H

#include "dialects/onnx/Onnx.h"
#include "passes/raise/RowCoder.h"

namespace llmc::raise {

class Translator {
public:
  Translator(Probe &TheProbe, const Roles &TheRoles,
             llvm::function_ref<bool(mlir::Value)> Leaf)
      : P(TheProbe), R(TheRoles), IsLeaf(Leaf) {}

  std::string run(mlir::Value V, RowProgram &Out);

private:
  // Operands as views; a failure is remembered and ends the translation.
  RowView view(mlir::Value V);
  RowView constantOf(mlir::Value V);
  RowView in(unsigned I) { return view(Op->getOperand(I)); }
  bool has(unsigned I) {
    return I < Op->getNumOperands() && !onnx::isNone(Op->getOperand(I));
  }
  eval::Dims shapeOf(mlir::Value V);
  eval::Dims shape() { return shapeOf(Op->getResult(0)); }
  eval::Dims ints(unsigned I);
  int64_t attr(llvm::StringRef Name, int64_t Default) {
    auto A = Op->getAttrOfType<mlir::IntegerAttr>(Name);
    return A ? A.getInt() : Default;
  }
  double real(llvm::StringRef Name, double Default) {
    auto A = Op->getAttrOfType<mlir::FloatAttr>(Name);
    return A ? A.getValueAsDouble() : Default;
  }
  int64_t axis(int64_t Default, int64_t Rank) {
    int64_t A = attr("axis", Default);
    return A < 0 ? A + Rank : A;
  }
  RowView fail(const llvm::Twine &Why) {
    if (Failure.empty())
      Failure = Why.str();
    return C.constant(0.0f);
  }
  bool failed() const { return !Failure.empty(); }

  void translate(mlir::Operation *TheOp);
  bool elementwise(llvm::StringRef Name);
  bool activation(llvm::StringRef Name);
  bool movement(llvm::StringRef Name);
  bool indexed(llvm::StringRef Name);
  bool reduction(llvm::StringRef Name);
  bool composite(llvm::StringRef Name);

  RowView unary(kernels::RowOp O, const RowView &X) { return C.map(O, X); }
  RowView binary(kernels::RowOp O, const RowView &X, const RowView &Y) {
    return C.map(O, X, Y);
  }
  RowView scaled(const RowView &X, double Factor) {
    return C.map(kernels::RowMul, X, C.constant(float(Factor)));
  }
  RowView plus(const RowView &X, double Term) {
    return C.map(kernels::RowAdd, X, C.constant(float(Term)));
  }
  RowView power();
  RowView castTo();
  RowView sliced();
  RowView tiled();
  RowView concatenated();
  void split();
  RowView padded();
  RowView gather();
  RowView scatter();
  RowView oneHot();
  void topK(bool Indices);
  RowView reduced(llvm::StringRef Kind);
  RowView softmax(bool Log);
  RowView normed(bool Layer);
  RowView unit();
  RowView product(RowView A, RowView B);
  RowView gemm();
  void set(RowView V) { Views[Op->getResult(0)] = V; }

  Probe &P;
  const Roles &R;
  llvm::function_ref<bool(mlir::Value)> IsLeaf;
  RowCoder C;
  mlir::Operation *Op = nullptr;
  llvm::DenseMap<mlir::Value, RowView> Views;
  std::string Failure;
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ROWTRANSLATOR_H
