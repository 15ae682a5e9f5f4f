// Filters that give numbers, and those that take any value.
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/FilterTable.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace llmc::jinja {

namespace {

/// Python's round(): to the nearest, and of a tie (exactly in the middle) to
/// the even digit. printf rounds the exact value so.
double roundedTo(double F, int64_t Digits) {
  if (!std::isfinite(F) || Digits > 323)
    return F;
  char Buffer[800];
  if (Digits >= 0) {
    std::snprintf(Buffer, sizeof(Buffer), "%.*f", static_cast<int>(Digits), F);
    return std::strtod(Buffer, nullptr);
  }
  if (Digits < -308)
    return std::copysign(0.0, F);
  double Scale = std::pow(10.0, static_cast<double>(-Digits));
  return std::nearbyint(F / Scale) * Scale;
}

/// An integer to tens, hundreds …, ties to even.
bool roundedTo(int64_t I, int64_t Digits, int64_t &Out) {
  Out = I;
  if (Digits >= 0)
    return true;
  Out = 0;
  if (Digits < -18)
    return true;
  int64_t Scale = 1;
  for (int64_t D = Digits; D < 0; ++D)
    Scale *= 10;
  int64_t Rest = I % Scale, Down = I - Rest;
  if (Rest < 0)
    Rest += Scale, Down -= Scale;
  bool Up =
      Rest > Scale - Rest || (Rest == Scale - Rest && (Down / Scale) % 2 != 0);
  return !__builtin_add_overflow(Down, Up ? Scale : 0, &Out);
}

Value roundFilter(Context &C, const Value &V, const Arguments &A) {
  if (V.isUndefined() || !V.isNumber())
    return C.fail(V.isUndefined() ? V.why()
                                  : "type " + std::string(V.typeName()) +
                                        " doesn't define __round__ method");
  std::string Method = textOf(A.get(1, "method"), "common");
  int64_t Digits = numberOf(A.get(0, "precision"), 0);
  if (Method != "common" && Method != "ceil" && Method != "floor")
    return C.fail("method must be common, ceil or floor");
  if (Method == "common" && V.isInteger()) {
    int64_t I = 0;
    return roundedTo(V.asInteger(), Digits, I)
               ? Value::integer(I)
               : C.fail("integer does not fit in 64 bits");
  }
  if (Method == "common")
    return Value::real(roundedTo(V.asReal(), Digits));
  double Scale = std::pow(
      10.0, static_cast<double>(std::clamp<int64_t>(Digits, -300, 300)));
  double X = V.asReal() * Scale;
  if (!std::isfinite(X))
    return C.fail("cannot convert float infinity or NaN to integer");
  // Python goes through an integer, which has no -0.
  return Value::real(((Method == "ceil" ? std::ceil(X) : std::floor(X)) + 0.0) /
                     Scale);
}

/// Digits of other scripts as ASCII ones. Each script has its ten in a row.
std::string asciiDigits(std::string_view S) {
  std::string Out;
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    uint32_t C = nextCodePoint(S, I), First = C;
    if (C < 0x80 || !isDecimal(C)) {
      Out += S.substr(Begin, I - Begin);
      continue;
    }
    while (isDecimal(First - 1))
      --First;
    Out += static_cast<char>('0' + (C - First) % 10);
  }
  return Out;
}

/// Digits with single underscores between them.
bool plainDigits(std::string_view S, std::string &Out) {
  for (size_t I = 0; I < S.size(); ++I) {
    if (S[I] != '_') {
      Out += S[I];
      continue;
    }
    bool Between = I > 0 && I + 1 < S.size() &&
                   std::isalnum(static_cast<unsigned char>(S[I - 1])) &&
                   std::isalnum(static_cast<unsigned char>(S[I + 1]));
    if (!Between)
      return false;
  }
  return !Out.empty();
}

} // namespace

bool parseInteger(std::string_view Text, int Base, int64_t &Out) {
  std::string S = asciiDigits(strip(Text, nullptr, Side::Both));
  bool Negative = S.starts_with('-');
  if (Negative || S.starts_with('+'))
    S.erase(0, 1);
  if (S.size() > 1 && S[0] == '0') {
    char P = static_cast<char>(S[1] | 0x20);
    int Named = P == 'x' ? 16 : P == 'o' ? 8 : P == 'b' ? 2 : 0;
    if (Named != 0 && (Base == 0 || Base == Named)) {
      S.erase(0, S.size() > 2 && S[2] == '_' ? 3 : 2);
      Base = Named;
    } else if (Base == 0 && S.find_first_not_of("0_") != std::string::npos) {
      return false; // 012 is no number
    }
  }
  Base = Base == 0 ? 10 : Base;
  std::string Digits;
  if (Base < 2 || Base > 36 || !plainDigits(S, Digits))
    return false;
  Digits.insert(0, Negative ? "-" : "");
  const char *End = Digits.data() + Digits.size();
  std::from_chars_result R = std::from_chars(Digits.data(), End, Out, Base);
  return R.ec == std::errc() && R.ptr == End && Digits != "-";
}

bool parseReal(std::string_view Text, double &Out) {
  std::string S = asciiDigits(strip(Text, nullptr, Side::Both)), Digits;
  if (S.starts_with('+'))
    S.erase(0, 1);
  if (S.starts_with('+') || !plainDigits(S, Digits))
    return false;
  std::string Word = lowerCase(Digits);
  if (Word.find("nan(") != std::string::npos)
    return false;
  const char *End = Digits.data() + Digits.size();
  std::from_chars_result R = std::from_chars(Digits.data(), End, Out);
  if (R.ec == std::errc::result_out_of_range && R.ptr == End)
    Out = std::strtod(Digits.c_str(), nullptr);
  return R.ptr == End && R.ec != std::errc::invalid_argument;
}

