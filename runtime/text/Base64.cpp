// Four characters of six bits become three bytes.
#include "runtime/text/Base64.h"

#include <cstdint>

namespace llmc {

namespace {
int valueOf(char C) {
  if (C >= 'A' && C <= 'Z')
    return C - 'A';
  if (C >= 'a' && C <= 'z')
    return C - 'a' + 26;
  if (C >= '0' && C <= '9')
    return C - '0' + 52;
  return C == '+' ? 62 : C == '/' ? 63 : -1;
}
} // namespace

std::optional<std::string> decodeBase64(std::string_view Text) {
  while (Text.ends_with('='))
    Text.remove_suffix(1);
  if (Text.size() % 4 == 1)
    return std::nullopt;
  std::string Out;
  Out.reserve(Text.size() * 3 / 4);
  uint32_t Bits = 0, Count = 0;
  for (char C : Text) {
    int V = valueOf(C);
    if (V < 0)
      return std::nullopt;
    Bits = Bits << 6 | static_cast<uint32_t>(V);
    Count += 6;
    if (Count < 8)
      continue;
    Count -= 8;
    Out.push_back(static_cast<char>(Bits >> Count & 0xFF));
  }
  return Out;
}

} // namespace llmc
