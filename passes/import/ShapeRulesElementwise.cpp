// Shape rules of elementwise ops, casts, Where, products and norms.
#include "dialects/onnx/Onnx.h"
#include "passes/import/ShapeRules.h"

using namespace mlir;

namespace llmc {

/// Result dims of all operands broadcast together.
void broadcastRule(RuleCall &C) {
  size_t Rank = 0;
  for (const ValueInfo *V : C.In) {
    if (!V->Ranked)
      return;
    Rank = std::max(Rank, V->rank());
  }
  DimList Shape(Rank, DimExpr(1));
  for (const ValueInfo *V : C.In)
    for (size_t I = 0; I < V->rank(); ++I) {
      Dim &D = Shape[Rank - V->rank() + I];
      D = operandDim(D, V->Shape[I]);
    }
  C.out().setShape(std::move(Shape));
}

void sameRule(RuleCall &C) {
  if (C.in(0).Ranked)
    C.out().setShape(C.in(0).Shape);
}

/// Same shape and the same elements (Identity, rounding of integral values).
static void identity(RuleCall &C) {
  sameRule(C);
  if (C.in(0).HasData && C.carries(C.out()))
    C.out().setData(C.in(0).Data);
}

static void dropout(RuleCall &C) {
  identity(C);
  if (C.Out.size() > 1 && C.in(0).Ranked)
    C.Out[1].setShape(C.in(0).Shape);
  if (C.Out.size() > 1)
    C.Out[1].Element = C.intType(1);
}

static void predicate(RuleCall &C) {
  C.out().Element = C.intType(1);
  sameRule(C);
}

static void castTo(RuleCall &C, Type T) {
  C.out().Element = T;
  bool ToBool = T && T.isInteger(1);
  identity(C);
  if (!ToBool || !C.out().HasData)
    return;
  for (Dim &D : C.out().Data)
    D = provablyDifferent(D, DimExpr(0)) ? Dim(DimExpr(1))
        : isNumber(D, 0)                 ? D
                                         : Dim();
}

static void cast(RuleCall &C) { castTo(C, cast<onnx::CastOp>(C.Op).getTo()); }
static void castLike(RuleCall &C) { castTo(C, C.in(1).Element); }

//===----------------------------------------------------------------------===//
// Arithmetic on carried elements
//===----------------------------------------------------------------------===//

template <Dim (*Fn)(const Dim &, const Dim &)>
static void arithmetic(RuleCall &C) {
  broadcastRule(C);
  C.mapData([](ArrayRef<Dim> E) {
    Dim Sum = E[0];
    for (const Dim &D : E.drop_front())
      Sum = Fn(Sum, D);
    return Sum;
  });
}

static bool isPositive(const Dim &D) {
  return D && D->lowerBound().value_or(0) >= 1;
}
static bool isNotNegative(const Dim &D) {
  return D && D->lowerBound().value_or(-1) >= 0;
}

/// Integer division truncates: the same as flooring where signs are known.
static Dim divideInts(const Dim &A, const Dim &B) {
  if (isNotNegative(A) && isPositive(B))
    return floorDiv(A, B);
  std::optional<int64_t> X = A ? A->constant() : std::nullopt;
  std::optional<int64_t> Y = B ? B->constant() : std::nullopt;
  if (X && Y && *Y != 0 && *Y != -1)
    return DimExpr(*X / *Y);
  return std::nullopt;
}

static void divide(RuleCall &C) {
  broadcastRule(C);
  bool Integer = C.out().Element && C.out().Element.isInteger();
  C.mapData([&](ArrayRef<Dim> E) {
    return Integer ? divideInts(E[0], E[1]) : divideExactly(E[0], E[1]);
  });
}

static void mod(RuleCall &C) {
  broadcastRule(C);
  C.mapData([](ArrayRef<Dim> E) {
    bool Known = isNotNegative(E[0]) && isPositive(E[1]);
    return Known ? floorMod(E[0], E[1]) : Dim();
  });
}

static void negate(RuleCall &C) {
  sameRule(C);
  C.mapData([](ArrayRef<Dim> E) { return sub(DimExpr(0), E[0]); });
}

static void absolute(RuleCall &C) {
  sameRule(C);
  C.mapData([](ArrayRef<Dim> E) {
    if (isNotNegative(E[0]))
      return E[0];
    Dim Negative = sub(DimExpr(0), E[0]);
    return isNotNegative(Negative) ? Negative : Dim();
  });
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static Dim truth(bool Yes, bool No) {
  return Yes ? Dim(DimExpr(1)) : No ? Dim(DimExpr(0)) : Dim();
}
static Dim equal(const Dim &A, const Dim &B) {
  return truth(provablyEqual(A, B), provablyDifferent(A, B));
}
static Dim lessOrEqual(const Dim &A, const Dim &B) {
  return truth(provablyAtLeast(B, A), provablyAtLeast(A, add(B, DimExpr(1))));
}
static Dim less(const Dim &A, const Dim &B) {
  return truth(provablyAtLeast(B, add(A, DimExpr(1))), provablyAtLeast(A, B));
}
static Dim greater(const Dim &A, const Dim &B) { return less(B, A); }
static Dim greaterOrEqual(const Dim &A, const Dim &B) {
  return lessOrEqual(B, A);
}
static Dim both(const Dim &A, const Dim &B) {
  return truth(isNumber(A, 1) && isNumber(B, 1),
               isNumber(A, 0) || isNumber(B, 0));
}
static Dim either(const Dim &A, const Dim &B) {
  return truth(isNumber(A, 1) || isNumber(B, 1),
               isNumber(A, 0) && isNumber(B, 0));
}

template <Dim (*Fn)(const Dim &, const Dim &)>
static void condition(RuleCall &C) {
  C.out().Element = C.intType(1);
  broadcastRule(C);
  // Float elements that are carried are integral, but a comparison of others
  // is not seen here: mapData needs data of both.
  C.mapData([](ArrayRef<Dim> E) { return Fn(E[0], E[1]); });
}

static void logicalNot(RuleCall &C) {
  predicate(C);
  C.mapData([](ArrayRef<Dim> E) {
    return truth(isNumber(E[0], 0), isNumber(E[0], 1));
  });
}

static void where(RuleCall &C) {
  C.out().Element = C.in(1).Element;
  broadcastRule(C);
  C.mapData([](ArrayRef<Dim> E) {
    if (isNumber(E[0], 1) || provablyEqual(E[1], E[2]))
      return E[1];
    return isNumber(E[0], 0) ? E[2] : Dim();
  });
}

//===----------------------------------------------------------------------===//
// Products and norms
//===----------------------------------------------------------------------===//

void matMulRule(RuleCall &C) {
  if (!C.in(0).Ranked || !C.in(1).Ranked)
    return;
  DimList A = C.in(0).Shape, B = C.in(1).Shape;
  if (A.empty() || B.empty())
    return;
  bool VectorA = A.size() == 1, VectorB = B.size() == 1;
  if (VectorA)
    A.insert(A.begin(), DimExpr(1));
  if (VectorB)
    B.push_back(DimExpr(1));
  Dim Rows = A[A.size() - 2], Columns = B.back();
  A.pop_back_n(2);
  B.pop_back_n(2);
  size_t Rank = std::max(A.size(), B.size());
  DimList Out(Rank, DimExpr(1));
  for (const DimList *Batch : {&A, &B})
    for (size_t I = 0; I < Batch->size(); ++I) {
      Dim &D = Out[Rank - Batch->size() + I];
      D = operandDim(D, (*Batch)[I]);
    }
  if (!VectorA)
    Out.push_back(Rows);
  if (!VectorB)
    Out.push_back(Columns);
  C.out().setShape(std::move(Out));
}

static void gemm(RuleCall &C) {
  if (C.in(0).rank() != 2 || C.in(1).rank() != 2)
    return;
  C.out().setShape({C.in(0).Shape[C.attr("transA", 0) ? 1 : 0],
                    C.in(1).Shape[C.attr("transB", 0) ? 0 : 1]});
}

void addElementwiseRules(RuleTable &T) {
  for (const char *Name : {"sqrt",
                           "reciprocal",
                           "exp",
                           "log",
                           "erf",
                           "sin",
                           "cos",
                           "tanh",
                           "sigmoid",
                           "relu",
                           "softplus",
                           "sign",
                           "gelu",
                           "clip",
                           "softmax",
                           "log_softmax",
                           "cum_sum",
                           "trilu",
                           "scatter_elements",
                           "scatter_nd"})
    T[("onnx." + StringRef(Name)).str()] = sameRule;
  for (const char *Name : {"identity", "floor", "ceil", "round"})
    T[("onnx." + StringRef(Name)).str()] = identity;
  for (const char *Name : {"pow", "mean"})
    T[("onnx." + StringRef(Name)).str()] = broadcastRule;
  for (const char *Name : {"is_nan", "is_inf"})
    T[("onnx." + StringRef(Name)).str()] = predicate;
  T["onnx.dropout"] = dropout;
  T["onnx.cast"] = cast;
  T["onnx.cast_like"] = castLike;
  T["onnx.add"] = T["onnx.sum"] = arithmetic<add>;
  T["onnx.sub"] = arithmetic<sub>;
  T["onnx.mul"] = arithmetic<mul>;
  T["onnx.max"] = arithmetic<maximum>;
  T["onnx.min"] = arithmetic<minimum>;
  T["onnx.div"] = divide;
  T["onnx.mod"] = mod;
  T["onnx.neg"] = negate;
  T["onnx.abs"] = absolute;
  T["onnx.equal"] = condition<equal>;
  T["onnx.less"] = condition<less>;
  T["onnx.less_or_equal"] = condition<lessOrEqual>;
  T["onnx.greater"] = condition<greater>;
  T["onnx.greater_or_equal"] = condition<greaterOrEqual>;
  T["onnx.and"] = condition<both>;
  T["onnx.or"] = condition<either>;
  T["onnx.xor"] = [](RuleCall &C) {
    C.out().Element = C.intType(1);
    broadcastRule(C);
  };
  T["onnx.not"] = logicalNot;
  T["onnx.where"] = where;
  T["onnx.mat_mul"] = matMulRule;
  T["onnx.gemm"] = gemm;
}

} // namespace llmc
