// Tables of what depends on positions; see PlaceRows.h.
#include "passes/raise/PlaceRows.h"

#include "passes/raise/Match.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {

/// The longest table, and how many elements one may have beyond a few thousand
/// rows.
constexpr int64_t MostRows = int64_t(1) << 18, FewRows = 4096,
                  MostElements = int64_t(1) << 22;

bool dependsOnPlace(Value V, const Roles &R) {
  llvm::SetVector<Value> Work;
  Work.insert(V);
  for (size_t I = 0; I < Work.size(); ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || R.isData(Work[I])) // an input, or the shape of data
      return true;
    Work.insert(Op->operand_begin(), Op->operand_end());
  }
  return false;
}

std::optional<eval::Tensor> PlaceRows::at(Value V, Sample S) {
  // What is computed for pairs of tokens is not asked that far.
  Probe P(Main, R, Reader, std::move(S),
          eval::Budget(int64_t(1) << 26, int64_t(1) << 28));
  Result<const eval::Tensor *> Got = P.evaluate(V);
  return Got ? std::optional<eval::Tensor>(**Got) : std::nullopt;
}

static bool equal(double X, double Y) {
  return X == Y || std::abs(X - Y) <= 1e-6 * (1 + std::abs(X)) ||
         (std::isnan(X) && std::isnan(Y));
}

static bool equal(const eval::Tensor &X, const eval::Tensor &Y) {
  bool Same = X.Shape == Y.Shape;
  for (int64_t I = 0; Same && I < X.count(); ++I)
    Same = equal(eval::floatAt(X, I), eval::floatAt(Y, I));
  return Same;
}

/// Element E of token S, with the dim of the tokens at Axis.
static int64_t placeOf(const eval::Dims &Shape, int64_t Axis, int64_t S,
                       int64_t E) {
  int64_t Inner = 1;
  for (size_t D = size_t(Axis) + 1; D < Shape.size(); ++D)
    Inner *= Shape[D];
  return (E / Inner * Shape[size_t(Axis)] + S) * Inner + E % Inner;
}

/// Whether V is T at the positions of S.
std::string PlaceRows::check(Value V, const Table &T, const Sample &S) {
  std::optional<eval::Tensor> Got = at(V, S);
  eval::Dims Want = T.Shape;
  Want[size_t(T.Axis)] = S.Seq;
  if (!Got || Got->Shape != Want)
    return "its values at position " + std::to_string(S.Past) +
           " cannot be evaluated";
  int64_t Each = Got->count() / S.Seq;
  // Graphs may count for themselves.
  for (bool Given : {true, false}) {
    bool Same = true;
    for (int64_t I = 0; Same && I < Got->count(); ++I) {
      int64_t Token = I / Each, E = I % Each;
      int64_t Row = Given ? S.position(Token) : S.Past + Token;
      Same = equal(eval::floatAt(*Got, placeOf(Got->Shape, T.Axis, Token, E)),
                   T.Data[size_t(Row * Each + E)]);
    }
    if (Same)
      return {};
  }
  return "its values change with more than the position";
}

/// As many rows as there are: tables of the file may end before the longest.
void PlaceRows::readRows(Value V, Table &T) {
  int64_t Each = eval::countOf(T.Shape) / T.Shape[size_t(T.Axis)];
  std::optional<eval::Tensor> All;
  auto Reaches = [&](int64_t Rows) {
    eval::Dims Want = T.Shape;
    Want[size_t(T.Axis)] = Rows;
    std::optional<eval::Tensor> Got = at(V, Sample{0, Rows, {}, 0});
    if (!Got || Got->Shape != Want)
      return false;
    All = std::move(Got);
    return true;
  };
  int64_t Low = 7, High = std::clamp(MostElements / std::max<int64_t>(Each, 1),
                                     FewRows, MostRows);
  if (Reaches(High))
    Low = High;
  while (High - Low > 1)
    (Reaches((Low + High) / 2) ? Low : High) = (Low + High) / 2;
  if (!All) {
    T.Failure = "its values cannot be evaluated for many positions";
    return;
  }
  T.Shape = All->Shape;
  T.Rows = All->Shape[size_t(T.Axis)];
  T.Data.resize(size_t(T.Rows * Each));
  T.Same = true;
  for (int64_t I = 0; I < All->count(); ++I) {
    double X =
        eval::floatAt(*All, placeOf(T.Shape, T.Axis, I / Each, I % Each));
    T.Data[size_t(I)] = float(X);
    T.Same &= equal(X, T.Data[size_t(I % Each)]);
  }
}

