// Rotary embeddings become llm.rope_table (once) and llm.rope on flat rows.
//
// There are a dozen spellings of the rotation (slices, splits, concats, stacks)
// and three of the tables (inv_freq times positions, tables in the file, both
// with scaling). Only two things are read from the structure: the value that is
// rotated (the one leaf of a cone that also has tables) and the operand of Cos.
// Everything else is proved by evaluation: for random rows and given positions
// the cone must give what llm.rope gives, in one of the two pairings. The
// frequencies are the file's own: the angle at position 1, bit for bit.
// Long because reading a table and proving a rotation by it are one search.
#include "passes/raise/Block.h"
#include "passes/raise/Cone.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"
#include "passes/raise/ReadingPass.h"
#include "passes/raise/RopeChoice.h"
#include "passes/raise/RopeRows.h"
#include "passes/raise/RopeTable.h"
#include "passes/raise/RowMap.h"
#include "passes/raise/StaticRounding.h"
#include "passes/raise/Weights.h"

#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEROPE
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

/// Beyond the context for which any scaling by length begins.
constexpr int64_t Far = int64_t(1) << 18;

/// Positions of a table that stands for rounded angles.
constexpr int64_t RoundedPositions = 8192;

using Table = RopeTable;

/// A rotation: Y = layout(rope(Features of X)).
struct Rotation {
  Value X, Y;
  RowLayout Rows; ///< of X
  std::vector<int64_t> Features;
  int64_t Heads = 0, Dim = 0;
  bool HeadsFirst = false; ///< Y is [b, h, s, d], else [b, s, h, d]
  bool Interleaved = false;
};

/// First op of that kind on which V depends.
template <typename OpTy> OpTy findAbove(Value V) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  for (size_t I = 0; I < Work.size() && I < 256; ++I) {
    Value Next = Work[I];
    if (auto Op = Next.getDefiningOp<OpTy>())
      return Op;
    if (Operation *Op = Next.getDefiningOp())
      if (!isa<onnx::ShapeOp>(Op))
        Work.insert(Op->operand_begin(), Op->operand_end());
  }
  return {};
}

class Finder {
public:
  Finder(func::FuncOp TheMain, const Roles &TheRoles,
         eval::WeightReader TheReader)
      : Main(TheMain), R(TheRoles), Reader(std::move(TheReader)),
        Past(R.find(Role::Past) ? 2 : 0),
        Seq(R.fixedTokens() > 0 ? R.fixedTokens() : 5),
        Plain(Main, R, Reader, Sample{Past, Seq, {}, 0}),
        Shuffled(Main, R, Reader, Sample{Past, Seq, shuffled(Seq), 0}),
        Start(Main, R, Reader, Sample{0, Seq, {}, 0}),
        Next(Main, R, Reader, Sample{1, Seq, {}, 0}),
        Long(Main, R, Reader, longest()) {}

  /// Why Y is no rotation, or null. `Near` tells whether it looked like one.
  /// With `Whole` only of all features of a value in their order.
  std::string match(Value Y, bool Whole, Rotation &Out, Table &T, bool &Near);
  /// Another one for rotations that begin behind gains: samples keep what was
  /// computed from the values that the first attempt took.
  void setInner(Finder *F) { Inside = F; }

private:
  std::string matchCone(const Cone &C, bool Whole, Rotation &Out, Table &T,
                        bool &Near);
  std::string readTable(const Cone &C, Table &T);
  std::string readLong(Value CosLeaf, Value SinLeaf, onnx::CosOp Cos,
                       int64_t Rows, Table &T);
  std::string findThreshold(Value CosLeaf, Value SinLeaf, bool Computed,
                            int64_t &Threshold, int64_t &Reach);
  std::string readAngles(onnx::CosOp Cos, Table &T, Probe &From);
  std::string checkFar(onnx::CosOp Cos, const Table &T, bool Columns,
                       size_t Step);
  std::string checkPlaces(onnx::CosOp Cos, const Table &T, int64_t First,
                          int64_t Last);
  std::string readFile(Value CosLeaf, Value SinLeaf, Table &T, Sample S);
  std::string readWhole(Value CosLeaf, Value SinLeaf, Table &T);
  bool same(Probe &P, const Rotation &Rot, const Table &T,
            const std::vector<int64_t> &Positions);
  std::vector<int64_t> positions(const Probe &P) const;
  static std::vector<int64_t> shuffled(int64_t Seq);
  Sample longest() const {
    if (R.fixedTokens() > 0)
      return Sample{Past ? Far : 0, Seq, {}, 0};
    return Past ? Sample{Far, 2, {}, 0} : Sample{0, Far / 16, {}, 0};
  }

