// Words of PTX text. Comments and blanks vanish; a line is counted for errors.
#ifndef LLMC_TOOLS_CUDASIM_PTX_LEXER_H
#define LLMC_TOOLS_CUDASIM_PTX_LEXER_H

#include "tools/cudasim/ptx/Ast.h"

#include <string_view>

namespace llmc::cudasim {

struct Token {
  enum Kind : uint8_t {
    End,
    Word,
    Integer,
    Float,
    Double,
    String,
    Punctuation
  };
  Kind What = End;
  std::string_view Text; ///< of a word with its dots: ld.global.L2::128B.f32
  uint64_t Value = 0;    ///< of a number, its bits
  unsigned Line = 0;
  bool is(std::string_view T) const {
    return (What == Word || What == Punctuation) && Text == T;
  }
};

class Lexer {
public:
  explicit Lexer(std::string_view From) : Text(From) {}
  /// The next token; throws PtxError for a character that PTX does not have.
  Token next();
  /// Skips to behind the brace that closes the one just read.
  void skipBraces();

private:
  void skipBlanks();
  Token number(Token T);
  bool at(size_t Ahead, char C) const {
    return At + Ahead < Text.size() && Text[At + Ahead] == C;
  }

  std::string_view Text;
  size_t At = 0;
  unsigned Line = 1;
};

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_PTX_LEXER_H
