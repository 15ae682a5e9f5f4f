// How the result of one op follows from its operands; private to the analysis.
#ifndef LLMC_PASSES_IMPORT_SHAPERULES_H
#define LLMC_PASSES_IMPORT_SHAPERULES_H

#include "passes/import/ShapeAnalysis.h"

#include "llvm/ADT/StringMap.h"

namespace llmc {

/// One application of a rule. Results start with the element type of the
/// first operand, no rank and no data.
struct RuleCall {
  mlir::Operation *Op;
  llvm::SmallVector<const ValueInfo *, 4> In;
  llvm::SmallVector<ValueInfo, 1> Out;

  const ValueInfo &in(unsigned I) const;
  ValueInfo &out() { return Out.front(); }
  bool absent(unsigned I) const { return !in(I).Element; }
  int64_t attr(llvm::StringRef Name, int64_t Default) const;
  bool has(llvm::StringRef Name) const { return Op->hasAttr(Name); }
  /// The elements of an integer operand, all constant.
  std::optional<llvm::SmallVector<int64_t>> constants(unsigned I) const {
    return in(I).HasData ? in(I).constants() : std::nullopt;
  }
  mlir::Type intType(unsigned Bits) const;
  /// Whether elements of the result may be carried along: integers, bools,
  /// and integral f32/f64.
  bool carries(const ValueInfo &V) const;
  /// Data of the result by Fn(index of each operand's element) under
  /// broadcasting, when the result is small and static.
  void mapData(llvm::function_ref<Dim(llvm::ArrayRef<Dim>)> Fn);
};

using ShapeRule = void (*)(RuleCall &);
using RuleTable = llvm::StringMap<ShapeRule>;

/// Axis counted from the front; nothing when out of range.
std::optional<size_t> axisOf(int64_t Axis, size_t Rank);

/// Rules that many ops share: the shape of the first operand, all operands
/// broadcast, a matrix product of the first two, a reduction over operand 1.
void sameRule(RuleCall &C);
void broadcastRule(RuleCall &C);
void matMulRule(RuleCall &C);
void reduceRule(RuleCall &C);

void addElementwiseRules(RuleTable &T);
void addLayoutRules(RuleTable &T);
void addIndexRules(RuleTable &T);
void addWholeRules(RuleTable &T);
void addMsRules(RuleTable &T);
/// The rule of an op by its full name; null for one without.
ShapeRule ruleOf(llvm::StringRef OpName);

} // namespace llmc

#endif // LLMC_PASSES_IMPORT_SHAPERULES_H
