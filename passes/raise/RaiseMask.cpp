// Finds what a softmax may see by evaluating its mask, never by a pattern of
// ops: exporters write masks in more ways than anyone can list (seven in one
// family alone), and all of them are small computations on lengths, positions
// and the attention mask.
//
// The scores are bound to zeros and the input of the softmax is computed. What
// comes out is 0 where a key is visible and hugely negative where it is not; a
// bias would show as anything else. Windows are only visible on samples longer
// than they are, so every integer constant above the mask is tried as a length.
#include "passes/raise/Block.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"

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

/// Old exporters write -10000 for "hidden"; no score reaches that.
constexpr double Hidden = -9999;
/// A window beyond this is longer than any context that fits.
constexpr int64_t LongestWindow = int64_t(1) << 18;

/// Causal with a window (0: none), or why not.
struct Verdict {
  int64_t Window = 0;
  int64_t Longest = 0; ///< row that was seen as a whole
  std::string Failure;
  bool Evaluated = true; ///< false: Failure is about the evaluation
};

class MaskReader {
public:
  MaskReader(func::FuncOp TheMain, const Roles &TheRoles,
             eval::WeightReader TheReader)
      : Main(TheMain), R(TheRoles), Reader(std::move(TheReader)) {}

  Verdict read(AttentionBlock B);

private:
  std::string look(AttentionBlock B, const Sample &S, Verdict &V);
  std::string lookRow(ArrayRef<double> Row, int64_t Position, int64_t Padding,
                      Verdict &V);
  SmallVector<int64_t> lengths(AttentionBlock B);
  Probe &probe(const Sample &S);

  func::FuncOp Main;
  const Roles &R;
  eval::WeightReader Reader;
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::unique_ptr<Probe>>
      Probes;
};

Probe &MaskReader::probe(const Sample &S) {
  std::unique_ptr<Probe> &P = Probes[{S.Past, S.Seq, S.Padding}];
  if (!P)
    P = std::make_unique<Probe>(Main, R, Reader, S);
  return *P;
}

/// Integer constants on which the mask depends, as lengths to try.
SmallVector<int64_t> MaskReader::lengths(AttentionBlock B) {
  std::set<int64_t> Out;
  llvm::SetVector<Value> Work;
  // Only what joins the scores on their way to the softmax.
  for (Value V = B.Softmax.getInput(); V != B.Scores.getOutput();) {
    Value Next;
    for (Value Operand : V.getDefiningOp()->getOperands())
      if (R.isData(Operand))
        Next = Operand;
      else
        Work.insert(Operand);
    V = Next;
  }
  for (size_t I = 0; I < Work.size(); ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || isa<onnx::ShapeOp>(Op))
      continue;
    if (std::optional<double> C = scalar(Work[I])) {
      double N = std::abs(*C);
      if (N >= 2 && N <= double(LongestWindow) && N == std::floor(N))
        Out.insert(int64_t(N));
    }
    Work.insert(Op->operand_begin(), Op->operand_end());
  }
  return SmallVector<int64_t>(Out.begin(), Out.end());
}

/// One query: visible keys must be (position - window, position].
std::string MaskReader::lookRow(ArrayRef<double> Row, int64_t Position,
                                int64_t Padding, Verdict &V) {
  int64_t First = -1, Seen = 0;
  for (int64_t K = 0; K < int64_t(Row.size()); ++K) {
    if (Row[size_t(K)] < Hidden)
      continue;
    if (K > Position)
      return "keys after the query are visible: not a causal decoder";
    // NaN fails this, too.
    if (!(std::abs(Row[size_t(K)]) < 1e-3))
      return "a bias is added to the scores (" +
             std::to_string(Row[size_t(K)]) + ")";
    if (First < 0)
      First = K;
    ++Seen;
  }
  if (First < 0)
    return "a query sees no key, not even its own";
  if (Seen != Position + 1 - First)
    return "visible keys are no range that ends at the query";
  // Nothing hidden but padding: no window, or a longer one.
  if (First > Padding && V.Window == 0)
    V.Window = Seen;
  else if (First <= Padding)
    V.Longest = std::max(V.Longest, Seen);
  if (V.Window > 0 &&
      (V.Longest > V.Window || (First > Padding && V.Window != Seen)))
    return "windows of different lengths in one mask";
  return {};
}

