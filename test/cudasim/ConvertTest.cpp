// Conversions, halves, approximations and moves against scalar references.
#include "test/cudasim/Reference.h"

namespace {

TEST(Convert, FloatToInteger) {
  auto Round = [](float A, double V) {
    return A != A ? 0u
                  : u(static_cast<int64_t>(
                        std::clamp(V, -2147483648.0, 2147483647.0)));
  };
  std::string L = "mov.b32 %f2, %r2;\n";
  check(
      L + "cvt.rni.s32.f32 %r9, %f2;", 1,
      [&](const Row &R) {
        return Round(asFloat(R[0]), std::nearbyint(asFloat(R[0])));
      },
      floats());
  check(
      L + "cvt.rzi.s32.f32 %r9, %f2;", 1,
      [&](const Row &R) {
        return Round(asFloat(R[0]), std::trunc(asFloat(R[0])));
      },
      floats());
  check(
      L + "cvt.rmi.s32.f32 %r9, %f2;", 1,
      [&](const Row &R) {
        return Round(asFloat(R[0]), std::floor(asFloat(R[0])));
      },
      floats());
  check(
      L + "cvt.rzi.u32.f32 %r9, %f2;", 1,
      [&](const Row &R) {
        float A = asFloat(R[0]);
        return A != A ? 0u
                      : static_cast<uint32_t>(std::clamp(static_cast<double>(A),
                                                         0.0, 4294967295.0));
      },
      floats());
}

TEST(Convert, IntegerWidths) {
  check("cvt.u16.u32 %h1, %r2; cvt.s16.s8 %h2, %h1; cvt.s32.s16 %r9, %h2;", 1,
        [](const Row &R) { return u(static_cast<int8_t>(R[0])); });
  check("cvt.s8.s32 %r9, %r2;", 1,
        [](const Row &R) { return u(static_cast<int8_t>(R[0])); });
  check("cvt.sat.u8.s32 %r9, %r2;", 1,
        [](const Row &R) { return u(std::clamp(s(R[0]), 0, 255)); });
  check("cvt.s64.s32 %rd3, %r2; shr.u64 %rd3, %rd3, 32; cvt.u32.u64 %r9, %rd3;",
        1, [](const Row &R) { return s(R[0]) < 0 ? ~0u : 0u; });
  check("cvt.rn.f32.s32 %f2, %r2; mov.b32 %r9, %f2;", 1,
        [](const Row &R) { return asBits(static_cast<float>(s(R[0]))); });
  check("cvt.rz.f32.u32 %f2, %r2; mov.b32 %r9, %f2;", 1, [](const Row &R) {
    float V = static_cast<float>(R[0]);
    if (static_cast<double>(V) > R[0])
      V = std::nextafter(V, 0.0f);
    return asBits(V);
  });
}

/// Nearest half by searching all of them.
uint32_t nearestHalf(double V, bool Bf) {
  auto Number = [&](uint32_t H) {
    if (Bf)
      return static_cast<double>(asFloat(H << 16));
    uint32_t E = H >> 10 & 31, M = H & 1023;
    double A = E == 0 ? std::ldexp(M, -24) : std::ldexp(M + 1024, int(E) - 25);
    return H & 0x8000 ? -A : A;
  };
  if (V != V)
    return 0x7fff;
  uint32_t Sign = std::signbit(V) ? 0x8000 : 0, Most = Bf ? 0x7f80 : 0x7c00;
  double A = std::fabs(V);
  uint32_t Low = 0, High = Most; // the last number not above A
  while (High - Low > 1) {
    uint32_t Middle = (Low + High) / 2;
    (Number(Middle) <= A ? Low : High) = Middle;
  }
  double Step =
      High == Most ? Number(Low) - Number(Low - 1) : Number(High) - Number(Low);
  double Half = Number(Low) + Step / 2;
  bool Up = A > Half || (A == Half && (Low & 1));
  return Sign | (Up ? Low + 1 : Low);
}

TEST(Convert, Halves) {
  std::string L = "mov.b32 %f2, %r2;\n";
  check(
      L + "cvt.rn.f16.f32 %h1, %f2; cvt.u32.u16 %r9, %h1;", 1,
      [](const Row &R) { return nearestHalf(asFloat(R[0]), false); }, floats());
  check(
      L + "cvt.rn.bf16.f32 %h1, %f2; cvt.u32.u16 %r9, %h1;", 1,
      [](const Row &R) { return nearestHalf(asFloat(R[0]), true); }, floats());
  // Every half to f32 and back.
  std::vector<uint32_t> All;
  for (uint32_t H = 0; H < 0x10000; H += 7)
    All.push_back(H);
  check(
      "cvt.u16.u32 %h1, %r2; cvt.f32.f16 %f2, %h1; cvt.rn.f16.f32 %h2, %f2;\n"
      "cvt.u32.u16 %r9, %h2;",
      1,
      [](const Row &R) {
        uint32_t H = R[0] & 0xffff;
        return (H & 0x7fff) > 0x7c00 ? 0x7fff : H;
      },
      All);
  // The first source becomes the high half.
  check(
      "mov.b32 %f2, %r2; mov.b32 %f3, %r3; cvt.rn.f16x2.f32 %r9, %f2, %f3;", 2,
      [](const Row &R) {
        return nearestHalf(asFloat(R[0]), false) << 16 |
               nearestHalf(asFloat(R[1]), false);
      },
      floats());
  check(
      L + "cvt.rna.tf32.f32 %r9, %f2;", 1,
      [](const Row &R) {
        if (asFloat(R[0]) != asFloat(R[0]))
          return 0x7fffffffu;
        bool Infinite = (R[0] & 0x7fffffff) == 0x7f800000;
        return Infinite ? R[0] : (R[0] + 0x1000) & 0xffffe000;
      },
      floats());
}

TEST(Half, ArithmeticRoundsOnce) {
  const std::vector<uint32_t> H = {0,      0x8000, 0x3c00, 0xbc00, 0x0001,
                                   0x83ff, 0x0400, 0x7bff, 0xfbff, 0x3555,
                                   0x6400, 0x1400, 0x5555, 0x3c01};
  auto Number = [](uint32_t V) {
    uint32_t E = V >> 10 & 31, M = V & 1023;
    double A = E == 0    ? std::ldexp(M, -24)
               : E == 31 ? (M ? NAN : INFINITY)
                         : std::ldexp(M + 1024, int(E) - 25);
    return V & 0x8000 ? -A : A;
  };
  std::vector<Row> Rows;
  for (uint32_t A : H)
    for (uint32_t B : H)
      for (uint32_t C : H)
        Rows.push_back({A, B, C});
  SimContext Context;
  std::vector<uint32_t> Got = evaluate(
      "cvt.u16.u32 %h1, %r2; cvt.u16.u32 %h2, %r3; cvt.u16.u32 %h3, %r4;\n"
      "fma.rn.f16 %h4, %h1, %h2, %h3; cvt.u32.u16 %r9, %h4;",
      Rows);
  for (size_t I = 0; I != Rows.size(); ++I) {
    // Exact in long double: 11 + 11 bits and a sum over at most 64 bits.
    long double Exact =
        static_cast<long double>(Number(Rows[I][0]) * Number(Rows[I][1])) +
        static_cast<long double>(Number(Rows[I][2]));
    double Near = static_cast<double>(Exact);
    if (static_cast<long double>(Near) != Exact || Near == 0)
      continue; // the reference would round twice, or signs of zero
    EXPECT_EQ(Got[I], nearestHalf(Near, false)) << I;
  }
  check("add.f16x2 %r9, %r2, %r3;", 2,
        [&](const Row &R) {
          uint32_t V = 0;
          for (unsigned P = 0; P != 32; P += 16) {
            double Sum =
                Number(R[0] >> P & 0xffff) + Number(R[1] >> P & 0xffff);
            V |= nearestHalf(Sum, false) << P;
          }
          return V;
        },
        {0x3c003c00, 0x04003555, 0x7bff0001, 0x64001400, 0x53ff3c01});
}

TEST(Approximate, WithinTheirBounds) {
  SimContext Context;
  std::vector<Row> Rows;
  std::mt19937 Random(3);
  for (unsigned N = 0; N != 512; ++N)
    Rows.push_back({asBits(static_cast<float>(Random() % 20000) / 1000 - 10)});
  std::vector<uint32_t> Got = evaluate(
      "mov.b32 %f2, %r2; ex2.approx.f32 %f9, %f2; mov.b32 %r9, %f9;", Rows);
  for (size_t I = 0; I != Rows.size(); ++I) {
    double Want = std::exp2(static_cast<double>(asFloat(Rows[I][0])));
    EXPECT_LE(std::fabs(static_cast<double>(asFloat(Got[I])) - Want),
              Want * 0x1p-22);
  }
  Got = evaluate("mov.b32 %f2, %r2; rsqrt.approx.f32 %f9, %f2;"
                 "mov.b32 %r9, %f9;",
                 {{0}, {0x80000000}, {0x7f800000}, {0xbf800000}, {0x40800000}});
  EXPECT_EQ(Got[0], 0x7f800000u);
  EXPECT_EQ(Got[1], 0xff800000u);
  EXPECT_EQ(Got[2], 0u);
  EXPECT_EQ(Got[3], 0x7fffffffu);
  EXPECT_EQ(Got[4], 0x3f000000u);
}

TEST(Move, PackAndUnpack) {
  check("mov.b64 %rd3, {%r2, %r3}; mov.b64 {%r8, %r9}, %rd3;", 2,
        [](const Row &R) { return R[1]; });
  check("mov.b32 {%h1, %h2}, %r2; mov.b32 %r9, {%h2, %h1};", 1,
        [](const Row &R) { return R[0] << 16 | R[0] >> 16; });
}
} // namespace
