// MoE and QMoE of com.microsoft: the k best experts of each token.
#include "compiler/eval/Microsoft.h"
#include "compiler/eval/Ops.h"
#include "compiler/weights/Encoding.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace llmc::eval {

namespace {
/// The weights of one layer of all experts as [E][Rows][Columns].
struct Layer {
  int64_t Experts = 0, Rows = 0, Columns = 0;
  std::vector<double> W, Bias;

  /// W x + bias of one expert.
  std::vector<double> apply(int64_t E, const std::vector<double> &X) const {
    std::vector<double> Y(static_cast<size_t>(Rows));
    for (int64_t R = 0; R < Rows; ++R) {
      double Sum = Bias.empty() ? 0 : Bias[static_cast<size_t>(E * Rows + R)];
      const double *Row = W.data() + (E * Rows + R) * Columns;
      for (int64_t I = 0; I < Columns; ++I)
        Sum += Row[I] * X[static_cast<size_t>(I)];
      Y[static_cast<size_t>(R)] = Sum;
    }
    return Y;
  }
};

Status addBias(Layer &L, const Tensor &Bias) {
  if (!Bias.present())
    return Status::success();
  if (Bias.count() != L.Experts * L.Rows)
    return malformedError("experts: a bias of " + describe(Bias) + " for " +
                          std::to_string(L.Rows) + " rows");
  L.Bias = load<double>(Bias);
  return Status::success();
}

/// [E, rows, columns], or [E, columns, rows] as older files have it.
Result<Layer> plainLayer(const OpCall &C, const Tensor &T, const Tensor &Bias,
                         int64_t Columns) {
  if (T.rank() != 3 || (T.Shape[2] != Columns && T.Shape[1] != Columns))
    return malformedError("experts: weights are " + describe(T) +
                          ", expected " + std::to_string(Columns) + " columns");
  bool Turned = T.Shape[2] != Columns;
  Layer L{T.Shape[0], Turned ? T.Shape[2] : T.Shape[1], Columns, {}, {}};
  LLMC_RETURN_IF_ERROR(C.Limit.work(T.count()));
  L.W = load<double>(T);
  if (Turned) {
    std::vector<double> From = std::move(L.W);
    L.W.resize(From.size());
    for (int64_t E = 0; E < L.Experts; ++E)
      for (int64_t R = 0; R < L.Rows; ++R)
        for (int64_t I = 0; I < Columns; ++I)
          L.W[static_cast<size_t>((E * L.Rows + R) * Columns + I)] =
              From[static_cast<size_t>((E * Columns + I) * L.Rows + R)];
  }
  LLMC_RETURN_IF_ERROR(addBias(L, Bias));
  return L;
}

Result<Layer> quantLayer(const OpCall &C, const Tensor &T, const Tensor &Scales,
                         const Tensor &Zero, const Tensor &Bias,
                         int64_t Columns, int64_t Bits) {
  if (isFloat(T.Type) && !Scales.present()) // llmc-canonicalize-quantized
    return plainLayer(C, T, Bias, Columns);
  if (T.rank() != 3 || T.Type != DType::U8 || T.Shape[2] * 8 / Bits != Columns)
    return malformedError("experts: weights are " + describe(T) +
                          ", expected " + std::to_string(Columns) +
                          " columns of " + std::to_string(Bits) + " bits");
  Layer L{T.Shape[0], T.Shape[1], Columns, {}, {}};
  int64_t Rows = L.Experts * L.Rows;
  LLMC_RETURN_IF_ERROR(C.Limit.work(2 * Rows * Columns));
  L.W = unpackCodes(T, Rows, T.Shape[2], Columns, Bits);
  int64_t Blocks = Rows ? Scales.count() / Rows : 0;
  if (Blocks < 1 || Blocks * Rows != Scales.count() || Columns % Blocks != 0)
    return malformedError("experts: scales are " + describe(Scales) + " for " +
                          describe(T));
  std::vector<double> S = load<double>(Scales);
  std::vector<double> Z(S.size(),
                        static_cast<double>(int64_t(1) << (Bits - 1)));
  if (Zero.present()) {
    // Packed along the blocks of a row, or along the rows where each has one.
    bool AlongRows = Blocks == 1 && Zero.rank() == 2;
    int64_t Groups = AlongRows ? L.Experts : Rows,
            Each = AlongRows ? L.Rows : Blocks;
    int64_t Bytes = (Each * Bits + 7) / 8;
    if (Zero.count() != Groups * Bytes)
      return malformedError("experts: zero points are " + describe(Zero) +
                            ", expected " + std::to_string(Groups * Bytes) +
                            " elements");
    Z = unpackCodes(Zero, Groups, Bytes, Each, Bits);
  }
  int64_t Block = Columns / Blocks;
  for (int64_t I = 0; I < Rows * Columns; ++I) {
    size_t At = static_cast<size_t>(I / Columns * Blocks + I % Columns / Block);
    double &W = L.W[static_cast<size_t>(I)];
    W = (W - Z[At]) * S[At];
  }
  LLMC_RETURN_IF_ERROR(addBias(L, Bias));
  return L;
}

/// The operands of one layer in floats of 4 or 8 bits.
struct FloatCodes {
  const Tensor &Codes, &Scales, &Global, &Bias;
};

/// Floats of 4 bits [E, R, C / 2] (nvfp4 also [E, C, R / 2]) or of 8 bits
/// [E, R, C], with scales of blocks and of whole experts.
Result<Layer> floatLayer(const OpCall &C, const FloatCodes &F,
                         int64_t Columns) {
  llvm::StringRef Kind = C.text("quant_type", "int");
  bool Fp8 = Kind == "fp8";
  int64_t Block = Fp8 ? C.attr("block_size", 0) : (Kind == "nvfp4" ? 16 : 32);
  const Tensor &T = F.Codes;
  if (T.rank() != 3 || (Block > 0 && F.Scales.rank() != 3))
    return malformedError("experts: weights are " + describe(T) + ", scales " +
                          describe(F.Scales));
  int64_t Count = T.count() * (Fp8 ? 1 : 2), E = T.Shape[0];
  LLMC_RETURN_IF_ERROR(C.Limit.work(2 * Count));
  Layer L{E, E && Columns ? Count / E / Columns : 0, Columns, {}, {}};
  // Which way round the dims of nvfp4 name it, and its bytes lie.
  bool Named = Kind == "nvfp4" && T.Shape[1] == Columns &&
               T.Shape[2] * 2 == F.Scales.Shape[1];
  bool Turned = Named && C.attr("weights_prepacked", -1) != 1;
  if (L.Rows * Columns * E != Count ||
      (!Named && (T.Shape[2] * (Fp8 ? 1 : 2) != Columns)))
    return malformedError("experts: weights are " + describe(T) +
                          ", expected " + std::to_string(Columns) + " columns");
  std::vector<double> Codes;
  if (Fp8) {
    Codes = load<double>(T);
  } else {
    Encoding Book;
    Book.Code = DType::F4E2M1;
    const float *Values = codebookOf(Book);
    Codes = unpackCodes(T, 1, Count / 2, Count, 4);
    for (double &Code : Codes)
      Code = static_cast<double>(Values[static_cast<int>(Code)]);
  }
  int64_t BlockRows = Fp8 ? Block : 1, Across = 1, Down = 1;
  std::vector<double> S, G;
  if (Block > 0) {
    Across = (Columns + Block - 1) / Block;
    Down = (L.Rows + BlockRows - 1) / BlockRows;
    if (F.Scales.count() != E * Across * Down)
      return malformedError("experts: scales are " + describe(F.Scales) +
                            " for " + describe(T));
    S = load<double>(F.Scales);
  }
  if (!Fp8 || Block <= 0) {
    if (F.Global.count() != E)
      return malformedError("experts: a global scale of " + describe(F.Global) +
                            " for " + std::to_string(E) + " experts");
    G = load<double>(F.Global);
  }
  L.W.resize(Codes.size());
  for (int64_t I = 0; I < Count; ++I) {
    int64_t Expert = I / (L.Rows * Columns), In = I % (L.Rows * Columns);
    int64_t R = In / Columns, Col = In % Columns;
    size_t From =
        static_cast<size_t>(Turned ? (Expert * Columns + Col) * L.Rows + R : I);
    double Scale = G.empty() ? 1 : G[static_cast<size_t>(Expert)];
    if (!S.empty())
      Scale *= S[static_cast<size_t>((Expert * Down + R / BlockRows) * Across +
                                     Col / Block)];
    L.W[static_cast<size_t>(I)] = Codes[From] * Scale;
  }
  LLMC_RETURN_IF_ERROR(addBias(L, F.Bias));
  return L;
}

//===----------------------------------------------------------------------===//
// Activation and routing
//===----------------------------------------------------------------------===//

double sigmoid(double X) { return 1 / (1 + std::exp(-X)); }

/// Both ONNX Runtime's "gelu" and its "geglu" of experts.
double tanhGelu(double X) {
  double Inner = std::sqrt(2 / M_PI) * (X + 0.044715 * X * X * X);
  return 0.5 * X * (1 + std::tanh(Inner));
}

struct Activation {
  llvm::StringRef Kind;
  double Alpha = 1, Beta = 0, Limit = std::numeric_limits<double>::infinity();
  int64_t Fusion = 0;
  bool LimitAfter = false;

