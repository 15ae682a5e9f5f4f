// Ops with an axis as records of a row program: choices by index, reductions,
// and what is made of them; see RowProgram.h.
#include "passes/raise/RowTranslator.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace llmc::raise {

using eval::Dims;
using kernels::RowOp;

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

/// A quotient by the sum of magnitudes or the root of squares; 0 where that is.
RowView Translator::unit() {
  RowView X = in(0);
  int64_t A = axis(-1, int64_t(X.Shape.size()));
  if (A < 0 || A >= int64_t(X.Shape.size()))
    return fail("a norm has no such axis");
  bool Root = attr("p", 2) == 2;
  RowView Parts =
      Root ? binary(kernels::RowMul, X, X) : unary(kernels::RowAbs, X);
  RowView Norm = C.reduce(kernels::RowSum, Parts, A);
  if (Root)
    Norm = unary(kernels::RowSqrt, Norm);
  RowView Least = C.constant(std::numeric_limits<float>::min());
  return binary(kernels::RowDiv, X, binary(kernels::RowMax, Norm, Least));
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
  else if (Name == "lp_normalization")
    set(unit());
  else if (Name == "mat_mul")
    set(product(in(0), in(1)));
  else if (Name == "gemm")
    set(gemm());
  else
    return false;
  return true;
}
} // namespace llmc::raise
