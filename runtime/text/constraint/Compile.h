// Front ends: from what a user writes to a grammar. All bound the time and the
// memory that a hostile input can take.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_COMPILE_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_COMPILE_H

#include "runtime/text/constraint/Grammar.h"

namespace llmc::constraint {

/// What a constraint is written in.
enum class Dialect : uint8_t { JsonSchema, Regex, Gbnf, Lark };

struct CompileOptions {
  /// JSON Schema: white space between the tokens of the output is allowed (up
  /// to 24 characters at each place); else the output is compact.
  bool Whitespace = false;
};

/// Malformed, Unsupported or DoesNotFit with one line that says where.
Result<std::unique_ptr<Grammar>>
compileConstraint(Dialect D, std::string_view Text,
                  const CompileOptions &O = {});

/// GBNF or Lark, by the notation of the first rule (`::=` or `:`).
Dialect guessDialect(std::string_view Text);

// One front end each.
Result<std::unique_ptr<Grammar>> compileRegex(std::string_view Pattern);
Result<std::unique_ptr<Grammar>> compileGbnf(std::string_view Text);
Result<std::unique_ptr<Grammar>> compileLark(std::string_view Text);
Result<std::unique_ptr<Grammar>> compileSchema(std::string_view Json,
                                               const CompileOptions &O);

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_COMPILE_H
