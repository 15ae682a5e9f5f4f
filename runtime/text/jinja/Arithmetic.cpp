// Operators on numbers, texts and lists, with Python's rules: signs of floor
// division and remainder, "text" * 3, list + list. Integers have 64 bits; what
// does not fit is an error, never a rounded number.
#include "runtime/text/jinja/Library.h"

#include <cmath>

namespace llmc::jinja {

namespace {

Value kindError(Context &C, std::string_view Op, const Value &A,
                const Value &B) {
  if (A.isUndefined() || B.isUndefined())
    return C.fail((A.isUndefined() ? A : B).why());
  if (Op == "+" && A.isString())
    return C.fail("can only concatenate str (not \"" +
                  std::string(B.typeName()) + "\") to str");
  return C.fail("unsupported operand type(s) for " + std::string(Op) + ": '" +
                std::string(A.typeName()) + "' and '" +
                std::string(B.typeName()) + "'");
}

Value tooLarge(Context &C) { return C.fail("integer does not fit in 64 bits"); }

/// Text or list, repeated.
Value times(Context &C, const Value &A, const Value &B) {
  if (!A.isString() && !A.isSequence())
    return kindError(C, "*", A, B);
  bool Empty = A.isString() ? A.asString().empty() : A.items().empty();
  uint64_t Count =
      Empty || B.asInteger() < 0 ? 0 : static_cast<uint64_t>(B.asInteger());
  if (Count > Context::MaxText || A.weight() * Count > MaxValueWeight ||
      !C.charge(A.weight() * Count))
    return C.fail("repeated " + std::to_string(Count) + " times is too large");
  if (A.isString()) {
    std::string S;
    for (uint64_t I = 0; I < Count; ++I)
      S += A.asString();
    if (!C.room(S.size()))
      return Value();
    return A.isMarkup() ? Value::markup(std::move(S))
                        : Value::string(std::move(S));
  }
  Value::Items L;
  for (uint64_t I = 0; I < Count; ++I)
    L.insert(L.end(), A.items().begin(), A.items().end());
  return Value::list(std::move(L), A.kind());
}

Value power(Context &C, const Value &A, const Value &B) {
  if (A.asReal() == 0 && B.asReal() < 0)
    return C.fail("0.0 cannot be raised to a negative power");
  if (A.isInteger() && B.isInteger() && B.asInteger() >= 0) {
    int64_t X = A.asInteger(), R = 1;
    if (X == 0 || X == 1 || X == -1) {
      bool Odd = (B.asInteger() & 1) != 0;
      return Value::integer(B.asInteger() == 0 ? 1 : Odd ? X : X * X);
    }
    for (int64_t I = 0; I < B.asInteger(); ++I)
      if (__builtin_mul_overflow(R, X, &R))
        return tooLarge(C);
    return Value::integer(R);
  }
  double R = std::pow(A.asReal(), B.asReal());
  if (std::isnan(R) && !std::isnan(A.asReal()) && !std::isnan(B.asReal()))
    return C.fail("complex numbers are not supported");
  if (std::isinf(R) && std::isfinite(A.asReal()) && std::isfinite(B.asReal()))
    return C.fail("result of ** is too large");
  return Value::real(R);
}

/// Python's float_divmod: exact where x - floor(x / y) * y is not.
double remainderOf(double X, double Y) {
  double M = std::fmod(X, Y);
  if (M == 0)
    return std::copysign(0.0, Y);
  return (Y < 0) != (M < 0) ? M + Y : M;
}
double floorOf(double X, double Y) {
  double M = std::fmod(X, Y), Q = (X - M) / Y;
  if (M != 0 && (Y < 0) != (M < 0))
    Q -= 1;
  if (Q == 0)
    return std::copysign(0.0, X / Y);
  double F = std::floor(Q);
  return Q - F > 0.5 ? F + 1 : F;
}

Value realArithmetic(char Op, double X, double Y) {
  switch (Op) {
  case '+':
    return Value::real(X + Y);
  case '-':
    return Value::real(X - Y);
  case '*':
    return Value::real(X * Y);
  case 'f':
    return Value::real(floorOf(X, Y));
  default:
    return Value::real(remainderOf(X, Y));
  }
}

Value numeric(Context &C, char Op, const Value &A, const Value &B) {
  if ((Op == '/' || Op == '%' || Op == 'f') && B.asReal() == 0)
    return C.fail("division by zero");
  if (!A.isInteger() || !B.isInteger())
    return Op == '/' ? Value::real(A.asReal() / B.asReal())
                     : realArithmetic(Op, A.asReal(), B.asReal());
  int64_t X = A.asInteger(), Y = B.asInteger(), R = 0;
  bool Overflow = false;
  switch (Op) {
  case '/': // long double holds both exactly
    return Value::real(static_cast<double>(static_cast<long double>(X) /
                                           static_cast<long double>(Y)));
  case '+':
    Overflow = __builtin_add_overflow(X, Y, &R);
    break;
  case '-':
    Overflow = __builtin_sub_overflow(X, Y, &R);
    break;
  case '*':
    Overflow = __builtin_mul_overflow(X, Y, &R);
    break;
  default:
    if (Y == -1) { // the one division that can overflow
      Overflow = Op == 'f' && __builtin_sub_overflow(int64_t{0}, X, &R);
      break;
    }
    R = Op == 'f' ? X / Y : X % Y;
    if (X % Y != 0 && (X < 0) != (Y < 0))
      R += Op == 'f' ? -1 : Y;
  }
  return Overflow ? tooLarge(C) : Value::integer(R);
}

Value addTexts(Context &C, const Value &A, const Value &B) {
  if (!C.room(A.asString().size() + B.asString().size()))
    return Value();
  if (A.isMarkup() || B.isMarkup())
    return Value::markup(escapedValue(A).asString() +
                         escapedValue(B).asString());
  return Value::string(A.asString() + B.asString());
}

} // namespace

Value arithmetic(Context &C, std::string_view Op, const Value &A,
                 const Value &B) {
  if (C.failed())
    return Value();
  if (Op == "+" && A.isString() && B.isString())
    return addTexts(C, A, B);
  if (Op == "+" && A.isSequence() && A.kind() == B.kind()) {
    Value::Items L = C.iterate(A), R = C.iterate(B);
    L.insert(L.end(), R.begin(), R.end());
    return Value::list(std::move(L), A.kind());
  }
  if (Op == "%" && A.isString())
    return formatPercent(C, A, B);
  if (Op == "*" && (A.isInteger() != B.isInteger()) &&
      !(A.isNumber() && B.isNumber()))
    return A.isInteger() ? times(C, B, A) : times(C, A, B);
  if (!A.isNumber() || !B.isNumber())
    return kindError(C, Op, A, B);
  if (Op == "**")
    return power(C, A, B);
  return numeric(C, Op == "//" ? 'f' : Op[0], A, B);
}

} // namespace llmc::jinja
