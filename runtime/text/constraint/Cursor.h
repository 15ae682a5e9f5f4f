// Where the parser of a notation stands in its text; what the parsers of
// regular expressions and of the two notations of grammars share.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_CURSOR_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_CURSOR_H

#include "runtime/base/Status.h"
#include "runtime/text/constraint/CharSet.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmc::constraint {

class Cursor {
protected:
  explicit Cursor(std::string_view Text) : Text(Text) {}

  bool done() const { return Pos >= Text.size(); }
  /// 0 behind the end.
  char peek(size_t Ahead = 0) const {
    return Pos + Ahead < Text.size() ? Text[Pos + Ahead] : '\0';
  }
  bool take(std::string_view S) {
    if (Text.substr(Pos, S.size()) != S)
      return false;
    Pos += S.size();
    return true;
  }
  /// Reads so many hex digits into C; false at the first that is none.
  bool takeHex(size_t Digits, uint32_t &C) {
    C = 0;
    for (size_t I = 0; I < Digits; ++I, ++Pos) {
      char D = peek();
      if (!std::isxdigit(static_cast<unsigned char>(D)))
        return false;
      C = C * 16 +
          static_cast<uint32_t>(D <= '9' ? D - '0' : (D | 32) - 'a' + 10);
    }
    return true;
  }

  std::string_view Text;
  size_t Pos = 0;
};

/// In a grammar, whose errors name the line.
class GrammarCursor : protected Cursor {
protected:
  using Cursor::Cursor;

  std::string where() const {
    size_t Line = 1;
    for (size_t I = 0; I < Pos && I < Text.size(); ++I)
      Line += Text[I] == '\n';
    return "grammar, line " + std::to_string(Line) + ": ";
  }
  Status fail(const std::string &What) const {
    return malformedError(where() + What);
  }
  /// What names of both notations are made of.
  static bool nameLetter(char C) {
    return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
           (C >= '0' && C <= '9') || C == '_';
  }
  /// Digits of \x (2), \u (4) and \U (8); 0 for another letter.
  static size_t hexDigitsOf(char Letter) {
    return Letter == 'x' ? 2 : Letter == 'u' ? 4 : Letter == 'U' ? 8 : 0;
  }
  /// The character that so many hex digits name.
  Status hexCharacter(size_t Digits, uint32_t &C) {
    if (!takeHex(Digits, C))
      return fail("expected " + std::to_string(Digits) + " hex digits");
    if (C > MaxCodePoint || (C >= 0xD800 && C <= 0xDFFF))
      return fail("the escape is no character");
    return Status::success();
  }
  /// A number, at most 2^30; Has tells whether there was a digit.
  uint32_t count(bool &Has) {
    uint64_t Sum = 0;
    for (; peek() >= '0' && peek() <= '9'; ++Pos, Has = true)
      Sum = std::min<uint64_t>(Sum * 10 + static_cast<uint64_t>(peek() - '0'),
                               1u << 30);
    return static_cast<uint32_t>(Sum);
  }
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_CURSOR_H