  func::FuncOp Main;
  const Roles &R;
  eval::WeightReader Reader;
  Finder *Inside = nullptr;
  int64_t Past; ///< tokens in the cache, if there is one
  int64_t Seq;  ///< new tokens of the samples
  /// Start begins at position 0, Next at 1.
  Probe Plain, Shuffled, Start, Next, Long;
  /// Tables by the values that they were read from: layers share them.
  std::map<std::vector<void *>, Table> Tables;
};

/// Other positions than those of a plain sequence.
std::vector<int64_t> Finder::shuffled(int64_t Seq) {
  std::vector<int64_t> Out;
  for (int64_t I = 0; I < Seq; ++I)
    Out.push_back(Seq == 1 ? 4 : (Seq - I) % Seq == 0 ? Seq - 1 : I - 1);
  return Out;
}

std::vector<int64_t> Finder::positions(const Probe &P) const {
  std::vector<int64_t> Out;
  for (int64_t I = 0; I < P.sample().Seq; ++I)
    Out.push_back(P.sample().position(I));
  return Out;
}

std::string Finder::readAngles(onnx::CosOp Cos, Table &T, Probe &From) {
  Result<const eval::Tensor *> Angles = From.evaluate(Cos.getInput());
  if (!Angles)
    return Angles.status().message();
  const eval::Tensor &A = **Angles;
  Result<const eval::Tensor *> Later = Next.evaluate(Cos.getInput());
  if (Seq == 1 && (!Later || (*Later)->count() != A.count()))
    return "angles of one token cannot be evaluated";
  if (A.count() == 0 || A.count() % Seq != 0)
    return "angles have shape " + eval::describe(A);
  // Positions are 0, 1, …: angles at 0 are 0, which tells rows from columns,
  // and those at 1 are the frequencies.
  auto Zero = [](const std::vector<float> &Row) {
    return llvm::all_of(Row, [](float X) { return X == 0; });
  };
  bool Columns = !Zero(anglesOf(A, Seq, 0, false));
  if (Columns && !Zero(anglesOf(A, Seq, 0, true)))
    return "angles at position 0 are not 0";
  std::vector<float> Row =
      Seq == 1 ? anglesOf(**Later, 1, 0, false) : anglesOf(A, Seq, 1, Columns);
  size_t Width = Row.size();
  bool Halves = Width % 2 == 0, Pairs = Halves;
  for (size_t I = 0; I < Width / 2; ++I) {
    Halves &= Row[I] == Row[I + Width / 2];
    Pairs &= Row[2 * I] == Row[2 * I + 1];
  }
  size_t Step = !Halves && Pairs ? 2 : 1;
  T.Half = int64_t(Halves || Pairs ? Width / 2 : Width);
  for (size_t I = 0; I < size_t(T.Half); ++I)
    T.Freq.push_back(Row[I * Step]);
  // Of a graph that is told its positions, lengths are tried one by one.
  return R.find(Role::Positions) && Past ? std::string()
                                         : checkFar(Cos, T, Columns, Step);
}

