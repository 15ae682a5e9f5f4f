// The configuration part of a tokenizer image, both ways by one description of
// its fields.
#ifndef LLMC_RUNTIME_TEXT_TOKENIZERCONFIG_H
#define LLMC_RUNTIME_TEXT_TOKENIZERCONFIG_H

#include "runtime/text/TokenizerImage.h"

namespace llmc {

void writeConfig(const TokenizerConfig &C, std::vector<uint8_t> &Out);
/// Checks lengths, kinds and, against Vocab, ids.
Result<TokenizerConfig> readConfig(std::span<const uint8_t> Bytes,
                                   size_t Vocab);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_TOKENIZERCONFIG_H
