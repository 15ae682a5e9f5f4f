// The rewriting that a SentencePiece model describes, which differs in order
// and in detail from the steps of tokenizer.json.
#ifndef LLMC_RUNTIME_TEXT_SPMNORMALIZER_H
#define LLMC_RUNTIME_TEXT_SPMNORMALIZER_H

#include "runtime/text/CharsMap.h"
#include "runtime/text/TokenizerImage.h"

namespace llmc {

/// S.What is SentencePiece; see there for flags and content.
std::string spmNormalize(std::string_view Text, const NormalStep &S,
                         const CharsMap &Map);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_SPMNORMALIZER_H
