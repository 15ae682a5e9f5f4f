// Unicode normalisation of a text before it is cut into pieces.
#ifndef LLMC_RUNTIME_TEXT_NORMALIZER_H
#define LLMC_RUNTIME_TEXT_NORMALIZER_H

#include "runtime/text/TokenizerImage.h"

namespace llmc {

/// Applies the forms one after the other to well-formed UTF-8.
Result<std::string> normalize(std::string_view Text,
                              const std::vector<NormalForm> &Forms);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_NORMALIZER_H
