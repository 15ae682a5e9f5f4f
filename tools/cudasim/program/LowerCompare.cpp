// Comparison and selection: PTX ISA "Comparison and Selection Instructions".
#include "tools/cudasim/program/LowerTools.h"

namespace llmc::cudasim {
namespace {

struct Comparison {
  const char *Name;
  Op U[3], S[3]; ///< by width
  Op F32, F64;
};

#define SIM_COMPARE(Name, Text)                                                \
  {Text, SIM_WIDTHS(Setp##Name##U), SIM_WIDTHS(Setp##Name##S),                 \
   Op::Setp##Name##F32, Op::Setp##Name##F64}
const Comparison Comparisons[] = {SIM_COMPARE(Eq, "eq"), SIM_COMPARE(Ne, "ne"),
                                  SIM_COMPARE(Lt, "lt"), SIM_COMPARE(Le, "le"),
                                  SIM_COMPARE(Gt, "gt"), SIM_COMPARE(Ge, "ge")};
#undef SIM_COMPARE

struct Unordered {
  const char *Name;
  Op F32, F64;
};
const Unordered Unordereds[] = {{"equ", Op::SetpEquF32, Op::SetpEquF64},
                                {"neu", Op::SetpNeuF32, Op::SetpNeuF64},
                                {"ltu", Op::SetpLtuF32, Op::SetpLtuF64},
                                {"leu", Op::SetpLeuF32, Op::SetpLeuF64},
                                {"gtu", Op::SetpGtuF32, Op::SetpGtuF64},
                                {"geu", Op::SetpGeuF32, Op::SetpGeuF64},
                                {"num", Op::SetpNumF32, Op::SetpNumF64},
                                {"nan", Op::SetpNanF32, Op::SetpNanF64}};

Op comparison(const Modifiers &Mod, std::string Name, Type T) {
  static const std::pair<const char *, const char *> UnsignedNames[] = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  for (auto [Short, Long] : UnsignedNames)
    if (Name == Short && !T.isSigned() && !T.isFloat())
      Name = Long;
  for (const Comparison &C : Comparisons)
    if (Name == C.Name) {
      if (T.isFloat())
        return T.Bits == 64 ? C.F64 : C.F32;
      return (T.isSigned() ? C.S : C.U)[widthIndex(T)];
    }
  for (const Unordered &U : Unordereds)
    if (Name == U.Name && T.isFloat())
      return T.Bits == 64 ? U.F64 : U.F32;
  Mod.fail("comparison '." + Name + "' is not supported");
}

struct Test {
  std::string Name, Join; ///< of the comparison; and, or, xor
  bool Ftz = false;
};

Test takeTest(Modifiers &Mod) {
  Test T;
  T.Name = Mod.next();
  for (const char *Join : {"and", "or", "xor"})
    if (Mod.take(Join))
      T.Join = Join;
  T.Ftz = Mod.take("ftz");
  return T;
}

Value join(Lowering &L, const Test &T, Value A, Value C, bool Not) {
  if (T.Join.empty())
    return A;
  if (Not) {
    Value Inverse = L.temp(32);
    L.emit(Op::NotPred, Inverse, C);
    C = Inverse;
  }
  Value To = L.temp(32);
  L.emit(T.Join == "and"  ? Op::AndB32
         : T.Join == "or" ? Op::OrB32
                          : Op::XorB32,
         To, A, C);
  return To;
}

/// The comparison of one element as a predicate value.
Value compare(Lowering &L, Modifiers &Mod, const Test &Te, Type T, Value A,
              Value B) {
  if (T.isFloat() && T.Bits == 16) {
    A = widenHalf(L, A, T);
    B = widenHalf(L, B, T);
  } else if (Te.Ftz) {
    for (Value *V : {&A, &B}) {
      Value To = L.temp(32);
      L.emit(Op::FlushF32, To, *V);
      *V = To;
    }
  }
  Value P = L.temp(32);
  L.emit(comparison(Mod, Te.Name, T), P, A, B);
  return P;
}

void setPredicate(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Test Te = takeTest(Mod);
  Type T = Mod.type();
  Mod.finish();
  const Operand &To = S.Operands.at(0);
  bool Pair = To.What == Operand::Pair;
  Value A = L.source(S.Operands.at(1), T), B = L.source(S.Operands.at(2), T);
  Value C = NoValue;
  bool Not = false;
  Type Pred{Meaning::Pred, 1, 1};
  if (!Te.Join.empty()) {
    C = L.source(S.Operands.at(3), Pred);
    Not = S.Operands[3].Negated;
  }
  Value D = L.result(Pair ? To.Items[0] : To, 1);
  if (T.Count == 2) { // p|q are the halves
    Value Halves[2];
    for (unsigned H = 0; H != 2; ++H) {
      Value HalfA = L.temp(16), HalfB = L.temp(16);
      L.emit(H ? Op::High16 : Op::ExtU16, HalfA, A);
      L.emit(H ? Op::High16 : Op::ExtU16, HalfB, B);
      Halves[H] = join(L, Te, compare(L, Mod, Te, T, HalfA, HalfB), C, Not);
    }
    L.emit(Op::Mov32, D, Halves[0]);
    if (Pair)
      L.emit(Op::Mov32, L.result(To.Items[1], 1), Halves[1]);
    return;
  }
  if (!Pair && Te.Join.empty() && !Te.Ftz && !(T.isFloat() && T.Bits == 16)) {
    L.emit(comparison(Mod, Te.Name, T), D, A, B);
    return;
  }
  Value Raw = compare(L, Mod, Te, T, A, B);
  Value P = join(L, Te, Raw, C, Not);
  if (Pair) { // q = (!(a cmp b)) joined with c
    Value Inverse = L.temp(32);
    L.emit(Op::NotPred, Inverse, Raw);
    Value Q = join(L, Te, Inverse, C, Not);
    if (To.Items[1].What != Operand::Sink)
      L.emit(Op::Mov32, L.result(To.Items[1], 1), Q);
  }
  L.emit(Op::Mov32, D, P);
}

/// What set writes for true in one element of type T.
uint64_t truth(Type T, bool Half) {
  if (T.Kind == Meaning::BFloat)
    return 0x3f80;
  if (T.Kind == Meaning::Float)
    return T.Bits == 16 ? 0x3c00 : 0x3f800000;
  return Half || T.Bits == 16 ? 0xffff : 0xffffffff;
}

void set(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Test Te = takeTest(Mod);
  Type To = Mod.type(), T = Mod.type();
  Mod.finish();
  if (To.total() > 32)
    Mod.fail("no such type");
  Value A = L.source(S.Operands.at(1), T), B = L.source(S.Operands.at(2), T);
  Value C = NoValue;
  bool Not = false;
  if (!Te.Join.empty()) {
    C = L.source(S.Operands.at(3), Type{Meaning::Pred, 1, 1});
    Not = S.Operands[3].Negated;
  }
  Value D = L.result(S.Operands.at(0), To.total());
  Value Zero = L.constant(0, false);
  Value One = L.constant(truth(To, T.Count == 2), false);
  if (T.Count == 1)
    return L.emit(Op::SelB32, D, One, Zero,
                  join(L, Te, compare(L, Mod, Te, T, A, B), C, Not)),
           void();
  Value Halves[2];
  for (unsigned H = 0; H != 2; ++H) {
    Value HalfA = L.temp(16), HalfB = L.temp(16);
    L.emit(H ? Op::High16 : Op::ExtU16, HalfA, A);
    L.emit(H ? Op::High16 : Op::ExtU16, HalfB, B);
    Halves[H] = L.temp(16);
    L.emit(Op::SelB32, Halves[H], One, Zero,
           join(L, Te, compare(L, Mod, Te, T, HalfA, HalfB), C, Not));
  }
  L.emit(Op::Pack32, D, Halves[0], Halves[1]);
}

void select(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Type T = Mod.type();
  Mod.finish();
  L.emit(T.total() == 64 ? Op::SelB64 : Op::SelB32,
         L.result(S.Operands.at(0), T.total()), L.source(S.Operands.at(1), T),
         L.source(S.Operands.at(2), T),
         L.source(S.Operands.at(3), Type{Meaning::Pred, 1, 1}));
}

void selectBySign(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("ftz");
  Type T = Mod.type(), Sign = Mod.type();
  Mod.finish();
  if (Sign.isFloat() && T.total() == 64)
    Mod.fail("no such type");
  L.emit(Sign.isFloat()    ? Op::SlctF32B32
         : T.total() == 64 ? Op::SlctS32B64
                           : Op::SlctS32B32,
         L.result(S.Operands.at(0), T.total()), L.source(S.Operands.at(1), T),
         L.source(S.Operands.at(2), T), L.source(S.Operands.at(3), 32));
}

void testProperty(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  std::string What = Mod.next();
  Type T = Mod.type();
  Mod.finish();
  if (!(T == Type{Meaning::Float, 32}))
    Mod.fail("no such type");
  Value A = L.source(S.Operands.at(1), T), D = L.result(S.Operands.at(0), 1);
  if (What == "finite")
    L.emit(Op::IsFiniteF32, D, A);
  else if (What == "infinite")
    L.emit(Op::IsInfF32, D, A);
  else if (What == "normal")
    L.emit(Op::IsNormalF32, D, A);
  else if (What == "subnormal")
    L.emit(Op::IsSubnormalF32, D, A);
  else if (What == "number" || What == "notanumber")
    L.emit(What == "number" ? Op::SetpNumF32 : Op::SetpNanF32, D, A, A);
  else
    Mod.fail("modifier '." + What + "' is not supported");
}
} // namespace

void addCompareLowerings(LowerTable &T) {
  T["setp"] = setPredicate;
  T["set"] = set;
  T["selp"] = select;
  T["slct"] = selectBySign;
  T["testp"] = testProperty;
}

} // namespace llmc::cudasim
