// What each op means as records of a row program; see RowProgram.h. Moves of
// elements cost nothing where strides can say them. Ops are told apart by name,
// so that one table serves all of them.
#include "passes/raise/RowCoder.h"

#include "compiler/kernels/RowMachine.h"
#include "dialects/onnx/Onnx.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {
namespace {

using eval::Dims;
using kernels::RowOp;

class Translator {
public:
  Translator(Probe &TheProbe, const Roles &TheRoles,
             llvm::function_ref<bool(Value)> Leaf)
      : P(TheProbe), R(TheRoles), IsLeaf(Leaf) {}

  std::string run(Value V, RowProgram &Out);

private:
  // Operands as views; a failure is remembered and ends the translation.
  RowView view(Value V);
  RowView constantOf(Value V);
  RowView in(unsigned I) { return view(Op->getOperand(I)); }
  bool has(unsigned I) {
    return I < Op->getNumOperands() && !onnx::isNone(Op->getOperand(I));
  }
  Dims shapeOf(Value V);
  Dims shape() { return shapeOf(Op->getResult(0)); }
  Dims ints(unsigned I);
  int64_t attr(StringRef Name, int64_t Default) {
    auto A = Op->getAttrOfType<IntegerAttr>(Name);
    return A ? A.getInt() : Default;
  }
  double real(StringRef Name, double Default) {
    auto A = Op->getAttrOfType<FloatAttr>(Name);
    return A ? A.getValueAsDouble() : Default;
  }
  int64_t axis(int64_t Default, int64_t Rank) {
    int64_t A = attr("axis", Default);
    return A < 0 ? A + Rank : A;
  }
  RowView fail(const Twine &Why) {
    if (Failure.empty())
      Failure = Why.str();
    return C.constant(0.0f);
  }
  bool failed() const { return !Failure.empty(); }

  void translate(Operation *TheOp);
  bool elementwise(StringRef Name);
  bool activation(StringRef Name);
  bool movement(StringRef Name);
  bool indexed(StringRef Name);
  bool reduction(StringRef Name);
  bool composite(StringRef Name);

  RowView unary(RowOp O, const RowView &X) { return C.map(O, X); }
  RowView binary(RowOp O, const RowView &X, const RowView &Y) {
    return C.map(O, X, Y);
  }
  RowView scaled(const RowView &X, double Factor) {
    return C.map(kernels::RowMul, X, C.constant(float(Factor)));
  }
  RowView plus(const RowView &X, double Term) {
    return C.map(kernels::RowAdd, X, C.constant(float(Term)));
  }
  RowView power();
  RowView castTo();
  RowView sliced();
  RowView tiled();
  RowView concatenated();
  void split();
  RowView padded();
  RowView gather();
  RowView scatter();
  RowView oneHot();
  void topK(bool Indices);
  RowView reduced(StringRef Kind);
  RowView softmax(bool Log);
  RowView normed(bool Layer);
  RowView product(RowView A, RowView B);
  RowView gemm();
  void set(RowView V) { Views[Op->getResult(0)] = V; }

