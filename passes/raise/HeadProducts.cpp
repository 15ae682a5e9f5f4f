// Products of heads as linears; see HeadProducts.h.
//
// Which elements of the file a head's matrix is made of is found by numbering
// them: up-projections of latent rows are slices of one matrix, reshaped and
// transposed in ways that need no list.
#include "passes/raise/HeadProducts.h"

#include "passes/raise/Cone.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/RowMap.h"

#include <numeric>

using namespace mlir;

namespace llmc::raise {
namespace {

/// A matrix of each head: where it begins in its tensor, and whether it is
/// stored as [k, n] or as [n, k].
struct HeadMatrices {
  Operation *Data = nullptr;
  SmallVector<int64_t> Begins;
  int64_t Heads = 0, K = 0, N = 0;
  bool InOut = true;
};

/// The tensor of the file that V is made of by moves; null if there is none.
/// `Top` is the value of all of it, as f32.
Operation *tensorAbove(Value V, ModuleOp Module, Value &Top) {
  while (Operation *Op = V.getDefiningOp()) {
    Top = V;
    Value From = V;
    if (auto Cast = dyn_cast<onnx::CastOp>(Op))
      From = Cast.getInput();
    if (auto Weight = From.getDefiningOp<onnx::WeightOp>())
      return SymbolTable::lookupSymbolIn(Module, Weight.getDataAttr());
    if (From.getDefiningOp<onnx::ConstantOp>())
      return From == V ? Op : nullptr;
    if (!isMovement(Op) || isa<onnx::ConcatOp, onnx::GatherOp>(Op))
      return nullptr;
    V = Op->getOperand(0);
  }
  return nullptr;
}

/// Fills Out for W [heads, k, n] or [1, heads, k, n].
bool readMatrices(Value W, ModuleOp Module, HeadMatrices &Out) {
  auto Type = dyn_cast<RankedTensorType>(W.getType());
  if (!Type || !Type.hasStaticShape() || !Type.getElementType().isF32() ||
      (Type.getRank() != 3 &&
       !(Type.getRank() == 4 && Type.getDimSize(0) == 1)))
    return false;
  ArrayRef<int64_t> Shape = Type.getShape().take_back(3);
  Out.Heads = Shape[0];
  Out.K = Shape[1];
  Out.N = Shape[2];
  Value Top;
  Out.Data = tensorAbove(W, Module, Top);
  auto Whole =
      Out.Data ? dyn_cast<RankedTensorType>(Top.getType()) : RankedTensorType();
  // Numbers must be exact in f32.
  if (!Whole || !Whole.hasStaticShape() || !Whole.getElementType().isF32() ||
      Whole.getNumElements() > (int64_t(1) << 24))
    return false;
  std::vector<double> Numbers(size_t(Whole.getNumElements()));
  std::iota(Numbers.begin(), Numbers.end(), 0.0);
  eval::Evaluator Eval(eval::Budget(int64_t(1) << 27, int64_t(1) << 30));
  Eval.bind(Top, eval::Tensor::ofFloats(DType::F32,
                                        eval::Dims(Whole.getShape().begin(),
                                                   Whole.getShape().end()),
                                        Numbers));
  Result<const eval::Tensor *> Got = Eval.evaluate(W);
  if (!Got)
    return false;
  auto At = [&](int64_t H, int64_t I, int64_t J) {
    return int64_t(eval::floatAt(**Got, (H * Out.K + I) * Out.N + J));
  };
  for (int64_t H = 0; H < Out.Heads; ++H)
    Out.Begins.push_back(At(H, 0, 0));
  for (bool InOut : {true, false}) {
    Out.InOut = InOut;
    bool Same = true;
    for (int64_t H = 0; Same && H < Out.Heads; ++H)
      for (int64_t I = 0; Same && I < Out.K; ++I)
        for (int64_t J = 0; Same && J < Out.N; ++J)
          Same = At(H, I, J) == Out.Begins[size_t(H)] +
                                    (InOut ? I * Out.N + J : J * Out.K + I);
    if (Same)
      return true;
  }
  return false;
}

class Raiser {
public:
  Raiser(func::FuncOp Main, const eval::WeightReader &Reader)
      : Module(Main->getParentOfType<ModuleOp>()), R(Main), Weights(Module),
        Rows(Main, R, Reader, R.fixedTokens() ? R.fixedTokens() : 2) {}

