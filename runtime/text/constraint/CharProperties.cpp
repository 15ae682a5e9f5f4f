// Unicode properties and letter case. Properties come from the library that
// knows them all: its matcher runs once over a text of every code point, and
// what it finds are the ranges.
#include "runtime/base/Quote.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/constraint/CharSet.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <map>
#include <memory>
#include <mutex>
#include <pcre2.h>
#include <unordered_map>
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

/// Asks PCRE2 about every code point, which takes 20 ms.
Result<CharSet> findChars(const std::string &Short, const Status &Unknown) {
  std::string Pattern = "\\p{" + Short + "}+";
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

} // namespace

Result<CharSet> propertyChars(const std::string &Name) {
  static std::mutex Guard;
  static std::map<std::string, CharSet> Found; // as many as PCRE2 knows
  Status Unknown =
      unsupportedError("\\p{" + printable(Name) + "} is no known property");
  if (!isName(Name))
    return Unknown;
  std::string Short = shortName(Name);
  std::lock_guard<std::mutex> Lock(Guard);
  auto It = Found.find(Short);
  if (It == Found.end()) {
    LLMC_ASSIGN_OR_RETURN(CharSet Set, findChars(Short, Unknown));
    It = Found.emplace(Short, std::move(Set)).first;
  }
  return It->second;
}

namespace {

/// Orbits of simple case mapping: letters with a common lower case.
struct CaseOrbits {
  static constexpr uint32_t End = 0x1F000; ///< no letters with cases behind
  std::unordered_map<uint32_t, uint32_t> LowerOf; ///< of those that have others
  std::unordered_map<uint32_t, std::vector<uint32_t>> Members; ///< by lower

  CaseOrbits() {
    for (uint32_t C = 0; C < End; ++C)
      Members[static_cast<uint32_t>(utf8proc_tolower(
                  utf8proc_toupper(static_cast<utf8proc_int32_t>(C))))]
          .push_back(C);
    std::erase_if(Members, [](const auto &M) { return M.second.size() < 2; });
    for (const auto &[Lower, Of] : Members)
      for (uint32_t C : Of)
        LowerOf.emplace(C, Lower);
  }
};

} // namespace

CharSet foldCase(const CharSet &S) {
  static const CaseOrbits Orbits;
  CharSet Out = S;
  bool NotAscii = !S.ranges().empty() && S.ranges().back().High > 0x7F;
  uint32_t End = NotAscii ? CaseOrbits::End : 0x80;
  auto AddOthers = [&](uint32_t Lower) {
    for (uint32_t C : Orbits.Members.at(Lower))
      if (C < End)
        Out.add(C, C);
  };
  size_t Count = 0;
  for (const CharSet::Range &R : S.ranges())
    Count += R.High - R.Low + 1;
  if (Count > Orbits.LowerOf.size()) {
    for (const auto &[C, Lower] : Orbits.LowerOf)
      if (S.has(C))
        AddOthers(Lower);
    return Out;
  }
  for (const CharSet::Range &R : S.ranges())
    for (uint32_t C = R.Low; C <= R.High; ++C)
      if (auto It = Orbits.LowerOf.find(C); It != Orbits.LowerOf.end())
        AddOthers(It->second);
  return Out;
}

} // namespace llmc::constraint
