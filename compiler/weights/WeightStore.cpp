// Opening files under the path rules, reading them by position.
#include "compiler/weights/WeightStore.h"

#include "runtime/base/Quote.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmc;

namespace {
/// More files than this are opened for each read: old exporters write a file
/// per tensor, and descriptors are few.
constexpr size_t MaxOpenFiles = 256;
constexpr size_t MaxFiles = 1 << 16;
constexpr size_t MaxPath = 4096;

/// Closes a descriptor unless it was taken over.
class FdHolder {
public:
  explicit FdHolder(int Fd) : Fd(Fd) {}
  FdHolder(const FdHolder &) = delete;
  FdHolder &operator=(const FdHolder &) = delete;
  ~FdHolder() {
    if (Fd >= 0)
      ::close(Fd);
  }
  int get() const { return Fd; }
  void reset(int NewFd) {
    if (Fd >= 0)
      ::close(Fd);
    Fd = NewFd;
  }
  int release() {
    int Old = Fd;
    Fd = -1;
    return Old;
  }

private:
  int Fd;
};

std::string ofTensor(std::string_view Tensor) {
  return Tensor.empty() ? "" : " of tensor " + quoted(Tensor);
}

/// Lexical clean-up of a relative location: "a/../b" is "b". Fails when it is
/// empty, absolute, or leaves the folder.
Result<std::string> cleanLocation(std::string_view Location,
                                  std::string_view Tensor) {
  const auto Refuse = [&](const char *Why) {
    return malformedError("data file " + quoted(Location) + ofTensor(Tensor) +
                          " is not allowed: " + Why);
  };
  if (Location.empty() || Location.size() > MaxPath)
    return Refuse(Location.empty() ? "the location is empty"
                                   : "the location is longer than 4096 bytes");
  if (Location.find('\0') != std::string_view::npos)
    return Refuse("the location contains a zero byte");
  if (Location.front() == '/')
    return Refuse("an absolute path is outside the folder of the model");
  std::vector<std::string_view> Parts;
  for (size_t Pos = 0; Pos <= Location.size();) {
    size_t End = std::min(Location.find('/', Pos), Location.size());
    std::string_view Part = Location.substr(Pos, End - Pos);
    Pos = End + 1;
    if (Part.empty() || Part == ".")
      continue;
    if (Part != "..") {
      Parts.push_back(Part);
      continue;
    }
    if (Parts.empty())
      return Refuse("it lies outside the folder of the model");
    Parts.pop_back();
  }
  std::string Clean;
  for (std::string_view Part : Parts)
    Clean += (Clean.empty() ? "" : "/") + std::string(Part);
  if (Clean.empty())
    return Refuse("it names the folder of the model");
  return Clean;
}

Status openError(std::string_view Name, std::string_view Tensor,
                 const std::string &Folder) {
  int Error = errno;
  if (Error == ELOOP)
    return malformedError("data file " + quoted(Name) + ofTensor(Tensor) +
                          " is a symbolic link; --allow-symlinks accepts it");
  if (Error == ENOENT)
    return malformedError("data file " + quoted(Name) + ofTensor(Tensor) +
                          " not found in " + quoted(Folder));
  return malformedError("cannot open data file " + quoted(Name) +
                        ofTensor(Tensor) + ": " + std::strerror(Error));
}
} // namespace

WeightStore::WeightStore(WeightStore &&Other) noexcept
    : Options(Other.Options), Folder(std::move(Other.Folder)),
      FolderFd(Other.FolderFd), Files(std::move(Other.Files)),
      ByName(std::move(Other.ByName)) {
  Other.FolderFd = -1;
  Other.Files.clear();
}

WeightStore &WeightStore::operator=(WeightStore &&Other) noexcept {
  if (this != &Other) {
    closeAll();
    Options = Other.Options;
    Folder = std::move(Other.Folder);
    FolderFd = Other.FolderFd;
    Files = std::move(Other.Files);
    ByName = std::move(Other.ByName);
    Other.FolderFd = -1;
    Other.Files.clear();
  }
  return *this;
}

