// One pass over the pattern. A class becomes a "[…]" where PCRE2 can say it;
// where it holds other classes it becomes alternatives (union), look-aheads
// (intersection) or a negative look-ahead before any character (complement).
#include "runtime/text/RegexTranslate.h"

#include <cctype>
#include <vector>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace llmc {

namespace {

constexpr const char *WordItems = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
/// Outside a class Oniguruma asks its Latin-1 table first, where superscripts
/// and fractions are of words too.
constexpr const char *WordAlone = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
                                  "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}";

/// Items of a "[…]" for a property or POSIX class by its loose name; empty
/// when PCRE2 knows the name itself.
std::string itemsOf(const std::string &Name) {
  static const std::pair<const char *, const char *> Known[] = {
      {"alpha", "\\p{Alphabetic}"},
      {"alnum", "\\p{Alphabetic}\\p{Nd}"},
      {"upper", "\\p{Uppercase}"},
      {"lower", "\\p{Lowercase}"},
      {"digit", "\\p{Nd}"},
      {"space", "\\s"},
      {"whitespace", "\\s"},
      {"punct", "\\p{P}"},
      {"cntrl", "\\p{Cc}"},
      {"blank", "\\p{Zs}\\t"},
      {"word", WordItems},
      {"xdigit", "0-9A-Fa-f"},
      {"ascii", "\\x00-\\x7f"},
      {"letter", "\\p{L}"},
      {"casedletter", "\\p{L&}"},
      {"lc", "\\p{L&}"},
      {"uppercaseletter", "\\p{Lu}"},
      {"lowercaseletter", "\\p{Ll}"},
      {"titlecaseletter", "\\p{Lt}"},
      {"modifierletter", "\\p{Lm}"},
      {"otherletter", "\\p{Lo}"},
      {"mark", "\\p{M}"},
      {"combiningmark", "\\p{M}"},
      {"nonspacingmark", "\\p{Mn}"},
      {"spacingmark", "\\p{Mc}"},
      {"enclosingmark", "\\p{Me}"},
      {"number", "\\p{N}"},
      {"decimalnumber", "\\p{Nd}"},
      {"letternumber", "\\p{Nl}"},
      {"othernumber", "\\p{No}"},
      {"punctuation", "\\p{P}"},
      {"connectorpunctuation", "\\p{Pc}"},
      {"dashpunctuation", "\\p{Pd}"},
      {"openpunctuation", "\\p{Ps}"},
      {"closepunctuation", "\\p{Pe}"},
      {"initialpunctuation", "\\p{Pi}"},
      {"finalpunctuation", "\\p{Pf}"},
      {"otherpunctuation", "\\p{Po}"},
      {"symbol", "\\p{S}"},
      {"mathsymbol", "\\p{Sm}"},
      {"currencysymbol", "\\p{Sc}"},
      {"modifiersymbol", "\\p{Sk}"},
      {"othersymbol", "\\p{So}"},
      {"separator", "\\p{Z}"},
      {"spaceseparator", "\\p{Zs}"},
      {"lineseparator", "\\p{Zl}"},
      {"paragraphseparator", "\\p{Zp}"},
      {"other", "\\p{C}"},
      {"control", "\\p{Cc}"},
      {"format", "\\p{Cf}"},
      {"privateuse", "\\p{Co}"},
      {"surrogate", "\\p{Cs}"},
      {"unassigned", "\\p{Cn}"},
      {"assigned", "\\P{Cn}"}};
  for (const auto &[K, Items] : Known)
    if (Name == K)
      return Items;
  return "";
}

std::string loose(std::string_view Name) {
  std::string Out;
  for (char C : Name)
    if (C != ' ' && C != '_' && C != '-')
      Out.push_back(static_cast<char>(std::tolower(C)));
  return Out;
}

std::string setOf(const std::string &Items, bool Negative) {
  return (Negative ? "[^" : "[") + Items + "]";
}

/// Whether PCRE2 (10.40 and newer) has a script of that name. By itself it
/// reads "Han" as all that is used with Han characters, punctuation too.
bool isScript(std::string_view Name) {
  for (char C : Name)
    if (!std::isalnum(static_cast<unsigned char>(C)) && C != '_')
      return false;
  std::string Pattern = "\\p{sc:" + std::string(Name) + "}";
  int Error = 0;
  PCRE2_SIZE At = 0;
  pcre2_code *Code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(Pattern.data()),
                    Pattern.size(), PCRE2_UTF, &Error, &At, nullptr);
  pcre2_code_free(Code);
  return Code != nullptr;
}

