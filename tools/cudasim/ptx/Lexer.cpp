// Words of PTX: PTX ISA "Syntax". A word keeps its dots and double colons, so
// that an opcode with all its modifiers is one word; a single colon ends a
// label and is punctuation.
#include "tools/cudasim/ptx/Lexer.h"

#include <bit>
#include <charconv>

namespace llmc::cudasim {

static bool isWord(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
         (C >= '0' && C <= '9') || C == '_' || C == '$' || C == '.' || C == '%';
}
static bool isDigit(char C) { return C >= '0' && C <= '9'; }

void Lexer::skipBlanks() {
  while (At < Text.size()) {
    char C = Text[At];
    if (C == '\n')
      ++Line;
    if (C == ' ' || C == '\t' || C == '\r' || C == '\n' || C == '\0') {
      ++At;
    } else if (C == '/' && at(1, '/')) {
      while (At < Text.size() && Text[At] != '\n')
        ++At;
    } else if (C == '/' && at(1, '*')) {
      unsigned Begin = Line;
      for (At += 2; !(at(0, '*') && at(1, '/')); ++At) {
        if (At >= Text.size())
          throw PtxError(Begin, "a comment does not end");
        Line += Text[At] == '\n';
      }
      At += 2;
    } else {
      return;
    }
  }
}

/// 0x1F, 012, 0b101, 42U, 0f3F800000, 0d3FF0000000000000, 1.5
Token Lexer::number(Token T) {
  size_t Begin = At;
  auto Is = [&](char Low, char High) {
    return at(0, '0') && (at(1, Low) || at(1, High));
  };
  T.What = Token::Integer;
  int Base = 10;
  if (Is('x', 'X')) {
    Base = 16;
    At += 2;
  } else if (Is('b', 'B')) {
    Base = 2;
    At += 2;
  } else if (Is('f', 'F')) {
    T.What = Token::Float;
    Base = 16;
    At += 2;
  } else if (Is('d', 'D')) {
    T.What = Token::Double;
    Base = 16;
    At += 2;
  } else if (at(0, '0') && At + 1 < Text.size() && isDigit(Text[At + 1])) {
    Base = 8;
  }
  const char *End = Text.data() + Text.size();
  std::from_chars_result R =
      std::from_chars(Text.data() + At, End, T.Value, Base);
  if (R.ec == std::errc() && Base == 10 && R.ptr != End && *R.ptr == '.') {
    double D = 0;
    R = std::from_chars(Text.data() + At, End, D);
    T.What = Token::Double;
    T.Value = std::bit_cast<uint64_t>(D);
  }
  if (R.ec != std::errc())
    throw PtxError(Line,
                   "bad number '" + std::string(Text.substr(Begin, 20)) + "'");
  At = static_cast<size_t>(R.ptr - Text.data());
  if (at(0, 'U'))
    ++At;
  T.Text = Text.substr(Begin, At - Begin);
  return T;
}

Token Lexer::next() {
  skipBlanks();
  Token T;
  T.Line = Line;
  if (At >= Text.size())
    return T;
  size_t Begin = At;
  char C = Text[At];
  if (isDigit(C))
    return number(T);
  if (C == '"') {
    T.What = Token::String;
    for (++At; At < Text.size() && Text[At] != '"'; ++At)
      if (Text[At] == '\n')
        throw PtxError(Line, "a string does not end");
    T.Text = Text.substr(Begin + 1, At - Begin - 1);
    ++At;
    return T;
  }
  if (isWord(C)) {
    T.What = Token::Word;
    while (At < Text.size()) {
      if (Text[At] == '.' && C == '.' && At != Begin)
        break; // directives may stick together: .reg.b16
      if (isWord(Text[At])) {
        ++At;
      } else if (at(0, ':') && at(1, ':') && At + 2 < Text.size() &&
                 isWord(Text[At + 2])) {
        At += 2;
      } else {
        break;
      }
    }
    T.Text = Text.substr(Begin, At - Begin);
    return T;
  }
  if (std::string_view("{}[]()<>,;:=+-!@|*&~^").find(C) ==
      std::string_view::npos)
    throw PtxError(Line, "unexpected character code " +
                             std::to_string(static_cast<unsigned char>(C)));
  T.What = Token::Punctuation;
  T.Text = Text.substr(At++, 1);
  return T;
}

void Lexer::skipBraces() {
  for (unsigned Depth = 1; Depth != 0;) {
    Token T = next();
    if (T.What == Token::End)
      throw PtxError(T.Line, "a brace is not closed");
    Depth += T.is("{");
    Depth -= T.is("}");
  }
}

} // namespace llmc::cudasim
