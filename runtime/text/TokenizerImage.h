// A tokenizer as plain data, and its binary form: the tokenizer section of an
// artifact. The compiler makes the data from tokenizer.json; the runtime reads
// the bytes back with every number checked, so hostile bytes are an error and
// nothing after the load needs to check again.
//
// The file's components are reduced to few kinds here: every pre-tokenizer
// (Digits, Punctuation, the regex of ByteLevel …) becomes a Split by a regular
// expression, every spelling in the byte alphabet becomes bytes.
#ifndef LLMC_RUNTIME_TEXT_TOKENIZERIMAGE_H
#define LLMC_RUNTIME_TEXT_TOKENIZERIMAGE_H

#include "runtime/base/Status.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

/// What happens to the matches of a Split; the numbers are stored.
enum class SplitBehavior : uint8_t {
  Isolated = 0, ///< a piece of its own
  Removed = 1,
  MergedWithPrevious = 2,
  MergedWithNext = 3,
  Contiguous = 4 ///< neighbouring matches form one piece
};

struct PreStep {
  enum Kind : uint8_t {
    Split = 0,
    PrefixSpace = 1 ///< a space before a piece that has none
  };
  Kind What = Split;
  SplitBehavior Behavior = SplitBehavior::Isolated;
  bool Invert = false; ///< what the pattern leaves out counts as the match
  std::string Pattern;
};

/// Unicode normalisation; the numbers are stored.
enum class NormalForm : uint8_t { C = 1, D = 2, KC = 3, KD = 4 };

struct AddedToken {
  int32_t Id = 0;
  bool Special = false;
  bool Normalized = false; ///< matched in the normalised text
  bool LStrip = false, RStrip = false, SingleWord = false;
  std::string Content;
};

/// The merge of a left token (given by MergeBegin) with Right.
struct Merge {
  int32_t Right;
  uint32_t Rank; ///< lower is done first
  int32_t Result;
};

struct TokenizerData {
  enum Flag : uint8_t {
    Known = 1,   ///< the id exists
    Special = 2, ///< left out when special tokens are skipped
    Added = 4,   ///< shown as its content
    Plain = 8    ///< bytes are the spelling itself, not the alphabet's
  };
  std::vector<uint8_t> Flags;       ///< [vocab]
  std::vector<uint32_t> TextBegin;  ///< [vocab + 1], offsets into Text
  std::string Text;                 ///< bytes of all tokens, decoded
  std::array<int32_t, 256> ByteId;  ///< token of a byte, -1: none
  std::vector<uint32_t> MergeBegin; ///< [vocab + 1], offsets into Merges
  std::vector<Merge> Merges;        ///< by left token, then by Right
  std::vector<int32_t> ByText;      ///< ids sorted by bytes; empty unless whole
                                    ///< pieces are looked up before merging
  std::vector<AddedToken> AddedTokens;
  std::vector<NormalForm> Normalizers;
  std::vector<PreStep> PreSteps;
  std::vector<int32_t> Prefix, Suffix; ///< around a text, from the template

  size_t vocab() const { return Flags.size(); }
  std::string_view bytesOf(int32_t Id) const {
    return std::string_view(Text).substr(TextBegin[Id],
                                         TextBegin[Id + 1] - TextBegin[Id]);
  }
};

std::vector<uint8_t> writeTokenizerImage(const TokenizerData &D);
Result<TokenizerData> readTokenizerImage(std::span<const uint8_t> Bytes);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_TOKENIZERIMAGE_H