class Translator {
public:
  explicit Translator(std::string_view P) : P(P) {}
  Result<std::string> run();

private:
  bool more() const { return At < P.size(); }
  bool ahead(std::string_view S) const { return P.substr(At).starts_with(S); }
  Status bad(const std::string &What) const {
    return malformedError("regular expression, at byte " + std::to_string(At) +
                          " of " + std::to_string(P.size()) + ": " + What);
  }
  Status escape();
  Status group();
  void quantifier();
  bool interval(std::string &Out);
  Status property(std::string &Items, bool &Negative);
  Result<std::string> charClass(int Depth);
  Status classEscape(std::string &Items, std::vector<std::string> &Nested);
  void posix(std::string &Items, std::vector<std::string> &Nested);
  void atom(const std::string &S) {
    AtomAt = Out.size();
    Out += S;
  }

  std::string_view P;
  size_t At = 0;
  std::string Out;
  size_t AtomAt = 0;           ///< where the last atom begins in Out
  std::vector<size_t> GroupAt; ///< where open groups begin in Out
};

/// At "\p{": reads to behind "}".
Status Translator::property(std::string &Items, bool &Negative) {
  Negative = P[At + 1] == 'P';
  size_t End = P.find('}', At);
  if (At + 2 >= P.size() || P[At + 2] != '{' || End == std::string_view::npos) {
    // \pL
    if (At + 2 < P.size() && std::isalpha(P[At + 2])) {
      Items = std::string("\\p") + P[At + 2];
      At += 3;
      return Status::success();
    }
    return bad("property without a name");
  }
  std::string_view Name = P.substr(At + 3, End - At - 3);
  if (Name.starts_with('^')) {
    Negative = !Negative;
    Name.remove_prefix(1);
  }
  Items = itemsOf(loose(Name));
  if (Items.empty())
    Items = (isScript(Name) ? "\\p{sc:" : "\\p{") + std::string(Name) + "}";
  At = End + 1;
  return Status::success();
}

/// An escape outside a class.
Status Translator::escape() {
  if (At + 1 >= P.size())
    return bad("backslash at the end");
  char C = P[At + 1];
  if (C == 'p' || C == 'P') {
    std::string Items;
    bool Negative = false;
    LLMC_RETURN_IF_ERROR(property(Items, Negative));
    atom(setOf(Items == WordItems ? WordAlone : Items, Negative));
    return Status::success();
  }
  if (C == 'y' || C == 'Y')
    return unsupportedError(std::string("regular expression: \\") + C +
                            " is not implemented");
  const std::string Word = setOf(WordAlone, false);
  At += 2;
  switch (C) {
  case 'h':
  case 'H':
    atom(setOf("0-9A-Fa-f", C == 'H'));
    break;
  case 'w':
  case 'W':
    atom(setOf(WordAlone, C == 'W'));
    break;
  case 'b':
    atom("(?:(?<=" + Word + ")(?!" + Word + ")|(?<!" + Word + ")(?=" + Word +
         "))");
    break;
  case 'B':
    atom("(?:(?<=" + Word + ")(?=" + Word + ")|(?<!" + Word + ")(?!" + Word +
         "))");
    break;
  case 'v':
    atom("\\x0b");
    break;
  case 'O':
    atom("(?s:.)");
    break;
  case 'u': {
    std::string_view Hex = P.substr(At, 4);
    At += Hex.size();
    atom("\\x{" + std::string(Hex) + "}");
    break;
  }
  case 'x':
  case 'k':
  case 'g': { // with an argument in braces or brackets
    std::string S = std::string("\\") + C;
    char Close = more() && P[At] == '{'   ? '}'
                 : more() && P[At] == '<' ? '>'
                                          : 0;
    size_t End = Close ? P.find(Close, At) : std::string_view::npos;
    if (End != std::string_view::npos) {
      S += P.substr(At, End + 1 - At);
      At = End + 1;
    } else {
      for (int I = 0; C == 'x' && I < 2 && more() && std::isxdigit(P[At]); ++I)
        S += P[At++];
    }
    atom(S);
    break;
  }
  default: {
    std::string S = std::string("\\") + C;
    while (std::isdigit(static_cast<unsigned char>(C)) && more() &&
           std::isdigit(static_cast<unsigned char>(P[At])))
      S += P[At++];
    // The rest of a character of several bytes.
    while (more() && (P[At] & 0xC0) == 0x80)
      S += P[At++];
    atom(S);
  }
  }
  return Status::success();
}

