// Flags to request options; what is said about a constrained result.
#include "tools/llmc-run/ConstraintFlags.h"

#include "tools/llmc-run/Common.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace llmcrun {

void ConstraintFlags::add(CLI::App &App) {
  App.add_option("--json-schema", SchemaFile,
                 "file with a JSON schema that the output satisfies");
  App.add_option("--regex", Regex,
                 "regular expression that the whole output matches");
  App.add_option("--grammar", GrammarFile,
                 "file with a grammar (GBNF or Lark) of the output");
  App.add_flag("--json-whitespace", Whitespace,
               "allow white space between the tokens of JSON (default: "
               "compact)");
  App.add_flag("--no-constraint", None,
               "do without the constraint that the artifact has");
}

std::string constraintText(const char *Name, std::string Text) {
  if (Text.empty())
    throw llmc::Error(LLMC_MALFORMED, std::string(Name) + ": is empty");
  if (size_t At = Text.find('\0'); At != std::string::npos)
    throw llmc::Error(LLMC_MALFORMED, std::string(Name) +
                                          ": has a zero byte at " +
                                          std::to_string(At) + " of " +
                                          std::to_string(Text.size()));
  return Text;
}

void ConstraintFlags::apply(llmc::RequestOptions &O) const {
  int Count = SchemaFile.has_value() + Regex.has_value() +
              GrammarFile.has_value() + None;
  if (Count > 1)
    usage(std::to_string(Count) + " of --json-schema, --regex, --grammar and "
                                  "--no-constraint, expected at most 1");
  if (SchemaFile)
    O.JsonSchema =
        constraintText("JSON schema", readFileOf("--json-schema", *SchemaFile));
  if (Regex)
    O.Regex = constraintText("regex", *Regex);
  if (GrammarFile)
    O.Grammar =
        constraintText("grammar", readFileOf("--grammar", *GrammarFile));
  O.JsonWhitespace = Whitespace;
  O.Unconstrained = None;
}

void checkConstrained(const llmc_result &R, uint32_t MaxTokens) {
  if (R.failure != nullptr)
    throw llmc::Error(R.failure_code, R.failure);
  if (R.constrained && !R.complete && R.finish == LLMC_FINISH_LENGTH)
    std::fprintf(stderr,
                 "llmc: warning: the output was cut after %zu tokens "
                 "(--max-tokens %u) before the constraint was satisfied\n",
                 R.token_count, MaxTokens);
}

} // namespace llmcrun