/// Some scalings change the frequencies once a sequence is long; the graph is
/// asked for the last angles of one. A graph that cannot be is let pass.
std::string Finder::checkFar(onnx::CosOp Cos, const Table &T, bool Columns,
                             size_t Step) {
  const Sample &S = Long.sample();
  Result<const eval::Tensor *> Angles = Long.evaluate(Cos.getInput());
  if (!Angles || (*Angles)->count() < T.Half * S.Seq ||
      (*Angles)->count() % S.Seq != 0)
    return {};
  std::vector<float> Row = anglesOf(**Angles, S.Seq, S.Seq - 1, Columns);
  double Position = double(S.position(S.Seq - 1));
  for (size_t I = 0; I < T.Freq.size() && I * Step < Row.size(); ++I) {
    double Want = Position * T.Freq[I];
    if (!(std::abs(Row[I * Step] - Want) <= 1e-5 * std::abs(Want)))
      return "its frequencies change with the length of the sequence";
  }
  return {};
}

/// Whether the angles at positions in [First, Last) are multiples of the
/// frequencies: positions may be clipped, scaled or grouped on the way. A graph
/// that cannot be asked is let pass.
std::string Finder::checkPlaces(onnx::CosOp Cos, const Table &T, int64_t First,
                                int64_t Last) {
  if (!Past || R.fixedTokens() > 0)
    return {};
  for (int64_t N : {100, 1023, 4095, 8191, 16383, 65535, 131071, 262143}) {
    if (N < First || N >= Last)
      continue;
    Probe P(Main, R, Reader, Sample{N - 1, 2, {}, 0});
    Result<const eval::Tensor *> Angles = P.evaluate(Cos.getInput());
    if (!Angles || (*Angles)->count() % 2 != 0)
      continue;
    int64_t Width = (*Angles)->count() / 2, Half = T.Half;
    auto Follows = [&](bool Columns, int64_t Step) {
      std::vector<float> Row = anglesOf(**Angles, 2, 1, Columns);
      bool Same = (Half - 1) * Step < Width;
      for (int64_t I = 0; Same && I < Half; ++I) {
        double Want = double(N) * T.Freq[size_t(I)];
        Same = std::abs(Row[size_t(I * Step)] - Want) <= 1e-5 * std::abs(Want);
      }
      return Same;
    };
    if (!Follows(false, 1) && !Follows(true, 1) && !Follows(false, 2) &&
        !Follows(true, 2))
      return "its angles at position " + std::to_string(N) +
             " are no multiples of those at position 1";
  }
  return {};
}

/// Whether the file rounds positions or angles on the way to V: then they are
/// no multiples of frequencies, but a table.
static bool isRounded(Value V) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  for (size_t I = 0; I < Work.size() && I < 256; ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || isa<onnx::ShapeOp>(Op))
      continue;
    if (Op->hasAttr(RoundedAttr))
      return true;
    Work.insert(Op->operand_begin(), Op->operand_end());
  }
  return false;
}

/// Tables of the file, read through the graph for all positions of a sample.
std::string Finder::readFile(Value CosLeaf, Value SinLeaf, Table &T, Sample S) {
  Probe All(Main, R, Reader, std::move(S));
  return readPlaces(All, CosLeaf, SinLeaf, T);
}

