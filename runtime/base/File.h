// Files: a read-only mapping, reading a small file whole, and writing a file
// beside its final name so that nobody ever sees half of it.
#ifndef LLMC_RUNTIME_BASE_FILE_H
#define LLMC_RUNTIME_BASE_FILE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

/// The bytes of a text.
inline std::span<const uint8_t> bytesOf(std::string_view S) {
  return {reinterpret_cast<const uint8_t *>(S.data()), S.size()};
}
/// Bytes as text; the bytes must outlive the view.
inline std::string_view textOf(std::span<const uint8_t> B) {
  return {reinterpret_cast<const char *>(B.data()), B.size()};
}

/// Folder of a path; "." when it names none.
std::string folderOf(const std::string &Path);

/// A regular file mapped for reading. Movable; unmaps when destroyed.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&O) noexcept { *this = std::move(O); }
  MappedFile &operator=(MappedFile &&O) noexcept;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  /// Malformed when Path is missing, no regular file or not readable. An empty
  /// file maps to an empty span.
  static Result<MappedFile> open(const std::string &Path);

  std::span<const uint8_t> bytes() const { return {Data, Size}; }
  /// Lets the kernel drop the pages of a range from memory.
  void release(uint64_t Offset, uint64_t Bytes) const;

private:
  uint8_t *Data = nullptr;
  size_t Size = 0;
};

/// The whole of a regular file of at most MaxBytes.
Result<std::vector<uint8_t>> readFile(const std::string &Path,
                                      uint64_t MaxBytes = UINT64_C(1) << 30);

/// A new file that appears under its name only at commit(). Until then it has
/// no name at all, so that even a killed process leaves nothing behind; where
/// the file system cannot do that, it lies beside its place under a temporary
/// name, which the destructor removes.
class AtomicFile {
public:
  AtomicFile() = default;
  AtomicFile(AtomicFile &&O) noexcept { *this = std::move(O); }
  AtomicFile &operator=(AtomicFile &&O) noexcept;
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  ~AtomicFile();

  /// Malformed when the folder does not exist or is not writable, or when Path
  /// is a folder, a device or a pipe (a rename would replace it).
  static Result<AtomicFile> create(const std::string &Path);

  /// Writes all of Data at Offset; the file grows as needed.
  Status writeAt(uint64_t Offset, std::span<const uint8_t> Data);
  /// Makes the file Bytes long, with zeros where nothing was written.
  Status resize(uint64_t Bytes);
  /// Writes to disk and renames over Path.
  Status commit();

private:
  Status giveName();

  std::string Path;
  std::string Temporary; ///< empty: the file has no name yet
  int Descriptor = -1;
};

/// Writes a small file atomically.
Status writeFile(const std::string &Path, std::span<const uint8_t> Data);

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_FILE_H
