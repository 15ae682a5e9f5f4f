// What no recogniser knows, but is a function of single token rows, becomes
// llm.rowwise: unknown activations and gates, routers, odd norms, moves along
// the features.
//
// A value that an llm op takes and that has no token rows yet is the end of
// such a function; it reaches back to values that have some. The function is
// written down for one token (RowProgram) and then proved on a sample of three:
// the graph, given random rows, must give what the program gives row by row, so
// that nothing that mixes tokens can slip through. What depends on positions
// becomes rows of a table first (PlaceRows).
#include "passes/raise/Block.h"
#include "passes/raise/Cone.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/MergeHeads.h"
#include "passes/raise/Passes.h"
#include "passes/raise/PlaceRows.h"
#include "passes/raise/ReadingPass.h"
#include "passes/raise/RowMap.h"
#include "passes/raise/RowProgram.h"
#include "passes/raise/StaticRounding.h"
#include "passes/raise/TokenRows.h"
#include "passes/raise/Weights.h"

#include <cmath>

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEROWWISE
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

class RowMaker {
public:
  RowMaker(func::FuncOp TheMain, Roles &TheRoles, eval::WeightReader TheReader)
      : Main(TheMain), R(TheRoles), Reader(std::move(TheReader)), Rows(R),
        Places(Main, R, Reader),
        Tokens(R.fixedTokens() > 0 ? R.fixedTokens() : 3),
        Weights(TheMain->getParentOfType<ModuleOp>()) {}

  bool has(Value V) { return Rows.has(V); }
  /// Makes Root an llm.rowwise; why not, or empty.
  std::string make(Value Root);

private:
  std::string build(Value Root);
  std::string settlePlaces(Value Root);
  std::string prove(Value Root, const RowProgram &Program, bool &HeadsFirst);
  std::string create(Value Root, const RowProgram &Program, bool HeadsFirst);

  func::FuncOp Main;
  Roles &R;
  eval::WeightReader Reader;
  TokenRows Rows;
  PlaceRows Places;
  int64_t Tokens; ///< of the proof
  WeightMaker Weights;
};

/// Whether V only goes into a rounding: then it must be this very quotient, not
/// a product with the reciprocal.
bool isRounded(Value V) {
  return V.getDefiningOp<onnx::DivOp>() &&
         isa_and_nonnull<onnx::RoundOp>(onlyUser(V));
}

/// Random rows of F features; some of them large, to meet clamps.
eval::Tensor sampleRows(const eval::Dims &Shape, uint64_t Seed, double Scale) {
  return randomTensor(Shape, Seed, Scale);
}

/// What positions mix into the cone of Root becomes rows, or is the same for
/// all of them.
std::string RowMaker::settlePlaces(Value Root) {
  llvm::SetVector<Operation *> Ops;
  SmallVector<Value> Work{Root};
  while (!Work.empty()) {
    Value Next = Work.pop_back_val();
    Operation *Op = Next.getDefiningOp();
    if (!Op || !R.isData(Next) || (Next != Root && Rows.has(Next)) ||
        !Ops.insert(Op) || Ops.size() > 512)
      continue;
    Work.append(Op->operand_begin(), Op->operand_end());
  }
  for (Operation *Op : Ops)
    if (std::string Why = Places.settle(Op); !Why.empty())
      return Why;
  return {};
}

std::string RowMaker::make(Value Root) {
  std::string Why = settlePlaces(Root);
  if (Why.empty())
    Why = build(Root);
  if (Why.empty())
    Places.keep();
  else
    Places.undo();
  return Why;
}

