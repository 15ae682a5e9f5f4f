// mma.sync and ldmatrix against scalar products, by the fragments of the ISA.
#include "test/cudasim/Harness.h"

#include "tools/cudasim/exec/Machine.h"

#include <cmath>
#include <cstdlib>
#include <random>

namespace {

using Words = std::vector<uint32_t>;

struct Shape {
  const char *Name, *TypeA, *TypeB, *Sum;
  unsigned Depth, Bits; ///< bits of an element in its register
  enum Element { Half, BHalf, Tf32, S8, U8, E4m3 } Kind;
};

/// The number with the bits Raw of an element of S.
double numberOf(const Shape &S, uint32_t Raw) {
  switch (S.Kind) {
  case Shape::Half: {
    uint32_t E = Raw >> 10 & 31, M = Raw & 1023;
    double A = std::ldexp(M + (E ? 1024 : 0), int(E ? E : 1) - 25);
    return Raw & 0x8000 ? -A : A;
  }
  case Shape::BHalf:
    return static_cast<double>(asFloat(Raw << 16));
  case Shape::Tf32:
    return static_cast<double>(asFloat(Raw));
  case Shape::S8:
    return static_cast<int8_t>(Raw);
  case Shape::U8:
    return Raw & 255;
  case Shape::E4m3: {
    uint32_t E = Raw >> 3 & 15, M = Raw & 7;
    double A = std::ldexp(M + (E ? 8 : 0), int(E ? E : 1) - 10);
    return Raw & 0x80 ? -A : A;
  }
  }
  return 0;
}

/// Bits of a small integer.
uint32_t bitsOf(const Shape &S, int V) {
  switch (S.Kind) {
  case Shape::Half: {
    for (uint32_t H = 0; H != 0x10000; ++H)
      if ((H & 0x7c00) != 0x7c00 && numberOf(S, H) == V)
        return H;
    return 0;
  }
  case Shape::BHalf:
    return asBits(static_cast<float>(V)) >> 16;
  case Shape::Tf32:
    return asBits(static_cast<float>(V));
  case Shape::E4m3:
    for (uint32_t H = 0; H != 256; ++H)
      if (numberOf(S, H) == V)
        return H;
    return 0;
  default:
    return static_cast<uint32_t>(V) & 255;
  }
}

void checkShape(const Shape &S) {
  SimContext Context;
  unsigned Per = 32 / S.Bits, RegA = S.Depth * S.Bits / 64, RegB = RegA / 2;
  std::mt19937 Random(11);
  std::vector<std::vector<int>> A(16, std::vector<int>(S.Depth)),
      B(S.Depth, std::vector<int>(8)), C(16, std::vector<int>(8));
  int Low = S.Kind == Shape::U8 ? 0 : -7;
  auto Number = [&] { return Low + static_cast<int>(Random() % 15); };
  for (auto &Row : A)
    for (int &V : Row)
      V = Number();
  for (auto &Row : B)
    for (int &V : Row)
      V = Number();
  for (auto &Row : C)
    for (int &V : Row)
      V = static_cast<int>(Random() % 100) - 50;
  bool Float = std::string(S.Sum) == "f32";
  // Lane's words: A, B, C, D.
  unsigned Lane = RegA + RegB + 8;
  Words In(32 * Lane);
  auto Pack = [&](auto Element) {
    uint32_t W = 0;
    for (unsigned E = 0; E != Per; ++E)
      W |= bitsOf(S, Element(E)) << (E * S.Bits % 32);
    return W;
  };
  for (unsigned L = 0; L != 32; ++L) {
    unsigned G = L / 4, T = L % 4;
    uint32_t *W = In.data() + L * Lane;
    for (unsigned N = 0; N != RegA; ++N)
      W[N] = Pack([&](unsigned E) {
        return A[G + 8 * (N & 1)][N / 2 * 4 * Per + Per * T + E];
      });
    for (unsigned N = 0; N != RegB; ++N)
      W[RegA + N] =
          Pack([&](unsigned E) { return B[N * 4 * Per + Per * T + E][G]; });
    for (unsigned N = 0; N != 4; ++N) {
      int V = C[G + 8 * (N / 2)][2 * T + N % 2];
      W[RegA + RegB + N] =
          Float ? asBits(static_cast<float>(V)) : static_cast<uint32_t>(V);
    }
  }
  std::string Text = "mul.wide.u32 %rd2, %tx, " + std::to_string(Lane * 4) +
                     "; add.s64 %rd2, %rd1, %rd2;\n";
  for (unsigned N = 0; N != RegA + RegB + 4; ++N)
    Text += "ld.global.u32 %r" + std::to_string(10 + N) + ", [%rd2+" +
            std::to_string(4 * N) + "];\n";
  auto List = [](unsigned First, unsigned N) {
    std::string L = "{";
    for (unsigned I = 0; I != N; ++I)
      L += (I ? ", %r" : "%r") + std::to_string(First + I);
    return L + "}";
  };
  unsigned FirstC = 10 + RegA + RegB;
  Text += std::string("mma.sync.aligned.") + S.Name + ".row.col." + S.Sum +
          "." + S.TypeA + "." + S.TypeB + "." + S.Sum + " " + List(40, 4) +
          ", " + List(10, RegA) + ", " + List(10 + RegA, RegB) + ", " +
          List(FirstC, 4) + ";\n";
  if (Float) // the sums are registers of bits here; .f32 takes them, too
    Text += "";
  for (unsigned N = 0; N != 4; ++N)
    Text += "st.global.u32 [%rd2+" + std::to_string(4 * (RegA + RegB + 4 + N)) +
            "], %r" + std::to_string(40 + N) + ";\n";
  ASSERT_EQ(runBuffer(kernelText(Text), In), 0) << S.Name;
  for (unsigned L = 0; L != 32; ++L)
    for (unsigned N = 0; N != 4; ++N) {
      unsigned Row = L / 4 + 8 * (N / 2), Column = 2 * (L % 4) + N % 2;
      int Want = C[Row][Column];
      for (unsigned K = 0; K != S.Depth; ++K)
        Want += A[Row][K] * B[K][Column];
      uint32_t Got = In[L * Lane + RegA + RegB + 4 + N];
      EXPECT_EQ(Got, Float ? asBits(static_cast<float>(Want))
                           : static_cast<uint32_t>(Want))
          << S.Name << " " << S.TypeA << " row " << Row << " column " << Column;
    }
}

TEST(Mma, EveryShape) {
  const Shape Shapes[] = {
      {"m16n8k16", "f16", "f16", "f32", 16, 16, Shape::Half},
      {"m16n8k8", "f16", "f16", "f32", 8, 16, Shape::Half},
      {"m16n8k16", "bf16", "bf16", "f32", 16, 16, Shape::BHalf},
      {"m16n8k8", "tf32", "tf32", "f32", 8, 32, Shape::Tf32},
      {"m16n8k4", "tf32", "tf32", "f32", 4, 32, Shape::Tf32},
      {"m16n8k32", "s8", "s8", "s32", 32, 8, Shape::S8},
      {"m16n8k16", "u8", "u8", "s32", 16, 8, Shape::U8},
      {"m16n8k32", "e4m3", "e4m3", "f32", 32, 8, Shape::E4m3}};
  for (const Shape &S : Shapes)
    checkShape(S);
}

/// Any bits, also infinities, NaNs and subnormals: one fma per k, ascending.
void checkAnyBits(const char *Type, Shape::Element Kind, unsigned Depth) {
  SimContext Context;
  Shape S = {"", Type, Type, "f32", Depth, 16, Kind};
  unsigned RegA = Depth / 4, RegB = RegA / 2, Lane = RegA + RegB + 8;
  std::mt19937 Random(17);
  Words In(32 * Lane);
  for (uint32_t &W : In) {
    W = static_cast<uint32_t>(Random());
    if (Random() % 4 != 0)
      W &= 0x3fff3fff; // mostly of middle size, and positive
  }
  Words Start = In;
  std::string Text = "mul.wide.u32 %rd2, %tx, " + std::to_string(Lane * 4) +
                     "; add.s64 %rd2, %rd1, %rd2;\n";
  for (unsigned N = 0; N != RegA + RegB + 4; ++N)
    Text += "ld.global.u32 %r" + std::to_string(10 + N) + ", [%rd2+" +
            std::to_string(4 * N) + "];\n";
  auto List = [](unsigned First, unsigned N) {
    std::string L = "{";
    for (unsigned I = 0; I != N; ++I)
      L += (I ? ", %r" : "%r") + std::to_string(First + I);
    return L + "}";
  };
  Text += "mma.sync.aligned.m16n8k" + std::to_string(Depth) + ".row.col.f32." +
          Type + "." + Type + ".f32 " + List(40, 4) + ", " + List(10, RegA) +
          ", " + List(10 + RegA, RegB) + ", " + List(10 + RegA + RegB, 4) +
          ";\n";
  for (unsigned N = 0; N != 4; ++N)
    Text += "st.global.u32 [%rd2+" + std::to_string(4 * (RegA + RegB + 4 + N)) +
            "], %r" + std::to_string(40 + N) + ";\n";
  ASSERT_EQ(runBuffer(kernelText(Text), In), 0);
  auto Element = [&](unsigned L, unsigned Register, unsigned Half) {
    return static_cast<float>(
        numberOf(S, Start[L * Lane + Register] >> (16 * Half) & 0xffff));
  };
  auto Special = [&](float V, unsigned L, unsigned Register, unsigned Half) {
    uint32_t H = Start[L * Lane + Register] >> (16 * Half) & 0xffff;
    if (Kind == Shape::Half && (H & 0x7c00) == 0x7c00)
      return H & 0x3ff ? NAN : H & 0x8000 ? -INFINITY : INFINITY;
    return V;
  };
  auto At = [&](unsigned L, unsigned Register, unsigned Half) {
    return Special(Element(L, Register, Half), L, Register, Half);
  };
  for (unsigned L = 0; L != 32; ++L)
    for (unsigned N = 0; N != 4; ++N) {
      unsigned Row = L / 4 + 8 * (N / 2), Column = 2 * (L % 4) + N % 2;
      float Want = asFloat(Start[L * Lane + RegA + RegB + N]);
      for (unsigned K = 0; K != Depth; ++K) {
        unsigned Block = K / 8, Third = K % 8 / 2, Half = K % 2;
        Want = std::fmaf(At(4 * (Row % 8) + Third, 2 * Block + Row / 8, Half),
                         At(4 * Column + Third, RegA + Block, Half), Want);
      }
      uint32_t Bits = std::isnan(Want) ? 0x7fffffffu : asBits(Want);
      ASSERT_EQ(In[L * Lane + RegA + RegB + 4 + N], Bits)
          << Type << " row " << Row << " column " << Column;
    }
}

TEST(Mma, AnyBits) {
  for (unsigned Depth : {8u, 16u}) {
    checkAnyBits("f16", Shape::Half, Depth);
    checkAnyBits("bf16", Shape::BHalf, Depth);
  }
}

TEST(Mma, ADivergentWarpIsAnError) {
  SimContext Context;
  Words In(32);
  testing::internal::CaptureStderr();
  int Code =
      runBuffer(kernelText("setp.lt.u32 %p1, %tx, 16; @%p1 exit;\n"
                           "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                           "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7}, "
                           "{%r1, %r2, %r3, %r4};"),
                In);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(Code, 719);
}

