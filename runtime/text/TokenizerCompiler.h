// From the files of a model's folder to the sections of an artifact.
#ifndef LLMC_RUNTIME_TEXT_TOKENIZERCOMPILER_H
#define LLMC_RUNTIME_TEXT_TOKENIZERCOMPILER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

/// Compiles the tokenizer of a folder, as its tokenizer_config.json has it, or
/// a file itself into the bytes that Tokenizer::load takes; empty when there is
/// none. Every component that is not implemented is an error naming it.
Result<std::vector<uint8_t>> compileTokenizer(const std::string &Folder);

/// The same from the text of a tokenizer.json.
Result<std::vector<uint8_t>> compileTokenizerJson(std::string_view Json);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_TOKENIZERCOMPILER_H
