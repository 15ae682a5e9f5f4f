// Sizes as people write them on the command line.
#ifndef LLMC_RUNTIME_BASE_SIZE_H
#define LLMC_RUNTIME_BASE_SIZE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace llmc {

/// "2GiB", "512MB", "10kB", "1.5G", "1000" to bytes. Units in any case; with B
/// alone powers of 1000, with iB or a single letter powers of 1024. Usage for
/// anything else, for less than a byte and for more than 2^62.
Result<uint64_t> parseSize(std::string_view Text);

/// Bytes with a unit that people read: "1.5 MiB".
std::string sizeText(uint64_t Bytes);

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_SIZE_H
