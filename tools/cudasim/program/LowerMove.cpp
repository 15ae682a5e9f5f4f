// mov and what is like it. A register that is written once, by a move of
// something that does not change, needs no slot: its uses take the source.
#include "tools/cudasim/program/LowerTools.h"

namespace llmc::cudasim {
namespace {

/// {a, b} -> one register.
void pack(Lowering &L, const Statement &S, Modifiers &Mod, Type T) {
  const std::vector<Operand> &Parts = S.Operands[1].Items;
  Value D = L.result(S.Operands[0], T.total());
  auto Part = [&](size_t I, unsigned Bits) { return L.source(Parts[I], Bits); };
  if (Parts.size() == 2 && T.total() == 64) {
    L.emit(Op::Pack64, D, Part(0, 32), Part(1, 32));
  } else if (Parts.size() == 2 && T.total() == 32) {
    L.emit(Op::Pack32, D, Part(0, 16), Part(1, 16));
  } else if (Parts.size() == 4 && T.total() == 64) {
    Value Low = L.temp(32), High = L.temp(32);
    L.emit(Op::Pack32, Low, Part(0, 16), Part(1, 16));
    L.emit(Op::Pack32, High, Part(2, 16), Part(3, 16));
    L.emit(Op::Pack64, D, Low, High);
  } else if (Parts.size() == 4 && T.total() == 32) {
    Value Sum = Part(0, 8);
    for (unsigned I = 1; I != 4; ++I) {
      Value Moved = L.temp(32), Next = I == 3 ? D : L.temp(32);
      L.emit(Op::ShlB32, Moved, Part(I, 8), L.constant(8 * I, false));
      L.emit(Op::OrB32, Next, Sum, Moved);
      Sum = Next;
    }
  } else if (Parts.size() == 2 && T.total() == 16) {
    Value Moved = L.temp(32);
    L.emit(Op::ShlB32, Moved, Part(1, 8), L.constant(8, false));
    L.emit(Op::OrB32, D, Part(0, 8), Moved);
  } else {
    Mod.fail("cannot pack " + std::to_string(Parts.size()) + " parts");
  }
}

/// One register -> {a, b}; _ is left out.
void unpack(Lowering &L, const Statement &S, Modifiers &Mod, Type T) {
  const std::vector<Operand> &Parts = S.Operands[0].Items;
  Value A = L.source(S.Operands[1], T.total());
  unsigned Each = T.total() / static_cast<unsigned>(Parts.size());
  // A part may be the source itself.
  Value Copy = L.temp(T.total());
  L.emit(T.total() == 64 ? Op::Mov64 : Op::Mov32, Copy, A);
  for (unsigned I = 0; I != Parts.size(); ++I) {
    if (Parts[I].What == Operand::Sink)
      continue;
    Value D = L.result(Parts[I], Each);
    if (Each == 32) {
      L.emit(I ? Op::High32 : Op::U32FromU64, D, Copy);
      continue;
    }
    if (Each != 16 && Each != 8)
      Mod.fail("cannot unpack into " + std::to_string(Parts.size()) + " parts");
    Value From = Copy;
    unsigned Shift = I * Each;
    if (T.total() == 64) {
      From = L.temp(32);
      L.emit(Shift >= 32 ? Op::High32 : Op::U32FromU64, From, Copy);
      Shift %= 32;
    }
    Value Moved = L.temp(32);
    L.emit(Op::ShrU32, Moved, From, L.constant(Shift, false));
    L.emit(Each == 16 ? Op::ExtU16 : Op::ExtU8, D, Moved);
  }
}

bool clockRegister(Lowering &L, const Statement &S) {
  const Operand &O = S.Operands[1];
  if (O.What != Operand::Special)
    return false;
  bool Wide = O.Name == "%clock64" || O.Name == "%globaltimer";
  bool Timer = O.Name.rfind("%globaltimer", 0) == 0;
  if (!Wide && O.Name != "%clock" && O.Name != "%clock_hi" &&
      O.Name != "%globaltimer_lo" && O.Name != "%globaltimer_hi")
    return false;
  Value Full = Wide ? L.result(S.Operands[0], 64) : L.temp(64);
  Inst &I = L.emit(Op::Clock, Full);
  I.Sub = Timer;
  if (!Wide)
    L.emit(O.Name.ends_with("_hi") ? Op::High32 : Op::U32FromU64,
           L.result(S.Operands[0], 32), Full);
  return true;
}

void move(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Type T = Mod.type();
  Mod.finish();
  if (S.Operands.size() != 2)
    Mod.fail("two operands expected");
  if (T.total() > 64)
    Mod.fail("no 128-bit registers");
  if (S.Operands[1].What == Operand::Vector)
    return pack(L, S, Mod, T);
  if (S.Operands[0].What == Operand::Vector) {
    if (S.Operands[0].Items.empty())
      Mod.fail("an empty list of registers");
    return unpack(L, S, Mod, T);
  }
  if (clockRegister(L, S))
    return;
  if (S.Operands[1].What == Operand::Special &&
      S.Operands[1].Name == "%activemask") {
    L.emit(Op::ActiveMask, L.result(S.Operands[0], 32));
    return;
  }
  Value A = L.source(S.Operands[1], T);
  Value D = L.result(S.Operands[0], T.total());
  bool Stays =
      S.Operands[1].What != Operand::Register || L.singleWrite(S.Operands[1]);
  if (L.unguarded() && Stays && L.singleWrite(S.Operands[0]) && A != D)
    return L.rename(D, A);
  L.emit(T.total() == 64 ? Op::Mov64 : Op::Mov32, D, A);
}

/// cvta: global addresses are generic ones; shared, local and parameters have
/// windows.
void convertAddress(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  bool To = Mod.take("to");
  std::string Name = Mod.next();
  Type T = Mod.type();
  Mod.finish();
  if (T.Bits != 64)
    Mod.fail("only 64-bit addresses are supported");
  Space Where =
      Name == "global"  ? Space::Global
      : Name == "const" ? Space::Const
      : Name == "shared" || Name == "shared::cta" || Name == "shared::cluster"
          ? Space::Shared
      : Name == "local"                           ? Space::Local
      : Name == "param" || Name == "param::entry" ? Space::Param
                                                  : Space::Generic;
  if (Where == Space::Generic)
    Mod.fail("modifier '." + Name + "' is not supported");
  const Operand &From = S.Operands.at(1);
  Value A = L.source(From, 64), D = L.result(S.Operands.at(0), 64);
  if (Where == Space::Global || Where == Space::Const) {
    bool Stays = From.What != Operand::Register || L.singleWrite(From);
    if (L.unguarded() && Stays && L.singleWrite(S.Operands[0]))
      return L.rename(D, A);
    return L.emit(Op::Mov64, D, A), void();
  }
  L.emit(To ? Op::FromGeneric : Op::ToGeneric, D, A).Where = Where;
}

void isSpace(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  std::string Name = Mod.next();
  Mod.finish();
  Space Where = Name == "global"                            ? Space::Global
                : Name == "shared" || Name == "shared::cta" ? Space::Shared
                : Name == "local"                           ? Space::Local
                : Name == "const"                           ? Space::Const
                : Name == "param"                           ? Space::Param
                                                            : Space::Generic;
  if (Where == Space::Generic)
    Mod.fail("modifier '." + Name + "' is not supported");
  L.emit(Op::IsSpace, L.result(S.Operands.at(0), 1),
         L.source(S.Operands.at(1), 64))
      .Where = Where;
}
} // namespace

void addMoveLowerings(LowerTable &T) {
  T["mov"] = move;
  T["cvta"] = convertAddress;
  T["isspacep"] = isSpace;
}

} // namespace llmc::cudasim
