// Layout: magic, version, number of sections, then offset and size of each;
// the sections lie on multiples of eight, so that the tables are used where
// they are. Checking is one pass over each table.
#include "runtime/text/TokenizerImage.h"

#include "runtime/text/ByteLevel.h"
#include "runtime/text/Decoder.h"
#include "runtime/text/TokenTrie.h"
#include "runtime/text/TokenizerConfig.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace llmc {

namespace {

constexpr uint32_t Magic = 0x4B4F544C; // "LTOK"
constexpr uint32_t Version = 2;
constexpr size_t MaxVocab = size_t(1) << 24;

enum Section : uint32_t {
  ConfigSection,
  FlagSection,
  SpellBeginSection,
  SpellSection,
  BytesBeginSection,
  BytesSection,
  SlotSection,
  MergeSection,
  ScoreSection,
  TrieSection,
  SectionCount
};

struct Header {
  uint32_t Magic, Version, Sections, Reserved;
  struct {
    uint64_t Offset, Size;
  } At[SectionCount];
};

Status bad(const std::string &What) {
  return malformedError("tokenizer section: " + What);
}

/// Smallest power of two that leaves at least a third of the slots free.
size_t tableSize(size_t Entries) {
  size_t N = 16;
  while (N < Entries + Entries / 2)
    N *= 2;
  return N;
}

class ImageWriter {
public:
  ImageWriter() : Bytes(sizeof(Header)) {}
  template <typename T> void add(Section S, const std::vector<T> &L) {
    raw(S, L.data(), L.size() * sizeof(T));
  }
  void add(Section S, const std::string &T) { raw(S, T.data(), T.size()); }
  std::vector<uint8_t> finish() {
    H.Magic = Magic, H.Version = Version, H.Sections = SectionCount;
    std::memcpy(Bytes.data(), &H, sizeof(H));
    return std::move(Bytes);
  }

private:
  void raw(Section S, const void *P, size_t N) {
    Bytes.resize((Bytes.size() + 7) / 8 * 8);
    H.At[S] = {Bytes.size(), N};
    const uint8_t *B = static_cast<const uint8_t *>(P);
    Bytes.insert(Bytes.end(), B, B + N);
  }
  Header H = {};
  std::vector<uint8_t> Bytes;
};

std::vector<MergeSlot> layOutMerges(const TokenizerSource &S) {
  std::vector<MergeSlot> Table(tableSize(S.Merges.size()), {-1, 0, 0, 0});
  size_t Mask = Table.size() - 1;
  for (const MergeSlot &M : S.Merges) {
    size_t At = hashPair(M.Left, M.Right) & Mask;
    while (Table[At].Left >= 0 &&
           (Table[At].Left != M.Left || Table[At].Right != M.Right))
      At = (At + 1) & Mask;
    Table[At] = M;
  }
  return Table;
}

/// The model's tokens by text, the last of equal ones.
std::unordered_map<std::string_view, int32_t>
modelTexts(const TokenizerSource &S, const std::vector<std::string> &Keys) {
  std::unordered_map<std::string_view, int32_t> ByText;
  ByText.reserve(Keys.size());
  for (size_t Id = 0; Id < Keys.size(); ++Id)
    if ((S.Tokens[Id].Flags & InModel) && !Keys[Id].empty() &&
        (!S.Config.ByteMode || byteLevelToBytes(S.Tokens[Id].Spelling)))
      ByText[Keys[Id]] = static_cast<int32_t>(Id);
  return ByText;
}

std::vector<uint32_t>
layOutSlots(const std::unordered_map<std::string_view, int32_t> &ByText) {
  std::vector<uint32_t> Slots(tableSize(ByText.size()));
  size_t Mask = Slots.size() - 1;
  std::vector<std::pair<int32_t, std::string_view>> Sorted;
  for (const auto &[Text, Id] : ByText)
    Sorted.emplace_back(Id, Text);
  std::sort(Sorted.begin(), Sorted.end()); // the same bytes in every run
  for (const auto &[Id, Text] : Sorted) {
    size_t At = hashText(Text) & Mask;
    while (Slots[At] != 0)
      At = (At + 1) & Mask;
    Slots[At] = static_cast<uint32_t>(Id) + 1;
  }
  return Slots;
}

void addTexts(ImageWriter &W, Section BeginAt, Section TextAt,
              const std::vector<std::string> &Texts) {
  std::vector<uint32_t> Begin = {0};
  std::string All;
  for (const std::string &T : Texts) {
    All += T;
    Begin.push_back(static_cast<uint32_t>(All.size()));
  }
  W.add(BeginAt, Begin);
  W.add(TextAt, All);
}

/// A table of the image as it lies in the bytes.
template <typename T>
Status view(std::span<const uint8_t> Bytes, const Header &H, Section S,
            std::span<const T> &Out) {
  uint64_t Offset = H.At[S].Offset, Size = H.At[S].Size;
  if (Offset % 8 != 0 || Offset > Bytes.size() ||
      Size > Bytes.size() - Offset || Size % sizeof(T) != 0)
    return bad("part " + std::to_string(S) + " of " + std::to_string(Size) +
               " bytes at " + std::to_string(Offset) + " in " +
               std::to_string(Bytes.size()) + " bytes");
  Out = {reinterpret_cast<const T *>(Bytes.data() + Offset),
         static_cast<size_t>(Size / sizeof(T))};
  return Status::success();
}

Status checkOffsets(std::span<const uint32_t> O, size_t Vocab, size_t Total) {
  bool Good = O.size() == Vocab + 1 && O.front() == 0 && O.back() == Total;
  for (size_t I = 0; Good && I < Vocab; ++I)
    Good = O[I] <= O[I + 1];
  return Good ? Status::success() : bad("text offsets are not ascending");
}

/// Each spelling by itself is well-formed, so that decoding is.
Status checkSpellings(const TokenizerData &D) {
  bool Good = findBadUtf8(D.Spelling) == std::string_view::npos;
  for (size_t I = 0; Good && I < D.vocab(); ++I)
    Good = D.SpellBegin[I] == D.Spelling.size() ||
           (D.Spelling[D.SpellBegin[I]] & 0xC0) != 0x80;
  return Good ? Status::success() : bad("spelling of a token is not UTF-8");
}

Status checkTables(const TokenizerData &D) {
  size_t Vocab = D.vocab();
  auto IsPower = [](size_t N) { return N != 0 && (N & (N - 1)) == 0; };
  if (!IsPower(D.Slots.size()) || !IsPower(D.MergeSlots.size()))
    return bad("tables of " + std::to_string(D.Slots.size()) + " and " +
               std::to_string(D.MergeSlots.size()) + " slots");
  for (uint32_t S : D.Slots)
    if (S > Vocab)
      return bad("slot names token " + std::to_string(S - 1) + " of " +
                 std::to_string(Vocab));
  for (const MergeSlot &M : D.MergeSlots)
    if (M.Left >= 0 && (M.Result < 0 || static_cast<size_t>(M.Result) >= Vocab))
      return bad("merge result " + std::to_string(M.Result) +
                 " is outside the vocabulary of " + std::to_string(Vocab));
  for (const TrieNode &N : D.Trie)
    if (N.Token < -1 || N.Token >= static_cast<int64_t>(Vocab))
      return bad("trie names token " + std::to_string(N.Token) + " of " +
                 std::to_string(Vocab));
  bool Unigram = D.Config.Model == ModelKind::Unigram;
  if (Unigram && (D.Scores.size() != Vocab || D.Trie.empty()))
    return bad("unigram model has " + std::to_string(D.Scores.size()) +
               " scores for " + std::to_string(Vocab) + " tokens");
  return Status::success();
}

} // namespace