/// Tables of the file where the graph cannot be run for all positions at once:
/// found above the leaves, read as a whole.
std::string Finder::readWhole(Value CosLeaf, Value SinLeaf, Table &T) {
  auto Load = [&](Value Leaf, std::vector<float> &Out) -> std::string {
    Value Weight;
    if (auto Plain = findAbove<onnx::WeightOp>(Leaf))
      Weight = Plain.getOutput();
    else if (auto Codes = findAbove<llm::QuantizedValueOp>(Leaf))
      Weight = Codes.getResult();
    if (!Weight)
      return "no Cos op and no table of the file above the rotation";
    Result<const eval::Tensor *> Data = Start.evaluate(Weight);
    if (!Data)
      return Data.status().message();
    const eval::Tensor &W = **Data;
    if (W.rank() < 2 || W.Shape.back() < 1)
      return "table has shape " + eval::describe(W);
    // Rows seen through the graph say how wide a row is used.
    Result<const eval::Tensor *> Seen = Start.evaluate(Leaf);
    if (!Seen)
      return Seen.status().message();
    int64_t Width = W.Shape.back(), Rows = W.count() / Width;
    if (Rows < 2)
      return "a table has one row";
    int64_t Used = (*Seen)->count() / Start.sample().Seq;
    if (Used * Start.sample().Seq != (*Seen)->count() || Used > Width)
      return "table rows have " + std::to_string(Width) + " columns, used " +
             std::to_string(Used);
    takeAngles(W, Width, Used, /*Looked=*/2, T, Out);
    return {};
  };
  return loadBoth(CosLeaf, SinLeaf, T, Load);
}

std::string Finder::readTable(const Cone &C, Table &T) {
  // At position 0 a table of sines is 0 and one of cosines the scaling.
  Value CosLeaf, SinLeaf;
  double Scaling = 1;
  for (Value Leaf : C.Tables) {
    Result<const eval::Tensor *> Got = Start.evaluate(Leaf);
    if (!Got || (*Got)->count() == 0 || (*Got)->count() % Seq != 0)
      continue;
    int64_t Width = (*Got)->count() / Seq;
    double First = eval::floatAt(**Got, 0);
    bool Flat = true;
    for (int64_t I = 0; I < Width; ++I)
      Flat &= eval::floatAt(**Got, I) == First;
    if (Flat && First == 0)
      SinLeaf = Leaf;
    else if (Flat) {
      CosLeaf = Leaf;
      Scaling = First;
    }
  }
  if (!CosLeaf || !SinLeaf)
    return "no tables that are a constant and 0 at position 0";
  onnx::CosOp Cos = findAbove<onnx::CosOp>(CosLeaf);
  if (auto Choice = findAbove<onnx::IfOp>(CosLeaf);
      !Cos && Choice && Choice == findAbove<onnx::IfOp>(SinLeaf))
    return readChoice(Main, R, Reader, Choice, CosLeaf, SinLeaf, T);
  int64_t Rows = Cos ? 0 : tableRows(CosLeaf);
  if (Cos && isRounded(Cos.getInput())) {
    Cos = {};
    Rows = RoundedPositions;
  }
  if (!Cos && Rows < 2)
    return "no Cos op and no table of the file above the rotation";
  int64_t Reach = Rows;
  std::string Why =
      findThreshold(CosLeaf, SinLeaf, bool(Cos), T.Threshold, Reach);
  if (!Why.empty())
    return Why;
  T.Scaling = Scaling;
  if (Cos) {
    Why = readAngles(Cos, T, Start);
    if (Why.empty())
      Why = checkPlaces(Cos, T, 0, T.Threshold ? T.Threshold : INT64_MAX);
  } else if (R.fixedTokens() > 0) {
    Why = readWhole(CosLeaf, SinLeaf, T);
  } else {
    Why = readFile(
        CosLeaf, SinLeaf, T,
        Sample{0, T.Threshold ? std::min(Rows, T.Threshold) : Rows, {}, 0});
  }
  return Why.empty() && T.Threshold ? readLong(CosLeaf, SinLeaf, Cos, Reach, T)
                                    : Why;
}

