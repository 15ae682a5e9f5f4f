// What the names of a cache's input and output say, to warn where they
// contradict the structure. Names never decide anything.
#ifndef LLMC_PASSES_RAISE_CACHENAMES_H
#define LLMC_PASSES_RAISE_CACHENAMES_H

#include "llvm/ADT/StringRef.h"

namespace llmc::raise {

/// Whether both names say a layer or say key or value, and not the same: such
/// as "past.0.key" and "present.0.value". Names without either never do.
bool namesContradict(llvm::StringRef Past, llvm::StringRef Present);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_CACHENAMES_H
