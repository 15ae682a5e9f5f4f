// The proof by evaluation; see AttentionProof.h.
#include "passes/raise/AttentionProof.h"

#include "passes/raise/Match.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace llmc::raise {

/// Tokens of the proof where the graph takes any number at once.
constexpr int64_t Prompt = 4, More = 3;

Prover::Prover(func::FuncOp TheMain, const Roles &TheRoles,
               eval::WeightReader TheReader)
    : Main(TheMain), R(TheRoles), Reader(std::move(TheReader)) {}

Prover::Steps &Prover::stepsOf(int64_t Tokens) {
  auto [It, New] = All.try_emplace(Tokens);
  Steps &St = It->second;
  if (!New)
    return St;
  auto Make = [&](int64_t Past, int64_t Seq) {
    return std::make_unique<Probe>(Main, R, Reader, Sample{Past, Seq, {}, 0});
  };
  bool Cached = bool(R.find(Role::Past));
  if (Tokens == 0) {
    St.Whole = Make(0, Prompt + More);
    St.Parts.push_back(Make(0, Prompt));
    St.Parts.push_back(Make(Prompt, More));
  } else {
    int64_t Rounds = std::max<int64_t>(2, (Prompt + More) / Tokens);
    for (int64_t I = 0; I < Rounds; ++I)
      St.Parts.push_back(Make(I * Tokens, Tokens));
  }
  // Only scores are bound in these: two keys, the first one before the query.
  for (std::unique_ptr<Probe> *P :
       {&St.Zero, &St.One, &St.Huge, &St.Low, &St.Cap})
    *P = Tokens == 0 && !Cached ? Make(0, 2)
         : Tokens > 1           ? Make(0, Tokens)
                                : Make(1, 1);
  St.Rows = std::make_unique<RowReader>(Main, R, Reader, Tokens ? Tokens : 2);
  return St;
}

std::string Prover::findRows(Steps &St, Attention &A) {
  auto Read = [&](Value Operand, bool Columns, RowMap &Out, StringRef What) {
    std::string Why = St.Rows->read(Operand, Columns, Out);
    return Why.empty() ? Why : ("the " + What + ": " + Why).str();
  };
  std::string Why = Read(A.Block.Scores.getA(), false, A.Q, "queries");
  if (Why.empty())
    Why = Read(A.Block.Scores.getB(), true, A.K, "keys");
  if (Why.empty())
    Why = Read(A.Block.Mix.getB(), false, A.V, "values");
  return Why.empty() ? findHeads(A) : Why;
}

/// Query heads, and the fewest KV heads that they share in equal runs.
std::string Prover::findHeads(Attention &A) {
  A.Heads = int64_t(A.Q.Heads.size());
  A.Dim = int64_t(A.Q.Heads.front().size());
  A.VDim = int64_t(A.V.Heads.front().size());
  int64_t Have = int64_t(A.K.Heads.size());
  if (Have != int64_t(A.V.Heads.size()) || Have > A.Heads ||
      A.Heads % Have != 0 || int64_t(A.K.Heads.front().size()) != A.Dim)
    return std::to_string(A.Heads) + " query heads of " +
           std::to_string(A.Dim) + " do not fit " + std::to_string(Have) +
           " key heads of " + std::to_string(A.K.Heads.front().size()) +
           " and " + std::to_string(A.V.Heads.size()) + " value heads";
  for (A.KvHeads = 1; A.KvHeads < Have; ++A.KvHeads) {
    if (Have % A.KvHeads != 0)
      continue;
    bool Same = true;
    int64_t Run = Have / A.KvHeads;
    for (int64_t H = 0; Same && H < Have; ++H)
      Same = A.K.Heads[size_t(H)] == A.K.Heads[size_t(H / Run * Run)] &&
             A.V.Heads[size_t(H)] == A.V.Heads[size_t(H / Run * Run)];
    if (Same)
      break;
  }
  auto Shrink = [&](RowMap &Map) {
    for (int64_t H = 0; H < A.KvHeads; ++H)
      Map.Heads[size_t(H)] = Map.Heads[size_t(H * (Have / A.KvHeads))];
    Map.Heads.resize(size_t(A.KvHeads));
  };
  Shrink(A.K);
  Shrink(A.V);
  return {};
}

std::vector<int64_t> Attention::features(const RowMap &Map,
                                         int64_t Count) const {
  std::vector<int64_t> Out;
  for (int64_t H = 0; H < Count; ++H)
    Out.insert(Out.end(), Map.Heads[size_t(H)].begin(),
               Map.Heads[size_t(H)].end());
  return Out;
}

