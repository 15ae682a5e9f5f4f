// Attention of the evaluator in plain loops. Values are rounded to the element
// type where the standard's decomposition has a tensor of that type, so that
// f16 and bf16 graphs give what their primitives would.
#include "compiler/eval/Attention.h"
#include "compiler/eval/Heads.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmc::eval {

namespace {
constexpr double Infinity = std::numeric_limits<double>::infinity();
/// Beyond every position; sums with it do not overflow.
constexpr int64_t Far = int64_t(1) << 50;

/// Which keys a query may see, and what is added to its scores.
struct Mask {
  const Tensor &Given;
  std::vector<double> Values;
  Dims Strides;       ///< over [batch, heads, queries]
  int64_t Length = 0; ///< keys that the mask covers
};
} // namespace

/// Past and new tokens behind one another, [batch, heads, total, size].
static Result<Tensor> joinCache(Budget &B, const Tensor &Past, const Tensor &X,
                                const HeadView &V) {
  Tensor Split = X;
  if (V.Packed) {
    LLMC_ASSIGN_OR_RETURN(
        Split, reshape(B, X, {V.Batch, V.Length, V.Heads, V.Size}, true));
    LLMC_ASSIGN_OR_RETURN(Split, transpose(B, Split, {0, 2, 1, 3}));
  }
  if (!Past.present())
    return Split;
  return concat(B, {&Past, &Split}, 2);
}

static Result<Mask> readMask(const Tensor &Given, const Dims &Scores) {
  Mask M{Given, {}, {0, 0, 0}, Scores[3]};
  if (!Given.present())
    return M;
  M.Length = Given.Shape.empty() ? 1 : Given.Shape.back();
  Dims Outer(Scores.begin(), Scores.end() - 1);
  Dims Own(Given.Shape.begin(), Given.Shape.end() - (Given.rank() ? 1 : 0));
  Result<Dims> Joined = broadcastShapes(Own, Outer);
  if (M.Length > Scores[3] || !Joined || *Joined != Outer ||
      (Given.Type != DType::Bool && !isFloat(Given.Type)))
    return malformedError("attention: mask " + describe(Given) + " for " +
                          std::to_string(Scores[2]) + " queries and " +
                          std::to_string(Scores[3]) + " keys");
  M.Strides = broadcastStrides(Own, Outer);
  for (int64_t &S : M.Strides)
    S *= M.Length;
  M.Values = load<double>(Given);
  return M;
}

static double maskAt(const Mask &M, size_t Row, int64_t Key) {
  if (!M.Given.present())
    return 0;
  if (Key >= M.Length) // shorter masks are continued with "not visible"
    return -Infinity;
  double V = M.Values[Row + static_cast<size_t>(Key)];
  return M.Given.Type == DType::Bool ? (V != 0 ? 0 : -Infinity) : V;
}

/// Softmax of one row of scores plus biases. A row that may see nothing is
/// zeros whatever its scores are.
static void softmaxRow(std::vector<double> &Scores, bool AllMasked,
                       DType Precision) {
  double Peak = -Infinity, Sum = 0;
  for (double &S : Scores) {
    S = roundTo(Precision, S);
    Peak = std::max(Peak, S);
  }
  if (AllMasked || Peak == -Infinity) {
    std::fill(Scores.begin(), Scores.end(), 0.0);
    return;
  }
  for (double &S : Scores) {
    S = roundTo(Precision, std::exp(S - Peak));
    Sum += S;
  }
  for (double &S : Scores)
    S = roundTo(Precision, S / roundTo(Precision, Sum));
}

namespace {
/// One attention in flight.
struct Run {
  const AttentionOptions &O;
  DType Type;
  HeadView Q, K, V; ///< K and V with the past
  std::vector<double> QData, KData, VData;
  Mask M;
  std::vector<int64_t> Offset, Keys; ///< per batch
  std::vector<double> Out, Captured;

  void row(int64_t B, int64_t H, int64_t I);
};
} // namespace

void Run::row(int64_t B, int64_t H, int64_t I) {
  int64_t Total = K.Length, KvHead = H / (Q.Heads / K.Heads);
  std::vector<double> Scores(static_cast<size_t>(Total));
  size_t MaskRow = static_cast<size_t>(B * M.Strides[0] + H * M.Strides[1] +
                                       I * M.Strides[2]);
  size_t From = static_cast<size_t>(((B * Q.Heads + H) * Q.Length + I) * Total);
  const auto Capture = [&](int64_t Mode, int64_t Key, double Value) {
    if (!Captured.empty() && O.OutputMode == Mode)
      Captured[From + static_cast<size_t>(Key)] = Value;
  };
  bool AllMasked = true;
  int64_t Position = Offset[static_cast<size_t>(B)] + I;
  for (int64_t J = 0; J < Total; ++J) {
    double Sum = 0;
    for (int64_t D = 0; D < Q.Size; ++D)
      Sum += QData[Q.at(B, H, I, D)] * KData[K.at(B, KvHead, J, D)];
    double S = roundTo(Type, Sum);
    Capture(0, J, S);
    if (O.Softcap > 0)
      S = roundTo(Type,
                  O.Softcap *
                      roundTo(Type, std::tanh(roundTo(Type, S / O.Softcap))));
    Capture(1, J, S);
    bool Hidden = (O.Causal && J > Position) ||
                  (O.Left >= 0 && J < Position - std::min(O.Left, Far)) ||
                  (O.Right >= 0 && J > Position + std::min(O.Right, Far)) ||
                  J >= Keys[static_cast<size_t>(B)];
    double Bias = Hidden ? -Infinity : maskAt(M, MaskRow, J);
    AllMasked &= Bias == -Infinity;
    S = roundTo(Type, S + Bias);
    Capture(2, J, S);
    Scores[static_cast<size_t>(J)] = S;
  }
  softmaxRow(Scores, AllMasked, O.SoftmaxType);
  for (int64_t J = 0; J < Total; ++J) {
    double &P = Scores[static_cast<size_t>(J)];
    P = roundTo(Type, P);
    Capture(3, J, P);
  }
  HeadView Y{Q.Batch, Q.Heads, Q.Length, V.Size, Q.Packed};
  for (int64_t D = 0; D < V.Size; ++D) {
    double Sum = 0;
    for (int64_t J = 0; J < Total; ++J) {
      double P = Scores[static_cast<size_t>(J)];
      if (P != 0) // what nobody sees may be NaN
        Sum += P * VData[V.at(B, KvHead, J, D)];
    }
    Out[Y.at(B, H, I, D)] = Sum;
  }
}

