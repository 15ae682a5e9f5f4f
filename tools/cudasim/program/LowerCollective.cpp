// Operations between the lanes of a warp or the warps of a block. Each is a
// block of its own: lanes wait in front of it for those of its mask.
#include "tools/cudasim/program/LowerTools.h"

namespace llmc::cudasim {
namespace {

const Type Pred{Meaning::Pred, 1, 1};

/// shfl.sync.mode.b32 d[|p], a, b, c, membermask;
void shuffle(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  if (!Mod.take("sync"))
    Mod.fail("shfl without .sync is not supported");
  ShuffleKind Kind = ShuffleKind::Index;
  if (Mod.take("up"))
    Kind = ShuffleKind::Up;
  else if (Mod.take("down"))
    Kind = ShuffleKind::Down;
  else if (Mod.take("bfly"))
    Kind = ShuffleKind::Butterfly;
  else if (!Mod.take("idx"))
    Mod.fail("the mode is missing");
  Mod.take("b32");
  Mod.finish();
  const Operand &To = S.Operands.at(0);
  bool Pair = To.What == Operand::Pair;
  Value A = L.source(S.Operands.at(1), 32), B = L.source(S.Operands.at(2), 32);
  Value C = L.source(S.Operands.at(3), 32), M = L.source(S.Operands.at(4), 32);
  Value D = L.result(Pair ? To.Items[0] : To, 32);
  Value Valid = Pair ? L.result(To.Items[1], 1) : NoValue;
  Inst &I = L.emit(Op::Shuffle, D, A, B, C);
  I.Sub = static_cast<uint8_t>(Kind);
  L.list({Valid}, {M});
  L.synchronise();
}

void vote(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  if (!Mod.take("sync"))
    Mod.fail("vote without .sync is not supported");
  VoteKind Kind = VoteKind::Ballot;
  if (Mod.take("all"))
    Kind = VoteKind::All;
  else if (Mod.take("any"))
    Kind = VoteKind::Any;
  else if (Mod.take("uni"))
    Kind = VoteKind::Uniform;
  else if (!Mod.take("ballot"))
    Mod.fail("the mode is missing");
  bool Ballot = Kind == VoteKind::Ballot;
  if (!Mod.take(Ballot ? "b32" : "pred"))
    Mod.fail("no such type");
  Mod.finish();
  Value A = L.source(S.Operands.at(1), Pred),
        M = L.source(S.Operands.at(2), 32);
  if (S.Operands[1].Negated) {
    Value Not = L.temp(32);
    L.emit(Op::NotPred, Not, A);
    A = Not;
  }
  Inst &I = L.emit(Op::Vote, L.result(S.Operands.at(0), 32), A);
  I.Sub = static_cast<uint8_t>(Kind);
  L.list({NoValue}, {M});
  L.synchronise();
}

void match(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  bool All = Mod.take("all");
  if (!All && !Mod.take("any"))
    Mod.fail("the mode is missing");
  Mod.take("sync");
  Type T = Mod.type();
  Mod.finish();
  const Operand &To = S.Operands.at(0);
  bool Pair = To.What == Operand::Pair;
  Value A = L.source(S.Operands.at(1), T), M = L.source(S.Operands.at(2), 32);
  Value D = L.result(Pair ? To.Items[0] : To, 32);
  Value P = Pair ? L.result(To.Items[1], 1) : NoValue;
  Inst &I = L.emit(Op::Match, D, A);
  I.Sub = All;
  I.Bytes = static_cast<uint8_t>(T.total() / 8);
  L.list({P}, {M});
  L.synchronise();
}

void reduce(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("sync");
  static const std::pair<const char *, ReduceKind> Kinds[] = {
      {"add", ReduceKind::Add}, {"min", ReduceKind::Min},
      {"max", ReduceKind::Max}, {"and", ReduceKind::And},
      {"or", ReduceKind::Or},   {"xor", ReduceKind::Xor}};
  std::optional<ReduceKind> Kind;
  for (auto [Name, K] : Kinds)
    if (Mod.take(Name))
      Kind = K;
  Type T = Mod.type();
  Mod.finish();
  if (!Kind || T.total() != 32 || T.isFloat())
    Mod.fail("no such operation or type");
  Value A = L.source(S.Operands.at(1), T), M = L.source(S.Operands.at(2), 32);
  Inst &I = L.emit(Op::Reduce, L.result(S.Operands.at(0), 32), A);
  I.Sub = static_cast<uint8_t>(*Kind);
  I.Of = T;
  L.list({NoValue}, {M});
  L.synchronise();
}

void elect(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("sync");
  Mod.finish();
  const Operand &To = S.Operands.at(0);
  if (To.What != Operand::Pair)
    Mod.fail("d|p expected");
  Value M = L.source(S.Operands.at(1), 32);
  L.emit(Op::Elect, L.result(To.Items[0], 32));
  L.list({L.result(To.Items[1], 1)}, {M});
  L.synchronise();
}

void activeMask(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Mod.take("b32");
  Mod.finish();
  L.emit(Op::ActiveMask, L.result(S.Operands.at(0), 32));
}

/// bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, {!}p;
/// bar.warp.sync mask; barrier.* the same; Imm: aligned.
void barrier(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  if (Mod.take("warp")) {
    Mod.take("sync");
    Mod.finish();
    L.emit(Op::WarpBarrier, NoValue);
    L.list({NoValue}, {L.source(S.Operands.at(0), 32)});
    return L.synchronise();
  }
  if (Mod.peek() == "cluster")
    Mod.fail("clusters are not supported");
  bool Aligned = Mod.take("aligned") || S.Opcode[0] == "bar";
  Mod.take("cta");
  BarrierKind Kind = BarrierKind::Sync;
  bool Red = Mod.take("red");
  if (Red)
    Kind = Mod.take("popc")  ? BarrierKind::Popc
           : Mod.take("and") ? BarrierKind::And
           : Mod.take("or")  ? BarrierKind::Or
                             : (Mod.fail("no such reduction"), BarrierKind::Or);
  else if (Mod.take("arrive"))
    Kind = BarrierKind::Arrive;
  else if (!Mod.take("sync"))
    Mod.fail("modifier '." + Mod.peek() + "' is not supported");
  if (Red && !Mod.take("pred"))
    Mod.take("u32");
  Mod.finish();
  size_t N = Red;
  size_t Numbers = S.Operands.size() - N - Red;
  Value D = Red ? L.result(S.Operands.at(0), 32) : NoValue;
  Value A = L.source(S.Operands.at(N), 32);
  Value B = Numbers > 1 ? L.source(S.Operands.at(N + 1), 32) : NoValue;
  Value P = NoValue;
  if (Red) {
    P = L.source(S.Operands.back(), Pred);
    if (S.Operands.back().Negated) {
      Value Not = L.temp(32);
      L.emit(Op::NotPred, Not, P);
      P = Not;
    }
  }
  if (Kind == BarrierKind::Arrive && B == NoValue)
    Mod.fail("the number of threads is missing");
  Inst &I = L.emit(Op::Barrier, D, A, B, P);
  I.Sub = static_cast<uint8_t>(Kind);
  I.Imm = Aligned;
  L.synchronise();
}
} // namespace

void addCollectiveLowerings(LowerTable &T) {
  T["shfl"] = shuffle;
  T["vote"] = vote;
  T["match"] = match;
  T["redux"] = reduce;
  T["elect"] = elect;
  T["activemask"] = activeMask;
  T["bar"] = T["barrier"] = barrier;
}

} // namespace llmc::cudasim
