// Attention blocks become llm.padded_attention.
//
// From the structure come only the ends of a block: the flat rows of q, k and v
// at the bottom (leaves of cones that move and scale elements) and the merged
// heads at the top. What is between them (head layout, grouped heads, where the
// scale sits, casts, guards against NaN, masks, how the cache is laid out) is
// not matched but proved: the block is evaluated with random rows and must give
// what the op means, in one step, and in two steps where the second gets the
// cache outputs of the first as inputs.
#include "passes/raise/Block.h"
#include "passes/raise/Cone.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"

#include <cmath>

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEATTENTION
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

constexpr int64_t Prompt = 4, More = 3; ///< tokens of the two steps

struct Attention {
  AttentionBlock Block;
  Value Q, K, V;
  int64_t Heads = 0, KvHeads = 0, Dim = 0, VDim = 0, Window = 0;
  double Scale = 0, Softcap = 0;
};

/// softmax(scale q k^T) v in double; rows of one sequence from position 0.
std::vector<double> reference(const Attention &A, const eval::Tensor &Q,
                              const eval::Tensor &K, const eval::Tensor &V,
                              int64_t Rows) {
  std::vector<double> Out(size_t(Rows * A.Heads * A.VDim));
  int64_t Group = A.Heads / A.KvHeads;
  std::vector<double> P(static_cast<size_t>(Rows));
  for (int64_t T = 0; T < Rows; ++T)
    for (int64_t H = 0; H < A.Heads; ++H) {
      int64_t First = A.Window > 0 ? std::max<int64_t>(0, T - A.Window + 1) : 0;
      double Max = -INFINITY, Sum = 0;
      for (int64_t J = First; J <= T; ++J) {
        double S = 0;
        for (int64_t D = 0; D < A.Dim; ++D)
          S += eval::floatAt(Q, (T * A.Heads + H) * A.Dim + D) *
               eval::floatAt(K, (J * A.KvHeads + H / Group) * A.Dim + D);
        S *= A.Scale;
        if (A.Softcap > 0)
          S = A.Softcap * std::tanh(S / A.Softcap);
        P[size_t(J)] = S;
        Max = std::max(Max, S);
      }
      for (int64_t J = First; J <= T; ++J)
        Sum += P[size_t(J)] = std::exp(P[size_t(J)] - Max);
      for (int64_t J = First; J <= T; ++J)
        for (int64_t D = 0; D < A.VDim; ++D)
          Out[size_t((T * A.Heads + H) * A.VDim + D)] +=
              P[size_t(J)] / Sum *
              eval::floatAt(V, (J * A.KvHeads + H / Group) * A.VDim + D);
    }
  return Out;
}

/// Rows [Begin, Begin + Count) of flat rows.
eval::Tensor rowsOf(const eval::Tensor &T, int64_t Begin, int64_t Count) {
  int64_t Width = T.Shape.back();
  eval::Tensor Out = zeroTensor(DType::F32, {1, Count, Width});
  std::memcpy(Out.Bytes.data(), T.data<float>() + Begin * Width,
              size_t(Count * Width) * sizeof(float));
  return Out;
}

class Prover {
public:
  Prover(func::FuncOp TheMain, const Roles &TheRoles, eval::WeightReader Reader)
      : Main(TheMain), R(TheRoles), Unit(Main, R, Reader, Sample{0, 1, {}, 0}),
        Large(Main, R, Reader, Sample{0, 1, {}, 0}),
        Whole(Main, R, Reader, Sample{0, Prompt + More, {}, 0}),
        First(Main, R, Reader, Sample{0, Prompt, {}, 0}),
        Second(Main, R, Reader, Sample{Prompt, More, {}, 0}) {}

  /// Fills A from its block; why not, or empty.
  std::string prove(Attention &A);

private:
  std::string findRows(Attention &A);
  std::string measureScale(Attention &A);
  std::string bindRows(Probe &P, Value Leaf, const eval::Tensor &Rows);
  std::string bindAll(Probe &P, Attention &A, int64_t Begin, int64_t Count);
  std::string compare(Probe &P, Attention &A, int64_t Begin, int64_t Count,
                      ArrayRef<double> Want);
  std::string passCaches();

  func::FuncOp Main;
  const Roles &R;
  Probe Unit, Large, Whole, First, Second;
  llvm::SetVector<Value> Caches; ///< of the block that is proved
  eval::Tensor Qs, Ks, Vs;
};

static int64_t rowFeatures(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  if (!Type)
    return -1;
  // [batch, seq, heads, dim] counts as rows, too.
  if (Type.getRank() == 4 && !Type.isDynamicDim(2) && !Type.isDynamicDim(3))
    return Type.getDimSize(2) * Type.getDimSize(3);
  return featuresOf(V);
}