  double plain(double X) const {
    if (Kind == "relu")
      return std::max(X, 0.0);
    if (Kind == "relu2")
      return std::max(X, 0.0) * std::max(X, 0.0);
    if (Kind == "gelu")
      return tanhGelu(X);
    return Kind == "identity" ? X : X * sigmoid(X);
  }

  double gated(double G, double L) const {
    if (Kind == "geglu")
      return tanhGelu(G) * L;
    if (!LimitAfter)
      G = std::min(G, Limit);
    L = std::clamp(L, -Limit, Limit);
    double A = G * sigmoid(Alpha * G);
    return (LimitAfter ? std::min(A, Limit) : A) * (L + Beta);
  }
};

Activation activationOf(const OpCall &C) {
  Activation A;
  A.Kind = C.text("activation_type", "relu");
  A.Alpha = C.floatAttr("activation_alpha", 1);
  A.Beta = C.floatAttr("activation_beta", 0);
  A.Limit =
      C.floatAttr("swiglu_limit", std::numeric_limits<double>::infinity());
  A.Fusion = C.attr("swiglu_fusion", 0);
  A.LimitAfter = C.attr("swiglu_limit_after_activation", 0) != 0;
  return A;
}

bool isGated(const Activation &A) {
  return A.Kind == "swiglu" || A.Kind == "geglu";
}

/// The activated hidden row of fc1 (and fc3).
Result<std::vector<double>> hidden(const Activation &A,
                                   const std::vector<double> &First,
                                   const std::vector<double> *Third) {
  std::vector<double> Out;
  if (isGated(A) && !Third) {
    size_t Half = First.size() / 2;
    for (size_t I = 0; I < Half; ++I)
      Out.push_back(A.Fusion == 1 ? A.gated(First[2 * I], First[2 * I + 1])
                                  : A.gated(First[I], First[Half + I]));
    return Out;
  }
  if (Third && Third->size() != First.size())
    return malformedError("experts: fc1 gives " + std::to_string(First.size()) +
                          " elements, fc3 " + std::to_string(Third->size()));
  for (size_t I = 0; I < First.size(); ++I)
    Out.push_back(!Third       ? A.plain(First[I])
                  : isGated(A) ? A.gated(First[I], (*Third)[I])
                               : A.plain(First[I]) * (*Third)[I]);
  return Out;
}

struct Routed {
  std::vector<int64_t> Experts;
  std::vector<double> Weights;
};

/// The k largest logits; softmax over all, summing to one when `Normalise`.
Routed route(const double *Logits, const double *Weights, int64_t N, int64_t K,
             bool Normalise) {
  std::vector<int64_t> Order(static_cast<size_t>(N));
  std::iota(Order.begin(), Order.end(), 0);
  std::stable_sort(Order.begin(), Order.end(),
                   [&](int64_t A, int64_t B) { return Logits[A] > Logits[B]; });
  Routed Out;
  double Max = N ? Logits[Order[0]] : 0, Sum = 0, Chosen = 0;
  for (int64_t I = 0; I < N; ++I)
    Sum += std::exp(Logits[I] - Max);
  for (int64_t I = 0; I < K; ++I) {
    int64_t E = Order[static_cast<size_t>(I)];
    double W = Weights ? Weights[E] : std::exp(Logits[E] - Max) / Sum;
    Out.Experts.push_back(E);
    Out.Weights.push_back(W);
    Chosen += W;
  }
  if (Normalise && Chosen > 0)
    for (double &W : Out.Weights)
      W /= Chosen;
  return Out;
}

/// The two experts of the sparse mixer (Phi-3.5-MoE, jitter 0.01): each weighs
/// its softmax among those that are nearly as large, the second one without
/// the first.
Routed mixSparsely(const double *Logits, int64_t N) {
  constexpr double Near = 0.02;
  Routed Out;
  for (int Round = 0; Round < 2; ++Round) {
    int64_t First = Round ? Out.Experts[0] : -1, Best = -1;
    for (int64_t I = 0; I < N; ++I)
      if (I != First && (Best < 0 || Logits[I] > Logits[Best]))
        Best = I;
    double Max = Logits[Best], Sum = 0;
    for (int64_t I = 0; I < N; ++I)
      if (I != First &&
          !((Max - Logits[I]) / std::max(std::abs(Logits[I]), Max) > Near))
        Sum += std::exp(Logits[I] - Max);
    Out.Experts.push_back(Best);
    Out.Weights.push_back(1 / Sum);
  }
  return Out;
}

struct Experts {
  Layer First, Second;
  std::optional<Layer> Third;
};

Result<Tensor> run(const OpCall &C, const Experts &E, const Tensor &Weights) {
  bool Sparse = C.attr("use_sparse_mixer", 0) != 0;
  const Tensor &X = C.in(0), &Router = C.in(1);
  int64_t D = E.First.Columns, Tokens = D ? X.count() / D : 0,
          N = E.First.Experts, K = C.attr("k", 1);
  if (Router.count() != Tokens * N || K < 1 || K > N || E.Second.Experts != N ||
      E.Second.Rows != D || (Sparse && K != 2) ||
      (Weights.present() && Weights.count() != Router.count()))
    return malformedError("experts: router_probs are " + describe(Router) +
                          " for " + std::to_string(N) + " experts and " +
                          std::to_string(Tokens) + " tokens");
  int64_t Work = countOf({Tokens, K, D, E.First.Rows + E.Second.Columns});
  LLMC_RETURN_IF_ERROR(C.Limit.work(Work < 0 ? INT64_MAX : Work));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, C.Limit.allocate(X.Type, X.Shape));
  std::vector<double> In = load<double>(X), Logits = load<double>(Router),
                      Given, Sums(In.size(), 0);
  if (Weights.present())
    Given = load<double>(Weights);
  Activation A = activationOf(C);
  for (int64_t T = 0; T < Tokens; ++T) {
    std::vector<double> Row(In.begin() + T * D, In.begin() + (T + 1) * D);
    Routed R = Sparse ? mixSparsely(Logits.data() + T * N, N)
                      : route(Logits.data() + T * N,
                              Given.empty() ? nullptr : Given.data() + T * N, N,
                              K, C.attr("normalize_routing_weights", 0) != 0);
    for (size_t I = 0; I < R.Experts.size(); ++I) {
      std::vector<double> First = E.First.apply(R.Experts[I], Row), Third;
      if (E.Third)
        Third = E.Third->apply(R.Experts[I], Row);
      LLMC_ASSIGN_OR_RETURN(std::vector<double> H,
                            hidden(A, First, E.Third ? &Third : nullptr));
      if (static_cast<int64_t>(H.size()) != E.Second.Columns)
        return malformedError(
            "experts: fc2 takes " + std::to_string(E.Second.Columns) +
            " elements, fc1 gives " + std::to_string(H.size()));
      std::vector<double> Y = E.Second.apply(R.Experts[I], H);
      for (int64_t J = 0; J < D; ++J)
        Sums[static_cast<size_t>(T * D + J)] +=
            R.Weights[I] * Y[static_cast<size_t>(J)];
    }
  }
  store(Out, Sums);
  return Out;
}