uint64_t hashText(std::string_view Text) {
  uint64_t H = Text.size() * 0x9E3779B97F4A7C15u;
  const char *P = Text.data();
  size_t N = Text.size();
  auto Mix = [&H](uint64_t Word) {
    H = (H ^ Word) * 0xD6E8FEB86659FD93u;
    H ^= H >> 32;
  };
  for (; N >= 8; P += 8, N -= 8) {
    uint64_t Word;
    std::memcpy(&Word, P, 8);
    Mix(Word);
  }
  uint64_t Rest = 0;
  if (N != 0)
    std::memcpy(&Rest, P, N);
  Mix(Rest);
  return H;
}

int32_t TokenizerData::find(std::string_view Key) const {
  size_t Mask = Slots.size() - 1, At = hashText(Key) & Mask;
  // A hostile table may be full: as many steps as it has slots.
  for (size_t Steps = 0; Steps <= Mask && Slots[At] != 0; ++Steps) {
    int32_t Id = static_cast<int32_t>(Slots[At] - 1);
    if (keyOf(Id) == Key)
      return Id;
    At = (At + 1) & Mask;
  }
  return -1;
}

const MergeSlot *TokenizerData::findMerge(int32_t Left, int32_t Right) const {
  size_t Mask = MergeSlots.size() - 1, At = hashPair(Left, Right) & Mask;
  for (size_t Steps = 0; Steps <= Mask; ++Steps) {
    const MergeSlot &M = MergeSlots[At];
    if (M.Left < 0)
      return nullptr;
    if (M.Left == Left && M.Right == Right)
      return &M;
    At = (At + 1) & Mask;
  }
  return nullptr;
}

