// The alphabet of byte-level BPE: each byte is written as one visible
// character in tokenizer files ("Ġ" is the space). Inside llmc tokens are
// plain bytes; the alphabet is needed to read files and to show tokens.
#ifndef LLMC_RUNTIME_TEXT_BYTELEVEL_H
#define LLMC_RUNTIME_TEXT_BYTELEVEL_H

#include <optional>
#include <string>
#include <string_view>

namespace llmc {

/// Bytes of a token spelled in the alphabet; nothing when one of its
/// characters is not in the alphabet.
std::optional<std::string> byteLevelToBytes(std::string_view Spelling);

/// Spelling of bytes in the alphabet.
std::string bytesToByteLevel(std::string_view Bytes);
void appendByteLevel(std::string_view Bytes, std::string &Out);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_BYTELEVEL_H
