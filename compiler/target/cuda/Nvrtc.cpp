// Search for NVRTC, its symbol table and one compile.
#include "compiler/target/cuda/Nvrtc.h"

#include "compiler/target/cuda/PtxVersion.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace llmc::cuda {
namespace fs = std::filesystem;

/// The entry points that are used, with the types that NVRTC documents.
struct Nvrtc::Table {
  void *Library = nullptr;
  int (*Version)(int *, int *) = nullptr;
  const char *(*ErrorString)(int) = nullptr;
  int (*NumArchs)(int *) = nullptr;
  int (*GetArchs)(int *) = nullptr;
  int (*Create)(void **, const char *, const char *, int, const char *const *,
                const char *const *) = nullptr;
  int (*Destroy)(void **) = nullptr;
  int (*Compile)(void *, int, const char *const *) = nullptr;
  int (*CubinSize)(void *, size_t *) = nullptr;
  int (*Cubin)(void *, char *) = nullptr;
  int (*PtxSize)(void *, size_t *) = nullptr;
  int (*Ptx)(void *, char *) = nullptr;
  int (*LogSize)(void *, size_t *) = nullptr;
  int (*Log)(void *, char *) = nullptr;

  ~Table() {
    if (Library)
      dlclose(Library);
  }
  /// Resolves everything; the name of the first missing symbol or empty.
  std::string resolve();
};

std::string Nvrtc::Table::resolve() {
  std::string Missing;
  auto Get = [&](auto &Slot, const char *Name) {
    Slot = reinterpret_cast<std::remove_reference_t<decltype(Slot)>>(
        dlsym(Library, Name));
    if (!Slot && Missing.empty())
      Missing = Name;
  };
  Get(Version, "nvrtcVersion");
  Get(ErrorString, "nvrtcGetErrorString");
  Get(NumArchs, "nvrtcGetNumSupportedArchs");
  Get(GetArchs, "nvrtcGetSupportedArchs");
  Get(Create, "nvrtcCreateProgram");
  Get(Destroy, "nvrtcDestroyProgram");
  Get(Compile, "nvrtcCompileProgram");
  Get(CubinSize, "nvrtcGetCUBINSize");
  Get(Cubin, "nvrtcGetCUBIN");
  Get(PtxSize, "nvrtcGetPTXSize");
  Get(Ptx, "nvrtcGetPTX");
  Get(LogSize, "nvrtcGetProgramLogSize");
  Get(Log, "nvrtcGetProgramLog");
  return Missing;
}

Nvrtc::Nvrtc() : Api(std::make_unique<Table>()) {}
Nvrtc::~Nvrtc() = default;

std::string Nvrtc::version() const {
  return std::to_string(Major) + "." + std::to_string(Minor);
}

/// A folder gives its libnvrtc.so* files, unversioned first; a file itself.
static std::vector<std::string> candidatesOf(const std::string &Path) {
  std::error_code Error;
  if (!fs::is_directory(Path, Error))
    return {Path};
  std::vector<std::string> Files;
  for (fs::directory_iterator It(Path, Error), End; !Error && It != End;
       It.increment(Error)) {
    std::string Name = It->path().filename().string();
    if (Name == "libnvrtc.so" || Name.starts_with("libnvrtc.so."))
      Files.push_back(It->path().string());
  }
  std::sort(Files.begin(), Files.end());
  if (Files.empty())
    Files.push_back(Path + "/libnvrtc.so");
  return Files;
}