/// Tables may be others for long sequences: looks for the length from which on
/// they are, by what position 1 gives. 0 when they always are the same. Tables
/// of the file are first asked for position 1 alone, then beside others: those
/// may choose, but end with the table, and Reach is how many there are.
std::string Finder::findThreshold(Value CosLeaf, Value SinLeaf, bool Computed,
                                  int64_t &Threshold, int64_t &Reach) {
  Threshold = 0;
  if (!R.find(Role::Positions) || !Past || R.fixedTokens() > 0)
    return {};
  bool Beside = Computed;
  auto At = [&](int64_t Length, std::vector<double> &Out) {
    Probe P(Main, R, Reader,
            Sample{Length - 2, 2, {1, Beside ? Length - 1 : 1}, 0});
    Out.clear();
    for (Value Leaf : {CosLeaf, SinLeaf}) {
      Result<const eval::Tensor *> Got = P.evaluate(Leaf);
      if (!Got || (*Got)->count() % 2 != 0)
        return false;
      for (int64_t I = 0; I < (*Got)->count() / 2; ++I)
        Out.push_back(eval::floatAt(**Got, I));
    }
    return true;
  };
  auto Same = [](const std::vector<double> &A, const std::vector<double> &B) {
    bool Equal = A.size() == B.size();
    for (size_t I = 0; Equal && I < A.size(); ++I)
      Equal = std::abs(A[I] - B[I]) <= 1e-6;
    return Equal;
  };
  int64_t Low = 5, High = Far;
  std::vector<double> Short, Last, Here;
  if (!At(Low, Short) || !At(High, Last))
    return {};
  if (Same(Short, Last) && !Computed) {
    Beside = true;
    High = Reach;
    if (!At(High, Here))
      for (int64_t Beyond = std::exchange(High, Low); Beyond - High > 1;) {
        int64_t Middle = (High + Beyond) / 2;
        (At(Middle, Here) ? High : Beyond) = Middle;
      }
    Reach = High;
    if (!At(High, Last))
      return {};
  }
  if (Same(Short, Last))
    return {};
  while (High - Low > 1) {
    int64_t Middle = (Low + High) / 2;
    if (!At(Middle, Here))
      return "its tables of length " + std::to_string(Middle) +
             " cannot be evaluated";
    bool Before = Same(Here, Short);
    if (!Before && !Same(Here, Last))
      return "its frequencies change with every length";
    (Before ? Low : High) = Middle;
  }
  Threshold = Low;
  return {};
}

std::string Finder::readLong(Value CosLeaf, Value SinLeaf, onnx::CosOp Cos,
                             int64_t Rows, Table &T) {
  T.Long = std::make_shared<Table>();
  if (Cos) {
    Probe After(Main, R, Reader, Sample{Far - 5, 5, {0, 1, 2, 3, Far - 1}, 0});
    std::string Why = readAngles(Cos, *T.Long, After);
    if (Why.empty())
      Why = checkPlaces(Cos, *T.Long, T.Threshold, INT64_MAX);
    Result<const eval::Tensor *> First = After.evaluate(CosLeaf);
    if (Why.empty() && !First)
      Why = First.status().message();
    if (Why.empty())
      T.Long->Scaling = eval::floatAt(**First, 0);
    return Why;
  }
  std::vector<int64_t> Positions;
  for (int64_t P = 0; P < Rows; ++P)
    Positions.push_back(P);
  std::string Why =
      readFile(CosLeaf, SinLeaf, *T.Long, Sample{Far, Rows, Positions, 0});
  // Both have a row per position, the short one up to where it ends.
  T.Cos.resize(size_t(Rows * T.Half));
  T.Sin.resize(size_t(Rows * T.Half));
  T.Rows = Rows;
  return Why.empty() && T.Half != T.Long->Half
             ? std::string("its tables for long sequences are of another width")
             : Why;
}

