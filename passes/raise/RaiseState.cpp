// Layers that keep a fixed amount of state per sequence: short causal
// convolutions become llm.causal_conv, linear attention llm.linear_attention.
//
// The ops of ONNX say what they do. A plain Conv is one if, fed with the end of
// a cache input and the new tokens, it gives what a causal convolution of the
// tokens gives: that is proved by evaluation, in one step and in two.
#include "passes/raise/Cone.h"
#include "passes/raise/Experts.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"
#include "passes/raise/ReadingPass.h"
#include "passes/raise/Weights.h"

#include <cmath>

namespace llmc::raise {
#define GEN_PASS_DEF_RAISESTATE
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

constexpr int64_t Prompt = 5, More = 3; ///< tokens of the two steps

/// A convolution: Out [batch, features, tokens] of In of that shape.
struct Conv {
  Value In, Out;
  WeightView Weight;
  std::optional<WeightView> Bias;
  int64_t Features = 0, Taps = 0;
  llm::ActivationKind Act = llm::ActivationKind::none;
};

struct RaiseState : ReadingPass<impl::RaiseStateBase<RaiseState>> {
  using ReadingPass::ReadingPass;
  int64_t Convs = 0, Records = 0;

  void runOnGraph(func::FuncOp Main) override {
    Roles R(Main);
    WeightMaker Weights(getOperation());
    Convs = Records = 0;
    for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front())) {
      StringRef Name = Op.getName().getStringRef();
      std::string Why;
      if (Op.getNumResults() == 0 || !R.isData(Op.getResult(0)))
        continue;
      if (Name == "onnx.causal_conv_with_state" ||
          Name == "onnx.ms_causal_conv_with_state")
        Why = wholeConv(Op, R, Weights);
      else if (Name == "onnx.conv")
        Why = plainConv(Op, Main, R, Weights);
      else if (Name == "onnx.linear_attention" ||
               Name == "onnx.ms_linear_attention")
        Why = linearAttention(Op, R);
      if (!Why.empty())
        missed("raise-state", &Op, Why);
    }
    eraseDead(Main.getBody().front());
  }

  /// Weight [features, 1, taps] and bias [features] of an op.
  std::string readWeights(Operation &Op, Conv &C, WeightMaker &Weights) {
    auto Type = dyn_cast<RankedTensorType>(Op.getOperand(1).getType());
    std::optional<WeightView> W = Weights.view(Op.getOperand(1));
    if (!W || W->Transposed || !Type || Type.getRank() != 3 ||
        Type.getDimSize(1) != 1)
      return "its weight is no tensor [features, 1, taps] of the file";
    C.Weight = *W;
    C.Features = Type.getDimSize(0);
    C.Taps = Type.getDimSize(2);
    if (Op.getNumOperands() < 3 || onnx::isNone(Op.getOperand(2)))
      return {};
    C.Bias = Weights.view(Op.getOperand(2));
    if (!C.Bias || C.Bias->Shape.size() != 1 || C.Bias->Shape[0] != C.Features)
      return "its bias is no vector of the file";
    return {};
  }

  void createConv(const Conv &C, Operation &At, Roles &R,
                  WeightMaker &Weights) {
    OpBuilder B(&At);
    OpBuilder Top(graphOf(getOperation()));
    Location Loc = At.getLoc();
    std::string Name = "conv" + std::to_string(Convs);
    llm::StateOp::create(Top, Loc, Name, "paged_rows", Convs++, 1,
                         C.Features - C.Features / 2, C.Features / 2);
    Value Rows = transposeLast(B, Loc, C.In);
    R.markData(Rows);
    auto New = llm::CausalConvOp::create(
        B, Loc, Rows.getType(), Rows, Name, Weights.flat(C.Weight).getValue(),
        C.Bias ? Weights.vector(*C.Bias) : FlatSymbolRefAttr(),
        uint64_t(C.Taps), C.Act);
    R.markData(New);
    Value Out = C.Out;
    Value Back = onnx::TransposeOp::create(B, Loc, Out.getType(), New,
                                           B.getDenseI64ArrayAttr({0, 2, 1}));
    R.markData(Back);
    Out.replaceAllUsesWith(Back);
    passed("raise-state", New,
           Twine("llm.causal_conv of ") + Twine(C.Taps) + " taps");
  }

  std::string wholeConv(Operation &Op, Roles &R, WeightMaker &Weights) {
    Conv C;
    if (std::string Why = readWeights(Op, C, Weights); !Why.empty())
      return Why;
    C.In = Op.getOperand(0);
    C.Out = Op.getResult(0);
    auto Type = dyn_cast<RankedTensorType>(C.In.getType());
    if (!Type || Type.getRank() != 3 || Type.getDimSize(1) != C.Features ||
        !Type.getElementType().isF32() || C.Features < 2)
      return "its input is not [batch, " + std::to_string(C.Features) +
             ", tokens] in f32";
    auto Act = Op.getAttrOfType<StringAttr>("activation");
    if (Act && (Act.getValue() == "silu" || Act.getValue() == "swish"))
      C.Act = llm::ActivationKind::silu;
    auto Dilation = Op.getAttrOfType<IntegerAttr>("dilation");
    if (Dilation && Dilation.getInt() != 1)
      return "a dilation of " + std::to_string(Dilation.getInt()) +
             " is not supported";
    createConv(C, Op, R, Weights);
    return {};
  }

  /// Conv of a cache's end and the new tokens.
  std::string plainConv(Operation &Op, func::FuncOp Main, Roles &R,
                        WeightMaker &Weights) {
    Conv C;
    if (std::string Why = readWeights(Op, C, Weights); !Why.empty())
      return Why;
    // The tokens: the one leaf that is no cache, over moves only.
    Cone In = coneOf(Op.getOperand(0), R, Mixing::None);
    C.In = In.root(R);
    auto Type =
        C.In ? dyn_cast<RankedTensorType>(C.In.getType()) : RankedTensorType();
    if (!Type || Type.getRank() != 3 || !Type.getElementType().isF32() ||
        C.Features < 2)
      return "its input is not made of one value of tokens";
    // The result, cut to the new tokens.
    C.Out = Op.getResult(0);
    for (int Steps = 0; Steps < 4; ++Steps) {
      Operation *User = onlyUser(C.Out);
      if (!isa_and_nonnull<onnx::SliceOp, onnx::GatherOp>(User) ||
          rankOf(User->getResult(0)) != 3)
        break;
      C.Out = User->getResult(0);
    }
    bool Rows = Type.getDimSize(2) == C.Features; // else [b, features, tokens]
    if (std::string Why = proveConv(C, Rows, In, Main, R); !Why.empty())
      return Why;
    if (Rows) {
      OpBuilder B(&Op);
      C.In = transposeLast(B, Op.getLoc(), C.In);
      R.markData(C.In);
    }
    createConv(C, *C.Out.getDefiningOp(), R, Weights);
    return {};
  }

  /// Values of a whole sequence: X [tokens][features].
  std::vector<double> convolved(const Conv &C, ArrayRef<double> X,
                                const eval::Tensor &W, const eval::Tensor *B,
                                int64_t Tokens) {
    std::vector<double> Out(size_t(Tokens * C.Features));
    for (int64_t T = 0; T < Tokens; ++T)
      for (int64_t F = 0; F < C.Features; ++F) {
        double Sum = B ? eval::floatAt(*B, F) : 0;
        for (int64_t J = 0; J < C.Taps; ++J)
          if (T - C.Taps + 1 + J >= 0)
            Sum += eval::floatAt(W, F * C.Taps + J) *
                   X[size_t((T - C.Taps + 1 + J) * C.Features + F)];
        Out[size_t(T * C.Features + F)] = Sum;
      }
    return Out;
  }

  std::string proveConv(const Conv &C, bool Rows, const Cone &In,
                        func::FuncOp Main, const Roles &R) {
    int64_t All = Prompt + More;
    std::vector<double> X =
        eval::load<double>(randomTensor({All, C.Features}, 5));
    std::vector<double> Want;
    Probe First(Main, R, Reader, Sample{0, Prompt, {}, 0});
    Probe Second(Main, R, Reader, Sample{Prompt, More, {}, 0});
    auto Compare = [&](Probe &P, int64_t Begin, int64_t Count) -> std::string {
      eval::Dims Shape{1, Rows ? Count : C.Features, Rows ? C.Features : Count};
      std::vector<double> Part(size_t(Count * C.Features));
      for (int64_t T = 0; T < Count; ++T)
        for (int64_t F = 0; F < C.Features; ++F)
          Part[size_t(Rows ? T * C.Features + F : F * Count + T)] =
              X[size_t((Begin + T) * C.Features + F)];
      P.bind(C.In, eval::Tensor::ofFloats(DType::F32, Shape, Part));
      Result<const eval::Tensor *> Got = P.evaluate(C.Out);
      if (!Got)
        return Got.status().message();
      if ((*Got)->count() != Count * C.Features)
        return "its result has shape " + eval::describe(**Got);
      for (int64_t F = 0; F < C.Features; ++F)
        for (int64_t T = 0; T < Count; ++T)
          if (!(std::abs(eval::floatAt(**Got, F * Count + T) -
                         Want[size_t((Begin + T) * C.Features + F)]) <= 1e-4))
            return "it is no causal convolution of the tokens";
      return {};
    };
    Operation *Op = C.Out.getDefiningOp();
    while (Op->getName().getStringRef() != "onnx.conv")
      Op = Op->getOperand(0).getDefiningOp();
    Result<const eval::Tensor *> W = First.evaluate(Op->getOperand(1));
    if (!W)
      return W.status().message();
    const eval::Tensor *Bias = nullptr;
    if (C.Bias) {
      Result<const eval::Tensor *> B = First.evaluate(Op->getOperand(2));
      if (!B)
        return B.status().message();
      Bias = *B;
    }
    Want = convolved(C, X, **W, Bias, All);
    std::string Why = Compare(First, 0, Prompt);
    if (!Why.empty() || In.Leaves.size() == 1)
      return Why;
    // The state that the first step leaves goes into the second.
    Operation *Return = Main.getBody().front().getTerminator();
    for (Value Leaf : In.Leaves) {
      auto Arg = dyn_cast<BlockArgument>(Leaf);
      Attribute Number =
          Arg ? Main.getArgAttr(Arg.getArgNumber(), CacheAttr) : Attribute();
      for (OpOperand &Out : Return->getOpOperands()) {
        if (!Number ||
            Main.getResultAttr(Out.getOperandNumber(), CacheAttr) != Number)
          continue;
        Result<const eval::Tensor *> T = First.evaluate(Out.get());
        if (!T)
          return T.status().message();
        Second.bind(Arg, **T);
      }
    }
    Why = Compare(Second, Prompt, More);
    return Why.empty() ? Why : "over a state: " + Why;
  }

  std::string linearAttention(Operation &Op, Roles &R) {
    auto Integer = [&](StringRef Name) {
      auto A = Op.getAttrOfType<IntegerAttr>(Name);
      return A ? A.getInt() : int64_t(0);
    };
    int64_t Heads = Integer("q_num_heads"), Kv = Integer("kv_num_heads");
    int64_t Kf = featuresOf(Op.getOperand(1)),
            Vf = featuresOf(Op.getOperand(2));
    if (Heads < 1 || Kv < 1 || Heads % Kv != 0 || Kf < 1 || Vf < 1 ||
        Kf % Kv != 0 || Vf % Kv != 0 || rankOf(Op.getOperand(0)) != 3)
      return "rows of " + std::to_string(Kf) + " and " + std::to_string(Vf) +
             " features are no heads of " + std::to_string(Kv);
    int64_t Dk = Kf / Kv, Dv = Vf / Kv;
    auto Rule = Op.getAttrOfType<StringAttr>("update_rule");
    StringRef Name = Rule ? Rule.getValue() : StringRef("gated_delta");
    bool Delta = Name.ends_with("delta"), Gated = Name.starts_with("gated");
    auto Factor = Op.getAttrOfType<FloatAttr>("scale");
    double Scale = Factor ? Factor.getValueAsDouble() : 0;
    if (Scale == 0)
      Scale = 1 / std::sqrt(double(Dk));
    OpBuilder B(&Op);
    auto Optional = [&](unsigned I, bool Used) {
      bool Given =
          Used && I < Op.getNumOperands() && !onnx::isNone(Op.getOperand(I));
      return Given ? Op.getOperand(I) : Value();
    };
    Value Decay = Optional(4, Gated), Beta = Optional(5, Delta);
    if (Beta && featuresOf(Beta) == 1 && Kv > 1)
      Beta = perHead(B, Op.getLoc(), Beta, Kv, R);
    OpBuilder Top(graphOf(getOperation()));
    std::string State = "record" + std::to_string(Records);
    llm::StateOp::create(Top, Op.getLoc(), State, "record", Records++, Kv, Dk,
                         Dv);
    auto New = llm::LinearAttentionOp::create(
        B, Op.getLoc(), rowsLike(Op.getOperand(0), Heads * Dv),
        Op.getOperand(0), Op.getOperand(1), Op.getOperand(2), Decay, Beta,
        State, uint64_t(Heads), llvm::APFloat(float(Scale)), Delta);
    R.markData(New);
    Op.getResult(0).replaceAllUsesWith(New);
    passed("raise-state", New, "llm.linear_attention");
    return {};
  }

  /// One number per token, for every head.
  Value perHead(OpBuilder &B, Location Loc, Value V, int64_t Heads, Roles &R) {
    auto Type = RankedTensorType::get({Heads}, B.getF32Type());
    SmallVector<float> Ones(size_t(Heads), 1.0f);
    Value C = onnx::ConstantOp::create(
        B, Loc, Type, DenseElementsAttr::get(Type, ArrayRef<float>(Ones)));
    Value Out = onnx::MulOp::create(B, Loc, rowsLike(V, Heads), V, C);
    R.markData(Out);
    return Out;
  }
};
} // namespace

std::unique_ptr<Pass> createRaiseState(eval::WeightReader Reader) {
  return withReader<RaiseState>(std::move(Reader));
}
} // namespace llmc::raise
