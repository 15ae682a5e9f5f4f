// A compiled grammar as bytes: the constraint section of an artifact.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_GRAMMARIMAGE_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_GRAMMARIMAGE_H

#include "runtime/text/constraint/Grammar.h"

namespace llmc::constraint {

/// Of a finished grammar. The same grammar gives the same bytes.
std::vector<uint8_t> writeGrammarImage(const Grammar &G);
/// Malformed when the bytes are not such an image; every number is checked.
Result<std::unique_ptr<Grammar>>
readGrammarImage(std::span<const uint8_t> Bytes);

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_GRAMMARIMAGE_H