/// Of a graph that takes so many tokens at once.
PlaceRows::Table PlaceRows::readFixed(Value V, int64_t Tokens) {
  Table T;
  T.Same = true;
  if (!R.find(Role::Past))
    return T;
  std::optional<eval::Tensor> First = at(V, Sample{0, Tokens, {}, 0});
  for (int64_t Past = 8; Past <= MostRows; Past *= 4) {
    std::optional<eval::Tensor> Here = at(V, Sample{Past - 1, Tokens, {}, 0});
    if (First && Here && !equal(*First, *Here)) {
      T.Failure = "its values change with the position, in a graph of " +
                  std::to_string(Tokens) + " tokens at once";
      return T;
    }
  }
  return T;
}

PlaceRows::Table PlaceRows::read(Value V) {
  if (int64_t Fixed = R.fixedTokens())
    return readFixed(V, Fixed);
  bool Cached = bool(R.find(Role::Past));
  Table T;
  std::optional<eval::Tensor> A = at(V, Sample{0, 7, {}, 0}),
                              B = at(V, Sample{0, 5, {}, 0});
  if (!A || !B || A->rank() != B->rank()) {
    T.Failure = "its values cannot be evaluated";
    return T;
  }
  T.Shape = A->Shape;
  for (int64_t D = 0; D < A->rank(); ++D)
    if (A->Shape[size_t(D)] != B->Shape[size_t(D)]) {
      if (T.Axis >= 0)
        T.Failure = "its values are no rows of single tokens";
      T.Axis = D;
    }
  if (!T.Failure.empty())
    return T;
  if (T.Axis < 0) {
    // One value for all tokens: it must not come from their number.
    T.Same = equal(*A, *B);
    for (int64_t N = 8; T.Same && N <= MostRows; N *= 4)
      if (std::optional<eval::Tensor> Here =
              at(V, Cached ? Sample{N - 1, 2, {}, 0} : Sample{0, N, {}, 0}))
        T.Same = equal(*A, *Here);
    if (!T.Same)
      T.Failure = "its values change with the length of the sequence";
    return T;
  }
  if (A->Shape[size_t(T.Axis)] != 7 || B->Shape[size_t(T.Axis)] != 5) {
    T.Failure = "its values are no rows of single tokens";
    return T;
  }
  readRows(V, T);
  SmallVector<Sample> Samples{Sample{0, 7, {}, 0}};
  if (Cached)
    Samples.append({Sample{5, 3, {}, 0}, Sample{T.Rows / 2 - 1, 3, {}, 0},
                    Sample{T.Rows - 3, 3, {}, 0}});
  if (R.find(Role::Positions))
    Samples.push_back(Sample{Cached ? 2 : 0, 5, {4, 0, 3, 2, 1}, 0});
  for (const Sample &S : Samples)
    if (T.Failure.empty())
      T.Failure = check(V, T, S);
  return T;
}

/// Rows [batch, tokens, elements] of a table; one op for tables that are equal.
Value PlaceRows::embedded(const Table &T) {
  Value Ids = R.find(Role::Tokens);
  auto Type = cast<RankedTensorType>(Ids.getType());
  int64_t Each = int64_t(T.Data.size()) / T.Rows;
  FlatSymbolRefAttr Weight =
      Weights.inlined("positions", {T.Rows, Each}, T.Data);
  Value &Out = Embeds[Weight.getValue()];
  if (Out)
    return Out;
  OpBuilder B = OpBuilder::atBlockBegin(&Main.getBody().front());
  Value At = llm::PaddedPositionsOp::create(B, Main.getLoc(), Type, Ids);
  SmallVector<int64_t> Shape(Type.getShape());
  Shape.push_back(Each);
  Attribute Dims;
  if (auto Known = dyn_cast_or_null<onnx::DimsAttr>(Type.getEncoding()))
    Dims = onnx::DimsAttr::get(B.getContext(),
                               {Known.getExprs()[0], Known.getExprs()[1],
                                B.getStringAttr(std::to_string(Each))});
  Out = llm::EmbedOp::create(B, Main.getLoc(),
                             RankedTensorType::get(Shape, B.getF32Type(), Dims),
                             At, Weight, B.getF32FloatAttr(1.0f));
  R.markData(At);
  R.markData(Out);
  return Out;
}