/// Elements of the hidden row that fc2 takes.
int64_t innerSize(const OpCall &C, int64_t FirstRows, bool HasThird) {
  return isGated(activationOf(C)) && !HasThird ? FirstRows / 2 : FirstRows;
}

Outputs moe(const OpCall &C) {
  if (C.in(0).rank() < 1)
    return malformedError("experts: input is " + describe(C.in(0)));
  int64_t D = C.in(0).Shape.back();
  Experts E;
  LLMC_ASSIGN_OR_RETURN(E.First, plainLayer(C, C.in(2), C.in(3), D));
  if (C.in(6).present()) {
    LLMC_ASSIGN_OR_RETURN(E.Third, plainLayer(C, C.in(6), C.in(7), D));
  }
  LLMC_ASSIGN_OR_RETURN(
      E.Second, plainLayer(C, C.in(4), C.in(5),
                           innerSize(C, E.First.Rows, E.Third.has_value())));
  return one(run(C, E, Tensor()));
}

Outputs quantMoe(const OpCall &C) {
  bool Floats = C.text("quant_type", "int") != "int";
  if (C.in(0).rank() < 1)
    return malformedError("experts: input is " + describe(C.in(0)));
  int64_t D = C.in(0).Shape.back(), Bits = C.attr("expert_weight_bits", 4);
  const auto Width = [&](llvm::StringRef Own) {
    int64_t B = C.attr(Own, 0);
    return B ? B : Bits;
  };
  for (llvm::StringRef Own :
       {"fc1_expert_weight_bits", "fc2_expert_weight_bits",
        "fc3_expert_weight_bits"})
    if (int64_t B = Width(Own); B < 2 || B > 8)
      return unsupportedError("evaluation: experts of " + std::to_string(B) +
                              " bits");
  Experts E;
  const auto FloatsOf = [&](size_t At, size_t Global, int64_t Columns) {
    return floatLayer(C, {C.in(At), C.in(At + 1), C.in(Global), C.in(At + 2)},
                      Columns);
  };
  if (Floats) {
    LLMC_ASSIGN_OR_RETURN(E.First, FloatsOf(2, 15, D));
    if (C.in(8).present()) {
      LLMC_ASSIGN_OR_RETURN(E.Third, FloatsOf(8, 15, D));
    }
    LLMC_ASSIGN_OR_RETURN(
        E.Second,
        FloatsOf(5, 16, innerSize(C, E.First.Rows, E.Third.has_value())));
    return one(run(C, E, C.in(14)));
  }
  LLMC_ASSIGN_OR_RETURN(E.First,
                        quantLayer(C, C.in(2), C.in(3), C.in(11), C.in(4), D,
                                   Width("fc1_expert_weight_bits")));
  if (C.in(8).present()) {
    LLMC_ASSIGN_OR_RETURN(E.Third,
                          quantLayer(C, C.in(8), C.in(9), C.in(13), C.in(10), D,
                                     Width("fc3_expert_weight_bits")));
  }
  LLMC_ASSIGN_OR_RETURN(
      E.Second, quantLayer(C, C.in(5), C.in(6), C.in(12), C.in(7),
                           innerSize(C, E.First.Rows, E.Third.has_value()),
                           Width("fc2_expert_weight_bits")));
  return one(run(C, E, C.in(14)));
}
} // namespace

void addMsExperts(HandlerMap &Map) {
  Map["onnx.ms_moe"] = moe;
  Map["onnx.ms_q_moe"] = quantMoe;
}

} // namespace llmc::eval
