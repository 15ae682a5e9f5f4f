// --embedding: a table of rows for a graph that takes embeddings, not ids.
#ifndef LLMC_COMPILER_DRIVER_EMBEDDING_H
#define LLMC_COMPILER_DRIVER_EMBEDDING_H

#include "compiler/weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"

namespace llmc {

/// Replaces the input of embedding rows of the imported graph by a lookup of
/// token ids in the table of the .npy file at Path ([vocab, hidden] of f32 or
/// f16, little-endian, C order). The file becomes one of Store. Malformed for a
/// file that is no such table, Unsupported for a graph without such an input.
Status bindEmbedding(mlir::ModuleOp Graph, WeightStore &Store,
                     const std::string &Path);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_EMBEDDING_H
