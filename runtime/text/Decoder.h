// From tokens to text by the steps of the file's decoder: whole lists here,
// one by one in DecodeStream.
#ifndef LLMC_RUNTIME_TEXT_DECODER_H
#define LLMC_RUNTIME_TEXT_DECODER_H

#include "runtime/text/SplitRegex.h"
#include "runtime/text/TokenizerImage.h"

#include <optional>

namespace llmc {

class Decoder {
public:
  /// Malformed when a pattern is not valid.
  static Result<Decoder> create(const std::vector<DecodeStep> &Steps);

  /// Text of tokens given by their spellings. Fails when a pattern takes too
  /// long.
  Result<std::string> decode(std::vector<std::string> Tokens) const;

  /// Bytes that a token stands for when others are before and behind it; part
  /// of a character, maybe.
  Result<std::string> middle(std::string_view Spelling) const;

  const std::vector<DecodeStep> &steps() const { return Steps; }
  /// Steps before the one that makes one text of the tokens, as many as there
  /// are if none does.
  size_t fusedAt() const { return Fused; }

  /// One step for one token. First: no token came before. Steps ByteLevel and
  /// ByteFallback give raw bytes here.
  Status apply(size_t Step, bool First, std::string &Token,
               SplitRegex::Scratch &S) const;
  /// One step for all tokens.
  Status applyAll(size_t Step, std::vector<std::string> &Tokens,
                  SplitRegex::Scratch &S) const;

private:
  std::vector<DecodeStep> Steps;
  std::vector<std::optional<SplitRegex>> Regexes; ///< by step
  size_t Fused = 0;
};

/// The token behind one that the step made T is still the first.
inline bool staysFirst(const DecodeStep &S, std::string_view T) {
  return S.What == DecodeStep::LeadingMark && S.Start == 1 && T.empty();
}

/// The byte that "<0x0A>" spells; -1: another token.
int byteOfFallback(std::string_view Spelling);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_DECODER_H
