// The notation of Lark, as far as it describes a language: rules and
// terminals, literals, regular expressions, ranges, repetition, %import
// common.*, %ignore. What shapes the tree only (aliases, `?`, `!`, priorities)
// is read over. The start is `start`.
#include "runtime/base/Quote.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/Cursor.h"
#include "runtime/text/constraint/LarkCommon.h"
#include "runtime/text/constraint/RuleSet.h"

namespace llmc::constraint {

namespace {

constexpr unsigned MaxDepth = 200;

class Parser : GrammarCursor {
public:
  Parser(std::string_view Text, RuleSet &R) : GrammarCursor(Text), Out(R) {}
  Status parse();

private:
  Status unsupported(const std::string &What) const {
    return unsupportedError(where() + What + " is not supported");
  }
  static bool nameChar(char C) { return nameLetter(C); }
  static bool isTerminal(std::string_view Name) {
    for (char C : Name)
      if (C != '_')
        return C >= 'A' && C <= 'Z';
    return false;
  }
  void skipSpace(bool Newlines);
  std::string name();
  Status definition();
  Status directive();
  Status import();
  Status importOne(const std::string &Name, const std::string &As);
  Status alternatives(Node &N, unsigned Depth);
  Status sequence(Node &N, unsigned Depth);
  Status element(Node &N, unsigned Depth);
  Status quantifier(Node &N);
  Status number(uint32_t &V);
  Status literal(Node &N);
  Status quoted(std::string &Value);
  Status escape(std::string &Value);
  Status pattern(Node &N);