WeightStore::~WeightStore() { closeAll(); }

void WeightStore::closeAll() {
  for (OpenFile &F : Files)
    if (F.Fd >= 0)
      ::close(F.Fd);
  if (FolderFd >= 0)
    ::close(FolderFd);
  Files.clear();
  FolderFd = -1;
}

Result<WeightStore> WeightStore::open(const std::string &ModelPath,
                                      WeightStoreOptions Options) {
  WeightStore Store;
  Store.Options = Options;
  size_t Slash = ModelPath.rfind('/');
  Store.Folder = Slash == std::string::npos ? "."
                 : Slash == 0               ? "/"
                                            : ModelPath.substr(0, Slash);
  std::string Name =
      Slash == std::string::npos ? ModelPath : ModelPath.substr(Slash + 1);
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  FdHolder Fd(
      ::open(ModelPath.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (Fd.get() < 0)
    return malformedError("cannot open model " + quoted(ModelPath) + ": " +
                          std::strerror(errno));
  Store.FolderFd =
      ::open(Store.Folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (Store.FolderFd < 0)
    return malformedError("cannot open folder " + quoted(Store.Folder) + ": " +
                          std::strerror(errno));
  LLMC_ASSIGN_OR_RETURN(OpenFile F, Store.describe(Fd.get(), Name, ""));
  F.Fd = Fd.release();
  Store.Files.push_back(std::move(F));
  Store.ByName[Name] = 0;
  return Store;
}

Result<WeightStore::OpenFile>
WeightStore::describe(int Fd, std::string Name, std::string_view Tensor) const {
  struct stat S;
  if (::fstat(Fd, &S) != 0)
    return openError(Name, Tensor, Folder);
  if (!S_ISREG(S.st_mode))
    return malformedError(quoted(Name) + ofTensor(Tensor) +
                          " is not a regular file");
  OpenFile F;
  F.Name = std::move(Name);
  F.Size = static_cast<uint64_t>(S.st_size);
  F.Device = S.st_dev;
  F.Inode = S.st_ino;
  return F;
}

/// Walks the folders one by one, so that no link on the way leads out.
Result<int> WeightStore::openLocation(const std::string &Clean,
                                      std::string_view Tensor) const {
  FdHolder Dir(::dup(FolderFd));
  size_t Pos = 0;
  for (size_t Slash; (Slash = Clean.find('/', Pos)) != std::string::npos;
       Pos = Slash + 1) {
    std::string Part = Clean.substr(Pos, Slash - Pos);
    int Next = ::openat(Dir.get(), Part.c_str(),
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (Next < 0)
      return openError(Clean, Tensor, Folder);
    Dir.reset(Next);
  }
  int Flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  if (!Options.AllowSymlinks)
    Flags |= O_NOFOLLOW;
  int Fd = ::openat(Dir.get(), Clean.c_str() + Pos, Flags);
  if (Fd < 0)
    return openError(Clean, Tensor, Folder);
  return Fd;
}

Result<uint32_t> WeightStore::addFile(std::string_view Location,
                                      std::string_view Tensor) {
  LLMC_ASSIGN_OR_RETURN(std::string Clean, cleanLocation(Location, Tensor));
  std::map<std::string, uint32_t>::const_iterator Known = ByName.find(Clean);
  if (Known != ByName.end())
    return Known->second;
  if (Files.size() >= MaxFiles)
    return malformedError("more than " + std::to_string(MaxFiles) +
                          " data files");
  LLMC_ASSIGN_OR_RETURN(int Raw, openLocation(Clean, Tensor));
  FdHolder Fd(Raw);
  LLMC_ASSIGN_OR_RETURN(OpenFile F, describe(Fd.get(), Clean, Tensor));
  if (Files.size() < MaxOpenFiles)
    F.Fd = Fd.release();
  Files.push_back(std::move(F));
  return ByName[Clean] = static_cast<uint32_t>(Files.size() - 1);
}

uint32_t WeightStore::addMemory(std::vector<uint8_t> Bytes) {
  OpenFile F;
  F.Name = "<memory>";
  F.Size = Bytes.size();
  F.Memory = std::move(Bytes);
  F.IsMemory = true;
  Files.push_back(std::move(F));
  return static_cast<uint32_t>(Files.size() - 1);
}

Status WeightStore::checkRange(uint32_t File, uint64_t Offset, uint64_t Length,
                               std::string_view Tensor) const {
  if (File >= Files.size())
    return internalError("weight file " + std::to_string(File) + " of " +
                         std::to_string(Files.size()));
  const OpenFile &F = Files[File];
  if (Offset <= F.Size && Length <= F.Size - Offset)
    return Status::success();
  return malformedError("file " + quoted(F.Name) + " has " +
                        std::to_string(F.Size) + " bytes," +
                        (Tensor.empty() ? "" : " tensor " + quoted(Tensor)) +
                        " needs " + std::to_string(Length) + " at offset " +
                        std::to_string(Offset) + whyShort(File));
}

/// Tools leave small text files where a large one belongs; says so.
std::string WeightStore::whyShort(uint32_t File) const {
  constexpr uint64_t MaxText = 512;
  const OpenFile &F = Files[File];
  if (F.IsMemory || F.Size == 0 || F.Size > MaxText)
    return "";
  std::vector<uint8_t> Bytes(F.Size);
  if (!read(File, 0, Bytes, "").ok())
    return "";
  std::string Text(Bytes.begin(), Bytes.end());
  if (Text.starts_with("version https://git-lfs"))
    return "; it is a Git LFS pointer, fetch the file itself";
  // A link that was checked out or unpacked as text holds its target's path.
  size_t Slash = F.Name.rfind('/');
  std::string Beside =
      Slash == std::string::npos ? Text : F.Name.substr(0, Slash + 1) + Text;
  Result<std::string> Target = cleanLocation(Beside, "");
  if (Target.ok() &&
      ::faccessat(FolderFd, Target->c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
    return "; it looks like a symbolic link to " + quoted(Text) +
           " that was stored as text";
  return "";
}

/// Opens a file again that was closed to save descriptors; it must still be
/// the same one.
Result<int> WeightStore::reopen(const OpenFile &F,
                                std::string_view Tensor) const {
  LLMC_ASSIGN_OR_RETURN(int Raw, openLocation(F.Name, Tensor));
  FdHolder Fd(Raw);
  LLMC_ASSIGN_OR_RETURN(OpenFile Now, describe(Fd.get(), F.Name, Tensor));
  if (Now.Device != F.Device || Now.Inode != F.Inode || Now.Size != F.Size)
    return malformedError("data file " + quoted(F.Name) + ofTensor(Tensor) +
                          " changed while it was read");
  return Fd.release();
}

Status WeightStore::read(uint32_t File, uint64_t Offset, std::span<uint8_t> Out,
                         std::string_view Tensor) const {
  LLMC_RETURN_IF_ERROR(checkRange(File, Offset, Out.size(), Tensor));
  const OpenFile &F = Files[File];
  if (F.IsMemory) {
    std::copy_n(F.Memory.begin() + static_cast<ptrdiff_t>(Offset), Out.size(),
                Out.begin());
    return Status::success();
  }
  FdHolder Again(-1);
  int Fd = F.Fd;
  if (Fd < 0) {
    LLMC_ASSIGN_OR_RETURN(Fd, reopen(F, Tensor));
    Again.reset(Fd);
  }
  for (size_t Done = 0; Done < Out.size();) {
    ssize_t N = ::pread(Fd, Out.data() + Done, Out.size() - Done,
                        static_cast<off_t>(Offset + Done));
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      return malformedError("cannot read file " + quoted(F.Name) +
                            ofTensor(Tensor) + " at offset " +
                            std::to_string(Offset + Done) + ": " +
                            (N < 0 ? std::strerror(errno) : "it ends there"));
    Done += static_cast<size_t>(N);
  }
  return Status::success();
}
