// A tokenizer as plain data, and its binary form: the tokenizer section of an
// artifact. The compilers (tokenizer.json, SentencePiece, tiktoken …) make a
// TokenizerSource; the runtime lays a TokenizerData over the bytes. The large
// tables (token texts, hash of texts, hash of merges, trie) lie in the bytes
// ready for use; every number in them is checked once, so hostile bytes are an
// error and nothing after the load needs to check again.
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

/// One step of rewriting a text; the numbers are stored.
struct NormalStep {
  enum Kind : uint8_t {
    NFC = 1,
    NFD = 2,
    NFKC = 3,
    NFKD = 4,
    Lowercase = 5,
    Strip = 6, ///< Flags: 1 left, 2 right
    StripAccents = 7,
    ReplaceText = 8,  ///< Pattern by Content
    ReplaceRegex = 9, ///< matches of Pattern by Content
    Prepend = 10,     ///< Content before a text that is not empty
    Precompiled = 11, ///< Pattern: SentencePiece's table, per cluster
    Bert = 12,        ///< Flags: 1 clean, 2 Chinese, 4 accents, 8 lower case
    Nmt = 13,
    ByteLevel = 14,
    /// Pattern: SentencePiece's table, longest prefix; Flags: 1 white space is
    /// trimmed and runs become one, 2 a space is put in front, 4 … behind, 8
    /// spaces become U+2581. Content: texts that stay, each ended by a zero.
    SentencePiece = 15,
    Last = 15
  };
  Kind What = NFC;
  uint8_t Flags = 0;
  std::string Pattern, Content;
};

/// What happens to the matches of a split; the numbers are stored.
enum class SplitBehavior : uint8_t {
  Isolated = 0, ///< a piece of its own
  Removed = 1,
  MergedWithPrevious = 2,
  MergedWithNext = 3,
  Contiguous = 4 ///< neighbouring matches form one piece
};

struct PreStep {
  enum Kind : uint8_t {
    Regex = 0,
    PrefixSpace = 1, ///< a space before a piece that has none
    Text = 2,        ///< matches of the pattern itself
    Digits = 3,
    Punctuation = 4,
    White = 5,
    Words = 6,     ///< \w+ or [^\w\s]+; the rest is removed
    Scripts = 7,   ///< cut where the script changes
    Length = 8,    ///< pieces of Number characters
    Metaspace = 9, ///< spaces become Pattern; Number: 0 never, 1 first piece,
                   ///< 2 always prepended
    Bytes = 10,    ///< each byte becomes a character of the byte alphabet
    Last = 10
  };
  Kind What = Regex;
  SplitBehavior Behavior = SplitBehavior::Isolated;
  bool Invert = false; ///< what the pattern leaves out counts as the match
  uint32_t Number = 0;
  std::string Pattern;
};

struct DecodeStep {
  enum Kind : uint8_t {
    ByteLevel = 0,
    ByteFallback = 1,
    Fuse = 2,
    Metaspace = 3,    ///< Pattern by space; Start 1: none at the first token
    ReplaceText = 4,  ///< Pattern by Content
    ReplaceRegex = 5, ///< matches of Pattern by Content
    Strip = 6,        ///< up to Start and Stop times Content at the ends
    WordPiece = 7,    ///< Pattern: prefix; Start 1: clean up
    Ctc = 8,          ///< Pattern: pad, Content: delimiter, Start 1: clean up
    Bpe = 9,          ///< Pattern: suffix
    Spaces = 10,      ///< a space between tokens (no decoder)
    LeadingMark = 11, ///< one Pattern less at the first token; Start 1: and at
                      ///< the next, as long as nothing is left
    Last = 11
  };
  Kind What = Fuse;
  uint32_t Start = 0, Stop = 0;
  std::string Pattern, Content;
};

struct AddedToken {
  int32_t Id = 0;
  bool Special = false;
  bool Normalized = false; ///< matched in the normalised text
  bool LStrip = false, RStrip = false, SingleWord = false;
  std::string Content;
};

/// One part of what the post-processor puts out.
struct OutputPart {
  enum Kind : uint8_t { First = 0, Second = 1, Token = 2 };
  Kind What = First;
  int32_t Id = 0; ///< of a Token
  int32_t Type = 0;
};

enum class ModelKind : uint8_t {
  Bpe = 0,
  Unigram = 1,
  WordPiece = 2,
  WordLevel = 3
};

