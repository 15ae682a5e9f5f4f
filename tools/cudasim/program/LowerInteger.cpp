// Integer arithmetic, bits and shifts: PTX ISA "Integer Arithmetic
// Instructions" and "Logic and Shift Instructions".
#include "tools/cudasim/program/LowerTools.h"

namespace llmc::cudasim {
namespace {

struct Binary {
  Op B[3], S[3]; ///< by width; S for signed types
};

Op pick(const Binary &O, Type T) {
  return T.isSigned() ? O.S[widthIndex(T)] : O.B[widthIndex(T)];
}

void binary(Lowering &L, const Statement &S, Modifiers &Mod, const Binary &O) {
  Type T = Mod.type();
  Mod.finish();
  requireWidth(Mod, T);
  L.emit(pick(O, T), L.result(S.Operands.at(0), T.Bits),
         L.source(S.Operands.at(1), T), L.source(S.Operands.at(2), T));
}

/// D = A + B or A - B with the carry flag: read it, set it, or both.
void withCarry(Lowering &L, Type T, bool Add, Value A, Value B, Value D,
               bool Set, bool WithCarry) {
  static const Op Adds[] = SIM_WIDTHS(AddB), Subs[] = SIM_WIDTHS(SubB);
  Op O = (Add ? Adds : Subs)[widthIndex(T)];
  bool Wide = T.Bits == 64;
  Op Flag = Add ? (Wide ? Op::CarryAddB64 : Op::CarryAddB32)
                : (Wide ? Op::BorrowB64 : Op::BorrowB32);
  // D = (A op B) op carry; the carries of both steps cannot be set together.
  Value First = L.temp(T.Bits), Out = L.temp(32);
  L.emit(O, First, A, B);
  L.emit(Flag, Out, A, B);
  Value Result = First;
  if (WithCarry) {
    Value In = L.carry(), Second = L.temp(T.Bits), More = L.temp(32);
    if (Wide) {
      Value W = L.temp(64);
      L.emit(Op::U64FromU32, W, In);
      In = W;
    }
    L.emit(O, Second, First, In);
    L.emit(Flag, More, First, In);
    L.emit(Op::OrB32, Out, Out, More);
    Result = Second;
  }
  if (Set)
    L.emit(Op::Mov32, L.carry(), Out);
  L.emit(Wide ? Op::Mov64 : Op::Mov32, D, Result);
}

/// add, sub: {.sat}.s32, .cc; u16x2 halves one after another.
void addOrSub(Lowering &L, const Statement &S) {
  bool Add = S.Opcode[0] == "add" || S.Opcode[0] == "addc";
  bool WithCarry = S.Opcode[0] == "addc" || S.Opcode[0] == "subc";
  Modifiers Mod(S);
  if (!WithCarry && floatArithmetic(L, S))
    return;
  bool Sat = Mod.take("sat"), Set = Mod.take("cc");
  Type T = Mod.type();
  Mod.finish();
  requireWidth(Mod, T);
  static const Op Adds[] = SIM_WIDTHS(AddB), Subs[] = SIM_WIDTHS(SubB);
  Op O = (Add ? Adds : Subs)[widthIndex(T)];
  if (Sat)
    O = Add ? Op::AddSatS32 : Op::SubSatS32;
  if ((Sat && !(T == Type{Meaning::Signed, 32})) ||
      ((Set || WithCarry) && T.Bits < 32))
    Mod.fail("no such type for .sat or .cc");
  Value A = L.source(S.Operands.at(1), T), B = L.source(S.Operands.at(2), T);
  Value D = L.result(S.Operands.at(0), T.Bits);
  if (!Set && !WithCarry)
    return L.emit(O, D, A, B), void();
  withCarry(L, T, Add, A, B, D, Set, WithCarry);
}

void multiply(Lowering &L, const Statement &S) {
  if (floatArithmetic(L, S))
    return;
  Modifiers Mod(S);
  bool Hi = Mod.take("hi"), Wide = Mod.take("wide");
  Mod.take("lo");
  Type T = Mod.type();
  Mod.finish();
  requireWidth(Mod, T);
  unsigned W = widthIndex(T);
  static const Op Lo[] = SIM_WIDTHS(MulB), HiU[] = SIM_WIDTHS(MulHiU),
                  HiS[] = SIM_WIDTHS(MulHiS);
  static const Op WideU[] = {Op::MulWideU16, Op::MulWideU32},
                  WideS[] = {Op::MulWideS16, Op::MulWideS32};
  if (Wide && W == 2)
    Mod.fail("no 128-bit products");
  Op O = Wide ? (T.isSigned() ? WideS : WideU)[W]
         : Hi ? (T.isSigned() ? HiS : HiU)[W]
              : Lo[W];
  L.emit(O, L.result(S.Operands.at(0), Wide ? T.Bits * 2 : T.Bits),
         L.source(S.Operands.at(1), T), L.source(S.Operands.at(2), T));
}

void multiplyAdd(Lowering &L, const Statement &S) {
  if (floatArithmetic(L, S))
    return;
  Modifiers Mod(S);
  bool Hi = Mod.take("hi"), Wide = Mod.take("wide"), Sat = Mod.take("sat");
  bool Set = Mod.take("cc"), WithCarry = S.Opcode[0] == "madc";
  Mod.take("lo");
  Type T = Mod.type();
  Mod.finish();
  requireWidth(Mod, T);
  unsigned W = widthIndex(T);
  Type Sum = T;
  if (Wide) {
    if (W == 2)
      Mod.fail("no 128-bit products");
    Sum.Bits = static_cast<uint8_t>(T.Bits * 2);
  }
  Value A = L.source(S.Operands.at(1), T), B = L.source(S.Operands.at(2), T);
  Value C = L.source(S.Operands.at(3), Sum);
  Value D = L.result(S.Operands.at(0), Sum.Bits);
  static const Op Mad[] = SIM_WIDTHS(MadB), Lo[] = SIM_WIDTHS(MulB),
                  HiU[] = SIM_WIDTHS(MulHiU), HiS[] = SIM_WIDTHS(MulHiS),
                  Adds[] = SIM_WIDTHS(AddB);
  static const Op WideU[] = {Op::MadWideU16, Op::MadWideU32},
                  WideS[] = {Op::MadWideS16, Op::MadWideS32};
  if (Set || WithCarry) {
    if (Sat || Wide || T.Bits < 32)
      Mod.fail("no such type for .cc");
    Value Product = L.temp(T.Bits);
    L.emit(!Hi ? Lo[W] : (T.isSigned() ? HiS : HiU)[W], Product, A, B);
    withCarry(L, T, true, Product, C, D, Set, WithCarry);
  } else if (Sat) {
    if (!Hi || !(T == Type{Meaning::Signed, 32}))
      Mod.fail(".sat is for mad.hi.s32");
    L.emit(Op::MadSatHiS32, D, A, B, C);
  } else if (Hi) {
    Value Product = L.temp(T.Bits);
    L.emit((T.isSigned() ? HiS : HiU)[W], Product, A, B);
    L.emit(Adds[W], D, Product, C);
  } else {
    L.emit(Wide ? (T.isSigned() ? WideS : WideU)[W] : Mad[W], D, A, B, C);
  }
}

void divide(Lowering &L, const Statement &S) {
  if (floatArithmetic(L, S))
    return;
  Modifiers Mod(S);
  static const Binary Div = {SIM_WIDTHS(DivU), SIM_WIDTHS(DivS)};
  binary(L, S, Mod, Div);
}
void remainder(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  static const Binary Rem = {SIM_WIDTHS(RemU), SIM_WIDTHS(RemS)};
  binary(L, S, Mod, Rem);
}

void minimumOrMaximum(Lowering &L, const Statement &S) {
  if (floatArithmetic(L, S))
    return;
  Modifiers Mod(S);
  static const Binary Min = {SIM_WIDTHS(MinU), SIM_WIDTHS(MinS)},
                      Max = {SIM_WIDTHS(MaxU), SIM_WIDTHS(MaxS)};
  bool Relu = Mod.take("relu");
  Type T = Mod.type();
  Mod.finish();
  requireWidth(Mod, T);
  bool IsMin = S.Opcode[0] == "min";
  Value D = L.result(S.Operands.at(0), T.Bits);
  L.emit(pick(IsMin ? Min : Max, T), D, L.source(S.Operands.at(1), T),
         L.source(S.Operands.at(2), T));
  if (Relu)
    L.emit(Op::MaxS32, D, D, L.constant(0, false));
}

void sumOfDifferences(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Type T = Mod.type();
  Mod.finish();
  requireWidth(Mod, T);
  static const Binary Sad = {SIM_WIDTHS(SadU), SIM_WIDTHS(SadS)};
  L.emit(pick(Sad, T), L.result(S.Operands.at(0), T.Bits),
         L.source(S.Operands.at(1), T), L.source(S.Operands.at(2), T),
         L.source(S.Operands.at(3), T));
}

void negateOrAbsolute(Lowering &L, const Statement &S) {
  if (floatArithmetic(L, S))
    return;
  Modifiers Mod(S);
  Type T = Mod.type();
  Mod.finish();
  requireWidth(Mod, T);
  static const Op Neg[] = SIM_WIDTHS(NegB), Abs[] = SIM_WIDTHS(AbsS);
  L.emit((S.Opcode[0] == "neg" ? Neg : Abs)[widthIndex(T)],
         L.result(S.Operands.at(0), T.Bits), L.source(S.Operands.at(1), T));
}

void logic(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Type T = Mod.type();
  Mod.finish();
  bool Wide = T.Bits == 64;
  Op O = S.Opcode[0] == "and"  ? (Wide ? Op::AndB64 : Op::AndB32)
         : S.Opcode[0] == "or" ? (Wide ? Op::OrB64 : Op::OrB32)
                               : (Wide ? Op::XorB64 : Op::XorB32);
  L.emit(O, L.result(S.Operands.at(0), T.Bits), L.source(S.Operands.at(1), T),
         L.source(S.Operands.at(2), T));
}

void invert(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Type T = Mod.type();
  Mod.finish();
  Op O = S.Opcode[0] == "cnot"     ? Op::CnotB32
         : T.Kind == Meaning::Pred ? Op::NotPred
         : T.Bits == 64            ? Op::NotB64
         : T.Bits == 32            ? Op::NotB32
                                   : Op::NotB16;
  if (S.Opcode[0] == "cnot" && T.Bits == 64)
    Mod.fail("no such type");
  L.emit(O, L.result(S.Operands.at(0), T.Bits), L.source(S.Operands.at(1), T));
}

void shift(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Type T = Mod.type();
  Mod.finish();
  requireWidth(Mod, T);
  static const Op Shl[] = SIM_WIDTHS(ShlB), ShrU[] = SIM_WIDTHS(ShrU),
                  ShrS[] = SIM_WIDTHS(ShrS);
  const Op *O = S.Opcode[0] == "shl" ? Shl : T.isSigned() ? ShrS : ShrU;
  L.emit(O[widthIndex(T)], L.result(S.Operands.at(0), T.Bits),
         L.source(S.Operands.at(1), T), L.source(S.Operands.at(2), 32));
}

void funnelShift(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  bool Left = Mod.take("l");
  if (!Left && !Mod.take("r"))
    Mod.fail("no direction");
  bool Wrap = Mod.take("wrap");
  Mod.take("clamp");
  Mod.take("b32");
  Mod.finish();
  Op O = Left ? (Wrap ? Op::ShfLWrap : Op::ShfLClamp)
              : (Wrap ? Op::ShfRWrap : Op::ShfRClamp);
  // d = the high (left) or low half of {b, a} shifted.
  Value A = L.source(S.Operands.at(1), 32), B = L.source(S.Operands.at(2), 32);
  Value C = L.source(S.Operands.at(3), 32);
  L.emit(O, L.result(S.Operands.at(0), 32), A, B, C);
}

void bitFunction(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  const std::string &Name = S.Opcode[0];
  bool ShiftAmount = Mod.take("shiftamt");
  Type T = Mod.type();
  Mod.finish();
  bool Wide = T.Bits == 64;
  Op O = Name == "popc"   ? (Wide ? Op::PopcB64 : Op::PopcB32)
         : Name == "clz"  ? (Wide ? Op::ClzB64 : Op::ClzB32)
         : Name == "brev" ? (Wide ? Op::BrevB64 : Op::BrevB32)
         : T.isSigned()   ? (Wide ? Op::BfindS64 : Op::BfindS32)
                          : (Wide ? Op::BfindU64 : Op::BfindU32);
  Value D = L.result(S.Operands.at(0), Name == "brev" ? T.Bits : 32u);
  Value A = L.source(S.Operands.at(1), T);
  if (!ShiftAmount)
    return L.emit(O, D, A), void();
  // The shift that brings the found bit to the top; no bit stays no bit.
  Value Found = L.temp(32), Amount = L.temp(32), None = L.temp(32);
  L.emit(O, Found, A);
  L.emit(Op::SubB32, Amount, L.constant(Wide ? 63 : 31, false), Found);
  L.emit(Op::SetpEqU32, None, Found, L.constant(0xffffffffu, false));
  L.emit(Op::SelB32, D, Found, Amount, None);
}

void bitField(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Type T = Mod.type();
  Mod.finish();
  bool Wide = T.Bits == 64;
  if (S.Opcode[0] == "bfe") {
    Op O = T.isSigned() ? (Wide ? Op::BfeS64 : Op::BfeS32)
                        : (Wide ? Op::BfeU64 : Op::BfeU32);
    L.emit(O, L.result(S.Operands.at(0), T.Bits), L.source(S.Operands.at(1), T),
           L.source(S.Operands.at(2), 32), L.source(S.Operands.at(3), 32));
    return;
  }
  // bfi d, a, b, pos, len: a's low bits into b. Mask = the field of all ones.
  Value A = L.source(S.Operands.at(1), T), B = L.source(S.Operands.at(2), T);
  Value Position = L.temp(32), Length = L.temp(32);
  Value Byte = L.constant(255, false);
  L.emit(Op::AndB32, Position, L.source(S.Operands.at(3), 32), Byte);
  L.emit(Op::AndB32, Length, L.source(S.Operands.at(4), 32), Byte);
  Value Ones = L.constant(~uint64_t{0}, Wide), Mask = L.temp(T.Bits);
  Value Moved = L.temp(T.Bits), Kept = L.temp(T.Bits);
  Op Shl = Wide ? Op::ShlB64 : Op::ShlB32, And = Wide ? Op::AndB64 : Op::AndB32;
  Op Not = Wide ? Op::NotB64 : Op::NotB32, Or = Wide ? Op::OrB64 : Op::OrB32;
  L.emit(Shl, Mask, Ones, Length);
  L.emit(Not, Mask, Mask);
  L.emit(And, Moved, A, Mask);
  L.emit(Shl, Moved, Moved, Position);
  L.emit(Shl, Mask, Mask, Position);
  L.emit(Not, Mask, Mask);
  L.emit(And, Kept, B, Mask);
  L.emit(Or, L.result(S.Operands.at(0), T.Bits), Kept, Moved);
}

void threeInputLogic(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("b32");
  Mod.finish();
  Value A = L.source(S.Operands.at(1), 32), B = L.source(S.Operands.at(2), 32);
  Value C = L.source(S.Operands.at(3), 32);
  const Operand &Table = S.Operands.at(4);
  if (Table.What != Operand::Integer || Table.Value < 0 || Table.Value > 255)
    Mod.fail("the table must be a number from 0 to 255");
  L.emit(Op::Lop3, L.result(S.Operands.at(0), 32), A, B, C).Imm = Table.Value;
}

/// The modes are selections of their own, made from the default one.
void permute(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("b32");
  Mod.finish();
  L.emit(Op::Prmt, L.result(S.Operands.at(0), 32),
         L.source(S.Operands.at(1), 32), L.source(S.Operands.at(2), 32),
         L.source(S.Operands.at(3), 32));
}

void dotProduct(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  bool Four = S.Opcode[0] == "dp4a", Hi = Mod.take("hi");
  Mod.take("lo");
  bool SignedA = Mod.type().isSigned(), SignedB = Mod.type().isSigned();
  Mod.finish();
  static const Op Dot4[2][2] = {{Op::Dp4aUU, Op::Dp4aUS},
                                {Op::Dp4aSU, Op::Dp4aSS}};
  static const Op Lo[2][2] = {{Op::Dp2aLoUU, Op::Dp2aLoUS},
                              {Op::Dp2aLoSU, Op::Dp2aLoSS}};
  static const Op High[2][2] = {{Op::Dp2aHiUU, Op::Dp2aHiUS},
                                {Op::Dp2aHiSU, Op::Dp2aHiSS}};
  Op O = (Four ? Dot4 : Hi ? High : Lo)[SignedA][SignedB];
  L.emit(O, L.result(S.Operands.at(0), 32), L.source(S.Operands.at(1), 32),
         L.source(S.Operands.at(2), 32), L.source(S.Operands.at(3), 32));
}
} // namespace

void addIntegerLowerings(LowerTable &T) {
  for (const char *Name : {"add", "sub", "addc", "subc"})
    T[Name] = addOrSub;
  T["mul"] = multiply;
  T["mad"] = T["madc"] = multiplyAdd;
  T["div"] = divide;
  T["rem"] = remainder;
  T["min"] = T["max"] = minimumOrMaximum;
  T["sad"] = sumOfDifferences;
  T["neg"] = T["abs"] = negateOrAbsolute;
  T["and"] = T["or"] = T["xor"] = logic;
  T["not"] = T["cnot"] = invert;
  T["shl"] = T["shr"] = shift;
  T["shf"] = funnelShift;
  T["popc"] = T["clz"] = T["brev"] = T["bfind"] = bitFunction;
  T["bfe"] = T["bfi"] = bitField;
  T["lop3"] = threeInputLogic;
  T["prmt"] = permute;
  T["dp4a"] = T["dp2a"] = dotProduct;
}

} // namespace llmc::cudasim