/// What a raw score of the first key does to the input of the softmax, compared
/// with the second key's: the factor behind the product, and the cap for huge
/// scores. Biases, sinks and maxima cancel out.
std::string Prover::measureScale(Steps &St, Attention &A) {
  auto Difference = [&](Probe &P, double Score, double &Out) -> std::string {
    int64_t Total = P.sample().total(), Seq = P.sample().Seq;
    Value Scores = A.Block.Scores.getOutput();
    eval::Dims Shape = shapeOfScores(A.Block.Scores, R, P);
    if (Shape.size() < 2)
      return "the scores have no known shape";
    Shape.back() = featuresOf(Scores) > 0 ? featuresOf(Scores) : Total;
    if (int64_t &Queries = Shape[Shape.size() - 2]; Queries % Seq != 0)
      Queries = Seq;
    std::vector<double> Values(size_t(eval::countOf(Shape)));
    for (size_t I = 0; I < Values.size(); I += size_t(Shape.back()))
      Values[I] = Score;
    P.bind(Scores, eval::Tensor::ofFloats(DType::F32, Shape, Values));
    Result<const eval::Tensor *> Got = P.evaluate(A.Block.Softmax.getInput());
    if (!Got)
      return "it cannot be evaluated: " + Got.status().message();
    int64_t Width = (*Got)->Shape.back();
    // The last row is that of a query that sees both keys.
    int64_t Row = (*Got)->count() - Width;
    Out = eval::floatAt(**Got, Row) - eval::floatAt(**Got, Row + 1);
    return {};
  };
  constexpr double Large = 1e6;
  double Zero = 0, One = 0, Huge = 0, Low = 0;
  std::string Why = Difference(*St.Zero, 0, Zero);
  if (Why.empty())
    Why = Difference(*St.One, 1, One);
  if (Why.empty())
    Why = Difference(*St.Huge, Large, Huge);
  if (Why.empty())
    Why = Difference(*St.Low, -Large, Low);
  if (!Why.empty())
    return Why;
  double Factor = One - Zero, Top = Huge - Zero;
  if (!(Factor > 0) || !std::isfinite(Top))
    return "the scale is " + std::to_string(Factor) + ", expected more than 0";
  double Bottom = Zero - Low; // far below, the same with the other sign
  if (!(std::abs(Bottom - Top) <= 1e-3 * std::abs(Top)))
    return "the scores are bent: a score of 1000000 gives " +
           std::to_string(Top) + ", its negative " + std::to_string(-Bottom);
  if (std::abs(Top) < Factor * Large / 2) {
    A.Softcap = std::abs(Top);
    Factor = A.Softcap * std::atanh(std::min(Factor / A.Softcap, 0.999999));
    double Cap = 0, Want = A.Softcap * std::tanh(1.0);
    if (Why = Difference(*St.Cap, A.Softcap / Factor, Cap); !Why.empty())
      return Why;
    if (!(std::abs(Cap - Zero - Want) <= 2e-3 * Want))
      return "the scores are limited to " + std::to_string(A.Softcap) +
             ", but not by a tanh";
  }
  A.Scale = Factor * A.Q.Scale * A.K.Scale;
  if (!(A.Scale > 0))
    return "the scale is " + std::to_string(A.Scale) + ", expected more than 0";
  return {};
}

/// What scores are multiplied with must be the same everywhere: the scale is
/// measured near the start, and so is everything else that is proved.
std::string Prover::checkFactor(Operation *Op, Value Factor) {
  auto Own = [&](int64_t Past, int64_t Seq) -> std::optional<double> {
    Probe P(Main, R, Reader, Sample{Past, Seq, {}, 0});
    Result<const eval::Tensor *> Got = P.evaluate(Factor);
    if (!Got || (*Got)->count() < 1)
      return std::nullopt;
    // The last row, its own key; all of them in one with a single column.
    return eval::floatAt(**Got, (*Got)->count() - 1);
  };
  bool Cached = bool(R.find(Role::Past));
  int64_t Fixed = R.fixedTokens();
  std::optional<double> First = Own(0, Fixed ? Fixed : 2);
  for (int64_t N : {9, 100, 1000, 4099, 8200, 32771, 131077}) {
    if (!Cached && (Fixed > 0 || N > 1000))
      break;
    std::optional<double> Here = Cached ? Own(N, Fixed ? Fixed : 1) : Own(0, N);
    if (First && Here && !(std::abs(*First - *Here) <= 1e-5 * std::abs(*First)))
      return "the scores are multiplied by '" +
             (Factor.getDefiningOp() ? nodeName(Factor.getDefiningOp())
                                     : nodeName(Op)) +
             "', which is " + std::to_string(*First) + " at the start and " +
             std::to_string(*Here) + " at position " + std::to_string(N);
  }
  return {};
}

