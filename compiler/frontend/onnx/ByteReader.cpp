// Windowed reading of the model file.
#include "compiler/frontend/onnx/WireScan.h"

#include <algorithm>

using namespace llmc;

bool ByteReader::refill() {
  constexpr uint64_t WindowBytes = 1 << 16;
  if (Pos >= End || !Failure.ok())
    return false;
  WindowBegin = Pos;
  // Up to the file's end, not this message's: the next message follows.
  Window.resize(std::min(WindowBytes, Store.size(0) - Pos));
  Failure = Store.read(0, Pos, Window, "");
  if (!Failure.ok())
    Window.clear();
  return Failure.ok();
}

bool ByteReader::byte(uint8_t &B) {
  if (Pos >= End)
    return false;
  if (Pos < WindowBegin || Pos >= WindowBegin + Window.size())
    if (!refill())
      return false;
  B = Window[Pos++ - WindowBegin];
  return true;
}

bool ByteReader::varint(uint64_t &Value) {
  Value = 0;
  for (unsigned Shift = 0; Shift < 70; Shift += 7) {
    uint8_t B;
    if (!byte(B))
      return false;
    if (Shift < 64)
      Value |= static_cast<uint64_t>(B & 0x7f) << Shift;
    if (!(B & 0x80))
      return true;
  }
  return false;
}

bool ByteReader::fixed(unsigned N, uint64_t &Value) {
  Value = 0;
  for (unsigned I = 0; I < N; ++I) {
    uint8_t B;
    if (!byte(B))
      return false;
    Value |= static_cast<uint64_t>(B) << (8 * I);
  }
  return true;
}

bool ByteReader::copy(uint64_t N, std::string &Out) {
  if (N > End - std::min(Pos, End))
    return false;
  while (N > 0) {
    if (Pos < WindowBegin || Pos >= WindowBegin + Window.size())
      if (!refill())
        return false;
    uint64_t Have = std::min(N, WindowBegin + Window.size() - Pos);
    const char *From =
        reinterpret_cast<const char *>(Window.data() + (Pos - WindowBegin));
    Out.append(From, Have);
    Pos += Have;
    N -= Have;
  }
  return true;
}
