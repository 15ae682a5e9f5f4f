// The internal form of a kernel: decoded instructions with slot offsets, basic
// blocks in execution rank, and what a launch must fill in. Made once per
// module, read by all warps.
#ifndef LLMC_TOOLS_CUDASIM_PROGRAM_PROGRAM_H
#define LLMC_TOOLS_CUDASIM_PROGRAM_PROGRAM_H

#include "tools/cudasim/ptx/Ast.h"

#include <array>
#include <memory>

namespace llmc::cudasim {

enum class Op : uint16_t {
#define SIM_OP1(Name, ...) Name,
#define SIM_OP2(Name, ...) Name,
#define SIM_OP3(Name, ...) Name,
#define SIM_HAND(Name) Name,
#include "tools/cudasim/program/AluOps.def"
#include "tools/cudasim/program/HandOps.def"
#undef SIM_OP1
#undef SIM_OP2
#undef SIM_OP3
#undef SIM_HAND
  Count
};
constexpr size_t OpCount = static_cast<size_t>(Op::Count);
const char *opName(Op O);

/// An operand: while lowering the number of a value, later the byte offset of
/// its slot from the warp's register file. A slot holds 32 lanes of 4 or 8
/// bytes; predicates are 4 bytes per lane, 0 or all ones.
using Value = uint32_t;
constexpr Value NoValue = ~uint32_t{0};

struct Warp;
struct Inst;
using Handler = void (*)(Warp &, const Inst &);

enum InstFlags : uint8_t {
  GuardNot = 1,    ///< runs where the guard is false
  Continued = 2,   ///< not the first step of its PTX instruction
  Narrow = 4,      ///< the address register has 32 bits
  NonCoherent = 8, ///< ld.global.nc
  Ordered = 16,    ///< volatile, relaxed, acquire, release
  BypassL1 = 32    ///< cp.async.cg
};

struct Inst {
  Handler Run = nullptr;
  Value D = NoValue, A = NoValue, B = NoValue, C = NoValue;
  Value Guard = NoValue;
  Op Code{};
  uint8_t Flags = 0;
  uint8_t Bytes = 0;    ///< of one element in memory
  uint8_t Elements = 1; ///< of a vector access
  Space Where = Space::Generic;
  uint8_t Sub = 0;                   ///< kind within a hand-written operation
  Type Of;                           ///< element type of an atomic or a matrix
  Type With;                         ///< type of a matrix's other operand
  uint8_t Defs = 0;                  ///< the first Defs of List are results
  uint8_t Uses = 0;                  ///< the rest of List
  uint32_t List = 0;                 ///< first of Program::Lists
  uint32_t Line = 0, SourceLine = 0; ///< in the PTX, in the CUDA source
  int64_t Imm = 0; ///< displacement, or a number of the operation
};

enum class End : uint8_t { Next, Jump, Branch, Table, Exit, Sync };

/// Straight-line code and how it ends. A synchronising instruction is a block
/// of its own: warps wait in front of it.
struct Block {
  uint32_t Begin = 0, Count = 0; ///< of Program::Code
  End How = End::Next;
  bool BranchNot = false;    ///< Branch: taken where the predicate is false
  Value Predicate = NoValue; ///< Branch; Table: the index
  uint32_t Target = 0;       ///< Jump, Branch
  uint32_t Next = 0;         ///< Next, Sync, Branch not taken
  uint32_t Counted = 0;      ///< PTX instructions in it
  uint32_t Line = 0, SourceLine = 0;
  std::vector<uint32_t> Targets; ///< Table
};

/// A value that is the same for a launch, a block, a warp or a thread and is
/// filled in by the executor.
struct Fill {
  enum Kind : uint8_t { Constant, Parameter, SpecialRegister };
  Kind What = Constant;
  bool Wide = false;   ///< 8 bytes per lane
  bool Signed = false; ///< a parameter narrower than its register
  uint8_t Bytes = 0;   ///< of the parameter
  uint64_t Bits = 0;   ///< the constant; the parameter's offset
  std::string Name;    ///< of the special register
  uint32_t Slot = 0;   ///< offset
};

/// Kinds (Inst::Sub) of hand-written operations.
enum class AtomicKind : uint8_t {
  And,
  Or,
  Xor,
  Exchange,
  CompareSwap,
  Add,
  Inc,
  Dec,
  Min,
  Max
};
enum class ShuffleKind : uint8_t { Up, Down, Butterfly, Index };
enum class VoteKind : uint8_t { All, Any, Uniform, Ballot };
enum class ReduceKind : uint8_t { Add, Min, Max, And, Or, Xor };
enum class BarrierKind : uint8_t { Sync, Arrive, Popc, And, Or };
/// Of a fence, in Sub: how far it orders.
enum class Scope : uint8_t { Cta, Cluster, Gpu, System };

struct ParamInfo {
  uint32_t Offset = 0, Bytes = 0;
};

struct SharedVariable {
  std::string Name;
  uint32_t Offset = 0, Bytes = 0;
};

struct Program {
  std::string Name;
  std::vector<Inst> Code;
  std::vector<Block> Blocks; ///< entered at 0
  std::vector<uint32_t> Lists;
  std::vector<Fill> Fills;
  uint32_t RegisterBytes = 0; ///< of a warp
  uint32_t LiveRegisters = 0; ///< most 32-bit registers alive at a time
  uint32_t LocalBytes = 0;    ///< of a thread
  uint32_t SharedBytes = 0;   ///< static, without the reserved KiB
  uint32_t SharedAlign = 1;
  std::vector<SharedVariable> SharedVariables;
  std::vector<ParamInfo> Params;
  uint32_t ParamBytes = 0;
  uint32_t MaxThreads = 1024;
  std::array<uint32_t, 3> ReqThreads{};
  /// Registers that may be read before they are written, with their names.
  std::vector<std::pair<Value, std::string>> Unset;
  unsigned Target = 0; ///< of the module: 80
};

/// Places of module variables while a module is lowered.
struct Symbol {
  Space Where = Space::Global;
  uint64_t Address = 0; ///< global and const: device address; shared: offset
  uint64_t Bytes = 0;
};

/// Shared memory begins here: address 0 is no variable's, and devices of
/// today keep the first KiB for themselves.
constexpr uint32_t SharedBase = 1024;

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_PROGRAM_PROGRAM_H
