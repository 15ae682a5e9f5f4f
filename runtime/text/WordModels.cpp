// No candidate longer than the longest token is tried, so that a file that
// allows endless words does not make them cost the square of their length.
#include "runtime/text/WordModels.h"

#include "runtime/text/Utf8.h"

#include <algorithm>

namespace llmc {

WordModels::WordModels(const TokenizerData &D) : D(D) {
  for (size_t Id = 0; Id < D.vocab(); ++Id)
    Longest =
        std::max<size_t>(Longest, D.SpellBegin[Id + 1] - D.SpellBegin[Id]);
}

Status WordModels::unknown(std::string_view Piece,
                           std::vector<int32_t> &Out) const {
  if (D.Config.UnkId < 0)
    return unsupportedError("text has '" + std::string(Piece.substr(0, 40)) +
                            "', for which the tokenizer has neither a token "
                            "nor an unknown one");
  Out.push_back(D.Config.UnkId);
  return Status::success();
}

Status WordModels::wordLevel(std::string_view Piece,
                             std::vector<int32_t> &Out) const {
  int32_t Id = D.find(Piece);
  if (Id < 0)
    return unknown(Piece, Out);
  Out.push_back(Id);
  return Status::success();
}

Status WordModels::wordPiece(std::string_view Piece,
                             std::vector<int32_t> &Out) const {
  size_t Chars = 0;
  for (char C : Piece)
    Chars += (C & 0xC0) != 0x80;
  if (Chars > D.Config.MaxChars)
    return unknown(Piece, Out);
  size_t Before = Out.size();
  std::string Longer;
  for (size_t At = 0; At < Piece.size();) {
    size_t End = std::min(Piece.size(), At + Longest);
    int32_t Id = -1;
    for (; End > At; --End) {
      if (End < Piece.size() && (Piece[End] & 0xC0) == 0x80)
        continue;
      std::string_view Part = Piece.substr(At, End - At);
      if (At > 0) {
        Longer = D.Config.Prefix;
        Longer += Part;
        Part = Longer;
      }
      Id = D.find(Part);
      if (Id >= 0)
        break;
    }
    if (Id < 0) {
      Out.resize(Before);
      return unknown(Piece, Out);
    }
    Out.push_back(Id);
    At = End;
  }
  return Status::success();
}

} // namespace llmc
