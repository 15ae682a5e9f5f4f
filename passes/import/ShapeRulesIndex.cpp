// Shape rules of indexing, reductions and makers of tensors.
#include "dialects/onnx/Onnx.h"
#include "passes/import/ShapeRules.h"

using namespace mlir;

namespace llmc {

static void gather(RuleCall &C) {
  if (!C.in(0).Ranked || !C.in(1).Ranked)
    return;
  std::optional<size_t> Axis = axisOf(C.attr("axis", 0), C.in(0).rank());
  if (!Axis)
    return;
  const DimList &In = C.in(0).Shape;
  DimList Out(In.begin(), In.begin() + *Axis);
  Out.append(C.in(1).Shape);
  Out.append(In.begin() + *Axis + 1, In.end());
  C.out().setShape(std::move(Out));
  std::optional<SmallVector<int64_t>> Indices = C.constants(1);
  if (!C.in(0).HasData || C.in(0).rank() != 1 || !Indices)
    return;
  DimList Data;
  for (int64_t I : *Indices) {
    std::optional<size_t> At = axisOf(I, C.in(0).Data.size());
    Data.push_back(At ? C.in(0).Data[*At] : Dim());
  }
  C.out().setData(std::move(Data));
}

static void gatherElements(RuleCall &C) {
  if (C.in(1).Ranked)
    C.out().setShape(C.in(1).Shape);
}

static void gatherNd(RuleCall &C) {
  if (!C.in(0).Ranked || C.in(1).rank() == 0)
    return;
  const DimList &In = C.in(0).Shape, &Indices = C.in(1).Shape;
  std::optional<int64_t> Tuple =
      Indices.back() ? Indices.back()->constant() : std::nullopt;
  int64_t First = C.attr("batch_dims", 0) + Tuple.value_or(0);
  if (!Tuple || First < 0 || First > static_cast<int64_t>(In.size()))
    return;
  DimList Out(Indices.begin(), Indices.end() - 1);
  Out.append(In.begin() + First, In.end());
  C.out().setShape(std::move(Out));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Result dims without (or with 1 for) the dims that are reduced.
static void dropAxes(RuleCall &C, const std::vector<bool> &Drop) {
  bool Keep = C.attr("keepdims", 1);
  DimList Out;
  for (auto [I, D] : llvm::enumerate(C.in(0).Shape))
    if (!Drop[I])
      Out.push_back(D);
    else if (Keep)
      Out.push_back(DimExpr(1));
  C.out().setShape(std::move(Out));
}

void reduceRule(RuleCall &C) {
  if (!C.in(0).Ranked)
    return;
  std::optional<SmallVector<int64_t>> Axes = C.constants(1);
  if (C.absent(1))
    Axes.emplace();
  if (!Axes) {
    if (C.attr("keepdims", 1))
      C.out().setShape(DimList(C.in(0).rank(), Dim()));
    return;
  }
  bool All = Axes->empty() && !C.attr("noop_with_empty_axes", 0);
  std::vector<bool> Drop(C.in(0).rank(), All);
  for (int64_t Axis : *Axes) {
    std::optional<size_t> A = axisOf(Axis, Drop.size());
    if (!A)
      return;
    Drop[*A] = true;
  }
  dropAxes(C, Drop);
}

/// Reduction with carried elements: of a whole vector only.
template <Dim (*Fn)(const Dim &, const Dim &)>
static void reduceData(RuleCall &C) {
  reduceRule(C);
  bool Single =
      C.out().Ranked && (C.out().rank() == 0 || isNumber(C.out().Shape[0], 1));
  if (!Single || !C.in(0).HasData || C.in(0).rank() != 1 ||
      C.in(0).Data.empty() || !C.carries(C.out()))
    return;
  Dim Sum = C.in(0).Data.front();
  for (const Dim &D : ArrayRef<Dim>(C.in(0).Data).drop_front())
    Sum = Fn(Sum, D);
  C.out().setData({Sum});
}

static void argReduce(RuleCall &C) {
  C.out().Element = C.intType(64);
  if (!C.in(0).Ranked)
    return;
  std::optional<size_t> Axis = axisOf(C.attr("axis", 0), C.in(0).rank());
  if (!Axis)
    return;
  std::vector<bool> Drop(C.in(0).rank(), false);
  Drop[*Axis] = true;
  dropAxes(C, Drop);
}

static void topK(RuleCall &C) {
  C.Out[1].Element = C.intType(64);
  if (!C.in(0).Ranked)
    return;
  DimList Out = C.in(0).Shape;
  std::optional<size_t> Axis = axisOf(C.attr("axis", -1), Out.size());
  if (!Axis)
    return;
  bool Known = C.in(1).HasData && C.in(1).Data.size() == 1;
  Out[*Axis] = Known ? C.in(1).Data[0] : Dim();
  C.Out[0].setShape(Out);
  C.Out[1].setShape(std::move(Out));
}

//===----------------------------------------------------------------------===//
// Makers
//===----------------------------------------------------------------------===//

static void range(RuleCall &C) {
  Dim Length;
  bool Known = C.in(0).HasData && C.in(1).HasData && C.in(2).HasData &&
               C.in(0).Data.size() == 1 && C.in(1).Data.size() == 1 &&
               C.in(2).Data.size() == 1;
  std::optional<int64_t> Step;
  if (Known && C.in(2).Data[0])
    Step = C.in(2).Data[0]->constant();
  if (Step && *Step > 0) {
    Dim Span = sub(C.in(1).Data[0], C.in(0).Data[0]);
    Length = maximum(floorDiv(add(Span, DimExpr(*Step - 1)), DimExpr(*Step)),
                     DimExpr(0));
  }
  C.out().setShape({Length});
  std::optional<int64_t> Count = Length ? Length->constant() : std::nullopt;
  if (!Count || *Count > ShapeAnalysis::MaxData || !C.carries(C.out()))
    return;
  DimList Data;
  for (int64_t I = 0; I < *Count; ++I)
    Data.push_back(add(C.in(0).Data[0], DimExpr(I * *Step)));
  C.out().setData(std::move(Data));
}

static void constantOfShape(RuleCall &C) {
  ElementsAttr Value = C.Op->getAttrOfType<ElementsAttr>("value");
  C.out().Element = Value ? Value.getElementType()
                          : Type(Float32Type::get(C.Op->getContext()));
  if (!C.in(0).HasData) {
    std::optional<int64_t> N;
    if (C.in(0).rank() == 1 && C.in(0).Shape[0])
      N = C.in(0).Shape[0]->constant();
    if (N && *N >= 0 && *N <= 64)
      C.out().setShape(DimList(static_cast<size_t>(*N), Dim()));
    return;
  }
  DimList Out;
  for (const Dim &D : C.in(0).Data)
    Out.push_back(D && D->lowerBound().value_or(-1) >= 0 ? D : Dim());
  std::optional<int64_t> Count;
  if (Dim P = productOf(Out))
    Count = P->constant();
  C.out().setShape(std::move(Out));
  DenseElementsAttr Dense = dyn_cast_or_null<DenseElementsAttr>(Value);
  if (!Count || *Count > ShapeAnalysis::MaxData || !Dense ||
      !Value.getElementType().isInteger() || Dense.getNumElements() != 1)
    return;
  APInt V = *Dense.value_begin<APInt>();
  int64_t Number = V.getBitWidth() == 1 ? static_cast<int64_t>(V.getZExtValue())
                                        : V.getSExtValue();
  C.out().setData(DimList(static_cast<size_t>(*Count), DimExpr(Number)));
}

static void eyeLike(RuleCall &C) {
  if (TypeAttr T = C.Op->getAttrOfType<TypeAttr>("dtype"))
    C.out().Element = T.getValue();
  if (C.in(0).Ranked)
    C.out().setShape(C.in(0).Shape);
}

static void nonZero(RuleCall &C) {
  C.out().Element = C.intType(64);
  if (C.in(0).Ranked)
    C.out().setShape({DimExpr(static_cast<int64_t>(C.in(0).rank())), Dim()});
}

static void oneHot(RuleCall &C) {
  C.out().Element = C.in(2).Element;
  if (!C.in(0).Ranked)
    return;
  DimList Out = C.in(0).Shape;
  std::optional<size_t> Axis = axisOf(C.attr("axis", -1), Out.size() + 1);
  if (!Axis)
    return;
  bool Known = C.in(1).HasData && C.in(1).Data.size() == 1;
  Out.insert(Out.begin() + *Axis, Known ? C.in(1).Data[0] : Dim());
  C.out().setShape(std::move(Out));
}

void addIndexRules(RuleTable &T) {
  T["onnx.gather"] = gather;
  T["onnx.gather_elements"] = gatherElements;
  T["onnx.gather_nd"] = gatherNd;
  for (const char *Name : {"reduce_mean", "reduce_sum_square", "reduce_l2"})
    T[("onnx." + StringRef(Name)).str()] = reduceRule;
  T["onnx.reduce_sum"] = reduceData<add>;
  T["onnx.reduce_prod"] = reduceData<mul>;
  T["onnx.reduce_max"] = reduceData<maximum>;
  T["onnx.reduce_min"] = reduceData<minimum>;
  T["onnx.arg_max"] = T["onnx.arg_min"] = argReduce;
  T["onnx.top_k"] = topK;
  T["onnx.range"] = range;
  T["onnx.constant_of_shape"] = constantOfShape;
  T["onnx.eye_like"] = eyeLike;
  T["onnx.non_zero"] = nonZero;
  T["onnx.one_hot"] = oneHot;
}

} // namespace llmc
