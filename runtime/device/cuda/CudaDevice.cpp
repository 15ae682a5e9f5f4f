// Opening a device and judging whether a program can run on it.
#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/device/cuda/CudaExecutable.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>

namespace llmc::cuda {

DeviceContext::~DeviceContext() {
  if (Primary)
    Api->PrimaryCtxRelease(Device);
}

Status DeviceContext::use() const {
  return Api->check(Api->CtxSetCurrent(Primary), "use the GPU");
}

/// Whatever keeps a GPU from being opened is a fact of the machine, not a bug.
static Status unusable(Status S) {
  if (S.code() != StatusCode::Internal)
    return S;
  return doesNotFitError(S.message());
}

Result<std::unique_ptr<Device>> CudaDevice::open(const std::string &Name,
                                                 const std::string &Library,
                                                 int Number) {
  Result<std::unique_ptr<Device>> D = tryOpen(Name, Library, Number);
  if (!D.ok())
    return unusable(D.takeStatus());
  return D;
}

Result<std::unique_ptr<Device>> CudaDevice::tryOpen(const std::string &Name,
                                                    const std::string &Library,
                                                    int Number) {
  LLMC_ASSIGN_OR_RETURN(std::shared_ptr<const Driver> Api,
                        Driver::load(Library));
  int Count = 0;
  LLMC_RETURN_IF_ERROR(
      Api->check(Api->DeviceGetCount(&Count), "count the GPUs"));
  if (Number >= Count)
    return doesNotFitError("there is no " + Name + ": the driver has " +
                           std::to_string(Count) +
                           (Count == 1 ? " device" : " devices"));
  std::unique_ptr<CudaDevice> D(new CudaDevice());
  D->Name = Name;
  D->Ctx = std::make_shared<DeviceContext>();
  D->Ctx->Api = Api;
  LLMC_RETURN_IF_ERROR(
      Api->check(Api->DeviceGet(&D->Ctx->Device, Number), "open " + Name));
  Ordinal Dev = D->Ctx->Device;
  char Model[256] = "";
  LLMC_RETURN_IF_ERROR(Api->check(
      Api->DeviceGetName(Model, sizeof(Model) - 1, Dev), "ask the GPU's name"));
  D->Model = Model;
  LLMC_RETURN_IF_ERROR(
      Api->check(Api->DeviceGetAttribute(&D->Ctx->Major, AttributeMajor, Dev),
                 "ask the GPU's architecture"));
  LLMC_RETURN_IF_ERROR(
      Api->check(Api->DeviceGetAttribute(&D->Ctx->Minor, AttributeMinor, Dev),
                 "ask the GPU's architecture"));
  LLMC_RETURN_IF_ERROR(
      Api->check(Api->PrimaryCtxRetain(&D->Ctx->Primary, Dev), "open " + Name));
  return std::unique_ptr<Device>(std::move(D));
}

/// 80 for "sm_80"; Exact for "sm_90a", whose code runs on that chip alone.
static bool parseTarget(std::string_view Target, int &Number, bool &Exact) {
  if (!Target.starts_with("sm_"))
    return false;
  const char *End = Target.data() + Target.size();
  std::from_chars_result R = std::from_chars(Target.data() + 3, End, Number);
  Exact = R.ptr != End;
  return R.ec == std::errc();
}

std::string CudaDevice::whyNot(const ProgramView &P) const {
  int Target = 0;
  bool Exact = false;
  if (!parseTarget(P.Target, Target, Exact))
    return "code for " + P.Target + " does not run on a GPU";
  int Here = Ctx->Major * 10 + Ctx->Minor;
  bool Cubin =
      !P.Code.empty() &&
      (Exact ? Here == Target : Here / 10 == Target / 10 && Here >= Target);
  bool Ptx = !P.Ptx.empty() && (Exact ? Here == Target : Here >= Target);
  if (Cubin || Ptx)
    return "";
  return "code for " + P.Target + " does not run on " + Name + " (" + Model +
         ", sm_" + std::to_string(Here) + ")";
}

Result<std::unique_ptr<Executable>>
CudaDevice::load(const ProgramView &P, const DeviceLoadOptions &O) {
  std::string Why = whyNot(P);
  if (!Why.empty())
    return doesNotFitError(std::move(Why));
  return CudaExecutable::load(Ctx, P, O);
}

/// libllmc-cudasim.so beside the program, or in lib beside its folder.
static std::string simulatorLibrary() {
  const char *Env = std::getenv("LLMC_CUDASIM");
  if (Env && *Env)
    return Env;
  std::error_code Error;
  std::filesystem::path Folder =
      std::filesystem::read_symlink("/proc/self/exe", Error).parent_path();
  std::filesystem::path Lib = Folder.parent_path() / "lib/libllmc-cudasim.so";
  if (!Error && std::filesystem::exists(Lib, Error))
    return Lib.string();
  return (Folder / "libllmc-cudasim.so").string();
}

Result<std::unique_ptr<Device>> openCudaDevice(std::string_view Name) {
  if (Name == "cuda-sim") {
    Result<std::unique_ptr<Device>> D =
        CudaDevice::open("cuda-sim", simulatorLibrary(), 0);
    if (D.ok())
      return D;
    return Status(D.status().code(),
                  "no CUDA simulator: " + D.status().message());
  }
  int Number = 0;
  if (Name != "cuda") {
    std::string_view Digits =
        Name.substr(std::min<size_t>(Name.size(), sizeof("cuda:") - 1));
    const char *End = Digits.data() + Digits.size();
    std::from_chars_result R = std::from_chars(Digits.data(), End, Number);
    if (!Name.starts_with("cuda:") || Digits.empty() || R.ptr != End ||
        R.ec != std::errc() || Number < 0)
      return usageError("unknown device '" + std::string(Name) +
                        "', expected cpu, cuda, cuda:N or cuda-sim");
  }
  return CudaDevice::open("cuda:" + std::to_string(Number), "libcuda.so.1",
                          Number);
}

} // namespace llmc::cuda
