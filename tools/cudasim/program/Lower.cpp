// The frame of lowering: the table of instructions, modifiers, values and
// blocks. Functions, variables and calls are in LowerFunction.cpp.
#include "tools/cudasim/program/Lowering.h"

#include <algorithm>

namespace llmc::cudasim {

const char *opName(Op O) {
  static const char *const Names[] = {
#define SIM_OP1(Name, ...) #Name,
#define SIM_OP2(Name, ...) #Name,
#define SIM_OP3(Name, ...) #Name,
#define SIM_HAND(Name) #Name,
#include "tools/cudasim/program/AluOps.def"
#include "tools/cudasim/program/HandOps.def"
#undef SIM_OP1
#undef SIM_OP2
#undef SIM_OP3
#undef SIM_HAND
  };
  return Names[static_cast<size_t>(O)];
}

const LowerTable &lowerTable() {
  static const LowerTable Table = [] {
    LowerTable T;
    addIntegerLowerings(T);
    addFloatLowerings(T);
    addCompareLowerings(T);
    addConvertLowerings(T);
    addMoveLowerings(T);
    addMemoryLowerings(T);
    addCollectiveLowerings(T);
    addMatrixLowerings(T);
    addControlLowerings(T);
    return T;
  }();
  return Table;
}

std::string opcodeText(const Statement &S) {
  std::string Text;
  for (const std::string &Part : S.Opcode)
    Text += (Text.empty() ? "" : ".") + Part;
  return Text;
}

void Lowering::fail(const std::string &Text) const {
  throw PtxError(At ? At->Line : F.Line, Text);
}

// Modifiers.

Modifiers::Modifiers(const Statement &From)
    : S(From), Used(From.Opcode.size(), false) {}
void Modifiers::fail(const std::string &Text) const {
  throw PtxError(S.Line, opcodeText(S) + ": " + Text);
}
bool Modifiers::take(std::string_view Name) {
  for (size_t I = 1; I < S.Opcode.size(); ++I)
    if (!Used[I] && S.Opcode[I] == Name)
      return Used[I] = true;
  return false;
}
std::string Modifiers::peek() const {
  for (size_t I = 1; I < S.Opcode.size(); ++I)
    if (!Used[I])
      return S.Opcode[I];
  return "";
}
std::string Modifiers::next() {
  std::string N = peek();
  if (!N.empty())
    take(N);
  return N;
}
bool Modifiers::isType() const { return typeNamed(peek()).Bits != 0; }
Type Modifiers::type() {
  std::string N = next();
  Type T = typeNamed(N);
  if (T.Bits == 0)
    fail(N.empty() ? "the type is missing" : "no type '." + N + "'");
  return T;
}
void Modifiers::finish() const {
  if (std::string N = peek(); !N.empty())
    fail("modifier '." + N + "' is not supported");
}

// Values.

Value Lowering::temp(unsigned Bits) {
  ValueInfo I;
  I.Wide = Bits > 32;
  Values.push_back(I);
  return static_cast<Value>(Values.size() - 1);
}

Value Lowering::constant(uint64_t Bits, bool Wide) {
  if (!Wide)
    Bits &= 0xffffffffu;
  auto [It, New] = Constants.emplace(std::pair(Bits, Wide), Values.size());
  if (New) {
    ValueInfo I;
    I.Wide = Wide;
    I.Fixed = true;
    I.How.Wide = Wide;
    I.How.Bits = Bits;
    Values.push_back(I);
  }
  return It->second;
}

Value Lowering::carry() {
  if (CarryValue == NoValue)
    CarryValue = temp(32);
  return CarryValue;
}

Value Lowering::reg(const Operand &O) {
  if (O.What != Operand::Register)
    fail("expected a register" + (O.Name.empty() ? "" : ", found " + O.Name));
  return FirstRegister + O.Number;
}

bool Lowering::singleWrite(const Operand &O) const {
  return O.What == Operand::Register && Writes[O.Number] == 1;
}

Value Lowering::result(const Operand &O, unsigned Bits) {
  if (O.What == Operand::Sink)
    return temp(Bits);
  Value V = reg(O);
  if (Values[V].Wide != (Bits > 32))
    fail("register " + Values[V].Name + " has " +
         (Values[V].Wide ? "64" : "32 or less") + " bits, the result " +
         std::to_string(Bits));
  return V;
}

/// The registers that exec/Grid.cpp fills in.
static bool isSpecial(std::string Name) {
  size_t Dot = Name.find('.');
  if (Dot != std::string::npos) {
    std::string Axis = Name.substr(Dot);
    Name.resize(Dot);
    static const char *const Axes[] = {
        "%tid",       "%ntid",       "%ctaid",         "%nctaid",
        "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};
    return (Axis == ".x" || Axis == ".y" || Axis == ".z") &&
           std::find(std::begin(Axes), std::end(Axes), Name) != std::end(Axes);
  }
  static const char *const Names[] = {"%laneid",
                                      "%warpid",
                                      "%nwarpid",
                                      "%lanemask_eq",
                                      "%lanemask_lt",
                                      "%lanemask_le",
                                      "%lanemask_gt",
                                      "%lanemask_ge",
                                      "%smid",
                                      "%nsmid",
                                      "%gridid",
                                      "%dynamic_smem_size",
                                      "%total_smem_size",
                                      "%cluster_ctarank",
                                      "%cluster_nctarank",
                                      "%is_explicit_cluster"};
  return std::find(std::begin(Names), std::end(Names), Name) != std::end(Names);
}

Value Lowering::source(const Operand &O, Type T) {
  bool Wide = T.total() > 32;
  uint64_t Mask =
      T.total() >= 64 ? ~uint64_t{0} : (uint64_t{1} << T.total()) - 1;
  switch (O.What) {
  case Operand::Register: {
    Value V = reg(O);
    if (Values[V].Wide != Wide)
      fail("register " + Values[V].Name + " has " +
           (Values[V].Wide ? "64" : "32 or less") + " bits, expected " +
           std::to_string(T.total()));
    return V;
  }
  case Operand::Integer:
    if (T.Kind == Meaning::Pred)
      return constant(O.Value ? 0xffffffffu : 0, false);
    return constant(static_cast<uint64_t>(O.Value) & Mask, Wide);
  case Operand::Real: {
    uint64_t Bits = static_cast<uint64_t>(O.Value);
    double D = 0;
    float S = 0;
    if (O.Wide && T.total() == 32) {
      __builtin_memcpy(&D, &Bits, 8);
      S = static_cast<float>(D);
      Bits = 0;
      __builtin_memcpy(&Bits, &S, 4);
    } else if (!O.Wide && T.total() == 64) {
      __builtin_memcpy(&S, &Bits, 4);
      D = S;
      __builtin_memcpy(&Bits, &D, 8);
    }
    return constant(Bits & Mask, Wide);
  }
  case Operand::Symbol: {
    if (O.Name == "WARP_SZ")
      return constant(32, Wide);
    Symbol S = symbol(O.Name);
    return constant(S.Address + static_cast<uint64_t>(O.Value), Wide);
  }
  case Operand::Special: {
    if (!isSpecial(O.Name))
      fail("unknown register " + O.Name);
    bool Long = O.Name == "%gridid";
    auto [It, New] = Specials.emplace(O.Name, Values.size());
    if (New) {
      ValueInfo I;
      I.Fixed = true;
      I.Wide = I.How.Wide = Long;
      I.How.What = Fill::SpecialRegister;
      I.How.Name = O.Name;
      Values.push_back(I);
    }
    Value V = It->second;
    if (Long == Wide)
      return V;
    Value To = temp(T.total());
    emit(Wide ? Op::U64FromU32 : Op::U32FromU64, To, V);
    return To;
  }
  default:
    fail("this kind of operand is not supported here");
  }
}

Inst &Lowering::emit(Op O, Value D, Value A, Value B, Value C) {
  if (OpenEnded)
    startBlock(newBlock()); // behind a jump: nothing comes here
  Inst &I = Bodies[Open].emplace_back();
  I.Code = O;
  I.D = D;
  I.A = A;
  I.B = B;
  I.C = C;
  I.Guard = CurrentGuard;
  I.Flags = CurrentGuardNot ? GuardNot : 0;
  if (!FirstStep)
    I.Flags |= Continued;
  FirstStep = false;
  if (At) {
    I.Line = At->Line;
    I.SourceLine = At->SourceLine;
  }
  return I;
}

void Lowering::list(const std::vector<Value> &Results,
                    const std::vector<Value> &Sources) {
  Inst &I = Bodies[Open].back();
  I.List = static_cast<uint32_t>(P.Lists.size());
  I.Defs = static_cast<uint8_t>(Results.size());
  I.Uses = static_cast<uint8_t>(Sources.size());
  P.Lists.insert(P.Lists.end(), Results.begin(), Results.end());
  P.Lists.insert(P.Lists.end(), Sources.begin(), Sources.end());
}

// Blocks.

uint32_t Lowering::newBlock() {
  P.Blocks.emplace_back();
  Bodies.emplace_back();
  return static_cast<uint32_t>(P.Blocks.size() - 1);
}

uint32_t Lowering::labelBlock(const std::string &Label) {
  auto [It, New] = Labels.emplace(Prefix + Label, P.Blocks.size());
  if (New)
    newBlock();
  return It->second;
}

void Lowering::startBlock(uint32_t Number) {
  if (!OpenEnded)
    P.Blocks[Open].Next = Number; // falls through
  Open = Number;
  OpenEnded = false;
}

/// For a guarded instruction that ends a block: lanes without it go past.
void Lowering::branchAround(uint32_t &After) {
  if (OpenEnded)
    startBlock(newBlock());
  After = newBlock();
  uint32_t Inside = newBlock();
  Block &B = P.Blocks[Open];
  B.How = End::Branch;
  B.Predicate = CurrentGuard;
  B.BranchNot = !CurrentGuardNot;
  B.Target = After;
  B.Next = Inside;
  OpenEnded = true;
  startBlock(Inside);
  CurrentGuard = NoValue;
  CurrentGuardNot = false;
}

void Lowering::synchronise() {
  // The instruction just emitted moves to a block of its own.
  Inst I = Bodies[Open].back();
  Bodies[Open].pop_back();
  startBlock(newBlock());
  Bodies[Open].push_back(I);
  P.Blocks[Open].How = End::Sync;
  P.Blocks[Open].Line = I.Line;
  P.Blocks[Open].SourceLine = I.SourceLine;
  uint32_t After = newBlock();
  P.Blocks[Open].Next = After;
  OpenEnded = true;
  startBlock(After);
}

void Lowering::exit() {
  if (OpenEnded)
    return;
  P.Blocks[Open].How = End::Exit;
  OpenEnded = true;
}

void Lowering::jump(const std::string &Label) {
  if (OpenEnded)
    startBlock(newBlock());
  bool Always = CurrentGuard == NoValue;
  uint32_t To = labelBlock(Label);
  uint32_t Next = Always ? 0 : newBlock();
  Block &B = P.Blocks[Open];
  B.Line = At ? At->Line : 0;
  B.SourceLine = At ? At->SourceLine : 0;
  B.How = Always ? End::Jump : End::Branch;
  B.Predicate = CurrentGuard;
  B.BranchNot = CurrentGuardNot;
  B.Target = To;
  B.Next = Next;
  OpenEnded = true;
  if (!Always)
    startBlock(Next);
}

void Lowering::leaveFunction() {
  if (ReturnLabels.empty())
    return exit();
  std::string Inner = Prefix;
  Prefix = "";
  jump(ReturnLabels.back());
  Prefix = Inner;
}

bool Lowering::tableBranch(const Statement &S, Value Index) {
  std::vector<uint32_t> Targets;
  for (const std::string &L : S.Targets)
    Targets.push_back(labelBlock(L));
  if (Targets.empty())
    return false;
  if (OpenEnded)
    startBlock(newBlock());
  Block &B = P.Blocks[Open];
  B.How = End::Table;
  B.Predicate = Index;
  B.Targets = std::move(Targets);
  OpenEnded = true;
  return true;
}

} // namespace llmc::cudasim
