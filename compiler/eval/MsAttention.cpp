// MultiHeadAttention, its form for one token, and Attention of com.microsoft.
#include "compiler/eval/Attend.h"
#include "compiler/eval/Microsoft.h"
#include "compiler/eval/Ops.h"

#include <limits>

namespace llmc::eval {
namespace {
constexpr double Never = -std::numeric_limits<double>::infinity();

/// What hides keys: a mask in one of its forms and the order of tokens.
class KeyMask {
public:
  /// `Keys` counts past and new ones.
  static Result<KeyMask> of(const Tensor &Mask, int64_t Batch, int64_t Queries,
                            int64_t Keys, double Filter) {
    KeyMask M;
    M.Filter = Filter;
    M.Keys = Keys;
    M.Queries = Queries;
    if (!Mask.present())
      return M;
    M.Data = load<int64_t>(Mask);
    M.Shape = Mask.Shape;
    const Dims &D = Mask.Shape;
    bool Fits =
        (D.size() == 1 &&
         (D[0] == Batch || D[0] == 2 * Batch || D[0] == 3 * Batch + 2)) ||
        (D.size() == 2 && D[0] == Batch && D[1] >= Keys) ||
        (D.size() == 3 && D[0] == Batch && D[1] == Queries && D[2] >= Keys) ||
        (D.size() == 4 && D[0] == Batch && D[1] == 1 && D[2] >= Keys &&
         D[3] >= Keys);
    if (!Fits)
      return malformedError("attention: a mask of " + describe(Mask) + " for " +
                            std::to_string(Queries) + " queries and " +
                            std::to_string(Keys) + " keys");
    M.Ends = D.size() == 1 && D[0] == 2 * Batch;
    M.Batch = Batch;
    return M;
  }

  double at(int64_t B, int64_t S, int64_t T) const {
    return Shape.empty() || visible(B, S, T) ? 0 : Filter;
  }

private:
  bool visible(int64_t B, int64_t S, int64_t T) const {
    const auto At = [&](int64_t I) { return Data[static_cast<size_t>(I)]; };
    switch (Shape.size()) {
    case 1: // lengths; or ends, then starts
      return T < At(B) && (!Ends || T >= At(Batch + B));
    case 2:
      return At(B * Shape[1] + T) != 0;
    case 3:
      return At((B * Shape[1] + S) * Shape[2] + T) != 0;
    default:
      return At((B * Shape[2] + Keys - Queries + S) * Shape[3] + T) != 0;
    }
  }

