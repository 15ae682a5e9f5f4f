// Elementwise ops and moves as records of a row program; see RowProgram.h.
// Moves of elements cost nothing where strides can say them. Ops are told apart
// by name, so that one table serves all of them.
#include "passes/raise/RowTranslator.h"

#include "compiler/kernels/RowMachine.h"

#include <cmath>

using namespace mlir;

namespace llmc::raise {

using eval::Dims;
using kernels::RowOp;

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
  std::vector<float> Data = eval::load<float>(**T), Below;
  // Tables hold finite numbers; what hides a choice is 1 / 0.
  for (float &X : Data) {
    Below.push_back(std::isinf(X) ? 0.0f : 1.0f);
    if (std::isinf(X))
      X = std::copysign(1.0f, X);
  }
  RowView Out = C.constant(Data, (*T)->Shape);
  if (llvm::is_contained(Below, 0.0f))
    return C.map(kernels::RowDiv, Out, C.constant(Below, (*T)->Shape));
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
