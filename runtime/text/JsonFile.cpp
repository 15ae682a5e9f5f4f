// Finding and reading a file of a model's folder.
#include "runtime/text/JsonFile.h"

#include "runtime/base/File.h"

#include <charconv>
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

/// Value of the escape "\uXXXX" at At; nothing when there is none.
static std::optional<uint32_t> escapeAt(std::string_view S, size_t At) {
  uint32_t V = 0;
  if (At + 6 > S.size() || S[At] != '\\' || S[At + 1] != 'u')
    return std::nullopt;
  const char *End = S.data() + At + 6;
  if (std::from_chars(S.data() + At + 2, End, V, 16).ptr != End)
    return std::nullopt;
  return V;
}

std::string withoutLoneSurrogates(std::string_view Json) {
  std::string Out(Json);
  for (size_t At = Out.find('\\'); At != std::string::npos;
       At = Out.find('\\', At)) {
    std::optional<uint32_t> V = escapeAt(Out, At);
    if (!V || *V >> 11 != 27) { // not D800 to DFFF
      At += 2;
      continue;
    }
    std::optional<uint32_t> Low = escapeAt(Out, At + 6);
    if (*V < 0xDC00 && Low && *Low >> 10 == 55) { // DC00 to DFFF
      At += 12;
      continue;
    }
    Out.replace(At + 2, 4, "fffd");
    At += 6;
  }
  return Out;
}

} // namespace llmc