  Probe &P;
  const Roles &R;
  llvm::function_ref<bool(Value)> IsLeaf;
  RowCoder C;
  Operation *Op = nullptr;
  llvm::DenseMap<Value, RowView> Views;
  std::string Failure;
};

Dims Translator::shapeOf(Value V) {
  Result<const eval::Tensor *> T = P.evaluate(V);
  if (!T) {
    fail(T.status().message());
    return {};
  }
  return (*T)->Shape;
}

Dims Translator::ints(unsigned I) {
  if (!has(I))
    return {};
  Result<const eval::Tensor *> T = P.evaluate(Op->getOperand(I));
  if (!T) {
    fail(T.status().message());
    return {};
  }
  return eval::load<int64_t>(**T);
}

RowView Translator::constantOf(Value V) {
  Result<const eval::Tensor *> T = P.evaluate(V);
  if (!T)
    return fail(T.status().message());
  RowView Out = C.constant(eval::load<float>(**T), (*T)->Shape);
  Out.Whole = !eval::isFloat((*T)->Type);
  return Out;
}

RowView Translator::view(Value V) {
  if (auto It = Views.find(V); It != Views.end())
    return It->second;
  // Shapes and masks, too, are data of this one token; that they are the same
  // for others is proved later.
  return Views[V] = IsLeaf(V) ? C.input(V, shapeOf(V)) : constantOf(V);
}

std::string Translator::run(Value V, RowProgram &Out) {
  // Ops between the leaves and V, in order.
  llvm::SetVector<Operation *> Ops;
  SmallVector<Value> Work{V};
  while (!Work.empty()) {
    Value Next = Work.pop_back_val();
    Operation *Def = Next.getDefiningOp();
    if (IsLeaf(Next) || !R.isData(Next))
      continue;
    if (!Def)
      return "it uses an input of the graph directly";
    if (!Ops.insert(Def))
      continue;
    if (Ops.size() > 512)
      return "it has more than 512 ops";
    Work.append(Def->operand_begin(), Def->operand_end());
  }
  SmallVector<Operation *> Order(Ops.begin(), Ops.end());
  llvm::sort(Order,
             [](Operation *A, Operation *B) { return A->isBeforeInBlock(B); });
  for (Operation *Next : Order) {
    translate(Next);
    if (failed())
      return Failure;
  }
  return C.finish(view(V), Out);
}

void Translator::translate(Operation *TheOp) {
  Op = TheOp;
  StringRef Name = Op->getName().stripDialect();
  if (!isa<onnx::OnnxDialect>(Op->getDialect()) ||
      !(elementwise(Name) || activation(Name) || movement(Name) ||
        indexed(Name) || reduction(Name) || composite(Name)))
    fail("'" + Name + "' is no function of single rows that can be compiled");
}

//===--- elementwise ------------------------------------------------------===//

RowView Translator::power() {
  RowView X = in(0);
  Result<const eval::Tensor *> E = P.evaluate(Op->getOperand(1));
  bool Fixed = E && (*E)->count() == 1 && !R.isData(Op->getOperand(1));
  double Y = Fixed ? eval::floatAt(**E, 0) : 0;
  if (Fixed && Y == 1)
    return X;
  if (Fixed && Y == 2)
    return binary(kernels::RowMul, X, X);
  if (Fixed && Y == 3)
    return binary(kernels::RowMul, binary(kernels::RowMul, X, X), X);
  if (Fixed && Y == 0.5)
    return unary(kernels::RowSqrt, X);
  if (Fixed && Y == -0.5)
    return unary(kernels::RowReciprocal, unary(kernels::RowSqrt, X));
  if (Fixed && Y == -1)
    return unary(kernels::RowReciprocal, X);
  return binary(kernels::RowPow, X, in(1));
}

RowView Translator::castTo() {
  RowView X = in(0);
  Type To = getElementTypeOrSelf(Op->getResult(0).getType());
  Type From = getElementTypeOrSelf(Op->getOperand(0).getType());
  if (To.isInteger(1) && !From.isInteger(1)) {
    X = unary(kernels::RowNot, binary(kernels::RowEqual, X, C.constant(0.0f)));
    X.Whole = true;
  } else if (isa<IntegerType>(To)) {
    if (!X.Whole)
      X = unary(kernels::RowTruncate, X);
    X.Whole = true;
  } else {
    X.Whole = false;
  }
  return X;
}

bool Translator::elementwise(StringRef Name) {
  static const std::pair<StringRef, RowOp> Unaries[] = {
      {"neg", kernels::RowNeg},          {"abs", kernels::RowAbs},
      {"sqrt", kernels::RowSqrt},        {"reciprocal", kernels::RowReciprocal},
      {"exp", kernels::RowExp},          {"log", kernels::RowLog},
      {"sin", kernels::RowSin},          {"cos", kernels::RowCos},
      {"tanh", kernels::RowTanh},        {"erf", kernels::RowErf},
      {"floor", kernels::RowFloor},      {"ceil", kernels::RowCeil},
      {"round", kernels::RowRound},      {"sign", kernels::RowSign},
      {"not", kernels::RowNot},          {"sigmoid", kernels::RowSigmoid},
      {"is_nan", kernels::RowIsNan},     {"is_inf", kernels::RowIsInf},
      {"softplus", kernels::RowSoftplus}};
  // Swapped: a > b is b < a.
  struct Two {
    StringRef Name;
    RowOp O;
    bool Swapped = false;
  };
  static const Two Binaries[] = {
      {"add", kernels::RowAdd},
      {"sub", kernels::RowSub},
      {"mul", kernels::RowMul},
      {"equal", kernels::RowEqual},
      {"less", kernels::RowLess},
      {"less_or_equal", kernels::RowLessEqual},
      {"greater", kernels::RowLess, true},
      {"greater_or_equal", kernels::RowLessEqual, true},
      {"and", kernels::RowAnd},
      {"or", kernels::RowOr},
      {"xor", kernels::RowXor}};
  bool Whole = !isa<FloatType>(getElementTypeOrSelf(Op->getResult(0)));
  RowView Out;
  for (auto [N, O] : Unaries)
    if (N == Name)
      Out = unary(O, in(0));
  for (const Two &T : Binaries)
    if (T.Name == Name)
      Out = binary(T.O, in(T.Swapped), in(!T.Swapped));
  if (Name == "div") {
    Out = binary(kernels::RowDiv, in(0), in(1));
    if (Whole)
      Out = unary(kernels::RowTruncate, Out);
  } else if (Name == "pow") {
    Out = power();
  } else if (Name == "mod") {
    Out = binary(attr("fmod", 0) ? kernels::RowFMod : kernels::RowMod, in(0),
                 in(1));
  } else if (Name == "where") {
    Out = C.map(kernels::RowSelect, in(1), in(2), in(0));
  } else if (Name == "clip") {
    Out = in(0);
    if (has(1))
      Out = binary(kernels::RowMax, Out, in(1));
    if (has(2))
      Out = binary(kernels::RowMin, Out, in(2));
  } else if (Name == "cast" || Name == "cast_like") {
    Out = castTo();
  } else if (Name == "identity" || Name == "dropout") {
    Out = in(0);
  } else if (Name == "max" || Name == "min" || Name == "sum" ||
             Name == "mean") {
    RowOp O = Name == "max"   ? kernels::RowMax
              : Name == "min" ? kernels::RowMin
                              : kernels::RowAdd;
    Out = in(0);
    for (unsigned I = 1; I < Op->getNumOperands(); ++I)
      Out = binary(O, Out, in(I));
    if (Name == "mean")
      Out = scaled(Out, 1.0 / Op->getNumOperands());
  }
  if (!Out.present())
    return false;
  Out.Whole = Whole;
  set(Out);
  return true;
}

bool Translator::activation(StringRef Name) {
  auto Positive = [&](const RowView &X) {
    return binary(kernels::RowMax, X, C.constant(0.0f));
  };
  auto Negative = [&](const RowView &X) {
    return binary(kernels::RowMin, X, C.constant(0.0f));
  };
  double Alpha = real("alpha", 1);
  RowView X, Out;
  if (Name == "relu") {
    Out = Positive(in(0));
  } else if (Name == "gelu") {
    X = in(0);
    auto How = Op->getAttrOfType<StringAttr>("approximate");
    RowView Inner;
    if (How && How.getValue() == "tanh") {
      RowView Cube = binary(kernels::RowMul, binary(kernels::RowMul, X, X), X);
      Inner = unary(kernels::RowTanh,
                    scaled(binary(kernels::RowAdd, X, scaled(Cube, 0.044715)),
                           0.7978845608028654));
    } else {
      Inner = unary(kernels::RowErf, scaled(X, 0.70710678118654752));
    }
    Out = binary(kernels::RowMul, scaled(X, 0.5), plus(Inner, 1));
  } else if (Name == "swish" || Name == "silu" || Name == "quick_gelu" ||
             Name == "ms_quick_gelu") {
    X = in(0);
    if (Name.ends_with("quick_gelu"))
      Alpha = real("alpha", 1.702);
    Out = binary(kernels::RowMul, X,
                 unary(kernels::RowSigmoid, scaled(X, Alpha)));
  } else if (Name == "leaky_relu" || Name == "p_relu") {
    X = in(0);
    RowView Slope =
        Name == "p_relu" ? in(1) : C.constant(float(real("alpha", 0.01)));
    Out = binary(kernels::RowAdd, Positive(X),
                 binary(kernels::RowMul, Negative(X), Slope));
  } else if (Name == "elu" || Name == "celu" || Name == "selu") {
    X = in(0);
    bool Selu = Name == "selu";
    double A = Selu ? real("alpha", 1.6732632423543772) : Alpha;
    double Inside = Name == "celu" ? 1 / A : 1;
    RowView E = plus(unary(kernels::RowExp, scaled(Negative(X), Inside)), -1);
    Out = binary(kernels::RowAdd, Positive(X), scaled(E, A));
    if (Selu)
      Out = scaled(Out, real("gamma", 1.0507009873554805));
  } else if (Name == "mish") {
    X = in(0);
    Out = binary(kernels::RowMul, X,
                 unary(kernels::RowTanh, unary(kernels::RowSoftplus, X)));
  } else if (Name == "softsign") {
    X = in(0);
    Out = binary(kernels::RowDiv, X, plus(unary(kernels::RowAbs, X), 1));
  } else if (Name == "hard_sigmoid" || Name == "hard_swish") {
    X = in(0);
    bool Swish = Name == "hard_swish";
    RowView L = plus(scaled(X, Swish ? 1.0 / 6 : real("alpha", 0.2)),
                     Swish ? 0.5 : real("beta", 0.5));
    Out = binary(kernels::RowMin, Positive(L), C.constant(1.0f));
    if (Swish)
      Out = binary(kernels::RowMul, X, Out);
  } else if (Name == "thresholded_relu") {
    X = in(0);
    Out = C.map(kernels::RowSelect, X, C.constant(0.0f),
                binary(kernels::RowLess, C.constant(float(Alpha)), X));
  } else {
    return false;
  }
  set(Out);
  return true;
}

//===--- moves ------------------------------------------------------------===//

RowView Translator::sliced() {
  RowView X = in(0);
  Dims Starts = ints(1), Axes = ints(3), Steps = ints(4), To = shape();
  if (failed())
    return X;
  for (size_t I = 0; I < Starts.size(); ++I) {
    int64_t A = Axes.empty() ? int64_t(I) : Axes[I];
    A = A < 0 ? A + int64_t(X.Shape.size()) : A;
    int64_t Step = Steps.empty() ? 1 : Steps[I], N = X.Shape[size_t(A)];
    int64_t Begin = Starts[I] < 0 ? Starts[I] + N : Starts[I];
    Begin = std::clamp<int64_t>(Begin, 0, Step < 0 ? N - 1 : N);
    X.Offset += Begin * X.Strides[size_t(A)];
    X.Strides[size_t(A)] *= Step;
  }
  X.Shape = To;
  return X;
}

RowView Translator::tiled() {
  RowView X = in(0);
  Dims Repeats = ints(1), Split;
  RowView Wide = X;
  Wide.Shape.clear();
  Wide.Strides.clear();
  for (size_t I = 0; I < X.Shape.size() && I < Repeats.size(); ++I) {
    Wide.Shape.insert(Wide.Shape.end(), {Repeats[I], X.Shape[I]});
    Wide.Strides.insert(Wide.Strides.end(), {0, X.Strides[I]});
  }
  return C.reshape(Wide, shape());
}

RowView Translator::concatenated() {
  Dims To = shape();
  RowView Out = C.scratch(To);
  int64_t A = axis(0, int64_t(To.size())), At = 0;
  if (failed() || A < 0 || A >= int64_t(To.size()))
    return fail("a concat has no such axis");
  for (unsigned I = 0; I < Op->getNumOperands(); ++I) {
    RowView X = in(I), Part = Out;
    if (X.Shape.size() != To.size())
      return fail("a concat joins different ranks");
    Part.Shape = X.Shape;
    Part.Offset += At * Out.Strides[size_t(A)];
    At += X.Shape[size_t(A)];
    if (X.count() > 0)
      C.mapTo(Part, kernels::RowCopy, X);
  }
  return Out;
}

void Translator::split() {
  RowView X = in(0);
  int64_t A = axis(0, int64_t(X.Shape.size())), At = 0;
  for (Value Out : Op->getResults()) {
    RowView Part = X;
    Part.Shape = shapeOf(Out);
    if (failed())
      return;
    Part.Offset += At * X.Strides[size_t(A)];
    At += Part.Shape[size_t(A)];
    Views[Out] = Part;
  }
}

RowView Translator::padded() {
  auto Mode = Op->getAttrOfType<StringAttr>("mode");
  if (Mode && Mode.getValue() != "constant")
    return fail("a pad of mode " + Mode.getValue());
  RowView X = in(0);
  Dims Pads = ints(1), Axes = ints(3), To = shape();
  RowView Value = has(2) ? C.reshape(in(2), {}) : C.constant(0.0f);
  RowView Out = C.map(kernels::RowCopy, C.broadcast(Value, To)), Part = Out;
  Part.Shape = X.Shape;
  size_t N = Pads.size() / 2;
  for (size_t I = 0; I < N; ++I) {
    int64_t A = Axes.empty() ? int64_t(I) : Axes[I];
    A = A < 0 ? A + int64_t(To.size()) : A;
    if (Pads[I] < 0 || Pads[N + I] < 0)
      return fail("a pad that cuts");
    Part.Offset += Pads[I] * Out.Strides[size_t(A)];
  }
  C.mapTo(Part, kernels::RowCopy, X);
  return Out;
}

bool Translator::movement(StringRef Name) {
  bool Whole = !isa<FloatType>(getElementTypeOrSelf(Op->getResult(0)));
  RowView Out;
  if (Name == "reshape" || Name == "flatten") {
    Out = C.reshape(in(0), shape());
  } else if (Name == "squeeze" || Name == "unsqueeze") {
    // Only dims of 1 come and go: strides stay.
    RowView X = in(0);
    Out = X;
    Out.Shape = shape();
    Out.Strides.assign(Out.Shape.size(), 0);
    for (size_t I = 0, J = 0; I < Out.Shape.size(); ++I) {
      if (Out.Shape[I] == 1)
        continue;
      while (J < X.Shape.size() && X.Shape[J] == 1)
        ++J;
      if (J < X.Shape.size())
        Out.Strides[I] = X.Strides[J++];
    }
  } else if (Name == "transpose") {
    RowView X = in(0);
    Out = X;
    auto Perm = Op->getAttrOfType<DenseI64ArrayAttr>("perm");
    size_t N = X.Shape.size();
    for (size_t I = 0; I < N; ++I) {
      size_t From = Perm ? size_t(Perm[int64_t(I)]) : N - 1 - I;
      Out.Shape[I] = X.Shape[From];
      Out.Strides[I] = X.Strides[From];
    }
  } else if (Name == "expand") {
    Out = C.broadcast(in(0), shape());
  } else if (Name == "tile") {
    Out = tiled();
  } else if (Name == "slice") {
    Out = sliced();
  } else if (Name == "concat") {
    Out = concatenated();
  } else if (Name == "pad") {
    Out = padded();
  } else if (Name == "split") {
    split();
    return true;
  } else {
    return false;
  }
  Out.Whole = Whole;
  set(Out);
  return true;
}

//===--- by index ---------------------------------------------------------===//

RowView Translator::gather() {
  RowView X = in(0), I = in(1);
  int64_t A = axis(0, int64_t(X.Shape.size()));
  Dims To = shape();
  RowView Out = C.scratch(To), From = X, Index = I;
  From.Shape = Index.Shape = To;
  // The data's dims around the axis, the index's in its place.
  Dims Before(X.Strides.begin(), X.Strides.begin() + A);
  Dims After(X.Strides.begin() + A + 1, X.Strides.end());
  From.Strides = Before;
  From.Strides.insert(From.Strides.end(), I.Shape.size(), 0);
  From.Strides.insert(From.Strides.end(), After.begin(), After.end());
  Index.Strides.assign(Before.size(), 0);
  Index.Strides.insert(Index.Strides.end(), I.Strides.begin(), I.Strides.end());
  Index.Strides.insert(Index.Strides.end(), After.size(), 0);
  C.emit(kernels::RowTake, To, Out, From, Index, {}, false,
         X.Strides[size_t(A)], X.Shape[size_t(A)]);
  return Out;
}

RowView Translator::scatter() {
  RowView Out = C.map(kernels::RowCopy, in(0)), I = in(1), U = in(2);
  auto How = Op->getAttrOfType<StringAttr>("reduction");
  StringRef Mode = How ? How.getValue() : StringRef("none");
  if (Mode != "none" && Mode != "add")
    return fail("a scatter with reduction " + Mode);
  int64_t A = axis(0, int64_t(Out.Shape.size()));
  RowView To = Out;
  To.Shape = I.Shape;
  To.Strides[size_t(A)] = 0;
  U.Shape = I.Shape;
  C.emit(Mode == "add" ? kernels::RowPutAdd : kernels::RowPut, I.Shape, To, U,
         I, {}, false, Out.Strides[size_t(A)], Out.Shape[size_t(A)]);
  return Out;
}

RowView Translator::oneHot() {
  RowView I = in(0), Values = C.reshape(in(2), {2});
  Dims Depth = ints(1), To = shape();
  if (Depth.size() != 1 || Depth[0] < 1 || Depth[0] > 65536 || failed())
    return fail("a one_hot of unknown depth");
  int64_t A = axis(-1, int64_t(To.size()));
  std::vector<float> Count;
  for (int64_t N = 0; N < Depth[0]; ++N)
    Count.push_back(float(N));
  RowView Numbers = C.constant(Count, {Depth[0]});
  Numbers.Shape.assign(To.size() - size_t(A), 1);
  Numbers.Strides.assign(To.size() - size_t(A), 0);
  Numbers.Shape[0] = Depth[0];
  Numbers.Strides[0] = 1;
  I.Shape.insert(I.Shape.begin() + A, 1);
  I.Strides.insert(I.Strides.begin() + A, 0);
  RowView Off = Values, On = Values;
  Off.Shape = On.Shape = {};
  Off.Strides = On.Strides = {};
  On.Offset += Values.Strides[0];
  return C.map(kernels::RowSelect, On, Off,
               binary(kernels::RowEqual, I, Numbers));
}

void Translator::topK(bool Indices) {
  RowView X = in(0);
  int64_t A = axis(-1, int64_t(X.Shape.size()));
  int64_t K = 1;
  bool Largest = Op->getName().stripDialect() != "arg_min";
  if (!Indices) {
    Dims Given = ints(1);
    if (Given.size() != 1)
      return void(fail("a top_k of unknown size"));
    K = Given[0];
    Largest = attr("largest", 1) != 0;
  } else if (attr("select_last_index", 0)) {
    return void(fail("an arg_max that selects the last index"));
  }
  Dims To = X.Shape;
  if (A < 0 || A >= int64_t(To.size()) || K < 1 || K > To[size_t(A)])
    return void(fail("a top_k of " + Twine(K)));
  To[size_t(A)] = K;
  RowView Values = C.scratch(To), Index = C.scratch(To);
  RowView From = RowCoder::axisLast(X, A);
  RowView D = RowCoder::axisLast(Values, A), I = RowCoder::axisLast(Index, A);
  C.emit(kernels::RowTopK, From.Shape, D, From, {}, I, true, K, Largest);
  Index.Whole = true;
  if (Indices) {
    set(C.reshape(Index, shape()));
    Views[Op->getResult(0)].Whole = true;
    return;
  }
  Views[Op->getResult(0)] = Values;
  Views[Op->getResult(1)] = Index;
}

bool Translator::indexed(StringRef Name) {
  if (Name == "gather") {
    set(gather());
  } else if (Name == "gather_elements") {
    RowView X = in(0), I = in(1), From = X;
    int64_t A = axis(0, int64_t(X.Shape.size()));
    From.Shape = I.Shape;
    From.Strides[size_t(A)] = 0;
    RowView Out = C.scratch(I.Shape);
    C.emit(kernels::RowTake, I.Shape, Out, From, I, {}, false,
           X.Strides[size_t(A)], X.Shape[size_t(A)]);
    set(Out);
  } else if (Name == "scatter_elements") {
    set(scatter());
  } else if (Name == "one_hot") {
    set(oneHot());
  } else if (Name == "top_k") {
    topK(false);
  } else if (Name == "arg_max" || Name == "arg_min") {
    topK(true);
  } else if (Name == "cum_sum") {
    RowView X = in(0);
    Dims Axis = ints(1);
    if (Axis.size() != 1)
      return fail("a cum_sum of unknown axis"), true;
    int64_t A = Axis[0] < 0 ? Axis[0] + int64_t(X.Shape.size()) : Axis[0];
    RowView Out = C.scratch(X.Shape), From = RowCoder::axisLast(X, A);
    C.emit(kernels::RowCumSum, From.Shape, RowCoder::axisLast(Out, A), From, {},
           {}, true, attr("exclusive", 0), attr("reverse", 0));
    set(Out);
  } else {
    return false;
  }
  if (!failed())
    Views[Op->getResult(0)].Whole |=
        !isa<FloatType>(getElementTypeOrSelf(Op->getResult(0)));
  return true;
}

//===--- reductions and what is made of them --------------------------------//

RowView Translator::reduced(StringRef Kind) {
  RowView X = in(0);
  Dims Axes = ints(1);
  if (Axes.empty()) {
    if (attr("noop_with_empty_axes", 0))
      return X;
    for (size_t I = 0; I < X.Shape.size(); ++I)
      Axes.push_back(int64_t(I));
  }
  int64_t Count = 1;
  RowView Top;
  RowOp O = Kind == "max"    ? kernels::RowMaxOf
            : Kind == "min"  ? kernels::RowMinOf
            : Kind == "prod" ? kernels::RowProd
                             : kernels::RowSum;
  auto Over = [&](RowOp Which, RowView V) {
    for (int64_t A : Axes) {
      A = A < 0 ? A + int64_t(V.Shape.size()) : A;
      if (V.Shape[size_t(A)] != 1)
        V = C.reduce(Which, V, A);
    }
    return V;
  };
  for (int64_t A : Axes)
    Count *= X.Shape[size_t(A < 0 ? A + int64_t(X.Shape.size()) : A)];
  if (Kind == "l2" || Kind == "sum_square")
    X = binary(kernels::RowMul, X, X);
  if (Kind == "l1")
    X = unary(kernels::RowAbs, X);
  if (Kind == "log_sum_exp") {
    Top = Over(kernels::RowMaxOf, X);
    X = unary(kernels::RowExp, binary(kernels::RowSub, X, Top));
  }
  RowView Out = Over(O, X);
  if (Kind == "mean")
    Out = C.map(kernels::RowDiv, Out, C.constant(float(Count)));
  if (Kind == "l2")
    Out = unary(kernels::RowSqrt, Out);
  if (Kind == "log_sum" || Kind == "log_sum_exp")
    Out = unary(kernels::RowLog, Out);
  if (Top.present())
    Out = binary(kernels::RowAdd, Out, Top);
  return C.reshape(Out, shape());
}

RowView Translator::softmax(bool Log) {
  RowView X = in(0);
  int64_t A = axis(-1, int64_t(X.Shape.size()));
  RowView Less = binary(kernels::RowSub, X, C.reduce(kernels::RowMaxOf, X, A));
  RowView E = unary(kernels::RowExp, Less);
  RowView Sum = C.reduce(kernels::RowSum, E, A);
  return Log ? binary(kernels::RowSub, Less, unary(kernels::RowLog, Sum))
             : binary(kernels::RowDiv, E, Sum);
}

/// layer_normalization and rms_normalization over the axes from `axis` on.
RowView Translator::normed(bool Layer) {
  RowView X = in(0);
  Dims To = X.Shape;
  int64_t A = axis(-1, int64_t(To.size())), N = 1;
  if (A < 0 || A >= int64_t(To.size()))
    return fail("a norm has no such axis");
  for (size_t I = size_t(A); I < To.size(); ++I)
    N *= To[I];
  Dims Flat(To.begin(), To.begin() + A);
  Flat.push_back(N);
  X = C.reshape(X, Flat);
  auto Mean = [&](const RowView &V) {
    return C.map(kernels::RowDiv, C.reduce(kernels::RowSum, V, A),
                 C.constant(float(N)));
  };
  if (Layer)
    X = binary(kernels::RowSub, X, Mean(X));
  RowView Square = Mean(binary(kernels::RowMul, X, X));
  RowView Root = unary(kernels::RowSqrt, plus(Square, real("epsilon", 1e-5)));
  X = C.reshape(binary(kernels::RowDiv, X, Root), To);
  if (has(1))
    X = binary(kernels::RowMul, X, in(1));
  if (Layer && has(2))
    X = binary(kernels::RowAdd, X, in(2));
  return X;
}

RowView Translator::product(RowView A, RowView B) {
  if (A.Shape.empty() || B.Shape.empty())
    return fail("a product of scalars");
  bool Row = A.Shape.size() == 1, Column = B.Shape.size() == 1;
  if (Row)
    A = C.broadcast(A, {1, A.Shape[0]});
  if (Column) {
    B.Shape.push_back(1);
    B.Strides.push_back(0);
  }
  size_t Rank = std::max(A.Shape.size(), B.Shape.size());
  auto Pad = [&](RowView &V) {
    while (V.Shape.size() < Rank) {
      V.Shape.insert(V.Shape.begin(), 1);
      V.Strides.insert(V.Strides.begin(), 0);
    }
  };
  Pad(A);
  Pad(B);
  int64_t M = A.Shape[Rank - 2], K = A.Shape[Rank - 1], N = B.Shape[Rank - 1];
  if (B.Shape[Rank - 2] != K || M * K > (1 << 24) || K * N > (1 << 18))
    return fail("a product of " + Twine(M) + " by " + Twine(K) + " and " +
                Twine(B.Shape[Rank - 2]) + " by " + Twine(N));
  Dims Loops, To;
  for (size_t I = 0; I + 2 < Rank; ++I)
    Loops.push_back(std::max(A.Shape[I], B.Shape[I]));
  To = Loops;
  To.insert(To.end(), {M, N});
  Loops.insert(Loops.end(), {M, N, K});
  RowView Out = C.scratch(To), D = Out, X = A, Y = B;
  D.Strides.push_back(0);
  // Loops over m, n and k: an operand stands still where it has no such dim.
  X.Strides = Dims(A.Strides.begin(), A.Strides.end() - 1);
  X.Strides.insert(X.Strides.end(), {0, A.Strides[Rank - 1]});
  Y.Strides = Dims(B.Strides.begin(), B.Strides.end() - 2);
  Y.Strides.insert(Y.Strides.end(),
                   {0, B.Strides[Rank - 1], B.Strides[Rank - 2]});
  for (size_t I = 0; I + 2 < Rank; ++I) {
    if (A.Shape[I] == 1)
      X.Strides[I] = 0;
    if (B.Shape[I] == 1)
      Y.Strides[I] = 0;
  }
  C.emit(kernels::RowDot, Loops, D, X, Y, {}, true);
  return C.reshape(Out, shape());
}

RowView Translator::gemm() {
  RowView A = in(0), B = in(1);
  auto Swap = [](RowView &V) {
    std::swap(V.Shape[0], V.Shape[1]);
    std::swap(V.Strides[0], V.Strides[1]);
  };
  if (attr("transA", 0))
    Swap(A);
  if (attr("transB", 0))
    Swap(B);
  RowView Out = product(A, B);
  if (real("alpha", 1) != 1)
    Out = scaled(Out, real("alpha", 1));
  if (!has(2))
    return Out;
  RowView Bias = in(2);
  if (real("beta", 1) != 1)
    Bias = scaled(Bias, real("beta", 1));
  return binary(kernels::RowAdd, Out, Bias);
}

bool Translator::reduction(StringRef Name) {
  if (!Name.consume_front("reduce_"))
    return false;
  set(reduced(Name));
  return true;
}

bool Translator::composite(StringRef Name) {
  if (Name == "softmax" || Name == "log_softmax")
    set(softmax(Name == "log_softmax"));
  else if (Name == "layer_normalization" || Name == "rms_normalization")
    set(normed(Name == "layer_normalization"));
  else if (Name == "mat_mul")
    set(product(in(0), in(1)));
  else if (Name == "gemm")
    set(gemm());
  else
    return false;
  return true;
}
} // namespace

