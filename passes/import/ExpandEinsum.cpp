// Einsum as transposes and a MatMul; see ExpandEinsum.h. Labels that both
// operands and the output have are the batch of the product; one that is summed
// is its inner dim. Of labels that only one operand has, the last in the output
// is a dim of the matrices and the others broadcast in front of them, which is
// how exporters write grouped heads, too. A matrix of the file is flattened to
// two dims instead: a linear layer over heads.
#include "passes/import/ExpandEinsum.h"

#include "compiler/eval/Einsum.h"
#include "passes/import/FusedOps.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace mlir;

namespace llmc {
namespace {

using Labels = std::vector<int>;

bool has(const Labels &L, int X) { return llvm::is_contained(L, X); }

/// An operand with a label for each of its dims.
struct Part {
  Value V;
  Labels Dims;
  SmallVector<int64_t> Sizes; ///< kDynamic where not known
};

/// What the labels of two operands are to each other, in the output's order.
struct Roles {
  Labels Batch, Summed, Left, Right;
};

Roles rolesOf(const Part &X, const Part &Y, const Labels &Out) {
  Roles R;
  for (int L : Out) {
    bool InX = has(X.Dims, L), InY = has(Y.Dims, L);
    (InX && InY ? R.Batch : InX ? R.Left : R.Right).push_back(L);
  }
  for (int L : X.Dims)
    if (!has(Out, L))
      R.Summed.push_back(L);
  return R;
}

std::optional<eval::EinsumLabels> labelsOf(onnx::EinsumOp Op) {
  std::vector<int64_t> Ranks;
  for (Value V : Op.getInputs()) {
    Ranks.push_back(staticRank(V));
    if (Ranks.back() < 0)
      return std::nullopt;
  }
  Result<eval::EinsumLabels> L = eval::parseEinsum(Op.getEquation(), Ranks);
  return L ? std::optional<eval::EinsumLabels>(L.take()) : std::nullopt;
}

Part partOf(onnx::EinsumOp Op, const eval::EinsumLabels &L, size_t I) {
  Value V = Op.getInputs()[unsigned(I)];
  return {V, L.Inputs[I],
          SmallVector<int64_t>(cast<RankedTensorType>(V.getType()).getShape())};
}

bool isStatic(const Part &P) {
  return llvm::none_of(P.Sizes, ShapedType::isDynamic);
}

int64_t sizeOf(const Part &P, int Label) {
  return P.Sizes[size_t(llvm::find(P.Dims, Label) - P.Dims.begin())];
}

/// Product of the sizes of labels; -1 when one is not known.
int64_t sizeOf(const Part &P, const Labels &Some) {
  int64_t N = 1;
  for (int L : Some)
    N = N < 0 || ShapedType::isDynamic(sizeOf(P, L)) ? -1 : N * sizeOf(P, L);
  return N;
}

/// V, whose dims are Have, with the dims Want: transposed, and 1 where it has
/// no such label.
Value arranged(OpMaker &M, Value V, const Labels &Have, const Labels &Want) {
  SmallVector<int64_t> Perm, Added;
  for (size_t I = 0; I < Want.size(); ++I)
    if (has(Have, Want[I]))
      Perm.push_back(llvm::find(Have, Want[I]) - Have.begin());
    else
      Added.push_back(int64_t(I));
  if (!llvm::is_sorted(Perm))
    V = M.transpose(V, Perm);
  return Added.empty() ? V : M.unsqueeze(V, Added);
}

Labels joined(std::initializer_list<Labels> All) {
  Labels Out;
  for (const Labels &L : All)
    Out.insert(Out.end(), L.begin(), L.end());
  return Out;
}

/// X times a matrix of the file: [left…, summed] [summed, right]. Null when
/// sizes that must be merged are not known.
Value byMatrix(OpMaker &M, const Part &X, const Part &W, const Roles &R,
               const Labels &Out) {
  int64_t Inner = sizeOf(W, R.Summed), Columns = sizeOf(W, R.Right);
  if (!R.Batch.empty() || R.Summed.empty() || R.Left.empty() || !isStatic(W))
    return {};
  Value A = arranged(M, X.V, X.Dims, joined({R.Left, R.Summed}));
  SmallVector<int64_t> Front(R.Left.size(), 0), Sizes = Front;
  Sizes.push_back(Inner);
  if (R.Summed.size() > 1)
    A = M.reshape(A, Sizes);
  // As the file holds it, if only dims are merged.
  bool Turned = W.Dims == joined({R.Right, R.Summed});
  Value B =
      Turned ? W.V : arranged(M, W.V, W.Dims, joined({R.Summed, R.Right}));
  if (R.Summed.size() > 1 || R.Right.size() != 1)
    B = M.reshape(B, {Turned ? Columns : Inner, Turned ? Inner : Columns});
  if (Turned)
    B = M.transpose(B, {1, 0});
  Value Y = M.op("mat_mul", {A, B});
  Sizes = Front;
  for (int L : R.Right)
    Sizes.push_back(sizeOf(W, L));
  if (R.Right.size() != 1)
    Y = M.reshape(Y, Sizes);
  return arranged(M, Y, joined({R.Left, R.Right}), Out);
}

/// Everything but one label of each side in front of the matrices.
Value byBatch(OpMaker &M, const Part &X, const Part &Y, const Roles &R,
              const Labels &Out) {
  constexpr int None = -1000000; // a dim of 1 where a side has no label
  int Row = None, Column = None - 1;
  if (!R.Left.empty())
    Row = R.Left.back();
  if (!R.Right.empty())
    Column = R.Right.back();
  Labels Front; // in the output's order: fewer transposes
  for (int L : Out)
    if (L != Row && L != Column)
      Front.push_back(L);
  int Inner = R.Summed.front();
  Value Product = M.op(
      "mat_mul", {arranged(M, X.V, X.Dims, joined({Front, {Row, Inner}})),
                  arranged(M, Y.V, Y.Dims, joined({Front, {Inner, Column}}))});
  Labels Have = joined({Front, {Row, Column}});
  SmallVector<int64_t> Ones;
  for (size_t I = 0; I < Have.size(); ++I)
    if (Have[I] <= None)
      Ones.push_back(int64_t(I));
  if (!Ones.empty())
    Product = M.op("squeeze", {Product, M.ints(Ones)});
  llvm::erase_if(Have, [](int L) { return L <= None; });
  return arranged(M, Product, Have, Out);
}
} // namespace

bool isProduct(onnx::EinsumOp Op) {
  std::optional<eval::EinsumLabels> L = labelsOf(Op);
  if (!L || L->Inputs.size() != 2)
    return false;
  Part X = partOf(Op, *L, 0), Y = partOf(Op, *L, 1);
  for (const Part *P : {&X, &Y})
    for (int Label : P->Dims)
      if (llvm::count(P->Dims, Label) != 1 ||
          (!has(L->Output, Label) &&
           !(has(X.Dims, Label) && has(Y.Dims, Label))))
        return false;
  Roles R = rolesOf(X, Y, L->Output);
  // Broadcast dims of 1 are no labels of a product.
  for (int Label : joined({R.Batch, R.Summed}))
    if ((sizeOf(X, Label) == 1) != (sizeOf(Y, Label) == 1))
      return false;
  return R.Summed.size() < 2 ||
         (R.Batch.empty() && (isStatic(X) || isStatic(Y)));
}

LogicalResult expand(onnx::EinsumOp Op) {
  eval::EinsumLabels L = *labelsOf(Op);
  OpMaker M(Op);
  Part X = partOf(Op, L, 0), Y = partOf(Op, L, 1);
  Roles R = rolesOf(X, Y, L.Output), Turned = rolesOf(Y, X, L.Output);
  Value Out;
  if (R.Summed.empty()) {
    Out = M.mul(arranged(M, X.V, X.Dims, L.Output),
                arranged(M, Y.V, Y.Dims, L.Output));
  } else {
    Out = byMatrix(M, X, Y, R, L.Output);
    if (!Out)
      Out = byMatrix(M, Y, X, Turned, L.Output);
    if (!Out && R.Summed.size() == 1)
      Out = byBatch(M, X, Y, R, L.Output);
  }
  if (!Out)
    return Op.emitError("equation '")
           << Op.getEquation() << "' is no product of two matrices";
  // What follows may ask for its rank before shapes are inferred again.
  Out.setType(Op->getResult(0).getType());
  Op->getResult(0).replaceAllUsesWith(Out);
  return success();
}
} // namespace llmc
