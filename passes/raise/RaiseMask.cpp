// Finds what a softmax may see by evaluating its mask, never by a pattern of
// ops: exporters write masks in more ways than anyone can list (seven in one
// family alone), and all of them are small computations on lengths, positions
// and the attention mask.
//
// The scores are bound to zeros and the input of the softmax is computed. What
// comes out is 0 where a key is visible, slopes times distances with ALiBi, and
// hugely negative where a key is hidden; MaskFit makes a rule of it. Windows
// are only visible on samples longer than they are, so every integer constant
// above the mask is tried as a length, and some long ones without a reason.
#include "passes/raise/Block.h"
#include "passes/raise/MaskFit.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"
#include "passes/raise/ReadingPass.h"

#include <cmath>
#include <map>
#include <set>

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEMASK
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

/// A window beyond this is longer than any context that fits.
constexpr int64_t LongestWindow = int64_t(1) << 18;
/// The longest square sample, for graphs without a cache.
constexpr int64_t LongestSquare = 1024;
/// What a sample may use that only looks for what nobody told.
constexpr int64_t FarElements = int64_t(1) << 23, FarOperations = int64_t(1)
                                                                  << 24;

/// The rule of a mask, or why there is none.
struct Verdict {
  MaskRule Rule;
  int64_t StepTokens = 0; ///< 0: any number of tokens at once
  std::string Failure;
};

class MaskReader {
public:
  MaskReader(func::FuncOp TheMain, const Roles &TheRoles,
             eval::WeightReader TheReader)
      : Main(TheMain), R(TheRoles), Reader(std::move(TheReader)) {}

  Verdict read(const AttentionBlock &B);

private:
  Verdict readNew(const AttentionBlock &B);
  Verdict readSteps(const AttentionBlock &B, int64_t Step);
  std::string readFar(const AttentionBlock &B, int64_t Step, MaskFit &Fit);
  std::string look(const AttentionBlock &B, Probe &P, MaskFit &Fit,
                   bool &Evaluated, bool OneHead = false);
  std::vector<const void *> spelling(const AttentionBlock &B) const;
  std::string addRows(const eval::Tensor &T, bool HasSink, bool HeadsLast,
                      const Sample &S, MaskFit &Fit);
  bool isLost(const AttentionBlock &B);
  SmallVector<int64_t> lengths(const AttentionBlock &B);
  int64_t capacity(const AttentionBlock &B);
  Probe &probe(const Sample &S);

  func::FuncOp Main;
  const Roles &R;
  eval::WeightReader Reader;
  std::map<std::pair<int64_t, int64_t>, std::unique_ptr<Probe>> Probes;
  /// By how the masks of blocks are written: layers share them.
  std::map<std::vector<const void *>, Verdict> Known;
};

Probe &MaskReader::probe(const Sample &S) {
  std::unique_ptr<Probe> &P = Probes[{S.Past, S.Seq}];
  if (!P)
    P = std::make_unique<Probe>(Main, R, Reader, S);
  return *P;
}

/// Integer constants on which the mask depends, as lengths to try; and sizes of
/// masks that the file holds.
SmallVector<int64_t> MaskReader::lengths(const AttentionBlock &B) {
  std::set<int64_t> Out;
  llvm::SetVector<Value> Work;
  for (Operation *Op : B.Between)
    for (Value Operand : Op->getOperands())
      if (!R.isData(Operand))
        Work.insert(Operand);
  for (size_t I = 0; I < Work.size(); ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || isa<onnx::ShapeOp>(Op))
      continue;
    if (std::optional<double> C = scalar(Work[I])) {
      double N = std::abs(*C);
      if (N >= 2 && N <= double(LongestWindow) && N == std::floor(N))
        Out.insert(int64_t(N));
    }
    auto Type = dyn_cast<RankedTensorType>(Work[I].getType());
    if (isa<onnx::WeightOp, onnx::ConstantOp>(Op) && Type &&
        Type.hasStaticShape() && Type.getRank() >= 2)
      if (int64_t N = Type.getShape().back(); N >= 2 && N <= LongestWindow)
        Out.insert(N);
    Work.insert(Op->operand_begin(), Op->operand_end());
  }
  return SmallVector<int64_t>(Out.begin(), Out.end());
}

