// Rotary embedding and the recurrent mixers of the evaluator, in plain loops.
#include "compiler/eval/Attention.h"
#include "compiler/eval/Heads.h"

#include <algorithm>
#include <cmath>

namespace llmc::eval {

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

namespace {
/// Index of the cos and sin row for a token.
struct AngleRows {
  std::vector<int64_t> Positions; ///< empty: one row per token
  int64_t Rows, Columns;
};
} // namespace

static Result<AngleRows> angleRows(const HeadView &V, const Tensor &Cos,
                                   const Tensor &Sin, const Tensor &Positions) {
  int64_t Want = Positions.present() ? 2 : 3;
  if (Cos.rank() != Want || Cos.Shape != Sin.Shape)
    return malformedError("rotary_embedding: caches are " + describe(Cos) +
                          " and " + describe(Sin) + ", expected rank " +
                          std::to_string(Want));
  AngleRows R{{},
              Cos.count() / std::max<int64_t>(Cos.Shape.back(), 1),
              Cos.Shape.back()};
  int64_t Tokens = V.Batch * V.Length;
  if (!Positions.present()) {
    if (R.Rows != Tokens)
      return malformedError("rotary_embedding: cache " + describe(Cos) +
                            " for " + std::to_string(Tokens) + " tokens");
    return R;
  }
  R.Positions = load<int64_t>(Positions);
  if (static_cast<int64_t>(R.Positions.size()) != Tokens)
    return malformedError("rotary_embedding: position_ids are " +
                          describe(Positions) + " for " +
                          std::to_string(Tokens) + " tokens");
  for (int64_t P : R.Positions)
    if (P < 0 || P >= R.Rows)
      return malformedError("rotary_embedding: position " + std::to_string(P) +
                            " is outside of " + std::to_string(R.Rows) +
                            " rows");
  return R;
}

Result<Tensor> rotaryEmbedding(Budget &B, const Tensor &X, const Tensor &Cos,
                               const Tensor &Sin, const Tensor &Positions,
                               int64_t Heads, int64_t Rotated,
                               bool Interleaved) {
  LLMC_ASSIGN_OR_RETURN(HeadView V, viewHeads(X, Heads, "x"));
  LLMC_ASSIGN_OR_RETURN(AngleRows R, angleRows(V, Cos, Sin, Positions));
  int64_t Width = Rotated ? Rotated : V.Size;
  if (Width < 0 || Width > V.Size || Width % 2 || R.Columns != Width / 2)
    return malformedError("rotary_embedding: " + std::to_string(Width) +
                          " of " + std::to_string(V.Size) +
                          " features are rotated, the cache has " +
                          std::to_string(R.Columns) + " columns");
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  std::vector<double> Data = load<double>(X), C = load<double>(Cos),
                      S = load<double>(Sin);
  for (int64_t I = 0; I < V.Batch; ++I)
    for (int64_t T = 0; T < V.Length; ++T) {
      size_t Token = static_cast<size_t>(I * V.Length + T);
      int64_t Row = R.Positions.empty() ? static_cast<int64_t>(Token)
                                        : R.Positions[Token];
      for (int64_t H = 0; H < V.Heads; ++H)
        for (int64_t D = 0; D < Width / 2; ++D) {
          size_t Angle = static_cast<size_t>(Row * R.Columns + D);
          double &P = Data[V.at(I, H, T, Interleaved ? 2 * D : D)];
          double &N =
              Data[V.at(I, H, T, Interleaved ? 2 * D + 1 : D + Width / 2)];
          double Old = P;
          // Products are tensors of their own in the decomposition.
          P = roundTo(X.Type, Old * C[Angle]) - roundTo(X.Type, N * S[Angle]);
          N = roundTo(X.Type, Old * S[Angle]) + roundTo(X.Type, N * C[Angle]);
        }
    }
  store(Out, Data);
  return Out;
}

//===----------------------------------------------------------------------===//
// Recurrent mixers
//===----------------------------------------------------------------------===//

namespace {
/// One linear attention in flight; State is [batch, heads, key, value].
struct Recurrence {
  HeadView Q, K, V;
  std::vector<double> QData, KData, VData, Decay, Beta, State, Out;
  bool Gated, Delta;
  int64_t DecayWidth, BetaWidth; ///< per token
  double Scale;