std::string MaskReader::look(AttentionBlock B, const Sample &S, Verdict &V) {
  Probe &P = probe(S);
  eval::Dims Shape;
  V.Evaluated = false;
  if (!P.shapeOf(B.Scores.getOutput(), Shape) || Shape.size() < 2)
    return "the scores have no known shape";
  // The key length is past + new, whatever a declared input dim says.
  Shape[Shape.size() - 1] = S.total();
  Shape[Shape.size() - 2] = S.Seq;
  P.bind(B.Scores.getOutput(), zeroTensor(DType::F32, Shape));
  Result<const eval::Tensor *> Got = P.evaluate(B.Softmax.getInput());
  if (!Got)
    return "the mask cannot be evaluated: " + Got.status().message();
  const eval::Tensor &T = **Got;
  if (T.rank() < 2 || T.Shape.back() != S.total() || T.count() == 0)
    return "the masked scores have shape " + eval::describe(T);
  V.Evaluated = true;
  int64_t Rows = T.count() / S.total();
  std::vector<double> Row(static_cast<size_t>(S.total()));
  for (int64_t I = 0; I < Rows; ++I) {
    int64_t Query = I % S.Seq;
    if (S.Past + Query < S.Padding)
      continue; // rows of padding are dropped
    for (int64_t K = 0; K < S.total(); ++K)
      Row[size_t(K)] = eval::floatAt(T, I * S.total() + K);
    if (std::string Why = lookRow(Row, S.Past + Query, S.Padding, V);
        !Why.empty())
      return Why;
  }
  return {};
}

Verdict MaskReader::read(AttentionBlock B) {
  Verdict V;
  bool Cached = bool(R.find(Role::Past));
  SmallVector<Sample> Samples;
  Samples.push_back({0, 7, {}, 0});
  if (Cached)
    Samples.push_back({5, 3, {}, 0});
  Samples.push_back({0, 7, {}, 3});
  for (const Sample &S : Samples)
    if (V.Failure = look(B, S, V); !V.Failure.empty())
      return V;
  // Lengths are constants, most of which are no windows; one with which the
  // graph cannot be run says nothing. Without a cache samples are square.
  for (int64_t N : lengths(B)) {
    if (!Cached && N > 1024)
      continue;
    Sample S = Cached ? Sample{N + 1, 2, {}, 0} : Sample{0, N + 3, {}, 0};
    V.Failure = look(B, S, V);
    Probes.erase({S.Past, S.Seq, S.Padding});
    if (!V.Failure.empty() && V.Evaluated)
      return V;
    V.Failure.clear();
  }
  return V;
}

struct RaiseMask : impl::RaiseMaskBase<RaiseMask> {
  using RaiseMaskBase::RaiseMaskBase;
  eval::WeightReader Reader;

  void runOnOperation() override {
    func::FuncOp Main = graphOf(getOperation());
    if (!Main)
      return;
    if (failed(openReader(getOperation(), Model, Reader)))
      return signalPassFailure();
    Roles R(Main);
    MaskReader Masks(Main, R, Reader);
    Builder B(&getContext());
    for (Operation &Op : Main.getBody().front()) {
      auto Softmax = dyn_cast<onnx::SoftmaxOp>(Op);
      if (!Softmax || !R.isData(Softmax.getOutput()))
        continue;
      AttentionBlock Block = blockOf(Softmax, R);
      if (!Block.Scores)
        continue; // raise-attention says why
      Verdict V = Masks.read(Block);
      if (V.Failure.empty()) {
        Softmax->setAttr(WindowAttr, B.getI64IntegerAttr(V.Window));
        passed("raise-mask", Softmax,
               "causal, window " + Twine(V.Window) + " (0: none)");
      } else {
        Softmax->setAttr(MaskFailureAttr, B.getStringAttr(V.Failure));
        missed("raise-mask", Softmax, V.Failure);
      }
    }
  }
};
} // namespace

std::unique_ptr<Pass> createRaiseMask(eval::WeightReader Reader) {
  auto P = std::make_unique<RaiseMask>();
  P->Reader = std::move(Reader);
  return P;
}
} // namespace llmc::raise
