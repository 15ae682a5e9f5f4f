// The rotary embeddings of com.microsoft.
#include "compiler/eval/Attend.h"
#include "compiler/eval/Microsoft.h"
#include "compiler/eval/Ops.h"

namespace llmc::eval {
namespace {
struct Layout {
  int64_t Batch, Heads, Rows, Size; ///< of the input
  bool HeadsFirst;                  ///< [B, N, S, H] instead of [B, S, N*H]

  int64_t at(int64_t B, int64_t H, int64_t R) const {
    return HeadsFirst ? ((B * Heads + H) * Rows + R) * Size
                      : ((B * Rows + R) * Heads + H) * Size;
  }
};

Result<Layout> layoutOf(const OpCall &C, const Tensor &X, int64_t Width) {
  if (X.rank() == 4)
    return Layout{X.Shape[0], X.Shape[1], X.Shape[2], X.Shape[3], true};
  if (X.rank() != 3)
    return malformedError("rotary embedding of " + describe(X));
  int64_t Heads = C.attr("num_heads", 0), Columns = X.Shape[2];
  if (Heads == 0) {
    if (Columns % (2 * Width) != 0)
      return malformedError("rotary embedding of " + describe(X) +
                            " by caches of " + std::to_string(Width) +
                            " columns");
    Heads = Columns / (2 * Width);
  }
  if (Columns % Heads != 0)
    return malformedError("rotary embedding of " + describe(X) + " with " +
                          std::to_string(Heads) + " heads");
  return Layout{X.Shape[0], Heads, X.Shape[1], Columns / Heads, false};
}

/// Position that frequency `F` of a token uses.
using PositionOf = std::function<int64_t(int64_t B, int64_t R, int64_t F)>;

Result<Tensor> rotateAll(const OpCall &C, const Tensor &X, const Tensor &Cos,
                         const Tensor &Sin, const PositionOf &Position) {
  if (Cos.rank() != 2 || Cos.Shape != Sin.Shape || Cos.Shape[1] < 1)
    return malformedError("rotary embedding: cos_cache is " + describe(Cos) +
                          ", sin_cache " + describe(Sin));
  int64_t Width = Cos.Shape[1];
  LLMC_ASSIGN_OR_RETURN(Layout L, layoutOf(C, X, Width));
  if (2 * Width > L.Size)
    return malformedError("rotary embedding: heads of " +
                          std::to_string(L.Size) + " by caches of " +
                          std::to_string(Width) + " columns");
  LLMC_RETURN_IF_ERROR(C.Limit.work(2 * X.count()));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, C.Limit.allocate(X.Type, X.Shape));
  std::vector<double> V = load<double>(X), AllCos = load<double>(Cos),
                      AllSin = load<double>(Sin);
  std::vector<double> RowCos(static_cast<size_t>(Width)), RowSin(RowCos);
  bool Pairs = C.attr("interleaved", 0) != 0;
  for (int64_t B = 0; B < L.Batch; ++B)
    for (int64_t R = 0; R < L.Rows; ++R) {
      for (int64_t F = 0; F < Width; ++F) {
        int64_t P = Position(B, R, F);
        if (P < 0 || P >= Cos.Shape[0])
          return malformedError("rotary embedding: position " +
                                std::to_string(P) + ", cos_cache has " +
                                std::to_string(Cos.Shape[0]) + " rows");
        RowCos[static_cast<size_t>(F)] =
            AllCos[static_cast<size_t>(P * Width + F)];
        RowSin[static_cast<size_t>(F)] =
            AllSin[static_cast<size_t>(P * Width + F)];
      }
      for (int64_t H = 0; H < L.Heads; ++H)
        rotate(V.data() + L.at(B, H, R), RowCos.data(), RowSin.data(), Width,
               Pairs);
    }
  store(Out, V);
  return Out;
}

/// Rows of the input: [B, S, ..] or [B, N, S, H].
int64_t rowsOf(const Tensor &X) {
  return X.rank() == 4 ? X.Shape[2] : X.rank() == 3 ? X.Shape[1] : 0;
}

Outputs rotary(const OpCall &C) {
  const Tensor &X = C.in(0), &Ids = C.in(1);
  int64_t Rows = rowsOf(X);
  bool Offset = Ids.count() == 1; // of the first token
  if (!Offset && Ids.count() != (X.rank() ? X.Shape[0] * Rows : 0))
    return malformedError("rotary embedding: position_ids are " +
                          describe(Ids) + " for " + describe(X));
  return one(
      rotateAll(C, X, C.in(2), C.in(3), [&](int64_t B, int64_t R, int64_t) {
        return Offset ? intAt(Ids, 0) + R : intAt(Ids, B * Rows + R);
      }));
}

/// Section of each frequency.
Result<std::vector<int64_t>> sectionsOf(const OpCall &C, int64_t Width) {
  std::vector<int64_t> Out(static_cast<size_t>(std::max<int64_t>(Width, 0)), 0);
  mlir::DenseI64ArrayAttr A =
      C.Op->getAttrOfType<mlir::DenseI64ArrayAttr>("mrope_section");
  Dims Sizes;
  if (A)
    Sizes.assign(A.asArrayRef().begin(), A.asArrayRef().end());
  int64_t N = static_cast<int64_t>(Sizes.size());
  if (C.attr("mrope_layout", 0) == 0) {
    int64_t F = 0;
    for (int64_t S = 0; S < N; ++S)
      for (int64_t I = 0; I < Sizes[static_cast<size_t>(S)] && F < Width; ++I)
        Out[static_cast<size_t>(F++)] = S;
    if (F != Width)
      return malformedError("rotary embedding: mrope_section covers " +
                            std::to_string(F) + " of " + std::to_string(Width) +
                            " frequencies");
    return Out;
  }
  for (int64_t F = 0; F < Width && N > 0; ++F) {
    int64_t S = F % N;
    if (S != 0 && F < Sizes[static_cast<size_t>(S)] * N)
      Out[static_cast<size_t>(F)] = S;
  }
  return Out;
}

Outputs multiRotary(const OpCall &C) {
  const Tensor &X = C.in(0), &Ids = C.in(1), &Cos = C.in(2);
  int64_t Rows = rowsOf(X), Batch = X.rank() ? X.Shape[0] : 0;
  LLMC_ASSIGN_OR_RETURN(
      std::vector<int64_t> Section,
      sectionsOf(C, Cos.rank() == 2 ? Cos.Shape[1] : int64_t(0)));
  for (int64_t S : Section)
    if ((S + 1) * Batch * Rows > Ids.count())
      return malformedError("rotary embedding: position_ids are " +
                            describe(Ids) + " for section " +
                            std::to_string(S));
  return one(
      rotateAll(C, X, Cos, C.in(3), [&](int64_t B, int64_t R, int64_t F) {
        int64_t S = Section[static_cast<size_t>(F)];
        return intAt(Ids, (S * Batch + B) * Rows + R);
      }));
}

/// x * cos(emb) + x_rot * sin(emb); emb is [B, S, H], x [B, N, S, H].
Result<Tensor> gemmaHalf(const OpCall &C, const Tensor &X, const Tensor &Rot) {
  Tensor Emb = C.in(0);
  if (Emb.rank() != 3 || X.rank() != 4)
    return malformedError("rotary embedding: emb is " + describe(Emb) +
                          " for " + describe(X));
  Emb.Shape.insert(Emb.Shape.begin() + 1, 1);
  LLMC_ASSIGN_OR_RETURN(Tensor Cos, unary(C.Limit, Unary::Cos, Emb));
  LLMC_ASSIGN_OR_RETURN(Tensor Sin, unary(C.Limit, Unary::Sin, Emb));
  LLMC_ASSIGN_OR_RETURN(Cos, cast(C.Limit, Cos, X.Type));
  LLMC_ASSIGN_OR_RETURN(Sin, cast(C.Limit, Sin, X.Type));
  LLMC_ASSIGN_OR_RETURN(Tensor A, binary(C.Limit, Binary::Mul, X, Cos));
  LLMC_ASSIGN_OR_RETURN(Tensor B, binary(C.Limit, Binary::Mul, Rot, Sin));
  return binary(C.Limit, Binary::Add, A, B);
}

Outputs gemmaRotary(const OpCall &C) {
  LLMC_ASSIGN_OR_RETURN(Tensor Q, gemmaHalf(C, C.in(1), C.in(2)));
  LLMC_ASSIGN_OR_RETURN(Tensor K, gemmaHalf(C, C.in(3), C.in(4)));
  return std::vector<Tensor>{std::move(Q), std::move(K)};
}
} // namespace

void addMsRotary(HandlerMap &Map) {
  Map["onnx.ms_rotary_embedding"] = rotary;
  Map["onnx.ms_m_rotary_embedding"] = multiRotary;
  Map["onnx.ms_gemma_rotary_embedding"] = gemmaRotary;
}

} // namespace llmc::eval
