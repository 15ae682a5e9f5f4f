// Unicode properties and letter case. Properties come from the library that
// knows them all: its matcher runs once over a text of every code point, and
// what it finds are the ranges.
#include "runtime/base/Quote.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/constraint/CharSet.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <map>
#include <memory>
#include <pcre2.h>
#include <utf8proc.h>

namespace llmc::constraint {

namespace {

/// Every code point in order, but for planes 4 to 13: they have no characters,
/// so U+3FFFF, which is none, stands for all of them.
std::string allCodePoints() {
  std::string Text;
  Text.reserve(1500000);
  for (uint32_t C = 0; C <= MaxCodePoint; ++C)
    if ((C < 0xD800 || C > 0xDFFF) && (C < 0x40000 || C >= 0xE0000))
      appendUtf8(Text, C);
  return Text;
}

struct FreeCode {
  void operator()(pcre2_code *C) const { pcre2_code_free(C); }
};
struct FreeMatch {
  void operator()(pcre2_match_data *M) const { pcre2_match_data_free(M); }
};

bool isName(const std::string &Name) {
  if (Name.empty() || Name.size() > 64)
    return false;
  for (char C : Name)
    if (!((C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') || C == '_' ||
          (C >= '0' && C <= '9') || C == '=' || C == '&' || C == ' ' ||
          C == '-'))
      return false;
  return true;
}

/// General categories by their long names, as ECMAScript has them.
std::string shortName(std::string Name) {
  static const std::map<std::string, std::string> Long = {
      {"Letter", "L"},
      {"Lowercase_Letter", "Ll"},
      {"Uppercase_Letter", "Lu"},
      {"Titlecase_Letter", "Lt"},
      {"Modifier_Letter", "Lm"},
      {"Other_Letter", "Lo"},
      {"Mark", "M"},
      {"Nonspacing_Mark", "Mn"},
      {"Spacing_Mark", "Mc"},
      {"Enclosing_Mark", "Me"},
      {"Number", "N"},
      {"Decimal_Number", "Nd"},
      {"Letter_Number", "Nl"},
      {"Other_Number", "No"},
      {"Punctuation", "P"},
      {"Connector_Punctuation", "Pc"},
      {"Dash_Punctuation", "Pd"},
      {"Open_Punctuation", "Ps"},
      {"Close_Punctuation", "Pe"},
      {"Initial_Punctuation", "Pi"},
      {"Final_Punctuation", "Pf"},
      {"Other_Punctuation", "Po"},
      {"Symbol", "S"},
      {"Math_Symbol", "Sm"},
      {"Currency_Symbol", "Sc"},
      {"Modifier_Symbol", "Sk"},
      {"Other_Symbol", "So"},
      {"Separator", "Z"},
      {"Space_Separator", "Zs"},
      {"Line_Separator", "Zl"},
      {"Paragraph_Separator", "Zp"},
      {"Other", "C"},
      {"Control", "Cc"},
      {"Format", "Cf"},
      {"Private_Use", "Co"},
      {"Unassigned", "Cn"},
      {"Uppercase", "Lu"},
      {"Lowercase", "Ll"},
      {"Alphabetic", "Alphabetic"}};
  for (const char *Prefix : {"General_Category=", "gc="})
    if (Name.starts_with(Prefix))
      Name = Name.substr(std::string(Prefix).size());
  for (const char *Prefix : {"Script=", "sc="})
    if (Name.starts_with(Prefix))
      Name = "sc:" + Name.substr(std::string(Prefix).size());
  for (const char *Prefix : {"Script_Extensions=", "scx="})
    if (Name.starts_with(Prefix))
      Name = "scx:" + Name.substr(std::string(Prefix).size());
  auto It = Long.find(Name);
  return It == Long.end() ? Name : It->second;
}

} // namespace

Result<CharSet> propertyChars(const std::string &Name) {
  Status Unknown =
      unsupportedError("\\p{" + printable(Name) + "} is no known property");
  if (!isName(Name))
    return Unknown;
  std::string Pattern = "\\p{" + shortName(Name) + "}+";
  int Error = 0;
  PCRE2_SIZE At = 0;
  std::unique_ptr<pcre2_code, FreeCode> Code(pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(Pattern.data()), Pattern.size(),
      PCRE2_UTF | PCRE2_NO_UTF_CHECK, &Error, &At, nullptr));
  if (!Code)
    return Unknown;
  std::unique_ptr<pcre2_match_data, FreeMatch> Match(
      pcre2_match_data_create(1, nullptr));
  std::string Text = allCodePoints();
  CharSet Out;
  for (PCRE2_SIZE From = 0; From < Text.size();) {
    int Found = pcre2_match(
        Code.get(), reinterpret_cast<PCRE2_SPTR>(Text.data()), Text.size(),
        From, PCRE2_NO_UTF_CHECK, Match.get(), nullptr);
    if (Found < 0)
      break;
    const PCRE2_SIZE *Where = pcre2_get_ovector_pointer(Match.get());
    // A run may go over the gaps that the text leaves out.
    size_t Pos = Where[0];
    uint32_t Low = nextCodePoint(Text, Pos), Last = Low;
    while (Pos < Where[1]) {
      uint32_t C = nextCodePoint(Text, Pos);
      if (C != Last + 1) {
        Out.add(Low, Last);
        if (Last == 0x3FFFF)
          Out.add(0x40000, 0xDFFFF); // as unassigned as what is before it
        Low = C;
      }
      Last = C;
    }
    Out.add(Low, Last);
    From = Where[1];
  }
  return Out;
}

CharSet foldCase(const CharSet &S) {
  // Orbits of simple case mapping: letters with a common lower case.
  auto LowerOf = [](uint32_t C) {
    return static_cast<uint32_t>(
        utf8proc_tolower(utf8proc_toupper(static_cast<utf8proc_int32_t>(C))));
  };
  CharSet Lower, Out = S;
  bool NotAscii = !S.ranges().empty() && S.ranges().back().High > 0x7F;
  uint32_t End = NotAscii ? 0x1F000 : 0x80;
  for (const CharSet::Range &R : S.ranges())
    for (uint32_t C = R.Low; C <= std::min(R.High, End); ++C)
      if (uint32_t L = LowerOf(C); L != C || C < 0x80 || NotAscii)
        Lower.add(L, L);
  for (uint32_t C = 0; C < End; ++C)
    if (Lower.has(LowerOf(C)))
      Out.add(C, C);
  return Out;
}

} // namespace llmc::constraint
