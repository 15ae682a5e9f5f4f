// Finding and reading a file of a model's folder.
#include "runtime/text/JsonFile.h"

#include "runtime/base/File.h"

#include <filesystem>

namespace llmc {

Result<std::optional<std::string>> readTextFile(const std::string &Folder,
                                                const std::string &Name) {
  constexpr uint64_t MaxFileBytes = 256u << 20;
  namespace fs = std::filesystem;
  std::error_code Error;
  fs::path Path(Folder);
  if (fs::is_directory(Path, Error))
    Path /= Name;
  else if (fs::path(Name).extension() != Path.extension())
    return std::optional<std::string>();
  if (!fs::exists(Path, Error))
    return std::optional<std::string>();
  LLMC_ASSIGN_OR_RETURN(std::vector<uint8_t> Bytes,
                        readFile(Path.string(), MaxFileBytes));
  return std::optional<std::string>(textOf(Bytes));
}

} // namespace llmc
