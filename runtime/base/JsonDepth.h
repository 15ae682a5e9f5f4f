// How deep a JSON text nests. The JSON library parses on the heap, but copies
// and writes its documents by recursion, so every text from outside is looked
// at before it is parsed.
#ifndef LLMC_RUNTIME_BASE_JSONDEPTH_H
#define LLMC_RUNTIME_BASE_JSONDEPTH_H

#include "runtime/base/Status.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace llmc {

/// Deeper than any real document; a frame of the library's recursion has well
/// under a kilobyte.
constexpr int MaxJsonDepth = 5000;

/// Lists and objects that are open at once, at most; brackets in texts do not
/// count. Text need not be JSON.
inline int jsonDepth(std::string_view Text) {
  int Depth = 0, Deepest = 0;
  bool InText = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (InText && C == '\\')
      ++I;
    else if (C == '"')
      InText = !InText;
    else if (!InText)
      Depth += (C == '[' || C == '{') - (C == ']' || C == '}');
    Deepest = std::max(Deepest, Depth);
  }
  return Deepest;
}

/// Malformed, naming What and both numbers, when Text nests too deep.
inline Status checkJsonDepth(std::string_view Text, const std::string &What) {
  int Depth = jsonDepth(Text);
  if (Depth <= MaxJsonDepth)
    return Status::success();
  return malformedError(What + ": nested " + std::to_string(Depth) +
                        " deep, at most " + std::to_string(MaxJsonDepth));
}

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_JSONDEPTH_H
