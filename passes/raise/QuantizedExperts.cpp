// Codes of experts. Integers are one matrix, expert after expert. Floats of 4
// and 8 bits have a scale per expert beside those of blocks (or blocks that
// begin anew with each expert), so that each expert is a matrix of its own and
// all are laid side by side again. Source of the forms: the description of QMoE
// in the operator schemas of ONNX Runtime 1.32, which runs only the integers on
// a CPU.
#include "passes/raise/QuantizedExperts.h"

#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {
namespace {

/// The operands of one of the three products.
struct Layer {
  Value Weights, Scales, Zeros, Global;
  uint64_t Bits = 0;
};

class Experts {
public:
  Experts(onnx::MsQMoEOp TheOp, QuantizedMaker &TheMaker)
      : Q(TheOp), Maker(TheMaker), B(TheOp) {}

  Value valueOf(const Layer &L, std::string &Why);

private:
  Value integers(const Layer &L, ArrayRef<int64_t> Shape);
  Value floats(const Layer &L, ArrayRef<int64_t> Shape, std::string &Why);
  bool formOf(const Layer &L, ArrayRef<int64_t> Shape, std::string &Why);

  onnx::MsQMoEOp Q;
  QuantizedMaker &Maker;
  OpBuilder B;
  // Of one layer in floats.
  Encoding How;
  int64_t N = 0, K = 0;
  bool Turned = false; ///< codes lie as [K, N]
};

/// Bytes [E, R, K * bits / 8], each row a stream of bits.
Value Experts::integers(const Layer &L, ArrayRef<int64_t> Shape) {
  uint64_t Bits = L.Bits;
  int64_t E = Shape[0], R = Shape[1], Columns = Shape[2] * 8 / int64_t(Bits);
  uint64_t Width = uint64_t(Columns);
  uint64_t Block = Q.getBlockSize() > 0 ? Q.getBlockSize() : Width;
  Encoding I;
  I.Code = Bits == 2 ? DType::U2 : (Bits == 4 ? DType::U4 : DType::U8);
  I.Bits = Bits == 3 ? 3 : 0;
  I.Pitch = Width;
  I.BlockCols = Block;
  I.ScalePitch = (Width + Block - 1) / Block;
  I.ZeroValue = std::ldexp(1.0f, int(Bits) - 1);
  Value Zeros = Bits == 3 ? Value() : L.Zeros; // those of 3 bits are all 4
  if (Maker.isRaw(Zeros)) {
    I.Zero = I.Code;
    I.ZeroPitch = (I.ScalePitch * Bits + 7) / 8 * 8 / Bits;
    // One per row lies packed along the rows of an expert.
    RankedTensorType ZeroType = dyn_cast<RankedTensorType>(Zeros.getType());
    if (ZeroType && ZeroType.getRank() == 2 && I.ScalePitch == 1 &&
        R * int64_t(Bits) % 8 == 0)
      I.ZeroPitch = 1;
  }
  Value W =
      Maker.make(Q, {E * R, Columns}, {L.Weights, L.Scales, Zeros, {}}, I);
  return W ? reshapeTo(B, Q.getLoc(), W, {E, R, Columns}) : Value();
}

/// Sets How, N, K and Turned from the dims of weights and scales.
bool Experts::formOf(const Layer &L, ArrayRef<int64_t> Shape,
                     std::string &Why) {
  bool Fp8 = Q.getQuantType() == "fp8", Nv = Q.getQuantType() == "nvfp4";
  int64_t Block = Fp8 ? int64_t(Q.getBlockSize()) : (Nv ? 16 : 32);
  int64_t PerByte = Fp8 ? 1 : 2;
  N = Shape[1];
  K = Shape[2] * PerByte;
  How = Encoding();
  Turned = false;
  How.Code = Fp8 ? DType::F8E4M3 : DType::F4E2M1;
  if (Fp8 && Block <= 0) { // one scale per expert
    How.Pitch = How.BlockCols = uint64_t(K);
    How.BlockRows = uint64_t(N);
    return true;
  }
  RankedTensorType Scales = dyn_cast<RankedTensorType>(L.Scales.getType());
  if (!Scales || !Scales.hasStaticShape() || Scales.getRank() != 3) {
    Why = "its block scales have no 3 dims";
    return false;
  }
  if (Nv) {
    // [E, N, K / 2], or [E, K, N / 2] with the bytes of either.
    int64_t Rows = Scales.getDimSize(1), Blocks = Scales.getDimSize(2);
    if (Shape[1] == Blocks * Block && Shape[2] * 2 == Rows) {
      N = Rows;
      K = Shape[1];
      Turned = Q.getWeightsPrepacked() != 1;
    }
  }
  int64_t Columns = (K + Block - 1) / Block,
          Rows = Fp8 ? (N + Block - 1) / Block : N;
  if (Scales.getDimSize(1) != Rows || Scales.getDimSize(2) != Columns) {
    Why = ("its block scales are " + Twine(Scales.getDimSize(1)) + " x " +
           Twine(Scales.getDimSize(2)) + " per expert, expected " +
           Twine(Rows) + " x " + Twine(Columns))
              .str();
    return false;
  }
  How.Pitch = uint64_t(Turned ? N : K);
  How.BlockRows = Turned ? uint64_t(Block) : (Fp8 ? uint64_t(Block) : 1);
  How.BlockCols = Turned ? 1 : uint64_t(Block);
  How.ScalePitch = uint64_t(Columns);
  How.Turned = Turned;
  return true;
}

Value Experts::floats(const Layer &L, ArrayRef<int64_t> Shape,
                      std::string &Why) {
  if (!formOf(L, Shape, Why))
    return {};
  int64_t E = Shape[0];
  bool Global = Q.getQuantType() != "fp8" || Q.getBlockSize() <= 0;
  bool Blocks = Q.getQuantType() != "fp8" || Q.getBlockSize() > 0;
  std::optional<std::vector<double>> Factors;
  if (Global && Blocks) {
    Factors = Maker.numbersOf(L.Global);
    if (!Factors || int64_t(Factors->size()) != E) {
      Why = "it has no global scale per expert in the file";
      return {};
    }
  }
  SmallVector<Value> Parts;
  for (int64_t I = 0; I < E; ++I) {
    QuantizedOperands Of{L.Weights, Blocks ? L.Scales : L.Global, {}, {}};
    Of.Part = I;
    Of.Parts = E;
    Encoding Mine = How;
    if (Factors)
      Mine.Times = float((*Factors)[size_t(I)]);
    SmallVector<int64_t> Dims{Turned ? K : N, Turned ? N : K};
    Value W = Maker.make(Q, Dims, Of, Mine);
    if (!W) {
      Why = "the experts are no codes of the file";
      return {};
    }
    if (Turned)
      W = transposeLast(B, Q.getLoc(), W);
    Parts.push_back(W);
  }
  Value All = onnx::ConcatOp::create(
      B, Q.getLoc(), RankedTensorType::get({E * N, K}, B.getF32Type()), Parts,
      int64_t(0));
  return reshapeTo(B, Q.getLoc(), All, {E, N, K});
}

/// None for an absent operand; null with a reason when it cannot be one.
Value Experts::valueOf(const Layer &L, std::string &Why) {
  if (onnx::isNone(L.Weights))
    return L.Weights;
  RankedTensorType Type = dyn_cast<RankedTensorType>(L.Weights.getType());
  if (!Type || !Type.hasStaticShape() || Type.getRank() != 3) {
    Why = "its weights have no 3 dims";
    return {};
  }
  Value V = Q.getQuantType() == "int" ? integers(L, Type.getShape())
                                      : floats(L, Type.getShape(), Why);
  if (!V && Why.empty())
    Why = "the experts are no codes of the file";
  return V;
}
} // namespace

