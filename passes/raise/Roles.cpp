// Roles of the inputs of a graph; see Roles.h.
#include "passes/raise/Roles.h"

#include "passes/raise/Match.h"

using namespace mlir;

namespace llmc::raise {

func::FuncOp graphOf(ModuleOp M) {
  auto Main = M.lookupSymbol<func::FuncOp>("main");
  return Main && !Main.isExternal() ? Main : func::FuncOp();
}

BlockArgument indexArgument(Value V) {
  while (Operation *Op = V.getDefiningOp()) {
    if (!isa<onnx::IdentityOp, onnx::CastOp, onnx::ReshapeOp, onnx::UnsqueezeOp,
             onnx::SqueezeOp, onnx::FlattenOp>(Op))
      return {};
    V = Op->getOperand(0);
  }
  return cast<BlockArgument>(V);
}

Roles::Roles(func::FuncOp Graph) {
  assign(Graph);
  findData(Graph);
}

Role Roles::of(BlockArgument Arg) const {
  auto It = Known.find(Arg);
  return It == Known.end() ? Role::Other : It->second;
}

BlockArgument Roles::find(Role R) const {
  BlockArgument First;
  for (auto [V, Have] : Known)
    if (auto Arg = cast<BlockArgument>(V);
        Have == R && (!First || Arg.getArgNumber() < First.getArgNumber()))
      First = Arg;
  return First;
}

static bool isInteger(Value V) {
  return isa<IntegerType>(getElementTypeOrSelf(V.getType()));
}

static bool nameHas(BlockArgument Arg, StringRef Part) {
  return argName(Arg).lower().find(Part) != std::string::npos;
}

/// Rows of the largest table of floats that Arg indexes, or 0.
static int64_t indexedRows(BlockArgument Arg, func::FuncOp Graph) {
  int64_t Rows = 0;
  auto Look = [&](Value Table, Value Indices) {
    auto Type = dyn_cast<RankedTensorType>(Table.getType());
    if (indexArgument(Indices) == Arg && Type && Type.getRank() == 2 &&
        Type.hasStaticShape() && isa<FloatType>(Type.getElementType()))
      Rows = std::max(Rows, Type.getDimSize(0));
  };
  for (Operation &Op : Graph.getBody().front()) {
    if (auto Gather = dyn_cast<onnx::GatherOp>(Op); Gather && !Gather.getAxis())
      Look(Gather.getData(), Gather.getIndices());
    if (auto Embed = dyn_cast<llm::EmbedOp>(Op))
      if (indexArgument(Embed.getIds()) == Arg)
        return INT64_MAX;
  }
  return Rows;
}

/// Shape in symbols where known, to compare arguments.
static Attribute dimsOf(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  return Type ? Type.getEncoding() : Attribute();
}

/// The symbol of the last dim; null where there is none.
static Attribute lastDimOf(Value V) {
  auto Dims = dyn_cast_or_null<onnx::DimsAttr>(dimsOf(V));
  if (!Dims || Dims.getExprs().empty())
    return {};
  StringAttr Last = Dims.getExprs().back();
  return Last.getValue() == "?" ? StringAttr() : Last;
}

/// Whether a float or bool input without a telling name is a mask: it has a
/// last dim of so many keys, where rows of features and tables have a number.
static bool isMask(BlockArgument Arg) {
  auto Type = dyn_cast<RankedTensorType>(Arg.getType());
  if (!Type || Type.getRank() < 1 || !Type.isDynamicDim(Type.getRank() - 1))
    return false;
  return Type.getRank() == 2 ||
         (Type.getRank() == 4 && Type.isDynamicDim(2) &&
          (Type.isDynamicDim(1) || Type.getDimSize(1) == 1));
}

/// Lengths by the names that exporters give them; Other for other names.
static Role lengthRole(BlockArgument Arg) {
  if (nameHas(Arg, "seqlens_k"))
    return Role::LastIndex;
  if (nameHas(Arg, "nonpad") || nameHas(Arg, "total_seq"))
    return Role::TotalLength;
  if (nameHas(Arg, "write_ind") || nameHas(Arg, "past_len") ||
      nameHas(Arg, "past_seq") || nameHas(Arg, "start_pos"))
    return Role::PastLength;
  return Role::Other;
}

int64_t Roles::fixedTokens() const {
  BlockArgument Tokens = find(Role::Tokens);
  auto Type = Tokens ? dyn_cast<RankedTensorType>(Tokens.getType())
                     : RankedTensorType();
  if (!Type || Type.getRank() < 1 || Type.isDynamicDim(Type.getRank() - 1))
    return 0;
  return Type.getShape().back();
}

Role Roles::integerRole(BlockArgument Arg) const {
  if (Role Length = lengthRole(Arg); Length != Role::Other)
    return Length;
  if (nameHas(Arg, "mask"))
    return Role::Mask;
  if (nameHas(Arg, "pos"))
    return Role::Positions;
  if (nameHas(Arg, "token_type") || nameHas(Arg, "type_id") ||
      nameHas(Arg, "segment"))
    return Role::Types;
  // Without a telling name: positions have the shape of the ids, a mask covers
  // past and new tokens.
  BlockArgument Tokens = find(Role::Tokens);
  if (rankOf(Arg) == 1 && Tokens && lastDimOf(Arg) &&
      lastDimOf(Arg) == lastDimOf(Tokens))
    return Role::Positions;
  if (rankOf(Arg) != 2 || !Tokens)
    return Role::Other;
  Attribute Mine = dimsOf(Arg), Ids = dimsOf(Tokens);
  if (!Mine || Mine != Ids)
    return Role::Mask;
  // Not beside an input that is called so.
  bool Called =
      llvm::any_of(Arg.getOwner()->getArguments(), [&](BlockArgument Other) {
        return Other != Arg && isInteger(Other) && nameHas(Other, "pos");
      });
  return Called ? Role::Other : Role::Positions;
}

void Roles::assign(func::FuncOp Graph) {
  // The token input indexes the largest table; a name breaks a tie, because
  // learned positions index a table, too.
  BlockArgument Best;
  std::pair<bool, int64_t> BestRank{false, 0};
  for (BlockArgument Arg : Graph.getArguments()) {
    if (Graph.getArgAttr(Arg.getArgNumber(), CacheAttr))
      Known[Arg] = Role::Past;
    if (auto Length =
            Graph.getArgAttrOfType<StringAttr>(Arg.getArgNumber(), LengthAttr))
      Known[Arg] = Length.getValue() == "past"    ? Role::PastLength
                   : Length.getValue() == "total" ? Role::TotalLength
                                                  : Role::LastIndex;
    if (!isInteger(Arg) || Known.count(Arg))
      continue;
    int64_t Rows = indexedRows(Arg, Graph);
    std::pair<bool, int64_t> Rank{nameHas(Arg, "ids") && !nameHas(Arg, "pos") &&
                                      !nameHas(Arg, "type") &&
                                      !nameHas(Arg, "segment"),
                                  Rows};
    if (Rows > 0 && Rank > BestRank) {
      Best = Arg;
      BestRank = Rank;
    }
  }
  if (Best)
    Known[Best] = Role::Tokens;
  for (BlockArgument Arg : Graph.getArguments())
    if (!Known.count(Arg))
      Known[Arg] = isInteger(Arg) || nameHas(Arg, "mask") ? integerRole(Arg)
                   : isMask(Arg)                          ? Role::Mask
                                                          : Role::Other;
}

void Roles::findData(func::FuncOp Graph) {
  for (auto [V, R] : Known)
    if (R == Role::Tokens || R == Role::Past || R == Role::Other)
      Data.insert(V);
  for (Operation &Op : Graph.getBody().front()) {
    if (isa<onnx::ShapeOp, onnx::SizeOp>(Op))
      continue;
    if (llvm::any_of(Op.getOperands(), [&](Value V) { return isData(V); }))
      Data.insert(Op.result_begin(), Op.result_end());
  }
}
} // namespace llmc::raise