/// Keys that the scores have room for whatever the length is, or 0.
int64_t MaskReader::capacity(const AttentionBlock &B) {
  int64_t N = featuresOf(AttentionBlock(B).Scores.getOutput());
  return std::max<int64_t>(N, 0);
}

/// All rows of the softmax's input; heads before queries, or after them when
/// HeadsLast.
std::string MaskReader::addRows(const eval::Tensor &T, bool HasSink,
                                bool HeadsLast, const Sample &S, MaskFit &Fit) {
  int64_t Width = T.Shape.back(), Rows = T.count() / Width;
  int64_t Heads = Rows / S.Seq;
  std::vector<double> Row(static_cast<size_t>(Width));
  for (int64_t I = 0; I < Rows; ++I) {
    for (int64_t K = 0; K < Width; ++K)
      Row[size_t(K)] = eval::floatAt(T, I * Width + K);
    int64_t Query = HeadsLast ? I / Heads : I % S.Seq;
    int64_t Head = HeadsLast ? I % Heads : I / S.Seq;
    if (std::string Why =
            Fit.add(Row, HasSink, Head, S.Past + Query, S.total());
        !Why.empty())
      return Why;
  }
  return {};
}

/// With OneHead the scores have no more, which is cheaper for long samples;
/// heads that differ come back by broadcast.
std::string MaskReader::look(const AttentionBlock &Block, Probe &P,
                             MaskFit &Fit, bool &Evaluated, bool OneHead) {
  AttentionBlock B = Block;
  const Sample &S = P.sample();
  Evaluated = false;
  eval::Dims Shape = shapeOfScores(B.Scores, R, P);
  if (Shape.size() < 2)
    return "the scores have no known shape";
  // The key length is past + new, whatever a declared input dim says.
  int64_t Keys = capacity(B) > 0 ? capacity(B) : S.total();
  Shape[Shape.size() - 1] = Keys;
  if (int64_t &Queries = Shape[Shape.size() - 2]; Queries % S.Seq != 0)
    Queries = S.Seq;
  if (Keys < S.total())
    return "there is room for " + std::to_string(Keys) + " keys";
  if (OneHead) {
    std::fill(Shape.begin(), Shape.end() - 2, 1);
    Shape[Shape.size() - 2] = S.Seq;
  }
  P.bind(B.Scores.getOutput(), zeroTensor(DType::F32, Shape));
  Result<const eval::Tensor *> Got = P.evaluate(B.Softmax.getInput());
  if (!Got)
    return "the mask cannot be evaluated: " + Got.status().message();
  const eval::Tensor &T = **Got;
  if (T.rank() < 2 || T.count() == 0 || T.Shape.back() < Keys ||
      T.Shape.back() > Keys + 1 || T.count() / T.Shape.back() % S.Seq != 0)
    return "the masked scores have shape " + eval::describe(T);
  Evaluated = true;
  // Which of heads and queries comes first is told by what they see.
  bool HasSink = T.Shape.back() > Keys;
  MaskFit Try = Fit;
  std::string Why = addRows(T, HasSink, /*HeadsLast=*/false, S, Try);
  if (!Why.empty()) {
    Try = Fit;
    if (!addRows(T, HasSink, /*HeadsLast=*/true, S, Try).empty())
      return Why;
  }
  Fit = std::move(Try);
  return {};
}