std::string dequantiseExperts(onnx::MsQMoEOp Q, QuantizedMaker &Maker) {
  const auto BitsOf = [&](std::optional<uint64_t> Own) {
    return Own.value_or(0) ? *Own : Q.getExpertWeightBits();
  };
  const Layer Layers[] = {
      {Q.getFc1ExpertsWeights(), Q.getFc1Scales(), Q.getFc1ZeroPoints(),
       Q.getFc1GlobalScale(), BitsOf(Q.getFc1ExpertWeightBits())},
      {Q.getFc2ExpertsWeights(), Q.getFc2Scales(), Q.getFc2ZeroPoints(),
       Q.getFc2GlobalScale(), BitsOf(Q.getFc2ExpertWeightBits())},
      // No global scale of its own.
      {Q.getFc3ExpertsWeights(), Q.getFc3Scales(), Q.getFc3ZeroPoints(),
       Q.getFc1GlobalScale(), BitsOf(Q.getFc3ExpertWeightBits())}};
  Experts Make(Q, Maker);
  Value W[3];
  for (size_t I = 0; I < 3; ++I) {
    std::string Why;
    W[I] = Make.valueOf(Layers[I], Why);
    if (!W[I])
      return Why;
  }
  OpBuilder B(Q);
  Value None = onnx::NoneOp::create(B, Q.getLoc(), B.getNoneType());
  Q.getFc1ExpertsWeightsMutable().assign(W[0]);
  Q.getFc2ExpertsWeightsMutable().assign(W[1]);
  Q.getFc3ExpertsWeightsMutable().assign(W[2]);
  for (OpOperand *Operand :
       {&Q.getFc1ScalesMutable(), &Q.getFc2ScalesMutable(),
        &Q.getFc3ScalesMutable(), &Q.getFc1ZeroPointsMutable(),
        &Q.getFc2ZeroPointsMutable(), &Q.getFc3ZeroPointsMutable(),
        &Q.getFc1GlobalScaleMutable(), &Q.getFc2GlobalScaleMutable()})
    Operand->assign(None);
  Q.setQuantType("int");
  Q.setWeightsPrepacked(0);
  return {};
}
} // namespace llmc::raise
