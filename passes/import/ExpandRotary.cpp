// Rotary embedding ops of both domains as slices, products and sums.
#include "passes/import/FusedOps.h"

#include <limits>

using namespace mlir;

namespace llmc {

constexpr int64_t End = std::numeric_limits<int64_t>::max();

Value rotate(OpMaker &M, Value X, Value Cos, Value Sin, Value Positions,
             int64_t Rotated, bool Interleaved) {
  int64_t Half = Rotated > 0 ? Rotated / 2 : staticDim(Cos, -1);
  Type Element = getElementTypeOrSelf(X.getType());
  auto Rows = [&](Value Table) {
    Value T = Positions ? M.gather(Table, Positions, 0) : Table;
    // [B, S, half] next to [B, N, S, half]; [S, half] broadcasts by itself.
    if (!Positions || staticRank(Positions) != 1)
      T = M.unsqueeze(T, {1});
    return M.cast(M.slice(T, -1, 0, Half), Element);
  };
  Value C = Rows(Cos), S = Rows(Sin);
  Value Lo =
      Interleaved ? M.slice(X, -1, 0, 2 * Half, 2) : M.slice(X, -1, 0, Half);
  Value Hi = Interleaved ? M.slice(X, -1, 1, 2 * Half, 2)
                         : M.slice(X, -1, Half, 2 * Half);
  Value First = M.sub(M.mul(Lo, C), M.mul(Hi, S));
  Value Second = M.add(M.mul(Hi, C), M.mul(Lo, S));
  Value Out;
  if (Interleaved) {
    Value Pairs =
        M.concat({M.unsqueeze(First, {-1}), M.unsqueeze(Second, {-1})}, -1);
    Out = M.reshape(Pairs, {0, 0, 0, 2 * Half});
  }
  bool Whole = staticDim(X, -1) == 2 * Half;
  if (Whole)
    return Interleaved ? Out : M.concat({First, Second}, -1);
  Value Rest = M.slice(X, -1, 2 * Half, End);
  return Interleaved ? M.concat({Out, Rest}, -1)
                     : M.concat({First, Second, Rest}, -1);
}

/// Rotates rows [B, S, N * H] or heads [B, N, S, H].
static LogicalResult rotateAny(Operation *Op, Value X, Value Cos, Value Sin,
                               Value Positions, int64_t Heads, int64_t Rotated,
                               bool Interleaved) {
  OpMaker M(Op);
  int64_t Rank = staticRank(X), Width = staticDim(X, -1);
  int64_t Half = staticDim(Cos, -1);
  if (Rank != 3 && Rank != 4)
    return Op->emitError("the rotated value has rank ")
           << Rank << ", expected 3 or 4";
  if (Rotated == 0 && Half < 1)
    return Op->emitError("the cos table has no static width");
  Value Out;
  if (Rank == 4) {
    Out = rotate(M, X, Cos, Sin, Positions, Rotated, Interleaved);
  } else {
    int64_t Dim = Heads > 0 ? (Width > 0 ? Width / Heads : -1) : 2 * Half;
    if (Width < 1 || Dim < 1 || Width % Dim != 0)
      return Op->emitError("rows of ")
             << Width << " features are no heads of " << Dim;
    Value Split = splitHeads(M, X, Width / Dim);
    // The split's type is not inferred yet; only its width matters here.
    Split.setType(RankedTensorType::get(
        {ShapedType::kDynamic, Width / Dim, ShapedType::kDynamic, Dim},
        getElementTypeOrSelf(X.getType())));
    Out = mergeHeads(
        M, rotate(M, Split, Cos, Sin, Positions, Rotated, Interleaved));
  }
  Op->getResult(0).replaceAllUsesWith(Out);
  return success();
}

LogicalResult expand(onnx::RotaryEmbeddingOp Op) {
  bool Given = !onnx::isNone(Op.getPositionIds());
  return rotateAny(Op, Op.getX(), Op.getCosCache(), Op.getSinCache(),
                   Given ? Op.getPositionIds() : Value(),
                   int64_t(Op.getNumHeads().value_or(0)),
                   int64_t(Op.getRotaryEmbeddingDim()),
                   Op.getInterleaved() != 0);
}

LogicalResult expand(onnx::MsRotaryEmbeddingOp Op) {
  if (Op.getIsPackedBatching())
    return Op.emitError("is_packed_batching is not supported");
  Value Positions = Op.getPositionIds();
  OpMaker M(Op);
  // One element is the position of the first token.
  auto Type = dyn_cast<RankedTensorType>(Positions.getType());
  if (!Type)
    return Op.emitError("position_ids have no known rank");
  if (Type.getRank() < 2) {
    Value Seq = M.dim(Op.getInput(), staticRank(Op.getInput()) == 4 ? 2 : 1);
    Positions = M.add(M.reshape(Positions, {1}), M.range(Seq));
    Positions.setType(
        RankedTensorType::get({ShapedType::kDynamic}, M.Builder.getI64Type()));
  }
  return rotateAny(Op, Op.getInput(), Op.getCosCache(), Op.getSinCache(),
                   Positions, int64_t(Op.getNumHeads()),
                   int64_t(Op.getRotaryEmbeddingDim()),
                   Op.getInterleaved() != 0);
}

/// The section of positions that each of Width frequencies turns by.
static FailureOr<SmallVector<int64_t>> sectionsOf(onnx::MsMRotaryEmbeddingOp Op,
                                                  int64_t Width) {
  ArrayRef<int64_t> Sizes = Op.getMropeSection();
  int64_t N = int64_t(Sizes.size());
  SmallVector<int64_t> Out;
  if (Op.getMropeLayout() == 0) {
    for (auto [Section, Size] : llvm::enumerate(Sizes))
      Out.append(size_t(Size), int64_t(Section));
    if (int64_t(Out.size()) != Width)
      return Op.emitError("mrope_section covers ")
             << Out.size() << " of " << Width << " frequencies";
    return Out;
  }
  for (int64_t F = 0; F < Width; ++F)
    Out.push_back(F < Sizes[size_t(F % N)] * N ? F % N : 0);
  return Out;
}

/// Positions [sections, B, S]: the rows of the tables for all sections side by
/// side, of which each frequency takes the column of its section.
LogicalResult expand(onnx::MsMRotaryEmbeddingOp Op) {
  if (Op.getIsPackedBatching())
    return Op.emitError("is_packed_batching is not supported");
  OpMaker M(Op);
  Value Positions = Op.getPositionIds();
  int64_t Width = staticDim(Op.getCosCache(), -1);
  if (staticRank(Positions) != 3 || Width < 1)
    return Op.emitError("position_ids or the cos table have no known shape, "
                        "expected [sections, batch, tokens] and rows of a "
                        "static width");
  FailureOr<SmallVector<int64_t>> Sections = sectionsOf(Op, Width);
  if (failed(Sections))
    return failure();
  int64_t Count = 1 + *llvm::max_element(*Sections);
  SmallVector<int64_t> Columns;
  for (auto [F, Section] : llvm::enumerate(*Sections))
    Columns.push_back(Section * Width + int64_t(F));
  auto Rows = [&](Value Table) {
    SmallVector<Value> All;
    for (int64_t I = 0; I < Count; ++I)
      All.push_back(M.gather(Table, M.gather(Positions, M.integer(I), 0), 0));
    Value Out = M.gather(M.concat(All, -1), M.ints(Columns), -1);
    Out.setType(RankedTensorType::get(
        {ShapedType::kDynamic, ShapedType::kDynamic, Width},
        getElementTypeOrSelf(Table.getType())));
    return Out;
  };
  return rotateAny(Op, Op.getInput(), Rows(Op.getCosCache()),
                   Rows(Op.getSinCache()), Value(), int64_t(Op.getNumHeads()),
                   int64_t(Op.getRotaryEmbeddingDim()),
                   Op.getInterleaved() != 0);
}

/// x * cos(emb) + x_rot * sin(emb), emb [B, S, H] beside heads [B, N, S, H].
LogicalResult expand(onnx::MsGemmaRotaryEmbeddingOp Op) {
  OpMaker M(Op);
  auto Turn = [&](Value X, Value Turned) {
    Type Element = getElementTypeOrSelf(X.getType());
    auto Table = [&](StringRef Function) {
      return M.cast(M.unsqueeze(M.op(Function, {Op.getEmb()}), {1}), Element);
    };
    return M.add(M.mul(X, Table("cos")), M.mul(Turned, Table("sin")));
  };
  Op.getOutput1().replaceAllUsesWith(Turn(Op.getQ(), Op.getQRot()));
  Op.getOutput2().replaceAllUsesWith(Turn(Op.getK(), Op.getKRot()));
  return success();
}
} // namespace llmc
