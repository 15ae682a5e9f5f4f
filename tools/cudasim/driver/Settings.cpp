// Settings from the environment; docs/how-to/cuda-simulator.md lists them.
#include "tools/cudasim/exec/Machine.h"

#include <cstdlib>
#include <cstring>

namespace llmc::cudasim {

static const char *text(const char *Name) {
  const char *V = std::getenv(Name);
  return V ? V : "";
}
static bool is(const char *Name, const char *Value) {
  return std::strcmp(text(Name), Value) == 0;
}
static uint64_t number(const char *Name, uint64_t Default) {
  const char *V = text(Name);
  char *End = nullptr;
  uint64_t N = std::strtoull(V, &End, 10);
  return *V && *End == 0 ? N : Default;
}

/// LLMC_CUDASIM_SEED=N turns on everything that is random.
static Settings fromEnvironment() {
  Settings S;
  S.Threads = static_cast<unsigned>(number("LLMC_CUDASIM_THREADS", 0));
  S.MemoryBytes = number("LLMC_CUDASIM_MEMORY", 0);
  S.TimeLimit = static_cast<unsigned>(number("LLMC_CUDASIM_TIMEOUT", 600));
  S.Seed = number("LLMC_CUDASIM_SEED", 0);
  S.RandomOrder = *text("LLMC_CUDASIM_SEED") != 0;
  S.RandomStreams = S.RandomOrder;
  S.LazyCopies =
      is("LLMC_CUDASIM_ASYNC", "lazy") ||
      (S.RandomOrder && S.Seed % 2 == 1 && !is("LLMC_CUDASIM_ASYNC", "eager"));
  S.FuzzApprox = is("LLMC_CUDASIM_APPROX", "fuzz");
  S.EagerStreams = is("LLMC_CUDASIM_STREAMS", "eager");
  S.MaxPtx = static_cast<unsigned>(number("LLMC_CUDASIM_MAX_PTX", 0));
  S.TensorMode = is("LLMC_CUDASIM_TENSOR", "arch")    ? Settings::Arch
                 : is("LLMC_CUDASIM_TENSOR", "ideal") ? Settings::Ideal
                                                      : Settings::Fp32;
  S.Sanitize =
      *text("LLMC_CUDASIM_SANITIZE") != 0 && !is("LLMC_CUDASIM_SANITIZE", "0");
  S.NanOrigin = std::strstr(text("LLMC_CUDASIM_SANITIZE"), "nan") != nullptr;
  S.SanitizeFirst = std::strstr(text("LLMC_CUDASIM_SANITIZE"), "first");
  S.Report = text("LLMC_CUDASIM_REPORT");
  S.Profile = text("LLMC_CUDASIM_PROFILE");
  return S;
}

static Settings &current() {
  static Settings S = fromEnvironment();
  return S;
}

const Settings &settings() { return current(); }
void reloadSettings() { current() = fromEnvironment(); }

} // namespace llmc::cudasim
