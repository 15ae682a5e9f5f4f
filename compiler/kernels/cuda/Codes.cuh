// Weights that no fast layout holds, for the plain products: codes of a file as
// they are (compiler/weights/RowFormat.h), f32 and bf16. read() gives the
// numbers that the codes stand for, so that a product has the bits of one with
// the dequantised matrix.
//
//   weight = (code - zero) * scale, each operation rounded to f32,
//            with a minimum instead of a zero point code * scale + minimum
namespace llmc {

// Numbers of compiler/kernels/WeightFormat.h.
enum : int { CodeTable = 1, CodeE4M3 = 2, CodeE5M2 = 3, CodeE4M3Z = 4 };
enum : int { ZeroNone = 0, ZeroMiddle = 1, ZeroByte = 2, ZeroMinimum = 4 };

/// Neighbouring columns that a lane takes of rows of that many columns: one
/// rule, so that sums over codes and over the numbers that they stand for have
/// the same order.
__device__ constexpr int codeColumns(int Columns) {
  return Columns >= 2048 || Columns % 512 == 0   ? 16
         : Columns >= 1024 || Columns % 256 == 0 ? 8
                                                 : 4;
}
/// The same for rows of K values without padding.
__device__ constexpr int valueColumns(int K) {
  return K % 32 == 0 ? codeColumns(K) : K % 4 == 0 ? 4 : K % 2 == 0 ? 2 : 1;
}

/// What a float of 8 bits stands for: its bits at their place in an f32, whose
/// exponent is then off.
template <int Kind>
__device__ __forceinline__ float floatOfCode(unsigned Code) {
  constexpr bool E4 = Kind == CodeE4M3 || Kind == CodeE4M3Z;
  constexpr int Exponent = Kind == CodeE4M3    ? 120
                           : Kind == CodeE4M3Z ? 119
                           : Kind == CodeE5M2  ? 112
                                               : 111;
  float V = __int_as_float(static_cast<int>(Code & 0x7f) << (E4 ? 20 : 21)) *
            __int_as_float((Exponent + 127) << 23);
  return Code & 0x80 ? -V : V;
}

/// Number I of an array of halves or floats.
template <bool Half>
__device__ __forceinline__ float numberAt(const unsigned char *__restrict__ At,
                                          int I) {
  if constexpr (Half)
    return halfToFloat(reinterpret_cast<const unsigned short *>(At)[I]);
  else
    return reinterpret_cast<const float *>(At)[I];
}

template <int WType, int N, int K> struct Matrix {
  enum : int {
    Kind = WType & 15,
    Bits = 1 << (WType >> 4 & 7),
    Zero = WType >> 9 & 7,
    Block = (WType >> 12 & 0x3ffff) * 16,
    Columns = (K + 31) / 32 * 32,
    Blocks = Block != 0 ? (Columns + Block - 1) / Block : 1,
    Vec = codeColumns(Columns),
    ScaleBytes = WType >> 8 & 1 ? 2 : 4,
    ZeroBytes = Zero == ZeroMinimum ? ScaleBytes
                : Zero == ZeroByte  ? 1
                : Zero > ZeroByte   ? 4
                                    : 0
  };
  enum : bool { Scaled = false, HalfScale = (WType >> 8 & 1) != 0 };
  enum : size_t {
    Header = Kind == CodeTable ? 64 : 0,
    ScaleAt = static_cast<size_t>(Columns) * Bits / 8,
    ZeroAt = (ScaleAt + static_cast<size_t>(Blocks) * ScaleBytes + 3) / 4 * 4,
    RowBytes = (ZeroAt + static_cast<size_t>(Blocks) * ZeroBytes + 15) / 16 * 16
  };

  /// What a code stands for.
  static __device__ __forceinline__ float
  value(const unsigned char *__restrict__ W, unsigned Code) {
    if constexpr (Kind == 0) {
      return static_cast<float>(static_cast<int>(Code));
    } else if constexpr (Kind == CodeTable) {
      return numberAt<false>(W, static_cast<int>(Code));
    } else {
      return floatOfCode<Kind>(Code);
    }
  }

  static __device__ __forceinline__ void
  read(const unsigned char *__restrict__ W, int Row, int Column,
       float (&Out)[Vec]) {
    const unsigned char *At = W + Header + static_cast<size_t>(Row) * RowBytes;
    int B = Block != 0 ? Column / (Block != 0 ? Block : 1) : 0;
    float Scale = numberAt<HalfScale>(At + ScaleAt, B), Minus = 0.0f;
    if constexpr (Zero == ZeroMiddle)
      Minus = static_cast<float>(1 << (Bits - 1));
    else if constexpr (Zero == ZeroByte)
      Minus = static_cast<float>(At[ZeroAt + B]);
    else if constexpr (Zero == ZeroMinimum)
      Minus = numberAt<HalfScale>(At + ZeroAt, B);
    else if constexpr (Zero != ZeroNone)
      Minus = numberAt<false>(At + ZeroAt, B);
    constexpr int Bytes = Vec * Bits / 8, Words = (Bytes + 3) / 4;
    const unsigned char *Codes = At + Column * Bits / 8;
    unsigned Word[Words];
    if constexpr (Bytes >= 4) {
      struct alignas(Bytes) Pack {
        unsigned Word[Words];
      } P = *reinterpret_cast<const Pack *>(Codes);
#pragma unroll
      for (int I = 0; I != Words; ++I)
        Word[I] = P.Word[I];
    } else if constexpr (Bytes == 2) {
      Word[0] = *reinterpret_cast<const unsigned short *>(Codes);
    } else {
      Word[0] = *Codes;
    }
#pragma unroll
    for (int I = 0; I != Vec; ++I) {
      constexpr int Each = 32 / Bits;
      unsigned Code = Word[I / Each] >> (I % Each * Bits) & ((1u << Bits) - 1);
      float V = value(W, Code);
      if constexpr (Zero == ZeroMinimum)
        Out[I] = V * Scale + Minus;
      else if constexpr (Zero == ZeroNone)
        Out[I] = V * Scale;
      else
        Out[I] = (V - Minus) * Scale;
    }
  }
  static __device__ __forceinline__ float
  scale(const unsigned char *__restrict__, int, int) {
    return 1.0f;
  }
};

template <int N, int K> struct Matrix<WF32, N, K> {
  enum : int { Columns = K, Vec = valueColumns(K) };
  enum : bool { Scaled = false };

  static __device__ __forceinline__ void
  read(const unsigned char *__restrict__ W, int Row, int Column,
       float (&Out)[Vec]) {
    // 16 bytes at a time: wider loads are of newer PTX.
    constexpr int Part = Vec < 4 ? Vec : 4;
    struct alignas(Part * 4) Pack {
      float Value[Part];
    };
    const Pack *At = reinterpret_cast<const Pack *>(
        W + (static_cast<size_t>(Row) * K + Column) * 4);
#pragma unroll
    for (int P = 0; P != Vec / Part; ++P) {
      Pack V = At[P];
#pragma unroll
      for (int I = 0; I != Part; ++I)
        Out[P * Part + I] = V.Value[I];
    }
  }
  static __device__ __forceinline__ float
  scale(const unsigned char *__restrict__, int, int) {
    return 1.0f;
  }
};

template <int N, int K> struct Matrix<WBF16, N, K> {
  enum : int { Columns = K, Vec = valueColumns(K) };
  enum : bool { Scaled = false };

  static __device__ __forceinline__ void
  read(const unsigned char *__restrict__ W, int Row, int Column,
       float (&Out)[Vec]) {
    constexpr int Part = Vec < 8 ? Vec : 8;
    struct alignas(Part * 2) Pack {
      unsigned short Half[Part];
    };
    const Pack *At = reinterpret_cast<const Pack *>(
        W + (static_cast<size_t>(Row) * K + Column) * 2);
#pragma unroll
    for (int P = 0; P != Vec / Part; ++P) {
      Pack V = At[P];
#pragma unroll
      for (int I = 0; I != Part; ++I)
        Out[P * Part + I] = __int_as_float(static_cast<int>(V.Half[I]) << 16);
    }
  }
  static __device__ __forceinline__ float
  scale(const unsigned char *__restrict__, int, int) {
    return 1.0f;
  }
};

} // namespace llmc