std::string RowMaker::build(Value Root) {
  auto Type = dyn_cast<RankedTensorType>(Root.getType());
  if (!Type || !Type.getElementType().isF32())
    return "it is no tensor of f32";
  bool Past = bool(R.find(Role::Past));
  Probe One(Main, R, Reader, Sample{Past ? 2 : 0, 1, {}, 0});
  std::string Why;
  uint64_t Seed = 21;
  llvm::DenseSet<Value> Bound;
  auto IsLeaf = [&](Value V) {
    if (V == Root || !Rows.has(V) || isRounded(V))
      return false;
    if (Bound.insert(V).second) {
      eval::Dims Shape;
      if (One.shapeOf(V, Shape) && eval::countOf(Shape) > 0)
        One.bind(V, sampleRows(Shape, Seed++, 1));
    }
    return true;
  };
  RowProgram Program;
  Why = buildRowProgram(Root, One, R, IsLeaf, Program);
  bool HeadsFirst = false;
  if (Why.empty())
    Why = prove(Root, Program, HeadsFirst);
  if (Why.empty())
    Why = create(Root, Program, HeadsFirst);
  return Why;
}

/// Where feature F of token S is in the graph's result.
static int64_t placeOf(const eval::Tensor &T, int64_t S, int64_t F,
                       int64_t Width, int64_t Tokens, bool HeadsFirst) {
  if (!HeadsFirst)
    return S * Width + F;
  int64_t Dim = T.Shape.back();
  return (F / Dim * Tokens + S) * Dim + F % Dim;
}

std::string RowMaker::prove(Value Root, const RowProgram &Program,
                            bool &HeadsFirst) {
  bool Past = bool(R.find(Role::Past));
  bool Order[] = {true, true};
  for (double Scale : {1.0, 12.0}) {
    Probe P(Main, R, Reader, Sample{Past ? 5 : 0, Tokens, {}, 0});
    std::vector<std::vector<float>> Inputs;
    uint64_t Seed = Scale > 1 ? 91 : 41;
    for (auto [V, Width] : llvm::zip(Program.Inputs, Program.Widths)) {
      eval::Dims Shape;
      if (!P.shapeOf(V, Shape) || eval::countOf(Shape) < Width)
        return "the shape of its rows is not known";
      eval::Tensor X = sampleRows(Shape, Seed++, Scale);
      // A choice of the last row leaves one.
      std::vector<float> Data = eval::load<float>(X);
      if (X.count() == Width)
        for (int64_t I = 1; I < Tokens; ++I)
          Data.insert(Data.end(), Data.begin(), Data.begin() + Width);
      else if (X.count() != Tokens * Width)
        return "an input has shape " + eval::describe(X);
      P.bind(V, std::move(X));
      Inputs.push_back(std::move(Data));
    }
    Result<const eval::Tensor *> Got = P.evaluate(Root);
    if (!Got)
      return Got.status().message();
    const eval::Tensor &T = **Got;
    bool Last = T.count() == Program.Width;
    if (!Last && T.count() != Tokens * Program.Width)
      return std::to_string(Tokens) + " tokens give shape " + eval::describe(T);
    std::vector<float> Want = runRowProgram(Program, Inputs, Tokens);
    int64_t Told = 0; // values that are numbers
    for (bool Heads : {false, true}) {
      if (Heads && (T.rank() != 4 || T.Shape[2] != Tokens))
        Order[1] = false;
      for (int64_t I = 0; I < T.count() && Order[Heads]; ++I) {
        int64_t S = Last ? Tokens - 1 : I / Program.Width,
                F = I % Program.Width;
        double Need = Want[size_t(S * Program.Width + F)];
        double Have = eval::floatAt(
            T, Last ? F : placeOf(T, S, F, Program.Width, Tokens, Heads));
        // What a log makes of negative numbers says nothing either way.
        Order[Heads] = Have == Need ||
                       std::abs(Have - Need) <= 1e-4 * (1 + std::abs(Need)) ||
                       (std::isnan(Have) && std::isnan(Need));
        Told += !std::isnan(Need);
      }
    }
    if ((Order[0] || Order[1]) && Told * 4 < T.count())
      return "most of what it gives on a sample is no number";
  }
  if (!Order[0] && !Order[1])
    return "it is no function of single rows";
  // One head looks the same either way: then the dims tell.
  auto Type = cast<RankedTensorType>(Root.getType());
  HeadsFirst =
      !Order[0] || (Order[1] && Type.isDynamicDim(2) && !Type.isDynamicDim(1));
  return {};
}