  RuleSet &Out;
};

/// Space and comments; a line that goes on with `|` is one with the last.
void Parser::skipSpace(bool Newlines) {
  while (!done()) {
    char C = peek();
    if (C == '#' || (C == '/' && peek(1) == '/')) {
      while (!done() && peek() != '\n')
        ++Pos;
    } else if (C == ' ' || C == '\t' || C == '\r' || (Newlines && C == '\n')) {
      ++Pos;
    } else if (C == '\\' && peek(1) == '\n') {
      Pos += 2;
    } else {
      break;
    }
  }
}

std::string Parser::name() {
  size_t Begin = Pos;
  while (!done() && nameChar(peek()))
    ++Pos;
  return std::string(Text.substr(Begin, Pos - Begin));
}

Status Parser::escape(std::string &Value) {
  ++Pos;
  char E = peek();
  ++Pos;
  static constexpr std::string_view Names = "nrtfv0\\\"'/";
  static constexpr std::string_view Values("\n\r\t\f\v\0\\\"'/", 10);
  if (size_t At = Names.find(E); At != std::string_view::npos) {
    Value += Values[At];
    return Status::success();
  }
  size_t Digits = hexDigitsOf(E);
  if (Digits == 0)
    return fail("unknown escape '\\" + printable({&E, 1}) + "'");
  uint32_t C = 0;
  LLMC_RETURN_IF_ERROR(hexCharacter(Digits, C));
  appendUtf8(Value, C);
  return Status::success();
}

Status Parser::quoted(std::string &Value) {
  ++Pos;
  while (peek() != '"' || done()) {
    if (done() || peek() == '\n')
      return fail("'\"' without its end");
    if (peek() == '\\')
      LLMC_RETURN_IF_ERROR(escape(Value));
    else
      Value += Text[Pos++];
  }
  ++Pos;
  return Status::success();
}

Status Parser::literal(Node &N) {
  std::string Value;
  LLMC_RETURN_IF_ERROR(quoted(Value));
  if (peek() == '.' && peek(1) == '.') {
    std::string Last;
    Pos += 2;
    if (peek() != '"')
      return fail("expected a string behind '..'");
    LLMC_RETURN_IF_ERROR(quoted(Last));
    size_t A = 0, B = 0;
    uint32_t Low = Value.empty() ? 0 : nextCodePoint(Value, A);
    uint32_t High = Last.empty() ? 0 : nextCodePoint(Last, B);
    if (Value.empty() || Last.empty() || A != Value.size() || B != Last.size())
      return fail("a range needs two characters");
    if (Low > High)
      return fail("range from " + std::to_string(Low) + " down to " +
                  std::to_string(High));
    N = Node::chars(CharSet(Low, High));
    return Status::success();
  }
  N = Node::text(std::move(Value));
  if (peek() == 'i' && !nameChar(peek(1))) {
    ++Pos;
    N.IgnoreCase = true;
  }
  return Status::success();
}

Status Parser::pattern(Node &N) {
  size_t Begin = ++Pos;
  // It ends at the first slash without a backslash, even in a class.
  for (; !done() && peek() != '/' && peek() != '\n'; ++Pos)
    Pos += peek() == '\\';
  if (peek() != '/')
    return fail("'/' without its end");
  std::string_view Source = Text.substr(Begin, Pos - Begin);
  ++Pos;
  RegexFlags Flags;
  for (; std::isalpha(static_cast<unsigned char>(peek())); ++Pos) {
    char F = peek();
    if (F == 'i')
      Flags.IgnoreCase = true;
    else if (F == 's')
      Flags.DotAll = true;
    else if (F != 'u')
      return unsupported(std::string("flag '") + F +
                         "' of a regular expression");
  }
  Result<Regex> R = parseRegex(Source, Flags);
  if (!R.ok())
    return Status(R.status().code(), where() + R.status().message());
  N = Node::list(Node::Pattern);
  N.Match = std::make_shared<const Regex>(R.take());
  return Status::success();
}

Status Parser::element(Node &N, unsigned Depth) {
  char C = peek();
  if (C == '"')
    return literal(N);
  if (C == '/')
    return pattern(N);
  if (C == '(' || C == '[') {
    if (Depth >= MaxDepth)
      return fail("nested deeper than " + std::to_string(MaxDepth));
    ++Pos;
    skipSpace(true);
    LLMC_RETURN_IF_ERROR(alternatives(N, Depth + 1));
    skipSpace(true);
    if (peek() != (C == '(' ? ')' : ']'))
      return fail(std::string("'") + C + "' without its end");
    ++Pos;
    if (C == '[')
      N = Node::repeat(std::move(N), 0, 1);
    return Status::success();
  }
  if (C == '<')
    return unsupported("a token as terminal ('<...>')");
  if (C == '%')
    return unsupported("a directive inside a rule");
  if (!nameChar(C))
    return fail(done() ? "the grammar ends where an element is expected"
                       : "unexpected '" + printable({&C, 1}) + "'");
  std::string Name = name();
  if (peek() == '{')
    return unsupported("template " + llmc::quoted(Name));
  N = Node::call(std::move(Name));
  return Status::success();
}

Status Parser::number(uint32_t &V) {
  skipSpace(false);
  bool Has = false;
  V = count(Has);
  return Has ? Status::success() : fail("expected a number behind '~'");
}

Status Parser::quantifier(Node &N) {
  for (;;) {
    size_t Before = Pos;
    skipSpace(false);
    char C = peek();
    uint32_t Min = C == '+', Max = C == '?' ? 1 : Unbounded;
    if (C == '~') {
      ++Pos;
      LLMC_RETURN_IF_ERROR(number(Min));
      Max = Min;
      if (take(".."))
        LLMC_RETURN_IF_ERROR(number(Max));
      if (Min > Max)
        return fail("repetition of at least " + std::to_string(Min) +
                    " and at most " + std::to_string(Max));
    } else if (C == '*' || C == '+' || C == '?') {
      ++Pos;
    } else {
      Pos = Before;
      return Status::success();
    }
    N = Node::repeat(std::move(N), Min, Max);
  }
}

Status Parser::sequence(Node &N, unsigned Depth) {
  N = Node::list(Node::Seq);
  for (;;) {
    skipSpace(Depth > 0);
    char C = peek();
    if (done() || C == '|' || C == ')' || C == ']' || C == '\n')
      return Status::success();
    if (take("->")) { // the alias names a node of the tree
      skipSpace(false);
      if (name().empty())
        return fail("expected a name behind '->'");
      continue;
    }
    Node Part;
    LLMC_RETURN_IF_ERROR(element(Part, Depth));
    LLMC_RETURN_IF_ERROR(quantifier(Part));
    N.Kids.push_back(std::move(Part));
  }
}

Status Parser::alternatives(Node &N, unsigned Depth) {
  N = Node::list(Node::Alt);
  for (;;) {
    Node Part;
    LLMC_RETURN_IF_ERROR(sequence(Part, Depth));
    N.Kids.push_back(std::move(Part));
    size_t Before = Pos;
    skipSpace(true);
    if (!take("|")) {
      Pos = Before;
      return Status::success();
    }
  }
}

Status Parser::importOne(const std::string &Name, const std::string &As) {
  std::string_view Source = larkCommon(Name);
  if (Source.empty())
    return unsupported("import of " + llmc::quoted("common." + Name));
  LLMC_ASSIGN_OR_RETURN(Regex R, parseRegex(Source));
  Node N = Node::list(Node::Pattern);
  N.Match = std::make_shared<const Regex>(std::move(R));
  LLMC_RETURN_IF_ERROR(Out.add(As, std::move(N)));
  Out.setTerminal(As);
  return Status::success();
}

/// Behind %import: common.A, common.A -> B, common (A, B).
Status Parser::import() {
  skipSpace(false);
  if (!take("common"))
    return unsupported("import of anything but common");
  if (take(".")) {
    std::string Name = name(), As = Name;
    skipSpace(false);
    if (take("->")) {
      skipSpace(false);
      As = name();
    }
    if (As.empty())
      return fail("expected a name to import");
    return importOne(Name, As);
  }
  skipSpace(false);
  if (!take("("))
    return fail("expected '.' or '(' behind common");
  do {
    skipSpace(true);
    std::string Name = name();
    LLMC_RETURN_IF_ERROR(importOne(Name, Name));
    skipSpace(true);
  } while (take(","));
  return take(")") ? Status::success() : fail("'(' without ')'");
}

Status Parser::directive() {
  if (take("%import"))
    return import();
  if (take("%ignore")) {
    skipSpace(false);
    Node N;
    LLMC_RETURN_IF_ERROR(alternatives(N, 0));
    return Out.ignore(std::move(N));
  }
  size_t End = Pos + 1;
  while (End < Text.size() && nameChar(Text[End]))
    ++End;
  return unsupported(llmc::quoted(std::string(Text.substr(Pos, End - Pos))));
}

Status Parser::definition() {
  while (peek() == '?' || peek() == '!')
    ++Pos;
  std::string Name = name();
  if (Name.empty())
    return fail("expected a rule: name: ...");
  if (peek() == '{')
    return unsupported("template " + llmc::quoted(Name));
  if (take(".")) {
    take("-");
    while (peek() >= '0' && peek() <= '9')
      ++Pos;
  }
  skipSpace(false);
  if (!take(":"))
    return fail("expected ':' behind " + llmc::quoted(Name));
  Node Body;
  LLMC_RETURN_IF_ERROR(alternatives(Body, 0));
  if (isTerminal(Name))
    Out.setTerminal(Name);
  return Out.add(Name, std::move(Body));
}

Status Parser::parse() {
  if (size_t Bad = findBadUtf8(Text); Bad != std::string_view::npos)
    return malformedError("grammar: not UTF-8 at byte " + std::to_string(Bad));
  for (skipSpace(true); !done(); skipSpace(true)) {
    LLMC_RETURN_IF_ERROR(peek() == '%' ? directive() : definition());
    skipSpace(false);
    if (!done() && peek() != '\n')
      return fail(std::string("unexpected '") + printable(Text.substr(Pos, 1)) +
                  "'");
  }
  return Status::success();
}

} // namespace

Result<std::unique_ptr<Grammar>> compileLark(std::string_view Text) {
  RuleSet Rules;
  LLMC_RETURN_IF_ERROR(Parser(Text, Rules).parse());
  return Rules.compile("start");
}

} // namespace llmc::constraint