/// V as rows of a table by position, in its own layout.
Value PlaceRows::create(Value V, const Table &T) {
  auto Ids = cast<RankedTensorType>(R.find(Role::Tokens).getType());
  if (Ids.getRank() != 2)
    return {};
  Value Out = embedded(T);
  OpBuilder B(Out.getContext());
  B.setInsertionPointAfter(Out.getDefiningOp());
  auto Known = dyn_cast_or_null<onnx::DimsAttr>(Ids.getEncoding());
  auto TypeOf = [&](ArrayRef<int64_t> Sizes, int64_t Axis) {
    SmallVector<int64_t> Shape(Sizes);
    SmallVector<StringAttr> Exprs;
    for (int64_t N : Shape)
      Exprs.push_back(B.getStringAttr(std::to_string(N)));
    Shape[size_t(Axis)] = Ids.getDimSize(1);
    Exprs[size_t(Axis)] = Known ? Known.getExprs()[1] : B.getStringAttr("?");
    return RankedTensorType::get(Shape, B.getF32Type(),
                                 onnx::DimsAttr::get(B.getContext(), Exprs));
  };
  // Tokens in front, then where they belong; in place where only dims of 1 come
  // before them.
  int64_t Axis = T.Axis, Rank = int64_t(T.Shape.size());
  bool Moves = llvm::any_of(ArrayRef(T.Shape).take_front(size_t(Axis)),
                            [](int64_t N) { return N != 1; });
  SmallVector<int64_t> Sizes(T.Shape.begin(), T.Shape.end()), Perm;
  if (Moves) {
    Sizes.erase(Sizes.begin() + Axis);
    Sizes.insert(Sizes.begin(), -1);
    for (int64_t D = 0, Next = 1; D < Rank; ++D)
      Perm.push_back(D == Axis ? 0 : Next++);
  }
  Sizes[size_t(Moves ? 0 : Axis)] = -1;
  auto SizesType = RankedTensorType::get({Rank}, B.getI64Type());
  Value Shape = onnx::ConstantOp::create(
      B, V.getLoc(), SizesType, DenseIntElementsAttr::get(SizesType, Sizes));
  Out = onnx::ReshapeOp::create(B, V.getLoc(), TypeOf(Sizes, Moves ? 0 : Axis),
                                Out, Shape);
  R.markData(Out);
  if (Moves)
    Out = onnx::TransposeOp::create(B, V.getLoc(), TypeOf(T.Shape, Axis), Out,
                                    B.getDenseI64ArrayAttr(Perm));
  R.markData(Out);
  if (Type Element = getElementTypeOrSelf(V.getType()); !Element.isF32())
    Out = onnx::CastOp::create(
        B, V.getLoc(), cast<RankedTensorType>(Out.getType()).clone(Element),
        Out, Element, 1);
  R.markData(Out);
  return Out;
}

bool PlaceRows::isSame(Value V, std::string &Why) {
  if (!dependsOnPlace(V, R))
    return true;
  auto [It, New] = Tables.try_emplace(V);
  if (New)
    It->second = read(V);
  Why = It->second.Failure;
  return It->second.Same && Why.empty();
}

/// Whether operand I of Op holds values, not dims or places.
static bool isValue(Operation *Op, unsigned I) {
  return I == 0 ||
         isa<onnx::AddOp, onnx::SubOp, onnx::MulOp, onnx::DivOp, onnx::PowOp,
             onnx::ModOp, onnx::WhereOp, onnx::MaxOp, onnx::MinOp, onnx::SumOp,
             onnx::MeanOp, onnx::AndOp, onnx::OrOp, onnx::XorOp, onnx::EqualOp,
             onnx::LessOp, onnx::LessOrEqualOp, onnx::GreaterOp,
             onnx::GreaterOrEqualOp, onnx::ClipOp, onnx::MatMulOp, onnx::GemmOp,
             onnx::ConcatOp>(Op);
}

std::string PlaceRows::settle(Operation *Op) {
  for (unsigned I = 0; I < Op->getNumOperands(); ++I) {
    Value V = Op->getOperand(I);
    std::string Why;
    if (R.isData(V) || onnx::isNone(V) || !isValue(Op, I) || isSame(V, Why))
      continue;
    if (!Why.empty())
      return "operand " + std::to_string(I) + " of '" + nodeName(Op) +
             "': " + Why;
    Value &New = Made[V];
    if (!New && !(New = create(V, Tables[V])))
      return "operand " + std::to_string(I) + " of '" + nodeName(Op) +
             "' changes with the position";
    Replaced.push_back({Op, I, V});
    Op->setOperand(I, New);
  }
  return {};
}

void PlaceRows::undo() {
  for (auto [Op, I, V] : llvm::reverse(Replaced))
    Op->setOperand(I, V);
  Replaced.clear();
}
} // namespace llmc::raise
