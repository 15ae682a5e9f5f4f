// Tokens of a template to its tree.
#ifndef LLMC_RUNTIME_TEXT_JINJA_PARSER_H
#define LLMC_RUNTIME_TEXT_JINJA_PARSER_H

#include "runtime/base/Status.h"
#include "runtime/text/jinja/Ast.h"

namespace llmc::jinja {

/// Fails with line and column, also for filters and tests that do not exist.
Result<NodePtr> parse(std::string_view Source);

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_PARSER_H