static std::vector<double> scaled(const Tensor &X, double Factor) {
  std::vector<double> V = load<double>(X);
  for (double &E : V)
    E = roundTo(X.Type, E * Factor);
  return V;
}

static Status checkShapes(const Run &R, const AttentionInputs &In) {
  std::string All =
      describe(In.Q) + ", " + describe(In.K) + ", " + describe(In.V);
  if (In.Q.Type != In.K.Type || !isFloat(In.Q.Type) || !isFloat(In.V.Type))
    return malformedError("attention of " + All);
  if (R.Q.Batch != R.K.Batch || R.K.Batch != R.V.Batch ||
      R.Q.Size != R.K.Size || R.K.Heads != R.V.Heads ||
      R.K.Length != R.V.Length || R.K.Heads < 1 || R.Q.Heads % R.K.Heads)
    return malformedError("attention: shapes do not fit: " + All);
  return Status::success();
}

/// Where the first query stands and how many keys are real, per batch.
static Status placeQueries(Run &R, const AttentionInputs &In) {
  size_t Batches = static_cast<size_t>(R.Q.Batch);
  int64_t Past = In.PastKey.present() ? In.PastKey.Shape[2] : 0;
  R.Offset.assign(Batches, Past);
  R.Keys.assign(Batches, R.K.Length);
  if (!In.NonpadLength.present())
    return Status::success();
  std::vector<int64_t> N = load<int64_t>(In.NonpadLength);
  if (N.size() != Batches)
    return malformedError("attention: nonpad_kv_seqlen is " +
                          describe(In.NonpadLength) + ", batches " +
                          std::to_string(Batches));
  for (size_t I = 0; I < Batches; ++I) {
    R.Keys[I] = std::clamp<int64_t>(N[I], -Far, Far);
    R.Offset[I] = R.Keys[I] - R.Q.Length;
  }
  return Status::success();
}

Result<std::vector<Tensor>> attention(Budget &B, const AttentionInputs &In,
                                      const AttentionOptions &O) {
  LLMC_ASSIGN_OR_RETURN(HeadView Q, viewHeads(In.Q, O.QueryHeads, "q"));
  LLMC_ASSIGN_OR_RETURN(HeadView K, viewHeads(In.K, O.KeyHeads, "k"));
  LLMC_ASSIGN_OR_RETURN(HeadView V, viewHeads(In.V, O.KeyHeads, "v"));
  LLMC_ASSIGN_OR_RETURN(Tensor Keys, joinCache(B, In.PastKey, In.K, K));
  LLMC_ASSIGN_OR_RETURN(Tensor Values, joinCache(B, In.PastValue, In.V, V));
  LLMC_ASSIGN_OR_RETURN(K, viewHeads(Keys, 0, "k"));
  LLMC_ASSIGN_OR_RETURN(V, viewHeads(Values, 0, "v"));
  Dims Scores{Q.Batch, Q.Heads, Q.Length, K.Length};
  LLMC_ASSIGN_OR_RETURN(Mask M, readMask(In.Mask, Scores));
  Run R{O, In.Q.Type, Q, K, V, {}, {}, {}, std::move(M), {}, {}, {}, {}};
  LLMC_RETURN_IF_ERROR(checkShapes(R, In));
  LLMC_RETURN_IF_ERROR(placeQueries(R, In));
  HeadView Y{Q.Batch, Q.Heads, Q.Length, V.Size, Q.Packed};
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(In.Q.Type, Y.shape()));
  LLMC_ASSIGN_OR_RETURN(
      Tensor Captured,
      B.allocate(In.Q.Type, O.WantScores ? Scores : Dims{0, 0, 0, 0}));
  LLMC_RETURN_IF_ERROR(B.work(
      countOf({countOf(Scores), std::max(Q.Size + V.Size, int64_t(1))})));
  double Scale =
      O.Scale ? *O.Scale : 1 / std::sqrt(static_cast<double>(Q.Size));
  double Root = roundTo(In.Q.Type, std::sqrt(Scale));
  R.QData = scaled(In.Q, Root);
  R.KData = scaled(Keys, Root);
  R.VData = load<double>(Values);
  R.Out.resize(static_cast<size_t>(Out.count()));
  R.Captured.resize(static_cast<size_t>(Captured.count()));
  for (int64_t I = 0; I < Q.Batch; ++I)
    for (int64_t H = 0; H < Q.Heads; ++H)
      for (int64_t T = 0; T < Q.Length; ++T)
        R.row(I, H, T);
  store(Out, R.Out);
  store(Captured, R.Captured);
  std::vector<Tensor> All;
  for (Tensor *T : {&Out, &Keys, &Values, &Captured})
    All.push_back(std::move(*T));
  return All;
}

} // namespace llmc::eval
