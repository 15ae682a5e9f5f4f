// Layout of numbers and texts in fields, with Python's rules.
#include "runtime/text/jinja/FormatField.h"

#include "runtime/text/jinja/Value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace llmc::jinja {

std::string padTo(std::string S, const Field &F, char Align) {
  int64_t Missing = F.Width - static_cast<int64_t>(characterCount(S));
  if (Missing <= 0)
    return S;
  int64_t Left = Align == '<' ? 0 : Align == '^' ? Missing / 2 : Missing;
  std::string Out;
  size_t Prefix = 0; // sign and 0x stay in front of zeros
  if (Align == '=') {
    Prefix = S.find_first_not_of("+- ");
    if (S.compare(Prefix, 1, "0") == 0 && F.Alternate && S.size() > Prefix + 1)
      Prefix += 2;
    Out = S.substr(0, Prefix);
  }
  for (int64_t I = 0; I < Left; ++I)
    Out += F.Fill;
  Out += S.substr(Prefix);
  for (int64_t I = Left; I < Missing; ++I)
    Out += F.Fill;
  return Out;
}

namespace {

/// Separators between groups of the digits that S begins with.
std::string grouped(const std::string &S, char With, size_t Size) {
  size_t Digits = S.find_first_not_of("0123456789abcdefABCDEF");
  if (Size == 3)
    Digits = S.find_first_not_of("0123456789");
  Digits = std::min(Digits, S.size());
  std::string Out;
  for (size_t I = 0; I < S.size(); ++I) {
    if (I > 0 && I < Digits && (Digits - I) % Size == 0)
      Out += With;
    Out += S[I];
  }
  return Out;
}

/// Zeros that fill the width count into the groups.
std::string withZeros(std::string Body, const Field &F, size_t Taken,
                      size_t Size) {
  if (F.Grouping == 0)
    return Body;
  std::string Out = grouped(Body, F.Grouping, Size);
  if (F.Align != '=' || F.Fill != "0")
    return Out;
  while (static_cast<int64_t>(Out.size() + Taken) < F.Width) {
    Body.insert(0, 1, '0');
    Out = grouped(Body, F.Grouping, Size);
  }
  return Out;
}

std::string signOf(bool Negative, const Field &F) {
  return Negative ? "-" : F.Sign == '-' ? "" : std::string(1, F.Sign);
}

std::string realDigits(double D, const Field &F) {
  char Buffer[1024];
  int Precision = static_cast<int>(F.Precision < 0 ? 6 : F.Precision);
  if (F.Type == 0 && F.Precision < 0)
    return realText(D);
  char Type = F.Type == 0 || F.Type == 'n' ? 'g' : F.Type == '%' ? 'f' : F.Type;
  if (Type == 'g' || Type == 'G')
    Precision = std::max(Precision, 1);
  std::string Spec = std::string("%") + (F.Alternate ? "#" : "") + ".*" + Type;
  std::snprintf(Buffer, sizeof(Buffer), Spec.c_str(), Precision, D);
  std::string S = Buffer;
  // Without a type Python keeps one digit behind the point, and turns to an
  // exponent one digit earlier.
  if (F.Type == 0) {
    int Exponent = D == 0 ? 0 : static_cast<int>(std::floor(std::log10(D)));
    size_t E = S.find('e');
    if (E == std::string::npos && Exponent >= Precision - 1 && D >= 1 &&
        S.find('.') == std::string::npos && Exponent + 1 >= Precision) {
      std::snprintf(Buffer, sizeof(Buffer), "%.*e", Precision - 1, D);
      S = Buffer;
      E = S.find('e');
      std::string Head = S.substr(0, E);
      if (Head.find('.') != std::string::npos) {
        Head.erase(Head.find_last_not_of('0') + 1);
        if (Head.back() == '.')
          Head.pop_back();
      }
      S = Head + S.substr(E);
    } else if (E == std::string::npos && S.find('.') == std::string::npos) {
      S += ".0";
    }
  }
  return S;
}

} // namespace

std::string wholeText(int64_t I, const Field &F) {
  uint64_t Size =
      I < 0 ? 0 - static_cast<uint64_t>(I) : static_cast<uint64_t>(I);
  int Base = F.Type == 'x' || F.Type == 'X' ? 16
             : F.Type == 'o'                ? 8
             : F.Type == 'b'                ? 2
                                            : 10;
  char Buffer[80];
  std::string S(Buffer,
                std::to_chars(Buffer, Buffer + sizeof(Buffer), Size, Base).ptr);
  std::string Sign = signOf(I < 0, F);
  if (F.Alternate && Base != 10)
    Sign += std::string("0") + F.Type;
  if (F.Type == 'X')
    for (char &C : S)
      C = static_cast<char>(std::toupper(static_cast<unsigned char>(C)));
  S = withZeros(std::move(S), F, Sign.size(), Base == 10 ? 3 : 4);
  return padTo(Sign + S, F, F.Align ? F.Align : '>');
}

std::string realField(double D, const Field &F) {
  bool Negative = std::signbit(D) && !std::isnan(D);
  if (F.Type == '%')
    D *= 100;
  std::string S;
  if (!std::isfinite(D)) {
    S = std::isnan(D) ? "nan" : "inf";
    if (F.Type == 'F' || F.Type == 'E' || F.Type == 'G')
      S = std::isnan(D) ? "NAN" : "INF";
  } else {
    S = realDigits(std::fabs(D), F);
  }
  if (F.Type == '%')
    S += '%';
  std::string Sign = signOf(Negative, F);
  S = withZeros(std::move(S), F, Sign.size(), 3);
  return padTo(Sign + S, F, F.Align ? F.Align : '>');
}

} // namespace llmc::jinja