std::string Prover::checkFactors(const Attention &A) {
  for (Operation *Op : A.Block.Between)
    for (Value V : Op->getOperands()) {
      if (!isa<onnx::MulOp, onnx::DivOp, onnx::PowOp>(Op) || R.isData(V) ||
          isFixed(V))
        continue;
      auto [It, New] = Factors.try_emplace(V);
      if (New)
        It->second = checkFactor(Op, V);
      if (!It->second.empty())
        return It->second;
    }
  return {};
}

namespace {
/// The meaning of llm.attention in double, on the random rows of the proof.
class Meaning {
public:
  Meaning(const Attention &A, const llvm::DenseMap<Value, eval::Tensor> &Rows)
      : A(A), Q(Rows.find(A.Q.Leaf)->second), K(Rows.find(A.K.Leaf)->second),
        V(Rows.find(A.V.Leaf)->second) {}

  std::vector<double> rows(int64_t Count) const {
    std::vector<double> Out;
    for (int64_t T = 0; T < Count; ++T)
      for (int64_t H = 0; H < A.Heads; ++H)
        head(T, H, Out);
    return Out;
  }

private:
  static double at(const RowMap &Map, const eval::Tensor &Rows, int64_t T,
                   int64_t H, int64_t D) {
    return eval::floatAt(Rows,
                         T * Map.Features + Map.Heads[size_t(H)][size_t(D)]);
  }

  double score(int64_t T, int64_t H, int64_t J) const {
    double S = 0;
    for (int64_t D = 0; D < A.Dim; ++D)
      S += at(A.Q, Q, T, H, D) * at(A.K, K, J, kvHead(H), D);
    S *= A.Scale;
    if (A.Softcap > 0)
      S = A.Softcap * std::tanh(S / A.Softcap);
    return A.Rule.Slopes.empty() ? S
                                 : S + A.Rule.Slopes[size_t(H)] * double(J - T);
  }

  int64_t kvHead(int64_t H) const { return H / (A.Heads / A.KvHeads); }

  int64_t firstOf(int64_t T) const {
    int64_t First = 0;
    if (A.Rule.Window > 0)
      First = std::max<int64_t>(0, T - A.Rule.Window + 1);
    if (A.Rule.Chunk > 0)
      First = std::max(First, T / A.Rule.Chunk * A.Rule.Chunk);
    return First;
  }

  void head(int64_t T, int64_t H, std::vector<double> &Out) const {
    std::vector<double> P;
    int64_t First = firstOf(T);
    double Max = -INFINITY, Sum = 0;
    for (int64_t J = First; J <= T; ++J) {
      P.push_back(score(T, H, J));
      Max = std::max(Max, P.back());
    }
    if (!A.Rule.Sinks.empty())
      Sum = std::exp(A.Rule.Sinks[size_t(H)] - Max);
    for (double &X : P)
      Sum += X = std::exp(X - Max);
    for (int64_t D = 0; D < A.VDim; ++D) {
      double O = 0;
      for (int64_t J = First; J <= T; ++J)
        O += P[size_t(J - First)] * at(A.V, V, J, kvHead(H), D);
      Out.push_back(A.V.Scale * O / Sum);
    }
  }

  const Attention &A;
  const eval::Tensor &Q, &K, &V;
};
} // namespace

/// Gives the sample its part of the random rows of a leaf.
std::string Prover::bindLeaf(Probe &P, Value Leaf) {
  eval::Dims Shape;
  const eval::Tensor &Rows = Leaves[Leaf];
  int64_t Width = Rows.Shape.back(), Count = P.sample().Seq * Width;
  if (!P.shapeOf(Leaf, Shape) || eval::countOf(Shape) != Count)
    return "the shape of its rows is not known";
  eval::Tensor Part = zeroTensor(DType::F32, Shape);
  std::memcpy(Part.Bytes.data(), Rows.data<float>() + P.sample().Past * Width,
              size_t(Count) * sizeof(float));
  P.bind(Leaf, std::move(Part));
  return {};
}

