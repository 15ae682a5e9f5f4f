// UTF-8: validation, walking by code point, and a decoder that takes bytes in
// any portions and never gives out half a character.
#ifndef LLMC_RUNTIME_TEXT_UTF8_H
#define LLMC_RUNTIME_TEXT_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmc {

/// Offset of the first byte that is not part of a well-formed character, or
/// npos when the whole text is well-formed.
size_t findBadUtf8(std::string_view Text);

/// Decodes the character at Pos of well-formed text and moves Pos behind it.
uint32_t nextCodePoint(std::string_view Text, size_t &Pos);

/// Appends the UTF-8 form of a code point (at most 0x10FFFF, no surrogate).
void appendUtf8(std::string &Out, uint32_t CodePoint);

/// Turns a stream of bytes into well-formed UTF-8. Each maximal subpart of a
/// broken character becomes one U+FFFD (the rule of the Unicode standard,
/// section 3.9); an unfinished character is held back until it is certain. The
/// bytes of a surrogate (ED A0…BF xx) are held back together as well, one
/// U+FFFD each, as the incremental decoders of other runtimes do.
class Utf8Stream {
public:
  /// Appends everything that is certain after these bytes to Out.
  void push(std::string_view Bytes, std::string &Out);
  /// End of the stream: what is held back becomes U+FFFD.
  void finish(std::string &Out);
  bool empty() const { return Held == 0; }

private:
  void pushByte(uint8_t B, std::string &Out);
  bool holdsSurrogate() const;

  char Pending[4] = {};
  uint8_t Held = 0;   ///< bytes in Pending
  uint8_t Length = 0; ///< bytes of the character that Pending begins
  uint8_t Low = 0x80, High = 0xBF; ///< range of the next byte
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_UTF8_H
