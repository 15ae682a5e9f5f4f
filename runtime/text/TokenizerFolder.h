// What tokenizer_config.json and added_tokens.json beside a vocabulary say.
#ifndef LLMC_RUNTIME_TEXT_TOKENIZERFOLDER_H
#define LLMC_RUNTIME_TEXT_TOKENIZERFOLDER_H

#include "runtime/text/TokenizerImage.h"

#include <optional>

namespace llmc {

struct TokenizerFolder {
  std::string Class;   ///< tokenizer_class without "Fast"; empty: not given
  std::string Pattern; ///< "pat_str" or "pattern"
  std::string Bos, Eos, Unk; ///< texts of the tokens; empty: not given
  std::optional<bool> AddBos, AddEos, AddPrefixSpace, LowerCase, StripAccents,
      ChineseChars;
  /// With the ids that the files give.
  std::vector<AddedToken> Added;
  /// A token with a role (bos_token …, additional_special_tokens), without id.
  struct NamedToken {
    AddedToken Token;
    bool Plain; ///< a text without flags
  };
  std::vector<NamedToken> Named;
  bool HasConfig = false; ///< there is a tokenizer_config.json
  bool HasTable = false;  ///< with added_tokens_decoder
};

/// The tokens that a class takes for granted where the settings do not name
/// them; an empty text: none.
struct UsualTokens {
  const char *Class, *Bos, *Eos, *Unk, *Pad;
};

/// Null: nothing is known of the class.
const UsualTokens *usualTokens(const std::string &Class);

/// The first with that text, or null.
const AddedToken *findAdded(const std::vector<AddedToken> &List,
                            const std::string &Text);

/// Missing files give an empty answer; broken ones are Malformed.
Result<TokenizerFolder> readTokenizerFolder(const std::string &Folder);

/// Makes an added token of each entry at its own id. Malformed when an id
/// already has another text.
Status addWithIds(TokenizerSource &S, const std::vector<AddedToken> &Added);

/// Output of one text and of a pair: begin and end token (-1: none) around
/// each text.
void frameTexts(TokenizerConfig &C, int32_t Begin, int32_t End);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_TOKENIZERFOLDER_H