/// Row 0, column 0 of an m16n8k16 product of halves with LLMC_CUDASIM_TENSOR=
/// arch, where row 0 of A is ones and column 0 of B has the powers of two
/// 2^Exponents[k] (0 for 99), negated where Negative.
float archSum(const char *Target, const std::vector<int> &Exponents,
              bool Negative, float C = 0) {
  setenv("LLMC_CUDASIM_TENSOR", "arch", 1);
  llmc::cudasim::reloadSettings();
  SimContext Context;
  Words In(32 * 6, 0); // A's rows 0 to 7, B's column, C
  auto Half = [&](int E) -> uint32_t {
    if (E == 99)
      return 0;
    uint32_t Bits =
        E >= -14 ? static_cast<uint32_t>(E + 15) << 10 : 1u << (E + 24);
    return Bits | (Negative ? 0x8000u : 0);
  };
  for (unsigned T = 0; T != 4; ++T)
    for (unsigned H = 0; H != 2; ++H) {
      // Products below half's smallest number: both factors are small.
      uint32_t A = 0, B = 0;
      for (unsigned E = 0; E != 2; ++E) {
        int Power = Exponents[8 * H + 2 * T + E];
        int OfA = Power == 99 || Power >= -14 ? 0 : -12;
        A |= ((static_cast<uint32_t>(OfA + 15) << 10)) << (16 * E);
        B |= Half(Power == 99 ? 99 : Power - OfA) << (16 * E);
      }
      In[6 * T + H] = A;
      In[6 * T + 2 + H] = B;
    }
  In[4] = asBits(C);
  std::string Text =
      "mul.wide.u32 %rd2, %tx, 24; add.s64 %rd2, %rd1, %rd2; mov.u32 %r9, 0;\n"
      "ld.global.u32 %r1, [%rd2]; ld.global.u32 %r2, [%rd2+4];\n"
      "ld.global.u32 %r3, [%rd2+8]; ld.global.u32 %r4, [%rd2+12];\n"
      "ld.global.u32 %r5, [%rd2+16];\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r5, %r6, %r7, %r8},"
      " {%r1, %r9, %r2, %r9}, {%r3, %r4}, {%r5, %r9, %r9, %r9};\n"
      "st.global.u32 [%rd2+20], %r5;";
  std::string Whole = kernelText(Text);
  Whole.replace(Whole.find("sm_80"), 5, Target);
  EXPECT_EQ(runBuffer(Whole, In), 0);
  unsetenv("LLMC_CUDASIM_TENSOR");
  llmc::cudasim::reloadSettings();
  return asFloat(In[5]);
}

