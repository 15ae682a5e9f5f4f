// The files that hold a model's weights: the only thing that opens them. A
// location inside an untrusted model must not reach any other file, so the
// path rules live here, and everything is read by position with pread (no
// mapping: a file that shrinks meanwhile is an error, not a signal).
#ifndef LLMC_COMPILER_WEIGHTS_WEIGHTSTORE_H
#define LLMC_COMPILER_WEIGHTS_WEIGHTSTORE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

struct WeightStoreOptions {
  bool AllowSymlinks = false; ///< data files may be symbolic links
};

/// Files by index: 0 is the model, others as they were added. Movable; reading
/// is thread-safe.
class WeightStore {
public:
  WeightStore() = default;
  WeightStore(WeightStore &&Other) noexcept;
  WeightStore &operator=(WeightStore &&Other) noexcept;
  ~WeightStore();

  /// Opens the model file, which becomes file 0. Data files are looked for in
  /// the folder that `ModelPath` names, also when the model is a symlink.
  static Result<WeightStore> open(const std::string &ModelPath,
                                  WeightStoreOptions Options = {});

  /// Index of a data file, opened when it is new. `Location` is a path
  /// relative to the folder; `Tensor` is who asks, for messages.
  Result<uint32_t> addFile(std::string_view Location, std::string_view Tensor);

  /// Adds bytes that no file holds as they are (tensors in typed protobuf
  /// fields); the index works like that of a file.
  uint32_t addMemory(std::vector<uint8_t> Bytes);

  uint32_t numFiles() const { return static_cast<uint32_t>(Files.size()); }
  /// Name relative to the folder; "<memory>" for bytes of addMemory.
  const std::string &name(uint32_t File) const { return Files[File].Name; }
  uint64_t size(uint32_t File) const { return Files[File].Size; }
  const std::string &folder() const { return Folder; }

  /// Whether [Offset, Offset + Length) lies in the file.
  Status checkRange(uint32_t File, uint64_t Offset, uint64_t Length,
                    std::string_view Tensor) const;

  /// Reads Out.size() bytes at Offset.
  Status read(uint32_t File, uint64_t Offset, std::span<uint8_t> Out,
              std::string_view Tensor) const;

private:
  struct OpenFile {
    std::string Name;
    uint64_t Size = 0;
    uint64_t Device = 0, Inode = 0;
    int Fd = -1;                 ///< -1: opened for each read
    std::vector<uint8_t> Memory; ///< for "<memory>"
    bool IsMemory = false;
  };
  Result<int> openLocation(const std::string &Clean,
                           std::string_view Tensor) const;
  Result<OpenFile> describe(int Fd, std::string Name,
                            std::string_view Tensor) const;
  Result<int> reopen(const OpenFile &F, std::string_view Tensor) const;
  std::string whyShort(uint32_t File) const;
  void closeAll();

  WeightStoreOptions Options;
  std::string Folder; ///< as the user's path names it; "." when it has none
  int FolderFd = -1;
  std::vector<OpenFile> Files;
  std::map<std::string, uint32_t> ByName; ///< data files
};

} // namespace llmc

#endif // LLMC_COMPILER_WEIGHTS_WEIGHTSTORE_H
