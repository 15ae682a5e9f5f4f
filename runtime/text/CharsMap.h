// SentencePiece's table of replacements ("precompiled_charsmap"): a double
// array in the layout of the Darts library, then the replacement texts, each
// ended by a zero.
#ifndef LLMC_RUNTIME_TEXT_CHARSMAP_H
#define LLMC_RUNTIME_TEXT_CHARSMAP_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

class CharsMap {
public:
  /// Malformed when the sizes do not fit or a replacement is not UTF-8. An
  /// empty blob replaces nothing.
  static Result<CharsMap> parse(std::string_view Blob);

  struct Found {
    size_t Length;         ///< of the key
    std::string_view Text; ///< its replacement
  };
  /// The shortest key that Text begins with.
  std::optional<Found> shortest(std::string_view Text) const;
  /// The longest one.
  std::optional<Found> longest(std::string_view Text) const;

private:
  std::optional<Found> search(std::string_view Text, bool Longest) const;
  std::vector<uint32_t> Units;
  std::string Texts;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_CHARSMAP_H
