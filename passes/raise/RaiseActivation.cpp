// Activations are recognised by what they compute, not by how they are written:
// a chain of elementwise ops of one value and scalar constants is evaluated on
// sample points and compared with the known functions. There are four spellings
// of tanh-GELU alone, with constants rounded differently, and this covers them
// all. A product of an activation with another value becomes llm.glu.
#include "compiler/eval/Evaluator.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Roles.h"

#include <cmath>

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEACTIVATION
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

using llm::ActivationKind;

struct Known {
  ActivationKind Kind;
  double (*Fn)(double);
};
const Known Functions[] = {
    {ActivationKind::silu, [](double X) { return X / (1 + std::exp(-X)); }},
    {ActivationKind::gelu,
     [](double X) { return 0.5 * X * (1 + std::erf(X / std::sqrt(2.0))); }},
    {ActivationKind::gelu_tanh,
     [](double X) {
       return 0.5 * X *
              (1 + std::tanh(0.7978845608028654 * (X + 0.044715 * X * X * X)));
     }},
    {ActivationKind::relu, [](double X) { return X > 0 ? X : 0; }},
    {ActivationKind::relu2, [](double X) { return X > 0 ? X * X : 0; }},
};

/// -8 … 8 in uneven steps, so that no function is sampled at special points
/// only, and exact and tanh GELU (which differ by up to 5e-4) stay apart.
std::vector<double> samplePoints() {
  std::vector<double> Out;
  for (int I = 0; I <= 96; ++I)
    Out.push_back(-8.0 + I * 0.1667 + 0.01 * (I % 3));
  // A limit close to 0 is no ReLU.
  Out.insert(Out.end(), {0.0, 1e-12, -1e-12});
  return Out;
}

bool isElementwise(Operation *Op) {
  return isa<onnx::MulOp, onnx::DivOp, onnx::AddOp, onnx::SubOp, onnx::PowOp,
             onnx::NegOp, onnx::TanhOp, onnx::ErfOp, onnx::SigmoidOp,
             onnx::SqrtOp, onnx::ReluOp, onnx::ExpOp, onnx::ReciprocalOp,
             onnx::MaxOp, onnx::ClipOp, onnx::GeluOp, onnx::SoftplusOp,
             onnx::IdentityOp>(Op);
}

struct RaiseActivation : impl::RaiseActivationBase<RaiseActivation> {
  /// For each elementwise value the one value that it is a function of.
  llvm::DenseMap<Value, Value> Roots;

  Value rootOf(Value V) const {
    auto It = Roots.find(V);
    return It == Roots.end() ? V : It->second;
  }

  void runOnOperation() override {
    func::FuncOp Main = graphOf(getOperation());
    if (!Main)
      return;
    Block &Body = Main.getBody().front();
    Roles R(Main);
    for (Operation &Op : Body)
      if (isElementwise(&Op) && R.isData(Op.getResult(0)))
        findRoot(Op);
    // From the end, so that a chain is tried as a whole before its parts.
    for (Operation &Op : llvm::make_early_inc_range(llvm::reverse(Body)))
      if (Op.getNumResults() == 1 && Roots.count(Op.getResult(0)))
        raise(Op);
    for (Operation &Op : llvm::make_early_inc_range(Body))
      if (auto Mul = dyn_cast<onnx::MulOp>(Op))
        gate(Mul);
    eraseDead(Body);
    Roots.clear();
  }

  void findRoot(Operation &Op) {
    Value Root;
    for (Value V : Op.getOperands()) {
      if (onnx::isNone(V) || scalar(V))
        continue;
      Value Mine = rootOf(V);
      if (Root && Root != Mine)
        return;
      Root = Mine;
    }
    // Heads in front of tokens, or counted with them, are no rows.
    auto Type = dyn_cast<RankedTensorType>(Op.getResult(0).getType());
    bool HeadsFirst = Type && Type.getRank() == 4 && !Type.isDynamicDim(1) &&
                      Type.isDynamicDim(2);
    if (Root && !HeadsFirst && !countedHeads(Root) &&
        Root.getType() == Op.getResult(0).getType())
      Roots[Op.getResult(0)] = Root;
  }

  void raise(Operation &Op) {
    // A single linear step (x * 2) is no activation.
    if (Op.use_empty() || isa<onnx::IdentityOp>(Op))
      return;
    Value X = Roots[Op.getResult(0)];
    if (!getElementTypeOrSelf(X).isF32())
      return;
    std::optional<ActivationKind> Kind = identify(Op.getResult(0), X);
    if (!Kind)
      return;
    OpBuilder B(&Op);
    auto New = llm::ActivationOp::create(B, Op.getLoc(),
                                         Op.getResult(0).getType(), X, *Kind);
    Op.getResult(0).replaceAllUsesWith(New);
    passed("raise-activation", New,
           "llm.activation " + llm::stringifyActivationKind(*Kind));
  }

  std::optional<ActivationKind> identify(Value Y, Value X) {
    std::vector<double> Points = samplePoints();
    eval::Evaluator Eval(eval::Budget(1 << 16, 1 << 20));
    Eval.bind(X, eval::Tensor::ofFloats(DType::F32, {int64_t(Points.size())},
                                        Points));
    Result<const eval::Tensor *> Got = Eval.evaluate(Y);
    if (!Got || (*Got)->count() != int64_t(Points.size()))
      return std::nullopt;
    for (const Known &K : Functions) {
      bool Same = true;
      for (size_t I = 0; Same && I < Points.size(); ++I) {
        double Want = K.Fn(float(Points[I]));
        double Have = eval::floatAt(**Got, int64_t(I));
        bool Exact =
            K.Kind == ActivationKind::relu || K.Kind == ActivationKind::relu2;
        double Least = Exact ? 1e-11 : 2e-5;
        Same = std::abs(Have - Want) <= Least + 2e-5 * std::abs(Want);
      }
      if (Same)
        return K.Kind;
    }
    return std::nullopt;
  }

  void gate(onnx::MulOp Mul) {
    Value Lhs = skip(Mul.getLhs()), Rhs = skip(Mul.getRhs());
    auto Act = Lhs.getDefiningOp<llm::ActivationOp>();
    Value Up = Rhs;
    if (!Act) {
      Act = Rhs.getDefiningOp<llm::ActivationOp>();
      Up = Lhs;
    }
    if (!Act || Act.getX().getType() != Up.getType() ||
        Up.getType() != Mul.getType())
      return;
    OpBuilder B(Mul);
    auto Glu = llm::GluOp::create(B, Mul.getLoc(), Mul.getType(), Act.getX(),
                                  Up, Act.getKind());
    Mul.replaceAllUsesWith(Glu.getResult());
    passed("raise-activation", Glu, "llm.glu");
  }
};
} // namespace
} // namespace llmc::raise
