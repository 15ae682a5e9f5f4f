// Parts of tensors of the file that hold codes, scales or zero points: one
// expert of many, each with an encoding of its own.
#ifndef LLMC_PASSES_RAISE_QUANTIZEDSLICE_H
#define LLMC_PASSES_RAISE_QUANTIZEDSLICE_H

#include "dialects/llm/LlmDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace llmc::raise {

/// Bytes [Begin, Begin + Count) of a source as a flat source of its own, made
/// once; the whole when that is all. Null when it has not so many bytes, or an
/// element of it would be cut.
llm::SourceOp bytesOf(llm::SourceOp Whole, int64_t Begin, int64_t Count,
                      mlir::SymbolTable &Symbols, mlir::OpBuilder &B);

/// Rows [Begin, Begin + Count) of a quantised matrix as a symbol of its own.
/// Null when they do not begin and end on whole bytes and blocks.
llm::QuantizedOp rowsOf(llm::QuantizedOp Whole, int64_t Begin, int64_t Count,
                        mlir::SymbolTable &Symbols, mlir::OpBuilder &B);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_QUANTIZEDSLICE_H
