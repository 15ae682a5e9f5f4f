// Picks the token's form that the decoder's stream takes.
#include "runtime/text/Detokenizer.h"

#include "runtime/text/DecodeStream.h"

namespace llmc {

/// Kept with the stream, whose header stays free of the tokenizer.
struct Detokenizer::Impl {
  const Tokenizer &T;
  bool SkipSpecial;
  DecodeStream Stream;
};

Detokenizer::Detokenizer(const Tokenizer &T, bool SkipSpecial)
    : P(new Impl{T, SkipSpecial, DecodeStream(T.decoder())}) {}
Detokenizer::Detokenizer(Detokenizer &&) noexcept = default;
Detokenizer &Detokenizer::operator=(Detokenizer &&) noexcept = default;
Detokenizer::~Detokenizer() = default;

std::string Detokenizer::push(int32_t Id) {
  std::string Out;
  if (!P->T.isToken(Id) || (P->SkipSpecial && P->T.isSpecial(Id)))
    return Out;
  const std::vector<DecodeStep> &Steps = P->T.decoder().steps();
  if (Steps.size() == 1 && Steps[0].What == DecodeStep::ByteLevel)
    P->Stream.pushBytes(P->T.bytesOf(Id), Out);
  else
    P->Stream.push(P->T.spellingOf(Id), Out);
  return Out;
}

std::string Detokenizer::finish() {
  std::string Out;
  P->Stream.finish(Out);
  return Out;
}

} // namespace llmc