namespace {

Value toInteger(Context &C, const Value &V, const Arguments &A) {
  const Value *Default = A.get(0, "default");
  if (V.isInteger())
    return Value::integer(V.asInteger());
  double D = 0;
  bool Good = V.kind() == Value::Kind::Float;
  if (Good)
    D = V.asReal();
  if (V.isString()) {
    int64_t I = 0;
    int Base = static_cast<int>(
        std::clamp<int64_t>(numberOf(A.get(1, "base"), 10), 0, 99));
    if (parseInteger(V.asString(), Base, I))
      return Value::integer(I);
    Good = parseReal(V.asString(), D);
  }
  if (V.isUndefined())
    return C.fail(V.why());
  if (!Good || !std::isfinite(D))
    return Default ? *Default : Value::integer(0);
  if (!(std::fabs(D) < 9.2e18))
    return C.fail("integer does not fit in 64 bits");
  return Value::integer(static_cast<int64_t>(D));
}

Value toReal(Context &C, const Value &V, const Arguments &A) {
  const Value *Default = A.get(0, "default");
  if (V.isNumber())
    return Value::real(V.asReal());
  double D = 0;
  if (V.isString() && parseReal(V.asString(), D))
    return Value::real(D);
  if (V.isUndefined())
    return C.fail(V.why());
  return Default ? *Default : Value::real(0);
}

Value absolute(Context &C, const Value &V, const Arguments &) {
  if (V.kind() == Value::Kind::Float)
    return Value::real(std::fabs(V.asReal()));
  if (V.isUndefined())
    return C.fail(V.why());
  if (!V.isInteger() || V.asInteger() == INT64_MIN)
    return C.fail("bad operand type for abs(): '" + std::string(V.typeName()) +
                  "'");
  return Value::integer(std::abs(V.asInteger()));
}

Value defaultFilter(Context &, const Value &V, const Arguments &A) {
  const Value *D = A.get(0, "default_value");
  bool Falsy = flagOf(A.get(1, "boolean"), false);
  bool Use = V.isUndefined() || (Falsy && !V.truthy());
  return !Use ? V : D ? *D : Value::string("");
}

/// Bytes with the largest unit that leaves at least 1.
Value fileSize(Context &C, const Value &V, const Arguments &A) {
  double Bytes = 0;
  if (V.isNumber())
    Bytes = V.asReal();
  else if (!V.isString() || !parseReal(V.asString(), Bytes))
    return C.fail("filesizeformat needs a number, not " +
                  std::string(V.typeName()));
  bool Binary = flagOf(A.get(0, "binary"), false);
  double Base = Binary ? 1024 : 1000, Unit = Base;
  if (Bytes == 1)
    return Value::string("1 Byte");
  char Buffer[400];
  if (!std::isfinite(Bytes) && !(Bytes >= Base))
    return C.fail("cannot convert float infinity or NaN to integer");
  if (Bytes < Base) {
    std::snprintf(Buffer, sizeof(Buffer), "%.0f Bytes", std::trunc(Bytes));
    return Value::string(Buffer[0] == '-' && std::trunc(Bytes) == 0 ? Buffer + 1
                                                                    : Buffer);
  }
  constexpr std::string_view Letters = "kMGTPEZY";
  size_t I = 0;
  for (; I + 1 < Letters.size() && !(Bytes < Unit * Base); ++I)
    Unit *= Base;
  std::snprintf(Buffer, sizeof(Buffer), "%.1f %c%sB",
                Base * Bytes / (Unit * Base),
                Binary && I == 0 ? 'K' : Letters[I], Binary ? "i" : "");
  return Value::string(Buffer);
}

Value toJsonFilter(Context &C, const Value &V, const Arguments &A) {
  JsonStyle S;
  const Value *Indent = A.get(1, "indent");
  if (Indent && !Indent->isNone()) {
    S.Lines = true;
    S.Comma = ",";
    if (!Indent->isString() && !Indent->isInteger())
      return C.fail("tojson indent is of type " +
                    std::string(Indent->typeName()));
    S.Indent = Indent->isString()
                   ? Indent->asString()
                   : std::string(static_cast<size_t>(std::clamp<int64_t>(
                                     Indent->asInteger(), 0, 64)),
                                 ' ');
  }
  const Value *Separators = A.get(2, "separators");
  if (Separators && !Separators->isNone()) {
    if (Separators->items().size() != 2)
      return C.fail("tojson needs two separators");
    S.Comma = display(Separators->items()[0]);
    S.Colon = display(Separators->items()[1]);
  }
  if (S.Comma.size() > 16 || S.Colon.size() > 16 || S.Indent.size() > 64)
    return C.fail("tojson separators are longer than 16 bytes");
  S.Ascii = flagOf(A.get(0, "ensure_ascii"), false);
  S.SortKeys = flagOf(A.get(3, "sort_keys"), false);
  return toJson(C, V, S);
}

constexpr FilterEntry Table[] = {
    {"abs", "", absolute},
    {"d", "default_value boolean", defaultFilter},
    {"default", "default_value boolean", defaultFilter},
    {"filesizeformat", "binary", fileSize},
    {"float", "default", toReal},
    {"int", "default base", toInteger},
    {"pprint", "",
     [](Context &C, const Value &V, const Arguments &) {
       return Value::string(pretty(C, V));
     }},
    {"round", "precision method", roundFilter},
    {"tojson", "ensure_ascii indent separators sort_keys", toJsonFilter},
};

} // namespace

std::span<const FilterEntry> numberFilters() { return Table; }

} // namespace llmc::jinja
