// FusedMatMul of com.microsoft as transposes, a product and a factor.
#include "passes/import/FusedOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace llmc {

/// X after the transpositions: of its first dim behind the others of the batch,
/// and of its matrices.
static FailureOr<Value> turned(OpMaker &M, Value X, bool Batch, bool Matrix) {
  if (!Batch && !Matrix)
    return X;
  int64_t Rank = staticRank(X);
  if (Rank < 0)
    return M.Source->emitError("an operand has no known rank");
  SmallVector<int64_t> Order = llvm::to_vector(llvm::seq<int64_t>(0, Rank));
  if (Batch && Rank >= 3)
    std::rotate(Order.begin(), Order.begin() + 1, Order.end() - 1);
  if (Matrix && Rank >= 2)
    std::swap(Order[size_t(Rank - 1)], Order[size_t(Rank - 2)]);
  return M.transpose(X, Order);
}

LogicalResult expand(onnx::MsFusedMatMulOp Op) {
  OpMaker M(Op);
  FailureOr<Value> A =
      turned(M, Op.getA(), Op.getTransBatchA(), Op.getTransA());
  FailureOr<Value> B =
      turned(M, Op.getB(), Op.getTransBatchB(), Op.getTransB());
  if (failed(A) || failed(B))
    return failure();
  Value Out = M.op("mat_mul", {*A, *B});
  double Alpha = Op.getAlpha().convertToFloat();
  if (Alpha != 1)
    Out = M.mul(Out, M.real(getElementTypeOrSelf(Op.getA().getType()), Alpha));
  Op.getResult().replaceAllUsesWith(Out);
  return success();
}
} // namespace llmc
