// Reading of tables that an If chooses; see RopeChoice.h.
//
// The condition is asked for lengths of sequences, and the length where it
// changes is found by bisection. Then it is bound to either value, and each
// branch is read through the graph for all positions that its tables have. So a
// table may end where its sequences do.
#include "passes/raise/RopeChoice.h"

using namespace mlir;

namespace llmc::raise {
namespace {

constexpr int64_t Near = 2, Far = int64_t(1) << 18; ///< lengths to ask for

class ChoiceReader {
public:
  ChoiceReader(func::FuncOp TheMain, const Roles &TheRoles,
               const eval::WeightReader &TheReader, onnx::IfOp TheChoice)
      : Main(TheMain), R(TheRoles), Reader(TheReader), Choice(TheChoice),
        Cached(R.find(Role::Past)) {}

  std::string read(Value CosLeaf, Value SinLeaf, RopeTable &T);

private:
  Sample ofLength(int64_t Length, bool Whole) const {
    return Whole || !Cached ? Sample{0, Length, {}, 0}
                            : Sample{Length - 1, 1, {}, 0};
  }
  std::string ask(int64_t Length, bool Whole, bool &Taken);
  std::string findThreshold(bool First, bool Last, int64_t &Threshold);
  std::string readBranch(bool Taken, int64_t Threshold, Value CosLeaf,
                         Value SinLeaf, RopeTable &T);

  func::FuncOp Main;
  const Roles &R;
  const eval::WeightReader &Reader;
  onnx::IfOp Choice;
  bool Cached;
};

/// The branch that sequences of a length take, as one prompt or token by token.
std::string ChoiceReader::ask(int64_t Length, bool Whole, bool &Taken) {
  Probe P(Main, R, Reader, ofLength(Length, Whole));
  Result<const eval::Tensor *> Got = P.evaluate(Choice.getCond());
  if (!Got || (*Got)->count() != 1)
    return "the choice of its tables cannot be evaluated for " +
           std::to_string(Length) + " tokens";
  Taken = eval::floatAt(**Got, 0) != 0;
  return {};
}

/// The last length for which the condition is First.
std::string ChoiceReader::findThreshold(bool First, bool Last,
                                        int64_t &Threshold) {
  int64_t Low = Near, High = Far;
  bool Taken = false;
  while (High - Low > 1) {
    int64_t Middle = (Low + High) / 2;
    if (std::string Why = ask(Middle, false, Taken); !Why.empty())
      return Why;
    (Taken == First ? Low : High) = Middle;
  }
  Threshold = Low;
  for (int64_t Length = Near; Length <= Far; Length *= 2) {
    if (std::string Why = ask(Length, false, Taken); !Why.empty())
      return Why;
    if (Taken != (Length <= Low ? First : Last))
      return "its tables change more than once with the length";
  }
  for (int64_t Length : {Low, High}) {
    if (std::string Why = ask(Length, true, Taken); !Why.empty())
      return Why;
    if (Taken != (Length == Low ? First : Last))
      return "its tables depend on more than the length of the sequence";
  }
  return {};
}

/// Reads the tables of one branch, up to Threshold if that is not 0.
std::string ChoiceReader::readBranch(bool Taken, int64_t Threshold,
                                     Value CosLeaf, Value SinLeaf,
                                     RopeTable &T) {
  Region &Branch = Taken ? Choice.getThenBranch() : Choice.getElseBranch();
  int64_t Rows = 0;
  for (Value V : Branch.front().getTerminator()->getOperands())
    Rows = std::max(Rows, tableRows(V));
  if (Rows < 2)
    return "a branch of the choice above it has no table of the file";
  if (Rows < Threshold)
    return "its table has " + std::to_string(Rows) +
           " positions, sequences that take it up to " +
           std::to_string(Threshold);
  Probe All(Main, R, Reader, Sample{0, Threshold ? Threshold : Rows, {}, 0});
  All.bind(Choice.getCond(),
           eval::Tensor::ofInts(DType::Bool, {}, {Taken ? 1 : 0}));
  return readPlaces(All, CosLeaf, SinLeaf, T);
}

std::string ChoiceReader::read(Value CosLeaf, Value SinLeaf, RopeTable &T) {
  if (R.fixedTokens() > 0)
    return "its tables are chosen in a graph of a fixed number of tokens";
  bool First = false, Last = false;
  std::string Why = ask(Near, false, First);
  if (Why.empty())
    Why = ask(Far, false, Last);
  T.Threshold = 0;
  if (Why.empty() && First != Last)
    Why = findThreshold(First, Last, T.Threshold);
  if (Why.empty())
    Why = readBranch(First, T.Threshold, CosLeaf, SinLeaf, T);
  if (!Why.empty() || First == Last)
    return Why;
  T.Long = std::make_shared<RopeTable>();
  Why = readBranch(Last, 0, CosLeaf, SinLeaf, *T.Long);
  if (Why.empty() && T.Half != T.Long->Half)
    Why = "its tables for long sequences are of another width";
  // Both have a row per position, the short one up to where it ends.
  size_t Size = std::max(T.Cos.size(), T.Long->Cos.size());
  for (RopeTable *Part : {&T, T.Long.get()}) {
    Part->Cos.resize(Size);
    Part->Sin.resize(Size);
    Part->Rows = int64_t(Size) / std::max<int64_t>(T.Half, 1);
  }
  return Why;
}
} // namespace

std::string readChoice(func::FuncOp Main, const Roles &R,
                       const eval::WeightReader &Reader, onnx::IfOp Choice,
                       Value CosLeaf, Value SinLeaf, RopeTable &T) {
  return ChoiceReader(Main, R, Reader, Choice).read(CosLeaf, SinLeaf, T);
}
} // namespace llmc::raise
