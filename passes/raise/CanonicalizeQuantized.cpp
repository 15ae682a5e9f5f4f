// llmc-canonicalize-quantized: every form in which files hold quantised weights
// becomes one, a plain MatMul or Gather of an llm.quantized_value, so that the
// recognisers know no quantised op. Quantised activations are computed exactly
// (QuantizedActivations.h).
#include "compiler/eval/Convert.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"
#include "passes/raise/QuantizedActivations.h"
#include "passes/raise/QuantizedExperts.h"

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
    QuantizedMaker M(getOperation(), Reader);
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
      return raise({P, P.getA(), P.getB(), P.getAZeroPoint(), P.getBZeroPoint(),
                    /*Channels=*/-1});
    if (onnx::ConvIntegerOp P = dyn_cast<onnx::ConvIntegerOp>(Op))
      return raise({P, P.getX(), P.getW(), P.getXZeroPoint(), P.getWZeroPoint(),
                    /*Channels=*/0});
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
      // Rows of a stream of bits begin on bytes by themselves.
      How.ZeroPitch = How.Bits ? uint64_t(Blocks) : RowBytes * 8 / Bits;
    }
    return true;
  }

  /// Whether g_idx is k / block_size: no choice at all.
  bool isPlain(Value Groups, int64_t BlockSize) {
    std::optional<std::vector<double>> At = Maker->numbersOf(Groups);
    if (!At)
      return false;
    for (auto [I, Group] : llvm::enumerate(*At))
      if (Group != double(int64_t(I) / BlockSize))
        return false;
    return true;
  }

  void raise(onnx::MsMatMulNBitsOp P) {
    int64_t K = int64_t(P.getK()), N = int64_t(P.getN()),
            Size = int64_t(P.getBlockSize()), Bits = int64_t(P.getBits());
    int64_t Blocks = (K + Size - 1) / Size;
    Encoding How;
    How.Code = Bits == 2 ? DType::U2 : (Bits == 4 ? DType::U4 : DType::U8);
    How.Bits = Bits == 2 || Bits == 4 || Bits == 8 ? 0 : uint8_t(Bits);
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

  /// QMoE keeps its place; its weights become values, without codes.
  void raise(onnx::MsQMoEOp Q) {
    if (std::string Why = dequantiseExperts(Q, *Maker); !Why.empty())
      return missedHere(Q, Why);
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

  /// MatMulInteger or ConvInteger.
  struct IntegerProduct {
    Operation *Op;
    Value A, B, AZero, BZero;
    int64_t Channels; ///< axis of B with a scale per element
  };

  /// Cast, Mul by the scales of both sides: a product of floats.
  void raise(const IntegerProduct &P) {
    for (Operation *User : llvm::make_early_inc_range(P.Op->getUsers())) {
      onnx::CastOp Cast = dyn_cast<onnx::CastOp>(User);
      if (!Cast || !Cast.getTo().isF32())
        return missedHere(P.Op, "the integer product is not cast to f32");
      for (Operation *Scaled : llvm::make_early_inc_range(Cast->getUsers()))
        if (onnx::MulOp Mul = dyn_cast<onnx::MulOp>(Scaled))
          raise(P, Cast, Mul);
        else
          missedHere(P.Op, "the product is not multiplied by its scales");
    }
  }

  /// Whether F is the scale of a side of P.
  bool isScaleOf(const IntegerProduct &P, Value F) {
    return llvm::any_of(ArrayRef<Value>{P.A, P.B}, [&](Value Side) {
      Value Scale = Maker->isRaw(Side) ? Value() : Activations->scaleOf(Side);
      return Scale && skip(F) == skip(Scale);
    });
  }

  /// The factors of the product, which may come one after the other; Mul moves
  /// on to the last of them.
  SmallVector<Value> scalesOf(const IntegerProduct &P, onnx::CastOp Cast,
                              onnx::MulOp &Mul) {
    SmallVector<Value> Out;
    Value Product = Cast.getOutput();
    for (onnx::MulOp Next = Mul; Next;
         Next = dyn_cast_or_null<onnx::MulOp>(onlyUser(Product))) {
      SmallVector<Value> More;
      factorsOf(Next.getLhs() == Product ? Next.getRhs() : Next.getLhs(), More);
      bool Scales = llvm::all_of(
          More, [&](Value F) { return Maker->isRaw(F) || isScaleOf(P, F); });
      bool Found = llvm::any_of(Out, [&](Value F) { return isScaleOf(P, F); });
      if (!Out.empty() && (!Scales || (Found && Out.size() > 1)))
        break;
      llvm::append_range(Out, More);
      Mul = Next;
      Product = Next.getOutput();
    }
    return Out;
  }

  /// The product of floats with the same attributes.
  Value productOf(const IntegerProduct &P, onnx::MulOp Mul, Value A, Value B) {
    OpBuilder Builder(Mul);
    Type Out = floatLike(Mul.getOutput());
    if (!isa<onnx::ConvIntegerOp>(P.Op))
      return onnx::MatMulOp::create(Builder, P.Op->getLoc(), Out, A, B);
    Value None =
        onnx::NoneOp::create(Builder, P.Op->getLoc(), Builder.getNoneType());
    return onnx::ConvOp::create(Builder, P.Op->getLoc(), TypeRange{Out},
                                ValueRange{A, B, None}, P.Op->getAttrs());
  }

  void raise(const IntegerProduct &P, onnx::CastOp Cast, onnx::MulOp Mul) {
    SmallVector<Value> Factors = scalesOf(P, Cast, Mul);
    double Times = 1;
    for (Value Side : {P.A, P.B})
      if (!Maker->isRaw(Side) && !removeScale(Side, Factors, Times))
        return missedHere(P.Op, "the scale of an activation is not among the "
                                "factors of the product");
    if (Factors.size() > 1)
      return missedHere(P.Op, "more than one factor besides the scale of the "
                              "activation");
    if (Factors.empty()) {
      OpBuilder B(P.Op);
      Factors.push_back(onnx::ConstantOp::create(
          B, P.Op->getLoc(),
          DenseElementsAttr::get(RankedTensorType::get({}, B.getF32Type()),
                                 1.0f)));
    }
    Value A = Activations->operand(P.Op, P.A,
                                   {Factors.front(), P.AZero, {0, 0}}, Times);
    Value B = Activations->operand(
        P.Op, P.B, {Factors.front(), P.BZero, {P.Channels, 0}}, Times);
    if (!A || !B)
      return missedHere(P.Op,
                        "an operand is neither of the file nor quantised");
    Mul.getOutput().replaceAllUsesWith(productOf(P, Mul, A, B));
    passed("canonicalize-quantized", P.Op, "a product with quantised weights");
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