/// With Step tokens at once, or any number when Step is 0.
Verdict MaskReader::readSteps(const AttentionBlock &B, int64_t Step) {
  Verdict V;
  V.StepTokens = Step;
  bool Cached = bool(R.find(Role::Past)), Evaluated = false;
  SmallVector<Sample> Samples;
  if (Step == 0)
    Samples.push_back({0, 7, {}, 0});
  else
    Samples.push_back({0, Step, {}, 0});
  if (Cached) {
    Samples.push_back({5, Step ? Step : 3, {}, 0});
    Samples.push_back({2, Step ? Step : 1, {}, 0});
  }
  MaskFit Fit;
  for (const Sample &S : Samples)
    if (V.Failure = look(B, probe(S), Fit, Evaluated); !V.Failure.empty())
      return V;
  // Lengths are constants, most of which are no windows; one with which the
  // graph cannot be run says nothing. Without a cache samples are square.
  for (int64_t N : lengths(B)) {
    if (!Cached && (N > LongestSquare || Step > 0))
      continue;
    SmallVector<Sample> Long{Sample{0, N + 3, {}, 0}};
    if (Cached)
      Long = {Sample{N + 1, Step ? Step : 2, {}, 0},
              Sample{N - 1, Step ? Step : 2, {}, 0}};
    // The last rows of a mask that the file holds.
    if (Cached && N > Step)
      Long.push_back(Sample{N - (Step ? Step : 2), Step ? Step : 2, {}, 0});
    if (!Cached)
      Long.push_back(Sample{0, N, {}, 0});
    for (const Sample &S : Long) {
      if (capacity(B) > 0 && S.total() > capacity(B))
        continue;
      V.Failure = look(B, probe(S), Fit, Evaluated);
      Probes.erase({S.Past, S.Seq});
      // Slopes may be a table that ends before such a length.
      if (!V.Failure.empty() && Evaluated && !Fit.hasSlopes())
        return V;
    }
  }
  V.Failure = readFar(B, Step, Fit);
  if (V.Failure.empty())
    V.Failure = Fit.fit(V.Rule);
  return V;
}

/// Far from the start, whatever constants there are: lengths may be computed.
std::string MaskReader::readFar(const AttentionBlock &B, int64_t Step,
                                MaskFit &Fit) {
  bool Cached = bool(R.find(Role::Past));
  if ((!Cached && Step > 0) || Fit.hasSlopes())
    return {};
  for (int64_t N : {130, 700, 4099, 16385, 131075}) {
    Sample S = Cached ? Sample{N, Step ? Step : 2, {}, 0} : Sample{0, N, {}, 0};
    if ((capacity(B) > 0 && S.total() > capacity(B)) ||
        (!Cached && N > LongestSquare))
      continue;
    // Masks that are computed for all queries are not asked that far.
    Probe P(Main, R, Reader, S, eval::Budget(FarElements, FarOperations));
    bool Evaluated = false;
    std::string Why = look(B, P, Fit, Evaluated, /*OneHead=*/true);
    if (!Why.empty() && Evaluated)
      return Why;
  }
  return {};
}

/// Ops between scores and softmax with what is no token data, so that blocks of
/// one spelling and the same masks are one.
std::vector<const void *>
MaskReader::spelling(const AttentionBlock &Block) const {
  AttentionBlock B = Block;
  std::vector<const void *> Out;
  Out.push_back(B.Scores.getOutput().getType().getAsOpaquePointer());
  SmallVector<Operation *> Order(B.Between.begin(), B.Between.end());
  llvm::sort(Order,
             [](Operation *X, Operation *Y) { return X->isBeforeInBlock(Y); });
  DenseMap<Value, uintptr_t> Numbers;
  Numbers[B.Scores.getOutput()] = 1;
  for (Operation *Op : Order) {
    Out.push_back(Op->getName().getAsOpaquePointer());
    Out.push_back(Op->getAttrDictionary().getAsOpaquePointer());
    for (Value V : Op->getOperands()) {
      Operation *Made = V.getDefiningOp();
      if (R.isData(V)) {
        Out.push_back(reinterpret_cast<const void *>(
            Numbers.try_emplace(V, Numbers.size() + 1).first->second));
      } else if (isa_and_nonnull<onnx::ConstantOp>(Made)) {
        Out.push_back(Made->getAttrDictionary().getAsOpaquePointer());
      } else {
        Out.push_back(V.getAsOpaquePointer());
      }
    }
    for (Value V : Op->getResults())
      Numbers.try_emplace(V, Numbers.size() + 1);
  }
  Out.push_back(
      reinterpret_cast<const void *>(Numbers.lookup(B.Softmax.getInput())));
  return Out;
}

Verdict MaskReader::read(const AttentionBlock &B) {
  auto [It, New] = Known.try_emplace(spelling(B));
  if (New)
    It->second = readNew(B);
  return It->second;
}

