// Functions of a kernel: parameters, variables, statements, and calls, which
// are inlined. A parameter of a call is local memory with one name on both
// sides, so that st.param and ld.param need nothing special.
#include "tools/cudasim/program/Lowering.h"

#include <algorithm>

namespace llmc::cudasim {

constexpr unsigned MostInlined = 256; ///< calls in one kernel, nested or not

Symbol Lowering::symbol(const std::string &Name) const {
  if (auto It = Symbols.find(Prefix + Name); It != Symbols.end())
    return It->second;
  if (auto It = Symbols.find(Name); It != Symbols.end())
    return It->second;
  fail("unknown symbol " + Name);
}

static uint64_t roundUp(uint64_t V, uint64_t To) {
  return (V + To - 1) / To * To;
}

void Lowering::declareParams() {
  uint64_t At = 0;
  for (const Variable &V : F.Params) {
    At = roundUp(At, V.Align);
    Symbols[V.Name] = {Space::Param, At, V.Bytes};
    P.Params.push_back(
        {static_cast<uint32_t>(At), static_cast<uint32_t>(V.Bytes)});
    At += V.Bytes;
  }
  P.ParamBytes = static_cast<uint32_t>(At);
  if (At > 32764)
    fail("the parameters have " + std::to_string(At) +
         " bytes, at most 32764 are possible");
}

void Lowering::declareVariables(const Function &Of) {
  for (const Variable &V : Of.Variables) {
    bool Shared = V.Where == Space::Shared;
    if (Shared && HasDynamicShared && !Of.Entry)
      fail("shared variable " + V.Name +
           " of a called function beside "
           "dynamic shared memory is not supported");
    uint32_t &Used = Shared ? P.SharedBytes : P.LocalBytes;
    uint64_t Begin = roundUp(Used, std::max(V.Align, 1u));
    if (Begin + V.Bytes > (Shared ? 1u << 20 : 1u << 19))
      fail("variable " + V.Name + " of " + std::to_string(V.Bytes) +
           " bytes is too large for its space");
    Used = static_cast<uint32_t>(Begin + V.Bytes);
    if (Shared) {
      P.SharedAlign = std::max(P.SharedAlign, V.Align);
      P.SharedVariables.push_back({V.Name,
                                   static_cast<uint32_t>(SharedBase + Begin),
                                   static_cast<uint32_t>(V.Bytes)});
    }
    Symbols[Prefix + V.Name] = {Shared ? Space::Shared : Space::Local,
                                Shared ? SharedBase + Begin : Begin, V.Bytes};
  }
}

/// Shared variables of the module that this kernel names, and where dynamic
/// shared memory (extern) begins: behind all static ones.
void Lowering::placeModuleShared() {
  auto Uses = [](const Function &Of, const std::string &Name) {
    for (const Statement &S : Of.Body)
      for (const Operand &O : S.Operands) {
        if (O.Name == Name)
          return true;
        for (const Operand &I : O.Items)
          if (I.Name == Name)
            return true;
      }
    return false;
  };
  auto Used = [&](const std::string &Name) {
    if (Uses(F, Name))
      return true;
    for (const Function &G : M.Functions)
      if (!G.Entry && Uses(G, Name))
        return true;
    return false;
  };
  Function Holder;
  for (const Variable &V : M.Variables)
    if (V.Where == Space::Shared && !V.Extern && Used(V.Name))
      Holder.Variables.push_back(V);
  declareVariables(Holder);
  uint64_t End = P.SharedBytes;
  for (const Variable &V : F.Variables)
    if (V.Where == Space::Shared)
      End = roundUp(End, std::max(V.Align, 1u)) + V.Bytes;
  for (const Variable &V : M.Variables)
    if (V.Where == Space::Shared && V.Extern) {
      Symbols[V.Name] = {Space::Shared, SharedBase + roundUp(End, 16), 0};
      HasDynamicShared = true;
    }
}

void Lowering::countWrites(const Function &Of) {
  Writes.assign(Of.Registers.size(), 0);
  for (const Statement &S : Of.Body) {
    if (S.Operands.empty())
      continue;
    const Operand &First = S.Operands[0];
    if (First.What == Operand::Register)
      ++Writes[First.Number];
    for (const Operand &O : First.Items)
      if (First.What != Operand::Memory && O.What == Operand::Register)
        ++Writes[O.Number];
  }
}

void Lowering::function(const Function &Of, unsigned Depth) {
  if (Depth > 16)
    fail("calls of " + Of.Name +
         " are nested too deeply; recursion is not "
         "supported");
  Current = &Of;
  FirstRegister = static_cast<Value>(Values.size());
  for (size_t I = 0; I != Of.Registers.size(); ++I) {
    ValueInfo V;
    V.Declared = Of.Registers[I];
    V.Wide = V.Declared.total() > 32;
    V.Name = Of.RegisterNames[I];
    if (V.Declared.total() > 64)
      fail("128-bit registers are not supported");
    Values.push_back(V);
  }
  countWrites(Of);
  declareVariables(Of);
  for (const Statement &S : Of.Body) {
    At = &S;
    if (S.Label.empty()) {
      statement(S);
      continue;
    }
    if (!PlacedLabels.emplace(Prefix + S.Label, true).second)
      fail("label " + S.Label + " is defined twice");
    startBlock(labelBlock(S.Label));
  }
}

void Lowering::statement(const Statement &S) {
  auto It = lowerTable().find(S.Opcode[0]);
  if (It == lowerTable().end())
    fail("instruction " + opcodeText(S) + " is not supported");
  FirstStep = true;
  CurrentGuard = S.Guarded ? FirstRegister + S.Guard : NoValue;
  CurrentGuardNot = S.GuardNot;
  static const char *const Control[] = {
      "ret",      "exit",      "trap",      "call",  "brx",
      "bar",      "barrier",   "shfl",      "vote",  "match",
      "redux",    "elect",     "mma",       "wmma",  "ldmatrix",
      "stmatrix", "movmatrix", "nanosleep", "brkpt", "mbarrier"};
  uint32_t After = 0;
  bool Around = S.Guarded && std::find(std::begin(Control), std::end(Control),
                                       S.Opcode[0]) != std::end(Control);
  if (Around)
    branchAround(After);
  for (const Operand &O : S.Operands)
    if (O.What == Operand::Memory && O.Items.empty())
      fail(opcodeText(S) + ": an address is missing");
  try {
    It->second(*this, S);
  } catch (const std::out_of_range &) {
    fail(opcodeText(S) +
         " has too few operands: " + std::to_string(S.Operands.size()));
  }
  if (Around)
    startBlock(After);
  CurrentGuard = NoValue;
  CurrentGuardNot = false;
}

void Lowering::call(const Statement &S) {
  // call{.uni} {(results),} name{, (arguments)};
  size_t I = 0;
  std::vector<Operand> Results, Arguments;
  if (S.Operands.at(0).What == Operand::List)
    Results = S.Operands[I++].Items;
  const Operand &Name = S.Operands.at(I++);
  if (Name.What != Operand::Symbol)
    fail("calls through a pointer are not supported");
  if (I < S.Operands.size() && S.Operands[I].What == Operand::List)
    Arguments = S.Operands[I].Items;
  auto LocalOf = [&](const Operand &O) {
    if (O.What != Operand::Symbol)
      fail("arguments of a call that are no .param are not supported");
    return symbol(O.Name);
  };
  if (Name.Name == "vprintf" || Name.Name == "__assertfail") {
    std::vector<Value> Places;
    for (const Operand &O : Arguments)
      Places.push_back(constant(LocalOf(O).Address, false));
    for (const Operand &O : Results)
      Places.push_back(constant(LocalOf(O).Address, false));
    emit(Name.Name == "vprintf" ? Op::Print : Op::Assert, NoValue);
    return list({}, Places);
  }
  const Function *Callee = nullptr;
  for (const Function &G : M.Functions)
    if (G.Name == Name.Name && !G.Entry)
      Callee = &G;
  if (!Callee || !Callee->Defined)
    fail("function " + Name.Name + " is not defined");
  if (Callee->Params.size() != Arguments.size() ||
      Callee->Results.size() != Results.size())
    fail("function " + Name.Name + " takes " +
         std::to_string(Callee->Params.size()) + " arguments, found " +
         std::to_string(Arguments.size()));
  if (++Inlined > MostInlined)
    fail("more than " + std::to_string(MostInlined) + " calls in a kernel");
  std::string Inner = Callee->Name + "#" + std::to_string(Inlined) + ":";
  for (size_t N = 0; N != Arguments.size(); ++N)
    Symbols[Inner + Callee->Params[N].Name] = LocalOf(Arguments[N]);
  for (size_t N = 0; N != Results.size(); ++N)
    Symbols[Inner + Callee->Results[N].Name] = LocalOf(Results[N]);
  const Function *Caller = Current;
  const Statement *CallAt = At;
  Value CallerRegisters = FirstRegister;
  std::vector<uint32_t> CallerWrites = std::move(Writes);
  std::string Outer = Prefix;
  std::string Return = Inner + "return";
  Prefix = "";
  labelBlock(Return);
  Prefix = Inner;
  ReturnLabels.push_back(Return);
  function(*Callee, static_cast<unsigned>(ReturnLabels.size()));
  ReturnLabels.pop_back();
  Prefix = "";
  PlacedLabels[Return] = true;
  startBlock(labelBlock(Return));
  Prefix = Outer;
  Current = Caller;
  At = CallAt;
  FirstRegister = CallerRegisters;
  Writes = std::move(CallerWrites);
}

Value Lowering::renamed(Value V) const {
  for (unsigned Steps = 0; Steps != 64; ++Steps) {
    auto It = Renamed.find(V);
    if (It == Renamed.end())
      return V;
    V = It->second;
  }
  return V;
}

void Lowering::finish() {
  for (const auto &[Label, Number] : Labels)
    if (!PlacedLabels.count(Label))
      throw PtxError(F.Line, "unknown label " + Label + " in " + F.Name);
  for (std::vector<Inst> &Body : Bodies)
    for (Inst &I : Body)
      forOperands(I, P.Lists, [&](Value &V, bool Result) {
        if (!Result)
          V = renamed(V);
      });
  for (Block &B : P.Blocks)
    if (B.Predicate != NoValue)
      B.Predicate = renamed(B.Predicate);
}

Program Lowering::run() {
  P.Name = F.Name;
  P.Target = M.Target;
  newBlock();
  declareParams();
  placeModuleShared();
  function(F, 0);
  if (!OpenEnded)
    exit();
  finish();
  uint64_t Threads = 1;
  for (unsigned I = 0; I != 3; ++I) {
    P.ReqThreads[I] = F.ReqThreads[I];
    Threads *= std::max(1u, F.MaxThreads[I]);
  }
  if (F.MaxThreads[0] != 0)
    P.MaxThreads = static_cast<uint32_t>(std::min<uint64_t>(Threads, 1024));
  // Liveness takes a bit for every pair.
  if (P.Blocks.size() * Values.size() > size_t{1} << 33)
    throw PtxError(F.Line, "kernel " + F.Name + " is too large: " +
                               std::to_string(P.Blocks.size()) +
                               " blocks of code");
  orderBlocks(P, Bodies);
  assignSlots(P, Values);
  return std::move(P);
}

} // namespace llmc::cudasim