/// Whether Y, given random rows as X, is the rotation by T at Positions.
bool Finder::same(Probe &P, const Rotation &Rot, const Table &T,
                  const std::vector<int64_t> &Positions) {
  eval::Dims Shape;
  int64_t Seq = P.sample().Seq;
  if (!P.shapeOf(Rot.X, Shape) ||
      eval::countOf(Shape) != Seq * Rot.Rows.Features)
    return false;
  eval::Tensor X = randomTensor(Shape, 7);
  P.bind(Rot.X, X);
  Result<const eval::Tensor *> Got = P.evaluate(Rot.Y);
  if (!Got || (*Got)->count() != Seq * Rot.Heads * Rot.Dim)
    return false;
  RowLayout Out{Rot.Heads * Rot.Dim, Rot.Dim, Rot.HeadsFirst};
  for (int64_t S = 0; S < Seq; ++S)
    for (int64_t F = 0; F < Out.Features; ++F) {
      int64_t D = F % Rot.Dim, Base = F - D;
      auto Given = [&](int64_t E) {
        return eval::floatAt(
            X, Rot.Rows.at(S, Rot.Features[size_t(Base + E)], Seq));
      };
      double Want = Given(D);
      if (D < 2 * T.Half) {
        int64_t I = Rot.Interleaved ? D / 2 : D % T.Half;
        bool Second = Rot.Interleaved ? D % 2 : D >= T.Half;
        double Lo = Given(Rot.Interleaved ? 2 * I : I), Cos, Sin;
        double Hi = Given(Rot.Interleaved ? 2 * I + 1 : I + T.Half);
        if (!T.at(Positions[size_t(S)], I, Cos, Sin))
          return false;
        Want = Second ? Hi * Cos + Lo * Sin : Lo * Cos - Hi * Sin;
      }
      double Have = eval::floatAt(**Got, Out.at(S, F, Seq));
      if (!(std::abs(Have - Want) <= 1e-4))
        return false;
    }
  return true;
}

std::string Finder::match(Value Y, bool Whole, Rotation &Out, Table &T,
                          bool &Near) {
  auto Type = dyn_cast<RankedTensorType>(Y.getType());
  Near = false;
  if (!Type || Type.getRank() != 4 || !Type.getElementType().isF32())
    return "no f32 heads";
  Out.Y = Y;
  // What is rotated may have a gain of the file: then that is where it ends.
  Cone C = coneOf(Y, R, Mixing::All), Inner = coneOf(Y, R, Mixing::Varying);
  std::string Why = matchCone(C, Whole, Out, T, Near);
  if (!Why.empty() && Inner.Ops.size() < C.Ops.size()) {
    bool NearInner = false;
    std::string Second =
        (Inside ? Inside : this)->matchCone(Inner, Whole, Out, T, NearInner);
    if (NearInner || Second.empty())
      Why = Second;
    Near |= NearInner;
  }
  return Why;
}

std::string Finder::matchCone(const Cone &C, bool Whole, Rotation &Out,
                              Table &T, bool &Near) {
  Value X = C.root(R);
  if (!X || C.Tables.size() < 2 || C.Ops.size() > 64 || isa<BlockArgument>(X))
    return "not one value and two tables";
  // A product by Gemm is [batch * seq, features]: take its unflattened form.
  if (rankOf(X) == 2)
    for (Operation *User : X.getUsers())
      if (isa<onnx::ReshapeOp>(User) && C.Ops.contains(User) &&
          rankOf(User->getResult(0)) == 3 &&
          featuresOf(User->getResult(0)) == featuresOf(X))
        X = User->getResult(0);
  Out.X = X;
  Out.Rows = layoutOf(X, Plain);
  if (Out.Rows.Features < 1)
    return "the rotated value has no known shape";
  Out.Dim = featuresOf(Out.Y);
  if (Out.Dim < 2)
    return "not whole heads";
  Near = !Whole || Out.Rows.Features % Out.Dim == 0;
  std::vector<void *> Key;
  for (Value V : C.Tables)
    Key.push_back(V.getAsOpaquePointer());
  auto [It, New] = Tables.try_emplace(Key);
  if (New)
    if (std::string Why = readTable(C, It->second); !Why.empty()) {
      Tables.erase(It);
      return Why;
    }
  T = It->second;
  if (2 * T.Half > Out.Dim)
    return "tables have " + std::to_string(2 * T.Half) +
           " columns, heads only " + std::to_string(Out.Dim);
  ArrayRef<int64_t> Dims = cast<RankedTensorType>(Out.Y.getType()).getShape();
  double Cos = 1, Sin = 0;
  T.at(0, 0, Cos, Sin);
  for (bool HeadsFirst : {true, false}) {
    Out.Heads = Dims[HeadsFirst ? 1 : 2];
    Out.HeadsFirst = HeadsFirst;
    RowLayout Turned{Out.Heads * Out.Dim, Out.Dim, HeadsFirst};
    if (Out.Heads < 1 ||
        !readFeatures(Start, X, Out.Rows, Out.Y, Turned, 2 * T.Half, Cos,
                      Out.Features) ||
        (Whole && !areAll(Out.Features, Out.Rows.Features)))
      continue;
    for (bool Interleaved : {false, true}) {
      Out.Interleaved = Interleaved;
      if (!same(Plain, Out, T, positions(Plain)))
        continue;
      if (same(Shuffled, Out, T, positions(Shuffled)) ||
          same(Shuffled, Out, T, positions(Plain)))
        return {};
      return "it does not follow the positions that the graph is given";
    }
  }
  return "it does not compute a rotation of halves or of pairs";
}

