// The front ends by name, and the smallest of them.
#include "runtime/text/constraint/Compile.h"

#include "runtime/text/constraint/Regex.h"

namespace llmc::constraint {

Result<std::unique_ptr<Grammar>>
compileConstraint(Dialect D, std::string_view Text, const CompileOptions &O) {
  switch (D) {
  case Dialect::JsonSchema:
    return compileSchema(Text, O);
  case Dialect::Regex:
    return compileRegex(Text);
  case Dialect::Gbnf:
    return compileGbnf(Text);
  case Dialect::Lark:
    return compileLark(Text);
  }
  return usageError("constraint: unknown dialect");
}

Dialect guessDialect(std::string_view Text) {
  return Text.find("::=") != std::string_view::npos ? Dialect::Gbnf
                                                    : Dialect::Lark;
}

Result<std::unique_ptr<Grammar>> compileRegex(std::string_view Pattern) {
  LLMC_ASSIGN_OR_RETURN(Regex R, parseRegex(Pattern));
  std::unique_ptr<Grammar> G = std::make_unique<Grammar>();
  Terms &T = G->terms();
  TermId Whole =
      fullMatch(T, R, [&T](const CharSet &S) { return utf8Term(T, S); });
  if (Whole == Nothing && !T.overflowed())
    return unsupportedError("regex: no text can match");
  LLMC_RETURN_IF_ERROR(G->finish(Whole));
  return G;
}

} // namespace llmc::constraint
