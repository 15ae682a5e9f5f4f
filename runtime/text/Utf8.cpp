// UTF-8 by the table of well-formed byte sequences (Unicode, table 3-7).
#include "runtime/text/Utf8.h"

#include <array>
#include <cstring>

namespace llmc {

namespace {

/// What a lead byte announces: length of the character and the range of its
/// second byte. Length 0: no lead byte.
struct Lead {
  uint8_t Length, Low, High;
};

constexpr Lead makeLead(uint8_t B) {
  if (B < 0x80)
    return {1, 0, 0};
  if (B >= 0xC2 && B <= 0xDF)
    return {2, 0x80, 0xBF};
  if (B == 0xE0)
    return {3, 0xA0, 0xBF};
  if (B == 0xED)
    return {3, 0x80, 0x9F};
  if (B >= 0xE1 && B <= 0xEF)
    return {3, 0x80, 0xBF};
  if (B == 0xF0)
    return {4, 0x90, 0xBF};
  if (B >= 0xF1 && B <= 0xF3)
    return {4, 0x80, 0xBF};
  if (B == 0xF4)
    return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

constexpr std::array<Lead, 256> Leads = [] {
  std::array<Lead, 256> Table = {};
  for (unsigned B = 0; B < 256; ++B)
    Table[B] = makeLead(static_cast<uint8_t>(B));
  return Table;
}();

const Lead &leadOf(uint8_t B) { return Leads[B]; }

constexpr std::string_view Replacement = "\xEF\xBF\xBD";

} // namespace

size_t findBadUtf8(std::string_view Text) {
  for (size_t I = 0; I < Text.size();) {
    uint64_t Eight = 0; // bytes at once while they are ASCII
    if (Text.size() - I >= 8)
      std::memcpy(&Eight, Text.data() + I, 8);
    if (Text.size() - I >= 8 && (Eight & 0x8080808080808080u) == 0) {
      I += 8;
      continue;
    }
    if ((Text[I] & 0x80) == 0) { // ASCII between others
      ++I;
      continue;
    }
    const Lead &L = leadOf(static_cast<uint8_t>(Text[I]));
    if (L.Length == 0 || L.Length > Text.size() - I)
      return I;
    for (unsigned K = 1; K < L.Length; ++K) {
      uint8_t B = static_cast<uint8_t>(Text[I + K]);
      uint8_t Low = K == 1 ? L.Low : 0x80, High = K == 1 ? L.High : 0xBF;
      if (B < Low || B > High)
        return I;
    }
    I += L.Length;
  }
  return std::string_view::npos;
}

uint32_t nextCodePoint(std::string_view Text, size_t &Pos) {
  uint8_t B = static_cast<uint8_t>(Text[Pos]);
  unsigned Length = leadOf(B).Length;
  if (Length <= 1 || Length > Text.size() - Pos) {
    ++Pos;
    return B;
  }
  uint32_t C = B & (0xFFu >> (Length + 1));
  for (unsigned K = 1; K < Length; ++K)
    C = C << 6 | (static_cast<uint8_t>(Text[Pos + K]) & 0x3Fu);
  Pos += Length;
  return C;
}

void appendUtf8(std::string &Out, uint32_t C) {
  if (C < 0x80) {
    Out.push_back(static_cast<char>(C));
    return;
  }
  if (C < 0x800) {
    Out.push_back(static_cast<char>(0xC0 | C >> 6));
  } else {
    if (C < 0x10000) {
      Out.push_back(static_cast<char>(0xE0 | C >> 12));
    } else {
      Out.push_back(static_cast<char>(0xF0 | C >> 18));
      Out.push_back(static_cast<char>(0x80 | (C >> 12 & 0x3F)));
    }
    Out.push_back(static_cast<char>(0x80 | (C >> 6 & 0x3F)));
  }
  Out.push_back(static_cast<char>(0x80 | (C & 0x3F)));
}

void Utf8Stream::push(std::string_view Bytes, std::string &Out) {
  for (char C : Bytes)
    pushByte(static_cast<uint8_t>(C), Out);
}

void Utf8Stream::pushByte(uint8_t B, std::string &Out) {
  if (Held != 0) {
    if (B >= Low && B <= High) {
      Pending[Held++] = static_cast<char>(B);
      Low = 0x80, High = 0xBF;
      if (Held == Length) {
        if (holdsSurrogate())
          finish(Out);
        else
          Out.append(Pending, Held);
        Held = 0;
      }
      return;
    }
    finish(Out); // the subpart is broken; B starts anew
  }
  Lead L = leadOf(B);
  if (L.Length == 1) {
    Out.push_back(static_cast<char>(B));
  } else if (L.Length == 0) {
    Out.append(Replacement);
  } else {
    Pending[0] = static_cast<char>(B);
    Held = 1, Length = L.Length, Low = L.Low, High = L.High;
    if (B == 0xED)
      High = 0xBF;
  }
}

bool Utf8Stream::holdsSurrogate() const {
  return Held > 1 && static_cast<uint8_t>(Pending[0]) == 0xED &&
         static_cast<uint8_t>(Pending[1]) >= 0xA0;
}

void Utf8Stream::finish(std::string &Out) {
  if (Held == 0)
    return;
  for (unsigned I = 0, N = holdsSurrogate() ? Held : 1; I < N; ++I)
    Out.append(Replacement);
  Held = 0;
}

} // namespace llmc
