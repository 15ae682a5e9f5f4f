// Matrix products of the evaluator. Sums in double for a strip of columns at a
// time, the inner loop over contiguous columns: each weight is read from memory
// once, and whole models are evaluated in seconds.
#include "compiler/eval/Ops.h"

#include <algorithm>

namespace llmc::eval {

/// C[M, N] = A[M, K] * B[K, N], contiguous. Terms of a sum are added in
/// ascending order whatever the strips are.
template <typename Wide, typename Sum>
static void multiply(const Wide *A, const Wide *B, Sum *C, int64_t M, int64_t K,
                     int64_t N) {
  constexpr int64_t Strip = 512;
  std::fill(C, C + M * N, Sum(0));
  for (int64_t From = 0; From < N; From += Strip) {
    int64_t Columns = std::min(Strip, N - From);
    for (int64_t L = 0; L < K; ++L) {
      const Wide *Row = B + L * N + From;
      for (int64_t I = 0; I < M; ++I) {
        Sum X = static_cast<Sum>(A[I * K + L]);
        Sum *To = C + I * N + From;
        for (int64_t J = 0; J < Columns; ++J)
          To[J] += X * static_cast<Sum>(Row[J]);
      }
    }
  }
}

/// The elements as floats, without a copy where they are.
class FloatView {
public:
  explicit FloatView(const Tensor &T) {
    if (T.Type != DType::F32)
      Converted = load<float>(T);
    Data = T.Type == DType::F32 ? T.data<float>() : Converted.data();
  }
  const float *data() const { return Data; }

private:
  std::vector<float> Converted;
  const float *Data;
};

namespace {
/// Shapes of a (batched) product, after promoting vectors to matrices.
struct ProductShape {
  Dims Batch, XBatch, YBatch, Result;
  int64_t M, K, N;
};
} // namespace

static Result<ProductShape> productShape(const Tensor &X, const Tensor &Y) {
  if (X.rank() == 0 || Y.rank() == 0)
    return malformedError("mat_mul of " + describe(X) + " and " + describe(Y));
  Dims A = X.Shape, C = Y.Shape;
  if (X.rank() == 1)
    A.insert(A.begin(), 1);
  if (Y.rank() == 1)
    C.push_back(1);
  ProductShape P;
  P.M = A[A.size() - 2];
  P.K = A.back();
  P.N = C.back();
  if (C[C.size() - 2] != P.K)
    return malformedError("mat_mul of " + describe(X) + " and " + describe(Y));
  P.XBatch.assign(A.begin(), A.end() - 2);
  P.YBatch.assign(C.begin(), C.end() - 2);
  LLMC_ASSIGN_OR_RETURN(P.Batch, broadcastShapes(P.XBatch, P.YBatch));
  P.Result = P.Batch;
  if (X.rank() > 1)
    P.Result.push_back(P.M);
  if (Y.rank() > 1)
    P.Result.push_back(P.N);
  return P;
}

/// X and Y have the wide elements of the operands as data().
template <typename Wide, typename Sum, typename View>
static Result<Tensor> product(Budget &B, const ProductShape &P, DType Type,
                              const View &X, const View &Y) {
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(Type, P.Result));
  int64_t Work = countOf({countOf(P.Batch), P.M, P.K, P.N});
  LLMC_RETURN_IF_ERROR(B.work(Work));
  std::vector<Sum> Sums(static_cast<size_t>(Out.count()));
  forEachIndex(P.Batch,
               {broadcastStrides(P.XBatch, P.Batch),
                broadcastStrides(P.YBatch, P.Batch)},
               [&](int64_t I, const int64_t *At) {
                 multiply<Wide, Sum>(
                     X.data() + At[0] * P.M * P.K, Y.data() + At[1] * P.K * P.N,
                     Sums.data() + I * P.M * P.N, P.M, P.K, P.N);
               });
  store(Out, Sums);
  return Out;
}

