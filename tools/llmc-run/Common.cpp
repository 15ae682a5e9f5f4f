// Shared helpers of the subcommands.
#include "tools/llmc-run/Common.h"

#include "runtime/base/File.h"
#include "runtime/base/Log.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace llmcrun {

namespace {
std::atomic<bool> Interrupted = false;
constexpr size_t MaxInput = 256 << 20;
} // namespace

void check(llmc::Status S) {
  if (!S.ok())
    throw llmc::Error(static_cast<llmc_code>(S.code()), S.message(), S.notes());
}

void usage(const std::string &Message) {
  throw llmc::Error(LLMC_USAGE, Message);
}

void checkCompiled(const std::string &Path, bool FolderToo) {
  std::error_code Error;
  bool Folder = std::filesystem::is_directory(Path, Error);
  if ((Folder && !FolderToo) || (!Folder && Path.ends_with(".onnx")))
    throw llmc::Error(LLMC_MALFORMED,
                      Path + " is " + (Folder ? "a folder" : "an ONNX file") +
                          ", expected an artifact, which llmc compile makes");
}

void DeviceFlags::add(CLI::App &App) {
  App.add_option("--device", Device,
                 "auto, cpu, cuda, cuda:N or cuda-sim (default auto)");
  App.add_option("--threads", Threads,
                 "threads of the CPU (default: all that it grants)");
}

llmc::Model DeviceFlags::load(const std::string &Path,
                              uint32_t KvTokens) const {
  checkCompiled(Path);
  llmc::ModelOptions O;
  O.Device = Device;
  O.Threads = Threads;
  O.KvTokens = KvTokens;
  llmc::Model M = llmc::Model::load(Path, O);
  if (std::string Note = M.info().note; !Note.empty())
    llmc::printNote(Note);
  return M;
}

void SamplingFlags::add(CLI::App &App) {
  App.add_option("--temperature", Temperature, "0: the most likely token");
  App.add_option("--top-k", TopK, "only the K most likely; 0: off");
  App.add_option("--top-p", TopP, "only the most likely of this mass; 1: off");
  App.add_option("--min-p", MinP,
                 "only those with this share of the best; 0: off");
  App.add_option("--typical-p", TypicalP,
                 "only the most typical of this mass; 1: off");
  App.add_option("--repetition-penalty", RepetitionPenalty,
                 "over prompt and output; 1: off");
  App.add_option("--frequency-penalty", FrequencyPenalty,
                 "for each time in the output; 0: off");
  App.add_option("--presence-penalty", PresencePenalty,
                 "for being in the output; 0: off");
  App.add_option("--no-repeat-ngram-size", NoRepeatNgram,
                 "no run of N tokens twice; 0: off");
  App.add_option("--min-tokens", MinTokens, "no end token before");
  App.add_option("--seed", Seed, "equal seeds give equal tokens (default 0)");
}

llmc_sampling SamplingFlags::over(llmc_sampling S) const {
  S.temperature = Temperature.value_or(S.temperature);
  S.top_k = TopK.value_or(S.top_k);
  S.top_p = TopP.value_or(S.top_p);
  S.min_p = MinP.value_or(S.min_p);
  S.repetition_penalty = RepetitionPenalty.value_or(S.repetition_penalty);
  S.typical_p = TypicalP.value_or(S.typical_p);
  S.frequency_penalty = FrequencyPenalty.value_or(S.frequency_penalty);
  S.presence_penalty = PresencePenalty.value_or(S.presence_penalty);
  S.no_repeat_ngram = NoRepeatNgram.value_or(S.no_repeat_ngram);
  S.min_tokens = MinTokens.value_or(S.min_tokens);
  S.seed = Seed.value_or(S.seed);
  return S;
}

std::vector<int32_t> parseIds(const std::string &Text) {
  std::vector<int32_t> Ids;
  const char *At = Text.data(), *End = At + Text.size();
  while (At != End) {
    int32_t Id = 0;
    std::from_chars_result R = std::from_chars(At, End, Id);
    bool More = R.ptr != End && *R.ptr == ',' && R.ptr + 1 != End;
    if (R.ec != std::errc() || (R.ptr != End && !More))
      usage("token list '" + Text.substr(0, 80) +
            "' is not of the form 1,2,3 (at byte " +
            std::to_string(R.ptr - Text.data()) + ")");
    Ids.push_back(Id);
    At = More ? R.ptr + 1 : R.ptr;
  }
  return Ids;
}

static std::string readStream(std::FILE *In, const std::string &Name) {
  std::string Text;
  char Buffer[65536];
  for (size_t N; (N = std::fread(Buffer, 1, sizeof(Buffer), In)) != 0;) {
    Text.append(Buffer, N);
    throwIfInterrupted();
    if (Text.size() > MaxInput)
      throw llmc::Error(LLMC_DOES_NOT_FIT, Name + " has more than " +
                                               std::to_string(MaxInput) +
                                               " bytes");
  }
  throwIfInterrupted();
  if (std::ferror(In))
    throw llmc::Error(LLMC_MALFORMED,
                      "cannot read " + Name + ": " + std::strerror(errno));
  return Text;
}

std::string readStandardInput() { return readStream(stdin, "standard input"); }

std::string readTextFile(const std::string &Path) {
  if (Path == "-")
    return readStandardInput();
  std::error_code Error;
  if (std::filesystem::is_fifo(Path, Error)) { // such as <(command)
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> In(
        std::fopen(Path.c_str(), "rb"), std::fclose);
    if (In)
      return readStream(In.get(), Path);
  }
  return std::string(llmc::textOf(check(llmc::readFile(Path))));
}

std::string readFileOf(const std::string &Flag, const std::string &Path) {
  // Whoever writes the text itself there is told so, not that it cannot be
  // opened.
  size_t Begin = Path.find_first_not_of(" \t\r\n");
  std::error_code Error;
  bool IsText = Begin != std::string::npos &&
                (Path[Begin] == '{' || Path[Begin] == '[' ||
                 Path.find_first_of("\n=") != std::string::npos);
  if (IsText && !std::filesystem::exists(Path, Error))
    usage(Flag + " takes a file (- reads standard input), not the text itself");
  return readTextFile(Path);
}

std::string messageJson(const std::string &Role, const std::string &Content) {
  llmc::JsonWriter W;
  W.beginObject().member("role", Role).member("content", Content).endObject();
  return W.text();
}

std::vector<int32_t> chatTokens(const llmc::Text &T,
                                const std::string &Messages,
                                const std::string &Tools,
                                const std::string &Documents,
                                const std::string &Variables) {
  return T.encode(T.render(Messages, Tools, true, Documents, Variables),
                  LLMC_NO_SPECIAL);
}

const char *finishName(llmc_finish F) {
  switch (F) {
  case LLMC_FINISH_EOS:
    return "eos";
  case LLMC_FINISH_STOP:
    return "stop";
  case LLMC_FINISH_LENGTH:
    return "length";
  case LLMC_CANCELLED:
    return "cancelled";
  case LLMC_RUNNING:
    break;
  }
  return "running";
}

void catchInterrupts() {
  struct sigaction A = {};
  A.sa_handler = [](int) { Interrupted = true; };
  A.sa_flags = static_cast<int>(SA_RESETHAND); // the second one ends us
  sigaction(SIGINT, &A, nullptr);
}

bool interrupted() { return Interrupted; }

void throwIfInterrupted() {
  if (Interrupted)
    throw llmc::Error(LLMC_INTERRUPTED, "interrupted");
}

} // namespace llmcrun
