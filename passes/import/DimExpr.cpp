// Arithmetic, bounds and printing of symbolic dims.
#include "passes/import/DimExpr.h"

#include <algorithm>
#include <cctype>

namespace llmc {

// Beyond this an expression is of no use and only costs time.
static constexpr size_t MaxTerms = 32, MaxFactors = 8, MaxAtom = 512;

//===----------------------------------------------------------------------===//
// Construction and canonical form
//===----------------------------------------------------------------------===//

DimExpr::DimExpr(int64_t Value) {
  if (Value != 0)
    Terms.push_back({{}, Value});
}

DimExpr DimExpr::atom(std::string Text) {
  DimExpr E;
  E.Terms.push_back({{std::move(Text)}, 1});
  return E;
}

/// Constant last, products after their first factor, else by name.
static bool termBefore(const std::vector<std::string> &A,
                       const std::vector<std::string> &B) {
  if (A.empty() || B.empty())
    return !A.empty() && B.empty();
  return A < B;
}

Dim DimExpr::ofTerms(std::vector<Term> Unsorted) {
  std::sort(Unsorted.begin(), Unsorted.end(), [](const Term &A, const Term &B) {
    return termBefore(A.Factors, B.Factors);
  });
  DimExpr Out;
  for (Term &T : Unsorted) {
    if (T.Factors.size() > MaxFactors)
      return std::nullopt;
    if (Out.Terms.empty() || Out.Terms.back().Factors != T.Factors) {
      Out.Terms.push_back(std::move(T));
      continue;
    }
    int64_t &Sum = Out.Terms.back().Coefficient;
    if (__builtin_add_overflow(Sum, T.Coefficient, &Sum))
      return std::nullopt;
  }
  std::erase_if(Out.Terms, [](const Term &T) { return T.Coefficient == 0; });
  if (Out.Terms.size() > MaxTerms)
    return std::nullopt;
  return Out;
}

bool DimExpr::isConstant() const { return constant().has_value(); }

std::optional<int64_t> DimExpr::constant() const {
  if (Terms.empty())
    return 0;
  if (Terms.size() == 1 && Terms.front().Factors.empty())
    return Terms.front().Coefficient;
  return std::nullopt;
}

std::string DimExpr::str() const {
  if (Terms.empty())
    return "0";
  std::string Out;
  for (const Term &T : Terms) {
    bool Negative = T.Coefficient < 0;
    std::string Number = std::to_string(T.Coefficient);
    if (Negative)
      Number.erase(0, 1);
    Out += Out.empty() ? (Negative ? "-" : "") : Negative ? " - " : " + ";
    if (T.Factors.empty() || Number != "1")
      Out += Number + (T.Factors.empty() ? "" : "*");
    for (size_t I = 0; I < T.Factors.size(); ++I)
      Out += (I ? "*" : "") + T.Factors[I];
  }
  return Out;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Dim add(const Dim &A, const Dim &B) {
  if (!A || !B)
    return std::nullopt;
  std::optional<int64_t> X = A->constant(), Y = B->constant();
  if (Y && *Y == 0)
    return A;
  int64_t Sum;
  if (X && Y)
    return __builtin_add_overflow(*X, *Y, &Sum) ? Dim() : Dim(DimExpr(Sum));
  std::vector<DimExpr::Term> All = A->Terms;
  All.insert(All.end(), B->Terms.begin(), B->Terms.end());
  return DimExpr::ofTerms(std::move(All));
}

Dim mul(const Dim &A, const Dim &B) {
  if (!A || !B)
    return std::nullopt;
  if (isNumber(A, 1))
    return B;
  if (isNumber(B, 1))
    return A;
  std::vector<DimExpr::Term> All;
  for (const DimExpr::Term &X : A->Terms)
    for (const DimExpr::Term &Y : B->Terms) {
      DimExpr::Term T = X;
      T.Factors.insert(T.Factors.end(), Y.Factors.begin(), Y.Factors.end());
      std::sort(T.Factors.begin(), T.Factors.end());
      if (__builtin_mul_overflow(X.Coefficient, Y.Coefficient, &T.Coefficient))
        return std::nullopt;
      All.push_back(std::move(T));
    }
  return DimExpr::ofTerms(std::move(All));
}

Dim sub(const Dim &A, const Dim &B) { return add(A, mul(B, DimExpr(-1))); }

/// An atom such as "min(a, b)", unless it gets too long.
static std::optional<std::string> call(const char *Name, std::string A,
                                       std::string B) {
  std::string Text = std::string(Name) + "(" + A + ", " + B + ")";
  if (Text.size() > MaxAtom)
    return std::nullopt;
  return Text;
}

Dim floorDiv(const Dim &A, const Dim &B) {
  if (!A || !B || isNumber(B, 0))
    return std::nullopt;
  if (isNumber(B, 1))
    return A;
  std::optional<int64_t> D = B->constant();
  if (std::optional<int64_t> N = A->constant(); N && D) {
    if (*D == -1)
      return sub(DimExpr(0), A);
    int64_t Q = *N / *D, R = *N % *D;
    return DimExpr(Q - (R != 0 && (R < 0) != (*D < 0)));
  }
  if (Dim Exact = divideExactly(A, B))
    return Exact;
  // Whole parts leave the atom: (2*a + b + 3) / 2 is a + 1 + (b + 1) / 2.
  std::vector<DimExpr::Term> Whole, Rest = A->Terms;
  if (D && *D > 0) {
    Rest.clear();
    for (const DimExpr::Term &T : A->Terms) {
      int64_t Q = T.Coefficient / *D, R = T.Coefficient % *D;
      if (R != 0 && !T.Factors.empty()) {
        Rest.push_back(T);
        continue;
      }
      Q -= R < 0;
      Whole.push_back({T.Factors, Q});
      if (R != 0)
        Rest.push_back({T.Factors, R < 0 ? R + *D : R});
    }
  }
  Dim Numerator = DimExpr::ofTerms(std::move(Rest));
  Dim Outside = DimExpr::ofTerms(std::move(Whole));
  if (!Numerator || !Outside)
    return std::nullopt;
  if (D && *D > 0 && Numerator->isConstant())
    return Outside; // in [0, D)
  std::optional<std::string> Atom =
      call("floordiv", Numerator->str(), B->str());
  return Atom ? add(Outside, DimExpr::atom(*Atom)) : Dim();
}

Dim floorMod(const Dim &A, const Dim &B) {
  if (isNumber(B, 0))
    return std::nullopt;
  return sub(A, mul(B, floorDiv(A, B)));
}

Dim minimum(const Dim &A, const Dim &B) {
  if (!A || !B)
    return std::nullopt;
  if (provablyAtLeast(B, A))
    return A;
  if (provablyAtLeast(A, B))
    return B;
  std::string X = A->str(), Y = B->str();
  std::optional<std::string> Atom = call("min", std::min(X, Y), std::max(X, Y));
  return Atom ? Dim(DimExpr::atom(*Atom)) : Dim();
}

Dim maximum(const Dim &A, const Dim &B) {
  if (!A || !B)
    return std::nullopt;
  if (provablyAtLeast(A, B))
    return A;
  if (provablyAtLeast(B, A))
    return B;
  std::string X = A->str(), Y = B->str();
  std::optional<std::string> Atom = call("max", std::min(X, Y), std::max(X, Y));
  return Atom ? Dim(DimExpr::atom(*Atom)) : Dim();
}

Dim divideExactly(const Dim &A, const Dim &B) {
  if (!A || !B || B->Terms.empty())
    return std::nullopt;
  // Polynomial division by the leading term of B.
  const DimExpr::Term &Lead = B->Terms.front();
  Dim Rest = A, Quotient = DimExpr(0);
  for (size_t Step = 0; Step <= MaxTerms; ++Step) {
    if (Rest->Terms.empty())
      return Quotient;
    DimExpr::Term T = Rest->Terms.front();
    for (const std::string &Factor : Lead.Factors) {
      auto It = std::find(T.Factors.begin(), T.Factors.end(), Factor);
      if (It == T.Factors.end())
        return std::nullopt;
      T.Factors.erase(It);
    }
    if (T.Coefficient == INT64_MIN || T.Coefficient % Lead.Coefficient != 0)
      return std::nullopt;
    T.Coefficient /= Lead.Coefficient;
    Dim Part = DimExpr::ofTerms({T});
    Quotient = add(Quotient, Part);
    Rest = sub(Rest, mul(Part, B));
    if (!Rest || !Quotient)
      return std::nullopt;
  }
  return std::nullopt;
}

bool provablyEqual(const Dim &A, const Dim &B) { return A && B && *A == *B; }

bool provablyDifferent(const Dim &A, const Dim &B) {
  Dim D = sub(A, B);
  if (!D)
    return false;
  std::optional<int64_t> Low = D->lowerBound(), High = D->upperBound();
  return (Low && *Low > 0) || (High && *High < 0);
}

bool provablyAtLeast(const Dim &A, const Dim &B) {
  Dim D = sub(A, B);
  std::optional<int64_t> Low = D ? D->lowerBound() : std::nullopt;
  return Low && *Low >= 0;
}

bool isNumber(const Dim &A, int64_t Value) {
  std::optional<int64_t> C = A ? A->constant() : std::nullopt;
  return C && *C == Value;
}

//===----------------------------------------------------------------------===//
// Atoms, bounds, evaluation
//===----------------------------------------------------------------------===//

namespace {
/// An atom taken apart: "min(a, b)" or a plain symbol (empty name).
struct Call {
  std::string_view Name;
  Dim A, B;
};
} // namespace

static Call openAtom(std::string_view Atom) {
  size_t Open = Atom.find('(');
  if (Open == std::string_view::npos || Atom.back() != ')')
    return {};
  int Depth = 0;
  for (size_t I = Open + 1; I < Atom.size(); ++I) {
    Depth += Atom[I] == '(' ? 1 : Atom[I] == ')' ? -1 : 0;
    if (Atom[I] == ',' && Depth == 0)
      return {Atom.substr(0, Open),
              DimExpr::parse(Atom.substr(Open + 1, I - Open - 1)),
              DimExpr::parse(Atom.substr(I + 1, Atom.size() - I - 2))};
  }
  return {};
}

using Bound = std::optional<int64_t>;

/// Lower and upper bound of an atom.
static std::pair<Bound, Bound> atomBounds(std::string_view Atom) {
  Call C = openAtom(Atom);
  if (C.Name.empty())
    return {0, std::nullopt};
  if (!C.A || !C.B)
    return {};
  Bound LowA = C.A->lowerBound(), LowB = C.B->lowerBound();
  Bound HighA = C.A->upperBound(), HighB = C.B->upperBound();
  if (C.Name == "floordiv") {
    bool Positive = LowA && *LowA >= 0 && LowB && *LowB > 0;
    return {Positive ? Bound(0) : Bound(), Positive ? HighA : Bound()};
  }
  bool Min = C.Name == "min";
  // Of two known bounds the better; of one only where one is enough.
  auto Pick = [](Bound X, Bound Y, bool Smaller, bool OneIsEnough) -> Bound {
    if (X && Y)
      return Smaller ? std::min(*X, *Y) : std::max(*X, *Y);
    return OneIsEnough ? (X ? X : Y) : Bound();
  };
  return {Pick(LowA, LowB, Min, !Min), Pick(HighA, HighB, Min, Min)};
}

/// Bound of a sum of terms: Low or high.
template <typename Terms> static Bound boundOf(const Terms &Sum, bool Low) {
  __int128 Total = 0;
  for (const auto &T : Sum) {
    bool WantLow = (T.Coefficient > 0) == Low;
    __int128 Product = 1;
    for (const std::string &Factor : T.Factors) {
      auto [L, H] = atomBounds(Factor);
      // Products of factors that may be negative are not bounded here.
      if (T.Factors.size() > 1 && (!L || *L < 0))
        return std::nullopt;
      Bound B = WantLow ? L : H;
      if (!B)
        return std::nullopt;
      Product *= *B;
      if (Product > (static_cast<__int128>(1) << 60))
        return std::nullopt;
    }
    Total += Product * T.Coefficient;
    if (Total > INT64_MAX || Total < INT64_MIN)
      return std::nullopt;
  }
  return static_cast<int64_t>(Total);
}

Bound DimExpr::lowerBound() const { return boundOf(Terms, true); }
Bound DimExpr::upperBound() const { return boundOf(Terms, false); }

bool DimExpr::isMinimumWith(const DimExpr &E) const {
  if (Terms.size() != 1 || Terms[0].Coefficient != 1 ||
      Terms[0].Factors.size() != 1)
    return false;
  Call C = openAtom(Terms[0].Factors[0]);
  return C.Name == "min" && (provablyEqual(C.A, E) || provablyEqual(C.B, E));
}

bool DimExpr::isClippedSpan(const DimExpr &Length) const {
  if (Terms.size() != 1 || Terms[0].Coefficient != 1 ||
      Terms[0].Factors.size() != 1)
    return false;
  Call C = openAtom(Terms[0].Factors[0]);
  if (C.Name != "max" || !isNumber(C.A, 0) || !C.B || C.B->Terms.size() != 2)
    return false;
  Dim Bounds[2]; // of the term with 1, of the term with -1
  Dim Sizes[2];
  for (const Term &T : C.B->Terms) {
    if (T.Factors.size() != 1 || (T.Coefficient != 1 && T.Coefficient != -1))
      return false;
    Call Min = openAtom(T.Factors[0]);
    if (Min.Name != "min" || !Min.A || !Min.A->isConstant())
      return false;
    Bounds[T.Coefficient < 0] = Min.B;
    Sizes[T.Coefficient < 0] = Min.A;
  }
  return provablyEqual(Sizes[0], Sizes[1]) &&
         provablyEqual(sub(Bounds[0], Bounds[1]), Length);
}

static Bound evaluateAtom(std::string_view Atom,
                          const DimExpr::Lookup &Symbol) {
  Call C = openAtom(Atom);
  if (C.Name.empty())
    return Symbol(Atom);
  if (!C.A || !C.B)
    return std::nullopt;
  Bound A = C.A->evaluate(Symbol), B = C.B->evaluate(Symbol);
  if (!A || !B)
    return std::nullopt;
  if (C.Name == "min")
    return std::min(*A, *B);
  if (C.Name == "max")
    return std::max(*A, *B);
  Dim Q = floorDiv(DimExpr(*A), DimExpr(*B));
  return Q ? Q->constant() : Bound();
}

Bound DimExpr::evaluate(const Lookup &Symbol) const {
  int64_t Sum = 0;
  for (const Term &T : Terms) {
    int64_t Product = T.Coefficient;
    for (const std::string &Factor : T.Factors) {
      Bound V = evaluateAtom(Factor, Symbol);
      if (!V || __builtin_mul_overflow(Product, *V, &Product))
        return std::nullopt;
    }
    if (__builtin_add_overflow(Sum, Product, &Sum))
      return std::nullopt;
  }
  return Sum;
}

void DimExpr::symbols(const std::function<void(std::string_view)> &Fn) const {
  for (const Term &T : Terms)
    for (const std::string &Factor : T.Factors) {
      Call C = openAtom(Factor);
      if (C.Name.empty()) {
        Fn(Factor);
        continue;
      }
      for (const Dim &Part : {C.A, C.B})
        if (Part)
          Part->symbols(Fn);
    }
}

} // namespace llmc
