// What the subcommands share: options of devices and sampling, token lists,
// reading input, interruption.
#ifndef LLMC_TOOLS_LLMCRUN_COMMON_H
#define LLMC_TOOLS_LLMCRUN_COMMON_H

#include "llmc/llmc.hpp"
#include "runtime/base/Json.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace llmcrun {

/// Throws a failure of the runtime's rooms.
void check(llmc::Status S);
template <typename T> T check(llmc::Result<T> R) {
  if (!R.ok())
    check(R.takeStatus());
  return R.take();
}
[[noreturn]] void usage(const std::string &Message);

/// Malformed, with advice, for what is to be compiled first: an ONNX file, or
/// (unless FolderToo) a folder.
void checkCompiled(const std::string &Path, bool FolderToo = false);

/// --device, --threads.
struct DeviceFlags {
  std::string Device = "auto";
  uint32_t Threads = 0;
  void add(CLI::App &App);
  /// Loads and says on standard error what the user should know.
  llmc::Model load(const std::string &Path, uint32_t KvTokens = 0) const;
};

/// --temperature and its like; what is absent comes from the artifact.
struct SamplingFlags {
  std::optional<float> Temperature, TopP, MinP, TypicalP, RepetitionPenalty,
      FrequencyPenalty, PresencePenalty;
  std::optional<int32_t> TopK;
  std::optional<uint32_t> NoRepeatNgram, MinTokens;
  std::optional<uint64_t> Seed;
  void add(CLI::App &App);
  llmc_sampling over(llmc_sampling Defaults) const;
};

/// Throws when weights (or any section) do not have their hashes.
void checkWeights(const std::string &Artifact, uint32_t Threads);

/// "1,2,3" to ids.
std::vector<int32_t> parseIds(const std::string &Text);
/// All of standard input.
std::string readStandardInput();
/// All of a file or pipe; "-": of standard input.
std::string readTextFile(const std::string &Path);
/// The same for the value of a flag: usage for one that looks like the content
/// instead of a name.
std::string readFileOf(const std::string &Flag, const std::string &Path);

/// One message as JSON text.
std::string messageJson(const std::string &Role, const std::string &Content);
/// Ids of a conversation by the artifact's template.
std::vector<int32_t> chatTokens(const llmc::Text &T,
                                const std::string &Messages,
                                const std::string &Tools = "",
                                const std::string &Documents = "",
                                const std::string &Variables = "");

/// "eos", "stop", "length".
const char *finishName(llmc_finish F);

/// Ctrl-C: the first sets a flag, the second ends the program at once.
void catchInterrupts();
bool interrupted();
/// Throws the failure with exit code 130 when interrupted.
void throwIfInterrupted();

} // namespace llmcrun

#endif // LLMC_TOOLS_LLMCRUN_COMMON_H
