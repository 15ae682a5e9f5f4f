// ONNX node names out of locations. Locations carry them to the end, so that
// remarks, errors, kernels and profiles can name what they are about.
#ifndef LLMC_PASSES_UTIL_NODENAMES_H
#define LLMC_PASSES_UTIL_NODENAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <string>

namespace llmc {

/// Appends the names in Loc to Names, in order, each once.
inline void collectNodeNames(mlir::Location Loc,
                             llvm::SmallSetVector<llvm::StringRef, 8> &Names) {
  Loc->walk([&](mlir::Location L) {
    if (mlir::NameLoc Name = llvm::dyn_cast<mlir::NameLoc>(L))
      Names.insert(Name.getName().strref());
    return mlir::WalkResult::advance();
  });
}

/// "a, b, c": the ONNX nodes behind some ops; the ops' own names where a
/// location has none.
inline std::string nodeList(llvm::ArrayRef<mlir::Operation *> Ops) {
  llvm::SmallSetVector<llvm::StringRef, 8> Names;
  for (mlir::Operation *Op : Ops) {
    size_t Before = Names.size();
    collectNodeNames(Op->getLoc(), Names);
    if (Names.size() == Before)
      Names.insert(Op->getName().getStringRef());
  }
  return llvm::join(Names, ", ");
}

/// The location of an op that replaces Ops: all of theirs.
inline mlir::Location fusedLoc(llvm::ArrayRef<mlir::Operation *> Ops) {
  llvm::SmallVector<mlir::Location> Locs;
  for (mlir::Operation *Op : Ops)
    Locs.push_back(Op->getLoc());
  return mlir::FusedLoc::get(Ops.front()->getContext(), Locs);
}

} // namespace llmc

#endif // LLMC_PASSES_UTIL_NODENAMES_H
