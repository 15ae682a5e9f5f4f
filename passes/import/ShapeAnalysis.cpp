// The walk over a function, and what the rules share.
#include "passes/import/ShapeAnalysis.h"
#include "dialects/onnx/Onnx.h"
#include "passes/import/ShapeRules.h"

using namespace mlir;

namespace llmc {

//===----------------------------------------------------------------------===//
// ValueInfo
//===----------------------------------------------------------------------===//

static std::optional<SmallVector<int64_t>> allConstant(ArrayRef<Dim> Dims) {
  SmallVector<int64_t> Out;
  for (const Dim &D : Dims) {
    std::optional<int64_t> C = D ? D->constant() : std::nullopt;
    if (!C)
      return std::nullopt;
    Out.push_back(*C);
  }
  return Out;
}

std::optional<SmallVector<int64_t>> ValueInfo::staticShape() const {
  return Ranked ? allConstant(Shape) : std::nullopt;
}

std::optional<SmallVector<int64_t>> ValueInfo::constants() const {
  return HasData ? allConstant(Data) : std::nullopt;
}

std::optional<DimList> dimsOfType(Type T) {
  RankedTensorType Ranked = dyn_cast<RankedTensorType>(T);
  if (!Ranked)
    return std::nullopt;
  onnx::DimsAttr Exprs = dyn_cast_or_null<onnx::DimsAttr>(Ranked.getEncoding());
  DimList Out;
  for (auto [I, D] : llvm::enumerate(Ranked.getShape())) {
    if (!ShapedType::isDynamic(D)) {
      Out.push_back(DimExpr(D));
      continue;
    }
    StringRef Text = Exprs ? Exprs.getExprs()[I].getValue() : "?";
    Out.push_back(Text == "?" ? Dim() : Dim(DimExpr::ofParam(Text)));
  }
  return Out;
}

Type typeOf(const ValueInfo &Info) {
  if (!Info.Ranked)
    return UnrankedTensorType::get(Info.Element);
  SmallVector<int64_t> Shape;
  SmallVector<StringAttr> Exprs;
  bool Symbolic = false;
  MLIRContext *C = Info.Element.getContext();
  for (const Dim &D : Info.Shape) {
    std::optional<int64_t> Number = D ? D->constant() : std::nullopt;
    // A negative dim cannot happen in a valid program; leave it unknown.
    bool Static = Number && *Number >= 0;
    Shape.push_back(Static ? *Number : ShapedType::kDynamic);
    bool Known = Static || (D && !Number);
    Symbolic |= Known && !Static;
    Exprs.push_back(StringAttr::get(C, Known ? D->str() : "?"));
  }
  Attribute Encoding;
  if (Symbolic)
    Encoding = onnx::DimsAttr::get(C, Exprs);
  return RankedTensorType::get(Shape, Info.Element, Encoding);
}

bool sameShape(const ValueInfo &A, const ValueInfo &B) {
  if (!A.Ranked || !B.Ranked || A.rank() != B.rank())
    return false;
  for (auto [X, Y] : llvm::zip(A.Shape, B.Shape))
    if (!provablyEqual(X, Y))
      return false;
  return true;
}

/// Whether D is what a length M leaves behind P others, for two symbols M and
/// P: with M = P + n it is n. A mask's share of the new tokens looks so where
/// the file names the mask's length on its own.
static bool isRestOfLength(const DimExpr &D) {
  SmallVector<std::string> Names;
  D.symbols([&](std::string_view Name) {
    if (!llvm::is_contained(Names, Name))
      Names.emplace_back(Name);
  });
  if (Names.size() != 2)
    return false;
  const auto Fits = [&](const std::string &Whole, int64_t Past, int64_t New) {
    return D.evaluate([&](std::string_view Name) -> std::optional<int64_t> {
      return Name == Whole ? Past + New : Past;
    }) == New;
  };
  return llvm::any_of(Names, [&](const std::string &Whole) {
    for (int64_t Past : {0, 1, 7})
      for (int64_t New : {0, 1, 5})
        if (!Fits(Whole, Past, New))
          return false;
    return true;
  });
}

/// Whether D is one symbol and nothing else.
static bool isSymbol(const DimExpr &D) {
  std::string Only;
  unsigned Count = 0;
  D.symbols([&](std::string_view Name) {
    Only = Name;
    ++Count;
  });
  return Count == 1 && D.str() == Only;
}

Dim broadcastDim(const Dim &A, const Dim &B) {
  if (isNumber(A, 1) || provablyEqual(A, B))
    return B;
  if (isNumber(B, 1))
    return A;
  // In a valid program a dim other than 1 is the result.
  for (const Dim *D : {&A, &B})
    if (*D && ((*D)->isConstant() || (*D)->lowerBound().value_or(0) >= 2))
      return *D;
  // What was cut from a table of positions is never longer than what it meets,
  // and shorter only where the positions have left the table.
  if (!A || !B)
    return std::nullopt;
  if (A->isMinimumWith(*B) || A->isClippedSpan(*B))
    return B;
  if (B->isMinimumWith(*A) || B->isClippedSpan(*A))
    return A;
  // Of one token that meets several, the file would mean the several.
  if (isSymbol(*A) && isRestOfLength(*B))
    return A;
  if (isSymbol(*B) && isRestOfLength(*A))
    return B;
  return std::nullopt;
}

Dim operandDim(const Dim &A, const Dim &B) {
  Dim Out = broadcastDim(A, B);
  const Dim &Known = A ? A : B;
  bool Half = bool(A) != bool(B);
  return !Out && Half && isSymbol(*Known) ? Known : Out;
}

Dim productOf(ArrayRef<Dim> Dims) {
  Dim P = DimExpr(1);
  for (const Dim &D : Dims)
    P = mul(P, D);
  return P;
}

//===----------------------------------------------------------------------===//
// RuleCall
//===----------------------------------------------------------------------===//

static const ValueInfo Unknown;

const ValueInfo &RuleCall::in(unsigned I) const {
  return I < In.size() ? *In[I] : Unknown;
}

int64_t RuleCall::attr(StringRef Name, int64_t Default) const {
  IntegerAttr A = Op->getAttrOfType<IntegerAttr>(Name);
  return A ? A.getInt() : Default;
}

Type RuleCall::intType(unsigned Bits) const {
  return IntegerType::get(Op->getContext(), Bits);
}

bool RuleCall::carries(const ValueInfo &V) const {
  if (!V.Element)
    return false;
  IntegerType Integer = dyn_cast<IntegerType>(V.Element);
  // Narrow integers could wrap.
  return Integer ? Integer.getWidth() == 1 || Integer.getWidth() >= 32
                 : V.Element.isF32() || V.Element.isF64();
}

void RuleCall::mapData(function_ref<Dim(ArrayRef<Dim>)> Fn) {
  std::optional<SmallVector<int64_t>> Shape = out().staticShape();
  if (!Shape || !carries(out()))
    return;
  int64_t Count = 1;
  for (int64_t D : *Shape)
    if (D < 0 || D > ShapeAnalysis::MaxData ||
        (Count *= D) > ShapeAnalysis::MaxData)
      return;
  for (const ValueInfo *V : In)
    if (!V->HasData || !V->staticShape())
      return;
  DimList Data, Elements(In.size());
  for (int64_t I = 0; I < Count; ++I) {
    for (auto [N, V] : llvm::enumerate(In)) {
      int64_t Rest = I, At = 0, Stride = 1;
      // From the last dim on; dims of 1 do not move.
      for (size_t D = 0; D < Shape->size(); ++D) {
        int64_t Size = (*Shape)[Shape->size() - 1 - D];
        int64_t Index = Rest % Size;
        Rest /= Size;
        if (D >= V->rank())
          continue;
        int64_t Own = *V->Shape[V->rank() - 1 - D]->constant();
        At += Own == 1 ? 0 : Index * Stride;
        Stride *= Own;
      }
      if (At >= static_cast<int64_t>(V->Data.size()))
        return;
      Elements[N] = V->Data[static_cast<size_t>(At)];
    }
    Data.push_back(Fn(Elements));
  }
  out().setData(std::move(Data));
}

std::optional<size_t> axisOf(int64_t Axis, size_t Rank) {
  int64_t N = static_cast<int64_t>(Rank);
  int64_t A = Axis < 0 ? Axis + N : Axis;
  if (A < 0 || A >= N)
    return std::nullopt;
  return static_cast<size_t>(A);
}

ShapeRule ruleOf(StringRef OpName) {
  static const RuleTable Rules = [] {
    RuleTable T;
    addElementwiseRules(T);
    addLayoutRules(T);
    addIndexRules(T);
    addWholeRules(T);
    addMsRules(T);
    return T;
  }();
  auto It = Rules.find(OpName);
  return It == Rules.end() ? nullptr : It->second;
}

//===----------------------------------------------------------------------===//
// ShapeAnalysis
//===----------------------------------------------------------------------===//

static Type elementOf(Type T) {
  TensorType Tensor = dyn_cast<TensorType>(T);
  return Tensor ? Tensor.getElementType() : Type();
}

/// What a value's type says.
static ValueInfo infoOfType(Type T) {
  ValueInfo Info;
  Info.Element = elementOf(T);
  if (std::optional<DimList> Dims = dimsOfType(T))
    Info.setShape(std::move(*Dims));
  return Info;
}

/// The elements of a small integer constant.
static void addConstantData(onnx::ConstantOp Op, ValueInfo &Info) {
  DenseElementsAttr Dense = dyn_cast<DenseElementsAttr>(Op.getValue());
  IntegerType Type = dyn_cast<IntegerType>(Info.Element);
  if (!Dense || !Type || Dense.getNumElements() > ShapeAnalysis::MaxData)
    return;
  bool Signed = Type.isSignless() && Type.getWidth() > 1;
  DimList Data;
  for (APInt V : Dense.getValues<APInt>())
    Data.push_back(DimExpr(Signed ? V.getSExtValue()
                                  : static_cast<int64_t>(V.getZExtValue())));
  Info.setData(std::move(Data));
}

ShapeAnalysis::ShapeAnalysis(func::FuncOp F) {
  if (F.isExternal())
    return;
  for (auto [I, Arg] : llvm::enumerate(F.getArguments())) {
    ValueInfo Info = infoOfType(Arg.getType());
    StringAttr Name = F.getArgAttrOfType<StringAttr>(static_cast<unsigned>(I),
                                                     onnx::NameAttr);
    std::string Base = Name ? Name.str() : "arg" + std::to_string(I);
    // Every dim of an argument has a name, so that it can be followed.
    for (auto [D, Expr] : llvm::enumerate(Info.Shape))
      if (!Expr)
        Expr = DimExpr::symbol(Base + ".d" + std::to_string(D));
    set(Arg, std::move(Info));
  }
  visit(F.getBody().front());
}

void ShapeAnalysis::set(Value V, ValueInfo Info) {
  Infos[V] = std::make_unique<ValueInfo>(std::move(Info));
}

const ValueInfo &ShapeAnalysis::of(Value V) {
  std::unique_ptr<ValueInfo> &Slot = Infos[V];
  if (Slot)
    return *Slot;
  Slot = std::make_unique<ValueInfo>();
  // A new constant is what its type says; of others only the type is known.
  if (onnx::ConstantOp Op = V.getDefiningOp<onnx::ConstantOp>()) {
    *Slot = infoOfType(V.getType());
    addConstantData(Op, *Slot);
  } else if (Operation *Op = V.getDefiningOp();
             isa_and_nonnull<onnx::WeightOp>(Op) ||
             (Op && Op->getName().getDialectNamespace() != "onnx")) {
    // Of the file, or of a recogniser, which is to be believed.
    *Slot = infoOfType(V.getType());
  } else {
    Slot->Element = elementOf(V.getType());
  }
  return *Slot;
}

void ShapeAnalysis::visit(Block &Block) {
  for (Operation &Op : Block)
    visitOp(&Op);
}

/// What both branches of an If agree on.
static ValueInfo join(const ValueInfo &A, const ValueInfo &B) {
  ValueInfo Out;
  Out.Element = A.Element;
  if (!A.Ranked || !B.Ranked || A.rank() != B.rank())
    return Out;
  DimList Shape;
  for (auto [X, Y] : llvm::zip(A.Shape, B.Shape))
    Shape.push_back(provablyEqual(X, Y) ? X : Dim());
  Out.setShape(std::move(Shape));
  return Out;
}

void ShapeAnalysis::visitOp(Operation *Op) {
  if (onnx::IfOp If = dyn_cast<onnx::IfOp>(Op)) {
    visit(If.getThenBranch().front());
    visit(If.getElseBranch().front());
    Operation *Then = If.getThenBranch().front().getTerminator();
    Operation *Else = If.getElseBranch().front().getTerminator();
    for (auto [I, R] : llvm::enumerate(If.getResults()))
      set(R, join(of(Then->getOperand(I)), of(Else->getOperand(I))));
    return;
  }
  ShapeRule Rule = ruleOf(Op->getName().getStringRef());
  if (!Rule) {
    for (Value R : Op->getResults())
      of(R);
    return;
  }
  RuleCall Call{Op, {}, {}};
  for (Value Operand : Op->getOperands())
    Call.In.push_back(&of(Operand));
  ValueInfo Start;
  Start.Element = Call.in(0).Element;
  Call.Out.assign(Op->getNumResults(), Start);
  Rule(Call);
  for (auto [R, Info] : llvm::zip(Op->getResults(), Call.Out)) {
    if (!Info.Element)
      Info.Element = elementOf(R.getType());
    // Rules rely on one element of data for each place of the shape; a graph
    // that contradicts itself must not break that.
    Dim Count = Info.Ranked ? productOf(Info.Shape) : Dim();
    if (Info.HasData &&
        !isNumber(Count, static_cast<int64_t>(Info.Data.size()))) {
      Info.HasData = false;
      Info.Data.clear();
    }
    set(R, std::move(Info));
  }
}

} // namespace llmc
