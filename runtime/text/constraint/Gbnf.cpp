// GBNF, the notation of llama.cpp's grammars: `name ::= alternatives`, where a
// rule ends at a line end outside of parentheses. The start is `root`.
//
// Rules that call no rule in a circle are written out where they are used, as
// units; so most of a grammar becomes regular, which is fast.
#include "runtime/text/Utf8.h"
#include "runtime/text/constraint/CharSet.h"
#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/Cursor.h"
#include "runtime/text/constraint/RuleSet.h"

namespace llmc::constraint {

namespace {

constexpr unsigned MaxDepth = 200;

class Parser : GrammarCursor {
public:
  Parser(std::string_view Text, RuleSet &R) : GrammarCursor(Text), Out(R) {}
  Status parse();

private:
  void skipSpace(bool Newlines);
  bool atRule() const;
  static bool nameChar(char C) { return nameLetter(C) || C == '-'; }
  std::string name();
  Status alternatives(Node &Out, bool Nested, unsigned Depth);
  Status sequence(Node &Out, bool Nested, unsigned Depth);
  Status element(Node &Out, unsigned Depth);
  Status quoted(Node &Out);
  Status charClass(Node &Out);
  Status character(uint32_t &C);
  Status quantifier(Node &N, bool Nested);

  RuleSet &Out;
};

void Parser::skipSpace(bool Newlines) {
  while (!done()) {
    char C = peek();
    if (C == '#')
      while (!done() && peek() != '\n')
        ++Pos;
    else if (C == ' ' || C == '\t' || (Newlines && (C == '\n' || C == '\r')))
      ++Pos;
    else
      break;
  }
}

/// Whether `name ::=` is next.
bool Parser::atRule() const {
  size_t At = Pos;
  while (At < Text.size() && nameChar(Text[At]))
    ++At;
  if (At == Pos)
    return false;
  while (At < Text.size() && (Text[At] == ' ' || Text[At] == '\t'))
    ++At;
  return Text.substr(At, 3) == "::=";
}

std::string Parser::name() {
  size_t Begin = Pos;
  while (!done() && nameChar(peek()))
    ++Pos;
  return std::string(Text.substr(Begin, Pos - Begin));
}

Status Parser::character(uint32_t &C) {
  if (peek() != '\\') {
    C = nextCodePoint(Text, Pos);
    return Status::success();
  }
  ++Pos;
  char E = peek();
  ++Pos;
  size_t Digits = hexDigitsOf(E);
  if (Digits == 0) {
    static constexpr std::string_view Names = "nrt\\\"[]-^/";
    static constexpr std::string_view Values = "\n\r\t\\\"[]-^/";
    size_t At = Names.find(E);
    if (At == std::string_view::npos)
      return fail(std::string("unknown escape '\\") + E + "'");
    C = static_cast<uint8_t>(Values[At]);
    return Status::success();
  }
  return hexCharacter(Digits, C);
}

Status Parser::quoted(Node &N) {
  std::string Value;
  ++Pos;
  while (peek() != '"' || done()) {
    if (done() || peek() == '\n')
      return fail("'\"' without its end");
    uint32_t C;
    LLMC_RETURN_IF_ERROR(character(C));
    appendUtf8(Value, C);
  }
  ++Pos;
  N = Node::text(std::move(Value));
  return Status::success();
}

Status Parser::charClass(Node &N) {
  ++Pos;
  bool Negated = peek() == '^';
  Pos += Negated;
  CharSet S;
  while (peek() != ']' || done()) {
    if (done())
      return fail("'[' without ']'");
    uint32_t Low, High;
    LLMC_RETURN_IF_ERROR(character(Low));
    High = Low;
    if (peek() == '-' && Pos + 1 < Text.size() && Text[Pos + 1] != ']') {
      ++Pos;
      LLMC_RETURN_IF_ERROR(character(High));
    }
    if (Low > High)
      return fail("range from " + std::to_string(Low) + " down to " +
                  std::to_string(High));
    S.add(Low, High);
  }
  ++Pos;
  N = Node::chars(Negated ? S.complement() : S);
  return Status::success();
}

Status Parser::element(Node &N, unsigned Depth) {
  char C = peek();
  if (C == '"')
    return quoted(N);
  if (C == '[')
    return charClass(N);
  if (C == '.') {
    ++Pos;
    N = Node::chars(CharSet::all());
    return Status::success();
  }
  if (C == '(') {
    if (Depth >= MaxDepth)
      return fail("nested deeper than " + std::to_string(MaxDepth));
    ++Pos;
    skipSpace(true);
    LLMC_RETURN_IF_ERROR(alternatives(N, true, Depth + 1));
    skipSpace(true);
    if (peek() != ')')
      return fail("'(' without ')'");
    ++Pos;
    return Status::success();
  }
  if (C == '<' || C == '!')
    return unsupportedError("grammar: tokens as terminals ('<...>') are not "
                            "supported");
  if (!nameChar(C))
    return fail(done() ? "the grammar ends where an element is expected"
                       : std::string("unexpected '") + C + "'");
  N = Node::call(name());
  return Status::success();
}

Status Parser::quantifier(Node &N, bool Nested) {
  for (;;) {
    size_t Before = Pos;
    skipSpace(Nested);
    char C = peek();
    uint32_t Min = C == '+', Max = C == '?' ? 1 : Unbounded;
    if (C == '{') {
      ++Pos;
      bool HasMin = false, HasMax = false;
      auto Number = [&](uint32_t &V, bool &Has) {
        skipSpace(false);
        V = count(Has);
        skipSpace(false);
      };
      Number(Min, HasMin);
      if (peek() == ',') {
        ++Pos;
        Number(Max, HasMax);
        Max = HasMax ? Max : Unbounded;
      } else {
        Max = Min;
      }
      if (peek() != '}' || !HasMin)
        return fail("expected {n}, {n,} or {n,m}");
      if (Min > Max)
        return fail("repetition of at least " + std::to_string(Min) +
                    " and at most " + std::to_string(Max));
    } else if (C != '*' && C != '+' && C != '?') {
      Pos = Before;
      return Status::success();
    }
    ++Pos;
    N = Node::repeat(std::move(N), Min, Max);
  }
}

Status Parser::sequence(Node &N, bool Nested, unsigned Depth) {
  N = Node::list(Node::Seq);
  for (;;) {
    skipSpace(Nested);
    char C = peek();
    if (done() || C == '|' || C == ')' || C == '\n' || C == '\r')
      break;
    if (Nested && atRule())
      return fail("'(' without ')'");
    Node Part;
    LLMC_RETURN_IF_ERROR(element(Part, Depth));
    LLMC_RETURN_IF_ERROR(quantifier(Part, Nested));
    N.Kids.push_back(std::move(Part));
  }
  return Status::success();
}

Status Parser::alternatives(Node &N, bool Nested, unsigned Depth) {
  N = Node::list(Node::Alt);
  for (;;) {
    Node Part;
    LLMC_RETURN_IF_ERROR(sequence(Part, Nested, Depth));
    N.Kids.push_back(std::move(Part));
    // A bar may stand on the next line.
    size_t Before = Pos;
    skipSpace(true);
    if (peek() != '|') {
      Pos = Nested ? Pos : Before;
      return Status::success();
    }
    ++Pos;
    skipSpace(true);
    if (!Nested && atRule()) { // `opt ::= "b" |` and the next rule
      N.Kids.push_back(Node::list(Node::Seq));
      return Status::success();
    }
  }
}

Status Parser::parse() {
  if (size_t Bad = findBadUtf8(Text); Bad != std::string_view::npos)
    return malformedError("grammar: not UTF-8 at byte " + std::to_string(Bad));
  for (skipSpace(true); !done(); skipSpace(true)) {
    if (!atRule())
      return fail("expected a rule: name ::= ...");
    std::string Name = name();
    skipSpace(false);
    Pos += 3; // ::=
    skipSpace(true);
    Node Body;
    if (atRule()) // an empty body
      Body = Node::list(Node::Seq);
    else
      LLMC_RETURN_IF_ERROR(alternatives(Body, false, 0));
    skipSpace(false);
    if (!done() && peek() != '\n' && peek() != '\r')
      return fail(std::string("unexpected '") + peek() + "'");
    LLMC_RETURN_IF_ERROR(Out.add(Name, std::move(Body)));
  }
  return Status::success();
}

} // namespace

Result<std::unique_ptr<Grammar>> compileGbnf(std::string_view Text) {
  RuleSet Rules;
  LLMC_RETURN_IF_ERROR(Parser(Text, Rules).parse());
  return Rules.compile("root");
}

} // namespace llmc::constraint
