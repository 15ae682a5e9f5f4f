// Base64 (RFC 4648), as tokenizer files use it for tables and tokens.
#ifndef LLMC_RUNTIME_TEXT_BASE64_H
#define LLMC_RUNTIME_TEXT_BASE64_H

#include <optional>
#include <string>
#include <string_view>

namespace llmc {

/// The bytes; nothing when the text is not Base64. Padding may be absent.
std::optional<std::string> decodeBase64(std::string_view Text);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_BASE64_H
