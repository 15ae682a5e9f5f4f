// cvt: PTX ISA "Data Movement and Conversion Instructions: cvt". A conversion
// is a chain of steps: source to f32, f64 or s64, then to the result's type,
// then to the width of the register.
#include "tools/cudasim/program/LowerTools.h"

namespace llmc::cudasim {
namespace {

struct CvtModifiers {
  RoundingMode Round = RoundNearest;
  bool Integer = false; ///< .rni .rzi .rmi .rpi
  bool Ftz = false, Sat = false, Relu = false, Finite = false, Away = false;
};

CvtModifiers takeModifiers(Modifiers &Mod) {
  CvtModifiers M;
  static const std::pair<const char *, RoundingMode> Integers[] = {
      {"rni", RoundNearest},
      {"rzi", RoundZero},
      {"rmi", RoundDown},
      {"rpi", RoundUp}};
  for (auto [Name, Mode] : Integers)
    if (Mod.take(Name)) {
      M.Integer = true;
      M.Round = Mode;
    }
  if (!M.Integer)
    M.Round = takeRounding(Mod);
  M.Away = Mod.take("rna");
  M.Ftz = Mod.take("ftz");
  M.Finite = Mod.take("satfinite");
  M.Sat = Mod.take("sat");
  M.Relu = Mod.take("relu");
  return M;
}

/// An integer of type T in a register as 32-bit or 64-bit lanes with the right
/// upper bits. Wide says which.
Value extended(Lowering &L, Value V, Type T, bool Wide) {
  bool Was = L.isWide(V);
  if (T.Bits < 32) {
    if (Was) {
      Value To = L.temp(32);
      L.emit(Op::U32FromU64, To, V);
      V = To;
    }
    Value To = L.temp(32);
    L.emit(T.Bits == 8 ? (T.isSigned() ? Op::ExtS8 : Op::ExtU8)
                       : (T.isSigned() ? Op::ExtS16 : Op::ExtU16),
           To, V);
    V = To;
  } else if (T.Bits == 32 && Was) {
    Value To = L.temp(32);
    L.emit(Op::U32FromU64, To, V);
    V = To;
  }
  if (!Wide || T.Bits == 64)
    return V;
  Value To = L.temp(64);
  L.emit(T.isSigned() ? Op::S64FromS32 : Op::U64FromU32, To, V);
  return To;
}

/// An integer of type T, in lanes of 32 bits (64 for 64-bit types) with any
/// upper bits, into register D: extended by T's sign to the register's width.
void storeInteger(Lowering &L, Value D, Value V, Type T,
                  unsigned RegisterBits) {
  bool Wide = RegisterBits == 64;
  if (T.Bits == 64) {
    L.emit(Op::Mov64, D, V);
  } else if (T.Bits == 32) {
    L.emit(!Wide          ? Op::Mov32
           : T.isSigned() ? Op::S64FromS32
                          : Op::U64FromU32,
           D, V);
  } else {
    Op Extend = T.Bits == 8 ? (T.isSigned() ? Op::ExtS8 : Op::ExtU8)
                            : (T.isSigned() ? Op::ExtS16 : Op::ExtU16);
    // 16-bit registers are kept zero-extended.
    if (RegisterBits == 16)
      Extend =
          T.Bits == 8 ? (T.isSigned() ? Op::ExtS8To16 : Op::ExtU8) : Op::ExtU16;
    if (!Wide)
      return L.emit(Extend, D, V), void();
    Value Narrow = L.temp(32);
    L.emit(Extend, Narrow, V);
    L.emit(T.isSigned() ? Op::S64FromS32 : Op::U64FromU32, D, Narrow);
  }
}

void integerToInteger(Lowering &L, const CvtModifiers &M, Type To, Type From,
                      Value D, Value A, unsigned RegisterBits) {
  if (M.Sat) {
    Value V = extended(L, A, From, true);
    bool Huge = From.Bits == 64 && !From.isSigned();
    if (To.Bits == 64) {
      if (From.isSigned() && !To.isSigned())
        L.emit(Op::MaxS64, V, V, L.constant(0, true));
      else if (Huge && To.isSigned())
        L.emit(Op::ClampU64ToS64, V, V);
      return L.emit(Op::Mov64, D, V), void();
    }
    if (Huge) {
      Value Small = L.temp(64);
      L.emit(Op::ClampU64ToS64, Small, V);
      V = Small;
    }
    static const Op Unsigned[] = {Op::ClampU8, Op::ClampU16, Op::ClampU32},
                    Signed[] = {Op::ClampS8, Op::ClampS16, Op::ClampS32};
    unsigned I = To.Bits == 8 ? 0 : To.Bits == 16 ? 1 : 2;
    Value C = L.temp(64), N = L.temp(32);
    L.emit((To.isSigned() ? Signed : Unsigned)[I], C, V);
    L.emit(Op::U32FromU64, N, C);
    return storeInteger(L, D, N, To, RegisterBits);
  }
  // The common single steps first.
  if (To.Bits == 64)
    return storeInteger(L, D, extended(L, A, From, true), To, RegisterBits);
  if (L.isWide(A)) {
    if (To.Bits == 32 && RegisterBits == 32)
      return L.emit(Op::U32FromU64, D, A), void();
    Value N = L.temp(32);
    L.emit(Op::U32FromU64, N, A);
    A = N;
  }
  if (From.Bits < To.Bits)
    A = extended(L, A, From, false);
  storeInteger(L, D, A, To, RegisterBits);
}

/// Any source as f32, or f64 with Wide.
Value asFloat(Lowering &L, const CvtModifiers &M, Type From, Value A, bool Wide,
              RoundingMode Round) {
  Value To = L.temp(Wide ? 64 : 32);
  if (From.isFloat()) {
    if (From.Bits == 16)
      A = widenHalf(L, A, From);
    if (M.Ftz && From.Bits == 32) {
      Value F = L.temp(32);
      L.emit(Op::FlushF32, F, A);
      A = F;
    }
    bool FromWide = From.Bits == 64;
    if (FromWide == Wide)
      return A;
    if (Wide)
      L.emit(Op::F64FromF32, To, A);
    else
      emitRounded(L, Round, Op::F32FromF64, To, A);
    return To;
  }
  bool Long = From.Bits == 64;
  if (From.Bits == 16 && !L.isWide(A)) {
    L.emit(Wide ? (From.isSigned() ? Op::F64FromS16 : Op::F64FromU16)
                : (From.isSigned() ? Op::F32FromS16 : Op::F32FromU16),
           To, A);
    return To;
  }
  Value V = extended(L, A, From, Long);
  Op O = Wide ? (From.isSigned() ? (Long ? Op::F64FromS64 : Op::F64FromS32)
                                 : (Long ? Op::F64FromU64 : Op::F64FromU32))
              : (From.isSigned() ? (Long ? Op::F32FromS64 : Op::F32FromS32)
                                 : (Long ? Op::F32FromU64 : Op::F32FromU32));
  emitRounded(L, Round, O, To, V);
  return To;
}

Value roundedToInteger(Lowering &L, RoundingMode Mode, Value V, bool Wide) {
  static const Op Single[] = {Op::RniF32, Op::RziF32, Op::RmiF32, Op::RpiF32};
  static const Op Double[] = {Op::RniF64, Op::RziF64, Op::RmiF64, Op::RpiF64};
  Value To = L.temp(Wide ? 64 : 32);
  L.emit((Wide ? Double : Single)[Mode], To, V);
  return To;
}

void floatToInteger(Lowering &L, const CvtModifiers &M, Type To, Type From,
                    Value D, Value A, unsigned RegisterBits) {
  bool Wide = From.Bits == 64;
  Value F = asFloat(L, M, From, A, Wide, RoundNearest);
  if (M.Round != RoundZero)
    F = roundedToInteger(L, M.Round, F, Wide);
  // Out of range gives the nearest number of the type, NaN gives 0.
  if (To.Bits == 64 || To.Bits == 32) {
    bool Long = To.Bits == 64;
    Op O = Wide ? (To.isSigned() ? (Long ? Op::S64FromF64 : Op::S32FromF64)
                                 : (Long ? Op::U64FromF64 : Op::U32FromF64))
                : (To.isSigned() ? (Long ? Op::S64FromF32 : Op::S32FromF32)
                                 : (Long ? Op::U64FromF32 : Op::U32FromF32));
    if (RegisterBits == To.Bits)
      return L.emit(O, D, F), void();
    Value V = L.temp(To.Bits);
    L.emit(O, V, F);
    return storeInteger(L, D, V, To, RegisterBits);
  }
  Value V = L.temp(64), N = L.temp(32);
  L.emit(Wide ? Op::S64FromF64 : Op::S64FromF32, V, F);
  L.emit(To.isSigned() ? (To.Bits == 8 ? Op::ClampS8 : Op::ClampS16)
                       : (To.Bits == 8 ? Op::ClampU8 : Op::ClampU16),
         V, V);
  L.emit(Op::U32FromU64, N, V);
  storeInteger(L, D, N, To, RegisterBits);
}

void toHalf(Lowering &L, const CvtModifiers &M, Type To, Value D,
            Value Single) {
  if (M.Sat || M.Relu) {
    Value V = L.temp(32);
    L.emit(M.Sat ? Op::SatF32 : Op::ReluF32, V, Single);
    Single = V;
  }
  bool Bf = To.Kind == Meaning::BFloat, Zero = M.Round == RoundZero;
  L.emit(Bf ? (Zero ? Op::Bf16FromF32Rz : Op::Bf16FromF32)
            : (Zero ? Op::F16FromF32Rz : Op::F16FromF32),
         D, Single);
}

void toFloat(Lowering &L, const CvtModifiers &M, Type To, Type From, Value D,
             Value A) {
  bool Wide = To.Bits == 64;
  // To a half by way of f32; from f64 that rounds to odd first, see below.
  if (To.Bits == 16 && From.Bits == 64 && From.isFloat()) {
    // Truncation keeps enough bits when the last one is sticky.
    Value Toward = L.temp(32), Back = L.temp(64), Inexact = L.temp(32);
    emitRounded(L, RoundZero, Op::F32FromF64, Toward, A);
    L.emit(Op::F64FromF32, Back, Toward);
    L.emit(Op::SetpNeF64, Inexact, Back, A);
    L.emit(Op::PredToOne, Inexact, Inexact);
    L.emit(Op::OrB32, Toward, Toward, Inexact);
    return toHalf(L, M, To, D, Toward);
  }
  RoundingMode Round = M.Integer || To.Bits == 16 ? RoundNearest : M.Round;
  Value F = asFloat(L, M, From, A, Wide, Round);
  if (M.Integer)
    F = roundedToInteger(L, M.Round, F, Wide);
  if (To.Bits == 16)
    return toHalf(L, M, To, D, F);
  if (M.Sat)
    L.emit(Wide ? Op::SatF64 : Op::SatF32, D, F);
  else if (M.Relu)
    L.emit(Op::ReluF32, D, F);
  else
    L.emit(Wide ? Op::Mov64 : Op::Mov32, D, F);
  if (M.Ftz && !Wide)
    L.emit(Op::FlushF32, D, D);
}

/// cvt.rn.f16x2.f32 d, a, b: a becomes the high half.
void twoToPacked(Lowering &L, const Statement &S, const CvtModifiers &M,
                 Type To) {
  Value High = L.temp(16), Low = L.temp(16);
  Value A = L.source(S.Operands.at(1), 32), B = L.source(S.Operands.at(2), 32);
  toHalf(L, M, To, High, A);
  toHalf(L, M, To, Low, B);
  L.emit(Op::Pack32, L.result(S.Operands.at(0), 32), Low, High);
}

/// e4m3x2 and e5m2x2, to and from; tf32.
bool narrowFormats(Lowering &L, const Statement &S, Modifiers &Mod,
                   const CvtModifiers &M) {
  if (Mod.take("tf32")) {
    Mod.take("f32");
    Mod.finish();
    L.emit(M.Away                 ? Op::Tf32FromF32Rna
           : M.Round == RoundZero ? Op::Tf32FromF32Rz
                                  : Op::Tf32FromF32Rn,
           L.result(S.Operands.at(0), 32), L.source(S.Operands.at(1), 32));
    return true;
  }
  std::string First = Mod.peek();
  bool E4 = Mod.take("e4m3x2"), E5 = Mod.take("e5m2x2");
  if (!E4 && !E5)
    return false;
  Type T = Mod.type();
  Mod.finish();
  bool To8 = First == "e4m3x2" || First == "e5m2x2";
  Value D = L.result(S.Operands.at(0), To8 ? 16 : 32), Halves[2];
  for (unsigned H = 0; H != 2; ++H) {
    Halves[H] = L.temp(32);
    if (!To8) {
      Value In = L.source(S.Operands.at(1), 16), Byte = L.temp(32);
      Value F = L.temp(32);
      if (H == 0)
        L.emit(Op::ExtU8, Byte, In);
      else
        L.emit(Op::ShrU32, Byte, In, L.constant(8, false));
      L.emit(E4 ? Op::F32FromE4m3 : Op::F32FromE5m2, F, Byte);
      toHalf(L, M, T, Halves[H], F);
      continue;
    }
    Value F = NoValue;
    if (T.Count == 2) {
      Value In = L.source(S.Operands.at(1), 32), Half = L.temp(16);
      L.emit(H ? Op::High16 : Op::ExtU16, Half, In);
      F = widenHalf(L, Half, T);
    } else {
      F = L.source(S.Operands.at(H == 0 ? 2 : 1), 32);
    }
    if (M.Relu) {
      Value R = L.temp(32);
      L.emit(Op::ReluF32, R, F);
      F = R;
    }
    L.emit(E4 ? Op::E4m3FromF32 : Op::E5m2FromF32, Halves[H], F);
  }
  if (!To8)
    return L.emit(Op::Pack32, D, Halves[0], Halves[1]), true;
  Value High = L.temp(32);
  L.emit(Op::ShlB32, High, Halves[1], L.constant(8, false));
  L.emit(Op::OrB32, D, High, Halves[0]);
  return true;
}

void convert(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  CvtModifiers M = takeModifiers(Mod);
  if (Mod.take("pack"))
    Mod.fail("modifier '.pack' is not supported");
  if (narrowFormats(L, S, Mod, M))
    return;
  Type To = Mod.type(), From = Mod.type();
  Mod.finish();
  if (To.Count == 2)
    return twoToPacked(L, S, M, To);
  if (To.Bits > 64 || From.Bits > 64 || To.Kind == Meaning::Pred)
    Mod.fail("no such type");
  // Registers may be wider than the types.
  const Operand &Source = S.Operands.at(1);
  Value A =
      Source.What == Operand::Register ? L.reg(Source) : L.source(Source, From);
  Value D = L.reg(S.Operands.at(0));
  unsigned RegisterBits = L.isWide(D) ? 64 : L.registerBits(D);
  if (L.isWide(A) && From.isFloat() && From.Bits != 64)
    Mod.fail("the source register is too wide");
  if (!To.isFloat() && !From.isFloat())
    return integerToInteger(L, M, To, From, D, A, RegisterBits);
  if (!To.isFloat())
    return floatToInteger(L, M, To, From, D, A, RegisterBits);
  if ((To.Bits == 64) != (RegisterBits == 64))
    Mod.fail("the result register is too wide");
  toFloat(L, M, To, From, D, A);
}
} // namespace

void addConvertLowerings(LowerTable &T) { T["cvt"] = convert; }

} // namespace llmc::cudasim
