// Verifiers of the com.microsoft ops with quantised weights: how many bytes
// and scales each operand must have. Nothing reads them before this holds.
#include "dialects/onnx/MsVerify.h"
#include "dialects/support/Verify.h"

using namespace mlir;
using namespace llmc::onnx;

#define GET_OP_CLASSES
#include "dialects/onnx/MsWeightOps.cpp.inc"

void OnnxDialect::registerMsWeightOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/MsWeightOps.cpp.inc"
      >();
}

namespace {
/// Of K, N and block sizes: products of three fit in 64 bits.
constexpr int64_t MaxSize = 1 << 20;

LogicalResult verifyRange(Operation *Op, StringRef Name, StringRef What,
                          int64_t Value, int64_t Min, int64_t Max) {
  if (Value >= Min && Value <= Max)
    return success();
  return msError(Op, Name) << "C1: " << What << " is " << Value << ", expected "
                           << Min << " to " << Max;
}

LogicalResult verifyBits(Operation *Op, StringRef Name, StringRef What,
                         int64_t Bits, bool Three = false) {
  if (Bits == 2 || (Bits == 3 && Three) || Bits == 4 || Bits == 8)
    return success();
  return msError(Op, Name) << "C1: " << What << " is " << Bits
                           << ", supported are 2, " << (Three ? "3, " : "")
                           << "4 and 8";
}

LogicalResult verifyBlockSize(Operation *Op, StringRef Name, int64_t Size) {
  if (Size >= 16 && Size <= MaxSize && (Size & (Size - 1)) == 0)
    return success();
  return msError(Op, Name) << "C1: block_size is " << Size
                           << ", expected a power of two from 16 to "
                           << MaxSize;
}

/// `V` has one of these numbers of elements, where it is known.
LogicalResult verifyElements(Operation *Op, StringRef Name, StringRef What,
                             Value V, ArrayRef<int64_t> Expected) {
  std::optional<int64_t> Have = knownElements(V);
  if (!Have || llvm::is_contained(Expected, *Have))
    return success();
  InFlightDiagnostic D = msError(Op, Name)
                         << "C3: " << What << " has " << *Have
                         << " elements, expected " << Expected.front();
  for (int64_t E : llvm::drop_begin(Expected))
    D << " or " << E;
  return D;
}

LogicalResult verifyActivations(Operation *Op, StringRef Name, Value A,
                                int64_t K) {
  std::optional<int64_t> Dim = knownDim(A, -1);
  if (!Dim || *Dim == K)
    return success();
  return msError(Op, Name) << "K is " << K << ", the last dim of A is " << *Dim;
}

int64_t ceilDiv(int64_t A, int64_t B) { return (A + B - 1) / B; }
} // namespace

LogicalResult MsMatMulNBitsOp::verify() {
  constexpr llvm::StringLiteral Name = "MatMulNBits";
  int64_t Cols = getK(), Rows = getN(), Bits = getBits(),
          Block = getBlockSize();
  if (failed(verifyRange(*this, Name, "bits", Bits, 2, 8)) ||
      failed(verifyBlockSize(*this, Name, Block)) ||
      failed(verifyRange(*this, Name, "K", Cols, 1, 1 << 24)) ||
      failed(verifyRange(*this, Name, "N", Rows, 1, 1 << 24)))
    return failure();
  if (getWeightPrepacked() != 0)
    return msError(*this, Name)
           << "C2: weight_prepacked is " << getWeightPrepacked()
           << " (weights in the order of one GPU kernel), expected 0; give the "
              "file before prepacking";
  int64_t Blocks = ceilDiv(Cols, Block);
  int64_t Packed = Rows * ceilDiv(Blocks * Bits, 8);
  SmallVector<int64_t, 2> ZeroPoints = {Packed};
  if (RankedTensorType T = rankedType(getZeroPoints());
      T && !T.getElementType().isInteger(8))
    ZeroPoints = {Rows * Blocks};
  if (failed(verifyElements(*this, Name, "B", getB(),
                            {Rows * Blocks * (Block * Bits / 8)})) ||
      failed(verifyElements(*this, Name, "scales", getScales(),
                            {Rows * Blocks})) ||
      failed(verifyElements(*this, Name, "zero_points", getZeroPoints(),
                            ZeroPoints)) ||
      failed(verifyElements(*this, Name, "g_idx", getGIdx(),
                            {Cols, Blocks * Block})) ||
      failed(verifyElements(*this, Name, "bias", getBias(), {Rows})))
    return failure();
  return verifyActivations(*this, Name, getA(), Cols);
}

