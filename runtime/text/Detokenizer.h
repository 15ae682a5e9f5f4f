// Token ids to text, one by one. What it gives out is always well-formed
// UTF-8, as early as it is certain; the pieces put together are the text.
#ifndef LLMC_RUNTIME_TEXT_DETOKENIZER_H
#define LLMC_RUNTIME_TEXT_DETOKENIZER_H

#include "runtime/text/Tokenizer.h"
#include "runtime/text/Utf8.h"

namespace llmc {

class Detokenizer {
public:
  /// T must outlive the Detokenizer.
  explicit Detokenizer(const Tokenizer &T, bool SkipSpecial = true)
      : T(T), SkipSpecial(SkipSpecial) {}

  /// Text that this token makes certain; often the token, sometimes nothing.
  std::string push(int32_t Id);
  /// What is left at the end: nothing, or U+FFFD for an unfinished character.
  std::string finish();

private:
  const Tokenizer &T;
  bool SkipSpecial;
  Utf8Stream Stream;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_DETOKENIZER_H
