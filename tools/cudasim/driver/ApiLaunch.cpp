// The driver API: launches and occupancy.
#include "tools/cudasim/driver/ApiCapture.h"
#include "tools/cudasim/driver/Chip.h"
#include "tools/cudasim/sanitize/Findings.h"

#include <algorithm>
#include <cstring>

namespace llmc::cudasim {
namespace {

/// The bytes of the parameters from either form of arguments.
int readParams(const Program &P, void **Params, void **Extra,
               std::vector<uint8_t> &Out) {
  Out.assign(P.ParamBytes, 0);
  if (Params && Extra)
    return InvalidValue;
  if (P.Params.empty())
    return Success;
  if (Params) {
    for (size_t I = 0; I != P.Params.size(); ++I) {
      if (!Params[I])
        return InvalidValue;
      std::memcpy(Out.data() + P.Params[I].Offset, Params[I],
                  P.Params[I].Bytes);
    }
    return Success;
  }
  // CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END.
  void *Buffer = nullptr;
  size_t Bytes = 0;
  for (size_t I = 0; Extra && I < 8; I += 2) {
    uintptr_t Key = reinterpret_cast<uintptr_t>(Extra[I]);
    if (Key == 0)
      break;
    if (Key == 1)
      Buffer = Extra[I + 1];
    else if (Key == 2 && Extra[I + 1])
      Bytes = *static_cast<size_t *>(Extra[I + 1]);
    else
      return InvalidValue;
  }
  if (!Buffer || Bytes != P.ParamBytes)
    return InvalidValue;
  std::memcpy(Out.data(), Buffer, Bytes);
  return Success;
}

/// A code and why; the reason is for the sanitizer's report.
struct Refusal {
  int Code = Success;
  std::string Why;
};

Refusal checkShape(const LaunchRequest &R, const Program &P) {
  uint64_t Threads = uint64_t{R.Block[0]} * R.Block[1] * R.Block[2];
  uint64_t Blocks = uint64_t{R.Grid[0]} * R.Grid[1] * R.Grid[2];
  if (Threads == 0 || Blocks == 0)
    return {InvalidValue, "a launch without threads"};
  if (R.Block[0] > 1024 || R.Block[1] > 1024 || R.Block[2] > 64 ||
      Threads > 1024)
    return {InvalidValue, "blocks of " + std::to_string(Threads) +
                              " threads, at most 1024 are possible"};
  if (R.Grid[0] > 0x7fffffffu || R.Grid[1] > 65535 || R.Grid[2] > 65535)
    return {InvalidValue, "a grid of " + std::to_string(Blocks) +
                              " blocks is outside the limits"};
  if (Threads > P.MaxThreads)
    return {OutOfResources, "blocks of " + std::to_string(Threads) +
                                " threads, the kernel is made for " +
                                std::to_string(P.MaxThreads)};
  for (unsigned I = 0; P.ReqThreads[0] && I != 3; ++I)
    if (R.Block[I] != P.ReqThreads[I])
      return {InvalidValue, "the block's shape is not the one of .reqntid"};
  unsigned Most = R.Function->MostDynamicShared, Default = 49152;
  uint64_t Shared = uint64_t{R.Shared} + P.SharedBytes;
  if (Shared > chip().SharedOptIn || (Shared > Default && R.Shared > Most))
    return {InvalidValue,
            std::to_string(Shared) + " bytes of shared memory, " +
                std::to_string(Shared > chip().SharedOptIn ? chip().SharedOptIn
                                                           : Default) +
                " are allowed"};
  return {};
}

int refused(const Program &P, const Refusal &R) {
  if (settings().Sanitize) {
    Finding F;
    F.Kind = "launch";
    F.Kernel = P.Name;
    F.Text = R.Why + ": kernel " + P.Name;
    findings().add(std::move(F));
  }
  return R.Code;
}

/// Launch overhead and issue slots: what can be said without counters.
double quickMicroseconds(const Launch &L) {
  const GpuChip &C = chip();
  double Slots = 4.0 * C.Multiprocessors * C.GHz * 1e3; // per microsecond
  return 2.5 + static_cast<double>(L.Executed.load()) / Slots;
}
} // namespace

int prepareLaunch(Context &C, const LaunchRequest &R, void **Params,
                  void **Extra, std::shared_ptr<KernelWork> &Out) {
  const Program &P = *R.Function->Prog;
  if (Refusal Why = checkShape(R, P); Why.Code != Success)
    return refused(P, Why);
  unsigned Threads = R.Block[0] * R.Block[1] * R.Block[2];
  unsigned PerSm = residentBlocks(P, Threads, R.Shared);
  Out = std::make_shared<KernelWork>();
  Out->Of = &C;
  Out->R = R;
  Out->Prog = R.Function->Prog;
  Out->Resident = uint64_t{std::max(1u, PerSm)} * chip().Multiprocessors;
  if (R.Cooperative &&
      uint64_t{R.Grid[0]} * R.Grid[1] * R.Grid[2] > Out->Resident)
    return CooperativeTooLarge;
  Out->Params = std::make_shared<std::vector<uint8_t>>();
  if (int Code = readParams(P, Params, Extra, *Out->Params))
    return refused(P, {Code, "the arguments are not " +
                                 std::to_string(P.ParamBytes) + " bytes"});
  return Success;
}

Launch &KernelWork::launch() {
  if (Begun)
    return *Begun;
  Begun = std::make_shared<Launch>();
  Launch &L = *Begun;
  L.Prog = Prog.get();
  std::copy(R.Grid, R.Grid + 3, L.Grid);
  std::copy(R.Block, R.Block + 3, L.Block);
  L.DynamicShared = R.Shared;
  L.Params = *Params;
  L.Memory = &Of->Memory;
  L.Cooperative = R.Cooperative;
  L.Early = R.Early;
  L.Resident = static_cast<uint32_t>(std::min<uint64_t>(Resident, 4096));
  L.Multiprocessors = chip().Multiprocessors;
  L.Tensor = settings().TensorMode;
  L.LazyCopies = settings().LazyCopies;
  L.Seed = settings().Seed;
  L.Watch = launchWatcher(*Of, L);
  return L;
}

int KernelWork::run(KernelWork *Next) {
  Launch &L = launch();
  L.Dependent = Next ? &Next->launch() : nullptr;
  Fault F = runGrid(L);
  Of->Microseconds += quickMicroseconds(L);
  if (F.Text.empty())
    return Success;
  if (!L.Watch)
    report("error " + std::to_string(F.Code) + ": " + F.Text);
  return F.Code;
}

static int launch(LaunchRequest R, DeviceFunction *F, Stream *Handle,
                  void **Params, void **Extra) {
  return inContext([&](Context &C) -> int {
    R.Function = functionOf(C, F);
    Stream *S = streamOf(C, Handle);
    if (!R.Function || !S)
      return InvalidHandle;
    std::shared_ptr<KernelWork> Work;
    if (int Code = prepareLaunch(C, R, Params, Extra, Work))
      return Code;
    return S->Capturing ? record(*S, std::move(Work)) : C.enqueue(*S, *Work);
  });
}

} // namespace llmc::cudasim

