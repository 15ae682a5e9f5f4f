// The table from op names to evaluation while it is filled; private to the
// files that fill it, one per group of ops. Handlers read attributes by name,
// so these files do not need the op classes.
#ifndef LLMC_COMPILER_EVAL_EVALUATORTABLE_H
#define LLMC_COMPILER_EVAL_EVALUATORTABLE_H

#include "compiler/eval/Evaluator.h"
#include "compiler/eval/Ops.h"

#include "llvm/ADT/StringMap.h"

namespace llmc::eval {

using Outputs = Result<std::vector<Tensor>>;

/// The results of an op that has one.
inline Outputs one(Result<Tensor> T) {
  if (!T)
    return T.takeStatus();
  std::vector<Tensor> Out;
  Out.push_back(T.take());
  return Out;
}

/// Names are given without the dialect.
struct OpTable {
  llvm::StringMap<OpHandler> Map;

  void many(llvm::StringRef Name, OpHandler Handler) {
    Map[("onnx." + Name).str()] = std::move(Handler);
  }
  template <typename F> void add(llvm::StringRef Name, F Fn) {
    many(Name, [Fn](const OpCall &C) { return one(Fn(C)); });
  }
};

void addWholeOps(OpTable &T); ///< EvaluatorWholeOps.cpp

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_EVALUATORTABLE_H
