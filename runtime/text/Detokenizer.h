// Token ids to text, one by one, for every kind of decoder. What it gives out
// is always well-formed UTF-8, as early as it is certain; the pieces put
// together are the text (but see push).
#ifndef LLMC_RUNTIME_TEXT_DETOKENIZER_H
#define LLMC_RUNTIME_TEXT_DETOKENIZER_H

#include "runtime/text/Tokenizer.h"

namespace llmc {

class Detokenizer {
public:
  /// T must outlive the Detokenizer.
  explicit Detokenizer(const Tokenizer &T, bool SkipSpecial = true);
  Detokenizer(Detokenizer &&) noexcept;
  Detokenizer &operator=(Detokenizer &&) noexcept;
  ~Detokenizer();

  /// Text that this token makes certain; often the token, sometimes nothing.
  /// In a run of byte tokens ("<0x..>") a finished character counts as certain,
  /// although decode gives U+FFFD for all of a run that turns out broken.
  std::string push(int32_t Id);
  /// What is left at the end, U+FFFD for an unfinished character.
  std::string finish();

private:
  struct Impl;
  std::unique_ptr<Impl> P;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_DETOKENIZER_H
