// Products and tables of com.microsoft with quantised or transposed weights.
// Each decodes the weight and multiplies; layouts:
// dialects/onnx/MsWeightOps.td.
#include "compiler/eval/Microsoft.h"
#include "compiler/eval/Ops.h"
#include "compiler/weights/Encoding.h"

namespace llmc::eval {

std::vector<double> unpackCodes(const Tensor &Packed, int64_t Rows,
                                int64_t Bytes, int64_t Count, int64_t Bits) {
  std::vector<double> Out(static_cast<size_t>(Rows * Count));
  unsigned Mask = (1u << Bits) - 1;
  for (int64_t R = 0; R < Rows; ++R)
    for (int64_t I = 0; I < Count; ++I) {
      // Codes of 3 and 5 to 7 bits may lie in two bytes.
      size_t At = static_cast<size_t>(R * Bytes + I * Bits / 8);
      unsigned Shift = static_cast<unsigned>(I * Bits % 8);
      unsigned Two = Packed.Bytes[At];
      if (Shift + Bits > 8)
        Two |= static_cast<unsigned>(Packed.Bytes[At + 1]) << 8;
      Out[static_cast<size_t>(R * Count + I)] = (Two >> Shift) & Mask;
    }
  return Out;
}

namespace {
int64_t ceilDiv(int64_t A, int64_t B) { return (A + B - 1) / B; }

Status expectCount(const Tensor &T, const char *What, int64_t Count) {
  if (T.count() == Count)
    return Status::success();
  return malformedError(std::string(What) + " is " + describe(T) +
                        ", expected " + std::to_string(Count) + " elements");
}

/// A [.., K] times the transpose of W [N, K], plus bias.
Result<Tensor> timesRows(const OpCall &C, const std::vector<double> &W,
                         int64_t N, int64_t K, const Tensor &Bias) {
  const Tensor &A = C.in(0);
  if (A.rank() < 1 || A.Shape.back() != K)
    return malformedError("the last dim of A is not K: " + describe(A) +
                          ", K is " + std::to_string(K));
  if (Bias.present())
    LLMC_RETURN_IF_ERROR(expectCount(Bias, "bias", N));
  Dims Shape = A.Shape;
  Shape.back() = N;
  int64_t Rows = K ? A.count() / K : 0;
  int64_t Work = countOf({Rows, N, K});
  LLMC_RETURN_IF_ERROR(C.Limit.work(Work < 0 ? INT64_MAX : Work));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, C.Limit.allocate(A.Type, Shape));
  std::vector<double> X = load<double>(A), Y(static_cast<size_t>(Out.count()));
  std::vector<double> B;
  if (Bias.present())
    B = load<double>(Bias);
  for (int64_t R = 0; R < Rows; ++R)
    for (int64_t I = 0; I < N; ++I) {
      double Sum = B.empty() ? 0 : B[static_cast<size_t>(I)];
      for (int64_t J = 0; J < K; ++J)
        Sum += X[static_cast<size_t>(R * K + J)] *
               W[static_cast<size_t>(I * K + J)];
      Y[static_cast<size_t>(R * N + I)] = Sum;
    }
  store(Out, Y);
  return Out;
}

Outputs matMulNBits(const OpCall &C) {
  int64_t N = C.attr("N", 0), K = C.attr("K", 0), Bits = C.attr("bits", 4),
          Block = C.attr("block_size", 0);
  if (N < 1 || K < 1 || Block < 16 || Bits < 2 || Bits > 8)
    return malformedError("MatMulNBits: N " + std::to_string(N) + ", K " +
                          std::to_string(K) + ", bits " + std::to_string(Bits) +
                          ", block_size " + std::to_string(Block));
  int64_t Blocks = ceilDiv(K, Block), Columns = Blocks * Block;
  const Tensor &Scales = C.in(2), &Zero = C.in(3), &Index = C.in(4);
  LLMC_RETURN_IF_ERROR(expectCount(C.in(1), "B", N * Columns * Bits / 8));
  LLMC_RETURN_IF_ERROR(expectCount(Scales, "scales", N * Blocks));
  LLMC_RETURN_IF_ERROR(C.Limit.work(N * Columns));
  std::vector<double> Codes =
      unpackCodes(C.in(1), N, Columns * Bits / 8, Columns, Bits);
  std::vector<double> S = load<double>(Scales), Z;
  if (!Zero.present()) {
    Z.assign(S.size(), static_cast<double>(int64_t(1) << (Bits - 1)));
  } else if (isFloat(Zero.Type)) {
    LLMC_RETURN_IF_ERROR(expectCount(Zero, "zero_points", N * Blocks));
    Z = load<double>(Zero);
  } else {
    int64_t Bytes = ceilDiv(Blocks * Bits, 8);
    LLMC_RETURN_IF_ERROR(expectCount(Zero, "zero_points", N * Bytes));
    Z = unpackCodes(Zero, N, Bytes, Blocks, Bits);
  }
  if (Index.present() && Index.count() < K)
    return malformedError("g_idx is " + describe(Index) + ", expected " +
                          std::to_string(K) + " elements");
  std::vector<double> W(static_cast<size_t>(N * K));
  for (int64_t R = 0; R < N; ++R)
    for (int64_t J = 0; J < K; ++J) {
      int64_t G = Index.present() ? intAt(Index, J) : J / Block;
      if (G < 0 || G >= Blocks)
        return malformedError("g_idx has " + std::to_string(G) +
                              ", there are " + std::to_string(Blocks) +
                              " blocks");
      size_t At = static_cast<size_t>(R * Blocks + G);
      W[static_cast<size_t>(R * K + J)] =
          (Codes[static_cast<size_t>(R * Columns + J)] - Z[At]) * S[At];
    }
  return one(timesRows(C, W, N, K, C.in(5)));
}

Outputs matMulBnb4(const OpCall &C) {
  int64_t N = C.attr("N", 0), K = C.attr("K", 0),
          Block = C.attr("block_size", 0);
  if (N < 1 || K < 1 || Block < 1)
    return malformedError("MatMulBnb4: N " + std::to_string(N) + ", K " +
                          std::to_string(K) + ", block_size " +
                          std::to_string(Block));
  LLMC_RETURN_IF_ERROR(expectCount(C.in(1), "B", ceilDiv(N * K, 2)));
  LLMC_RETURN_IF_ERROR(expectCount(C.in(2), "absmax", ceilDiv(N * K, Block)));
  LLMC_RETURN_IF_ERROR(C.Limit.work(N * K));
  Encoding Book;
  Book.Table = C.attr("quant_type", 0) ? CodeTable::Nf4 : CodeTable::BnbFp4;
  const float *Values = codebookOf(Book);
  std::vector<double> Max = load<double>(C.in(2)),
                      W(static_cast<size_t>(N * K));
  for (int64_t I = 0; I < N * K; ++I) {
    uint8_t Byte = C.in(1).Bytes[static_cast<size_t>(I / 2)];
    unsigned Code = I % 2 ? Byte & 15u : Byte >> 4u; // the high one first
    W[static_cast<size_t>(I)] =
        static_cast<double>(Values[Code]) * Max[static_cast<size_t>(I / Block)];
  }
  if (C.attr("transB", 1))
    return one(timesRows(C, W, N, K, Tensor()));
  std::vector<double> Turned(W.size());
  for (int64_t R = 0; R < N; ++R)
    for (int64_t J = 0; J < K; ++J)
      Turned[static_cast<size_t>(J * N + R)] =
          W[static_cast<size_t>(R * K + J)];
  return one(timesRows(C, Turned, K, N, Tensor()));
}

/// The table as numbers, with the dims of its codes.
struct Decoded {
  Dims Shape;
  std::vector<double> Data;
};

/// Codes of a tensor packed along the last dim; one per element of a 4-bit
/// type. `Last` is how many of the last dim count.
std::vector<double> codesOf(const Tensor &T, int64_t Bits, int64_t Last) {
  int64_t Bytes = T.Shape.back();
  bool Packed = T.Type == DType::U8 && Bits < 8;
  int64_t Rows = Bytes ? T.count() / Bytes : 0;
  if (Packed)
    return unpackCodes(T, Rows, Bytes, Last, Bits);
  return load<double>(T);
}

Result<Decoded> decodeTable(const OpCall &C) {
  const Tensor &Data = C.in(0), &Scales = C.in(2), &Zero = C.in(3);
  int64_t Bits = C.attr("bits", 4), Block = C.attr("block_size", 128);
  if (Data.rank() < 1 || Scales.rank() != Data.rank() ||
      (Bits != 2 && Bits != 4 && Bits != 8))
    return malformedError("GatherBlockQuantized: data is " + describe(Data) +
                          ", scales " + describe(Scales));
  LLMC_ASSIGN_OR_RETURN(int64_t Axis,
                        normaliseAxis(C.attr("quantize_axis", 1), Data.rank()));
  Decoded Out;
  Out.Shape = Data.Shape;
  if (Data.Type == DType::U8 && Bits < 8)
    Out.Shape.back() *= 8 / Bits;
  int64_t Count = countOf(Out.Shape);
  LLMC_RETURN_IF_ERROR(C.Limit.work(Count < 0 ? INT64_MAX : 4 * Count));
  Dims Want = Out.Shape;
  int64_t Size = Out.Shape[static_cast<size_t>(Axis)];
  if (Block == 0)
    Block = std::max<int64_t>(Size, 1);
  Want[static_cast<size_t>(Axis)] = ceilDiv(Size, Block);
  if (Scales.Shape != Want)
    return malformedError("GatherBlockQuantized: scales are " +
                          describe(Scales) + " for data " + describe(Data));
  std::vector<double> Z;
  if (Zero.present()) {
    int64_t Bytes = ceilDiv(Want.back() * Bits, 8);
    bool Packed = Zero.Type == DType::U8 && Bits < 8;
    LLMC_RETURN_IF_ERROR(expectCount(
        Zero, "zero_points",
        Packed ? Scales.count() / std::max<int64_t>(Want.back(), 1) * Bytes
               : Scales.count()));
    Z = codesOf(Zero, Bits, Want.back());
  }
  double Default = Data.Type == DType::U8
                       ? static_cast<double>(int64_t(1) << (Bits - 1))
                       : 0;
  Out.Data = codesOf(Data, Bits, Out.Shape.back());
  std::vector<double> S = load<double>(Scales);
  Dims Strides = stridesOf(Out.Shape), ScaleStrides = stridesOf(Want);
  for (int64_t I = 0; I < Count; ++I) {
    int64_t Rest = I, At = 0;
    for (size_t D = 0; D < Out.Shape.size(); ++D) {
      int64_t Index = Rest / Strides[D];
      Rest %= Strides[D];
      At += (static_cast<int64_t>(D) == Axis ? Index / Block : Index) *
            ScaleStrides[D];
    }
    size_t X = static_cast<size_t>(At);
    double &V = Out.Data[static_cast<size_t>(I)];
    V = (V - (Z.empty() ? Default : Z[X])) * S[X];
  }
  return Out;
}

Outputs gatherBlockQuantized(const OpCall &C) {
  LLMC_ASSIGN_OR_RETURN(Decoded Table, decodeTable(C));
  int64_t Rank = static_cast<int64_t>(Table.Shape.size());
  LLMC_ASSIGN_OR_RETURN(int64_t Axis,
                        normaliseAxis(C.attr("gather_axis", 0), Rank));
  const Tensor &Indices = C.in(1);
  size_t A = static_cast<size_t>(Axis);
  int64_t Outer = 1, Inner = 1, Size = Table.Shape[A];
  for (size_t D = 0; D < Table.Shape.size(); ++D)
    (D < A ? Outer : Inner) *= D == A ? 1 : Table.Shape[D];
  Dims Shape(Table.Shape.begin(),
             Table.Shape.begin() + static_cast<ptrdiff_t>(A));
  Shape.insert(Shape.end(), Indices.Shape.begin(), Indices.Shape.end());
  Shape.insert(Shape.end(), Table.Shape.begin() + static_cast<ptrdiff_t>(A) + 1,
               Table.Shape.end());
  LLMC_ASSIGN_OR_RETURN(Tensor Out, C.Limit.allocate(C.in(2).Type, Shape));
  LLMC_RETURN_IF_ERROR(C.Limit.work(Out.count()));
  std::vector<double> V(static_cast<size_t>(Out.count()), 0);
  int64_t Count = Indices.count();
  for (int64_t O = 0; O < Outer; ++O)
    for (int64_t I = 0; I < Count; ++I) {
      int64_t Index = intAt(Indices, I);
      Index = Index < 0 ? Index + Size : Index;
      if (Index < 0 || Index >= Size)
        continue; // zeros, as ONNX Runtime gives
      std::copy_n(Table.Data.data() + (O * Size + Index) * Inner, Inner,
                  V.data() + (O * Count + I) * Inner);
    }
  store(Out, V);
  return one(std::move(Out));
}

Outputs matMulFp8(const OpCall &C) {
  const Tensor &B = C.in(1), &Scale = C.in(2);
  int64_t Block = C.attr("block_size", 128);
  if (B.rank() != 2 || Block < 1)
    return malformedError("MatMulBlockQuantizedFp8Weight: B is " + describe(B));
  int64_t N = B.Shape[0], K = B.Shape[1], Blocks = ceilDiv(K, Block);
  LLMC_RETURN_IF_ERROR(expectCount(Scale, "b_scale", N * Blocks));
  std::vector<double> W = load<double>(B), S = load<double>(Scale);
  for (int64_t I = 0; I < N * K; ++I)
    W[static_cast<size_t>(I)] *=
        S[static_cast<size_t>(I / K * Blocks + I % K / Block)];
  return one(timesRows(C, W, N, K, C.in(4)));
}

/// The operand of FusedMatMul after its transpositions.
Result<Tensor> turned(const OpCall &C, const Tensor &X, const char *Batch,
                      const char *Matrix) {
  Dims Order;
  for (int64_t I = 0; I < X.rank(); ++I)
    Order.push_back(I);
  if (C.attr(Batch, 0) && Order.size() >= 3)
    std::rotate(Order.begin(), Order.begin() + 1, Order.end() - 1);
  if (C.attr(Matrix, 0) && Order.size() >= 2)
    std::swap(Order[Order.size() - 1], Order[Order.size() - 2]);
  return transpose(C.Limit, X, Order);
}

Outputs fusedMatMul(const OpCall &C) {
  LLMC_ASSIGN_OR_RETURN(Tensor A, turned(C, C.in(0), "transBatchA", "transA"));
  LLMC_ASSIGN_OR_RETURN(Tensor B, turned(C, C.in(1), "transBatchB", "transB"));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, matMul(C.Limit, A, B));
  double Alpha = C.floatAttr("alpha", 1);
  if (Alpha == 1)
    return one(std::move(Out));
  return one(binary(C.Limit, Binary::Mul, Out,
                    Tensor::ofFloats(Out.Type, {}, {Alpha})));
}
} // namespace

void addMsWeights(HandlerMap &Map) {
  Map["onnx.ms_mat_mul_n_bits"] = matMulNBits;
  Map["onnx.ms_mat_mul_bnb4"] = matMulBnb4;
  Map["onnx.ms_gather_block_quantized"] = gatherBlockQuantized;
  Map["onnx.ms_mat_mul_block_quantized_fp8_weight"] = matMulFp8;
  Map["onnx.ms_fused_mat_mul"] = fusedMatMul;
}

} // namespace llmc::eval