std::string Prover::findRows(Attention &A) {
  Caches.clear();
  auto Root = [&](Value From, Value &Out, StringRef What) -> std::string {
    Cone C = coneOf(From, R, /*Mixing=*/false);
    Out = C.root(R);
    for (Value Leaf : C.Leaves)
      if (Leaf != Out)
        Caches.insert(Leaf);
    if (!Out || isa<BlockArgument>(Out) || rowFeatures(Out) < 1 ||
        !getElementTypeOrSelf(Out).isF32())
      return ("the " + What +
              " do not come from one f32 value by moves and "
              "scales only")
          .str();
    return {};
  };
  std::string Why = Root(A.Block.Scores.getA(), A.Q, "queries");
  if (Why.empty())
    Why = Root(A.Block.Scores.getB(), A.K, "keys");
  if (Why.empty())
    Why = Root(A.Block.Mix.getB(), A.V, "values");
  if (!Why.empty())
    return Why;
  int64_t Qf = rowFeatures(A.Q), Kf = rowFeatures(A.K), Vf = rowFeatures(A.V);
  A.Dim = featuresOf(A.Block.Scores.getA());
  A.Heads = Qf / A.Dim;
  A.KvHeads = Kf / A.Dim;
  if (Qf % A.Dim || Kf % A.Dim || A.KvHeads < 1 || A.Heads % A.KvHeads ||
      Vf % A.KvHeads)
    return "rows of " + std::to_string(Qf) + ", " + std::to_string(Kf) +
           " and " + std::to_string(Vf) + " features are no heads of " +
           std::to_string(A.Dim);
  A.VDim = Vf / A.KvHeads;
  return {};
}

std::string Prover::bindRows(Probe &P, Value Leaf, const eval::Tensor &Rows) {
  eval::Dims Shape;
  eval::Tensor T = Rows;
  if (!P.shapeOf(Leaf, Shape) || eval::countOf(Shape) != T.count())
    return "the shape of its rows is not known";
  T.Shape = Shape;
  P.bind(Leaf, std::move(T));
  return {};
}

std::string Prover::bindAll(Probe &P, Attention &A, int64_t Begin,
                            int64_t Count) {
  std::string Why = bindRows(P, A.Q, rowsOf(Qs, Begin, Count));
  if (Why.empty())
    Why = bindRows(P, A.K, rowsOf(Ks, Begin, Count));
  if (Why.empty())
    Why = bindRows(P, A.V, rowsOf(Vs, Begin, Count));
  return Why;
}

/// One query and one key, both the first unit vector of each head times a
/// factor: what reaches the softmax is the scale, and the cap for huge factors.
std::string Prover::measureScale(Attention &A) {
  auto Score = [&](Probe &P, double Factor, double &Out) -> std::string {
    auto Units = [&](int64_t Heads) {
      std::vector<double> X(size_t(Heads * A.Dim));
      for (int64_t H = 0; H < Heads; ++H)
        X[size_t(H * A.Dim)] = Factor;
      return eval::Tensor::ofFloats(DType::F32, {1, 1, Heads * A.Dim}, X);
    };
    std::string Why = bindRows(P, A.Q, Units(A.Heads));
    if (Why.empty())
      Why = bindRows(P, A.K, Units(A.KvHeads));
    if (!Why.empty())
      return Why;
    Result<const eval::Tensor *> Got = P.evaluate(A.Block.Softmax.getInput());
    if (!Got)
      return "it cannot be evaluated: " + Got.status().message();
    if ((*Got)->count() != A.Heads)
      return "the scores of one token have shape " + eval::describe(**Got);
    Out = eval::floatAt(**Got, 0);
    return {};
  };
  double One = 0, Huge = 0;
  std::string Why = Score(Unit, 1, One);
  if (Why.empty())
    Why = Score(Large, 1e4, Huge);
  if (!Why.empty())
    return Why;
  A.Scale = One;
  if (!(One > 0) || !std::isfinite(Huge))
    return "the scale is " + std::to_string(One) + ", expected more than 0";
  if (std::abs(Huge) < One * 1e7) {
    A.Softcap = std::abs(Huge);
    A.Scale = A.Softcap * std::atanh(std::min(One / A.Softcap, 0.999));
  }
  return {};
}

std::string Prover::compare(Probe &P, Attention &A, int64_t Begin,
                            int64_t Count, ArrayRef<double> Want) {
  if (std::string Why = bindAll(P, A, Begin, Count); !Why.empty())
    return Why;
  Result<const eval::Tensor *> Got = P.evaluate(A.Block.Output);
  if (!Got)
    return "it cannot be evaluated: " + Got.status().message();
  int64_t Width = A.Heads * A.VDim;
  if ((*Got)->count() != Count * Width)
    return "the result has shape " + eval::describe(**Got) + ", expected " +
           std::to_string(Count) + " rows of " + std::to_string(Width);
  for (int64_t I = 0; I < Count * Width; ++I) {
    double Have = eval::floatAt(**Got, I),
           Need = Want[size_t(Begin * Width + I)];
    if (!(std::abs(Have - Need) <= 1e-4))
      return "on a sample it gives " + std::to_string(Have) +
             " where attention gives " + std::to_string(Need);
  }
  return {};
}