std::string RowMaker::create(Value Root, const RowProgram &Program,
                             bool HeadsFirst) {
  auto Type = cast<RankedTensorType>(Root.getType());
  OpBuilder B(Root.getDefiningOp());
  SmallVector<Value> Inputs;
  Value Lead;
  for (auto [V, Width] : llvm::zip(Program.Inputs, Program.Widths)) {
    Value X = flattenHeads(B, TokenRows::origin(V), Width);
    // Flat rows would have to be told apart by sequences again.
    if (featuresOf(X) != Width ||
        (rankOf(X) == 2 && rankOf(V) == 3 && featuresOf(V) == Width))
      X = V;
    if (!isa<RankedTensorType>(X.getType()) || featuresOf(X) != Width)
      return "an input of " + std::to_string(Width) +
             " features is no tensor of such rows";
    if (X != V)
      R.markData(X);
    Inputs.push_back(X);
    if (!Lead || (rankOf(Lead) != 3 && rankOf(X) == 3))
      Lead = X;
  }
  RankedTensorType Flat =
      withFeatures(cast<RankedTensorType>(Lead.getType()), Program.Width);
  bool Same = Type.getRank() == Flat.getRank() && Type.getRank() < 4 &&
              Type.getShape().back() == Program.Width;
  if (Type.getRank() == 4 && Flat.getRank() != 3)
    return "heads are made of flat rows";
  FlatSymbolRefAttr Code = Weights.inlined(
      "rowwise", {int64_t(Program.Table.size())}, Program.Table);
  auto New = llm::RowwiseOp::create(
      B, Root.getLoc(), Same ? Type : Flat, Inputs, Code.getValue(),
      uint64_t(Program.Count), uint64_t(Program.Scratch));
  R.markData(New);
  Value Out = New;
  if (!Same && Type.getRank() == 4 && HeadsFirst) {
    Out =
        splitHeads(B, Out, Type.getDimSize(1), Type.getDimSize(3), true, Type);
    R.markData(Out.getDefiningOp()->getOperand(0));
  } else if (!Same && Type.getRank() == 2) {
    Out = flattenRows(B, Out, Type);
  } else if (!Same) {
    Out = reshapeRows(B, Out, Type);
  }
  R.markData(Out);
  Root.replaceAllUsesWith(Out);
  passed("raise-rowwise", New,
         "llm.rowwise of " + Twine(Program.Count) + " steps");
  return {};
}

struct RaiseRowwise : ReadingPass<impl::RaiseRowwiseBase<RaiseRowwise>> {
  using ReadingPass::ReadingPass;

  void runOnGraph(func::FuncOp Main) override {
    Roles R(Main);
    if (Heads)
      mergeBlocks(Main, R);
    RowMaker Maker(Main, R, Reader);
    for (Value Root : Rounded ? roundedOf(Main, R) : rootsOf(Main, R))
      if (!Maker.has(Root)) {
        Value Biased = Rounded ? withBias(Root, R) : Root;
        std::string Why = Maker.make(Biased);
        if (!Why.empty() && Biased != Root)
          Why = Maker.make(Root);
        if (!Why.empty())
          missed("raise-rowwise", Root.getDefiningOp(), Why);
      }
    eraseDead(Main.getBody().front());
  }

  void takeHeads(bool Only) { Heads = Only; }
  void takeRounded() { Rounded = true; }

  /// Whether V is made of rows that a router chose.
  static bool isOfChosenRows(Value V, const Roles &R) {
    llvm::SetVector<Value> Work;
    Work.insert(V);
    for (size_t I = 0; I < Work.size() && I < 64; ++I) {
      Operation *Op = Work[I].getDefiningOp();
      if (!Op || (isa<llm::LlmDialect>(Op->getDialect()) &&
                  !isa<llm::LinearOp, llm::RowwiseOp>(Op)))
        continue;
      if (isa<onnx::GatherOp, onnx::GatherNDOp>(Op) &&
          R.isData(Op->getOperand(1)))
        return true;
      for (Value Operand : Op->getOperands())
        if (R.isData(Operand))
          Work.insert(Operand);
    }
    return false;
  }

