// Rows behind blocks of attention; see MergeHeads.h.
#include "passes/raise/MergeHeads.h"

#include "passes/raise/Block.h"
#include "passes/raise/Heads.h"
#include "passes/raise/Match.h"

using namespace mlir;

namespace llmc::raise {

/// Whether V is [batch, heads, seq, dim] with numbers for heads and dim.
static bool isHeads(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  return Type && Type.getRank() == 4 && !Type.isDynamicDim(1) &&
         Type.isDynamicDim(2) && !Type.isDynamicDim(3);
}

static void mergeBlock(onnx::SoftmaxOp Softmax, Roles &R) {
  AttentionBlock Block = blockOf(Softmax, R);
  if (!Block.Mix || !Block.Scores || Block.Output || !isHeads(Block.Mix))
    return;
  Value Mixed = Block.Mix.getOutput();
  auto Type = cast<RankedTensorType>(Mixed.getType());
  OpBuilder B(Block.Mix->getContext());
  B.setInsertionPointAfter(Block.Mix);
  Value Rows = mergeHeads(B, Mixed);
  Value Again = splitHeads(B, Rows, Type.getDimSize(1), Type.getDimSize(3),
                           /*HeadsFirst=*/true, Type);
  Value Swapped = Rows.getDefiningOp()->getOperand(0);
  Value Split = Again.getDefiningOp()->getOperand(0);
  for (Value V : {Swapped, Rows, Split, Again})
    R.markData(V);
  Mixed.replaceAllUsesExcept(Again, Swapped.getDefiningOp());
  passed("raise-rowwise", Block.Mix, "rows of heads that are used one by one");
}

void mergeBlocks(func::FuncOp Main, Roles &R) {
  for (Operation &Op : llvm::make_early_inc_range(Main.getBody().front()))
    if (auto Softmax = dyn_cast<onnx::SoftmaxOp>(Op);
        Softmax && R.isData(Softmax.getOutput()))
      mergeBlock(Softmax, R);
}
} // namespace llmc::raise