  void raise(onnx::MatMulOp Op);

private:
  SmallVector<Value> partsOf(OpBuilder &B, Value X, const HeadMatrices &M);

  ModuleOp Module;
  Roles R;
  WeightMaker Weights;
  RowReader Rows;
};

/// The heads of X as rows of their own: rows of the product that they come
/// from, where that is told.
SmallVector<Value> Raiser::partsOf(OpBuilder &B, Value X,
                                   const HeadMatrices &M) {
  SmallVector<Value> Out;
  RowMap Map;
  if (Rows.read(X, /*Columns=*/false, Map).empty() && Map.Scale == 1 &&
      rankOf(Map.Leaf) == 3 && int64_t(Map.Heads.size()) == M.Heads &&
      int64_t(Map.Heads.front().size()) == M.K) {
    for (const std::vector<int64_t> &Head : Map.Heads)
      Out.push_back(selectRows(B, Map.Leaf, Head, Weights, R));
    return Out;
  }
  Value Flat = mergeHeads(B, X);
  R.markData(Flat.getDefiningOp()->getOperand(0));
  R.markData(Flat);
  for (int64_t H = 0; H < M.Heads; ++H) {
    SmallVector<int64_t> Features(size_t(M.K));
    std::iota(Features.begin(), Features.end(), H * M.K);
    Out.push_back(selectRows(B, Flat, Features, Weights, R));
  }
  return Out;
}

void Raiser::raise(onnx::MatMulOp Op) {
  HeadMatrices M;
  auto Type = dyn_cast<RankedTensorType>(Op.getOutput().getType());
  auto From = dyn_cast<RankedTensorType>(Op.getA().getType());
  if (!R.isData(Op.getA()) || R.isData(Op.getB()) || !Type || !From ||
      Type.getRank() != 4 || From.getRank() != 4 ||
      !readMatrices(Op.getB(), Module, M) || M.Heads < 2 ||
      From.getDimSize(1) != M.Heads || From.getDimSize(3) != M.K)
    return;
  OpBuilder B(Op);
  SmallVector<Value> Parts = partsOf(B, Op.getA(), M), Products;
  for (auto [X, Begin] : llvm::zip(Parts, M.Begins)) {
    auto Wide = withFeatures(cast<RankedTensorType>(X.getType()), M.N);
    FlatSymbolRefAttr W = Weights.block(M.Data, Begin, M.N, M.K, M.InOut);
    Products.push_back(llm::LinearOp::create(
        B, Op.getLoc(), Wide, X, Value(), W.getValue(), FlatSymbolRefAttr(),
        llm::NormKind::none, nullptr, nullptr, llvm::APFloat(0.0f)));
    R.markData(Products.back());
  }
  auto Flat = withFeatures(cast<RankedTensorType>(Products.front().getType()),
                           M.Heads * M.N);
  Value All = onnx::ConcatOp::create(B, Op.getLoc(), Flat, Products,
                                     Flat.getRank() - 1);
  R.markData(All);
  Value Split = splitHeads(B, All, M.Heads, M.N, /*HeadsFirst=*/true, Type);
  R.markData(Split.getDefiningOp()->getOperand(0));
  R.markData(Split);
  Op.getOutput().replaceAllUsesWith(Split);
  Op.erase(); // it is a user of what stands before it
  passed("raise-latent", Products.front().getDefiningOp(),
         Twine(M.Heads) + " heads with a matrix each");
}
} // namespace

void raiseHeadProducts(func::FuncOp Main, const eval::WeightReader &Reader) {
  Raiser All(Main, Reader);
  for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front()))
    if (auto Product = dyn_cast<onnx::MatMulOp>(Op))
      All.raise(Product);
}
} // namespace llmc::raise