  void token(int64_t B, int64_t T);
  void update(int64_t B, int64_t H, int64_t T, double *S) const;
};
} // namespace

void Recurrence::update(int64_t B, int64_t H, int64_t T, double *S) const {
  int64_t Row = B * K.Length + T;
  for (int64_t D = 0; D < K.Size && Gated; ++D) {
    int64_t At = DecayWidth == K.Heads ? H : H * K.Size + D;
    double Factor = std::exp(Decay[static_cast<size_t>(Row * DecayWidth + At)]);
    for (int64_t M = 0; M < V.Size; ++M)
      S[D * V.Size + M] *= Factor;
  }
  double Rate = 1;
  if (Delta)
    Rate = Beta[static_cast<size_t>(Row * BetaWidth + (BetaWidth > 1 ? H : 0))];
  for (int64_t M = 0; M < V.Size; ++M) {
    double Value = VData[V.at(B, H, T, M)], Known = 0;
    for (int64_t D = 0; D < K.Size && Delta; ++D)
      Known += S[D * V.Size + M] * KData[K.at(B, H, T, D)];
    Value = Rate * (Value - Known);
    for (int64_t D = 0; D < K.Size; ++D)
      S[D * V.Size + M] += KData[K.at(B, H, T, D)] * Value;
  }
}

void Recurrence::token(int64_t B, int64_t T) {
  int64_t Block = K.Size * V.Size;
  for (int64_t H = 0; H < K.Heads; ++H)
    update(B, H, T, State.data() + (B * K.Heads + H) * Block);
  HeadView Y{Q.Batch, Q.Heads, Q.Length, V.Size, true};
  for (int64_t H = 0; H < Q.Heads; ++H) {
    int64_t From = H / (Q.Heads / K.Heads);
    const double *S = State.data() + (B * K.Heads + From) * Block;
    for (int64_t M = 0; M < V.Size; ++M) {
      double Sum = 0;
      for (int64_t D = 0; D < K.Size; ++D)
        Sum += QData[Q.at(B, H, T, D)] * S[D * V.Size + M];
      Out[Y.at(B, H, T, M)] = Scale * Sum;
    }
  }
}

static Status checkRecurrence(const Recurrence &R, const Tensor &Past,
                              const Tensor &Decay, const Tensor &Beta) {
  Dims Want{R.K.Batch, R.K.Heads, R.K.Size, R.V.Size};
  if (R.Q.Batch != R.K.Batch || R.K.Batch != R.V.Batch ||
      R.Q.Length != R.K.Length || R.K.Length != R.V.Length ||
      R.Q.Size != R.K.Size || !R.Q.Packed || !R.K.Packed || !R.V.Packed ||
      R.Q.Heads % R.K.Heads || (Past.present() && Past.Shape != Want))
    return malformedError("linear_attention: shapes do not fit");
  if (R.Gated != Decay.present() || R.Delta != Beta.present())
    return malformedError(
        "linear_attention: decay and beta do not fit the update rule");
  const auto Fits = [&](const Tensor &T, int64_t A, int64_t B) {
    return T.rank() == 3 && T.Shape[0] == R.K.Batch &&
           T.Shape[1] == R.K.Length && (T.Shape[2] == A || T.Shape[2] == B);
  };
  if ((R.Gated && !Fits(Decay, R.K.Heads, R.K.Heads * R.K.Size)) ||
      (R.Delta && !Fits(Beta, R.K.Heads, 1)))
    return malformedError("linear_attention: decay is " + describe(Decay) +
                          ", beta " + describe(Beta) + ", heads " +
                          std::to_string(R.K.Heads));
  return Status::success();
}

Result<std::vector<Tensor>>
linearAttention(Budget &B, const LinearAttentionInputs &In, int64_t QueryHeads,
                int64_t KeyHeads, bool Gated, bool Delta, double Scale) {
  LLMC_ASSIGN_OR_RETURN(HeadView Q, viewHeads(In.Query, QueryHeads, "query"));
  LLMC_ASSIGN_OR_RETURN(HeadView K, viewHeads(In.Key, KeyHeads, "key"));
  LLMC_ASSIGN_OR_RETURN(HeadView V, viewHeads(In.Value, KeyHeads, "value"));
  Recurrence R{Q,
               K,
               V,
               load<double>(In.Query),
               load<double>(In.Key),
               load<double>(In.Value),
               {},
               {},
               {},
               {},
               Gated,
               Delta,
               0,
               0,
               Scale};
  LLMC_RETURN_IF_ERROR(checkRecurrence(R, In.PastState, In.Decay, In.Beta));
  if (Gated) {
    R.Decay = load<double>(In.Decay);
    R.DecayWidth = In.Decay.Shape[2];
  }
  if (Delta) {
    R.Beta = load<double>(In.Beta);
    R.BetaWidth = In.Beta.Shape[2];
  }
  if (Scale == 0)
    R.Scale = 1 / std::sqrt(static_cast<double>(K.Size));
  LLMC_ASSIGN_OR_RETURN(
      Tensor Out,
      B.allocate(In.Query.Type, {Q.Batch, Q.Length, Q.Heads * V.Size}));
  LLMC_ASSIGN_OR_RETURN(
      Tensor State,
      B.allocate(In.PastState.present() ? In.PastState.Type : In.Query.Type,
                 {K.Batch, K.Heads, K.Size, V.Size}));
  LLMC_RETURN_IF_ERROR(B.work(
      countOf({4, State.count(), std::max<int64_t>(Q.Length, 1), Q.Heads})));
  R.State.resize(static_cast<size_t>(State.count()));
  if (In.PastState.present())
    R.State = load<double>(In.PastState);
  R.Out.resize(static_cast<size_t>(Out.count()));
  for (int64_t I = 0; I < Q.Batch; ++I)
    for (int64_t T = 0; T < Q.Length; ++T)
      R.token(I, T);
  store(Out, R.Out);
  store(State, R.State);
  std::vector<Tensor> All;
  All.push_back(std::move(Out));
  All.push_back(std::move(State));
  return All;
}

Result<std::vector<Tensor>> causalConv(Budget &B, const Tensor &X,
                                       const Tensor &W, const Tensor &Bias,
                                       const Tensor &Past, bool Silu) {
  if (X.rank() != 3 || W.rank() != 3 || W.Shape[0] != X.Shape[1] ||
      W.Shape[1] != 1 || W.Shape[2] < 1 || !isFloat(X.Type) || W.Type != X.Type)
    return malformedError("causal_conv_with_state of " + describe(X) + " and " +
                          describe(W));
  int64_t Batch = X.Shape[0], Channels = X.Shape[1], Length = X.Shape[2];
  int64_t Kernel = W.Shape[2], Keep = Kernel - 1, Padded = Length + Keep;
  Dims StateShape{Batch, Channels, Keep};
  if ((Past.present() && Past.Shape != StateShape) ||
      (Bias.present() && Bias.count() != Channels))
    return malformedError("causal_conv_with_state: state " + describe(Past) +
                          ", bias " + describe(Bias) + " for " + describe(X));
  LLMC_ASSIGN_OR_RETURN(Tensor State, B.allocate(X.Type, StateShape));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  LLMC_RETURN_IF_ERROR(B.work(countOf({Out.count(), Kernel})));
  std::vector<double> V = load<double>(X), Weights = load<double>(W), Add,
                      Before, After, Y;
  if (Past.present())
    Before = load<double>(Past);
  else
    Before.resize(static_cast<size_t>(State.count()));
  Add.resize(static_cast<size_t>(Channels));
  if (Bias.present())
    Add = load<double>(Bias);
  int64_t Lines = Batch * Channels; // without any, a kernel may have any size
  std::vector<double> Line(static_cast<size_t>(Lines ? Padded : 0));
  for (int64_t Row = 0; Row < Lines; ++Row) {
    std::copy_n(Before.begin() + Row * Keep, Keep, Line.begin());
    std::copy_n(V.begin() + Row * Length, Length, Line.begin() + Keep);
    int64_t C = Row % Channels;
    for (int64_t T = 0; T < Length; ++T) {
      double Sum = Add[static_cast<size_t>(C)];
      for (int64_t I = 0; I < Kernel; ++I)
        Sum += Line[static_cast<size_t>(T + I)] *
               Weights[static_cast<size_t>(C * Kernel + I)];
      Sum = roundTo(X.Type, Sum);
      Y.push_back(Silu ? Sum / (1 + std::exp(-Sum)) : Sum);
    }
    After.insert(After.end(), Line.end() - Keep, Line.end());
  }
  store(Out, Y);
  store(State, After);
  std::vector<Tensor> All;
  All.push_back(std::move(Out));
  All.push_back(std::move(State));
  return All;
}

} // namespace llmc::eval