using namespace llmc::cudasim;

SIM_EXPORT int cuLaunchKernel(DeviceFunction *F, unsigned Gx, unsigned Gy,
                              unsigned Gz, unsigned Bx, unsigned By,
                              unsigned Bz, unsigned Shared, Stream *S,
                              void **Params, void **Extra) {
  LaunchRequest R{nullptr, {Gx, Gy, Gz}, {Bx, By, Bz}, Shared, false, false};
  return launch(R, F, S, Params, Extra);
}
SIM_EXPORT int cuLaunchCooperativeKernel(DeviceFunction *F, unsigned Gx,
                                         unsigned Gy, unsigned Gz, unsigned Bx,
                                         unsigned By, unsigned Bz,
                                         unsigned Shared, Stream *S,
                                         void **Params) {
  LaunchRequest R{nullptr, {Gx, Gy, Gz}, {Bx, By, Bz}, Shared, true, false};
  return launch(R, F, S, Params, nullptr);
}

/// CUlaunchConfig of cuda.h.
struct LaunchConfig {
  unsigned Grid[3], Block[3], Shared;
  Stream *Where;
  struct Attribute {
    int Id;
    char Pad[4];
    char Value[64];
  } *Attributes;
  unsigned Count;
};
SIM_EXPORT int cuLaunchKernelEx(const LaunchConfig *Config, DeviceFunction *F,
                                void **Params, void **Extra) {
  if (!Config || (Config->Count != 0 && !Config->Attributes))
    return InvalidValue;
  LaunchRequest R;
  std::copy(Config->Grid, Config->Grid + 3, R.Grid);
  std::copy(Config->Block, Config->Block + 3, R.Block);
  R.Shared = Config->Shared;
  for (unsigned I = 0; I != Config->Count; ++I) {
    int Value = 0;
    std::memcpy(&Value, Config->Attributes[I].Value, 4);
    if (Config->Attributes[I].Id == 2) // cooperative
      R.Cooperative = Value != 0;
    if (Config->Attributes[I].Id == 6) // programmatic stream serialization
      R.Early = Value != 0;
    if (Config->Attributes[I].Id == 4) { // cluster dimensions
      unsigned Cluster[3];
      std::memcpy(Cluster, Config->Attributes[I].Value, sizeof(Cluster));
      if (Cluster[0] * Cluster[1] * Cluster[2] != 1)
        return NotSupported;
    }
  }
  return launch(R, F, Config->Where, Params, Extra);
}

SIM_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *Blocks,
                                                           DeviceFunction *F,
                                                           int Threads,
                                                           size_t Dynamic) {
  return inContext([&](Context &C) -> int {
    DeviceFunction *Known = functionOf(C, F);
    if (!Known)
      return InvalidHandle;
    if (!Blocks || Threads <= 0 || Threads > 1024 || Dynamic > (1u << 20))
      return InvalidValue;
    *Blocks = static_cast<int>(residentBlocks(*Known->Prog,
                                              static_cast<unsigned>(Threads),
                                              static_cast<unsigned>(Dynamic)));
    return Success;
  });
}
SIM_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *Blocks, DeviceFunction *F, int Threads, size_t Dynamic, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(Blocks, F, Threads,
                                                     Dynamic);
}
