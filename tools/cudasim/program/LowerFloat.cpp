// Floating point arithmetic. `.ftz` and `.sat` become steps of their own around
// the operation; halves are computed in f32, whose 24 bits make the second
// rounding harmless for + - * (only fma needs its own operation); packed types
// are taken apart and put together.
#include "tools/cudasim/program/LowerTools.h"

namespace llmc::cudasim {

RoundingMode takeRounding(Modifiers &Mod) {
  if (Mod.take("rz"))
    return RoundZero;
  if (Mod.take("rm"))
    return RoundDown;
  if (Mod.take("rp"))
    return RoundUp;
  Mod.take("rn");
  return RoundNearest;
}

void emitRounded(Lowering &L, RoundingMode Mode, Op O, Value D, Value A,
                 Value B, Value C) {
  if (Mode == RoundNearest)
    return L.emit(O, D, A, B, C), void();
  L.emit(Op::SetRounding, NoValue).Imm = Mode;
  L.emit(O, D, A, B, C);
  L.emit(Op::SetRounding, NoValue).Imm = RoundNearest;
}

Value widenHalf(Lowering &L, Value Half, Type T) {
  Value To = L.temp(32);
  L.emit(T.Kind == Meaning::BFloat ? Op::F32FromBf16 : Op::F32FromF16, To,
         Half);
  return To;
}
void narrowHalf(Lowering &L, Value D, Value Single, Type T) {
  L.emit(T.Kind == Meaning::BFloat ? Op::Bf16FromF32 : Op::F16FromF32, D,
         Single);
}

namespace {

struct FloatModifiers {
  RoundingMode Round = RoundNearest;
  bool Ftz = false, Sat = false, Relu = false, Nan = false, Approx = false,
       Full = false;
};

/// What an instruction does to f32, f64 and the halves.
struct FloatOp {
  Op F32, F64;
  bool Half = false; ///< exists for halves
};

std::optional<FloatOp> operation(const std::string &Name,
                                 const FloatModifiers &M) {
  if (Name == "add")
    return FloatOp{Op::AddF32, Op::AddF64, true};
  if (Name == "sub")
    return FloatOp{Op::SubF32, Op::SubF64, true};
  if (Name == "mul")
    return FloatOp{Op::MulF32, Op::MulF64, true};
  if (Name == "fma" || Name == "mad")
    return FloatOp{Op::FmaF32, Op::FmaF64, true};
  if (Name == "div")
    return FloatOp{M.Approx || M.Full ? Op::DivApprox : Op::DivF32, Op::DivF64};
  if (Name == "min")
    return FloatOp{M.Nan ? Op::MinNanF32 : Op::MinF32,
                   M.Nan ? Op::MinNanF64 : Op::MinF64, true};
  if (Name == "max")
    return FloatOp{M.Nan ? Op::MaxNanF32 : Op::MaxF32,
                   M.Nan ? Op::MaxNanF64 : Op::MaxF64, true};
  return std::nullopt;
}

Value flushed(Lowering &L, Value V, bool Ftz) {
  if (!Ftz || V == NoValue)
    return V;
  Value To = L.temp(32);
  L.emit(Op::FlushF32, To, V);
  return To;
}

/// One element of 32 or 64 bits.
void emitSingle(Lowering &L, Op O, const FloatModifiers &M, Type T, Value D,
                std::array<Value, 3> In) {
  bool Ftz = M.Ftz && T.Bits == 32;
  for (Value &V : In)
    V = flushed(L, V, Ftz);
  emitRounded(L, M.Round, O, D, In[0], In[1], In[2]);
  if (Ftz)
    L.emit(Op::FlushF32, D, D);
  if (M.Sat)
    L.emit(T.Bits == 64 ? Op::SatF64 : Op::SatF32, D, D);
}

/// One half.
void emitHalf(Lowering &L, const std::string &Name, Op O,
              const FloatModifiers &M, Type T, Value D,
              std::array<Value, 3> In) {
  if (Name == "fma") {
    bool Bf = T.Kind == Meaning::BFloat;
    L.emit(Bf ? Op::FmaBf16 : Op::FmaF16, D, In[0], In[1], In[2]);
    if (!M.Sat && !M.Relu)
      return;
    Value Single = widenHalf(L, D, T);
    L.emit(M.Sat ? Op::SatF32 : Op::ReluF32, Single, Single);
    return narrowHalf(L, D, Single, T);
  }
  for (Value &V : In)
    if (V != NoValue)
      V = widenHalf(L, V, T);
  Value Single = L.temp(32);
  L.emit(O, Single, In[0], In[1], In[2]);
  if (M.Sat)
    L.emit(Op::SatF32, Single, Single);
  if (M.Relu)
    L.emit(Op::ReluF32, Single, Single);
  narrowHalf(L, D, Single, T);
}

void emitPacked(Lowering &L, const std::string &Name, Op O,
                const FloatModifiers &M, Type T, Value D,
                std::array<Value, 3> In) {
  Value Halves[2];
  for (unsigned H = 0; H != 2; ++H) {
    std::array<Value, 3> Part = In;
    for (Value &V : Part)
      if (V != NoValue) {
        Value To = L.temp(16);
        L.emit(H == 0 ? Op::ExtU16 : Op::High16, To, V);
        V = To;
      }
    Halves[H] = L.temp(16);
    emitHalf(L, Name, O, M, T, Halves[H], Part);
  }
  L.emit(Op::Pack32, D, Halves[0], Halves[1]);
}

/// neg and abs change the sign bit alone (for .ftz after flushing).
void signBit(Lowering &L, const Statement &S, Modifiers &Mod, Type T,
             bool Ftz) {
  Mod.finish();
  bool Neg = S.Opcode[0] == "neg", Wide = T.total() == 64;
  uint64_t Sign = T.Count == 2   ? 0x80008000u
                  : T.Bits == 16 ? 0x8000u
                  : Wide         ? uint64_t{1} << 63
                                 : 0x80000000u;
  Value A = L.source(S.Operands.at(1), T);
  Value D = L.result(S.Operands.at(0), T.total());
  A = flushed(L, A, Ftz && T.Bits == 32);
  if (Neg)
    L.emit(Wide ? Op::XorB64 : Op::XorB32, D, A, L.constant(Sign, Wide));
  else
    L.emit(Wide ? Op::AndB64 : Op::AndB32, D, A,
           L.constant(Wide ? ~Sign : ~Sign & (T.total() == 16 ? 0xffffu : ~0u),
                      Wide));
}

FloatModifiers takeModifiers(Modifiers &Mod) {
  FloatModifiers M;
  M.Approx = Mod.take("approx");
  M.Full = Mod.take("full");
  M.Round = takeRounding(Mod);
  M.Ftz = Mod.take("ftz");
  M.Sat = Mod.take("sat");
  M.Relu = Mod.take("relu");
  M.Nan = Mod.take("NaN");
  Mod.take("rna");
  return M;
}

/// ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt.
void function(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  FloatModifiers M = takeModifiers(Mod);
  Type T = Mod.type();
  Mod.finish();
  const std::string &N = S.Opcode[0];
  Value A = L.source(S.Operands.at(1), T);
  Value D = L.result(S.Operands.at(0), T.total());
  if (T.Bits == 64) {
    if (N != "sqrt" && N != "rcp" && N != "rsqrt")
      Mod.fail("no such type");
    Op O = N == "sqrt"  ? Op::SqrtF64
           : N == "rcp" ? Op::RcpF64
                        : Op::RsqrtApproxF64;
    return emitRounded(L, M.Round, O, D, A);
  }
  Op O = N == "ex2"     ? Op::Ex2Approx
         : N == "lg2"   ? Op::Lg2Approx
         : N == "sin"   ? Op::SinApprox
         : N == "cos"   ? Op::CosApprox
         : N == "tanh"  ? Op::TanhApprox
         : N == "rsqrt" ? Op::RsqrtApprox
         : N == "rcp"   ? (M.Approx ? Op::RcpApprox : Op::RcpF32)
                        : (M.Approx ? Op::SqrtApprox : Op::SqrtF32);
  if (T.Bits == 32)
    return emitSingle(L, O, M, T, D, {A, NoValue, NoValue});
  if (T.Count == 2)
    return emitPacked(L, N, O, M, T, D, {A, NoValue, NoValue});
  emitHalf(L, N, O, M, T, D, {A, NoValue, NoValue});
}

void copySign(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Type T = Mod.type();
  Mod.finish();
  L.emit(T.Bits == 64 ? Op::CopysignF64 : Op::CopysignF32,
         L.result(S.Operands.at(0), T.Bits), L.source(S.Operands.at(1), T),
         L.source(S.Operands.at(2), T));
}

void fusedMultiplyAdd(Lowering &L, const Statement &S) {
  if (!floatArithmetic(L, S))
    L.fail("fma: no such type");
}
} // namespace

bool floatArithmetic(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  FloatModifiers M = takeModifiers(Mod);
  if (!Mod.isType())
    return false;
  Type T = Mod.type();
  if (!T.isFloat())
    return false;
  const std::string &N = S.Opcode[0];
  if (N == "neg" || N == "abs")
    return signBit(L, S, Mod, T, M.Ftz), true;
  std::optional<FloatOp> O = operation(N, M);
  if (!O || (T.Bits == 16 && !O->Half))
    Mod.fail("no such type");
  Mod.finish();
  std::array<Value, 3> In = {L.source(S.Operands.at(1), T),
                             L.source(S.Operands.at(2), T), NoValue};
  if (N == "fma" || N == "mad" || S.Operands.size() > 3)
    In[2] = L.source(S.Operands.at(3), T);
  Value D = L.result(S.Operands.at(0), T.total());
  if (S.Operands.size() > 3 && (N == "min" || N == "max")) {
    // Three operands, from sm_100 on.
    Value Two = L.temp(T.total());
    emitSingle(L, O->F32, M, T, Two, {In[0], In[1], NoValue});
    In = {Two, In[2], NoValue};
  }
  if (T.Bits >= 32)
    emitSingle(L, T.Bits == 64 ? O->F64 : O->F32, M, T, D, In);
  else if (T.Count == 2)
    emitPacked(L, N, O->F32, M, T, D, In);
  else
    emitHalf(L, N, O->F32, M, T, D, In);
  return true;
}

void addFloatLowerings(LowerTable &T) {
  T["fma"] = fusedMultiplyAdd;
  for (const char *Name :
       {"ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt"})
    T[Name] = function;
  T["copysign"] = copySign;
}

} // namespace llmc::cudasim