std::string buildRowProgram(Value V, Probe &One, const Roles &R,
                            llvm::function_ref<bool(Value)> IsLeaf,
                            RowProgram &Out) {
  return Translator(One, R, IsLeaf).run(V, Out);
}

std::vector<float> runRowProgram(const RowProgram &P,
                                 ArrayRef<std::vector<float>> Inputs,
                                 int64_t Rows) {
  std::vector<float> Out(size_t(Rows * P.Width)), Table = P.Table,
                                                  Scratch(size_t(P.Scratch));
  std::vector<std::vector<float>> In(Inputs.begin(), Inputs.end());
  for (int64_t T = 0; T < Rows; ++T) {
    kernels::row::Spaces M = {};
    M.Base[kernels::RowScratch] = Scratch.data();
    M.Base[kernels::RowConstant] = Table.data() + P.Count * kernels::RowRecord;
    M.Base[kernels::RowResult] = Out.data() + T * P.Width;
    for (size_t I = 0; I < In.size(); ++I)
      M.Base[size_t(kernels::RowInput) + I] = In[I].data() + T * P.Widths[I];
    for (int64_t I = 0; I < P.Count; ++I)
      kernels::row::execute(
          kernels::decodeRowStep(Table.data() + I * kernels::RowRecord), M);
  }
  return Out;
}
} // namespace llmc::raise
