// What the expansions of fused ops share: building of small onnx ops with the
// location of the op that they replace, and attention in primitive form. Types
// are unranked; llmc-infer-shapes fills them in.
#ifndef LLMC_PASSES_IMPORT_FUSEDOPS_H
#define LLMC_PASSES_IMPORT_FUSEDOPS_H

#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace llmc {

class OpMaker {
public:
  explicit OpMaker(mlir::Operation *Op)
      : Builder(Op), Loc(Op->getLoc()), Source(Op) {}

  using Attrs = llvm::ArrayRef<mlir::NamedAttribute>;
  /// onnx.<Mnemonic>; a null operand is absent. The result has the element
  /// type of the first operand unless Element is given.
  mlir::Value op(llvm::StringRef Mnemonic, mlir::ValueRange Operands,
                 Attrs Attributes = {}, mlir::Type Element = {});
  mlir::NamedAttribute attr(llvm::StringRef Name, int64_t Value);
  mlir::NamedAttribute attr(llvm::StringRef Name, float Value);

  mlir::Value ints(llvm::ArrayRef<int64_t> Values); ///< 1-D i64
  mlir::Value integer(int64_t Value);               ///< scalar i64
  mlir::Value real(mlir::Type Element, double Value);
  mlir::Value cast(mlir::Value X, mlir::Type Element);
  mlir::Value toF32(mlir::Value X) { return cast(X, Builder.getF32Type()); }

  mlir::Value add(mlir::Value X, mlir::Value Y) { return op("add", {X, Y}); }
  mlir::Value sub(mlir::Value X, mlir::Value Y) { return op("sub", {X, Y}); }
  mlir::Value mul(mlir::Value X, mlir::Value Y) { return op("mul", {X, Y}); }
  /// Null for "everything is visible".
  mlir::Value both(mlir::Value X, mlir::Value Y);
  mlir::Value compare(llvm::StringRef Mnemonic, mlir::Value X, mlir::Value Y);

  /// Sizes as for Reshape: 0 copies, -1 is inferred.
  mlir::Value reshape(mlir::Value X, llvm::ArrayRef<int64_t> Sizes);
  mlir::Value transpose(mlir::Value X, llvm::ArrayRef<int64_t> Perm);
  mlir::Value unsqueeze(mlir::Value X, llvm::ArrayRef<int64_t> Axes);
  mlir::Value slice(mlir::Value X, int64_t Axis, int64_t Begin, int64_t End,
                    int64_t Step = 1);
  mlir::Value concat(mlir::ValueRange Values, int64_t Axis);
  mlir::Value gather(mlir::Value X, mlir::Value Indices, int64_t Axis);
  mlir::Value dim(mlir::Value X, int64_t Axis); ///< scalar i64
  /// 0, 1, … Count - 1 (scalar i64).
  mlir::Value range(mlir::Value Count);

  mlir::OpBuilder Builder;
  mlir::Location Loc;
  mlir::Operation *Source;
};

/// Attention over heads: Q [B, N, S, H], K [B, KV, T, H], V [B, KV, T, Hv].
struct HeadAttention {
  mlir::Value Q, K, V;
  int64_t Heads = 0, KvHeads = 0;
  double Scale = 0, Softcap = 0;
  mlir::Value Visible; ///< bools that broadcast to [B, N, S, T]; may be null
  mlir::Value Bias;    ///< floats, likewise
  mlir::Value Sinks;   ///< [N], or null
};
/// [B, N, S, Hv] in f32. Order: scale, softcap, bias and what is not visible,
/// softmax (with sinks), product with V.
mlir::Value attend(OpMaker &M, const HeadAttention &A);

/// Bools [.., S, T]: keys j with q - Left <= j and j <= q + Right for queries
/// at q = Offset + i; Left or Right -1: no bound. Offset is a scalar, or has
/// the shape [B, 1, 1, 1]. Null when neither is bounded.
mlir::Value visibleKeys(OpMaker &M, mlir::Value Offset, mlir::Value Queries,
                        mlir::Value Keys, int64_t Left, int64_t Right);

/// Heads of rows: [B, S, N * H] -> [B, N, S, H], and back.
mlir::Value splitHeads(OpMaker &M, mlir::Value Rows, int64_t Heads);
mlir::Value mergeHeads(OpMaker &M, mlir::Value Heads);

/// A cache input as one that holds only the past: an argument of the graph that
/// is a buffer of fixed size, or quantised, becomes one of as many rows as
/// there are past tokens, in f32. `Axis` is the sequence axis.
mlir::Value growingCache(mlir::Value Past, int64_t Axis, int64_t LastDim);

/// Rotation of X [B, N, S, H] by rows of the caches [max, R / 2] at Positions
/// ([B, S] or [S] of i64); without Positions the caches are [B, S, R / 2].
/// Rotated 0: as wide as the caches are.
mlir::Value rotate(OpMaker &M, mlir::Value X, mlir::Value Cos, mlir::Value Sin,
                   mlir::Value Positions, int64_t Rotated, bool Interleaved);

/// Each replaces all uses of the op's results, or emits an error that says what
/// it cannot express.
mlir::LogicalResult expand(onnx::AttentionOp Op);
mlir::LogicalResult expand(onnx::RotaryEmbeddingOp Op);
mlir::LogicalResult expand(onnx::MsRotaryEmbeddingOp Op);
mlir::LogicalResult expand(onnx::MsGroupQueryAttentionOp Op);
mlir::LogicalResult expand(onnx::MsMultiHeadAttentionOp Op);
mlir::LogicalResult expand(onnx::MsDecoderMaskedMultiHeadAttentionOp Op);
mlir::LogicalResult expand(onnx::MsAttentionOp Op);
mlir::LogicalResult expand(onnx::MsPagedAttentionOp Op);
mlir::LogicalResult expand(onnx::MsSparseAttentionOp Op);
mlir::LogicalResult expand(onnx::MsMRotaryEmbeddingOp Op);
mlir::LogicalResult expand(onnx::MsGemmaRotaryEmbeddingOp Op);
mlir::LogicalResult expand(onnx::MsFusedMatMulOp Op);

/// Size of a dim, or -1.
int64_t staticDim(mlir::Value V, int64_t Axis);
/// Rank, or -1.
int64_t staticRank(mlir::Value V);

} // namespace llmc

#endif // LLMC_PASSES_IMPORT_FUSEDOPS_H
