// A dump that cannot be written is an error: whoever asks for one reads it.
#include "compiler/driver/Dump.h"

#include "runtime/base/File.h"

#include <filesystem>

namespace llmc {

Status writeDump(std::string_view Flag, const std::string &Folder,
                 const std::string &Name, std::string_view Text) {
  std::error_code Error;
  std::filesystem::create_directories(Folder, Error);
  Status S = Error ? malformedError(Error.message())
                   : writeFile(Folder + "/" + Name, bytesOf(Text));
  if (S.ok())
    return S;
  return malformedError(std::string(Flag) + ": cannot write into folder '" +
                        Folder + "': " + S.message());
}

} // namespace llmc
