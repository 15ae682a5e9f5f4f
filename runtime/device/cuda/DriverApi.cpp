// Loading the driver and naming its errors.
#include "runtime/device/cuda/DriverApi.h"

#include <dlfcn.h>

namespace llmc::cuda {

/// PTX 7.0, the lowest that we write, came with CUDA 11.0.
constexpr int OldestVersion = 11000;

static std::string cudaVersion(int V) {
  return std::to_string(V / 1000) + "." + std::to_string(V % 1000 / 10);
}

Driver::~Driver() {
  if (Library)
    dlclose(Library);
}

/// Resolves every symbol; the name of the first missing one, or empty.
std::string Driver::resolve() {
  std::string Missing;
  auto Get = [&](auto &Slot, const char *Symbol) {
    Slot = reinterpret_cast<std::remove_reference_t<decltype(Slot)>>(
        dlsym(Library, Symbol));
    if (!Slot && Missing.empty())
      Missing = Symbol;
  };
#define LLMC_CUDA_RESOLVE(Name, Symbol, Params) Get(Name, Symbol);
  LLMC_CUDA_DRIVER_SYMBOLS(LLMC_CUDA_RESOLVE)
  std::string Needed = Missing;
  LLMC_CUDA_OPTIONAL_SYMBOLS(LLMC_CUDA_RESOLVE)
#undef LLMC_CUDA_RESOLVE
  return Needed;
}

Result<std::shared_ptr<const Driver>> Driver::load(const std::string &Name) {
  std::shared_ptr<Driver> D(new Driver());
  D->Library = dlopen(Name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!D->Library) {
    const char *Why = dlerror();
    return doesNotFitError("no cuda driver: " +
                           std::string(Why ? Why : "cannot load " + Name));
  }
  std::string Missing = D->resolve();
  if (!Missing.empty())
    return doesNotFitError("the cuda driver " + Name +
                           " is too old: it has no " + Missing);
  LLMC_RETURN_IF_ERROR(
      D->check(D->DriverGetVersion(&D->Version), "ask the driver's version"));
  if (D->Version < OldestVersion)
    return doesNotFitError("the cuda driver is too old: it is for CUDA " +
                           cudaVersion(D->Version) + ", needed " +
                           cudaVersion(OldestVersion));
  LLMC_RETURN_IF_ERROR(D->check(D->Init(0), "start the cuda driver"));
  return std::shared_ptr<const Driver>(std::move(D));
}

Status Driver::check(int Code, std::string_view What) const {
  if (Code == DriverSuccess)
    return Status::success();
  const char *Name = nullptr, *Words = nullptr;
  if (GetErrorName(Code, &Name) != DriverSuccess)
    Name = nullptr;
  if (GetErrorString(Code, &Words) != DriverSuccess)
    Words = nullptr;
  std::string Text =
      "cannot " + std::string(What) + ": " +
      (Name ? std::string(Name) : "cuda error " + std::to_string(Code));
  if (Words)
    Text += " (" + std::string(Words) + ")";
  switch (Code) {
  case DriverOutOfMemory:
  case DriverNoDevice:
  case DriverInvalidDevice:
  case DriverNoBinary:
  case DriverMismatch:
  case DriverCompatNotSupported:
    return doesNotFitError(std::move(Text));
  case DriverUnsupportedPtx:
    return doesNotFitError(std::move(Text) + ": the driver, for CUDA " +
                           cudaVersion(Version) + ", is too old for this code");
  default:
    return internalError(std::move(Text));
  }
}

} // namespace llmc::cuda
