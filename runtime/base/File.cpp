// Files by the POSIX calls. Every descriptor is close-on-exec; opening never
// blocks on a pipe, and only regular files are accepted for reading.
#include "runtime/base/File.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc {
namespace {

std::string withErrno(std::string Message, int Error) {
  return std::move(Message) + ": " + std::strerror(Error);
}

/// Opens a regular file for reading and tells its size.
Result<int> openRegular(const std::string &Path, uint64_t &Size) {
  int Fd = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (Fd < 0)
    return malformedError(withErrno("cannot open " + Path, errno));
  struct stat Info;
  if (::fstat(Fd, &Info) != 0 || !S_ISREG(Info.st_mode)) {
    ::close(Fd);
    return malformedError(Path + " is not a regular file");
  }
  Size = static_cast<uint64_t>(Info.st_size);
  return Fd;
}

} // namespace

std::string folderOf(const std::string &Path) {
  std::string Folder = std::filesystem::path(Path).parent_path().string();
  return Folder.empty() ? "." : Folder;
}

MappedFile &MappedFile::operator=(MappedFile &&O) noexcept {
  std::swap(Data, O.Data);
  std::swap(Size, O.Size);
  return *this;
}

MappedFile::~MappedFile() {
  if (Data)
    ::munmap(Data, Size);
}

Result<MappedFile> MappedFile::open(const std::string &Path) {
  uint64_t Size = 0;
  LLMC_ASSIGN_OR_RETURN(int Fd, openRegular(Path, Size));
  MappedFile File;
  if (Size != 0) {
    void *Address = ::mmap(nullptr, Size, PROT_READ, MAP_PRIVATE, Fd, 0);
    int Error = errno;
    if (Address == MAP_FAILED) {
      ::close(Fd);
      return doesNotFitError(withErrno("cannot map " + Path, Error));
    }
    File.Data = static_cast<uint8_t *>(Address);
    File.Size = Size;
  }
  ::close(Fd);
  return File;
}

void MappedFile::release(uint64_t Offset, uint64_t Bytes) const {
  uint64_t Page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  uint64_t Begin = Offset / Page * Page;
  if (Begin < Size && Bytes <= Size)
    ::madvise(Data + Begin, std::min<uint64_t>(Size, Offset + Bytes) - Begin,
              MADV_DONTNEED);
}

Result<std::vector<uint8_t>> readFile(const std::string &Path,
                                      uint64_t MaxBytes) {
  uint64_t Size = 0;
  LLMC_ASSIGN_OR_RETURN(int Fd, openRegular(Path, Size));
  if (Size > MaxBytes) {
    ::close(Fd);
    return malformedError(Path + " has " + std::to_string(Size) +
                          " bytes, expected at most " +
                          std::to_string(MaxBytes));
  }
  std::vector<uint8_t> Bytes(Size);
  size_t Done = 0;
  while (Done < Size) {
    ssize_t N =
        ::pread(Fd, Bytes.data() + Done, Size - Done, static_cast<off_t>(Done));
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      break;
    Done += static_cast<size_t>(N);
  }
  ::close(Fd);
  if (Done != Size)
    return malformedError("cannot read " + Path + ": got " +
                          std::to_string(Done) + " bytes of " +
                          std::to_string(Size));
  return Bytes;
}

AtomicFile &AtomicFile::operator=(AtomicFile &&O) noexcept {
  std::swap(Path, O.Path);
  std::swap(Temporary, O.Temporary);
  std::swap(Descriptor, O.Descriptor);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (Descriptor < 0)
    return;
  ::close(Descriptor);
  if (!Temporary.empty())
    ::unlink(Temporary.c_str());
}

Result<AtomicFile> AtomicFile::create(const std::string &Path) {
  struct stat Info;
  if (::stat(Path.c_str(), &Info) == 0 && !S_ISREG(Info.st_mode))
    return malformedError("cannot write " + Path + ": it is no regular file");
  AtomicFile File;
  File.Path = Path;
  File.Descriptor =
      ::open(folderOf(Path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (File.Descriptor >= 0)
    return File;
  File.Temporary = Path + ".XXXXXX";
  int Fd = ::mkostemp(File.Temporary.data(), O_CLOEXEC);
  if (Fd < 0)
    return malformedError(withErrno("cannot write beside " + Path, errno));
  File.Descriptor = Fd;
  // mkostemp makes the file private; give it the mode of any new file.
  mode_t Mask = ::umask(0);
  ::umask(Mask);
  ::fchmod(Fd, 0666 & ~Mask);
  return File;
}

Status AtomicFile::writeAt(uint64_t Offset, std::span<const uint8_t> Data) {
  while (!Data.empty()) {
    ssize_t N = ::pwrite(Descriptor, Data.data(), Data.size(),
                         static_cast<off_t>(Offset));
    if (N < 0 && errno == EINTR)
      continue;
    if (N < 0)
      return doesNotFitError(withErrno("cannot write " + Path, errno));
    Offset += static_cast<uint64_t>(N);
    Data = Data.subspan(static_cast<size_t>(N));
  }
  return Status::success();
}

Status AtomicFile::resize(uint64_t Bytes) {
  if (::ftruncate(Descriptor, static_cast<off_t>(Bytes)) != 0)
    return doesNotFitError(withErrno("cannot write " + Path, errno));
  return Status::success();
}

/// Links a file without a name to a temporary one beside its place.
Status AtomicFile::giveName() {
  if (!Temporary.empty())
    return Status::success();
  std::string Self = "/proc/self/fd/" + std::to_string(Descriptor);
  for (int Try = 0; Try < 100; ++Try) {
    std::string Name =
        Path + "." + std::to_string(::getpid()) + "." + std::to_string(Try);
    if (::linkat(AT_FDCWD, Self.c_str(), AT_FDCWD, Name.c_str(),
                 AT_SYMLINK_FOLLOW) == 0) {
      Temporary = std::move(Name);
      return Status::success();
    }
    if (errno != EEXIST)
      break;
  }
  return malformedError(withErrno("cannot write beside " + Path, errno));
}

Status AtomicFile::commit() {
  if (::fsync(Descriptor) != 0)
    return doesNotFitError(withErrno("cannot write " + Path, errno));
  LLMC_RETURN_IF_ERROR(giveName());
  if (::rename(Temporary.c_str(), Path.c_str()) != 0)
    return malformedError(withErrno("cannot write " + Path, errno));
  ::close(Descriptor);
  Descriptor = -1;
  int Folder = ::open(folderOf(Path).c_str(), O_RDONLY | O_CLOEXEC);
  if (Folder >= 0) {
    ::fsync(Folder); // the name survives a crash, too; best effort
    ::close(Folder);
  }
  return Status::success();
}

Status writeFile(const std::string &Path, std::span<const uint8_t> Data) {
  LLMC_ASSIGN_OR_RETURN(AtomicFile File, AtomicFile::create(Path));
  LLMC_RETURN_IF_ERROR(File.writeAt(0, Data));
  return File.commit();
}

} // namespace llmc
