// References of the instruction tests: operands, and how results are compared.
#ifndef LLMC_TEST_CUDASIM_REFERENCE_H
#define LLMC_TEST_CUDASIM_REFERENCE_H

#include "test/cudasim/Harness.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

using Row = std::vector<uint32_t>;
using Reference = std::function<uint32_t(const Row &)>;

inline const std::vector<uint32_t> &corners() {
  static const std::vector<uint32_t> C = {
      0,          1,          2,          31,         32,         33,
      63,         64,         255,        256,        0x7f,       0x80,
      0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffffff, 0x80000000,
      0x80000001, 0xffffffff, 0xfffffffe, 0x12345678, 0x9abcdef0};
  return C;
}
inline const std::vector<uint32_t> &floats() {
  static const std::vector<uint32_t> F = {
      0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000,
      0x40200000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 1,
      0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3eaaaaab,
      0x4b000001, 0x477fe000, 0x477ff000, 0x33000000, 0x33800001, 0x38800000,
      0x387fe000, 0x4f000000, 0x4effffff, 0xcf000000, 0x4f800000, 0x43000000};
  return F;
}

inline std::vector<Row> rows(const std::vector<uint32_t> &From,
                             unsigned Operands) {
  std::vector<Row> All;
  std::mt19937 Random(7);
  if (Operands == 1)
    for (uint32_t A : From)
      All.push_back({A});
  if (Operands == 2)
    for (uint32_t A : From)
      for (uint32_t B : From)
        All.push_back({A, B});
  if (Operands >= 3)
    for (unsigned N = 0; N != 1024; ++N) {
      Row R;
      for (unsigned I = 0; I != Operands; ++I)
        R.push_back(From[Random() % From.size()]);
      All.push_back(R);
    }
  for (unsigned N = 0; N != 64; ++N) {
    Row R;
    for (unsigned I = 0; I != Operands; ++I)
      R.push_back(static_cast<uint32_t>(Random()));
    All.push_back(R);
  }
  return All;
}

inline void check(const std::string &Body, unsigned Operands,
                  const Reference &Want,
                  const std::vector<uint32_t> &From = corners()) {
  SimContext Context;
  std::vector<Row> Rows = rows(From, Operands);
  std::vector<uint32_t> Got = evaluate(Body, Rows);
  unsigned Wrong = 0;
  for (size_t I = 0; I != Rows.size() && Wrong < 3; ++I) {
    uint32_t Expected = Want(Rows[I]);
    if (Got[I] == Expected)
      continue;
    ++Wrong;
    std::string Operand;
    for (uint32_t V : Rows[I])
      Operand += " " + std::to_string(V);
    ADD_FAILURE() << Body << " of" << Operand << ": " << Got[I] << ", expected "
                  << Expected;
  }
}

/// Floating results: any NaN is as good as another.
inline uint32_t canonical(float V) { return V != V ? 0x7fffffffu : asBits(V); }
inline void checkFloat(const std::string &Body, unsigned Operands,
                       const std::function<float(float, float, float)> &Want) {
  check(
      Body + "\ntestp.notanumber.f32 %p9, %f9;\n@%p9 mov.b32 %f9, 0x7fffffff;\n"
             "mov.b32 %r9, %f9;",
      Operands,
      [&](const Row &R) {
        auto At = [&](size_t I) { return I < R.size() ? asFloat(R[I]) : 0.0f; };
        return canonical(Want(At(0), At(1), At(2)));
      },
      floats());
}
const char Load2[] = "mov.b32 %f2, %r2; mov.b32 %f3, %r3;\n";

inline int32_t s(uint32_t V) { return static_cast<int32_t>(V); }
inline uint32_t u(int64_t V) { return static_cast<uint32_t>(V); }

#endif // LLMC_TEST_CUDASIM_REFERENCE_H
