// What lies between the first and the last product of an expert layer, on rows
// of the chosen experts: the first product by the features that each op takes,
// and the ops themselves. Shared by the recognisers of batched products.
#ifndef LLMC_PASSES_RAISE_EXPERTBODY_H
#define LLMC_PASSES_RAISE_EXPERTBODY_H

#include "passes/raise/Probe.h"
#include "passes/raise/Weights.h"

#include "mlir/IR/Builders.h"
#include <string>

namespace llmc::raise {

/// A first product in the graph and the llm.experts that it becomes.
struct FirstProduct {
  mlir::Value Result; ///< rows of experts, bias included
  eval::Dims Shape;   ///< its dims for Tokens tokens; Features are the last
  int64_t Tokens = 0, Features = 0;
  mlir::Value X;     ///< token rows
  mlir::Value Route; ///< one weight per expert
  int64_t Experts = 0, Slots = 0;
  mlir::FlatSymbolRefAttr Weight, Bias; ///< of all experts; no bias: null
  mlir::Location Loc;
};

class ExpertBody {
public:
  ExpertBody(const FirstProduct &TheFirst, mlir::func::FuncOp TheMain,
             Roles &TheRoles, WeightMaker &TheWeights,
             const eval::WeightReader &TheReader, mlir::OpBuilder &Builder)
      : First(TheFirst), Main(TheMain), R(TheRoles), Weights(TheWeights),
        Reader(TheReader), B(Builder) {}

  /// V, computed from the first product, as rows of the chosen experts; null
  /// when it is no function of single features, see `why`.
  mlir::Value rows(mlir::Value V);
  const std::string &why() const { return Why; }

private:
  bool features(mlir::Value V, llvm::SmallVector<int64_t> &Out);
  mlir::Value chosen(llvm::ArrayRef<int64_t> Features);

  const FirstProduct &First;
  mlir::func::FuncOp Main;
  Roles &R;
  WeightMaker &Weights;
  const eval::WeightReader &Reader;
  mlir::OpBuilder &B;
  std::string Why;
  llvm::DenseMap<mlir::Value, mlir::Value> New;
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_EXPERTBODY_H
