// Attributes on the function of a graph that passes of several groups use.
#ifndef LLMC_PASSES_UTIL_GRAPHATTRS_H
#define LLMC_PASSES_UTIL_GRAPHATTRS_H

#include "llvm/ADT/StringRef.h"

namespace llmc {

/// On an integer argument whose meaning an op told that may be gone later:
/// "past", "total" or "last" (total - 1), a length of each sequence.
constexpr llvm::StringLiteral LengthAttr = "llm.length";

} // namespace llmc

#endif // LLMC_PASSES_UTIL_GRAPHATTRS_H
