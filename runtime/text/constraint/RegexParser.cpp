// Parser of regular expressions. Nesting is bounded, so recursion is, too.
// Long because the parts of the notation call each other: one class.
#include "runtime/base/Quote.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/constraint/Cursor.h"
#include "runtime/text/constraint/Regex.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

constexpr unsigned MaxDepth = 200;
constexpr size_t MaxPattern = 1 << 20, MaxNodes = 1 << 18;
constexpr uint32_t MaxCount = 1u << 24;

class Parser : Cursor {
public:
  Parser(std::string_view Text, RegexFlags F) : Cursor(Text), Flags(F) {}
  Result<Regex> parse();

private:
  bool bad(const std::string &What) {
    if (Failure.ok())
      Failure =
          malformedError("regex: " + What + " at byte " + std::to_string(Pos));
    return false;
  }
  bool unsupported(const std::string &What) {
    if (Failure.ok())
      Failure = unsupportedError("regex: " + What + " at byte " +
                                 std::to_string(Pos) + " is not supported");
    return false;
  }
  uint32_t add(RegexNode N) {
    Out.Nodes.push_back(std::move(N));
    return static_cast<uint32_t>(Out.Nodes.size() - 1);
  }
  uint32_t chars(CharSet S) {
    RegexNode N;
    N.What = RegexNode::Chars;
    N.Set = Flags.IgnoreCase ? foldCase(S) : std::move(S);
    return add(std::move(N));
  }

  bool alternatives(uint32_t &Node, unsigned Depth);
  bool sequence(uint32_t &Node, unsigned Depth);
  bool atom(uint32_t &Node, unsigned Depth);
  bool group(uint32_t &Node, unsigned Depth);
  bool flagGroup(uint32_t &Node, unsigned Depth);
  bool quantifier(uint32_t &Node);
  bool counts(uint32_t &Min, uint32_t &Max, bool &Is);
  bool escape(uint32_t &Node);
  bool classEscape(CharSet &S, bool &IsSet, bool InClass);
  bool property(CharSet &S, bool Negated);
  bool hex(size_t Digits, uint32_t &C);
  bool bracedHex(uint32_t &C);
  bool charClass(uint32_t &Node);
  bool classItem(CharSet &S, uint32_t &Single);
  bool posixClass(CharSet &S);
  uint32_t nextChar() { return nextCodePoint(Text, Pos); }

  RegexFlags Flags;
  Regex Out;
  Status Failure;
};

bool Parser::alternatives(uint32_t &Node, unsigned Depth) {
  RegexFlags Outer = Flags;
  RegexNode Alt;
  Alt.What = RegexNode::Alternate;
  do {
    uint32_t Part = 0;
    if (!sequence(Part, Depth))
      return false;
    Alt.Kids.push_back(Part);
  } while (take("|"));
  Node = Alt.Kids.size() == 1 ? Alt.Kids[0] : add(std::move(Alt));
  Flags = Outer;
  return true;
}

bool Parser::sequence(uint32_t &Node, unsigned Depth) {
  RegexNode Cat;
  while (!done() && peek() != '|' && peek() != ')') {
    if (Out.Nodes.size() > MaxNodes)
      return bad("more than " + std::to_string(MaxNodes) + " parts");
    uint32_t Part = UINT32_MAX;
    if (!atom(Part, Depth))
      return false;
    if (Part == UINT32_MAX)
      continue; // flags, a comment
    if (!quantifier(Part))
      return false;
    Cat.Kids.push_back(Part);
  }
  Node = Cat.Kids.size() == 1 ? Cat.Kids[0] : add(std::move(Cat));
  return true;
}

bool Parser::atom(uint32_t &Node, unsigned Depth) {
  switch (peek()) {
  case '(':
    return group(Node, Depth);
  case '[':
    return charClass(Node);
  case '\\':
    return escape(Node);
  case '.': {
    ++Pos;
    RegexNode N;
    N.What = RegexNode::Chars;
    N.Set = Flags.DotAll ? CharSet::all() : CharSet('\n', '\n').complement();
    Node = add(std::move(N));
    return true;
  }
  case '^':
  case '$': {
    RegexNode N;
    N.What = peek() == '^' ? RegexNode::Begin : RegexNode::End;
    ++Pos;
    Out.HasAnchors = true;
    Node = add(std::move(N));
    return true;
  }
  case '*':
  case '+':
  case '?':
    return bad(std::string("'") + peek() + "' repeats nothing");
  default: {
    uint32_t Min, Max;
    bool Is = false;
    size_t Start = Pos;
    if (peek() == '{' && (!counts(Min, Max, Is) || Is)) {
      Pos = Start;
      return bad("'{' repeats nothing");
    }
    Pos = Start;
    uint32_t C = nextChar();
    Node = chars(CharSet(C, C));
    return true;
  }
  }
}

