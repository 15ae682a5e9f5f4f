// Loads, stores, atomics, asynchronous copies, fences. Cache operators and
// hints change nothing here and are accepted.
#include "tools/cudasim/program/LowerTools.h"

namespace llmc::cudasim {

Lowering::Address Lowering::address(const Operand &O, Space &Where) {
  if (O.What != Operand::Memory)
    fail("expected an address in brackets");
  Address A;
  A.Added = O.Value;
  const Operand &Base = O.Items.at(0);
  if (Base.What == Operand::Integer) {
    A.Added += Base.Value;
    A.Base = constant(0, true);
  } else if (Base.What == Operand::Symbol) {
    Symbol S = symbol(Base.Name);
    A.Added += static_cast<int64_t>(S.Address) + Base.Value;
    A.Base = constant(0, true);
    if (Where == Space::Generic || Where == Space::Param)
      Where = S.Where;
  } else {
    A.Base = reg(Base);
    A.Narrow = !Values[A.Base].Wide;
    if (A.Narrow && Values[A.Base].Declared.total() != 32)
      fail("an address needs 32 or 64 bits");
  }
  return A;
}

std::optional<Value> Lowering::parameter(const Operand &O, Type T,
                                         unsigned RegBits) {
  const Operand &Base = O.Items.at(0);
  if (Base.What != Operand::Symbol)
    return std::nullopt;
  Symbol S = symbol(Base.Name);
  if (S.Where != Space::Param || T.total() > 64)
    return std::nullopt;
  uint64_t At = S.Address + static_cast<uint64_t>(O.Value + Base.Value);
  unsigned Bytes = T.total() / 8;
  if (At + Bytes > P.ParamBytes)
    fail("a parameter is read at offset " + std::to_string(At) + " of " +
         std::to_string(P.ParamBytes));
  bool Wide = RegBits == 64;
  std::tuple<uint64_t, unsigned, bool, bool> Key{At, Bytes, Wide, T.isSigned()};
  auto [It, New] = ParamValues.emplace(Key, Values.size());
  if (New) {
    ValueInfo I;
    I.Fixed = true;
    I.Wide = Wide;
    I.How.What = Fill::Parameter;
    I.How.Bits = At;
    I.How.Bytes = static_cast<uint8_t>(Bytes);
    I.How.Signed = T.isSigned() && RegBits > 16;
    Values.push_back(I);
  }
  return It->second;
}

namespace {

/// What all accesses have in common.
struct Access {
  Space Where = Space::Generic;
  bool Ordered = false, NonCoherent = false, Hinted = false;
  unsigned Elements = 1;
  Scope Far = Scope::Gpu;
};

bool takeScope(Modifiers &Mod, Scope &To) {
  static const std::pair<const char *, Scope> Scopes[] = {
      {"cta", Scope::Cta},
      {"cluster", Scope::Cluster},
      {"gpu", Scope::Gpu},
      {"sys", Scope::System}};
  for (auto [Name, S] : Scopes)
    if (Mod.take(Name)) {
      To = S;
      return true;
    }
  return false;
}

Access takeAccess(Modifiers &Mod) {
  Access A;
  for (const char *Name : {"volatile", "relaxed", "acquire", "release",
                           "acq_rel", "mmio", "seq_cst"})
    A.Ordered |= Mod.take(Name);
  Mod.take("weak");
  takeScope(Mod, A.Far);
  static const std::pair<const char *, Space> Spaces[] = {
      {"global", Space::Global},      {"shared", Space::Shared},
      {"shared::cta", Space::Shared}, {"local", Space::Local},
      {"const", Space::Const},        {"param", Space::Param},
      {"param::entry", Space::Param}, {"param::func", Space::Param}};
  for (auto [Name, S] : Spaces)
    if (Mod.take(Name))
      A.Where = S;
  A.NonCoherent = Mod.take("nc");
  for (const char *Name :
       {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal",
        "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
        "L1::no_allocate", "L2::evict_normal", "L2::evict_first",
        "L2::evict_last", "L2::64B", "L2::128B", "L2::256B"})
    Mod.take(Name);
  A.Hinted = Mod.take("L2::cache_hint");
  for (unsigned N : {2u, 4u, 8u})
    if (Mod.take("v" + std::to_string(N)))
      A.Elements = N;
  return A;
}

uint8_t flagsOf(const Access &A, const Lowering::Address &At) {
  return static_cast<uint8_t>((A.Ordered ? Ordered : 0) |
                              (A.NonCoherent ? NonCoherent : 0) |
                              (At.Narrow ? Narrow : 0));
}

void fill(Inst &I, const Access &A, const Lowering::Address &At, Type T) {
  I.Where = A.Where;
  I.Imm = At.Added;
  I.Bytes = static_cast<uint8_t>(T.total() / 8);
  I.Elements = static_cast<uint8_t>(A.Elements);
  I.Of = T;
  I.Flags |= flagsOf(A, At);
}

std::vector<Operand> elements(const Modifiers &Mod, const Operand &O,
                              unsigned Count) {
  if (O.What != Operand::Vector)
    return Count == 1 ? std::vector<Operand>{O}
                      : (Mod.fail("a list of registers is missing"),
                         std::vector<Operand>{});
  if (O.Items.size() != Count)
    Mod.fail(std::to_string(Count) + " registers expected, found " +
             std::to_string(O.Items.size()));
  return O.Items;
}

/// How a loaded element must be extended in a register of Bits bits.
std::optional<Op> extension(Type T, unsigned Bits) {
  if (!T.isSigned() || T.Bits >= 32)
    return std::nullopt;
  if (Bits == 16)
    return T.Bits == 8 ? std::optional(Op::ExtS8To16) : std::nullopt;
  return T.Bits == 8 ? Op::ExtS8 : Op::ExtS16;
}

void load(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Access A = takeAccess(Mod);
  Type T = Mod.type();
  Mod.finish();
  if (T.Bits > 64)
    Mod.fail("no 128-bit registers");
  const Operand &From = S.Operands.at(1);
  std::vector<Operand> To = elements(Mod, S.Operands.at(0), A.Elements);
  if (From.What != Operand::Memory)
    Mod.fail("expected an address in brackets");
  if (A.Where == Space::Param && A.Elements == 1 &&
      To[0].What == Operand::Register) {
    Value D = L.reg(To[0]);
    if (std::optional<Value> P = L.parameter(From, T, L.registerBits(D))) {
      if (L.unguarded() && L.singleWrite(To[0]))
        return L.rename(D, *P);
      return L.emit(L.isWide(D) ? Op::Mov64 : Op::Mov32, D, *P), void();
    }
  }
  Lowering::Address At = L.address(From, A.Where);
  std::vector<Value> Loaded, Wanted;
  for (const Operand &O : To) {
    Value D = O.What == Operand::Sink ? L.temp(T.total()) : L.reg(O);
    if (L.isWide(D) < (T.total() > 32))
      Mod.fail("the register is too narrow");
    Wanted.push_back(D);
    Loaded.push_back(L.isWide(D) && T.total() <= 32 ? L.temp(32) : D);
  }
  Inst &I = L.emit(Op::Load, NoValue, At.Base);
  fill(I, A, At, T);
  L.list(Loaded, {});
  for (size_t N = 0; N != Wanted.size(); ++N) {
    if (std::optional<Op> E = extension(T, L.registerBits(Wanted[N])))
      L.emit(*E, Loaded[N], Loaded[N]);
    if (Loaded[N] != Wanted[N])
      L.emit(T.isSigned() ? Op::S64FromS32 : Op::U64FromU32, Wanted[N],
             Loaded[N]);
  }
}

void store(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Access A = takeAccess(Mod);
  Type T = Mod.type();
  Mod.finish();
  if (T.Bits > 64)
    Mod.fail("no 128-bit registers");
  Lowering::Address At = L.address(S.Operands.at(0), A.Where);
  if (A.Where == Space::Param || A.Where == Space::Const)
    Mod.fail("this memory cannot be written");
  std::vector<Value> From;
  for (const Operand &O : elements(Mod, S.Operands.at(1), A.Elements)) {
    Value V = O.What == Operand::Register ? L.reg(O) : L.source(O, T);
    if (L.isWide(V) && T.total() <= 32) {
      Value Low = L.temp(32);
      L.emit(Op::U32FromU64, Low, V);
      V = Low;
    } else if (!L.isWide(V) && T.total() == 64) {
      Mod.fail("the register is too narrow");
    }
    From.push_back(V);
  }
  Inst &I = L.emit(Op::Store, NoValue, At.Base);
  fill(I, A, At, T);
  L.list({}, From);
}

AtomicKind atomicKind(Modifiers &Mod) {
  static const std::pair<const char *, AtomicKind> Kinds[] = {
      {"and", AtomicKind::And},         {"or", AtomicKind::Or},
      {"xor", AtomicKind::Xor},         {"exch", AtomicKind::Exchange},
      {"cas", AtomicKind::CompareSwap}, {"add", AtomicKind::Add},
      {"inc", AtomicKind::Inc},         {"dec", AtomicKind::Dec},
      {"min", AtomicKind::Min},         {"max", AtomicKind::Max}};
  for (auto [Name, Kind] : Kinds)
    if (Mod.take(Name))
      return Kind;
  Mod.fail("modifier '." + Mod.peek() + "' is not supported");
}

void atomic(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  bool Returns = S.Opcode[0] == "atom";
  Access A = takeAccess(Mod);
  AtomicKind Kind = atomicKind(Mod);
  Mod.take("noftz");
  Type T = Mod.type();
  Mod.finish();
  bool Bitwise = Kind <= AtomicKind::CompareSwap;
  bool Good =
      T.total() == 32 || T.total() == 64 ||
      (T.Bits == 16 && (T.isFloat() || Kind == AtomicKind::CompareSwap));
  if (!Good || (Bitwise && T.isFloat()) ||
      ((Kind == AtomicKind::Inc || Kind == AtomicKind::Dec) && T.Bits != 32))
    Mod.fail("no such type");
  size_t N = Returns;
  Lowering::Address At = L.address(S.Operands.at(N), A.Where);
  if (A.Where != Space::Generic && A.Where != Space::Global &&
      A.Where != Space::Shared)
    Mod.fail("atomics are for global and shared memory");
  std::vector<Value> Results, Sources;
  for (const Operand &O : elements(Mod, S.Operands.at(N + 1), A.Elements))
    Sources.push_back(L.source(O, T));
  if (Kind == AtomicKind::CompareSwap)
    Sources.push_back(L.source(S.Operands.at(N + 2), T));
  if (Returns)
    for (const Operand &O : elements(Mod, S.Operands[0], A.Elements))
      Results.push_back(L.result(O, T.total()));
  Inst &I = L.emit(Op::Atomic, NoValue, At.Base);
  fill(I, A, At, T);
  I.Sub = static_cast<uint8_t>(Kind);
  I.Flags |= Ordered;
  L.list(Results, Sources);
}

Value wholeAddress(Lowering &L, const Lowering::Address &A) {
  Value Base = A.Base;
  if (A.Narrow) {
    Value To = L.temp(64);
    L.emit(Op::U64FromU32, To, Base);
    Base = To;
  }
  if (A.Added == 0)
    return Base;
  Value Sum = L.temp(64);
  L.emit(Op::AddB64, Sum, Base,
         L.constant(static_cast<uint64_t>(A.Added), true));
  return Sum;
}

/// cp.async.{ca,cg}.shared.global [dst], [src], size{, src-size | !ignore};
void copyAsync(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  if (!Mod.take("async"))
    Mod.fail("only cp.async is supported");
  if (Mod.take("commit_group") || Mod.take("wait_all")) {
    bool All = S.Opcode.back() == "wait_all";
    Mod.finish();
    L.emit(Op::CopyCommit, NoValue);
    if (All)
      L.emit(Op::CopyWait, NoValue).Imm = 0;
    return;
  }
  if (Mod.take("wait_group")) {
    Mod.finish();
    const Operand &N = S.Operands.at(0);
    if (N.What != Operand::Integer || N.Value < 0)
      Mod.fail("the number of groups must be a number");
    L.emit(Op::CopyWait, NoValue).Imm = N.Value;
    return;
  }
  if (Mod.peek() == "bulk" || Mod.peek() == "mbarrier")
    Mod.fail("bulk copies and mbarriers are not supported");
  bool Cg = Mod.take("cg");
  Mod.take("ca");
  if (!Mod.take("shared") && !Mod.take("shared::cta"))
    Mod.fail("the destination must be shared memory");
  if (!Mod.take("global"))
    Mod.fail("the source must be global memory");
  for (const char *Name : {"L2::64B", "L2::128B", "L2::256B"})
    Mod.take(Name);
  bool Hint = Mod.take("L2::cache_hint");
  Mod.finish();
  Space Shared = Space::Shared, Global = Space::Global;
  Lowering::Address To = L.address(S.Operands.at(0), Shared);
  Lowering::Address From = L.address(S.Operands.at(1), Global);
  const Operand &Size = S.Operands.at(2);
  bool Valid =
      Size.What == Operand::Integer &&
      (Size.Value == 16 || (!Cg && (Size.Value == 4 || Size.Value == 8)));
  if (!Valid)
    Mod.fail("the size must be " + std::string(Cg ? "16" : "4, 8 or 16"));
  Value Bytes = NoValue;
  if (S.Operands.size() > 3 + size_t{Hint}) {
    const Operand &O = S.Operands[3];
    bool Ignore = O.What == Operand::Register && L.isPredicate(L.reg(O));
    if (Ignore) {
      Bytes = L.temp(32);
      L.emit(Op::SelB32, Bytes, L.constant(0, false),
             L.constant(static_cast<uint64_t>(Size.Value), false), L.reg(O));
    } else {
      Bytes = L.source(O, 32);
    }
  }
  Value ToAddress = wholeAddress(L, To), FromAddress = wholeAddress(L, From);
  Inst &I = L.emit(Op::CopyAsync, NoValue, ToAddress, FromAddress, Bytes);
  I.Bytes = static_cast<uint8_t>(Size.Value);
  I.Flags |= Cg ? BypassL1 : 0;
}

void fence(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  Scope Far = Scope::Gpu;
  for (const char *Name : {"sc", "acq_rel", "acquire", "release"})
    Mod.take(Name);
  if (Mod.take("gl"))
    Far = Scope::Gpu;
  else if (!takeScope(Mod, Far))
    Mod.fail("the scope is missing");
  Mod.finish();
  L.emit(Op::Fence, NoValue).Sub = static_cast<uint8_t>(Far);
}

/// Hints about caches.
void nothing(Lowering &L, const Statement &) { L.emit(Op::Nop, NoValue); }
} // namespace

void addMemoryLowerings(LowerTable &T) {
  T["ld"] = T["ldu"] = load;
  T["st"] = store;
  T["atom"] = T["red"] = atomic;
  T["cp"] = copyAsync;
  T["membar"] = T["fence"] = fence;
  T["prefetch"] = T["prefetchu"] = T["discard"] = T["applypriority"] = nothing;
}

} // namespace llmc::cudasim
