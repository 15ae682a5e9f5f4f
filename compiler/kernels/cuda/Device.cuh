// What every generated kernel shares: step counts, weight formats, warp sums
// and the scalar functions. Compiled by NVRTC without any CUDA header.
//
// All arithmetic is explicit: contraction is off, every fused multiply-add is
// an fmaf, and division, square root, exp and tanh are our own, made of fma and
// integer operations. So a result depends on the inputs alone: not on the chip,
// the driver's code generator, or the simulator. (The instructions for exact
// division and root are subroutines; around them registers were spilled.)
namespace llmc {

/// LlmcCounts of runtime/device/StepAbi.h.
struct Counts {
  unsigned Tokens;
  unsigned PromptTokens;
  unsigned Sequences;
  unsigned LogitRows;
  unsigned PagesPerSequence;
  unsigned Bucket;
};

// Constants are enumerators throughout: variables would get storage in the
// module.
enum : int { PageTokens = 32 }; // LLMC_CUDA_PAGE_TOKENS
enum : unsigned { FullWarp = 0xffffffffu };

// Numbers of compiler/kernels/Catalogue.h.
enum : int { WF32 = 0, WI8B32 = 1, WF16 = 2, WBF16 = 3 };
enum : int { NormLayer = 2, KvF32 = 0, KvI8 = 2, RowsR = 1 };

struct alignas(16) Quad {
  unsigned X, Y, Z, W;
};
struct alignas(16) Float4 {
  float X, Y, Z, W;
};

__device__ __forceinline__ int warpOf() { return threadIdx.x >> 5; }
__device__ __forceinline__ int laneOf() { return threadIdx.x & 31; }

/// Sum over the warp, the same in every lane. The order is fixed by the lanes.
__device__ __forceinline__ float warpSum(float X) {
#pragma unroll
  for (int Mask = 16; Mask != 0; Mask >>= 1)
    X += __shfl_xor_sync(FullWarp, X, Mask);
  return X;
}

__device__ __forceinline__ float warpMax(float X) {
#pragma unroll
  for (int Mask = 16; Mask != 0; Mask >>= 1)
    X = fmaxf(X, __shfl_xor_sync(FullWarp, X, Mask));
  return X;
}

/// 1 / B within 1 ulp, for B from 2^-120 to 2^120.
__device__ __forceinline__ float inverse(float B) {
  int Bits = __float_as_int(B);
  float M = __int_as_float((Bits & 0x007fffff) | 0x3f000000); // in [0.5, 1)
  float Y = fmaf(-1.88235294f, M, 2.82352941f);
#pragma unroll
  for (int I = 0; I != 3; ++I)
    Y = fmaf(Y, fmaf(-M, Y, 1.0f), Y);
  return Y * __int_as_float((253 << 23) - (Bits & 0x7f800000));
}

/// A / B for B as in inverse; the exact result, nearly always.
__device__ __forceinline__ float divide(float A, float B) {
  float Y = inverse(B), Q = A * Y;
  return fmaf(fmaf(-Q, B, A), Y, Q);
}

/// 1 / sqrt(X) within 1 ulp, for positive X; large for 0.
__device__ __forceinline__ float inverseRoot(float X) {
  float Y = __int_as_float(0x5f3759df - (__float_as_int(X) >> 1));
#pragma unroll
  for (int I = 0; I != 3; ++I)
    Y = fmaf(0.5f * Y, fmaf(-X * Y, Y, 1.0f), Y);
  return fmaf(0.5f * Y, fmaf(-X * Y, Y, 1.0f), Y);
}

/// e^X with about 1 ulp; 0 below -87.3, infinity above 88.7.
__device__ __forceinline__ float expOf(float X) {
  if (!(X > -87.3f))
    return X != X ? X : 0.0f;
  if (X > 88.7f)
    return __int_as_float(0x7f800000);
  float N = rintf(X * 1.44269504f);
  float R = fmaf(N, -0.693145752f, X);
  R = fmaf(N, -1.42860677e-6f, R);
  float P = 1.98412698e-4f;
  P = fmaf(P, R, 1.38888889e-3f);
  P = fmaf(P, R, 8.33333333e-3f);
  P = fmaf(P, R, 4.16666667e-2f);
  P = fmaf(P, R, 0.166666667f);
  P = fmaf(P, R, 0.5f);
  P = fmaf(P, R, 1.0f);
  P = fmaf(P, R, 1.0f);
  // Two factors: N is in [-126, 128] and 2^128 is no float.
  int Half = static_cast<int>(N) / 2, Rest = static_cast<int>(N) - Half;
  return P * __int_as_float((Half + 127) << 23) *
         __int_as_float((Rest + 127) << 23);
}

__device__ __forceinline__ float tanhOf(float X) {
  float A = fabsf(X);
  if (A < 0.25f) {
    float S = X * X;
    float P = 2.18694885e-2f;
    P = fmaf(P, S, -5.39682540e-2f);
    P = fmaf(P, S, 0.133333333f);
    P = fmaf(P, S, -0.333333333f);
    return fmaf(P * S, X, X);
  }
  float E = expOf(-2.0f * A);
  return copysignf(divide(1.0f - E, 1.0f + E), X);
}

/// 1 + erf(X) without cancellation for negative X: a rational approximation of
/// erfc in t = 1 / (1 + |X| / 2), relative error below 1.2e-7.
__device__ __forceinline__ float onePlusErf(float X) {
  float Z = fabsf(X);
  Z = fminf(Z, 12.0f); // erfc is 0 from 10.1 on
  float T = inverse(fmaf(0.5f, Z, 1.0f));
  float P = 0.17087277f;
  P = fmaf(P, T, -0.82215223f);
  P = fmaf(P, T, 1.48851587f);
  P = fmaf(P, T, -1.13520398f);
  P = fmaf(P, T, 0.27886807f);
  P = fmaf(P, T, -0.18628806f);
  P = fmaf(P, T, 0.09678418f);
  P = fmaf(P, T, 0.37409196f);
  P = fmaf(P, T, 1.00002368f);
  P = fmaf(P, T, -1.26551223f);
  float Erfc = T * expOf(fmaf(-Z, Z, P));
  return X < 0.0f ? Erfc : 2.0f - Erfc;
}

/// 1 / (1 + e^-X).
__device__ __forceinline__ float sigmoidOf(float X) {
  float E = expOf(-fabsf(X));
  return divide(X < 0.0f ? E : 1.0f, 1.0f + E);
}

/// Activation number Kind of the catalogue.
template <int Kind> __device__ __forceinline__ float activate(float X) {
  if constexpr (Kind == 1) // silu
    return X * sigmoidOf(X);
  else if constexpr (Kind == 2) // gelu
    return 0.5f * X * onePlusErf(X * 0.707106781f);
  else if constexpr (Kind == 3) // gelu_tanh
    return 0.5f * X *
           (1.0f + tanhOf(0.797884561f * fmaf(0.044715f * X * X, X, X)));
  else if constexpr (Kind == 4) // relu
    return fmaxf(X, 0.0f);
  else if constexpr (Kind == 5) // sigmoid
    return sigmoidOf(X);
  else if constexpr (Kind == 6) // tanh
    return tanhOf(X);
  else if constexpr (Kind == 7) { // relu2
    float R = fmaxf(X, 0.0f);
    return R * R;
  } else
    return X;
}

/// Rows of a packed matrix with the constants of Shape: WType, N rows, K
/// columns. read() yields Vec neighbouring columns and the factor that their
/// sum gets. The general form is in Codes.cuh.
template <int WType, int N, int K> struct Matrix;

template <int N, int K> struct Matrix<WF16, N, K> {
  enum : int {
    Columns = K,
    Vec = K % 8 == 0   ? 8
          : K % 4 == 0 ? 4
          : K % 2 == 0 ? 2
                       : 1
  };
  enum : bool { Scaled = false };

  static __device__ __forceinline__ void
  read(const unsigned char *__restrict__ W, int Row, int Column,
       float (&Out)[Vec]) {
    const unsigned char *At = W + (static_cast<size_t>(Row) * K + Column) * 2;
    if constexpr (Vec >= 2) {
      struct alignas(Vec * 2) Pack {
        unsigned Word[Vec / 2];
      } P = *reinterpret_cast<const Pack *>(At);
#pragma unroll
      for (int I = 0; I != Vec / 2; ++I) {
        Out[2 * I] = halfToFloat(static_cast<unsigned short>(P.Word[I]));
        Out[2 * I + 1] =
            halfToFloat(static_cast<unsigned short>(P.Word[I] >> 16));
      }
    } else {
      Out[0] = halfToFloat(*reinterpret_cast<const unsigned short *>(At));
    }
  }
  static __device__ __forceinline__ float
  scale(const unsigned char *__restrict__, int, int) {
    return 1.0f;
  }
};

template <int N, int K> struct Matrix<WI8B32, N, K> {
  enum : int {
    Columns = (K + 31) / 32 * 32,
    Vec = Columns >= 2048 || Columns % 512 == 0   ? 16
          : Columns >= 1024 || Columns % 256 == 0 ? 8
                                                  : 4
  };
  enum : bool { Scaled = true };
  enum : size_t {
    ScaleBase = (static_cast<size_t>(N) * Columns + 255) / 256 * 256
  };

  static __device__ __forceinline__ void
  read(const unsigned char *__restrict__ W, int Row, int Column,
       float (&Out)[Vec]) {
    struct alignas(Vec) Pack {
      unsigned Word[Vec / 4];
    } P = *reinterpret_cast<const Pack *>(
        W + static_cast<size_t>(Row) * Columns + Column);
#pragma unroll
    for (int I = 0; I != Vec; ++I)
      Out[I] = static_cast<float>(
          static_cast<signed char>(P.Word[I / 4] >> (I % 4 * 8)));
  }
  static __device__ __forceinline__ float
  scale(const unsigned char *__restrict__ W, int Row, int Column) {
    const unsigned short *S =
        reinterpret_cast<const unsigned short *>(W + ScaleBase);
    return halfToFloat(
        S[static_cast<size_t>(Row) * (Columns / 32) + Column / 32]);
  }
};

/// Where the keys and values of a KV head lie in the block of a page.
template <typename S> struct KvBlock {
  enum : int { Bytes = S::KvType == KvF32 ? 4 : S::KvType == KvI8 ? 1 : 2 };
  enum : size_t {
    Values = static_cast<size_t>(S::HeadDim) * PageTokens * Bytes,
    Scales = Values + static_cast<size_t>(S::VHeadDim) * PageTokens * Bytes,
    Head = Scales + (S::KvType == KvI8 ? 2 * 4 * PageTokens : 0)
  };
  /// Of codes: the scale of a token's key or value, f32.
  static __device__ __forceinline__ size_t scale(bool Value, int Token) {
    return Scales + static_cast<size_t>((Value ? PageTokens : 0) + Token) * 4;
  }
  static __device__ __forceinline__ size_t key(int Token, int D) {
    return (static_cast<size_t>(Token) * S::HeadDim + D) * Bytes;
  }
  static __device__ __forceinline__ size_t value(int Token, int D) {
    return (static_cast<size_t>(S::HeadDim) * PageTokens +
            static_cast<size_t>(Token) * S::VHeadDim + D) *
           Bytes;
  }
  static __device__ __forceinline__ void store(unsigned char *At, float X) {
    if constexpr (S::KvType == KvF32)
      *reinterpret_cast<float *>(At) = X;
    else
      *reinterpret_cast<unsigned short *>(At) = floatToHalf(X);
  }
  static __device__ __forceinline__ float load(const unsigned char *At) {
    if constexpr (S::KvType == KvF32)
      return *reinterpret_cast<const float *>(At);
    else if constexpr (S::KvType == KvI8)
      return static_cast<float>(*reinterpret_cast<const signed char *>(At));
    else
      return halfToFloat(*reinterpret_cast<const unsigned short *>(At));
  }
};

} // namespace llmc