/// At "(": copies the head of the group.
Status Translator::group() {
  GroupAt.push_back(Out.size());
  AtomAt = Out.size();
  if (!ahead("(?")) {
    Out += P[At++];
    return Status::success();
  }
  if (ahead("(?#")) {
    GroupAt.pop_back();
    size_t End = P.find(')', At);
    if (End == std::string_view::npos)
      return bad("comment does not end");
    At = End + 1;
    return Status::success();
  }
  if (ahead("(?~"))
    return unsupportedError("regular expression: (?~ is not implemented");
  Out += "(?";
  At += 2;
  if (more() && (std::isalpha(P[At]) || P[At] == '-')) {
    // Options: i, x, and m for what PCRE2 calls s.
    for (; more() && P[At] != ':' && P[At] != ')'; ++At) {
      if (P[At] != 'i' && P[At] != 'm' && P[At] != 'x' && P[At] != '-')
        return unsupportedError(std::string("regular expression: option ") +
                                P[At] + " is not implemented");
      Out += P[At] == 'm' ? 's' : P[At];
    }
    if (more() && P[At] == ')') {
      Out += P[At++];
      GroupAt.pop_back();
    }
  }
  return Status::success();
}

/// An interval "{n,m}" at At, as PCRE2 writes it.
bool Translator::interval(std::string &Text) {
  size_t I = At + 1;
  std::string Low, High;
  bool Comma = false;
  for (; I < P.size() && P[I] != '}'; ++I) {
    if (P[I] == ',' && !Comma)
      Comma = true;
    else if (std::isdigit(static_cast<unsigned char>(P[I])))
      (Comma ? High : Low) += P[I];
    else
      return false;
  }
  if (I == P.size() || (Low.empty() && High.empty()))
    return false;
  Text = "{" + (Low.empty() ? "0" : Low) + (Comma ? "," + High : "") + "}";
  At = I + 1;
  return true;
}

/// Quantifiers behind an atom, any number of them.
void Translator::quantifier() {
  for (bool Second = false; more(); Second = true) {
    std::string Q;
    bool Interval = false;
    if (P[At] == '*' || P[At] == '+' || P[At] == '?')
      Q = P[At++];
    else if (P[At] == '{' && interval(Q))
      Interval = true;
    else
      return;
    if (Second) {
      Out.insert(AtomAt, "(?:");
      Out += ")";
    }
    Out += Q;
    // Lazy and possessive forms; "+" behind an interval is a quantifier.
    if (more() && (P[At] == '?' || (P[At] == '+' && !Interval)))
      Out += P[At++];
  }
}

/// An escape in a class.
Status Translator::classEscape(std::string &Items,
                               std::vector<std::string> &Nested) {
  if (At + 1 >= P.size())
    return bad("backslash at the end");
  char C = P[At + 1];
  std::string Found;
  bool Negative = false;
  if (C == 'p' || C == 'P') {
    LLMC_RETURN_IF_ERROR(property(Found, Negative));
  } else if (C == 'w' || C == 'W' || C == 'h' || C == 'H') {
    Found = C == 'w' || C == 'W' ? WordItems : "0-9A-Fa-f";
    Negative = C == 'W' || C == 'H';
    At += 2;
  } else if (C == 'v') {
    Found = "\\x0b";
    At += 2;
  } else if (C == 'u') {
    Found = "\\x{" + std::string(P.substr(At + 2, 4)) + "}";
    At = std::min(P.size(), At + 6);
  } else if (C == 'R' || C == 'X' || C == 'N' || C == 'K') {
    Found = C;
    At += 2;
  } else {
    Found = "\\";
    Found += C;
    At += 2;
    if (C == 'x' && more() && P[At] == '{')
      for (bool End = false; more() && !End; ++At) {
        End = P[At] == '}';
        Found += P[At];
      }
  }
  if (Negative)
    Nested.push_back(setOf(Found, true));
  else
    Items += Found;
  return Status::success();
}

