// A set of byte values, the alphabet of all constraints.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_BYTESET_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_BYTESET_H

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace llmc::constraint {

struct ByteSet {
  std::array<uint64_t, 4> Bits{};

  static ByteSet range(unsigned Low, unsigned High) {
    ByteSet S;
    for (unsigned B = Low; B <= High; ++B)
      S.add(static_cast<uint8_t>(B));
    return S;
  }
  static ByteSet all() { return ByteSet{{~0ull, ~0ull, ~0ull, ~0ull}}; }

  void add(uint8_t B) { Bits[B >> 6] |= uint64_t{1} << (B & 63); }
  bool has(uint8_t B) const { return Bits[B >> 6] >> (B & 63) & 1; }
  bool empty() const { return (Bits[0] | Bits[1] | Bits[2] | Bits[3]) == 0; }
  unsigned count() const {
    unsigned N = 0;
    for (uint64_t W : Bits)
      N += static_cast<unsigned>(std::popcount(W));
    return N;
  }
  ByteSet operator|(const ByteSet &O) const {
    ByteSet S;
    for (size_t I = 0; I < 4; ++I)
      S.Bits[I] = Bits[I] | O.Bits[I];
    return S;
  }
  ByteSet operator&(const ByteSet &O) const {
    ByteSet S;
    for (size_t I = 0; I < 4; ++I)
      S.Bits[I] = Bits[I] & O.Bits[I];
    return S;
  }
  auto operator<=>(const ByteSet &) const = default;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_BYTESET_H
