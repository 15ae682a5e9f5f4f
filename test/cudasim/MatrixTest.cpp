// mma.sync and ldmatrix against scalar products, by the fragments of the ISA.
#include "test/cudasim/Harness.h"

#include <cmath>
#include <random>

namespace {

using Words = std::vector<uint32_t>;

struct Shape {
  const char *Name, *TypeA, *TypeB, *Sum;
  unsigned Depth, Bits; ///< bits of an element in its register
  enum { Half, BHalf, Tf32, S8, U8, E4m3 } Kind;
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
