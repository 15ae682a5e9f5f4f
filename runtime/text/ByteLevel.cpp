// Printable Latin-1 characters stand for themselves; the other 68 bytes take
// the code points from 256 on, in order.
#include "runtime/text/ByteLevel.h"

#include "runtime/text/Utf8.h"

#include <array>

namespace llmc {

namespace {

struct Alphabet {
  std::array<uint16_t, 256> OfByte;
  std::array<int16_t, 324> OfChar; ///< -1: not in the alphabet
};

constexpr Alphabet makeAlphabet() {
  Alphabet A{};
  for (int16_t &B : A.OfChar)
    B = -1;
  uint16_t Next = 256;
  for (unsigned B = 0; B < 256; ++B) {
    bool Visible =
        (B >= 0x21 && B <= 0x7E) || (B >= 0xA1 && B <= 0xAC) || B >= 0xAE;
    uint16_t C = Visible ? static_cast<uint16_t>(B) : Next++;
    A.OfByte[B] = C;
    A.OfChar[C] = static_cast<int16_t>(B);
  }
  return A;
}

constexpr Alphabet Table = makeAlphabet();

} // namespace

std::optional<std::string> byteLevelToBytes(std::string_view Spelling) {
  std::string Bytes;
  Bytes.reserve(Spelling.size());
  for (size_t I = 0; I < Spelling.size();) {
    uint32_t C = nextCodePoint(Spelling, I);
    if (C >= Table.OfChar.size() || Table.OfChar[C] < 0)
      return std::nullopt;
    Bytes.push_back(static_cast<char>(Table.OfChar[C]));
  }
  return Bytes;
}

void appendByteLevel(std::string_view Bytes, std::string &Out) {
  for (char B : Bytes)
    appendUtf8(Out, Table.OfByte[static_cast<uint8_t>(B)]);
}

std::string bytesToByteLevel(std::string_view Bytes) {
  std::string Spelling;
  appendByteLevel(Bytes, Spelling);
  return Spelling;
}

} // namespace llmc
