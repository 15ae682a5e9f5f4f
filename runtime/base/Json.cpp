// Writing JSON; see Json.h.
#include "runtime/base/Json.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace llmc {
namespace {

/// Length of the valid UTF-8 sequence at the start of S, or 0.
size_t utf8Length(std::string_view S) {
  unsigned char A = static_cast<unsigned char>(S[0]);
  if (A < 0x80)
    return 1;
  size_t N = A >= 0xf0 ? 4 : A >= 0xe0 ? 3 : 2;
  if (A < 0xc2 || A > 0xf4 || S.size() < N)
    return 0;
  uint32_t Code = A & (0x7fu >> N);
  for (size_t I = 1; I < N; ++I) {
    unsigned char B = static_cast<unsigned char>(S[I]);
    if ((B & 0xc0) != 0x80)
      return 0;
    Code = Code << 6 | (B & 0x3fu);
  }
  constexpr uint32_t Smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool Surrogate = Code >= 0xd800 && Code < 0xe000;
  return Code < Smallest[N] || Code > 0x10ffff || Surrogate ? 0 : N;
}

/// Appends one ASCII character, escaped where JSON asks for it.
void appendAscii(std::string &Out, char C) {
  switch (C) {
  case '"':
    Out += "\\\"";
    return;
  case '\\':
    Out += "\\\\";
    return;
  case '\n':
    Out += "\\n";
    return;
  case '\r':
    Out += "\\r";
    return;
  case '\t':
    Out += "\\t";
    return;
  default:
    break;
  }
  if (static_cast<unsigned char>(C) >= 0x20) {
    Out += C;
    return;
  }
  char Buffer[8];
  std::snprintf(Buffer, sizeof Buffer, "\\u%04x",
                static_cast<unsigned>(static_cast<unsigned char>(C)));
  Out += Buffer;
}
} // namespace

void appendJsonString(std::string &Out, std::string_view Text) {
  Out += '"';
  while (!Text.empty()) {
    size_t N = utf8Length(Text);
    if (N == 1)
      appendAscii(Out, Text[0]);
    else if (N == 0)
      Out += "\xef\xbf\xbd";
    else
      Out += Text.substr(0, N);
    Text.remove_prefix(N == 0 ? 1 : N);
  }
  Out += '"';
}

std::string jsonNumber(double V) {
  if (!std::isfinite(V))
    return "null";
  char Buffer[32];
  std::to_chars_result R = std::to_chars(Buffer, Buffer + sizeof Buffer, V);
  return std::string(Buffer, R.ptr);
}

void JsonWriter::separate() {
  if (NeedComma)
    Out += ',';
  NeedComma = true;
}

JsonWriter &JsonWriter::open(char C) {
  separate();
  Out += C;
  NeedComma = false;
  return *this;
}

JsonWriter &JsonWriter::close(char C) {
  Out += C;
  NeedComma = true;
  return *this;
}

JsonWriter &JsonWriter::key(std::string_view K) {
  separate();
  appendJsonString(Out, K);
  Out += ':';
  NeedComma = false;
  return *this;
}

JsonWriter &JsonWriter::raw(std::string_view Json) {
  separate();
  Out += Json;
  return *this;
}

JsonWriter &JsonWriter::value(std::string_view S) {
  separate();
  appendJsonString(Out, S);
  return *this;
}

JsonWriter &JsonWriter::value(double V) { return raw(jsonNumber(V)); }
JsonWriter &JsonWriter::value(bool V) { return raw(V ? "true" : "false"); }
JsonWriter &JsonWriter::value(uint64_t V) { return raw(std::to_string(V)); }
JsonWriter &JsonWriter::value(int64_t V) { return raw(std::to_string(V)); }
JsonWriter &JsonWriter::null() { return raw("null"); }

} // namespace llmc