bool Parser::group(uint32_t &Node, unsigned Depth) {
  if (Depth >= MaxDepth)
    return bad("groups nested deeper than " + std::to_string(MaxDepth));
  size_t Open = Pos;
  ++Pos;
  if (take("?")) {
    if (take("=") || take("!") || take("<=") || take("<!"))
      return Pos = Open, unsupported("look-around");
    if (take(">"))
      return Pos = Open, unsupported("an atomic group");
    if (take("P=") || take("(") || take("|") || take("P>") || take("R") ||
        take("&"))
      return Pos = Open, unsupported("a group of this kind");
    if (take("#")) {
      size_t End = Text.find(')', Pos);
      if (End == std::string_view::npos)
        return Pos = Open, bad("comment without ')'");
      Pos = End + 1;
      return true;
    }
    if (take("P<") || take("<")) {
      size_t End = Text.find('>', Pos);
      if (End == std::string_view::npos || End == Pos)
        return Pos = Open, bad("group name without '>'");
      Pos = End + 1;
    } else if (!take(":")) {
      return flagGroup(Node, Depth);
    }
  }
  if (!alternatives(Node, Depth + 1))
    return false;
  if (!take(")"))
    return Pos = Open, bad("'(' without ')'");
  return true;
}

/// (?i) for the rest of the group, (?i:...) for its own content.
bool Parser::flagGroup(uint32_t &Node, unsigned Depth) {
  RegexFlags Old = Flags;
  bool On = true;
  for (; !done() && peek() != ')' && peek() != ':'; ++Pos) {
    char C = peek();
    if (C == '-')
      On = false;
    else if (C == 'i')
      Flags.IgnoreCase = On;
    else if (C == 's')
      Flags.DotAll = On;
    else if (C != 'u')
      return unsupported(std::string("flag '") + printable({&C, 1}) + "'");
  }
  if (take(")"))
    return true;
  if (!take(":"))
    return bad("'(' without ')'");
  if (!alternatives(Node, Depth + 1))
    return false;
  Flags = Old;
  return take(")") || bad("'(' without ')'");
}

/// {n}, {n,}, {n,m}, {,m}; anything else after a brace is text.
bool Parser::counts(uint32_t &Min, uint32_t &Max, bool &Is) {
  size_t At = Pos + 1;
  auto Number = [&](uint32_t &N) {
    size_t Begin = At;
    uint64_t V = 0;
    for (; At < Text.size() && Text[At] >= '0' && Text[At] <= '9'; ++At)
      V = std::min<uint64_t>(V * 10 + static_cast<uint64_t>(Text[At] - '0'),
                             uint64_t{MaxCount} + 1);
    N = static_cast<uint32_t>(V);
    return At > Begin;
  };
  Is = false;
  Min = 0, Max = Unbounded;
  bool HasMin = Number(Min), HasMax = false;
  if (At < Text.size() && Text[At] == ',') {
    ++At;
    HasMax = Number(Max);
    if (!HasMax)
      Max = Unbounded;
  } else {
    Max = Min;
    HasMax = HasMin;
  }
  if (At >= Text.size() || Text[At] != '}' || (!HasMin && !HasMax))
    return true;
  Is = true;
  if (Min > MaxCount || (HasMax && Max > MaxCount))
    return bad("repetition of more than " + std::to_string(MaxCount));
  if (Min > Max)
    return bad("repetition of at least " + std::to_string(Min) +
               " and at most " + std::to_string(Max));
  Pos = At + 1;
  return true;
}

bool Parser::quantifier(uint32_t &Node) {
  for (bool Again = false;; Again = true) {
    RegexNode N;
    N.What = RegexNode::Repeat;
    bool Is = true;
    size_t Start = Pos;
    if (take("*"))
      N.Min = 0, N.Max = Unbounded;
    else if (take("+"))
      N.Min = 1, N.Max = Unbounded;
    else if (take("?"))
      N.Min = 0, N.Max = 1;
    else if (peek() != '{')
      return true;
    else if (!counts(N.Min, N.Max, Is))
      return false;
    if (!Is)
      return true;
    if (Again)
      return Pos = Start, bad("a repetition is repeated");
    if (!take("?") && peek() == '+')
      return unsupported("a possessive repetition");
    N.Kids.push_back(Node);
    Node = add(std::move(N));
  }
}

bool Parser::hex(size_t Digits, uint32_t &C) {
  return takeHex(Digits, C) ||
         bad("expected " + std::to_string(Digits) + " hex digits");
}

