// Text to token ids and back, for every kind of tokenizer that
// TokenizerCompiler reads. A Tokenizer is immutable: share it between threads.
#ifndef LLMC_RUNTIME_TEXT_TOKENIZER_H
#define LLMC_RUNTIME_TEXT_TOKENIZER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

class Decoder;

struct EncodeOptions {
  bool AddSpecial = true;     ///< the tokens of the file's template (BOS …)
  bool SpecialAsText = false; ///< text that spells a special token stays text
};

/// Two texts as one input.
struct PairEncoding {
  std::vector<int32_t> Ids;
  std::vector<int32_t> TypeIds; ///< which of the two, as the template says
};

class Tokenizer {
public:
  /// Reads the compiled form (compileTokenizer). Copies it.
  static Result<Tokenizer> load(std::span<const uint8_t> Bytes);
  /// The same without a copy: Bytes must stay as they are for as long as the
  /// tokenizer lives (a section of a mapped artifact), which Owner may see to.
  /// Bytes that are not aligned to 8 are copied.
  static Result<Tokenizer> borrow(std::span<const uint8_t> Bytes,
                                  std::shared_ptr<const void> Owner = nullptr);

  Tokenizer(Tokenizer &&) noexcept;
  Tokenizer &operator=(Tokenizer &&) noexcept;
  ~Tokenizer();

  /// Fails when the text is not UTF-8, when a pattern of the file takes too
  /// long, or when the text has no tokens at some place.
  Result<std::vector<int32_t>> encode(std::string_view Text,
                                      const EncodeOptions &O = {}) const;
  Result<PairEncoding> encodePair(std::string_view First,
                                  std::string_view Second,
                                  const EncodeOptions &O = {}) const;

  /// Whole text of the ids; broken UTF-8 becomes U+FFFD, unknown ids vanish.
  std::string decode(std::span<const int32_t> Ids,
                     bool SkipSpecial = false) const;

  size_t vocabSize() const;
  /// The id exists.
  bool isToken(int32_t Id) const;
  /// Raw bytes that a token adds to a text between others (part of a
  /// character, maybe); empty when unknown.
  std::string_view bytesOf(int32_t Id) const;
  bool isSpecial(int32_t Id) const;
  /// The token as the tokenizer's file spells it ("Ġthe").
  std::string spellingOf(int32_t Id) const;
  /// Id of an added token by its text; -1: none.
  int32_t addedToken(std::string_view Content) const;
  const Decoder &decoder() const;

private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> I);
  std::unique_ptr<Impl> P;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_TOKENIZER_H
