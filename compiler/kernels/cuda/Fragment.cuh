// Weights in the order of mma fragments: sizes, loads and the first operand of
// a product. The format is that of compiler/kernels/FragmentFormat.h; a test
// compares the numbers.
//
// Codes become f16 without rounding: a code under the mantissa of 1024 (prmt of
// bytes, lop3 of nibbles and pairs of bits) minus 1024 and the zero point; what
// is higher up in a half comes out 4^n times as large and is scaled by the fma
// that subtracts. Floats of 8 bits are f16 with another exponent. Scales are
// applied to f32 sums of 32 or 64 columns, not to the weights, so nothing of a
// weight is rounded: four fma per block and tile, less than the conversions.
namespace llmc {

enum : int { WM16F16 = 4, WM16BF16 = 5, ZeroFloat = 3 }; // see Codes.cuh

template <int WType, int K> struct Fragment {
  enum : bool { Halves = WType == WM16F16 || WType == WM16BF16 };
  enum : bool { Brain = WType == WM16BF16 };
  enum : int {
    Kind = Halves ? 0 : WType & 15,
    Bits = Halves ? 16 : 1 << (WType >> 4 & 7),
    Zero = Halves ? 0 : WType >> 9 & 7,
    Block = Halves ? 0 : (WType >> 12 & 0x3ffff) * 16,
    ScaleBytes = Halves             ? 0
                 : (WType >> 8 & 1) ? 2
                                    : 4,
    ZeroBytes = Zero == ZeroByte      ? 2
                : Zero == ZeroFloat   ? 4
                : Zero == ZeroMinimum ? ScaleBytes
                                      : 0,
    Lines = Bits == 2 ? 1 : Bits / 4,
    LineWords = Bits == 2 ? 2 : 4,
    StepBytes = Bits * 128,
    Steps = (K + 63) / 64,
    Together = Block == 16   ? 4
               : Block == 32 ? 2
                             : 1,
    Blocks = Halves         ? 0
             : Block == 0   ? 1
             : Together > 1 ? Steps * Together
                            : (K + Block - 1) / (Block == 0 ? 1 : Block),
    ScaleAt = Steps * StepBytes,
    ZeroAt = ScaleAt + (Blocks * 16 * ScaleBytes + 127) / 128 * 128,
    TileBytes = ZeroAt + (Blocks * 16 * ZeroBytes + 127) / 128 * 128,
    ScaleWords = Halves ? 1 : Together * ScaleBytes / 2,
    ZeroWords = ZeroBytes == 0 ? 1 : Together * ZeroBytes / 2
  };
  /// A sum of codes needs the sum of the activations, too.
  enum : bool { HasOffset = Zero == ZeroFloat || Zero == ZeroMinimum };
  /// Products go straight into the sum of a segment.
  enum : bool { Direct = Halves || (Block == 0 && !HasOffset) };
  /// Products of 16 columns that get one scale together.
  enum : int { Unit = 4 / Together };

  /// What a lane has of a step of one tile.
  struct Step {
    unsigned Line[Lines][LineWords];
    unsigned Scale[ScaleWords];
    unsigned Zero[ZeroWords];
  };

  template <int Words>
  static __device__ __forceinline__ void loadNumbers(const unsigned char *At,
                                                     unsigned (&Out)[Words]) {
    if constexpr (Words == 8) {
      unsigned Part[2][4];
      loadWords<false>(At, Part[0]);
      loadWords<false>(At + 16, Part[1]);
#pragma unroll
      for (int I = 0; I != 8; ++I)
        Out[I] = Part[I / 4][I % 4];
    } else {
      loadWords<false>(At, Out);
    }
  }

  template <bool Once>
  static __device__ __forceinline__ void load(const unsigned char *Tile,
                                              int Number, Step &Out) {
    const unsigned char *At = Tile + static_cast<size_t>(Number) * StepBytes +
                              laneOf() * (LineWords * 4);
#pragma unroll
    for (int L = 0; L != Lines; ++L)
      loadWords<Once>(At + L * 512, Out.Line[L]);
    if constexpr (!Halves) {
      int Group = Block == 0 ? 0 : Together > 1 ? Number : Number * 64 / Block;
      int Index = (Group * 8 + (laneOf() >> 2)) * Together * 2;
      loadNumbers(Tile + ScaleAt + Index * ScaleBytes, Out.Scale);
      if constexpr (ZeroBytes != 0)
        loadNumbers(Tile + ZeroAt + Index * ZeroBytes, Out.Zero);
    }
  }

  /// Number of row g (High 0) or g + 8 in block Part of the words of a step.
  template <int Bytes, int Words>
  static __device__ __forceinline__ float number(const unsigned (&W)[Words],
                                                 int Part, int High) {
    if constexpr (Bytes == 2)
      return halfToFloat(
          static_cast<unsigned short>(High ? W[Part] >> 16 : W[Part]));
    else
      return __int_as_float(static_cast<int>(W[Part * 2 + High]));
  }
  static __device__ __forceinline__ float scale(const Step &S, int Part,
                                                int High) {
    return number<ScaleBytes>(S.Scale, Part, High);
  }
  static __device__ __forceinline__ float offset(const Step &S, int Part,
                                                 int High) {
    return number<ZeroBytes>(S.Zero, Part, High);
  }

  /// 1024 + zero point of row g and of row g + 8, as pairs of f16.
  static __device__ __forceinline__ void bases(const Step &S, int Part,
                                               unsigned (&Base)[2]) {
    if constexpr (Zero == ZeroByte) {
      Base[0] = addHalves(selectBytes<0x1010>(S.Zero[Part], 0), 0x64006400u);
      Base[1] = addHalves(selectBytes<0x3232>(S.Zero[Part], 0), 0x64006400u);
    } else {
      Base[0] = Base[1] = Zero != ZeroMiddle ? 0x64006400u
                          : Bits == 8        ? 0x64806480u
                          : Bits == 4        ? 0x64086408u
                                             : 0x64026402u;
    }
  }

  /// Floats of 8 bits at the upper ends of two halves as f16: their exponents
  /// differ by a constant, which a product corrects exactly.
  static __device__ __forceinline__ unsigned halvesOfFloats(unsigned W) {
    constexpr unsigned Factor = Kind == CodeE4M3    ? 0x5c005c00u
                                : Kind == CodeE4M3Z ? 0x58005800u
                                                    : 0x38003800u;
    if constexpr (Kind == CodeE5M2)
      return W;
    if constexpr (Kind == CodeE4M3 || Kind == CodeE4M3Z)
      W = maskAndOr<0x80008000u>(W, W >> 1 & 0x3f803f80u);
    return fmaHalves(W, Factor, 0);
  }

  /// Codes of 2 bits of product Part of a half step.
  static __device__ __forceinline__ void pairsOfBits(unsigned W, int Part,
                                                     const unsigned (&Base)[2],
                                                     unsigned (&A)[4]) {
    if (Part == 0) {
      A[0] = pair<0>(W, Base[0]);
      A[1] = pair<1>(W, Base[1]);
      A[2] = pair<2>(W, Base[0]);
      A[3] = pair<3>(W, Base[1]);
    } else {
      A[0] = pair<4>(W, Base[0]);
      W >>= 10; // behind the ten bits of a mantissa
      A[1] = pair<0>(W, Base[1]);
      A[2] = pair<1>(W, Base[0]);
      A[3] = pair<2>(W, Base[1]);
    }
  }
  template <int At>
  static __device__ __forceinline__ unsigned pair(unsigned W, unsigned Base) {
    unsigned X = maskAndSet<0x00030003u << (2 * At), 0x64006400u>(W);
    if constexpr (At == 0)
      return subHalves(X, Base);
    // 4^-At, and 1024 - 1024 * 4^-At.
    constexpr unsigned Factor = 0x3c003c00u - At * 0x08000800u;
    constexpr unsigned Less = At == 1   ? 0x62006200u
                              : At == 2 ? 0x63806380u
                              : At == 3 ? 0x63e063e0u
                                        : 0x63f863f8u;
    return fmaHalves(X, Factor, subHalves(Less, Base));
  }

  /// First operand of k16 product Number (0 … 3) of a step.
  static __device__ __forceinline__ void operand(const Step &S, int Number,
                                                 const unsigned (&Base)[2],
                                                 unsigned (&A)[4]) {
    if constexpr (Halves) {
#pragma unroll
      for (int I = 0; I != 4; ++I)
        A[I] = S.Line[Number][I];
    } else if constexpr (Kind != 0) {
#pragma unroll
      for (int High = 0; High != 2; ++High) {
        unsigned W = S.Line[Number / 2][Number % 2 * 2 + High];
        A[High] = halvesOfFloats(selectBytes<0x1404>(W, 0));
        A[High + 2] = halvesOfFloats(selectBytes<0x3424>(W, 0));
      }
    } else if constexpr (Bits == 2) {
      pairsOfBits(S.Line[0][Number / 2], Number % 2, Base, A);
    } else if constexpr (Bits == 8) {
      const unsigned (&Line)[4] = S.Line[Number / 2];
#pragma unroll
      for (int High = 0; High != 2; ++High) {
        unsigned W = Line[Number % 2 * 2 + High];
        A[High] = subHalves(selectBytes<0x4140>(W, 0x64646464u), Base[High]);
        A[High + 2] =
            subHalves(selectBytes<0x4342>(W, 0x64646464u), Base[High]);
      }
    } else {
      unsigned W = S.Line[0][Number];
      // -(64 + zero): 960 less and negative.
      unsigned Upper = subHalves(0x63806380u, Base[1]);
#pragma unroll
      for (int Odd = 0; Odd != 2; ++Odd) {
        A[2 * Odd] =
            subHalves(maskAndSet<0x000f000fu, 0x64006400u>(W), Base[0]);
        A[2 * Odd + 1] = fmaHalves(maskAndSet<0x00f000f0u, 0x64006400u>(W),
                                   0x2c002c00u, Upper);
        W >>= 8;
      }
    }
  }

  /// The eight weights of Row at the columns 8 * Eight …, for lookups.
  static __device__ __forceinline__ void row(const unsigned char *W, int Row,
                                             int Eight, float (&Out)[8]) {
    const unsigned char *Tile = W + static_cast<size_t>(Row / 16) * TileBytes;
    int High = Row % 16 / 8, Half = Eight % 8 / 4, S = Eight % 4 / 2;
    const unsigned char *Step =
        Tile + static_cast<size_t>(Eight / 8) * StepBytes;
#pragma unroll
    for (int I = 0; I != 8; ++I) {
      int J = I % 4, Lane = Row % 8 * 4 + Eight % 2 * 2 + I / 4;
      const unsigned char *At = Step + Lane * (LineWords * 4);
      if constexpr (Halves) {
        unsigned short H = *reinterpret_cast<const unsigned short *>(
            At + (Half * 2 + S) * 512 + ((High + J / 2 * 2) * 2 + J % 2) * 2);
        Out[I] =
            Brain ? __int_as_float(static_cast<int>(H) << 16) : halfToFloat(H);
      } else {
        int Code, Nibble = High + J / 2 * 2 + J % 2 * 4;
        if constexpr (Bits == 8)
          Code = At[Half * 512 + S * 8 + High * 4 + J];
        else if constexpr (Bits == 2)
          Code = At[Half * 4 + J % 2 * 2 + S] >> (Nibble % 4 * 2) & 3;
        else
          Code = At[(Half * 2 + S) * 4 + Nibble / 2] >> (Nibble % 2 * 4) & 15;
        Out[I] = Kind != 0 ? floatOfCode<Kind>(static_cast<unsigned>(Code))
                           : static_cast<float>(Code);
      }
    }
    if constexpr (!Halves) {
      int Column = Eight * 8;
      int Index = Block == 0 ? 0 : Column / (Block == 0 ? 1 : Block);
      Index =
          ((Index / Together * 8 + Row % 8) * Together + Index % Together) * 2 +
          High;
      float Factor = lookup<ScaleBytes>(Tile + ScaleAt, Index), Shift = 0.0f;
      if constexpr (ZeroBytes != 0)
        Shift = lookup<ZeroBytes>(Tile + ZeroAt, Index);
      else if constexpr (Zero == ZeroMiddle)
        Shift = static_cast<float>(1 << (Bits - 1));
#pragma unroll
      for (int I = 0; I != 8; ++I)
        Out[I] = Zero == ZeroMinimum ? fmaf(Out[I], Factor, Shift)
                                     : (Out[I] - Shift) * Factor;
    }
  }

  template <int Bytes>
  static __device__ __forceinline__ float lookup(const unsigned char *At,
                                                 int Index) {
    if constexpr (Bytes == 2)
      return halfToFloat(reinterpret_cast<const unsigned short *>(At)[Index]);
    else
      return reinterpret_cast<const float *>(At)[Index];
  }
};

} // namespace llmc
