// Exporters write sums as names ("past_sequence_length + sequence_length").
// Such a sum becomes an expression, anything else one symbol.
#include "compiler/frontend/onnx/DimNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <vector>

static std::string symbolOf(llvm::StringRef Name) {
  std::string Out;
  for (char C : Name.take_front(100))
    Out += llvm::isAlnum(C) || C == '_' || C == '.' ? C : '_';
  if (llvm::isDigit(Out.front()) || Out.front() == '.')
    Out = "_" + Out;
  return Out;
}

std::string llmc::dimExpression(const std::string &Param) {
  llvm::StringRef Text = llvm::StringRef(Param).trim();
  if (Text.empty())
    return "?";
  constexpr size_t MaxExpression = 200;
  if (Text.size() > MaxExpression)
    return symbolOf(Text);
  llvm::SmallVector<llvm::StringRef> Terms;
  Text.split(Terms, '+');
  std::vector<std::string> Symbols;
  for (llvm::StringRef Term : Terms) {
    Term = Term.trim();
    bool Simple = !Term.empty() && !llvm::isDigit(Term.front()) &&
                  llvm::all_of(Term, [](char C) {
                    return llvm::isAlnum(C) || C == '_' || C == '.';
                  });
    if (!Simple)
      return symbolOf(Text);
    Symbols.push_back(symbolOf(Term));
  }
  std::sort(Symbols.begin(), Symbols.end());
  std::string Out;
  for (size_t I = 0; I < Symbols.size();) {
    size_t Same = I;
    while (Same < Symbols.size() && Symbols[Same] == Symbols[I])
      ++Same;
    Out += Out.empty() ? "" : " + ";
    if (Same - I > 1)
      Out += std::to_string(Same - I) + "*";
    Out += Symbols[I];
    I = Same;
  }
  return Out;
}
