// The components of tokenizer.json, each from its own JSON text (empty: the
// file has none) to the steps of the runtime. A component that is not known is
// Unsupported by name, a broken one Malformed.
#ifndef LLMC_RUNTIME_TEXT_TOKENIZERPARTS_H
#define LLMC_RUNTIME_TEXT_TOKENIZERPARTS_H

#include "runtime/text/TokenizerImage.h"

#include <unordered_map>

namespace llmc {

Result<std::vector<NormalStep>> readNormalizer(const std::string &Json);
Result<std::vector<PreStep>> readPreTokenizer(const std::string &Json);
Result<std::vector<DecodeStep>> readDecoder(const std::string &Json);
/// Fills Single and Pair.
Status readPostProcessor(const std::string &Json, TokenizerConfig &Config);

/// An error of a component, with its place in front.
inline Status inTokenizerFile(const Status &S, const char *Part) {
  return {S.code(),
          std::string("tokenizer.json: ") + Part + ": " + S.message()};
}

/// The pattern of GPT-2.
extern const char *const Gpt2Pattern;

constexpr int64_t MaxTokenId = (1 << 24) - 1;

/// Completes a source whose tokens, merges, steps and decoders are set: byte
/// tokens, ByteMode, flags. Then writes the image and reads it back.
Result<std::vector<uint8_t>> finishTokenizer(TokenizerSource S);

/// Id of a token of the model by its spelling; built once for many questions.
class TokenIndex {
public:
  explicit TokenIndex(const TokenizerSource &S);
  int32_t find(const std::string &Spelling) const; ///< -1: none

private:
  std::unordered_map<std::string_view, int32_t> Ids;
};

/// Numbers added tokens: the model's id when the model has the text, else the
/// id of the file, else (another token has that) the one behind all others.
/// ModelSize: number of tokens of the model.
class AddedNumbering {
public:
  AddedNumbering(TokenizerSource &S, size_t ModelSize);
  /// Malformed when there are too many tokens.
  Status add(AddedToken T);

private:
  TokenizerSource &S;
  size_t ModelSize;
  std::unordered_map<std::string, int32_t> Ids; ///< model and added
  int64_t MaxAdded = -1;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_TOKENIZERPARTS_H