LogicalResult MsMatMulBnb4Op::verify() {
  constexpr llvm::StringLiteral Name = "MatMulBnb4";
  int64_t Cols = getK(), Rows = getN(), Block = getBlockSize();
  if (failed(verifyRange(*this, Name, "quant_type", getQuantType(), 0, 1)) ||
      failed(verifyRange(*this, Name, "block_size", Block, 1, MaxSize)) ||
      failed(verifyRange(*this, Name, "K", Cols, 1, 1 << 24)) ||
      failed(verifyRange(*this, Name, "N", Rows, 1, 1 << 24)) ||
      failed(verifyElements(*this, Name, "B", getB(),
                            {ceilDiv(Rows * Cols, 2)})) ||
      failed(verifyElements(*this, Name, "absmax", getAbsmax(),
                            {ceilDiv(Rows * Cols, Block)})))
    return failure();
  return verifyActivations(*this, Name, getA(), getTransB() ? Cols : Rows);
}

LogicalResult MsGatherBlockQuantizedOp::verify() {
  constexpr llvm::StringLiteral Name = "GatherBlockQuantized";
  int64_t Bits = getBits(), Block = getBlockSize();
  if (failed(verifyBits(*this, Name, "bits", Bits)) ||
      (Block != 0 && failed(verifyBlockSize(*this, Name, Block))))
    return failure();
  RankedTensorType Data = rankedType(getData()),
                   Scales = rankedType(getScales());
  if (!Data || !Scales)
    return success();
  int64_t Rank = Data.getRank(), Axis = getQuantizeAxis();
  if (Axis < -Rank || Axis >= Rank)
    return msError(*this, Name)
           << "quantize_axis is " << Axis << ", data has " << Rank << " dims";
  Axis = Axis < 0 ? Axis + Rank : Axis;
  if (Scales.getRank() != Rank)
    return msError(*this, Name) << "C2: scales have " << Scales.getRank()
                                << " dims, expected " << Rank;
  bool Bytes = Data.getElementType().isInteger(8);
  for (int64_t I = 0; I < Rank; ++I) {
    if (Data.isDynamicDim(I) || Scales.isDynamicDim(I))
      continue;
    int64_t Codes = Data.getDimSize(I);
    if (Bytes && I + 1 == Rank)
      Codes *= 8 / Bits;
    int64_t Want = I != Axis ? Codes : Block == 0 ? 1 : ceilDiv(Codes, Block);
    if (Scales.getDimSize(I) != Want)
      return msError(*this, Name)
             << "C2: dim " << I << " of scales is " << Scales.getDimSize(I)
             << ", expected " << Want;
  }
  return success();
}

LogicalResult MsMoEOp::verify() {
  if (failed(verifyThere(*this, "MoE", getFc2ExpertsWeights(),
                         "fc2_experts_weights")))
    return failure();
  return verifyRange(*this, "MoE", "k", getK(), 1, MaxSize);
}

/// Codes and scales of experts have the same rows; those that were prepared for
/// one kernel mostly have others.
static LogicalResult verifyRows(MsQMoEOp Op, llvm::StringRef What, Value Codes,
                                Value Scales) {
  RankedTensorType C = rankedType(Codes), S = rankedType(Scales);
  if (!C || !S || C.getRank() != 3 || S.getRank() < 2 || C.isDynamicDim(1) ||
      S.isDynamicDim(1) || C.getDimSize(1) == S.getDimSize(1))
    return success();
  return msError(Op, "QMoE")
         << What << " have " << C.getDimSize(1) << " rows, their scales "
         << S.getDimSize(1)
         << " (weights in the order of one GPU kernel?); give the file before "
            "prepacking (weights_prepacked 0)";
}

LogicalResult MsQMoEOp::verify() {
  constexpr llvm::StringLiteral Name = "QMoE";
  if (failed(verifyThere(*this, Name, getFc2ExpertsWeights(),
                         "fc2_experts_weights")) ||
      failed(verifyRange(*this, Name, "k", getK(), 1, MaxSize)))
    return failure();
  if (getQuantType() != "int")
    return success();
  if (getWeightsPrepacked() == 1)
    return msError(*this, Name)
           << "weights_prepacked is 1 (weights in the order of one GPU "
              "kernel), expected 0 or -1; give the file before prepacking";
  if (failed(verifyRows(*this, "fc1_experts_weights", getFc1ExpertsWeights(),
                        getFc1Scales())) ||
      failed(verifyRows(*this, "fc2_experts_weights", getFc2ExpertsWeights(),
                        getFc2Scales())) ||
      failed(verifyRows(*this, "fc3_experts_weights", getFc3ExpertsWeights(),
                        getFc3Scales())))
    return failure();
  std::optional<int64_t> Own[] = {getFc1ExpertWeightBits(),
                                  getFc2ExpertWeightBits(),
                                  getFc3ExpertWeightBits()};
  for (std::optional<int64_t> Bits : Own)
    if (Bits && *Bits != 0 &&
        failed(verifyBits(*this, Name, "an expert_weight_bits", *Bits, true)))
      return failure();
  return verifyBits(*this, Name, "expert_weight_bits", getExpertWeightBits(),
                    true);
}
