// Panels to fragments: nothing is rounded here but a scale that the format
// holds as f16, which was f16 before.
#include "compiler/weights/PackFragments.h"

#include "compiler/kernels/FragmentFormat.h"
#include "runtime/base/Half.h"

#include <cstring>

namespace llmc {
namespace {

using kernels::ZeroKind;

/// Where the weight of a row and column of a step lies.
struct Place {
  uint64_t Lane; ///< of the warp
  uint64_t Half; ///< of the step: its first or second 32 columns
  uint64_t Part; ///< k16 product in it
  uint64_t Col;  ///< j
  uint64_t High; ///< row g + 8
};

Place placeOf(uint64_t Row, uint64_t Col) {
  return {Row % 8 * 4 + Col % 16 / 4, Col % 64 / 32, Col % 32 / 16, Col % 4,
          Row / 8};
}

void putCode(uint64_t Bits, const Place &P, uint8_t Code, uint8_t *Step) {
  if (Bits == 2) {
    uint64_t Pair = P.Part * 4 + P.High + P.Col / 2 * 2 + P.Col % 2 * 8;
    uint8_t &Byte = Step[P.Lane * 8 + P.Half * 4 + Pair / 4];
    Byte = static_cast<uint8_t>(Byte | Code << Pair % 4 * 2);
    return;
  }
  uint8_t *Lane = Step + P.Lane * 16;
  if (Bits == 8) {
    Lane[P.Half * 512 + P.Part * 8 + P.High * 4 + P.Col] = Code;
    return;
  }
  // Nibble of a0, a1, a2, a3 for the even j, then for the odd ones.
  uint64_t Nibble = P.High + P.Col / 2 * 2 + P.Col % 2 * 4;
  uint8_t &Byte = Lane[(P.Half * 2 + P.Part) * 4 + Nibble / 2];
  Byte = static_cast<uint8_t>(Byte | Code << Nibble % 2 * 4);
}

void putNumber(uint8_t *To, uint64_t Index, float Value, bool Half) {
  uint16_t H = floatToF16(Value);
  if (Half)
    std::memcpy(To + Index * 2, &H, 2);
  else
    std::memcpy(To + Index * 4, &Value, 4);
}
} // namespace

void putFragments(Layout L, uint64_t Cols, const CodePanel &Panel,
                  uint8_t *To) {
  int64_t Type = fragmentNumber(L), K = static_cast<int64_t>(Cols);
  kernels::WeightFormat F = formatOf(L);
  uint64_t StepBytes = static_cast<uint64_t>(kernels::fragmentStepBytes(Type));
  for (uint64_t C = 0; C < Cols; ++C)
    for (uint64_t R = 0; R < PanelRows; ++R)
      putCode(F.Bits, placeOf(R, C), Panel.Codes[C * PanelRows + R],
              To + C / 64 * StepBytes);
  uint8_t *Scales = To + kernels::fragmentScaleAt(Type, K);
  uint8_t *Zeros = To + kernels::fragmentZeroAt(Type, K);
  bool HasZeros = kernels::fragmentZeroBytes(Type) != 0;
  bool HalfZeros = kernels::fragmentZeroBytes(Type) == 2;
  for (uint64_t I = 0; I < Panel.Scales.size(); ++I) {
    uint64_t At = static_cast<uint64_t>(
        kernels::fragmentScaleIndex(Type, static_cast<int64_t>(I / PanelRows),
                                    static_cast<int64_t>(I % PanelRows)));
    putNumber(Scales, At, Panel.Scales[I], F.HalfScale);
    if (HasZeros)
      putNumber(Zeros, At, Panel.Zeros[I], HalfZeros);
  }
}

void putHalfFragments(uint64_t Cols, const uint16_t *Halves, uint8_t *To) {
  for (uint64_t C = 0; C < Cols; ++C)
    for (uint64_t R = 0; R < PanelRows; ++R) {
      Place P = placeOf(R, C);
      uint8_t *Line = To + (C / 64 * 4 + P.Half * 2 + P.Part) * 512;
      // a0 … a3 of two halves each.
      uint64_t Slot = (P.High + P.Col / 2 * 2) * 2 + P.Col % 2;
      std::memcpy(Line + P.Lane * 16 + Slot * 2, &Halves[C * PanelRows + R], 2);
    }
}

} // namespace llmc