/// What is published of the sums of tensor cores: cut towards zero, 24 bits
/// below the largest on sm_80 and 25 on sm_90, eight products at a time on
/// sm_80 and sixteen on sm_90.
TEST(Mma, SumsOfTheChips) {
  std::vector<int> None(16, 99), P = None;
  EXPECT_EQ(archSum("sm_80", None, false), 0.0f);
  EXPECT_EQ(archSum("sm_80", None, false, 3.5f), 3.5f);
  // 1 + 2^-23 + 2^-24: nearest even is 1 + 2^-22.
  P[0] = 0;
  P[1] = -23;
  P[2] = -24;
  for (const char *Target : {"sm_80", "sm_90"})
    for (bool Negative : {false, true})
      EXPECT_EQ(archSum(Target, P, Negative),
                Negative ? -(1 + 0x1p-23f) : 1 + 0x1p-23f)
          << Target;
  // Two halves of a last place meet: in one step of sm_80, and not in two.
  P = None;
  P[0] = 0;
  P[1] = P[2] = -24;
  EXPECT_EQ(archSum("sm_80", P, false), 1 + 0x1p-23f);
  std::swap(P[2], P[8]);
  EXPECT_EQ(archSum("sm_80", P, false), 1.0f);
  EXPECT_EQ(archSum("sm_90", P, false), 1 + 0x1p-23f);
  // Quarters: 25 bits keep them, 24 do not.
  P = None;
  P[0] = 0;
  P[1] = P[2] = P[3] = P[4] = -25;
  EXPECT_EQ(archSum("sm_80", P, false), 1.0f);
  EXPECT_EQ(archSum("sm_90", P, false), 1 + 0x1p-23f);
  // The sum so far is one of the numbers.
  EXPECT_EQ(archSum("sm_80", None, false, -7.25f), -7.25f);
  P = None;
  P[0] = P[1] = -24;
  EXPECT_EQ(archSum("sm_80", P, false, 1.0f), 1 + 0x1p-23f);
}

