// Cuts a template into text and the tokens inside {{ }} and {% %}, with the
// whitespace rules of chat templates: trim_blocks and lstrip_blocks are on,
// a final newline is dropped.
#ifndef LLMC_RUNTIME_TEXT_JINJA_LEXER_H
#define LLMC_RUNTIME_TEXT_JINJA_LEXER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::jinja {

struct Token {
  enum class Kind : uint8_t {
    Text,       ///< output as it is
    PrintBegin, ///< {{
    PrintEnd,
    BlockBegin, ///< {%
    BlockEnd,
    Name,
    String, ///< Text holds the value
    Int,
    Float,
    Operator, ///< Text holds it
    End
  };
  Kind What = Kind::End;
  std::string Text;
  int64_t Int = 0;
  double Float = 0;
  uint32_t Line = 1, Column = 1;
};

/// Fails with line and column. Source must be UTF-8.
Result<std::vector<Token>> tokenize(std::string_view Source);

/// The error of a place in a template.
Status templateError(uint32_t Line, uint32_t Column, const std::string &What);

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_LEXER_H