std::string Prover::compare(Probe &P, Attention &A, ArrayRef<double> Want) {
  eval::Dims Shape;
  for (const RowMap *Map : {&A.Q, &A.K, &A.V})
    for (Value Other : Map->Others)
      if (P.shapeOf(Other, Shape) && eval::countOf(Shape) >= 0)
        P.bind(Other, zeroTensor(DType::F32, Shape));
  for (Value Leaf : {A.Q.Leaf, A.K.Leaf, A.V.Leaf})
    if (std::string Why = bindLeaf(P, Leaf); !Why.empty())
      return Why;
  if (P.sample().Past == 0)
    for (const RowMap *Map : {&A.Q, &A.K, &A.V})
      for (Value Cache : Map->Caches)
        if (!P.bindCache(cast<BlockArgument>(Cache)))
          return "its cache has no known shape";
  Result<const eval::Tensor *> Got = P.evaluate(A.Block.Output);
  if (!Got)
    return "it cannot be evaluated: " + Got.status().message();
  int64_t Width = A.Heads * A.VDim, Count = P.sample().Seq * Width;
  if ((*Got)->count() != Count)
    return "the result has shape " + eval::describe(**Got) + ", expected " +
           std::to_string(P.sample().Seq) + " rows of " + std::to_string(Width);
  for (int64_t I = 0; I < Count; ++I) {
    double Have = eval::floatAt(**Got, I),
           Need = Want[size_t(P.sample().Past * Width + I)];
    if (!(std::abs(Have - Need) <= 1e-4))
      return "on a sample it gives " + std::to_string(Have) +
             " where attention gives " + std::to_string(Need);
  }
  return {};
}

/// An output may hold the caches of other layers, too: what they are made of
/// does not matter here.
static bool bindOthers(Probe &P, Value V,
                       const llvm::DenseMap<Value, eval::Tensor> &Known) {
  bool Any = false;
  llvm::SetVector<Value> Work;
  Work.insert(V);
  for (size_t I = 0; I < Work.size(); ++I) {
    Operation *Op = Work[I].getDefiningOp();
    eval::Dims Shape;
    if (!Op || Known.count(Work[I]))
      continue;
    if (isa<onnx::OnnxDialect>(Op->getDialect()))
      Work.insert(Op->operand_begin(), Op->operand_end());
    else if (P.shapeOf(Work[I], Shape) && eval::countOf(Shape) >= 0) {
      P.bind(Work[I], zeroTensor(DType::F32, Shape));
      Any = true;
    }
  }
  return Any;
}

/// Gives the cache outputs of one step to the next.
std::string Prover::passCaches(Probe &From, Probe &To, const Attention &A) {
  Operation *Return = Main.getBody().front().getTerminator();
  llvm::SetVector<Value> Caches;
  for (const RowMap *Map : {&A.Q, &A.K, &A.V})
    Caches.insert(Map->Caches.begin(), Map->Caches.end());
  for (Value Cache : Caches) {
    auto Arg = cast<BlockArgument>(Cache);
    Attribute Number = Main.getArgAttr(Arg.getArgNumber(), CacheAttr);
    for (OpOperand &Out : Return->getOpOperands()) {
      if (Main.getResultAttr(Out.getOperandNumber(), CacheAttr) != Number)
        continue;
      Spoilt |= bindOthers(From, Out.get(), Leaves);
      Result<const eval::Tensor *> T = From.evaluate(Out.get());
      if (!T)
        return "its cache cannot be evaluated: " + T.status().message();
      To.bind(Arg, **T);
    }
  }
  return {};
}

std::string Prover::prove(Attention &A) {
  if (Spoilt)
    All.clear();
  Spoilt = false;
  Steps &St = stepsOf(A.StepTokens);
  std::string Why = findRows(St, A);
  if (Why.empty())
    Why = measureScale(St, A);
  if (Why.empty())
    Why = checkFactors(A);
  if (!Why.empty())
    return Why;
  for (std::vector<double> *Heads : {&A.Rule.Slopes, &A.Rule.Sinks}) {
    if (Heads->size() == 1)
      Heads->assign(size_t(A.Heads), Heads->front());
    if (!Heads->empty() && int64_t(Heads->size()) != A.Heads)
      return std::to_string(Heads->size()) + " masks for " +
             std::to_string(A.Heads) + " heads";
  }
  int64_t Rows = St.Parts.back()->sample().total();
  Leaves.clear();
  uint64_t Seed = 11;
  for (const RowMap *Map : {&A.Q, &A.K, &A.V})
    if (!Leaves.count(Map->Leaf))
      Leaves[Map->Leaf] = randomTensor({1, Rows, Map->Features}, Seed++);
  std::vector<double> Want = Meaning(A, Leaves).rows(Rows);
  if (St.Whole)
    Why = compare(*St.Whole, A, Want);
  bool Cached = !A.K.Caches.empty() || !A.V.Caches.empty();
  for (size_t I = 0; Why.empty() && I < St.Parts.size(); ++I) {
    if (I > 0 && !Cached)
      break;
    if (I > 0)
      Why = passCaches(*St.Parts[I - 1], *St.Parts[I], A);
    if (Why.empty())
      Why = compare(*St.Parts[I], A, Want);
    if (!Why.empty() && I > 0)
      Why = "over a cache: " + Why;
  }
  return Why;
}
} // namespace llmc::raise
