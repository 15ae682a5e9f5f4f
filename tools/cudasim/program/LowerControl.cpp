// Branches, calls, ends, and the rest of what is not data.
#include "tools/cudasim/program/LowerTools.h"

namespace llmc::cudasim {
namespace {

void branch(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("uni");
  Mod.finish();
  const Operand &To = S.Operands.at(0);
  if (To.What != Operand::Symbol)
    Mod.fail("expected a label");
  L.jump(To.Name);
}

void tableBranch(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  if (!Mod.take("idx"))
    Mod.fail("only brx.idx is supported");
  Mod.take("uni");
  Mod.finish();
  if (!L.tableBranch(S, L.source(S.Operands.at(0), 32)))
    Mod.fail("the list of targets is not known");
}

void leave(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("uni");
  Mod.finish();
  if (S.Opcode[0] == "ret")
    L.leaveFunction();
  else
    L.exit();
}

void call(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("uni");
  Mod.finish();
  L.call(S);
}

void trap(Lowering &L, const Statement &S) {
  L.emit(Op::Trap, NoValue).Sub = S.Opcode[0] == "brkpt";
}

void sleep(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("u32");
  Mod.finish();
  L.emit(Op::Sleep, NoValue);
  L.synchronise();
}

void nothing(Lowering &L, const Statement &) { L.emit(Op::Nop, NoValue); }

void dependentLaunch(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  bool Wait = Mod.take("wait");
  if (!Wait && !Mod.take("launch_dependents"))
    Mod.fail("expected .wait or .launch_dependents");
  Mod.finish();
  L.emit(Wait ? Op::GridWait : Op::GridTrigger, NoValue);
  L.synchronise();
}
} // namespace

void addControlLowerings(LowerTable &T) {
  T["bra"] = branch;
  T["brx"] = tableBranch;
  T["ret"] = T["exit"] = leave;
  T["call"] = call;
  T["trap"] = T["brkpt"] = trap;
  T["nanosleep"] = sleep;
  T["pmevent"] = nothing;
  T["setmaxnreg"] = nothing;
  T["griddepcontrol"] = dependentLaunch;
}

} // namespace llmc::cudasim