/// Gives the cache outputs of the first step to the second.
std::string Prover::passCaches() {
  Operation *Return = Main.getBody().front().getTerminator();
  for (Value Cache : Caches) {
    auto Arg = cast<BlockArgument>(Cache);
    Attribute Number = Main.getArgAttr(Arg.getArgNumber(), CacheAttr);
    for (OpOperand &Out : Return->getOpOperands()) {
      if (Main.getResultAttr(Out.getOperandNumber(), CacheAttr) != Number)
        continue;
      Result<const eval::Tensor *> T = First.evaluate(Out.get());
      if (!T)
        return "its cache cannot be evaluated: " + T.status().message();
      Second.bind(Arg, **T);
    }
  }
  return {};
}

std::string Prover::prove(Attention &A) {
  std::string Why = findRows(A);
  if (Why.empty())
    Why = measureScale(A);
  if (!Why.empty())
    return Why;
  int64_t Rows = Prompt + More;
  Qs = randomTensor({1, Rows, A.Heads * A.Dim}, 11);
  Ks = randomTensor({1, Rows, A.KvHeads * A.Dim}, 12);
  Vs = randomTensor({1, Rows, A.KvHeads * A.VDim}, 13);
  // One value may be used twice.
  if (A.K == A.Q)
    Ks = Qs;
  if (A.V == A.Q || A.V == A.K)
    Vs = A.V == A.Q ? Qs : Ks;
  std::vector<double> Want = reference(A, Qs, Ks, Vs, Rows);
  Why = compare(Whole, A, 0, Rows, Want);
  if (!Why.empty() || Caches.empty())
    return Why;
  Why = compare(First, A, 0, Prompt, Want);
  if (Why.empty())
    Why = passCaches();
  if (Why.empty())
    Why = compare(Second, A, Prompt, More, Want);
  return Why.empty() ? Why : "over a cache: " + Why;
}

struct RaiseAttention : impl::RaiseAttentionBase<RaiseAttention> {
  using RaiseAttentionBase::RaiseAttentionBase;
  eval::WeightReader Reader;

  void runOnOperation() override {
    func::FuncOp Main = graphOf(getOperation());
    if (!Main)
      return;
    if (failed(openReader(getOperation(), Model, Reader)))
      return signalPassFailure();
    Roles R(Main);
    Prover P(Main, R, Reader);
    int64_t Layer = 0;
    bool Failed = false;
    for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front())) {
      auto Softmax = dyn_cast<onnx::SoftmaxOp>(Op);
      if (!Softmax || !R.isData(Softmax.getOutput()))
        continue;
      Attention A;
      A.Block = blockOf(Softmax, R);
      std::string Why = A.Block.Failure;
      if (auto Reason = Softmax->getAttrOfType<StringAttr>(MaskFailureAttr))
        Why = Reason.str();
      else if (auto Window = Softmax->getAttrOfType<IntegerAttr>(WindowAttr))
        A.Window = Window.getInt();
      else if (Why.empty())
        Why = "its mask was not evaluated (llmc-raise-mask)";
      if (Why.empty())
        Why = P.prove(A);
      if (Why.empty()) {
        create(A, R, Layer++);
        continue;
      }
      Failed = true;
      Softmax.emitError() << "attention at '" << nodeName(Softmax)
                          << "' is not supported: " << Why;
    }
    if (Failed)
      return signalPassFailure();
    eraseDead(Main.getBody().front());
  }

  void create(Attention A, Roles &R, int64_t Layer) {
    OpBuilder B(A.Block.Output.getDefiningOp());
    ModuleOp Module = getOperation();
    OpBuilder Top(graphOf(Module));
    std::string Name = "l" + std::to_string(Layer) + ".kv";
    Location Loc = A.Block.Mix.getLoc();
    llm::StateOp::create(Top, Loc, Name, "paged_kv", Layer, A.KvHeads, A.Dim,
                         A.VDim);
    Value Q = flattenHeads(B, A.Q, A.Heads * A.Dim);
    Value K = flattenHeads(B, A.K, A.KvHeads * A.Dim);
    Value V = flattenHeads(B, A.V, A.KvHeads * A.VDim);
    auto New = llm::PaddedAttentionOp::create(
        B, Loc, A.Block.Output.getType(), Q, K, V, Name, A.Heads,
        llvm::APFloat(float(A.Scale)), A.Window,
        llvm::APFloat(float(A.Softcap)));
    A.Block.Output.replaceAllUsesWith(New);
    R.markData(New);
    passed("raise-attention", New,
           Twine(A.Heads) + " heads over " + Twine(A.KvHeads) + " of " +
               Twine(A.Dim) + ", window " + Twine(A.Window));
  }
};
} // namespace

std::unique_ptr<Pass> createRaiseAttention(eval::WeightReader Reader) {
  auto P = std::make_unique<RaiseAttention>();
  P->Reader = std::move(Reader);
  return P;
}
} // namespace llmc::raise
