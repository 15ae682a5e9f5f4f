// Finds added tokens ("<|im_start|>") in a text before anything else looks at
// it: leftmost first, the longest of those that begin at one place.
#ifndef LLMC_RUNTIME_TEXT_ADDEDTOKENS_H
#define LLMC_RUNTIME_TEXT_ADDEDTOKENS_H

#include "runtime/text/TokenizerImage.h"

#include <bitset>
#include <optional>

namespace llmc {

class AddedTokenFinder {
public:
  void add(const AddedToken &T);
  /// Call once, after the last add.
  void finish();
  bool empty() const { return Tokens.empty() && !Empty; }

  /// A range of the text: an added token, or (Id < 0) ordinary text.
  struct Range {
    size_t Begin, End;
    int32_t Id;
  };
  /// Cuts Text into ranges, none empty. With SpecialAsText, special tokens
  /// are ordinary text.
  void split(std::string_view Text, bool SpecialAsText,
             std::vector<Range> &Out) const;

private:
  const AddedToken *longestAt(std::string_view Text, size_t At) const;

  std::vector<AddedToken> Tokens; ///< sorted by content
  /// One whose content the normaliser removes: it is found between any two
  /// characters, which cuts the text there, and takes the space around it.
  std::optional<AddedToken> Empty;
  std::bitset<256> FirstBytes;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_ADDEDTOKENS_H
