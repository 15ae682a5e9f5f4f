// Inputs of impossible sizes; see CheckInputs.h. Recognisers run the graph on
// samples, and sizes that the file fixes are sizes of every sample.
#include "compiler/pipeline/CheckInputs.h"
#include "passes/raise/Match.h"
#include "passes/raise/Roles.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace llmc {

/// Ids, positions and lengths: as many tokens at once as a file may fix.
constexpr int64_t MaxTokens = int64_t(1) << 20;
/// Everything else: caches of fixed length and masks.
constexpr int64_t MaxElements = int64_t(1) << 34;

/// The product of the dims that are fixed, at most INT64_MAX.
static int64_t fixedElements(RankedTensorType Type) {
  int64_t Count = 1;
  for (int64_t Size : Type.getShape())
    if (!ShapedType::isDynamic(Size) && llvm::MulOverflow(Count, Size, Count))
      return INT64_MAX;
  return Count;
}

static Status checkInput(BlockArgument Arg) {
  std::string Name = "graph input '" + raise::argName(Arg).str() + "'";
  auto Type = dyn_cast<RankedTensorType>(Arg.getType());
  if (!Type)
    return unsupportedError(Name +
                            " declares no shape, expected its number of dims "
                            "(dims themselves may be unknown)");
  bool Ids = Type.getElementType().isInteger() && Type.getRank() <= 2;
  int64_t Most = Ids ? MaxTokens : MaxElements, Count = fixedElements(Type);
  if (Count > Most)
    return unsupportedError(Name + " has " + std::to_string(Count) +
                            " elements, expected at most " +
                            std::to_string(Most));
  return Status::success();
}

/// Rows of tokens are told from features by a number of tokens that is not
/// known. One token at a time is what a file for single steps takes.
static Status checkTokens(func::FuncOp Graph) {
  raise::Roles R(Graph);
  int64_t Count = R.fixedTokens();
  if (Count <= 1)
    return Status::success();
  return unsupportedError(
      "graph input '" + raise::argName(R.find(raise::Role::Tokens)).str() +
      "' takes exactly " + std::to_string(Count) +
      " tokens, expected any number: export the model with a sequence length "
      "that is not fixed");
}

Status checkInputs(ModuleOp Module) {
  func::FuncOp Graph = raise::graphOf(Module);
  if (!Graph)
    return Status::success();
  for (BlockArgument Arg : Graph.getArguments())
    if (!Arg.use_empty())
      LLMC_RETURN_IF_ERROR(checkInput(Arg));
  return checkTokens(Graph);
}

} // namespace llmc
