// --json-schema, --regex, --grammar and the members of a batch line of these
// names.
#ifndef LLMC_TOOLS_LLMCRUN_CONSTRAINTFLAGS_H
#define LLMC_TOOLS_LLMCRUN_CONSTRAINTFLAGS_H

#include "llmc/llmc.hpp"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace llmcrun {

struct ConstraintFlags {
  std::optional<std::string> SchemaFile, Regex, GrammarFile;
  bool Whitespace = false, None = false;

  void add(CLI::App &App);
  /// Reads the files and sets the request's constraint.
  void apply(llmc::RequestOptions &O) const;
};

/// Text as it is; Malformed when it is empty, which would mean no constraint,
/// or holds a zero byte, at which the C interface would cut it.
std::string constraintText(const char *Name, std::string Text);

/// Throws when a constraint failed; says on standard error when the output was
/// cut before it was satisfied.
void checkConstrained(const llmc_result &R, uint32_t MaxTokens);

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_CONSTRAINTFLAGS_H