struct RaiseRope : ReadingPass<impl::RaiseRopeBase<RaiseRope>> {
  using ReadingPass::ReadingPass;

  void runOnGraph(func::FuncOp Main) override {
    Roles R(Main);
    WeightMaker Weights(getOperation());
    Finder Find(Main, R, Reader), Behind(Main, R, Reader);
    Find.setInner(&Behind);
    Made.clear();
    Chosen.clear();
    // Whole values first: the rotated part of a head is a rotation of some of
    // its features, too.
    for (bool Whole : {true, false}) {
      raiseAll(Main, R, Weights, Find, Whole);
      eraseDead(Main.getBody().front());
    }
  }

  void raiseAll(func::FuncOp Main, Roles &R, WeightMaker &Weights, Finder &Find,
                bool Whole) {
    for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front())) {
      if (!isa<onnx::AddOp, onnx::ConcatOp, onnx::ReshapeOp>(Op) ||
          !R.isData(Op.getResult(0)))
        continue;
      Rotation Rot;
      Table T;
      bool Near = false;
      std::string Why = Find.match(Op.getResult(0), Whole, Rot, T, Near);
      if (Why.empty())
        create(Main, R, Weights, Rot, T);
      else if (Near && !Whole) {
        Op.setAttr(RopeFailureAttr, StringAttr::get(&getContext(), Why));
        if (isa<onnx::AddOp>(Op))
          missed("raise-rope", &Op, Why);
      }
    }
  }

  Value tableOf(func::FuncOp Main, const Roles &R, WeightMaker &Weights,
                const Table &T);
  Value selected(func::FuncOp Main, const Roles &R, WeightMaker &Weights,
                 const Table &T);
  void create(func::FuncOp Main, Roles &R, WeightMaker &Weights,
              const Rotation &Rot, const Table &T);

  /// rope_table ops by their weights and scaling.
  std::map<std::tuple<std::string, std::string, float>, Value> Made;
  /// Their choices by length.
  std::map<std::tuple<void *, void *, int64_t>, Value> Chosen;
};