  std::vector<int64_t> Data;
  Dims Shape;
  int64_t Batch = 0, Queries = 0, Keys = 0;
  double Filter = 0;
  bool Ends = false;
};

/// [B or 1, N or 1, S, T]
Result<std::function<double(int64_t, int64_t, int64_t, int64_t)>>
biasOf(const Tensor &T, int64_t Queries, int64_t Keys) {
  using Fn = std::function<double(int64_t, int64_t, int64_t, int64_t)>;
  if (!T.present())
    return Fn([](int64_t, int64_t, int64_t, int64_t) { return 0.0; });
  if (T.rank() != 4 || T.Shape[2] != Queries || T.Shape[3] != Keys)
    return malformedError("attention: attention_bias is " + describe(T) +
                          " for " + std::to_string(Queries) + " queries and " +
                          std::to_string(Keys) + " keys");
  return Fn([D = load<double>(T), Shape = T.Shape](int64_t B, int64_t H,
                                                   int64_t S, int64_t J) {
    int64_t Bx = B < Shape[0] ? B : 0, Hx = H < Shape[1] ? H : 0;
    return D[static_cast<size_t>(
        ((Bx * Shape[1] + Hx) * Shape[2] + S) * Shape[3] + J)];
  });
}

/// What both ops do to scores: padding mask, bias, and with `unidirectional`
/// causality, the queries being the last rows of the keys.
Result<Attend> scoresOf(const OpCall &C, const Tensor &Padding,
                        const Tensor &ScoreBias, const HeadTensor &Q,
                        const HeadTensor &K) {
  LLMC_ASSIGN_OR_RETURN(KeyMask Mask,
                        KeyMask::of(Padding, Q.Batch, Q.Rows, K.Rows,
                                    C.floatAttr("mask_filter_value", -10000)));
  LLMC_ASSIGN_OR_RETURN(auto Bias, biasOf(ScoreBias, Q.Rows, K.Rows));
  bool Causal = C.attr("unidirectional", 0) != 0;
  Attend How;
  How.Scale = C.floatAttr("scale", 0);
  How.Bias = [Mask = std::move(Mask), Bias = std::move(Bias), Causal,
              Offset = K.Rows - Q.Rows](int64_t B, int64_t H, int64_t S,
                                        int64_t T) {
    if (Causal && T > Offset + S)
      return Never;
    return Mask.at(B, S, T) + Bias(B, H, S, T);
  };
  return How;
}

/// Part `First` of `Parts` of [B, S, N, Parts, H].
Result<HeadTensor> fromPacked(const OpCall &C, const Tensor &X, int64_t First) {
  int64_t B = X.Shape[0], S = X.Shape[1], N = X.Shape[2], P = X.Shape[3],
          H = X.Shape[4];
  LLMC_ASSIGN_OR_RETURN(HeadTensor Out, makeHeads(C.Limit, B, N, S, H));
  std::vector<double> V = load<double>(X);
  for (int64_t I = 0; I < B * S; ++I)
    for (int64_t Head = 0; Head < N; ++Head)
      std::copy_n(V.data() + ((I * N + Head) * P + First) * H, H,
                  Out.row(I / S, Head, I % S));
  return Out;
}

void addBias(HeadTensor &X, const std::vector<double> &Bias, size_t First) {
  for (int64_t B = 0; B < X.Batch; ++B)
    for (int64_t H = 0; H < X.Heads; ++H)
      for (int64_t R = 0; R < X.Rows; ++R)
        for (int64_t I = 0; I < X.Size; ++I)
          X.row(B, H, R)[I] +=
              Bias[First + static_cast<size_t>(H * X.Size + I)];
}

struct Projected {
  HeadTensor Q, K, V;
};

Result<Projected> project(const OpCall &C, const Tensor &Q, const Tensor &K,
                          const Tensor &V, const Tensor &Bias, int64_t N) {
  Projected Out;
  bool FromCache = K.present() && K.rank() == 4;
  if (Q.rank() == 5 && !K.present() && Q.Shape[3] == 3) {
    LLMC_ASSIGN_OR_RETURN(Out.Q, fromPacked(C, Q, 0));
    LLMC_ASSIGN_OR_RETURN(Out.K, fromPacked(C, Q, 1));
    LLMC_ASSIGN_OR_RETURN(Out.V, fromPacked(C, Q, 2));
  } else {
    if (Q.rank() != 3 || N < 1 || Q.Shape[2] % N != 0 || !K.present())
      return malformedError("attention: query is " + describe(Q) + " for " +
                            std::to_string(N) + " heads");
    LLMC_ASSIGN_OR_RETURN(Out.Q, splitHeads(C.Limit, Q, N, 0, Q.Shape[2] / N));
    if (FromCache) {
      LLMC_ASSIGN_OR_RETURN(Out.K, fromHeads(C.Limit, K));
      LLMC_ASSIGN_OR_RETURN(Out.V, fromHeads(C.Limit, V));
    } else if (K.rank() == 5 && K.Shape[3] == 2) {
      LLMC_ASSIGN_OR_RETURN(Out.K, fromPacked(C, K, 0));
      LLMC_ASSIGN_OR_RETURN(Out.V, fromPacked(C, K, 1));
    } else {
      if (K.rank() != 3 || V.rank() != 3)
        return malformedError("attention: key is " + describe(K) + ", value " +
                              describe(V));
      LLMC_ASSIGN_OR_RETURN(Out.K,
                            splitHeads(C.Limit, K, N, 0, K.Shape[2] / N));
      LLMC_ASSIGN_OR_RETURN(Out.V,
                            splitHeads(C.Limit, V, N, 0, V.Shape[2] / N));
    }
  }
  if (!Bias.present())
    return Out;
  std::vector<double> All = load<double>(Bias);
  int64_t QK = Out.Q.Heads * Out.Q.Size;
  if (static_cast<int64_t>(All.size()) <
      (FromCache ? QK : 2 * QK + Out.V.Heads * Out.V.Size))
    return malformedError("attention: bias is " + describe(Bias));
  addBias(Out.Q, All, 0);
  if (!FromCache) {
    addBias(Out.K, All, static_cast<size_t>(QK));
    addBias(Out.V, All, static_cast<size_t>(2 * QK));
  }
  return Out;
}

/// The past in front of the new rows; with a shared buffer, `PastRows` of it.
Result<HeadTensor> withPast(const OpCall &C, const Tensor &Past, int64_t Rows,
                            const HeadTensor &New) {
  if (!Past.present())
    return New;
  LLMC_ASSIGN_OR_RETURN(HeadTensor Old, fromHeads(C.Limit, Past));
  if (Rows >= 0 && Rows <= Old.Rows && Rows != Old.Rows) {
    LLMC_ASSIGN_OR_RETURN(
        HeadTensor Short,
        makeHeads(C.Limit, Old.Batch, Old.Heads, Rows, Old.Size));
    for (int64_t B = 0; B < Old.Batch; ++B)
      for (int64_t H = 0; H < Old.Heads; ++H)
        std::copy_n(Old.row(B, H, 0), Rows * Old.Size, Short.row(B, H, 0));
    Old = std::move(Short);
  }
  return joinRows(C.Limit, Old, New);
}

/// As many rows as the buffer that the past came in.
Result<Tensor> present(const OpCall &C, const HeadTensor &X, const Tensor &Past,
                       bool Shared, DType Type) {
  if (!Shared || !Past.present() || Past.Shape[2] <= X.Rows)
    return toTensor(C.Limit, X, Type);
  LLMC_ASSIGN_OR_RETURN(HeadTensor Buffer, makeHeads(C.Limit, X.Batch, X.Heads,
                                                     Past.Shape[2], X.Size));
  for (int64_t B = 0; B < X.Batch; ++B)
    for (int64_t H = 0; H < X.Heads; ++H)
      std::copy_n(X.row(B, H, 0), X.Rows * X.Size, Buffer.row(B, H, 0));
  return toTensor(C.Limit, Buffer, Type);
}

/// Where the operands of the two ops are.
struct Places {
  unsigned Bias, Mask, ScoreBias, PastKey, PastLength, Indirection;
};

Outputs multiHead(const OpCall &C, const Places &At) {
  if (C.in(At.Indirection).present())
    return unsupportedError("evaluation: cache_indirection");
  LLMC_ASSIGN_OR_RETURN(Projected X,
                        project(C, C.in(0), C.in(1), C.in(2), C.in(At.Bias),
                                C.attr("num_heads", 0)));
  const Tensor &PastK = C.in(At.PastKey), &PastV = C.in(At.PastKey + 1);
  LLMC_ASSIGN_OR_RETURN(int64_t Rows, C.scalar(At.PastLength, -1));
  LLMC_ASSIGN_OR_RETURN(HeadTensor K, withPast(C, PastK, Rows, X.K));
  LLMC_ASSIGN_OR_RETURN(HeadTensor V, withPast(C, PastV, Rows, X.V));
  LLMC_ASSIGN_OR_RETURN(Attend How,
                        scoresOf(C, C.in(At.Mask), C.in(At.ScoreBias), X.Q, K));
  DType Type = C.in(0).Type;
  LLMC_ASSIGN_OR_RETURN(Tensor Out, attend(C.Limit, How, X.Q, K, V, Type));
  LLMC_ASSIGN_OR_RETURN(Tensor PresentK, present(C, K, PastK, Rows >= 0, Type));
  LLMC_ASSIGN_OR_RETURN(Tensor PresentV, present(C, V, PastV, Rows >= 0, Type));
  return std::vector<Tensor>{std::move(Out), std::move(PresentK),
                             std::move(PresentV), Tensor()};
}

/// Half `Index` of [2, B, N, P, H].
Result<Tensor> halfOf(const OpCall &C, const Tensor &Past, int64_t Index) {
  if (Past.rank() != 5 || Past.Shape[0] != 2)
    return malformedError("attention: past is " + describe(Past));
  LLMC_ASSIGN_OR_RETURN(Tensor Out,
                        C.Limit.allocate(Past.Type, Dims(Past.Shape.begin() + 1,
                                                         Past.Shape.end())));
  std::copy_n(Past.Bytes.begin() +
                  static_cast<ptrdiff_t>(Out.Bytes.size()) * Index,
              Out.Bytes.size(), Out.Bytes.begin());
  return Out;
}

Outputs attention(const OpCall &C) {
  if (C.attr("do_rotary", 0))
    return unsupportedError("evaluation: Attention with do_rotary");
  int64_t N = C.attr("num_heads", 0);
  LLMC_ASSIGN_OR_RETURN(Tensor All, matMul(C.Limit, C.in(0), C.in(1)));
  if (C.in(2).present()) {
    LLMC_ASSIGN_OR_RETURN(All, binary(C.Limit, Binary::Add, All, C.in(2)));
  }
  if (All.rank() != 3 || N < 1)
    return malformedError("attention: input is " + describe(C.in(0)));
  int64_t Sizes[3] = {All.Shape[2] / 3, All.Shape[2] / 3, All.Shape[2] / 3};
  if (mlir::DenseI64ArrayAttr A =
          C.Op->getAttrOfType<mlir::DenseI64ArrayAttr>("qkv_hidden_sizes");
      A && A.size() == 3)
    std::copy_n(A.asArrayRef().begin(), 3, Sizes);
  LLMC_ASSIGN_OR_RETURN(HeadTensor Q,
                        splitHeads(C.Limit, All, N, 0, Sizes[0] / N));
  LLMC_ASSIGN_OR_RETURN(HeadTensor NewK,
                        splitHeads(C.Limit, All, N, Sizes[0], Sizes[1] / N));
  LLMC_ASSIGN_OR_RETURN(
      HeadTensor NewV,
      splitHeads(C.Limit, All, N, Sizes[0] + Sizes[1], Sizes[2] / N));
  Tensor PastK, PastV;
  bool HasPast = C.in(4).present();
  if (HasPast) {
    LLMC_ASSIGN_OR_RETURN(PastK, halfOf(C, C.in(4), 0));
    LLMC_ASSIGN_OR_RETURN(PastV, halfOf(C, C.in(4), 1));
  }
  bool Shared = C.attr("past_present_share_buffer", 0) != 0;
  LLMC_ASSIGN_OR_RETURN(int64_t Rows, C.scalar(6, -1));
  Rows = Shared ? Rows : -1;
  LLMC_ASSIGN_OR_RETURN(HeadTensor K, withPast(C, PastK, Rows, NewK));
  LLMC_ASSIGN_OR_RETURN(HeadTensor V, withPast(C, PastV, Rows, NewV));
  LLMC_ASSIGN_OR_RETURN(Attend How, scoresOf(C, C.in(3), C.in(5), Q, K));
  DType Type = C.in(0).Type;
  LLMC_ASSIGN_OR_RETURN(Tensor Out, attend(C.Limit, How, Q, K, V, Type));
  LLMC_ASSIGN_OR_RETURN(Tensor PresentK, present(C, K, PastK, Shared, Type));
  LLMC_ASSIGN_OR_RETURN(Tensor PresentV, present(C, V, PastV, Shared, Type));
  Tensor Both;
  if (PresentK.Shape == PresentV.Shape) {
    PresentK.Shape.insert(PresentK.Shape.begin(), 1);
    PresentV.Shape.insert(PresentV.Shape.begin(), 1);
    LLMC_ASSIGN_OR_RETURN(Both, concat(C.Limit, {&PresentK, &PresentV}, 0));
  }
  return std::vector<Tensor>{std::move(Out), std::move(Both)};
}
} // namespace

void addMsAttention(HandlerMap &Map) {
  Map["onnx.ms_multi_head_attention"] = [](const OpCall &C) {
    return multiHead(C, {3, 4, 5, 6, 8, 9});
  };
  Map["onnx.ms_decoder_masked_multi_head_attention"] = [](const OpCall &C) {
    return multiHead(C, {10, 3, 4, 5, 7, 9});
  };
  Map["onnx.ms_attention"] = attention;
}

} // namespace llmc::eval