Result<Tensor> matMul(Budget &B, const Tensor &X, const Tensor &Y) {
  if (X.Type != Y.Type)
    return malformedError("mat_mul of " + describe(X) + " and " + describe(Y));
  LLMC_ASSIGN_OR_RETURN(ProductShape P, productShape(X, Y));
  if (X.Type == DType::F64)
    return product<double, double>(B, P, X.Type, load<double>(X),
                                   load<double>(Y));
  if (isFloat(X.Type))
    return product<float, double>(B, P, X.Type, FloatView(X), FloatView(Y));
  return product<int64_t, int64_t>(B, P, X.Type, load<int64_t>(X),
                                   load<int64_t>(Y));
}

Result<Tensor> gemm(Budget &B, const Tensor &X, const Tensor &Y,
                    const Tensor &C, double Alpha, double Beta, bool TransA,
                    bool TransB) {
  if (X.rank() != 2 || Y.rank() != 2 || !isFloat(X.Type) || X.Type != Y.Type)
    return malformedError("gemm of " + describe(X) + " and " + describe(Y));
  Tensor A = X, D = Y;
  if (TransA) {
    LLMC_ASSIGN_OR_RETURN(A, transpose(B, X, {1, 0}));
  }
  if (TransB) {
    LLMC_ASSIGN_OR_RETURN(D, transpose(B, Y, {1, 0}));
  }
  LLMC_ASSIGN_OR_RETURN(ProductShape P, productShape(A, D));
  LLMC_ASSIGN_OR_RETURN(
      Tensor Product, (product<double, double>(
                          B, P, DType::F64, load<double>(A), load<double>(D))));
  std::vector<double> V = load<double>(Product), Bias;
  for (double &E : V)
    E *= Alpha;
  if (C.present()) {
    LLMC_ASSIGN_OR_RETURN(Dims Shape, broadcastShapes(C.Shape, Product.Shape));
    if (Shape != Product.Shape || C.Type != X.Type)
      return malformedError("gemm: bias " + describe(C) + " for " +
                            describe(Product));
    Bias = load<double>(C);
    forEachIndex(Shape, {broadcastStrides(C.Shape, Shape)},
                 [&](int64_t I, const int64_t *At) {
                   V[static_cast<size_t>(I)] +=
                       Beta * Bias[static_cast<size_t>(At[0])];
                 });
  }
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, Product.Shape));
  store(Out, V);
  return Out;
}

/// Elements minus the zero point of their row (X) or column (Y). One vector
/// serves all matrices of a batch; else Zero broadcasts to X.
static Result<std::vector<int64_t>> centred(const Tensor &X, const Tensor &Zero,
                                            bool PerRow) {
  std::vector<int64_t> V = load<int64_t>(X);
  if (!Zero.present())
    return V;
  std::vector<int64_t> Z = load<int64_t>(Zero);
  Dims Shape = Zero.Shape;
  if (Z.size() == 1)
    Shape.clear();
  else if (Shape.size() == 1 && PerRow && X.rank() > 1)
    Shape.push_back(1);
  Result<Dims> Joined = broadcastShapes(Shape, X.Shape);
  if (!Joined || *Joined != X.Shape)
    return malformedError("mat_mul_integer: zero point " + describe(Zero) +
                          " for " + describe(X));
  forEachIndex(X.Shape, {broadcastStrides(Shape, X.Shape)},
               [&](int64_t I, const int64_t *At) {
                 V[static_cast<size_t>(I)] -= Z[static_cast<size_t>(At[0])];
               });
  return V;
}

Result<Tensor> matMulInteger(Budget &B, const Tensor &X, const Tensor &Y,
                             const Tensor &XZero, const Tensor &YZero) {
  if (bitsOf(X.Type) != 8 || bitsOf(Y.Type) != 8)
    return malformedError("mat_mul_integer of " + describe(X) + " and " +
                          describe(Y));
  LLMC_ASSIGN_OR_RETURN(ProductShape P, productShape(X, Y));
  LLMC_ASSIGN_OR_RETURN(std::vector<int64_t> A, centred(X, XZero, true));
  LLMC_ASSIGN_OR_RETURN(std::vector<int64_t> C, centred(Y, YZero, false));
  return product<int64_t, int64_t>(B, P, DType::I32, A, C);
}

} // namespace llmc::eval
