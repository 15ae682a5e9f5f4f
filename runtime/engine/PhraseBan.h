// Texts that must not be written, however they are cut into tokens. A token
// is banned when its bytes, behind what is written so far, would complete one
// of the phrases; so no phrase ever appears, nothing has to be taken back, and
// streamed text is never wrong. Matching is by bytes, exact in case.
#ifndef LLMC_RUNTIME_ENGINE_PHRASEBAN_H
#define LLMC_RUNTIME_ENGINE_PHRASEBAN_H

#include "runtime/base/Status.h"
#include "runtime/engine/TokenFilter.h"
#include "runtime/text/Tokenizer.h"

#include <string>

namespace llmc {

/// The phrases with what the vocabulary means for them; shared by all
/// continuations of a request.
class PhraseTable;

class PhraseBan : public TokenFilter {
public:
  /// Usage for an empty phrase, one above 1024 bytes, or more than 64. T must
  /// outlive all copies.
  static Result<std::unique_ptr<TokenFilter>>
  create(const std::vector<std::string> &Phrases, const Tokenizer &T);

  std::unique_ptr<TokenFilter> clone() const override;
  void narrow(TokenBits Allowed) override;
  void accept(int32_t Token) override;

private:
  explicit PhraseBan(std::shared_ptr<PhraseTable> T);

  std::shared_ptr<PhraseTable> Table;
  std::vector<uint32_t> Matched; ///< bytes of each phrase that stand at the end
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_PHRASEBAN_H
