// Names and text of symbolic dims.
#include "passes/import/DimExpr.h"

#include <algorithm>
#include <cctype>

namespace llmc {

// Longer names are cut, longer atoms are not read.
static constexpr size_t MaxName = 128, MaxAtom = 512;

static bool isNameChar(char C) {
  return std::isalnum(static_cast<unsigned char>(C)) || C == '_' || C == '.' ||
         C == ':' || C == '@';
}

DimExpr DimExpr::symbol(std::string_view Name) {
  static const char Hex[] = "0123456789abcdef";
  // A name of unreasonable length is cut and told apart by a hash.
  if (Name.size() > MaxName) {
    uint64_t Hash = 0xcbf29ce484222325;
    for (char C : Name)
      Hash = (Hash ^ static_cast<unsigned char>(C)) * 0x100000001b3;
    return symbol(std::string(Name.substr(0, MaxName - 24)) + ":" +
                  std::to_string(Hash));
  }
  std::string Out;
  for (char C : Name) {
    bool LeadingDigit =
        Out.empty() && std::isdigit(static_cast<unsigned char>(C));
    if (isNameChar(C) && !LeadingDigit) {
      Out += C;
      continue;
    }
    unsigned char U = static_cast<unsigned char>(C);
    Out += {'$', Hex[U >> 4], Hex[U & 15]};
  }
  return atom(Out.empty() ? "$" : Out);
}

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

/// sum := product (("+" | "-") product)*; product := unary (("*" | "//")
/// unary)*; unary := "-" unary | number | name | name "(" sum "," sum ")" |
/// "(" sum ")".
class DimExprParser {
public:
  explicit DimExprParser(std::string_view Text) : Text(Text) {}

  Dim all() {
    Dim E = sum();
    skip();
    return At == Text.size() ? E : Dim();
  }

private:
  void skip() {
    while (At < Text.size() && (Text[At] == ' ' || Text[At] == '\t'))
      ++At;
  }
  bool take(std::string_view Token) {
    skip();
    if (Text.substr(At, Token.size()) != Token)
      return false;
    At += Token.size();
    return true;
  }
  Dim sum() {
    if (++Depth > 32)
      return std::nullopt;
    Dim E = product();
    while (E) {
      if (take("+"))
        E = add(E, product());
      else if (take("-"))
        E = sub(E, product());
      else
        break;
    }
    --Depth;
    return E;
  }
  Dim product() {
    Dim E = unary();
    while (E) {
      if (take("//"))
        E = floorDiv(E, unary());
      else if (take("*"))
        E = mul(E, unary());
      else
        break;
    }
    return E;
  }
  Dim unary() {
    if (take("-")) {
      if (++Depth > 32)
        return std::nullopt;
      Dim E = sub(DimExpr(0), unary());
      --Depth;
      return E;
    }
    if (take("(")) {
      Dim E = sum();
      return take(")") ? E : Dim();
    }
    skip();
    if (At < Text.size() && std::isdigit(static_cast<unsigned char>(Text[At])))
      return number();
    return name();
  }
  Dim number() {
    int64_t Value = 0;
    while (At < Text.size() &&
           std::isdigit(static_cast<unsigned char>(Text[At])))
      if (__builtin_mul_overflow(Value, 10, &Value) ||
          __builtin_add_overflow(Value, Text[At++] - '0', &Value))
        return std::nullopt;
    if (At < Text.size() && (isNameChar(Text[At]) || Text[At] == '$'))
      return std::nullopt;
    return DimExpr(Value);
  }
  Dim name() {
    size_t Begin = At;
    while (At < Text.size() && (isNameChar(Text[At]) || Text[At] == '$'))
      ++At;
    std::string_view Name = Text.substr(Begin, At - Begin);
    if (Name.empty() || Name.size() > MaxAtom)
      return std::nullopt;
    if (!take("("))
      return symbolOf(Name);
    Dim A = sum();
    if (!take(","))
      return std::nullopt;
    Dim B = sum();
    if (!take(")"))
      return std::nullopt;
    return apply(Name, A, B);
  }
  /// A name as it is: escapes are already in it.
  static Dim symbolOf(std::string_view Name) {
    return DimExpr::atom(std::string(Name));
  }
  static Dim apply(std::string_view Name, const Dim &A, const Dim &B) {
    if (Name == "min" || Name == "Min")
      return minimum(A, B);
    if (Name == "max" || Name == "Max")
      return maximum(A, B);
    if (Name == "mod" || Name == "Mod")
      return floorMod(A, B);
    return Name == "floordiv" || Name == "FloorDiv" ? floorDiv(A, B) : Dim();
  }

  std::string_view Text;
  size_t At = 0;
  int Depth = 0;
};

Dim DimExpr::parse(std::string_view Text) { return DimExprParser(Text).all(); }

/// "batch-size" is a name, not a difference.
static bool hasTightMinus(std::string_view Text) {
  for (size_t I = 1; I + 1 < Text.size(); ++I)
    if (Text[I] == '-' && Text[I - 1] != ' ' && Text[I + 1] != ' ')
      return true;
  return false;
}

DimExpr DimExpr::ofParam(std::string_view Text) {
  if (!hasTightMinus(Text))
    if (Dim E = parse(Text); E && !E->isConstant())
      return *E;
  return symbol(Text);
}

} // namespace llmc
