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

void ConstraintFlags::apply(llmc::RequestOptions &O) const {
  int Count =
      !SchemaFile.empty() + !Regex.empty() + !GrammarFile.empty() + None;
  if (Count > 1)
    usage(std::to_string(Count) + " of --json-schema, --regex, --grammar and "
                                  "--no-constraint, expected at most 1");
  if (!SchemaFile.empty())
    O.JsonSchema = readTextFile(SchemaFile);
  if (!Regex.empty())
    O.Regex = Regex;
  if (!GrammarFile.empty())
    O.Grammar = readTextFile(GrammarFile);
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
