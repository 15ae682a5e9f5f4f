// Symbolic dims: polynomials with integer coefficients in named symbols, in
// practice nearly always affine (`past + seq`). One canonical form, so that
// equal expressions print equally; the printed form is what `#onnx.dims`
// holds. What is no polynomial (floor division, remainder, minimum, maximum)
// is an opaque atom that behaves like a symbol.
//
// Every symbol stands for a dim and is therefore not negative. Operations
// whose result is not known, overflows or grows beyond reason give nothing.
#ifndef LLMC_PASSES_IMPORT_DIMEXPR_H
#define LLMC_PASSES_IMPORT_DIMEXPR_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

class DimExpr;
/// A dim or shape element that may be unknown ("?").
using Dim = std::optional<DimExpr>;

class DimExpr {
public:
  DimExpr() = default; ///< 0
  /*implicit*/ DimExpr(int64_t Value);
  /// A symbol; characters that no symbol may have are written as $XX.
  static DimExpr symbol(std::string_view Name);
  /// Canonical text and what exporters write ("s16 + s17", "2*s0", "s0//2").
  static Dim parse(std::string_view Text);
  /// A dim_param of a file: the expression it spells, else one symbol.
  static DimExpr ofParam(std::string_view Text);

  /// The canonical text.
  std::string str() const;

  bool isConstant() const;
  std::optional<int64_t> constant() const;
  bool operator==(const DimExpr &O) const { return Terms == O.Terms; }

  /// Bounds that hold for all values of the symbols, where there are any.
  std::optional<int64_t> lowerBound() const;
  std::optional<int64_t> upperBound() const;
  /// Whether this is min(E, something).
  bool isMinimumWith(const DimExpr &E) const;
  /// Whether this is max(0, min(c, a) - min(c, b)) with a - b == Length: rows
  /// a .. b of a table of c rows.
  bool isClippedSpan(const DimExpr &Length) const;
  /// The value for given symbols; nothing if one is missing or it overflows.
  using Lookup = std::function<std::optional<int64_t>(std::string_view)>;
  std::optional<int64_t> evaluate(const Lookup &Symbol) const;
  /// Calls Fn with every symbol, those inside of atoms included.
  void symbols(const std::function<void(std::string_view)> &Fn) const;

  friend Dim add(const Dim &A, const Dim &B);
  friend Dim mul(const Dim &A, const Dim &B);
  friend Dim floorDiv(const Dim &A, const Dim &B);
  friend Dim divideExactly(const Dim &A, const Dim &B);
  friend Dim minimum(const Dim &A, const Dim &B);
  friend Dim maximum(const Dim &A, const Dim &B);

private:
  friend class DimExprParser;
  /// Coefficient times the product of the (sorted) factors.
  struct Term {
    std::vector<std::string> Factors;
    int64_t Coefficient;
    bool operator==(const Term &O) const = default;
  };
  static Dim ofTerms(std::vector<Term> Unsorted);
  static DimExpr atom(std::string Text);

  /// Sorted by factors, the constant last; no coefficient is 0.
  std::vector<Term> Terms;
};

Dim add(const Dim &A, const Dim &B);
Dim mul(const Dim &A, const Dim &B);
Dim sub(const Dim &A, const Dim &B);
Dim floorDiv(const Dim &A, const Dim &B);
/// Remainder with the sign of the divisor.
Dim floorMod(const Dim &A, const Dim &B);
Dim minimum(const Dim &A, const Dim &B);
Dim maximum(const Dim &A, const Dim &B);
/// A / B where B times the result is A for all values of the symbols.
Dim divideExactly(const Dim &A, const Dim &B);

bool provablyEqual(const Dim &A, const Dim &B);
bool provablyDifferent(const Dim &A, const Dim &B);
/// A >= B for all values of the symbols.
bool provablyAtLeast(const Dim &A, const Dim &B);
/// Whether the dim is this number.
bool isNumber(const Dim &A, int64_t Value);

} // namespace llmc

#endif // LLMC_PASSES_IMPORT_DIMEXPR_H
