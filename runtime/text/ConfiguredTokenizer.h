// What tokenizer_config.json changes about the tokenizer.json beside it.
// transformers loads both and lets the settings win: a class puts its BOS in
// front whatever the post_processor of the file does, tokens with a role
// become special ones, and so on. A folder means what it means there.
// Facts: transformers 4.57.6, PreTrainedTokenizerFast and its subclasses.
#ifndef LLMC_RUNTIME_TEXT_CONFIGUREDTOKENIZER_H
#define LLMC_RUNTIME_TEXT_CONFIGUREDTOKENIZER_H

#include "runtime/text/TokenizerFolder.h"
#include "runtime/text/TokenizerParts.h"

namespace llmc {

/// The JSON of "pre_tokenizer" with add_prefix_space as the settings have it.
std::string configurePreTokenizer(std::string Part, const TokenizerFolder &F);

/// The JSON of "normalizer" with the flags of BERT's settings.
std::string configureNormalizer(std::string Part, const TokenizerFolder &F);

/// Adds the tokens of the settings behind those of the file; S is what Numbers
/// numbers. Tokens with a role that the vocabulary does not have are left out:
/// their ids would lie outside the model.
Status configureAdded(const TokenizerSource &S, AddedNumbering &Numbers,
                      const TokenizerFolder &F);

/// BOS and EOS around texts, for classes that ignore the post_processor.
void configureFrame(TokenizerSource &S, const TokenizerFolder &F);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_CONFIGUREDTOKENIZER_H
