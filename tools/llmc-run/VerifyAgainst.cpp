// llmc verify --against: llmc-compile evaluates the graph into a file, the
// engine runs the artifact on the same tokens, row by row they are compared.
// The error is that of the numbers of all rows, each without its mean, as
// softmax does not see it, over the spread of the reference's: 0 for equal
// rows, 1.4 for rows that have nothing in common.
#include "tools/llmc-run/VerifyAgainst.h"

#include "runtime/base/File.h"
#include "tools/llmc-run/RowStatistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

namespace llmcrun {

namespace {

constexpr size_t MaxTokens = 24, MaxGenerated = 8;

/// A folder that goes away with it.
class Scratch {
public:
  Scratch() {
    std::string Name =
        (std::filesystem::temp_directory_path() / "llmc-XXXXXX").string();
    if (!mkdtemp(Name.data()))
      throw llmc::Error(LLMC_MALFORMED, "cannot make a folder in " + Name);
    Folder = Name;
  }
  ~Scratch() {
    std::error_code Ignored;
    std::filesystem::remove_all(Folder, Ignored);
  }
  std::string file(const char *Name) const { return Folder + "/" + Name; }

private:
  std::string Folder;
};

/// Starts a program beside this one and waits. Its errors are its own; what it
/// ends with is passed on.
void runSibling(const std::string &Name, const std::vector<std::string> &Args) {
  std::filesystem::path Self =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / Name;
  std::vector<std::string> Words = Args;
  Words.insert(Words.begin(), Self.string());
  std::vector<char *> Pointers;
  for (std::string &W : Words)
    Pointers.push_back(W.data());
  Pointers.push_back(nullptr);
  pid_t Child = 0;
  if (int E = posix_spawn(&Child, Pointers[0], nullptr, nullptr,
                          Pointers.data(), environ))
    throw llmc::Error(LLMC_MALFORMED,
                      "cannot start " + Words[0] + ": " + std::strerror(E));
  int State = 0;
  while (waitpid(Child, &State, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(State) && WEXITSTATUS(State) == 0)
    return;
  int Code = WIFEXITED(State) ? WEXITSTATUS(State) : int(LLMC_INTERNAL);
  throw llmc::Error(static_cast<llmc_code>(Code),
                    "the graph could not be evaluated (see above)");
}

/// The numbers of an .npy file that llmc-compile wrote.
std::vector<float> readRows(const std::string &Path, size_t Columns) {
  std::vector<uint8_t> Bytes = check(llmc::readFile(Path, UINT64_C(4) << 30));
  size_t Header = 0;
  if (Bytes.size() >= 10 && std::memcmp(Bytes.data(), "\x93NUMPY\x01", 7) == 0)
    Header = 10u + Bytes[8] + 256u * Bytes[9];
  size_t Data = Bytes.size() - std::min(Header, Bytes.size());
  if (Header == 0 || Data == 0 || Data % (Columns * sizeof(float)))
    check(llmc::internalError(Path + " has " + std::to_string(Data) +
                              " bytes, expected rows of " +
                              std::to_string(Columns)));
  std::vector<float> Out(Data / sizeof(float));
  std::memcpy(Out.data(), Bytes.data() + Header, Data);
  return Out;
}

/// Logits of all tokens: a prompt at once, the rest one by one.
std::vector<float> runArtifact(const llmc::Model &M,
                               const std::vector<int32_t> &Tokens,
                               size_t Prompt, size_t Columns) {
  llmc::Engine E(M, 1);
  llmc::Sequence S = E.sequence();
  std::vector<float> Out(Tokens.size() * Columns);
  size_t Step = std::max<size_t>(1, M.info().max_step_tokens);
  for (size_t At = 0; At < Tokens.size();) {
    size_t End = At < Prompt ? std::min(Prompt, At + Step) : At + 1;
    llmc_class Class = At < Prompt ? LLMC_PROMPT : LLMC_GENERATED;
    std::vector<llmc_row> Rows;
    for (size_t I = At; I < End; ++I)
      Rows.push_back({S.get(), Tokens[I], Class, true});
    E.forward(Rows, std::span(Out).subspan(At * Columns, (End - At) * Columns));
    At = End;
  }
  return Out;
}

double meanOf(const float *Row, size_t N) {
  double Sum = 0;
  for (size_t I = 0; I < N; ++I)
    Sum += static_cast<double>(Row[I]);
  return Sum / static_cast<double>(N);
}

/// Squares of all rows.
struct Squares {
  double Error = 0, Spread = 0;
  bool Finite = true;
  double relative() const {
    if (!Finite)
      return std::numeric_limits<double>::infinity();
    return std::sqrt(Spread > 0 ? Error / Spread : Error);
  }
};

/// Adds one row to the report.
void compareRow(const float *Want, const float *Have, size_t N, Squares &S,
                AgainstReport &R) {
  double WantMean = meanOf(Want, N), HaveMean = meanOf(Have, N);
  for (size_t I = 0; I < N; ++I) {
    double W = static_cast<double>(Want[I]), H = static_cast<double>(Have[I]);
    S.Finite &= std::isfinite(W) && std::isfinite(H);
    double D = (H - HaveMean) - (W - WantMean);
    S.Error += D * D;
    S.Spread += (W - WantMean) * (W - WantMean);
    R.Largest = std::max(R.Largest, std::abs(W));
    R.Difference = std::max(R.Difference, std::abs(H - W));
  }
  R.KlMean +=
      klDivergence(Want, logSumExp(Want, N), Have, logSumExp(Have, N), N);
  R.SameTop += argMax(Want, N) == argMax(Have, N);
  ++R.Rows;
}

/// What rounding of weights, activations and caches may change; of several
/// precisions the coarsest counts. Caches are f16 beside f32 weights, too. Wide
/// for codes: small random models amplify the error of every layer.
double boundOf(const AgainstOptions &O) {
  const auto Has = [&](const char *Name) {
    return O.Precision.find(Name) != std::string::npos;
  };
  double Bound = Has("int4") || Has("int2") || Has("fp4") ? 1.0
                 : Has("int") || Has("fp8")               ? 0.3
                 : Has("bf16")                            ? 0.1
                 : Has("f16")                             ? 3e-2
                                                          : 5e-3;
  bool Codes = O.Activations.find("int8") != std::string::npos;
  return std::max(Bound, Codes ? 0.3 : 0);
}

} // namespace

AgainstReport verifyAgainst(const AgainstOptions &O) {
  llmc::Model M = O.Device.load(O.Artifact, 2 * MaxTokens);
  size_t Columns = M.info().vocab;
  size_t Count = std::min<size_t>(MaxTokens, M.info().max_context);
  std::vector<int32_t> Tokens;
  std::string List;
  for (size_t I = 0; I < Count; ++I) {
    Tokens.push_back(static_cast<int32_t>((I * 37 + 5) % Columns));
    List += (I ? "," : "") + std::to_string(Tokens.back());
  }
  Scratch Folder;
  std::string File = Folder.file("reference.npy");
  std::vector<std::string> Args{"reference",  O.Model,
                                "--tokens",   List,
                                "--features", std::to_string(Columns),
                                "-o",         File};
  if (O.AllowSymlinks)
    Args.push_back("--allow-symlinks");
  runSibling("llmc-compile", Args);
  std::vector<float> Want = readRows(File, Columns);
  size_t Rows = Want.size() / Columns;
  if (Rows > Count)
    check(llmc::internalError("the graph gave " + std::to_string(Rows) +
                              " rows for " + std::to_string(Count) +
                              " tokens"));
  size_t Prompt = Count - std::min(MaxGenerated, Count / 2);
  std::vector<float> Have = runArtifact(M, Tokens, Prompt, Columns);
  AgainstReport R;
  R.Tokens = Count;
  R.Bound = boundOf(O);
  const float *First = Have.data() + (Count - Rows) * Columns;
  Squares S;
  for (size_t I = 0; I < Rows; ++I)
    compareRow(Want.data() + I * Columns, First + I * Columns, Columns, S, R);
  R.RelativeError = S.relative();
  R.KlMean /= static_cast<double>(R.Rows);
  return R;
}

} // namespace llmcrun