bool Parser::bracedHex(uint32_t &C) {
  size_t End = Text.find('}', Pos);
  if (End == std::string_view::npos || End == Pos || End - Pos > 8)
    return bad("expected 1 to 8 hex digits and '}'");
  return hex(End - Pos, C) && (++Pos, true);
}

bool Parser::property(CharSet &S, bool Negated) {
  std::string Name;
  if (take("{")) {
    Negated ^= take("^");
    size_t End = Text.find('}', Pos);
    if (End == std::string_view::npos)
      return bad("property without '}'");
    Name = std::string(Text.substr(Pos, End - Pos));
    Pos = End + 1;
  } else {
    Name = std::string(1, peek());
    ++Pos;
  }
  Result<CharSet> Found = propertyChars(Name);
  if (!Found.ok())
    return unsupported("\\p{" + printable(Name) + "}");
  S = Negated ? Found->complement() : Found.take();
  return true;
}

/// Behind a backslash: a set, or a character in S.
bool Parser::classEscape(CharSet &S, bool &IsSet, bool InClass) {
  IsSet = true;
  char C = peek();
  uint32_t Point = 0;
  ++Pos;
  switch (C) {
  case 'd':
    S = digitChars();
    return true;
  case 'D':
    S = digitChars().complement();
    return true;
  case 'w':
    S = wordChars();
    return true;
  case 'W':
    S = wordChars().complement();
    return true;
  case 's':
    S = spaceChars();
    return true;
  case 'S':
    S = spaceChars().complement();
    return true;
  case 'p':
  case 'P':
    return property(S, C == 'P');
  default:
    break;
  }
  IsSet = false;
  static constexpr std::string_view Letters = "nrtfvae0";
  static constexpr char Values[] = {10, 13, 9, 12, 11, 7, 27, 0};
  if (size_t At = Letters.find(C); At != std::string_view::npos) {
    Point = static_cast<uint8_t>(Values[At]);
    if (C == '0' && peek() >= '0' && peek() <= '7')
      return unsupported("an octal escape");
  } else if (C == 'b' && InClass) {
    Point = 8;
  } else if (C == 'c') {
    char L = peek();
    if (!std::isalpha(static_cast<unsigned char>(L)))
      return bad("'\\c' needs a letter");
    Point = static_cast<uint32_t>(L & 31);
    ++Pos;
  } else if (C == 'x') {
    if (take("{") ? !bracedHex(Point) : !hex(2, Point))
      return false;
  } else if (C == 'u') {
    if (take("{") ? !bracedHex(Point) : !hex(4, Point))
      return false;
    uint32_t Low = 0;
    if (Point >= 0xD800 && Point < 0xDC00 && take("\\u")) {
      if (!hex(4, Low))
        return false;
      if (Low < 0xDC00 || Low > 0xDFFF)
        return bad("surrogate without its second half");
      Point = 0x10000 + ((Point - 0xD800) << 10) + (Low - 0xDC00);
    }
  } else if (C == 'U') {
    if (!hex(8, Point))
      return false;
  } else if (std::isalnum(static_cast<unsigned char>(C))) {
    --Pos;
    if (C == 'b' || C == 'B')
      return unsupported("a word boundary");
    if (C >= '1' && C <= '9')
      return unsupported("a reference back");
    return unsupported(std::string("\\") + C);
  } else {
    --Pos;
    Point = nextChar();
  }
  if (Point > MaxCodePoint || (Point >= 0xD800 && Point <= 0xDFFF))
    return bad("the escape is no character");
  S = CharSet(Point, Point);
  return true;
}

bool Parser::escape(uint32_t &Node) {
  ++Pos;
  if (done())
    return bad("pattern ends in a backslash");
  RegexNode N;
  if (peek() == 'A' || peek() == 'z' || peek() == 'Z') {
    N.What = peek() == 'A' ? RegexNode::Begin : RegexNode::End;
    ++Pos;
    Out.HasAnchors = true;
    Node = add(std::move(N));
    return true;
  }
  CharSet S;
  bool IsSet;
  if (!classEscape(S, IsSet, false))
    return false;
  Node = chars(std::move(S));
  return true;
}

