// Small helpers of the Lower*.cpp.
#ifndef LLMC_TOOLS_CUDASIM_PROGRAM_LOWERTOOLS_H
#define LLMC_TOOLS_CUDASIM_PROGRAM_LOWERTOOLS_H

#include "tools/cudasim/program/Lowering.h"

/// The operations of 16, 32 and 64 bits.
#define SIM_WIDTHS(Name) {Op::Name##16, Op::Name##32, Op::Name##64}

namespace llmc::cudasim {

inline unsigned widthIndex(Type T) {
  return T.Bits == 64 ? 2 : T.Bits == 32 ? 1 : 0;
}
/// Integer arithmetic is on one element of 16, 32 or 64 bits.
inline void requireWidth(const Modifiers &Mod, Type T) {
  if (T.Count != 1 || (T.Bits != 16 && T.Bits != 32 && T.Bits != 64) ||
      T.isFloat())
    Mod.fail("no such type");
}

/// Lowers add, sub, mul, fma, mad, div, min, max, neg, abs of a floating type;
/// false, and nothing done, for other types.
bool floatArithmetic(Lowering &L, const Statement &S);

/// Rounding modes of SetRounding, in Imm.
enum RoundingMode { RoundNearest, RoundZero, RoundDown, RoundUp };
/// Takes .rn .rz .rm .rp; RoundNearest without one.
RoundingMode takeRounding(Modifiers &Mod);
/// Emits the operation under a rounding mode.
void emitRounded(Lowering &L, RoundingMode Mode, Op O, Value D,
                 Value A = NoValue, Value B = NoValue, Value C = NoValue);

/// A 16-bit value of type T as f32, and back with one rounding.
Value widenHalf(Lowering &L, Value Half, Type T);
void narrowHalf(Lowering &L, Value D, Value Single, Type T);

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_PROGRAM_LOWERTOOLS_H