Value RaiseRope::tableOf(func::FuncOp Main, const Roles &R,
                         WeightMaker &Weights, const Table &T) {
  FlatSymbolRefAttr Freq, Cos, Sin;
  if (T.Freq.empty()) {
    Cos = Weights.inlined("rope.cos", {T.Rows, T.Half}, T.Cos);
    Sin = Weights.inlined("rope.sin", {T.Rows, T.Half}, T.Sin);
  } else {
    Freq = Weights.inlined("rope.freq", {T.Half}, T.Freq);
  }
  FlatSymbolRefAttr First = Freq ? Freq : Cos, Second = Freq ? Freq : Sin;
  Value &Out =
      Made[{First.getValue().str(), Second.getValue().str(), float(T.Scaling)}];
  if (Out)
    return Out;
  OpBuilder B = OpBuilder::atBlockBegin(&Main.getBody().front());
  Value Positions = R.find(Role::Positions);
  if (!Positions) {
    Value Ids = R.find(Role::Tokens);
    Positions =
        llm::PaddedPositionsOp::create(B, Main.getLoc(), Ids.getType(), Ids);
  }
  auto Ids = cast<RankedTensorType>(Positions.getType());
  SmallVector<int64_t> Shape(Ids.getShape());
  Shape.push_back(2 * T.Half);
  return Out = llm::RopeTableOp::create(
             B, Main.getLoc(), RankedTensorType::get(Shape, B.getF32Type()),
             Positions, Freq, Cos, Sin,
             B.getF32FloatAttr(T.Freq.empty() ? 1 : T.Scaling));
}

/// The table, or the choice of one of two.
Value RaiseRope::selected(func::FuncOp Main, const Roles &R,
                          WeightMaker &Weights, const Table &T) {
  Value Short = tableOf(Main, R, Weights, T);
  if (!T.Long)
    return Short;
  Value Long = tableOf(Main, R, Weights, *T.Long);
  Value &Out = Chosen[{Short.getAsOpaquePointer(), Long.getAsOpaquePointer(),
                       T.Threshold}];
  if (Out)
    return Out;
  Operation *Last = Short.getDefiningOp();
  if (Last->isBeforeInBlock(Long.getDefiningOp()))
    Last = Long.getDefiningOp();
  OpBuilder B(Last->getContext());
  B.setInsertionPointAfter(Last);
  return Out =
             llm::SelectByLengthOp::create(B, Last->getLoc(), Short.getType(),
                                           Short, Long, uint64_t(T.Threshold));
}

void RaiseRope::create(func::FuncOp Main, Roles &R, WeightMaker &Weights,
                       const Rotation &Rot, const Table &T) {
  Value Rope = selected(Main, R, Weights, T);
  OpBuilder B(Rot.Y.getDefiningOp());
  Location Loc = Rot.Y.getLoc();
  Value X = Rot.X;
  if (Rot.Rows.HeadsFirst) {
    X = mergeHeads(B, X);
    R.markData(X.getDefiningOp()->getOperand(0));
    R.markData(X);
  }
  Value Flat = selectRows(B, X, Rot.Features, Weights, R);
  auto New = llm::RopeOp::create(B, Loc, Flat.getType(), Flat, Rope, Rot.Heads,
                                 Rot.Dim, T.Half, Rot.Interleaved);
  Value Split = splitHeads(B, New, Rot.Heads, Rot.Dim, Rot.HeadsFirst,
                           cast<RankedTensorType>(Rot.Y.getType()));
  R.markData(Split);
  // Rows of heads are at hand before they are moved.
  for (Operation *User : llvm::to_vector(Rot.Y.getUsers()))
    if (auto Back = dyn_cast<onnx::TransposeOp>(User);
        Back && Rot.HeadsFirst &&
        Back.getPerm() == ArrayRef<int64_t>({0, 2, 1, 3})) {
      Value Rows = Split.getDefiningOp()->getOperand(0);
      R.markData(Rows);
      Back.getResult().replaceAllUsesWith(Rows);
    }
  Value(Rot.Y).replaceAllUsesWith(Split);
  passed("raise-rope", New,
         "llm.rope of " + Twine(Rot.Heads) + " heads, rotating " +
             Twine(2 * T.Half) + " of " + Twine(Rot.Dim) + " elements");
}
} // namespace

std::unique_ptr<Pass> createRaiseRope(eval::WeightReader Reader) {
  return withReader<RaiseRope>(std::move(Reader));
}
} // namespace llmc::raise
