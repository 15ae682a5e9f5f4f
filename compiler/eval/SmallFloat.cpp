// Floats of 8 and 4 bits: one description per type, one algorithm for all.
#include "compiler/eval/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmc::eval {

namespace {
/// 1 sign bit, then Exponent and Mantissa bits. MinExponent is that of the
/// smallest normal number.
struct Format {
  int Exponent, Mantissa, MinExponent;
  double Largest;
  uint8_t NaN;      ///< code of a positive NaN
  uint8_t Overflow; ///< what is too large without saturation
  bool Unsigned0;   ///< one zero only; its negative is NaN
};
} // namespace

static Format formatOf(DType T) {
  switch (T) {
  case DType::F8E4M3FNUZ:
    return {4, 3, -7, 240, 0x80, 0x80, true};
  case DType::F8E5M2:
    return {5, 2, -14, 57344, 0x7e, 0x7c, false};
  case DType::F8E5M2FNUZ:
    return {5, 2, -15, 57344, 0x80, 0x80, true};
  case DType::F4E2M1: // neither NaN nor infinity
    return {2, 1, 0, 6, 0x8, 0x7, false};
  default: // F8E4M3
    return {4, 3, -6, 448, 0x7f, 0x7f, false};
  }
}

bool isSmallFloat(DType T) {
  switch (T) {
  case DType::F8E4M3:
  case DType::F8E5M2:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0:
  case DType::F4E2M1:
    return true;
  default:
    return false;
  }
}

double smallFloatValue(DType T, uint8_t Code) {
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
  if (T == DType::F8E8M0)
    return Code == 0xff ? NaN : std::ldexp(1.0, Code - 127);
  Format F = formatOf(T);
  int Bits = F.Exponent + F.Mantissa;
  int Sign = (Code >> Bits) & 1, Rest = Code & ((1 << Bits) - 1);
  if (F.Unsigned0 && Sign && Rest == 0)
    return NaN;
  int Field = Rest >> F.Mantissa, Fraction = Rest & ((1 << F.Mantissa) - 1);
  double Magnitude = Field == 0
                         ? std::ldexp(Fraction, F.MinExponent - F.Mantissa)
                         : std::ldexp(Fraction + (1 << F.Mantissa),
                                      F.MinExponent + Field - 1 - F.Mantissa);
  if (T == DType::F8E5M2 && Field == 31)
    Magnitude = Fraction ? NaN : std::numeric_limits<double>::infinity();
  if (T == DType::F8E4M3 && Rest == 0x7f)
    Magnitude = NaN;
  return Sign ? -Magnitude : Magnitude;
}

/// Exponent only, no sign: what is not positive has no good code.
static uint8_t toPowerOfTwo(double X, bool Saturate, PowerRounding Rounding) {
  constexpr uint8_t NaN = 0xff, Largest = 0xfe;
  if (std::isnan(X))
    return NaN;
  if (!(X > 0))
    return Saturate ? 0 : NaN;
  if (std::isinf(X))
    return Saturate ? Largest : NaN;
  int Exponent = std::ilogb(X);
  double Fraction = std::ldexp(X, -Exponent); // in [1, 2)
  if (Rounding == PowerRounding::Up
          ? Fraction > 1
          : Rounding == PowerRounding::Nearest && Fraction >= 1.5)
    ++Exponent;
  int Code = Exponent + 127;
  if (Code < 0 || Code > Largest)
    return Saturate ? (Code < 0 ? 0 : Largest) : NaN;
  return static_cast<uint8_t>(Code);
}

uint8_t toSmallFloat(DType T, double X, bool Saturate, PowerRounding Rounding) {
  if (T == DType::F8E8M0)
    return toPowerOfTwo(X, Saturate, Rounding);
  Format F = formatOf(T);
  int SignBit = std::signbit(X) ? 1 << (F.Exponent + F.Mantissa) : 0;
  const auto Signed = [&](int Code) {
    return static_cast<uint8_t>(F.Unsigned0 && Code == 0 ? 0 : Code | SignBit);
  };
  if (std::isnan(X))
    return F.Unsigned0 ? F.NaN : Signed(F.NaN);
  double Magnitude = std::fabs(X);
  bool TooLarge = std::isinf(Magnitude);
  int Code = 0;
  if (!TooLarge && Magnitude > 0) {
    // Steps of the mantissa at this exponent; a carry out of the mantissa goes
    // into the exponent field by itself.
    int Exponent = std::max(std::ilogb(Magnitude), F.MinExponent);
    double Steps = std::nearbyint(std::ldexp(Magnitude, F.Mantissa - Exponent));
    TooLarge = std::ldexp(Steps, Exponent - F.Mantissa) > F.Largest;
    if (!TooLarge)
      Code =
          ((Exponent - F.MinExponent) << F.Mantissa) + static_cast<int>(Steps);
  }
  if (!TooLarge)
    return Signed(Code);
  if (Saturate || T == DType::F4E2M1)
    return Signed(toSmallFloat(T, F.Largest));
  return F.Unsigned0 ? F.Overflow : Signed(F.Overflow);
}

} // namespace llmc::eval