/// At "[:": a POSIX class.
void Translator::posix(std::string &Items, std::vector<std::string> &Nested) {
  size_t End = P.find(":]", At);
  std::string_view Name = P.substr(At + 2, End - At - 2);
  bool Negative = Name.starts_with('^');
  if (Negative)
    Name.remove_prefix(1);
  std::string Found = itemsOf(std::string(Name));
  if (Name == "punct") // unlike the property it has the symbols as well
    Found += "\\p{S}";
  if (Found.empty()) // graph, print
    Found = "[:" + std::string(Name) + ":]";
  if (Negative)
    Nested.push_back(setOf(Found, true));
  else
    Items += Found;
  At = End + 2;
}

/// At "[": the whole class as an expression that takes one character.
Result<std::string> Translator::charClass(int Depth) {
  if (Depth > 50)
    return bad("classes nested more than 50 deep");
  size_t Begin = At++;
  bool Negative = more() && P[At] == '^';
  At += Negative;
  std::string Items;
  std::vector<std::string> Nested, Factors;
  auto Union = [&]() {
    if (Nested.empty())
      return Items.empty() ? std::string("(?!)") : setOf(Items, false);
    std::string All = "(?:";
    if (!Items.empty())
      All += setOf(Items, false) + "|";
    for (size_t I = 0; I < Nested.size(); ++I)
      All += (I ? "|" : "") + Nested[I];
    return All + ")";
  };
  for (bool First = true;; First = false) {
    if (!more()) {
      At = Begin;
      return bad("character class does not end");
    }
    if (P[At] == ']' && !First) {
      ++At;
      break;
    }
    if (ahead("&&")) {
      At += 2;
      Factors.push_back(Union());
      Items.clear(), Nested.clear();
    } else if (ahead("[:") && P.find(":]", At) != std::string_view::npos) {
      posix(Items, Nested);
    } else if (P[At] == '[') {
      LLMC_ASSIGN_OR_RETURN(std::string Inner, charClass(Depth + 1));
      Nested.push_back(std::move(Inner));
    } else if (P[At] == '\\') {
      LLMC_RETURN_IF_ERROR(classEscape(Items, Nested));
    } else {
      if (P[At] == ']' || (P[At] == '^' && Items.empty()))
        Items += '\\';
      Items += P[At++];
    }
  }
  if (Factors.empty() && Nested.empty())
    return setOf(Items, Negative);
  std::string All;
  for (const std::string &F : Factors)
    All += "(?=" + F + ")";
  All += Union();
  if (Negative)
    return "(?:(?!" + All + ")(?s:.))";
  return "(?:" + All + ")";
}

Result<std::string> Translator::run() {
  while (more()) {
    char C = P[At];
    if (C == '\\') {
      LLMC_RETURN_IF_ERROR(escape());
    } else if (C == '[') {
      LLMC_ASSIGN_OR_RETURN(std::string Class, charClass(0));
      atom(Class);
    } else if (C == '(') {
      LLMC_RETURN_IF_ERROR(group());
      continue;
    } else if (C == ')') {
      Out += P[At++];
      if (!GroupAt.empty()) {
        AtomAt = GroupAt.back();
        GroupAt.pop_back();
      }
    } else if (C == '{') {
      atom("\\{"); // an interval without an atom is text
      ++At;
    } else {
      size_t End = At + 1;
      while (End < P.size() && (P[End] & 0xC0) == 0x80)
        ++End;
      atom(std::string(P.substr(At, End - At)));
      At = End;
      if (C == '|')
        continue;
    }
    quantifier();
  }
  return std::move(Out);
}

} // namespace

Result<std::string> translateRegex(std::string_view Pattern) {
  return Translator(Pattern).run();
}

} // namespace llmc
