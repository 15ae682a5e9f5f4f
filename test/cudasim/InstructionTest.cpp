// Arithmetic instructions against scalar references written from the ISA, on
// corner values and on random ones.
#include "test/cudasim/Reference.h"

#include <cfenv>

namespace {

TEST(Integer, Arithmetic) {
  check("add.s32 %r9, %r2, %r3;", 2, [](const Row &R) { return R[0] + R[1]; });
  check("sub.s32 %r9, %r2, %r3;", 2, [](const Row &R) { return R[0] - R[1]; });
  check("mul.lo.s32 %r9, %r2, %r3;", 2,
        [](const Row &R) { return R[0] * R[1]; });
  check("mul.hi.s32 %r9, %r2, %r3;", 2,
        [](const Row &R) { return u(int64_t{s(R[0])} * s(R[1]) >> 32); });
  check("mul.hi.u32 %r9, %r2, %r3;", 2, [](const Row &R) {
    return static_cast<uint32_t>(uint64_t{R[0]} * R[1] >> 32);
  });
  check("mad.lo.s32 %r9, %r2, %r3, %r4;", 3,
        [](const Row &R) { return R[0] * R[1] + R[2]; });
  check("add.sat.s32 %r9, %r2, %r3;", 2, [](const Row &R) {
    return u(
        std::clamp<int64_t>(int64_t{s(R[0])} + s(R[1]), INT32_MIN, INT32_MAX));
  });
  check("min.s32 %r9, %r2, %r3;", 2,
        [](const Row &R) { return u(std::min(s(R[0]), s(R[1]))); });
  check("max.u32 %r9, %r2, %r3;", 2,
        [](const Row &R) { return std::max(R[0], R[1]); });
  check("abs.s32 %r9, %r2;", 1,
        [](const Row &R) { return s(R[0]) < 0 ? 0u - R[0] : R[0]; });
  check("neg.s32 %r9, %r2;", 1, [](const Row &R) { return 0u - R[0]; });
  check("div.u32 %r9, %r2, %r3;", 2,
        [](const Row &R) { return R[1] ? R[0] / R[1] : ~0u; });
  check("rem.s32 %r9, %r2, %r3;", 2, [](const Row &R) {
    return R[1] == 0 ? R[0] : R[1] == 0xffffffff ? 0 : u(s(R[0]) % s(R[1]));
  });
  check("sad.u32 %r9, %r2, %r3, %r4;", 3, [](const Row &R) {
    return R[2] + (R[0] < R[1] ? R[1] - R[0] : R[0] - R[1]);
  });
}

TEST(Integer, Carry) {
  // The high word of a 64-bit sum and difference of {r3,r2} and {r5,r4}.
  check("add.cc.u32 %r8, %r2, %r4; addc.u32 %r9, %r3, %r5;", 4,
        [](const Row &R) {
          return static_cast<uint32_t>(
              ((uint64_t{R[1]} << 32 | R[0]) + (uint64_t{R[3]} << 32 | R[2])) >>
              32);
        });
  check("sub.cc.u32 %r8, %r2, %r4; subc.u32 %r9, %r3, %r5;", 4,
        [](const Row &R) {
          return static_cast<uint32_t>(
              ((uint64_t{R[1]} << 32 | R[0]) - (uint64_t{R[3]} << 32 | R[2])) >>
              32);
        });
}

TEST(Integer, ShiftsClampTheAmount) {
  check("shl.b32 %r9, %r2, %r3;", 2,
        [](const Row &R) { return R[1] > 31 ? 0 : R[0] << R[1]; });
  check("shr.u32 %r9, %r2, %r3;", 2,
        [](const Row &R) { return R[1] > 31 ? 0 : R[0] >> R[1]; });
  check("shr.s32 %r9, %r2, %r3;", 2,
        [](const Row &R) { return u(s(R[0]) >> std::min(R[1], 31u)); });
  check("cvt.u16.u32 %h1, %r2; shr.s16 %h2, %h1, %r3; cvt.s32.s16 %r9, %h2;", 2,
        [](const Row &R) {
          return u(static_cast<int16_t>(R[0]) >> std::min(R[1], 15u));
        });
  check("shf.l.wrap.b32 %r9, %r2, %r3, %r4;", 3, [](const Row &R) {
    return u((uint64_t{R[1]} << 32 | R[0]) << (R[2] & 31) >> 32);
  });
  check("shf.r.clamp.b32 %r9, %r2, %r3, %r4;", 3, [](const Row &R) {
    uint64_t V = uint64_t{R[1]} << 32 | R[0];
    return static_cast<uint32_t>(V >> std::min(R[2], 32u));
  });
}

TEST(Integer, BitFields) {
  check("bfe.u32 %r9, %r2, %r3, %r4;", 3, [](const Row &R) {
    uint32_t P = R[1] & 255, L = R[2] & 255, V = 0;
    for (uint32_t I = 0; I < L && I < 32; ++I)
      V |= (P + I < 32 ? R[0] >> (P + I) & 1 : 0) << I;
    return V;
  });
  check("bfe.s32 %r9, %r2, %r3, %r4;", 3, [](const Row &R) {
    uint32_t P = R[1] & 255, L = R[2] & 255, V = 0;
    uint32_t Sign = L == 0 ? 0 : R[0] >> std::min(P + L - 1, 31u) & 1;
    for (uint32_t I = 0; I < 32; ++I)
      V |= (I < L && P + I < 32 ? R[0] >> (P + I) & 1 : Sign) << I;
    return V;
  });
  check("bfi.b32 %r9, %r2, %r3, %r4, %r5;", 4, [](const Row &R) {
    uint32_t P = R[2] & 255, L = R[3] & 255, V = R[1];
    for (uint32_t I = 0; I < L && P + I < 32; ++I)
      V = (V & ~(1u << (P + I))) | (R[0] >> I & 1) << (P + I);
    return V;
  });
  check("popc.b32 %r9, %r2;", 1,
        [](const Row &R) { return u(std::popcount(R[0])); });
  check("clz.b32 %r9, %r2;", 1,
        [](const Row &R) { return u(std::countl_zero(R[0])); });
  check("bfind.u32 %r9, %r2;", 1,
        [](const Row &R) { return u(31 - std::countl_zero(R[0])); });
  check("bfind.shiftamt.s32 %r9, %r2;", 1, [](const Row &R) {
    uint32_t V = s(R[0]) < 0 ? ~R[0] : R[0];
    return V ? u(std::countl_zero(V)) : ~0u;
  });
  check("brev.b32 %r9, %r2;", 1, [](const Row &R) {
    uint32_t V = 0;
    for (unsigned I = 0; I != 32; ++I)
      V |= (R[0] >> I & 1) << (31 - I);
    return V;
  });
  check("prmt.b32 %r9, %r2, %r3, %r4;", 3, [](const Row &R) {
    uint32_t V = 0;
    for (unsigned I = 0; I != 4; ++I) {
      uint32_t N = R[2] >> (4 * I) & 15;
      uint32_t B = (N & 4 ? R[1] : R[0]) >> (8 * (N & 3)) & 255;
      V |= (N & 8 ? (B & 128 ? 255 : 0) : B) << (8 * I);
    }
    return V;
  });
  check("lop3.b32 %r9, %r2, %r3, %r4, 0xca;", 3,
        [](const Row &R) { return (R[0] & R[1]) | (~R[0] & R[2]); });
}

TEST(Integer, Dp4a) {
  check("dp4a.s32.u32 %r9, %r2, %r3, %r4;", 3, [](const Row &R) {
    uint32_t V = R[2];
    for (unsigned I = 0; I != 4; ++I)
      V += u(static_cast<int8_t>(R[0] >> (8 * I)) *
             static_cast<int>(R[1] >> (8 * I) & 255));
    return V;
  });
  check("dp2a.hi.u32.s32 %r9, %r2, %r3, %r4;", 3, [](const Row &R) {
    uint32_t V = R[2];
    for (unsigned I = 0; I != 2; ++I)
      V += u(static_cast<int>(R[0] >> (16 * I) & 0xffff) *
             static_cast<int8_t>(R[1] >> (16 + 8 * I)));
    return V;
  });
}

TEST(Compare, IntegersAndJoins) {
  check("setp.lt.s32 %p1, %r2, %r3; selp.b32 %r9, 1, 0, %p1;", 2,
        [](const Row &R) { return u(s(R[0]) < s(R[1])); });
  check("setp.hs.u32 %p1, %r2, %r3; selp.b32 %r9, 1, 0, %p1;", 2,
        [](const Row &R) { return u(R[0] >= R[1]); });
  check("setp.ne.s32 %p2, %r4, 0; setp.gt.and.s32 %p1|%p3, %r2, %r3, !%p2;\n"
        "selp.b32 %r9, 1, 0, %p1; @%p3 add.s32 %r9, %r9, 2;",
        3, [](const Row &R) {
          bool Greater = s(R[0]) > s(R[1]), Third = R[2] == 0;
          return u((Greater && Third) + 2 * (!Greater && Third));
        });
  check("set.le.u32.u32 %r9, %r2, %r3;", 2,
        [](const Row &R) { return R[0] <= R[1] ? ~0u : 0u; });
  check("slct.b32.s32 %r9, %r2, %r3, %r4;", 3,
        [](const Row &R) { return s(R[2]) >= 0 ? R[0] : R[1]; });
}

TEST(Compare, FloatsAreOrderedOrNot) {
  struct Case {
    const char *Name;
    bool (*Holds)(float, float);
  };
  const Case Cases[] = {
      {"lt", [](float A, float B) { return A < B; }},
      {"ne", [](float A, float B) { return A < B || A > B; }},
      {"geu", [](float A, float B) { return !(A < B); }},
      {"equ", [](float A, float B) { return !(A < B || A > B); }},
      {"neu", [](float A, float B) { return A != B; }},
      {"num", [](float A, float B) { return A == A && B == B; }},
      {"nan", [](float A, float B) { return A != A || B != B; }}};
  for (const Case &C : Cases)
    check(
        std::string(Load2) + "setp." + C.Name +
            ".f32 %p1, %f2, %f3; selp.b32 %r9, 1, 0, %p1;",
        2,
        [&](const Row &R) { return u(C.Holds(asFloat(R[0]), asFloat(R[1]))); },
        floats());
}

float flush(float A) {
  return std::fpclassify(A) == FP_SUBNORMAL ? std::copysign(0.0f, A) : A;
}

TEST(Float, Arithmetic) {
  std::string L = Load2;
  checkFloat(L + "add.f32 %f9, %f2, %f3;", 2,
             [](float A, float B, float) { return A + B; });
  checkFloat(L + "add.ftz.f32 %f9, %f2, %f3;", 2, [](float A, float B, float) {
    return flush(flush(A) + flush(B));
  });
  checkFloat(L + "mul.sat.f32 %f9, %f2, %f3;", 2, [](float A, float B, float) {
    float V = A * B;
    return V > 0 ? std::min(V, 1.0f) : 0.0f;
  });
  checkFloat("mov.b32 %f2, %r2; mov.b32 %f3, %r3; mov.b32 %f4, %r4;"
             "fma.rn.f32 %f9, %f2, %f3, %f4;",
             3, [](float A, float B, float C) { return std::fma(A, B, C); });
  checkFloat(L + "div.rn.f32 %f9, %f2, %f3;", 2,
             [](float A, float B, float) { return A / B; });
  checkFloat(L + "sqrt.rn.f32 %f9, %f2;", 1,
             [](float A, float, float) { return std::sqrt(A); });
  checkFloat(L + "copysign.f32 %f9, %f2, %f3;", 2,
             [](float A, float B, float) { return std::copysign(B, A); });
}

TEST(Float, DirectedRounding) {
  std::string L = Load2;
  // In double the sum of two floats of like size is exact.
  auto Down = [](double Exact) {
    float V = static_cast<float>(Exact);
    return static_cast<double>(V) > Exact ? std::nextafter(V, -INFINITY) : V;
  };
  check(L + "mul.rm.f32 %f9, %f2, %f3; mov.b32 %r9, %f9;", 2,
        [&](const Row &R) {
          return asBits(Down(static_cast<double>(asFloat(R[0])) *
                             static_cast<double>(asFloat(R[1]))));
        },
        {0x3f800001, 0x3eaaaaab, 0xbf800001, 0x40490fdb, 0xc0000000});
  check(L + "add.rz.f32 %f9, %f2, %f3; mov.b32 %r9, %f9;", 2,
        [&](const Row &R) {
          std::fesetround(FE_TOWARDZERO);
          volatile float A = asFloat(R[0]), B = asFloat(R[1]), Sum = A + B;
          std::fesetround(FE_TONEAREST);
          return Sum != Sum ? asBits(asFloat(R[0]) + asFloat(R[1]))
                            : asBits(Sum);
        },
        {0x3f800001, 0x3eaaaaab, 0xbf800001, 0x40490fdb, 0xc0000000});
}

TEST(Float, MinimumAndMaximum) {
  std::string L = Load2;
  auto Min = [](float A, float B, float) {
    if (A != A)
      return B;
    if (B != B)
      return A;
    return A < B || (A == B && std::signbit(A)) ? A : B;
  };
  checkFloat(L + "min.f32 %f9, %f2, %f3;", 2, Min);
  checkFloat(L + "max.f32 %f9, %f2, %f3;", 2,
             [&](float A, float B, float C) { return -Min(-A, -B, C); });
  checkFloat(L + "max.NaN.f32 %f9, %f2, %f3;", 2,
             [&](float A, float B, float C) {
               return A != A || B != B ? NAN : -Min(-A, -B, C);
             });
}
} // namespace
