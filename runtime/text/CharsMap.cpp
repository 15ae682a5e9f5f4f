// A unit of the double array: bits 0-7 label, 8 "a key ends here", 9 and 10-30
// offset (bit 9 scales it by 256), 31 marks a value.
#include "runtime/text/CharsMap.h"

#include "runtime/text/Utf8.h"

#include <cstring>

namespace llmc {

Result<CharsMap> CharsMap::parse(std::string_view Blob) {
  CharsMap M;
  if (Blob.empty())
    return M;
  uint32_t Size = 0;
  if (Blob.size() >= 4)
    std::memcpy(&Size, Blob.data(), 4);
  if (Blob.size() < 8 || Size % 4 != 0 || Size == 0 || Size > Blob.size() - 4)
    return malformedError("table of characters: trie of " +
                          std::to_string(Size) + " bytes in " +
                          std::to_string(Blob.size()) + " bytes");
  M.Units.resize(Size / 4);
  std::memcpy(M.Units.data(), Blob.data() + 4, Size);
  M.Texts = Blob.substr(4 + Size);
  if (size_t Bad = findBadUtf8(M.Texts); Bad != std::string_view::npos)
    return malformedError("table of characters: replacement is not UTF-8 at "
                          "byte " +
                          std::to_string(Bad) + " of " +
                          std::to_string(M.Texts.size()));
  return M;
}

std::optional<CharsMap::Found> CharsMap::search(std::string_view Text,
                                                bool Longest) const {
  auto OffsetOf = [](uint32_t Unit) {
    return (Unit >> 10) << ((Unit & (1u << 9)) >> 6);
  };
  std::optional<Found> Best;
  if (Units.empty())
    return Best;
  uint32_t Node = OffsetOf(Units[0]);
  for (size_t I = 0; I < Text.size(); ++I) {
    uint8_t Byte = static_cast<uint8_t>(Text[I]);
    Node ^= Byte;
    if (Byte == 0 || Node >= Units.size())
      break;
    uint32_t Unit = Units[Node];
    if ((Unit & 0x800000FFu) != Byte)
      break;
    Node ^= OffsetOf(Unit);
    if (!(Unit >> 8 & 1) || Node >= Units.size())
      continue;
    uint32_t At = Units[Node] & 0x7FFFFFFFu;
    if (At >= Texts.size())
      continue;
    std::string_view Rest = std::string_view(Texts).substr(At);
    // A false offset may point into a character; such a key does not count.
    if (!Rest.empty() && (Rest[0] & 0xC0) == 0x80)
      continue;
    Best = Found{I + 1, Rest.substr(0, Rest.find('\0'))};
    if (!Longest)
      break;
  }
  return Best;
}

std::optional<CharsMap::Found> CharsMap::shortest(std::string_view Text) const {
  return search(Text, false);
}

std::optional<CharsMap::Found> CharsMap::longest(std::string_view Text) const {
  return search(Text, true);
}

} // namespace llmc
