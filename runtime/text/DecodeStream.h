// The decoder's steps over tokens that come one by one: gives out every part of
// the text as soon as no later token can change it.
#ifndef LLMC_RUNTIME_TEXT_DECODESTREAM_H
#define LLMC_RUNTIME_TEXT_DECODESTREAM_H

#include "runtime/text/Decoder.h"
#include "runtime/text/Utf8.h"

#include <memory>

namespace llmc {

class DecodeStream {
public:
  /// D must outlive the stream.
  explicit DecodeStream(const Decoder &D);

  /// One token by its spelling; appends to Out what has become certain.
  void push(std::string Spelling, std::string &Out);
  /// The same for a decoder that is one ByteLevel step, by the token's bytes.
  void pushBytes(std::string_view Bytes, std::string &Out) {
    Utf8.push(Bytes, Out);
  }
  /// The end: appends what was held back.
  void finish(std::string &Out);

private:
  /// What a step remembers between tokens.
  struct TokenState {
    bool First = true;   ///< no token came yet
    std::string Held;    ///< bytes of a run, or text that waits for a successor
    bool Broken = false; ///< the run of bytes is not well-formed
    std::string Last;    ///< the token before, for Ctc
  };
  struct TextState {
    std::string Held;
    uint32_t Left = 0; ///< characters still to be stripped at the begin
  };

  void token(size_t Step, std::string T, std::string &Out);
  void byteToken(size_t Step, int Byte, std::string &Out);
  void endRun(size_t Step, std::string &Out);
  void suffixToken(size_t Step, std::string T, std::string &Out);
  void text(size_t Filter, std::string_view T, std::string &Out);
  void textEnd(size_t Filter, std::string &Out);
  void replaceInText(size_t Filter, std::string_view Pattern,
                     std::string_view By, std::string_view T, std::string &Out);
  void stripText(size_t Filter, std::string_view T, std::string &Out);

  const Decoder &D;
  SplitRegex::Scratch Scratch;
  std::vector<TokenState> Tokens; ///< by step before the fuse
  std::vector<TextState> Texts;   ///< by step behind it
  Utf8Stream Utf8;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_DECODESTREAM_H
