// Executes a step function of the llm dialect in plain loops, for one sequence:
// the meaning of the ops, against which raising and fusion can be compared.
#ifndef LLMC_PASSES_RAISE_LLMINTERPRETER_H
#define LLMC_PASSES_RAISE_LLMINTERPRETER_H

#include "dialects/llm/LlmDialect.h"
#include "runtime/base/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <vector>

namespace llmc::raise {

/// Fills the bytes of a source as they lie in the file.
using SourceReader =
    std::function<Status(llm::SourceOp, std::vector<uint8_t> &)>;

/// Rows of floats, row-major.
struct Matrix {
  int64_t Rows = 0, Cols = 0;
  std::vector<float> Data;
  float *row(int64_t R) { return Data.data() + R * Cols; }
  const float *row(int64_t R) const { return Data.data() + R * Cols; }
};

class LlmInterpreter {
public:
  LlmInterpreter(mlir::ModuleOp M, SourceReader Reader);

  /// One step: ids and positions of the next tokens of the sequence; logits of
  /// each. Caches are kept for the next call.
  /// Tokens of the whole sequence, where it comes in several steps.
  void setLength(int64_t Tokens) { Length = Tokens; }
  Result<Matrix> step(const std::vector<int64_t> &Ids,
                      const std::vector<int64_t> &Positions);

private:
  using Ref = mlir::FlatSymbolRefAttr;
  struct Cache {
    Matrix K, V;
    std::vector<int64_t> Positions;
  };

  Result<const Matrix *> weight(Ref Name);
  Status readSource(llm::SourceOp Source, std::vector<float> &Out);
  Status run(mlir::Operation &Op);
  Result<Matrix> embed(llm::EmbedOp Op);
  Result<Matrix> ropeTable(llm::RopeTableOp Op);
  Result<Matrix> norm(const Matrix &X, llm::NormKind Kind, Ref Gain, Ref Bias,
                      double Eps, int64_t Heads);
  Result<Matrix> product(const Matrix &X, Ref Weight, Ref Bias);
  Result<Matrix> linear(llm::LinearOp Op);
  Result<Matrix> rope(llm::RopeOp Op);
  Result<Matrix> attention(llm::AttentionOp Op);
  Result<Matrix> logits(llm::LogitsOp Op);
  int64_t Length = 0; ///< of the sequence, see setLength
  Result<Matrix> rowwise(llm::RowwiseOp Op);
  Result<Matrix> experts(llm::ExpertsOp Op);
  Result<Matrix> elementwise(mlir::Operation &Op);
  Status write(llm::KvWriteOp Op);
  const Matrix &in(mlir::Value V) { return Values[V]; }

  mlir::ModuleOp Module;
  mlir::SymbolTable Symbols;
  SourceReader Reader;
  llvm::StringMap<Matrix> Weights;
  llvm::StringMap<Cache> Caches;
  llvm::DenseMap<mlir::Value, Matrix> Values;
  std::vector<int64_t> Ids, Positions;
};

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_LLMINTERPRETER_H