Verdict MaskReader::readNew(const AttentionBlock &B) {
  int64_t Fixed = R.fixedTokens();
  Verdict V = readSteps(B, Fixed);
  if (V.Failure.empty() || Fixed > 0 || !R.find(Role::Past))
    return V;
  // A file for steps of one token may have lost its mask.
  if (!isLost(B))
    return V;
  Verdict Single = readSteps(B, 1);
  return Single.Failure.empty() ? Single : V;
}

/// Whether all tokens of a step see each other, however many they are: not
/// where only some do (a prefix, blocks).
bool MaskReader::isLost(const AttentionBlock &Block) {
  AttentionBlock B = Block;
  SmallVector<int64_t> Counts{7, 130};
  for (int64_t N : lengths(B))
    if (N < LongestSquare)
      Counts.push_back(N + 3);
  for (int64_t N : Counts) {
    Probe P(Main, R, Reader, Sample{0, N, {}, 0});
    eval::Dims Shape = scoresLike(B.Scores.getOutput(), N, N);
    if (Shape.size() < 2 || (capacity(B) > 0 && N > capacity(B)))
      continue;
    std::fill(Shape.begin(), Shape.end() - 2, 1);
    P.bind(B.Scores.getOutput(), zeroTensor(DType::F32, Shape));
    Result<const eval::Tensor *> Got = P.evaluate(B.Softmax.getInput());
    for (int64_t I = 0; Got && I < (*Got)->count(); ++I)
      if (!(eval::floatAt(**Got, I) > HiddenScore)) // ALiBi is far above it
        return false;
  }
  return true;
}

struct RaiseMask : ReadingPass<impl::RaiseMaskBase<RaiseMask>> {
  using ReadingPass::ReadingPass;

  void runOnGraph(func::FuncOp Main) override {
    Roles R(Main);
    MaskReader Masks(Main, R, Reader);
    std::string LostAt;
    for (Operation &Op : Main.getBody().front()) {
      auto Softmax = dyn_cast<onnx::SoftmaxOp>(Op);
      if (!Softmax || !R.isData(Softmax.getOutput()))
        continue;
      AttentionBlock Block = blockOf(Softmax, R);
      if (!Block.Scores)
        continue; // raise-attention says why
      Verdict V = Masks.read(Block);
      annotate(Softmax, V);
      bool Lost = V.Failure.empty() && V.StepTokens > 0 && !R.fixedTokens();
      if (Lost && LostAt.empty())
        LostAt = nodeName(Softmax);
    }
    if (!LostAt.empty())
      Main.emitWarning()
          << "the tokens of a step all see each other at '" << LostAt
          << "': taken as a file for steps of one token, prompts "
             "too";
  }

  void annotate(onnx::SoftmaxOp Softmax, const Verdict &V) {
    Builder B(&getContext());
    if (!V.Failure.empty()) {
      Softmax->setAttr(MaskFailureAttr, B.getStringAttr(V.Failure));
      return missed("raise-mask", Softmax, V.Failure);
    }
    Softmax->setAttr(WindowAttr, B.getI64IntegerAttr(V.Rule.Window));
    if (V.Rule.Chunk > 0)
      Softmax->setAttr(ChunkAttr, B.getI64IntegerAttr(V.Rule.Chunk));
    if (V.StepTokens > 0)
      Softmax->setAttr(StepAttr, B.getI64IntegerAttr(V.StepTokens));
    auto Heads = [&](StringRef Name, ArrayRef<double> Values) {
      if (!Values.empty())
        Softmax->setAttr(Name, DenseF64ArrayAttr::get(&getContext(), Values));
    };
    Heads(SlopesAttr, V.Rule.Slopes);
    Heads(SinksAttr, V.Rule.Sinks);
    passed("raise-mask", Softmax,
           "causal, window " + Twine(V.Rule.Window) + " (0: none)");
  }
};
} // namespace

std::unique_ptr<Pass> createRaiseMask(eval::WeightReader Reader) {
  return withReader<RaiseMask>(std::move(Reader));
}
} // namespace llmc::raise