/// Everything but the large tables.
struct TokenizerConfig {
  ModelKind Model = ModelKind::Bpe;
  /// Pieces reach the model as plain bytes instead of alphabet characters.
  bool ByteMode = false;
  bool ByteFallback = false, FuseUnk = false, IgnoreMerges = false;
  bool CutMarks = false;    ///< no merge crosses to a U+2581 that begins a word
  bool FloatScores = false; ///< Unigram adds scores in single precision
  int32_t UnkId = -1;       ///< -1: none
  uint32_t MaxChars = 100;  ///< of a word, for WordPiece
  double UnkScore = 0;      ///< for Unigram
  std::string Prefix, Suffix; ///< continuing_subword_prefix, end_of_word_suffix
  /// Token of a byte: its character in ByteMode, else "<0x..>"; -1: none.
  std::array<int32_t, 256> ByteId = {};
  std::vector<AddedToken> AddedTokens;
  std::vector<NormalStep> Normalizers;
  std::vector<PreStep> PreSteps;
  std::vector<DecodeStep> Decoders;
  /// Output of one text and of a pair; [0] without and [1] with special
  /// tokens.
  std::array<std::vector<OutputPart>, 2> Single, Pair;
};

enum TokenFlag : uint8_t {
  KnownToken = 1,   ///< the id exists
  SpecialToken = 2, ///< left out when special tokens are skipped
  InAdded = 4,      ///< shown as its content
  InModel = 8,      ///< the model may find it by its text
  ByteToken = 16    ///< stands for a byte only ("<0x0A>" of SentencePiece)
};

/// One slot of the open-addressed table of merges; Left -1: free.
struct MergeSlot {
  int32_t Left, Right;
  uint32_t Rank; ///< lower is done first
  int32_t Result;
};

/// A node of the double-array trie over token bytes: the child by byte B is
/// node Base + B when that node's Check names this node.
struct TrieNode {
  uint32_t Base;
  uint32_t Check; ///< parent + 1; 0: free
  int32_t Token;  ///< -1: no token ends here
};

/// What a compiler of tokenizer files hands to writeTokenizerImage.
struct TokenizerSource {
  TokenizerConfig Config;
  struct Token {
    std::string Spelling; ///< as the file writes it
    uint8_t Flags = 0;
    double Score = 0; ///< for Unigram
  };
  std::vector<Token> Tokens; ///< by id; Flags 0: no such id
  /// Of equal pairs the last counts; equal ranks are done from the left.
  std::vector<MergeSlot> Merges;
};

/// The view of a checked image; lives as long as the bytes do.
struct TokenizerData {
  TokenizerConfig Config;
  std::span<const uint8_t> Flags;       ///< [vocab]
  std::span<const uint32_t> SpellBegin; ///< [vocab + 1], into Spelling
  std::string_view Spelling;
  std::span<const uint32_t> BytesBegin; ///< [vocab + 1], into Bytes
  std::string_view Bytes;               ///< what tokens decode to, amid others
  std::span<const uint32_t> Slots;      ///< id + 1 by hash of the model's text
  std::span<const MergeSlot> MergeSlots;
  std::span<const double> Scores; ///< [vocab] for Unigram
  std::span<const TrieNode> Trie; ///< for Unigram

  size_t vocab() const { return Flags.size(); }
  std::string_view spellingOf(int32_t Id) const {
    return Spelling.substr(SpellBegin[Id], SpellBegin[Id + 1] - SpellBegin[Id]);
  }
  std::string_view bytesOf(int32_t Id) const {
    return Bytes.substr(BytesBegin[Id], BytesBegin[Id + 1] - BytesBegin[Id]);
  }
  /// Text by which the model looks for tokens.
  std::string_view keyOf(int32_t Id) const {
    return Config.ByteMode ? bytesOf(Id) : spellingOf(Id);
  }
  /// Token of the model with this text; -1: none.
  int32_t find(std::string_view Key) const;
  /// Merge of two neighbours; null: none.
  const MergeSlot *findMerge(int32_t Left, int32_t Right) const;
};

/// Hash of the tables; part of the format.
uint64_t hashText(std::string_view Text);
inline uint64_t hashPair(int32_t Left, int32_t Right) {
  uint64_t K = static_cast<uint64_t>(static_cast<uint32_t>(Left)) << 32 |
               static_cast<uint32_t>(Right);
  K *= 0x9E3779B97F4A7C15u;
  return K ^ K >> 32;
}

/// Malformed when the source cannot be laid out (too many tokens).
Result<std::vector<uint8_t>> writeTokenizerImage(const TokenizerSource &S);
/// Bytes must be aligned to 8 and outlive the data.
Result<TokenizerData> readTokenizerImage(std::span<const uint8_t> Bytes);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_TOKENIZERIMAGE_H
