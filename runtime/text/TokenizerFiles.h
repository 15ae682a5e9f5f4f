// Tokenizers in other files than tokenizer.json.
#ifndef LLMC_RUNTIME_TEXT_TOKENIZERFILES_H
#define LLMC_RUNTIME_TEXT_TOKENIZERFILES_H

#include "runtime/base/Status.h"
#include "runtime/text/TokenizerFolder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

/// What compileTokenizer does for a folder (or a file itself) without
/// tokenizer.json: SentencePiece, tiktoken, vocab.json with merges.txt, or
/// vocab.txt, whichever is there first. Empty when there is none.
Result<std::vector<uint8_t>> compileOtherTokenizer(const std::string &Path);

/// A SentencePiece model (the protocol buffer ModelProto). Name: of the file,
/// for errors.
Result<TokenizerSource> readSentencePiece(std::string_view Bytes,
                                          const TokenizerFolder &F,
                                          const std::string &Name);

/// Lines of a token in Base64 and its rank. The pattern that cuts the text is
/// F.Pattern: a regular expression, or the name of an encoding of tiktoken.
Result<TokenizerSource> readTiktoken(std::string_view Text,
                                     const TokenizerFolder &F,
                                     const std::string &Name);
/// The text begins like such a file.
bool looksLikeTiktoken(std::string_view Text);

/// tokenizer.json of vocab.json and merges.txt in the manner of GPT-2.
Result<std::string> jsonOfVocabAndMerges(std::string_view Vocab,
                                         std::string_view Merges,
                                         const TokenizerFolder &F);
/// tokenizer.json of vocab.txt in the manner of BERT.
Result<std::string> jsonOfVocabText(std::string_view Vocab,
                                    const TokenizerFolder &F);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_TOKENIZERFILES_H