bool Parser::posixClass(CharSet &S) {
  struct Named {
    const char *Name;
    const char *Ranges; // pairs
  };
  static constexpr Named All[] = {
      {"alpha", "AZaz"},     {"digit", "09"},      {"alnum", "09AZaz"},
      {"upper", "AZ"},       {"lower", "az"},      {"space", "\t\r  "},
      {"punct", "!/:@[`{~"}, {"xdigit", "09AFaf"}, {"word", "09AZaz__"},
      {"blank", "\t\t  "},   {"print", " ~"},      {"graph", "!~"}};
  Pos += 2;
  bool Negated = take("^");
  size_t End = Text.find(":]", Pos);
  std::string_view Name =
      End == std::string_view::npos ? "" : Text.substr(Pos, End - Pos);
  for (const Named &N : All)
    if (Name == N.Name) {
      CharSet Found;
      for (const char *R = N.Ranges; *R; R += 2)
        Found.add(static_cast<uint8_t>(R[0]), static_cast<uint8_t>(R[1]));
      S = Negated ? Found.complement() : Found;
      Pos = End + 2;
      return true;
    }
  return unsupported("class '" + printable(Name) + "'");
}

/// One character (Single), or a set (Single is UINT32_MAX).
bool Parser::classItem(CharSet &S, uint32_t &Single) {
  Single = UINT32_MAX;
  if (peek() == '[' && peek(1) == ':')
    return posixClass(S);
  if (peek() == '[' && (peek(1) == '=' || peek(1) == '.'))
    return unsupported("a collating element");
  if (take("\\")) {
    if (done())
      return bad("pattern ends in a backslash");
    bool IsSet;
    if (!classEscape(S, IsSet, true))
      return false;
    if (!IsSet)
      Single = S.ranges()[0].Low;
    return true;
  }
  Single = nextChar();
  S = CharSet(Single, Single);
  return true;
}

bool Parser::charClass(uint32_t &Node) {
  size_t Open = Pos;
  ++Pos;
  bool Negated = take("^");
  CharSet All;
  for (bool First = true; First || peek() != ']'; First = false) {
    if (done())
      return Pos = Open, bad("'[' without ']'");
    if ((peek() == '&' && peek(1) == '&') ||
        (peek() == '-' && peek(1) == '-') || (peek() == '~' && peek(1) == '~'))
      return unsupported("set arithmetic in a class");
    CharSet S;
    uint32_t Low, High;
    if (!classItem(S, Low))
      return false;
    if (peek() == '-' && peek(1) != ']' && Pos + 1 < Text.size()) {
      size_t Dash = Pos++;
      CharSet T;
      if (!classItem(T, High))
        return false;
      if (Low == UINT32_MAX || High == UINT32_MAX)
        return Pos = Dash, bad("a range needs two characters");
      if (Low > High)
        return Pos = Dash, bad("range from U+" + std::to_string(Low) +
                               " down to U+" + std::to_string(High));
      S.add(Low, High);
    }
    All.add(S);
  }
  ++Pos;
  if (Flags.IgnoreCase)
    All = foldCase(All);
  RegexNode N;
  N.What = RegexNode::Chars;
  N.Set = Negated ? All.complement() : std::move(All);
  Node = add(std::move(N));
  return true;
}

Result<Regex> Parser::parse() {
  if (Text.size() > MaxPattern)
    return malformedError("regex: " + std::to_string(Text.size()) +
                          " bytes, at most " + std::to_string(MaxPattern));
  if (size_t Bad = findBadUtf8(Text); Bad != std::string_view::npos)
    return malformedError("regex: not UTF-8 at byte " + std::to_string(Bad));
  if (alternatives(Out.Root, 0) && !done())
    bad("')' without '('");
  if (!Failure.ok())
    return Failure;
  return std::move(Out);
}

/// Least number of characters of a match; kids come before their parents.
uint64_t demandedChars(const Regex &R) {
  std::vector<uint64_t> Least(R.Nodes.size());
  for (size_t I = 0; I < R.Nodes.size(); ++I) {
    const RegexNode &N = R.Nodes[I];
    uint64_t &L = Least[I];
    if (N.What == RegexNode::Chars)
      L = 1;
    else if (N.What == RegexNode::Repeat)
      L = Least[N.Kids[0]] * N.Min;
    else if (N.What == RegexNode::Alternate)
      for (size_t K = 0; K < N.Kids.size(); ++K)
        L = K == 0 ? Least[N.Kids[K]] : std::min(L, Least[N.Kids[K]]);
    else
      for (uint32_t Kid : N.Kids)
        L += Least[Kid];
    L = std::min<uint64_t>(L, uint64_t{1} << 32);
  }
  return Least[R.Root];
}

} // namespace

Result<Regex> parseRegex(std::string_view Pattern, RegexFlags Flags) {
  LLMC_ASSIGN_OR_RETURN(Regex R, Parser(Pattern, Flags).parse());
  if (uint64_t Least = demandedChars(R); Least > MaxDemandedChars)
    return unsupportedError(
        "regex: matches only texts of " + std::to_string(Least) +
        " characters and more, at most " + std::to_string(MaxDemandedChars));
  return R;
}

} // namespace llmc::constraint
