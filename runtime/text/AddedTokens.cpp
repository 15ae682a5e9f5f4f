// The sorted list of contents is narrowed byte by byte, which costs
// O(length * log(tokens)) at each place whatever the text.
#include "runtime/text/AddedTokens.h"

#include "runtime/text/Unicode.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace llmc {

namespace {

bool isSpace(uint32_t C) { return charTraits(C) & White; }
bool isWord(uint32_t C) { return charTraits(C) & Word; }

/// Start of the character that ends before At; At > 0.
size_t stepBack(std::string_view Text, size_t At) {
  do
    --At;
  while (At > 0 && (Text[At] & 0xC0) == 0x80);
  return At;
}

size_t skipSpacesBack(std::string_view Text, size_t At, size_t Floor) {
  while (At > Floor) {
    size_t Begin = stepBack(Text, At), Pos = Begin;
    if (!isSpace(nextCodePoint(Text, Pos)))
      break;
    At = Begin;
  }
  return At;
}

size_t skipSpaces(std::string_view Text, size_t At) {
  while (At < Text.size()) {
    size_t Next = At;
    if (!isSpace(nextCodePoint(Text, Next)))
      break;
    At = Next;
  }
  return At;
}

bool standsAlone(std::string_view Text, size_t Begin, size_t End) {
  if (Begin > 0) {
    size_t Pos = stepBack(Text, Begin);
    if (isWord(nextCodePoint(Text, Pos)))
      return false;
  }
  return End == Text.size() || !isWord(nextCodePoint(Text, End));
}

} // namespace

void AddedTokenFinder::add(const AddedToken &T) { Tokens.push_back(T); }

/// Of several that look the same the first counts, special ones before others.
void AddedTokenFinder::finish() {
  std::stable_sort(Tokens.begin(), Tokens.end(),
                   [](const AddedToken &A, const AddedToken &B) {
                     return A.Content != B.Content ? A.Content < B.Content
                                                   : A.Special > B.Special;
                   });
  auto Same = [](const AddedToken &A, const AddedToken &B) {
    return A.Content == B.Content;
  };
  Tokens.erase(std::unique(Tokens.begin(), Tokens.end(), Same), Tokens.end());
  if (!Tokens.empty() && Tokens.front().Content.empty()) {
    Empty = std::move(Tokens.front());
    Tokens.erase(Tokens.begin());
  }
  for (const AddedToken &T : Tokens)
    FirstBytes.set(static_cast<uint8_t>(T.Content[0]));
}

const AddedToken *AddedTokenFinder::longestAt(std::string_view Text,
                                              size_t At) const {
  const AddedToken *Best = nullptr;
  const AddedToken *First = Tokens.data(), *Last = First + Tokens.size();
  for (size_t Depth = 0; First != Last; ++Depth) {
    while (First != Last && First->Content.size() == Depth)
      Best = First++;
    if (First == Last)
      break;
    if (At + Depth == Text.size())
      break;
    uint8_t Byte = static_cast<uint8_t>(Text[At + Depth]);
    auto ByteOf = [Depth](const AddedToken &T) {
      return static_cast<uint8_t>(T.Content[Depth]);
    };
    First = std::partition_point(
        First, Last, [&](const AddedToken &T) { return ByteOf(T) < Byte; });
    Last = std::partition_point(
        First, Last, [&](const AddedToken &T) { return ByteOf(T) == Byte; });
  }
  return Best;
}

void AddedTokenFinder::split(std::string_view Text, bool SpecialAsText,
                             std::vector<Range> &Out) const {
  size_t Done = 0, Last = std::string_view::npos; // end of the last match
  for (size_t I = 0; I < Text.size() + (Empty ? 1 : 0);) {
    const AddedToken *T = nullptr;
    if (I < Text.size() && FirstBytes.test(static_cast<uint8_t>(Text[I])))
      T = longestAt(Text, I);
    if (T == nullptr && Empty && I != Last &&
        (I == Text.size() || (Text[I] & 0xC0) != 0x80))
      T = &*Empty;
    if (T == nullptr) {
      ++I;
      continue;
    }
    size_t Begin = I, End = I + T->Content.size();
    Last = End;
    I += std::max<size_t>(T->Content.size(), 1);
    if ((SpecialAsText && T->Special) ||
        (T->SingleWord && !standsAlone(Text, Begin, End)))
      continue;
    // The search goes on behind the token itself, even into what RStrip took;
    // what was taken already is not taken again.
    if (T->LStrip)
      Begin = std::max(skipSpacesBack(Text, Begin, Done), Done);
    if (T->RStrip)
      End = skipSpaces(Text, End);
    if (Begin > Done)
      Out.push_back({Done, Begin, -1});
    if (End > Begin)
      Out.push_back({Begin, End, T->Id});
    Done = std::max(Begin, End);
  }
  if (Done < Text.size())
    Out.push_back({Done, Text.size(), -1});
}

} // namespace llmc
