// From parsed PTX to the internal form. One Lowering per kernel; the families
// of instructions are in Lower*.cpp, each registers its mnemonics.
#ifndef LLMC_TOOLS_CUDASIM_PROGRAM_LOWERING_H
#define LLMC_TOOLS_CUDASIM_PROGRAM_LOWERING_H

#include "tools/cudasim/program/Program.h"

#include <map>
#include <optional>
#include <unordered_map>

namespace llmc::cudasim {

class Lowering;

/// The modifiers of an opcode, taken one after another in any order that the
/// instruction allows; what is left at the end is not supported.
class Modifiers {
public:
  explicit Modifiers(const Statement &From);
  bool take(std::string_view Name);
  /// The next modifier, removed; empty at the end.
  std::string next();
  std::string peek() const;
  /// The next modifier, which must be a type.
  Type type();
  bool isType() const;
  /// Throws if anything is left.
  void finish() const;
  [[noreturn]] void fail(const std::string &Text) const;
  const Statement &S;

private:
  size_t Next = 1;
  std::vector<bool> Used;
};

using LowerFunction = void (*)(Lowering &, const Statement &);
/// Mnemonic -> how it is lowered. Filled by the add*Lowerings below.
using LowerTable = std::unordered_map<std::string, LowerFunction>;
void addIntegerLowerings(LowerTable &T);
void addFloatLowerings(LowerTable &T);
void addCompareLowerings(LowerTable &T);
void addConvertLowerings(LowerTable &T);
void addMoveLowerings(LowerTable &T);
void addMemoryLowerings(LowerTable &T);
void addCollectiveLowerings(LowerTable &T);
void addMatrixLowerings(LowerTable &T);
void addControlLowerings(LowerTable &T);
const LowerTable &lowerTable();
/// "ld.global.f32"
std::string opcodeText(const Statement &S);

/// How values are made while lowering.
struct ValueInfo {
  bool Wide = false;  ///< 8 bytes per lane
  bool Fixed = false; ///< Fill below, not written by code
  Type Declared;      ///< of a register
  Fill How;
  std::string Name;
};

class Lowering {
public:
  Lowering(const PtxModule &Module, const Function &Kernel,
           const std::map<std::string, Symbol> &ModuleSymbols)
      : M(Module), F(Kernel), Symbols(ModuleSymbols) {}
  Program run();

  // For the families.
  Value reg(const Operand &O);
  /// Any source operand as a value of Bits bits: register, number, symbol,
  /// special register. A 16-bit or 8-bit number is cut to its width.
  Value source(const Operand &O, Type T);
  Value source(const Operand &O, unsigned Bits) {
    return source(O, Type{Meaning::Bits, static_cast<uint8_t>(Bits), 1});
  }
  /// The register that an instruction writes; Sink gives a scratch value.
  Value result(const Operand &O, unsigned Bits);
  Value constant(uint64_t Bits, bool Wide);
  Value temp(unsigned Bits);
  Inst &emit(Op O, Value D, Value A = NoValue, Value B = NoValue,
             Value C = NoValue);
  /// Sets List, Defs and Uses of the last instruction emitted.
  void list(const std::vector<Value> &Results,
            const std::vector<Value> &Sources);
  /// The last instruction ends its block and waits: see End::Sync.
  void synchronise();
  void exit();
  /// ret: the end of the kernel, or of an inlined function.
  void leaveFunction();
  void jump(const std::string &Label);
  /// Address operand: base into A, displacement into Imm of the last Inst.
  struct Address {
    Value Base = NoValue;
    int64_t Added = 0;
    bool Narrow = false;
  };
  Address address(const Operand &O, Space &Where);
  /// A fixed parameter as a value, when the access is one.
  std::optional<Value> parameter(const Operand &O, Type T, unsigned RegBits);
  bool isPredicate(Value V) const {
    return Values[V].Declared.Kind == Meaning::Pred;
  }
  bool isWide(Value V) const { return Values[V].Wide; }
  /// 16, 32 or 64; 32 for what is no register.
  unsigned registerBits(Value V) const {
    unsigned Bits = Values[V].Declared.total();
    return Bits == 0 ? (Values[V].Wide ? 64 : 32) : Bits <= 16 ? 16 : Bits;
  }
  void rename(Value From, Value To) { Renamed[From] = To; }
  /// True for a register that only the current instruction writes.
  bool singleWrite(const Operand &O) const;
  /// The current instruction has no guard.
  bool unguarded() const { return CurrentGuard == NoValue; }
  Value carry();
  [[noreturn]] void fail(const std::string &Text) const;
  const PtxModule &module() const { return M; }
  bool tableBranch(const Statement &S, Value Index);
  void call(const Statement &S);

private:
  void declareParams();
  void finish();
  Value renamed(Value V) const;
  void declareVariables(const Function &Of);
  void placeModuleShared();
  void countWrites(const Function &Of);
  void function(const Function &Of, unsigned Depth);
  void statement(const Statement &S);
  void startBlock(uint32_t Number);
  uint32_t newBlock();
  uint32_t labelBlock(const std::string &Label);
  void branchAround(uint32_t &After);
  Symbol symbol(const std::string &Name) const;

  const PtxModule &M;
  const Function &F;
  std::map<std::string, Symbol> Symbols;
  Program P;
  std::vector<ValueInfo> Values;
  std::unordered_map<Value, Value> Renamed;
  std::map<std::pair<uint64_t, bool>, Value> Constants;
  std::map<std::string, Value> Specials;
  std::map<std::tuple<uint64_t, unsigned, bool, bool>, Value> ParamValues;
  /// Blocks by label while their numbers are provisional.
  std::map<std::string, uint32_t> Labels;
  std::map<std::string, bool> PlacedLabels; ///< those that have code
  bool HasDynamicShared = false;
  std::vector<std::vector<Inst>> Bodies; ///< of the blocks
  std::vector<uint32_t> Writes; ///< per register of the current function
  Value FirstRegister = 0;      ///< of the current function
  std::string Prefix;           ///< of labels in an inlined function
  std::vector<std::string> ReturnLabels;
  const Function *Current = nullptr;
  const Statement *At = nullptr;
  uint32_t Open = 0;      ///< block being filled
  bool OpenEnded = false; ///< it has its end: what follows is another block
  Value CurrentGuard = NoValue;
  bool CurrentGuardNot = false, FirstStep = true;
  Value CarryValue = NoValue;
  unsigned Inlined = 0;
};

/// Drops what cannot be reached and numbers the blocks by execution rank: the
/// order of a depth-first walk with every loop kept together. Running the
/// lanes with the lowest block first then meets at immediate post-dominators.
void orderBlocks(Program &P, std::vector<std::vector<Inst>> &Bodies);
/// Gives values slots by their live ranges and turns operands into offsets.
/// Blocks are in their order and their code is in P.Code.
void assignSlots(Program &P, std::vector<ValueInfo> &Values);
/// Calls On(value, is result) for every operand of I, whose place it may
/// change.
template <class Function>
void forOperands(Inst &I, std::vector<uint32_t> &Lists, Function On) {
  if (I.Guard != NoValue)
    On(I.Guard, false);
  for (Value *V : {&I.A, &I.B, &I.C})
    if (*V != NoValue)
      On(*V, false);
  for (unsigned N = 0; N != I.Defs + I.Uses; ++N)
    if (Lists[I.List + N] != NoValue)
      On(Lists[I.List + N], N < I.Defs);
  if (I.D != NoValue)
    On(I.D, true);
}

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_PROGRAM_LOWERING_H