Status Nvrtc::load(const std::string &Name, std::vector<std::string> &Tried) {
  Table T;
  T.Library = dlopen(Name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!T.Library) {
    const char *Why = dlerror();
    Tried.push_back("tried " + Name + ": " + (Why ? Why : "cannot be loaded"));
    return doesNotFitError("cannot load nvrtc");
  }
  std::string Missing = T.resolve();
  if (!Missing.empty()) {
    Tried.push_back("tried " + Name + ": has no symbol " + Missing);
    return doesNotFitError("cannot load nvrtc");
  }
  std::swap(*Api, T);
  File = Name;
  int Count = 0;
  if (Api->Version(&Major, &Minor) != 0 || Api->NumArchs(&Count) != 0 ||
      Count < 0 || Count > 1000)
    return internalError("nvrtc of " + Name + " does not tell its version");
  Archs.resize(Count);
  if (Count != 0 && Api->GetArchs(Archs.data()) != 0)
    return internalError("nvrtc of " + Name + " does not tell its targets");
  return Status::success();
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::open(const std::string &Path) {
  std::vector<std::string> Places, Tried;
  const char *Env = std::getenv("LLMC_NVRTC");
  if (!Path.empty()) {
    Places = candidatesOf(Path);
  } else if (Env && *Env) {
    Places = candidatesOf(Env);
  } else {
    std::error_code Error;
    fs::path Program = fs::read_symlink("/proc/self/exe", Error).parent_path();
    if (!Error)
      for (fs::path Folder :
           {Program / "lib/nvrtc", Program.parent_path() / "lib/nvrtc"})
        for (std::string &F : candidatesOf(Folder.string()))
          Places.push_back(std::move(F));
    for (std::string &F : candidatesOf("/usr/local/cuda/lib64"))
      Places.push_back(std::move(F));
    for (const char *Name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"})
      Places.push_back(Name);
  }
  std::shared_ptr<Nvrtc> Found(new Nvrtc());
  for (const std::string &Place : Places) {
    Status S = Found->load(Place, Tried);
    if (S.ok())
      return std::shared_ptr<const Nvrtc>(std::move(Found));
    if (S.code() != StatusCode::DoesNotFit)
      return S;
  }
  std::string Given = !Path.empty() ? "nvrtc not found at " + Path
                      : Env && *Env
                          ? "nvrtc not found at $LLMC_NVRTC " + std::string(Env)
                          : "nvrtc not found, needed for sm_* "
                            "targets: give --nvrtc PATH";
  Status Failure = doesNotFitError(Given);
  for (std::string &Line : Tried)
    Failure.addNote(std::move(Line));
  return Failure;
}

/// At most Limit lines of a log, as notes.
static void addLog(Status &S, const std::string &Log, size_t Limit) {
  size_t Begin = 0;
  while (Begin < Log.size() && Limit-- != 0) {
    size_t End = std::min(Log.find('\n', Begin), Log.size());
    if (End != Begin)
      S.addNote(Log.substr(Begin, End - Begin));
    Begin = End + 1;
  }
}

/// The trailing NUL that NVRTC counts is cut.
template <typename SizeFn, typename GetFn>
static Status fetch(SizeFn Size, GetFn Get, void *Program, std::string &Out) {
  size_t Bytes = 0;
  if (Size(Program, &Bytes) != 0)
    return internalError("nvrtc gives no result");
  Out.resize(Bytes);
  if (Bytes != 0 && Get(Program, Out.data()) != 0)
    return internalError("nvrtc gives no result");
  return Status::success();
}

Result<CompiledModule>
Nvrtc::compile(std::string_view Text, std::string_view Target,
               const std::vector<std::string> &ExtraOptions) const {
  std::string Number(Target.starts_with("sm_") ? Target.substr(3) : Target);
  bool Known = std::any_of(Archs.begin(), Archs.end(), [&](int A) {
    return std::to_string(A) ==
           Number.substr(0, Number.find_last_of("0123456789") + 1);
  });
  if (!Target.starts_with("sm_") || !Known)
    return unsupportedError("nvrtc " + version() + " of " + File +
                            " does not compile for " + std::string(Target));
  std::vector<std::string> Options = {
      "--gpu-architecture=" + std::string(Target), "--std=c++17",
      "--fmad=false", "--ptxas-options=-v", "--diag-suppress=177"};
  Options.insert(Options.end(), ExtraOptions.begin(), ExtraOptions.end());
  // For the simulator's sanitizer and for profilers; nothing else changes.
  if (const char *Lines = std::getenv("LLMC_CUDA_LINE_INFO"); Lines && *Lines)
    Options.push_back("--generate-line-info");
  std::vector<const char *> Pointers;
  for (const std::string &O : Options)
    Pointers.push_back(O.c_str());

  void *Program = nullptr;
  std::string Source(Text);
  int Code = Api->Create(&Program, Source.c_str(), "llmc_kernels.cu", 0,
                         nullptr, nullptr);
  if (Code != 0)
    return internalError(std::string("nvrtc: ") + Api->ErrorString(Code));
  Code =
      Api->Compile(Program, static_cast<int>(Pointers.size()), Pointers.data());
  CompiledModule Out;
  std::string Cubin;
  Status S = fetch(Api->LogSize, Api->Log, Program, Out.Log);
  if (Code != 0) {
    S = internalError(std::string("generated kernels do not compile for ") +
                      std::string(Target) + ": " + Api->ErrorString(Code));
    addLog(S, Out.Log, 40);
  }
  if (S.ok())
    S = fetch(Api->CubinSize, Api->Cubin, Program, Cubin);
  if (S.ok())
    S = fetch(Api->PtxSize, Api->Ptx, Program, Out.Ptx);
  Api->Destroy(&Program);
  LLMC_RETURN_IF_ERROR(S);
  Out.Log.resize(Out.Log.find_last_not_of('\0') + 1);
  Out.Ptx.resize(Out.Ptx.find_last_not_of('\0') + 1);
  Out.Cubin.assign(Cubin.begin(), Cubin.end());
  Out.Kernels = parsePtxasLog(Out.Log);
  LLMC_RETURN_IF_ERROR(checkResources(Out.Kernels));
  LLMC_ASSIGN_OR_RETURN(Out.Ptx, relabelPtx(Out.Ptx));
  return Out;
}

Status checkResources(const std::vector<KernelFacts> &Kernels) {
  for (const KernelFacts &K : Kernels) {
    if (K.SpillBytes != 0)
      return internalError("kernel " + K.Name + " spills " +
                           std::to_string(K.SpillBytes) +
                           " bytes of registers, expected 0");
    if (K.LocalBytes != 0)
      return internalError("kernel " + K.Name + " uses " +
                           std::to_string(K.LocalBytes) +
                           " bytes of local memory, expected 0");
  }
  return Status::success();
}

} // namespace llmc::cuda
