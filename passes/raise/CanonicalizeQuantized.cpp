// llmc-canonicalize-quantized: every form in which files hold quantised weights
// becomes one, a plain MatMul or Gather of an llm.quantized_value, so that the
// recognisers know no quantised op. Quantised activations are computed exactly
// (QuantizedActivations.h).
#include "compiler/eval/Convert.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"
#include "passes/raise/QuantizedActivations.h"

namespace llmc::raise {
#define GEN_PASS_DEF_CANONICALIZEQUANTIZED
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

Value transposed(OpBuilder &B, Location Loc, Value W) {
  RankedTensorType Type = cast<RankedTensorType>(W.getType());
  return onnx::TransposeOp::create(
      B, Loc,
      RankedTensorType::get({Type.getDimSize(1), Type.getDimSize(0)},
                            Type.getElementType()),
      W, B.getDenseI64ArrayAttr({1, 0}));
}

/// Replaces Op, a product of X with W [K, N] or its transpose, by a MatMul.
void replaceByProduct(Operation *Op, Value X, Value W, bool Transpose,
                      Value Bias) {
  OpBuilder B(Op);
  Value Result = Op->getResult(0);
  if (Transpose)
    W = transposed(B, Op->getLoc(), W);
  Value Y = onnx::MatMulOp::create(B, Op->getLoc(), floatLike(Result), X, W);
  if (Bias && !onnx::isNone(Bias))
    Y = onnx::AddOp::create(B, Op->getLoc(), floatLike(Result), Y, Bias);
  Result.replaceAllUsesWith(Y);
}

struct CanonicalizeQuantized
    : impl::CanonicalizeQuantizedBase<CanonicalizeQuantized> {
  using CanonicalizeQuantizedBase::CanonicalizeQuantizedBase;
  eval::WeightReader Reader;

  void runOnOperation() override {
    func::FuncOp Main = graphOf(getOperation());
    if (!Main)
      return;
    Block &Body = Main.getBody().front();
    QuantizedMaker M(getOperation());
    QuantizedActivations A(M);
    Maker = &M;
    Activations = &A;
    for (Operation &Op : llvm::make_early_inc_range(Body))
      visit(&Op);
    eraseDead(Body);
  }

  void visit(Operation *Op) {
    if (onnx::MsMatMulNBitsOp P = dyn_cast<onnx::MsMatMulNBitsOp>(Op))
      return raise(P);
    if (onnx::MsMatMulBnb4Op P = dyn_cast<onnx::MsMatMulBnb4Op>(Op))
      return raise(P);
    if (onnx::MsGatherBlockQuantizedOp G =
            dyn_cast<onnx::MsGatherBlockQuantizedOp>(Op))
      return raise(G);
    if (onnx::MsMatMulBlockQuantizedFp8WeightOp P =
            dyn_cast<onnx::MsMatMulBlockQuantizedFp8WeightOp>(Op))
      return raise(P);
    if (onnx::MsQMoEOp Q = dyn_cast<onnx::MsQMoEOp>(Op))
      return raise(Q);
    if (onnx::DequantizeLinearOp D = dyn_cast<onnx::DequantizeLinearOp>(Op))
      return raise(D);
    if (onnx::MatMulIntegerOp P = dyn_cast<onnx::MatMulIntegerOp>(Op))
      return raise(P);
    if (onnx::MulOp Mul = dyn_cast<onnx::MulOp>(Op))
      return raise(Mul);
  }

  void missedHere(Operation *Op, const Twine &Why) {
    missed("canonicalize-quantized", Op, Why);
  }

  // --- weights in operators of their own -------------------------------------

  /// Zero points of MatMulNBits: packed as the codes, one per byte, or floats.
  bool setZeros(onnx::MsMatMulNBitsOp P, int64_t Blocks, Encoding &How) {
    std::optional<RawTensor> Zeros = Maker->raw(P.getZeroPoints());
    uint64_t Bits = P.getBits();
    How.ZeroValue = std::ldexp(1.0f, int(Bits) - 1);
    if (!Zeros)
      return onnx::isNone(P.getZeroPoints());
    How.Zero = elementOf(Zeros->Element);
    How.ZeroPitch = uint64_t(Blocks);
    if (How.Zero != DType::U8)
      return true;
    uint64_t RowBytes = (uint64_t(Blocks) * Bits + 7) / 8;
    if (uint64_t(Zeros->Count) == RowBytes * P.getN()) {
      How.Zero = How.Code;
      How.ZeroPitch = RowBytes * 8 / Bits;
    }
    return true;
  }

  /// Whether g_idx is k / block_size: no choice at all.
  bool isPlain(Value Groups, int64_t BlockSize) {
    std::optional<RawTensor> T = Maker->raw(Groups);
    std::vector<uint8_t> Bytes;
    eval::Budget Limit(T->Count + 1, 2 * T->Count + 1);
    Result<eval::Tensor> Values = unsupportedError("no reader");
    if (onnx::ConstantOp C = dyn_cast<onnx::ConstantOp>(T->Data))
      Values = eval::fromAttribute(Limit, C.getValue());
    else if (Reader && Reader(cast<onnx::WeightDataOp>(T->Data), Bytes).ok())
      Values = eval::fromFileBytes(
          Limit, RankedTensorType::get({T->Count}, T->Element), Bytes);
    if (!Values)
      return false;
    for (int64_t I = 0; I < T->Count; ++I)
      if (eval::intAt(*Values, I) != I / BlockSize)
        return false;
    return true;
  }

  void raise(onnx::MsMatMulNBitsOp P) {
    int64_t K = int64_t(P.getK()), N = int64_t(P.getN()),
            Size = int64_t(P.getBlockSize()), Bits = int64_t(P.getBits());
    int64_t Blocks = (K + Size - 1) / Size;
    Encoding How;
    How.Code = Bits == 2 ? DType::U2 : (Bits == 4 ? DType::U4 : DType::U8);
    How.Pitch = uint64_t(Blocks * Size);
    How.BlockCols = uint64_t(Size);
    How.ScalePitch = uint64_t(Blocks);
    if (!setZeros(P, Blocks, How))
      return missedHere(P, "the zero points are no tensor of the file");
    QuantizedOperands Parts{P.getB(), P.getScales(), P.getZeroPoints(), {}};
    if (Maker->isRaw(P.getGIdx()) && !isPlain(P.getGIdx(), Size)) {
      How.Groups = true;
      Parts.Groups = P.getGIdx();
    }
    replace(P, P.getA(), Maker->make(P, {N, K}, Parts, How), true, P.getBias());
  }

  void replace(Operation *Op, Value X, Value W, bool Transpose, Value Bias) {
    if (!W)
      return missedHere(Op, "codes and scales are no tensors of the file");
    replaceByProduct(Op, X, W, Transpose, Bias);
    passed("canonicalize-quantized", Op, "a product with quantised weights");
  }

  void raise(onnx::MsMatMulBnb4Op P) {
    int64_t K = int64_t(P.getK()), N = int64_t(P.getN());
    Encoding How;
    How.Code = DType::U4;
    How.Table = P.getQuantType() == 1 ? CodeTable::Nf4 : CodeTable::BnbFp4;
    How.HighFirst = true;
    How.Pitch = uint64_t(K);
    How.Flat = uint64_t(P.getBlockSize());
    replace(P, P.getA(),
            Maker->make(P, {N, K}, {P.getB(), P.getAbsmax(), {}, {}}, How),
            P.getTransB() == 1, {});
  }

  void raise(onnx::MsMatMulBlockQuantizedFp8WeightOp P) {
    RankedTensorType Type = dyn_cast<RankedTensorType>(P.getB().getType());
    if (!Type || !Type.hasStaticShape() || Type.getRank() != 2)
      return missedHere(P, "the weight is not a matrix");
    replace(P, P.getA(),
            Maker->byAxis(P, Type.getShape(), {P.getB(), P.getBScale(), {}, {}},
                          {1, int64_t(P.getBlockSize())}),
            true, P.getBias());
  }

  void raise(onnx::MsGatherBlockQuantizedOp G) {
    RankedTensorType Type = dyn_cast<RankedTensorType>(G.getData().getType());
    std::optional<RawTensor> Zeros = Maker->raw(G.getZeroPoints());
    if (!Type || !Type.hasStaticShape() || Type.getRank() != 2 ||
        (G.getGatherAxis() != 0 && int64_t(G.getGatherAxis()) != -2))
      return missedHere(G, "the table is no matrix, or not gathered by rows");
    DType Stored = elementOf(Type.getElementType());
    int64_t Bits = int64_t(G.getBits());
    bool Packed = Stored == DType::U8 && Bits < 8;
    int64_t Rows = Type.getDimSize(0);
    int64_t Cols = Type.getDimSize(1) * (Packed ? 8 / Bits : 1);
    int64_t Axis = int64_t(G.getQuantizeAxis());
    Axis = Axis < 0 ? Axis + 2 : Axis;
    int64_t Size = int64_t(G.getBlockSize());
    if (Size == 0)
      Size = Axis == 1 ? Cols : Rows;
    Encoding How;
    How.Code = Packed ? (Bits == 2 ? DType::U2 : DType::U4) : Stored;
    How.Pitch = uint64_t(Cols);
    How.BlockRows = Axis == 0 ? uint64_t(Size) : 1;
    How.BlockCols = Axis == 1 ? uint64_t(Size) : 1;
    How.ScalePitch =
        Axis == 1 ? uint64_t((Cols + Size - 1) / Size) : uint64_t(Cols);
    if (Stored == DType::U8)
      How.ZeroValue = std::ldexp(1.0f, int(Bits) - 1);
    if (Zeros && Zeros->Count > 1) {
      How.Zero = elementOf(Zeros->Element);
      How.ZeroPitch = How.ScalePitch;
      if (How.Zero == DType::U8 && Packed) {
        How.Zero = How.Code;
        uint64_t PerByte = uint64_t(8 / Bits);
        How.ZeroPitch = (How.ScalePitch + PerByte - 1) / PerByte * PerByte;
      }
    }
    Value W =
        Maker->make(G, {Rows, Cols},
                    {G.getData(), G.getScales(), G.getZeroPoints(), {}}, How);
    if (!W)
      return missedHere(G, "codes and scales are no tensors of the file");
    OpBuilder B(G);
    Value Out = onnx::GatherOp::create(B, G.getLoc(), floatLike(G.getOutput()),
                                       W, G.getIndices(), uint64_t(0));
    G.getOutput().replaceAllUsesWith(Out);
    passed("canonicalize-quantized", G, "rows of a quantised table");
  }

  /// The weights of all experts of a QMoE [E, R, K / codes per byte] as a value
  /// [E, R, K]; none for an absent operand, null when they cannot be one.
  Value experts(onnx::MsQMoEOp Q, Value Weights, Value Scales, Value Zeros,
                std::optional<uint64_t> OwnBits) {
    if (onnx::isNone(Weights))
      return Weights;
    RankedTensorType Type = dyn_cast<RankedTensorType>(Weights.getType());
    std::optional<RawTensor> S = Maker->raw(Scales);
    uint64_t Bits = OwnBits.value_or(Q.getExpertWeightBits());
    if (!Type || !Type.hasStaticShape() || Type.getRank() != 3 || !S ||
        (Bits != 2 && Bits != 4 && Bits != 8))
      return {};
    int64_t E = Type.getDimSize(0), R = Type.getDimSize(1);
    int64_t K = Type.getDimSize(2) * int64_t(8 / Bits);
    uint64_t Block = Q.getBlockSize() > 0 ? Q.getBlockSize() : uint64_t(K);
    Encoding How;
    How.Code = Bits == 2 ? DType::U2 : (Bits == 4 ? DType::U4 : DType::U8);
    How.Pitch = uint64_t(K);
    How.BlockCols = Block;
    How.ScalePitch = (uint64_t(K) + Block - 1) / Block;
    How.ZeroValue = std::ldexp(1.0f, int(Bits) - 1);
    if (Maker->isRaw(Zeros)) {
      How.Zero = How.Code;
      How.ZeroPitch = (How.ScalePitch * Bits + 7) / 8 * 8 / Bits;
    }
    Value W = Maker->make(Q, {E * R, K}, {Weights, Scales, Zeros, {}}, How);
    if (!W)
      return {};
    OpBuilder B(Q);
    Value Shape =
        onnx::ConstantOp::create(B, Q.getLoc(), B.getI64TensorAttr({E, R, K}));
    return onnx::ReshapeOp::create(
        B, Q.getLoc(), RankedTensorType::get({E, R, K}, B.getF32Type()), W,
        Shape, uint64_t(0));
  }

  /// QMoE is MoE with other weights.
  void raise(onnx::MsQMoEOp Q) {
    if (Q.getQuantType() != "int" || !onnx::isNone(Q.getRouterWeights()))
      return missedHere(Q, "expected integer codes and no router_weights");
    Value W[3] = {experts(Q, Q.getFc1ExpertsWeights(), Q.getFc1Scales(),
                          Q.getFc1ZeroPoints(), Q.getFc1ExpertWeightBits()),
                  experts(Q, Q.getFc2ExpertsWeights(), Q.getFc2Scales(),
                          Q.getFc2ZeroPoints(), Q.getFc2ExpertWeightBits()),
                  experts(Q, Q.getFc3ExpertsWeights(), Q.getFc3Scales(),
                          Q.getFc3ZeroPoints(), Q.getFc3ExpertWeightBits())};
    if (!W[0] || !W[1] || !W[2])
      return missedHere(Q, "the experts are no codes of the file");
    OperationState State(Q.getLoc(), onnx::MsMoEOp::getOperationName());
    State.addOperands({Q.getInput(), Q.getRouterProbs(), W[0],
                       Q.getFc1ExpertsBias(), W[1], Q.getFc2ExpertsBias(), W[2],
                       Q.getFc3ExpertsBias()});
    State.addTypes(Q.getOutput().getType());
    for (NamedAttribute A : Q->getAttrs())
      if (llvm::is_contained({"k", "activation_type", "activation_alpha",
                              "activation_beta", "normalize_routing_weights",
                              "use_sparse_mixer", "swiglu_fusion",
                              "swiglu_limit", "swiglu_limit_after_activation"},
                             A.getName().strref()))
        State.addAttribute(A.getName(), A.getValue());
    OpBuilder B(Q);
    Q.getOutput().replaceAllUsesWith(B.create(State)->getResult(0));
    passed("canonicalize-quantized", Q, "experts with quantised weights");
  }

  // --- Q and DQ --------------------------------------------------------------

  void raise(onnx::DequantizeLinearOp D) {
    Value X = Activations->operand(
        D, D.getX(),
        {D.getXScale(),
         D.getXZeroPoint(),
         {int64_t(D.getAxis()), int64_t(D.getBlockSize())}});
    if (!X)
      return missedHere(D, "the codes are neither of the file nor an "
                           "activation that was quantised");
    D.getOutput().replaceAllUsesWith(X);
  }

  /// A bias of 32-bit integers by its scale.
  void raise(onnx::MulOp Mul) {
    for (unsigned I : {0u, 1u}) {
      onnx::CastOp Cast = producer<onnx::CastOp>(Mul->getOperand(I));
      std::optional<RawTensor> Codes =
          Cast ? Maker->raw(Cast.getInput()) : std::nullopt;
      RankedTensorType Type =
          Cast ? dyn_cast<RankedTensorType>(Cast.getInput().getType())
               : RankedTensorType();
      if (!Codes || !Codes->Element.isInteger(32) || !Type ||
          !Type.hasStaticShape() || Type.getRank() != 1 ||
          Type != RankedTensorType::get(Type.getShape(), Codes->Element))
        continue;
      if (Value V = Maker->byAxis(
              Mul, Type.getShape(),
              {Cast.getInput(), Mul->getOperand(1 - I), {}, {}}, {0, 0}))
        Mul.getOutput().replaceAllUsesWith(V);
      return;
    }
  }

  // --- products of integers --------------------------------------------------

  /// The factors of a product of floats.
  void factorsOf(Value V, SmallVectorImpl<Value> &Out) {
    V = skip(V);
    if (onnx::MulOp Mul = V.getDefiningOp<onnx::MulOp>();
        Mul && Out.size() < 8) {
      factorsOf(Mul.getLhs(), Out);
      factorsOf(Mul.getRhs(), Out);
      return;
    }
    Out.push_back(V);
  }

  /// MatMulInteger, Cast, Mul by the scales of both sides: a float product.
  void raise(onnx::MatMulIntegerOp P) {
    for (Operation *User : llvm::make_early_inc_range(P->getUsers())) {
      onnx::CastOp Cast = dyn_cast<onnx::CastOp>(User);
      if (!Cast || !Cast.getTo().isF32())
        return missedHere(P, "the integer product is not cast to f32");
      for (Operation *Scaled : llvm::make_early_inc_range(Cast->getUsers()))
        if (onnx::MulOp Mul = dyn_cast<onnx::MulOp>(Scaled))
          raise(P, Cast, Mul);
        else
          missedHere(P, "the product is not multiplied by its scales");
    }
  }

  void raise(onnx::MatMulIntegerOp P, onnx::CastOp Cast, onnx::MulOp Mul) {
    SmallVector<Value> Factors;
    factorsOf(Mul.getLhs() == Cast.getOutput() ? Mul.getRhs() : Mul.getLhs(),
              Factors);
    double Times = 1;
    for (Value Side : {P.getA(), P.getB()})
      if (!Maker->isRaw(Side) && !removeScale(Side, Factors, Times))
        return missedHere(P, "the scale of an activation is not among the "
                             "factors of the product");
    if (Factors.size() > 1)
      return missedHere(P, "more than one factor besides the scale of the "
                           "activation");
    if (Factors.empty()) {
      OpBuilder B(P);
      Factors.push_back(onnx::ConstantOp::create(
          B, P.getLoc(),
          DenseElementsAttr::get(RankedTensorType::get({}, B.getF32Type()),
                                 1.0f)));
    }
    Value A = Activations->operand(
        P, P.getA(), {Factors.front(), P.getAZeroPoint(), {0, 0}}, Times);
    Value B = Activations->operand(
        P, P.getB(), {Factors.front(), P.getBZeroPoint(), {1, 0}}, Times);
    if (!A || !B)
      return missedHere(P, "an operand is neither of the file nor quantised");
    OpBuilder Builder(Mul);
    Value Y = onnx::MatMulOp::create(Builder, P.getLoc(),
                                     floatLike(Mul.getOutput()), A, B);
    Mul.getOutput().replaceAllUsesWith(Y);
    passed("canonicalize-quantized", P, "a product with quantised weights");
  }

  /// Takes the scale of an activation out of the factors. A constant one may
  /// have been multiplied into the others: then Times undoes it.
  bool removeScale(Value Side, SmallVectorImpl<Value> &Factors, double &Times) {
    Value Scale = Activations->scaleOf(Side);
    if (!Scale)
      return false;
    Value *At =
        llvm::find_if(Factors, [&](Value F) { return skip(F) == skip(Scale); });
    if (At != Factors.end()) {
      Factors.erase(At);
      return true;
    }
    std::optional<double> Known = Maker->scalarOf(Scale);
    if (!Known || *Known == 0)
      return false;
    Times /= *Known;
    return true;
  }

  QuantizedMaker *Maker = nullptr;
  QuantizedActivations *Activations = nullptr;
};
} // namespace

std::unique_ptr<Pass> createCanonicalizeQuantized(eval::WeightReader Reader) {
  auto P = std::make_unique<CanonicalizeQuantized>();
  P->Reader = std::move(Reader);
  return P;
}
} // namespace llmc::raise
