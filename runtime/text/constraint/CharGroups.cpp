// Which group a character is in, and the tree of all of them. The groups are
// part of the image of a trie (TokenTrieImage.h): changing one changes its
// version. So they come from our own tables, not from a library's.
#include "runtime/text/constraint/CharGroups.h"

#include "runtime/text/Unicode.h"

#include <cstring>
#include <unordered_map>

namespace llmc::constraint {

namespace {

enum Group : uint32_t {
  Space = FirstMultiByte, ///< what \s takes
  Mark,
  Number,
  Punctuation,
  Symbol,
  Rest, ///< unassigned, private and such
  Latin1Upper,
  Latin1Lower, ///< [ß-ÿ]
  LatinUpper,
  LatinLower,
  CyrillicUpper, ///< [А-ЯЁ]
  CyrillicLower, ///< [а-яё]
  OtherUpper,
  OtherLower,
  Han,      ///< [一-龥]
  Hiragana, ///< [ぁ-ん]
  Katakana, ///< [ァ-ン]
  Hangul,   ///< [가-힣]
  OtherLetter,
  GroupsEnd
};
static_assert(GroupsEnd == 63);

bool isSpace(uint32_t C) {
  return C == 0xA0 || C == 0x1680 || (C >= 0x2000 && C <= 0x200A) ||
         C == 0x2028 || C == 0x2029 || C == 0x202F || C == 0x205F ||
         C == 0x3000 || C == 0xFEFF;
}

uint32_t cased(uint32_t C, bool Upper) {
  if (C >= 0xC0 && C <= 0xFF)
    return Upper ? Latin1Upper : Latin1Lower;
  if ((C >= 0x100 && C < 0x250) || (C >= 0x1E00 && C < 0x1F00))
    return Upper ? LatinUpper : LatinLower;
  if ((C >= 0x410 && C <= 0x44F) || C == 0x401 || C == 0x451)
    return Upper ? CyrillicUpper : CyrillicLower;
  return Upper ? OtherUpper : OtherLower;
}

uint32_t otherLetter(uint32_t C) {
  if (C >= 0x4E00 && C <= 0x9FA5)
    return Han;
  if (C >= 0xAC00 && C <= 0xD7A3)
    return Hangul;
  if (C >= 0x3041 && C <= 0x3093)
    return Hiragana;
  return C >= 0x30A1 && C <= 0x30F3 ? Katakana : OtherLetter;
}

uint32_t groupOf(uint32_t C) {
  if (isSpace(C))
    return Space;
  if ((charClass(C) & HasStandIn) != 0) // other libraries know it otherwise
    return Rest;
  switch (categoryOf(C)) {
  case Category::Lu:
  case Category::Ll:
    return cased(C, categoryOf(C) == Category::Lu);
  case Category::Lt:
  case Category::Lm:
  case Category::Lo:
    return otherLetter(C);
  case Category::Mn:
  case Category::Mc:
  case Category::Me:
    return Mark;
  case Category::Nd:
  case Category::Nl:
  case Category::No:
    return Number;
  case Category::Pc:
  case Category::Pd:
  case Category::Ps:
  case Category::Pe:
  case Category::Pi:
  case Category::Pf:
  case Category::Po:
    return Punctuation;
  case Category::Sm:
  case Category::Sc:
  case Category::Sk:
  case Category::So:
    return Symbol;
  default:
    return Rest;
  }
}

} // namespace

class CharTreeBuilder {
public:
  explicit CharTreeBuilder(CharTree &T) : T(T) {}

  /// Of the characters whose bits before the last Left bytes are Bits.
  uint32_t build(uint32_t Bits, Utf8Rest R) {
    uint32_t First = Bits << (6 * R.Left);
    if (R.Left == 0)
      return groupOf(First);
    // Planes 4 to 13 have no characters.
    bool Empty = First >= 0x40000 && First < 0xE0000 && R.Left < 3;
    if (Empty && Barren[R.Left] != 0)
      return Barren[R.Left];
    CharTree::Node N;
    N.Next.fill(CharTree::None);
    for (unsigned B = R.Low; B <= R.High; ++B) {
      uint32_t To = build(Bits << 6 | (B & 63), R.next());
      N.Next[B & 63] = To;
      N.Groups |= T.Nodes[To].Groups;
    }
    uint32_t Id = intern(N);
    if (Empty)
      Barren[R.Left] = Id;
    return Id;
  }

private:
  uint32_t intern(const CharTree::Node &N) {
    uint64_t Hash = 0;
    for (uint32_t To : N.Next) {
      Hash = (Hash ^ To) * 0xFF51AFD7ED558CCDull;
      Hash ^= Hash >> 32;
    }
    auto [From, End] = Index.equal_range(Hash);
    for (auto It = From; It != End; ++It)
      if (T.Nodes[It->second].Next == N.Next)
        return It->second;
    uint32_t Id = static_cast<uint32_t>(T.Nodes.size());
    T.Nodes.push_back(N);
    Index.emplace(Hash, Id);
    return Id;
  }

  CharTree &T;
  uint32_t Barren[3] = {0, 0, 0};
  std::unordered_multimap<uint64_t, uint32_t> Index;
};

CharTree::CharTree() {
  Nodes.resize(None + 1);
  for (uint32_t G = 0; G < None; ++G)
    Nodes[G].Groups = uint64_t{1} << G;
  CharTreeBuilder B(*this);
  for (unsigned Lead = 0xC2; Lead <= 0xF4; ++Lead) {
    Utf8Rest R = Utf8Rest::after(static_cast<uint8_t>(Lead));
    uint32_t Bits = Lead & (0x3Fu >> R.Left);
    Leads[Lead - 0xC2] = B.build(Bits, R);
  }
}

const CharTree &CharTree::get() {
  static const CharTree Tree;
  return Tree;
}

} // namespace llmc::constraint
