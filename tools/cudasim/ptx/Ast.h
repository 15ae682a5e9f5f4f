// PTX as parsed: registers are numbers, everything else keeps its name. What an
// instruction means is decided later, by program/Lower*.
#ifndef LLMC_TOOLS_CUDASIM_PTX_AST_H
#define LLMC_TOOLS_CUDASIM_PTX_AST_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace llmc::cudasim {

/// PTX that cannot be read or is not supported; Line counts from 1, 0 where no
/// line is to blame. Text is one line without the place.
struct PtxError : std::runtime_error {
  PtxError(unsigned AtLine, const std::string &Text)
      : std::runtime_error(Text), Line(AtLine) {}
  unsigned Line;
  /// What CUDA calls the failure: 218 (invalid PTX) or 222 (version).
  int Code = 218;
};

/// What a type's bits mean.
enum class Meaning : uint8_t { Bits, Unsigned, Signed, Float, BFloat, Pred };

/// A PTX type, `.f16x2` for instance: Float, 16 bits, 2 of them.
struct Type {
  Meaning Kind = Meaning::Bits;
  uint8_t Bits = 0; ///< of one element; 0 is no type
  uint8_t Count = 1;

  unsigned total() const { return Bits * Count; }
  bool isFloat() const {
    return Kind == Meaning::Float || Kind == Meaning::BFloat;
  }
  bool isSigned() const { return Kind == Meaning::Signed; }
  bool operator==(const Type &) const = default;
};

/// "f32" -> the type; a type of 0 bits for anything else. `tf32`, `e4m3` and
/// other formats that only some instructions know are not types here.
Type typeNamed(std::string_view Name);

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };

struct Operand {
  enum Kind : uint8_t {
    Register, ///< Number
    Special,  ///< Name: %tid.x
    Symbol,   ///< Name (variable, function or label), Value added to it
    Integer,  ///< Value
    Real,     ///< Value holds the bits, of a double if Wide, else of a float
    Vector,   ///< Items
    Memory,   ///< Items[0] (register, symbol, integer) + Value
    Pair,     ///< Items: d|p
    List,     ///< Items: (a, b) of a call
    Sink      ///< _
  };
  Kind What = Sink;
  bool Wide = false;
  bool Negated = false; ///< !p
  uint32_t Number = 0;
  int64_t Value = 0;
  std::string Name;
  std::vector<Operand> Items;
};

struct Statement {
  std::string Label; ///< a label when not empty; then nothing else counts
  std::vector<std::string> Opcode; ///< "ld" "global" "f32"
  std::vector<Operand> Operands;
  bool Guarded = false, GuardNot = false;
  uint32_t Guard = 0; ///< register
  unsigned Line = 0;
  unsigned SourceLine = 0;          ///< of .loc, 0 without
  std::vector<std::string> Targets; ///< of brx.idx
};

/// A variable of any space: parameter, shared array, module global.
struct Variable {
  std::string Name;
  Space Where = Space::Global;
  uint64_t Bytes = 0;
  uint32_t Align = 1;
  bool Extern = false; ///< extern .shared: the launch says how large
  std::vector<uint8_t> Init;
  /// Addresses in Init: (offset, symbol, added).
  struct Address {
    uint64_t Offset;
    std::string Symbol;
    int64_t Added;
  };
  std::vector<Address> Addresses;
};

struct Function {
  std::string Name;
  bool Entry = false;
  bool Defined = false;
  std::vector<Variable> Params, Results;
  std::vector<Type> Registers; ///< by number
  std::vector<std::string> RegisterNames;
  std::vector<Variable> Variables; ///< shared, local, param of calls
  std::vector<Statement> Body;
  uint32_t MaxThreads[3] = {0, 0, 0}; ///< .maxntid, 0 without
  uint32_t ReqThreads[3] = {0, 0, 0}; ///< .reqntid
  unsigned Line = 0;
};

struct PtxModule {
  unsigned Version = 0; ///< 70 for 7.0
  unsigned Target = 0;  ///< 80 for sm_80
  std::vector<Variable> Variables;
  std::vector<Function> Functions;
  std::vector<std::string> Files; ///< by number of .file
};

/// Throws PtxError.
PtxModule parsePtx(std::string_view Text);

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_PTX_AST_H
