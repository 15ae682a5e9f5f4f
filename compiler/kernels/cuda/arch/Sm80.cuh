// Instructions that CUDA C++ has no name for without headers, as inline PTX.
// The only folder of the kernels with PTX in it; everything here exists from
// sm_80 on. A test on the host replaces this file by plain C++.
namespace llmc {

__device__ __forceinline__ float halfToFloat(unsigned short Half) {
  float Out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(Out) : "h"(Half));
  return Out;
}

/// Rounds to nearest, ties to even.
__device__ __forceinline__ unsigned short floatToHalf(float Value) {
  unsigned short Out;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(Out) : "f"(Value));
  return Out;
}

} // namespace llmc
