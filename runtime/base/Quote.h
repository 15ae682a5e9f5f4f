// Names out of untrusted files, made fit for a message of one line.
#ifndef LLMC_RUNTIME_BASE_QUOTE_H
#define LLMC_RUNTIME_BASE_QUOTE_H

#include <string>
#include <string_view>

namespace llmc {

/// `S` without control characters, at most 200 bytes of it.
inline std::string printable(std::string_view S) {
  constexpr size_t Max = 200;
  std::string Out;
  for (char C : S.substr(0, Max))
    Out += static_cast<unsigned char>(C) < 0x20 || C == 0x7f ? '?' : C;
  return S.size() > Max ? Out + "..." : Out;
}

/// The same in single quotes.
inline std::string quoted(std::string_view S) {
  return "'" + printable(S) + "'";
}

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_QUOTE_H