  /// V with the bias that is added to what a product gave and was rounded.
  static Value withBias(Value V, const Roles &R) {
    auto Add = dyn_cast_or_null<onnx::AddOp>(onlyUser(V));
    if (!Add)
      return V;
    Value Other = Add.getLhs() == V ? Add.getRhs() : Add.getLhs();
    return R.isData(Other) || featuresOf(Other) != featuresOf(V)
               ? V
               : Add->getResult(0);
  }

  /// Ends of roundings of activations (StaticRounding.h).
  SmallVector<Value> roundedOf(func::FuncOp Main, const Roles &R) {
    SmallVector<Value> Out;
    for (Operation &Op : Main.getBody().front()) {
      if (!Op.hasAttr(RoundedAttr) || !R.isData(Op.getResult(0)))
        continue;
      Value From = unrounded(&Op);
      // Experts are recognised whole, and computed exactly.
      if (isOfChosenRows(From, R))
        Op.getResult(0).replaceAllUsesWith(From);
      else
        Out.push_back(Op.getResult(0));
    }
    return Out;
  }

  /// An operand of attention that is made of several values (latent heads: a
  /// part with positions beside one without) without what the cache adds and
  /// the share of the scale that some spellings give to keys.
  Value newTokens(Value V, const Roles &R) {
    auto IsPast = [&](Value W) {
      Cone C = coneOf(W, R, Mixing::None);
      return llvm::all_of(C.Leaves, [&](Value Leaf) {
        auto Arg = dyn_cast<BlockArgument>(Leaf);
        return Arg && R.of(Arg) == Role::Past;
      });
    };
    Value Found = V;
    for (int Steps = 0; Steps < 32; ++Steps) {
      auto Concat = V.getDefiningOp<onnx::ConcatOp>();
      if (Concat && Concat.getInputs().size() == 2 &&
          IsPast(Concat.getInputs()[0]))
        return Concat.getInputs()[1];
      if (Concat)
        return V;
      V = beforeMove(V);
      if (!V)
        break;
    }
    return Found;
  }

  /// Values that must have token rows: what llm ops take, or with `heads` what
  /// blocks of attention are made of.
  SmallVector<Value> rootsOf(func::FuncOp Main, const Roles &R) {
    llvm::SetVector<Value> Out;
    auto Add = [&](Value V) {
      if (R.isData(V) && V.getDefiningOp())
        Out.insert(V);
    };
    RowReader Rows(Main, R, Reader, R.fixedTokens() ? R.fixedTokens() : 2);
    for (Operation &Op : Main.getBody().front()) {
      if (!Heads && isa<llm::LlmDialect>(Op.getDialect()) &&
          !isa<llm::EmbedOp, llm::PaddedPositionsOp, llm::RopeTableOp>(Op))
        for (Value V : Op.getOperands())
          Add(V);
      auto Softmax = dyn_cast<onnx::SoftmaxOp>(Op);
      if (!Heads || !Softmax || !R.isData(Softmax.getOutput()))
        continue;
      AttentionBlock Block = blockOf(Softmax, R);
      if (!Block.Failure.empty())
        continue;
      const std::pair<Value, bool> Operands[] = {{Block.Scores.getA(), false},
                                                 {Block.Scores.getB(), true},
                                                 {Block.Mix.getB(), false}};
      for (auto [V, Columns] : Operands) {
        RowMap Map;
        if (Value Root = coneOf(V, R, Mixing::None).root(R))
          Add(Root);
        else if (Rows.read(V, Columns, Map).empty())
          Add(Map.Leaf); // all heads are of one of its values
        else
          Add(newTokens(V, R));
      }
    }
    return Out.takeVector();
  }

  bool Rounded = false;
};
} // namespace

std::unique_ptr<Pass> createRaiseRoundings(eval::WeightReader Reader) {
  auto P = withReader<RaiseRowwise>(std::move(Reader));
  P->takeRounded();
  return P;
}

std::unique_ptr<Pass> createRaiseRowwise(eval::WeightReader Reader,
                                         bool OfHeads) {
  auto P = withReader<RaiseRowwise>(std::move(Reader));
  P->takeHeads(OfHeads);
  return P;
}
} // namespace llmc::raise