TEST(LoadMatrix, RowsOfTheirLanes) {
  for (const char *Trans : {"", ".trans"}) {
    SimContext Context;
    // Row r of matrix q at (q * 8 + r) * 16: the lane's own address.
    Words In(32 * 4 + 32 * 4);
    for (unsigned I = 0; I != 128; ++I)
      In[I] = 2 * I | (2 * I + 1) << 16; // half h has the value h
    std::string Text =
        "mov.u32 %r3, buf; shl.b32 %r4, %tx, 4; add.u32 %r3, %r3, %r4;\n"
        "cvt.u64.u32 %rd3, %r4; add.s64 %rd3, %rd1, %rd3;\n"
        "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd3];\n"
        "st.shared.v4.u32 [%r3], {%r5, %r6, %r7, %r8}; bar.sync 0;\n"
        "ldmatrix.sync.aligned.m8n8.x4" +
        std::string(Trans) +
        ".shared.b16 {%r5, %r6, %r7, %r8}, [%r3];\n"
        "st.global.v4.u32 [%rd3+512], {%r5, %r6, %r7, %r8};";
    ASSERT_EQ(
        runBuffer(kernelText(Text, ".shared .align 16 .b8 buf[512];\n"), In),
        0);
    for (unsigned L = 0; L != 32; ++L)
      for (unsigned Q = 0; Q != 4; ++Q)
        for (unsigned H = 0; H != 2; ++H) {
          unsigned Row = L / 4, Column = 2 * (L % 4) + H;
          if (*Trans)
            std::swap(Row, Column);
          EXPECT_EQ(In[128 + 4 * L + Q] >> (16 * H) & 0xffff,
                    (8 * Q + Row) * 8 + Column);
        }
  }
}
} // namespace
