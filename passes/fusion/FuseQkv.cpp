// fuse-qkv: the products of query, key and value, rope and the cache write of
// a layer become one llm.qkv. One pass over x and one contiguous weight instead
// of three, and no k and v rows in memory. Anchor is the kv_write, because it
// is there exactly once per layer that has a cache of its own.
#include "passes/fusion/FusionRemarks.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/WeightTable.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_FUSEQKV
#include "passes/fusion/Passes.h.inc"

namespace {
/// A product and the rope behind it, if there is one.
struct Branch {
  llm::LinearOp Product;
  llm::RopeOp Rope;
};

struct Match {
  Branch Q, K, V;
  llm::AttentionOp Attention;
};

class FuseQkv : public impl::FuseQkvBase<FuseQkv> {
public:
  void runOnOperation() override {
    WeightTable Weights(getOperation());
    llvm::SmallVector<llm::KvWriteOp> Anchors;
    getOperation().walk([&](llm::KvWriteOp Op) { Anchors.push_back(Op); });
    for (llm::KvWriteOp Anchor : Anchors) {
      Match M;
      std::string Why = match(Anchor, Weights, M);
      if (Why.empty())
        rewrite(Anchor, Weights, M);
      else
        remarkMissed("fuse-qkv", Anchor, Why);
    }
    Weights.eraseUnused();
  }

private:
  std::string match(llm::KvWriteOp Anchor, WeightTable &Weights, Match &M);
  void rewrite(llm::KvWriteOp Anchor, WeightTable &Weights, Match &M);
};

/// The product behind a value, through at most one rope; "" or why not.
std::string branchOf(Value V, StringRef What, Branch &B) {
  B.Rope = V.getDefiningOp<llm::RopeOp>();
  if (B.Rope) {
    if (!V.hasOneUse())
      return (What + " has other users").str();
    V = B.Rope.getX();
  }
  B.Product = V.getDefiningOp<llm::LinearOp>();
  if (!B.Product) {
    Operation *Op = V.getDefiningOp();
    return (What + " comes from " +
            (Op ? Op->getName().getStringRef() : StringRef("an argument")) +
            ", not from a plain product")
        .str();
  }
  if (!V.hasOneUse())
    return ("the product of " + What + " has other users").str();
  if (B.Product.getResidual() || B.Product.getNorm() != llm::NormKind::none ||
      B.Product.getActivation() != llm::ActivationKind::none ||
      B.Product.getGlu() != llm::ActivationKind::none)
    return ("the product of " + What + " has a prologue or epilogue").str();
  return {};
}

/// The first attention on the state behind its write whose q is a product of X.
llm::AttentionOp attentionOf(llm::KvWriteOp Write, Value X) {
  for (Operation *Op = Write->getNextNode(); Op; Op = Op->getNextNode()) {
    llm::AttentionOp A = dyn_cast<llm::AttentionOp>(Op);
    if (!A || A.getStateAttr() != Write.getStateAttr())
      continue;
    Branch B;
    if (branchOf(A.getQ(), "q", B).empty() && B.Product.getX() == X)
      return A;
  }
  return nullptr;
}

/// Rope of q and k must be the same; "" or why not.
std::string compareRopes(llm::RopeOp Q, llm::RopeOp K) {
  if (!Q && !K)
    return {};
  if (!Q || !K)
    return "only one of q and k has a rope";
  if (Q.getTable() != K.getTable())
    return "q and k have different rope tables";
  if (Q.getRotaryHalf() != K.getRotaryHalf() ||
      Q.getInterleaved() != K.getInterleaved() ||
      Q.getHeadDim() != K.getHeadDim())
    return "q and k have different ropes";
  return {};
}

std::string FuseQkv::match(llm::KvWriteOp Anchor, WeightTable &Weights,
                           Match &M) {
  std::string Why = branchOf(Anchor.getK(), "k", M.K);
  if (Why.empty())
    Why = branchOf(Anchor.getV(), "v", M.V);
  if (!Why.empty())
    return Why;
  if (M.V.Rope)
    return "v has a rope";
  Value X = M.K.Product.getX();
  if (M.V.Product.getX() != X)
    return "k and v are products of different rows";
  M.Attention = attentionOf(Anchor, X);
  if (!M.Attention)
    return "no attention on the state has a q that is a plain product of the "
           "same row";
  branchOf(M.Attention.getQ(), "q", M.Q);
  Why = compareRopes(M.Q.Rope, M.K.Rope);
  if (!Why.empty())
    return Why;
  bool Bias = M.Q.Product.getBias().has_value();
  if (M.K.Product.getBias().has_value() != Bias ||
      M.V.Product.getBias().has_value() != Bias)
    return "only some of q, k and v have a bias";
  if (!Weights.sameForm({M.Q.Product.getWeight(), M.K.Product.getWeight(),
                         M.V.Product.getWeight()}))
    return "the file holds q, k and v in different forms";
  llm::StateOp State = Weights.lookupState(Anchor.getState());
  if (M.K.Rope && M.K.Rope.getHeadDim() != State.getHeadDim())
    return "rope and cache have different head sizes";
  return {};
}

/// The rows of q, k and v (matrices or biases) per KV group.
llm::WeightOp groupRows(WeightTable &Weights, std::array<StringRef, 3> Names,
                        llm::StateOp State, const Match &M, StringRef Role) {
  llm::WeightOp Q = Weights.lookup(Names[0]), K = Weights.lookup(Names[1]),
                V = Weights.lookup(Names[2]);
  int64_t Heads = llm::AttentionOp(M.Attention).getHeads();
  int64_t Groups = State.getKvHeads(), Dim = State.getHeadDim(),
          VDim = State.getVHeadDim(), QRows = Heads / Groups * Dim;
  Pieces List;
  for (int64_t G = 0; G != Groups; ++G) {
    WeightTable::append(List, Q, G * QRows, QRows);
    WeightTable::append(List, K, G * Dim, Dim);
    WeightTable::append(List, V, G * VDim, VDim);
  }
  return Weights.create(List, {Q, K, V},
                        {M.Q.Product, M.K.Product, M.V.Product}, Role);
}

void FuseQkv::rewrite(llm::KvWriteOp Anchor, WeightTable &Weights, Match &M) {
  llm::LinearOp Q = M.Q.Product, K = M.K.Product, V = M.V.Product;
  llm::StateOp State = Weights.lookupState(Anchor.getState());
  int64_t Heads = M.Attention.getHeads();
  llm::WeightOp W = groupRows(
      Weights, {Q.getWeight(), K.getWeight(), V.getWeight()}, State, M, "qkv");
  FlatSymbolRefAttr Bias;
  if (Q.getBias())
    Bias = FlatSymbolRefAttr::get(
        groupRows(Weights, {*Q.getBias(), *K.getBias(), *V.getBias()}, State, M,
                  "qkv_bias"));

  llvm::SmallVector<Operation *> Parts{Q, K, V};
  if (M.Q.Rope)
    Parts.append({M.Q.Rope, M.K.Rope});
  Parts.push_back(Anchor);
  OpBuilder B(Anchor);
  llm::RopeOp Rope = M.Q.Rope;
  llm::QkvOp Fused = llm::QkvOp::create(
      B, fusedLoc(Parts), M.Attention.getQ().getType(), Q.getX(),
      Rope ? Rope.getTable() : Value(), W.getSymName(), Bias, Anchor.getState(),
      Heads, Rope ? Rope.getRotaryHalf() : 0, Rope && Rope.getInterleaved(),
      llm::NormKind::none, nullptr, nullptr, llvm::APFloat(0.0f));
  remarkFused("fuse-qkv", Parts);
  M.Attention.getQMutable().assign(Fused.getResult());
  Anchor.erase();
  for (Operation *Op : llvm::reverse(Parts))
    if (Op != Anchor.getOperation())
      Op->erase();
}
} // namespace
} // namespace llmc
