// One prefix after the other: a text that stays (user-defined piece), else the
// longest key of the table, else one character. White space is trimmed on the
// way, since the table may make spaces of other characters.
#include "runtime/text/SpmNormalizer.h"

#include "runtime/text/Utf8.h"

#include <algorithm>

namespace llmc {

namespace {

constexpr std::string_view Mark = "\xE2\x96\x81"; // U+2581
enum Flag : uint8_t { Trim = 1, InFront = 2, Behind = 4, Escape = 8 };

/// The kept texts, sorted, by first byte.
std::vector<std::string_view> keptTexts(std::string_view Content) {
  std::vector<std::string_view> Kept;
  for (size_t At = 0; At < Content.size();) {
    size_t End = std::min(Content.find('\0', At), Content.size());
    if (End > At)
      Kept.push_back(Content.substr(At, End - At));
    At = End + 1;
  }
  std::sort(Kept.begin(), Kept.end());
  return Kept;
}

class Walker {
public:
  Walker(std::string_view Text, const NormalStep &S, const CharsMap &Map)
      : Rest(Text), Map(Map), Kept(keptTexts(S.Content)) {}
  bool more() const { return !Rest.empty(); }
  /// What the next prefix becomes; Length: of the prefix.
  std::string_view peek(size_t &Length) const {
    Length = 0;
    auto It = std::upper_bound(Kept.begin(), Kept.end(), Rest);
    // The longest kept prefix is the last one at or before Rest in order
    // that Rest begins with.
    while (It != Kept.begin()) {
      --It;
      if (Rest.starts_with(*It)) {
        Length = It->size();
        return *It;
      }
      if (It->front() != Rest.front())
        break;
    }
    if (std::optional<CharsMap::Found> F = Map.longest(Rest)) {
      Length = F->Length;
      return F->Text;
    }
    nextCodePoint(Rest, Length);
    return Rest.substr(0, Length);
  }
  void drop(size_t N) { Rest.remove_prefix(N); }

private:
  std::string_view Rest;
  const CharsMap &Map;
  std::vector<std::string_view> Kept;
};

} // namespace

std::string spmNormalize(std::string_view Text, const NormalStep &S,
                         const CharsMap &Map) {
  Walker W(Text, S, Map);
  const std::string_view Space = S.Flags & Escape ? Mark : " ";
  size_t Length = 0;
  while ((S.Flags & Trim) && W.more() && W.peek(Length) == " ")
    W.drop(Length);
  std::string Out;
  if (!W.more())
    return Out;
  if (S.Flags & InFront)
    Out += Space;
  bool AfterSpace = S.Flags & Trim;
  while (W.more()) {
    std::string_view New = W.peek(Length);
    while (AfterSpace && New.starts_with(' '))
      New.remove_prefix(1);
    for (char C : New)
      if (C == ' ')
        Out += Space;
      else
        Out.push_back(C);
    if (!New.empty())
      AfterSpace = (S.Flags & Trim) && New.back() == ' ';
    W.drop(Length);
  }
  while ((S.Flags & Trim) && Out.ends_with(Space))
    Out.resize(Out.size() - Space.size());
  if (S.Flags & Behind)
    Out += Space;
  return Out;
}

} // namespace llmc
