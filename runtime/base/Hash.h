// The two hashes of artifacts: xxh3 against corruption (fast), SHA-256 as
// identity. Both give the same result on every machine.
#ifndef LLMC_RUNTIME_BASE_HASH_H
#define LLMC_RUNTIME_BASE_HASH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace llmc {

/// 64-bit xxh3 of the bytes.
uint64_t xxh3(std::span<const uint8_t> Data);

using Sha256Digest = std::array<uint8_t, 32>;

/// Incremental SHA-256 (FIPS 180-4); uses the SHA instructions where the
/// machine has them.
class Sha256 {
public:
  void update(std::span<const uint8_t> Data);
  /// Ends the message; the object may not be used afterwards.
  Sha256Digest finish();

private:
  std::array<uint32_t, 8> State = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> Block{};
  uint64_t Length = 0; ///< bytes so far
};

Sha256Digest sha256(std::span<const uint8_t> Data);

namespace detail {
/// One SHA-256 compression per block of 64 bytes, without SHA instructions.
/// Only for tests, which compare it with the fast one.
void sha256BlocksPortable(uint32_t *State, const uint8_t *P, size_t Count);
} // namespace detail

/// Lower-case hexadecimal.
std::string hexOf(std::span<const uint8_t> Data);

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_HASH_H
