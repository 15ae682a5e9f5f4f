// What the importer knows of each ONNX op of the default domain: its newest
// signature, as the onnx dialect has it.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_SIGNATURES_H
#define LLMC_COMPILER_FRONTEND_ONNX_SIGNATURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace llmc {

/// Opsets that the upgrade rules and signatures cover.
constexpr int64_t OldestOpset = 7;
constexpr int64_t NewestOpset = 28;
constexpr int64_t OldestIr = 3;
constexpr int64_t NewestIr = 14;

enum class AttrKind : uint8_t { Int, Ints, Float, String, Type, Tensor };

struct AttrSpec {
  llvm::StringLiteral Name;
  AttrKind Kind;
  bool Required = false;
};

/// Where the element type of the results comes from.
enum class ElementRule : uint8_t {
  Operand0,
  Operand1,
  Operand2,
  Bool,
  Int64,
  To,             ///< attribute `to`
  Value,          ///< attribute `value`, f32 without
  DtypeOrOperand, ///< attribute `dtype`, else operand 0
  Operand0ThenInt64,
  Operand0ThenBool,
  Operand0ThenCaches, ///< then operands 3 and 4, operand 0 where absent
  Operand0ThenStash,  ///< the others f32, of operand 0 unless stash_type is 1
  Operand3,
  Operand7,
  Int32,
  Quantize,        ///< attribute `output_dtype`, else operand 2, else u8
  Dequantize,      ///< attribute `output_dtype`, else operand 1
  DynamicQuantize, ///< u8, f32, u8
  Attention,       ///< operands 0, 1, 2, 0
  State            ///< operand 0, then operand 3, else 0
};

struct OpSpec {
  llvm::StringLiteral Name;
  llvm::StringLiteral Mnemonic; ///< with the dialect's name
  int8_t MinInputs;             ///< these must be there
  int8_t MaxInputs;             ///< -1: any number
  int8_t Results;               ///< -1: as many as the node has
  ElementRule Rule;
  llvm::ArrayRef<AttrSpec> Attrs;
  llvm::StringLiteral Domain = ""; ///< "" is ai.onnx

  const AttrSpec *attr(llvm::StringRef Name) const;
};

/// The whole table: those of the files Signatures*.cpp behind one another.
llvm::ArrayRef<OpSpec> allOps();
llvm::ArrayRef<OpSpec> wholeOps();     ///< SignaturesWhole.cpp
llvm::ArrayRef<OpSpec> microsoftOps(); ///< MsSignatures.cpp

/// The op of this name or, for an op of ONNX Runtime, its standard twin; null
/// if the dialect has none. The default domain is "".
const OpSpec *findOp(llvm::StringRef Domain, llvm::StringRef Name);

/// A known op with a similar name, empty if there is none.
llvm::StringRef similarOp(llvm::StringRef Name);

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_SIGNATURES_H