Result<std::vector<uint8_t>> writeTokenizerImage(const TokenizerSource &S) {
  size_t Vocab = S.Tokens.size();
  if (Vocab > MaxVocab)
    return malformedError("vocabulary of " + std::to_string(Vocab) +
                          " tokens, at most " + std::to_string(MaxVocab));
  std::vector<uint8_t> Flags, Config;
  std::vector<std::string> Spellings, Bytes;
  std::vector<double> Scores;
  LLMC_ASSIGN_OR_RETURN(Decoder D, Decoder::create(S.Config.Decoders));
  for (const TokenizerSource::Token &T : S.Tokens) {
    Flags.push_back(T.Flags);
    Spellings.push_back(T.Spelling);
    LLMC_ASSIGN_OR_RETURN(std::string B, D.middle(T.Spelling));
    Bytes.push_back(std::move(B));
    if (S.Config.Model == ModelKind::Unigram)
      Scores.push_back(T.Score);
  }
  bool ByBytes = S.Config.ByteMode;
  std::unordered_map<std::string_view, int32_t> ByText =
      modelTexts(S, ByBytes ? Bytes : Spellings);
  std::vector<TrieNode> Trie;
  if (S.Config.Model == ModelKind::Unigram)
    Trie = buildTrie({ByText.begin(), ByText.end()});
  ImageWriter W;
  writeConfig(S.Config, Config);
  W.add(ConfigSection, Config);
  W.add(FlagSection, Flags);
  addTexts(W, SpellBeginSection, SpellSection, Spellings);
  addTexts(W, BytesBeginSection, BytesSection, Bytes);
  W.add(SlotSection, layOutSlots(ByText));
  W.add(MergeSection, layOutMerges(S));
  W.add(ScoreSection, Scores);
  W.add(TrieSection, Trie);
  return W.finish();
}

Result<TokenizerData> readTokenizerImage(std::span<const uint8_t> Bytes) {
  Header H;
  if (Bytes.size() < sizeof(H))
    return bad("length of " + std::to_string(Bytes.size()) +
               " bytes, at least " + std::to_string(sizeof(H)));
  std::memcpy(&H, Bytes.data(), sizeof(H));
  if (H.Magic != Magic)
    return bad("does not start with LTOK");
  if (H.Version != Version)
    return bad("version " + std::to_string(H.Version) + ", expected " +
               std::to_string(Version) + ": compile the model again");
  if (H.Sections != SectionCount)
    return bad(std::to_string(H.Sections) + " parts, expected " +
               std::to_string(SectionCount));
  TokenizerData D;
  std::span<const uint8_t> Config;
  std::span<const char> Spelling, Raw;
  LLMC_RETURN_IF_ERROR(view(Bytes, H, ConfigSection, Config));
  LLMC_RETURN_IF_ERROR(view(Bytes, H, FlagSection, D.Flags));
  LLMC_RETURN_IF_ERROR(view(Bytes, H, SpellBeginSection, D.SpellBegin));
  LLMC_RETURN_IF_ERROR(view(Bytes, H, SpellSection, Spelling));
  LLMC_RETURN_IF_ERROR(view(Bytes, H, BytesBeginSection, D.BytesBegin));
  LLMC_RETURN_IF_ERROR(view(Bytes, H, BytesSection, Raw));
  LLMC_RETURN_IF_ERROR(view(Bytes, H, SlotSection, D.Slots));
  LLMC_RETURN_IF_ERROR(view(Bytes, H, MergeSection, D.MergeSlots));
  LLMC_RETURN_IF_ERROR(view(Bytes, H, ScoreSection, D.Scores));
  LLMC_RETURN_IF_ERROR(view(Bytes, H, TrieSection, D.Trie));
  if (D.vocab() > MaxVocab)
    return bad("vocabulary of " + std::to_string(D.vocab()) + " tokens");
  D.Spelling = {Spelling.data(), Spelling.size()};
  D.Bytes = {Raw.data(), Raw.size()};
  LLMC_ASSIGN_OR_RETURN(D.Config, readConfig(Config, D.vocab()));
  LLMC_RETURN_IF_ERROR(
      checkOffsets(D.SpellBegin, D.vocab(), D.Spelling.size()));
  LLMC_RETURN_IF_ERROR(checkOffsets(D.BytesBegin, D.vocab(), D.Bytes.size()));
  LLMC_RETURN_IF_ERROR(checkSpellings(D));
  LLMC_RETURN_IF_ERROR(checkTables(D));
  return D;
}

} // namespace llmc
