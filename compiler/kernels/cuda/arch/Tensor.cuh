// Tensor core products, matrix loads, asynchronous copies and fast scalar
// functions as inline PTX; everything here exists from sm_80 on. A test on the
// host replaces this file by test/support/HostTensor.h.
namespace llmc {

/// Dynamic shared memory of the block, 128-byte aligned.
__device__ __forceinline__ unsigned char *dynamicShared() {
  extern __shared__ __align__(128) unsigned char LlmcDynamicShared[];
  return LlmcDynamicShared;
}

__device__ __forceinline__ unsigned sharedAddress(const void *Shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(Shared));
}

/// D += A B of m16n8k16, f16 in, f32 sums. Lane l = 4g + c holds of A the pairs
/// (g, 2c), (g + 8, 2c), (g, 2c + 8), (g + 8, 2c + 8), of B the pairs of k = 2c
/// and 2c + 8 of column g, of D (g, 2c), (g, 2c + 1), (g + 8, 2c),
/// (g + 8, 2c + 1).
__device__ __forceinline__ void mmaF16(float (&D)[4], const unsigned (&A)[4],
                                       unsigned B0, unsigned B1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
      : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B0), "r"(B1));
}

/// Four 8x8 matrices of 16-bit elements; lanes 8i to 8i + 7 give the rows
/// (16 bytes each, shared memory) of matrix i. Lane 4g + c gets elements 2c and
/// 2c + 1 of row g of each.
__device__ __forceinline__ void ldmatrix4(unsigned (&R)[4], const void *Row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
               "[%4];"
               : "=r"(R[0]), "=r"(R[1]), "=r"(R[2]), "=r"(R[3])
               : "r"(sharedAddress(Row))
               : "memory");
}

/// The same, transposed: lane 4g + c gets elements g of rows 2c and 2c + 1.
__device__ __forceinline__ void ldmatrix4Trans(unsigned (&R)[4],
                                               const void *Row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(R[0]), "=r"(R[1]), "=r"(R[2]), "=r"(R[3])
               : "r"(sharedAddress(Row))
               : "memory");
}

/// Copies 16 bytes from global to shared memory, past the first cache; done
/// after the wait for its group.
__device__ __forceinline__ void copyAsync16(void *Shared, const void *Global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"(sharedAddress(Shared)), "l"(Global)
               : "memory");
}

/// The same when Valid, else writes zeros and reads nothing.
__device__ __forceinline__ void
copyAsync16OrZero(void *Shared, const void *Global, bool Valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(sharedAddress(Shared)), "l"(Global), "r"(Valid ? 16 : 0)
               : "memory");
}

/// 4 bytes, likewise.
__device__ __forceinline__ void copyAsync4OrZero(void *Shared,
                                                 const void *Global,
                                                 bool Valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"(sharedAddress(Shared)), "l"(Global), "r"(Valid ? 4 : 0)
               : "memory");
}

/// Ends a group of copies of this thread; it may be empty.
__device__ __forceinline__ void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most Left of this thread's groups are on their way.
template <int Left> __device__ __forceinline__ void waitCopies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(Left) : "memory");
}

/// Two floats as f16, Low in the lower half.
__device__ __forceinline__ unsigned packHalves(float Low, float High) {
  unsigned Out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(Out) : "f"(High), "f"(Low));
  return Out;
}

/// 2^X within 2 ulp, subnormal numbers as 0. Its bits are those of the chip.
__device__ __forceinline__ float exp2Fast(float X) {
  float Out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(Out) : "f"(X));
  return Out;
}

/// 1 / X within 1 ulp. Its bits are those of the chip.
__device__ __forceinline__ float inverseFast(float X) {
  float Out;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(Out) : "f"(X));
  return Out;
}

/// Adds 1 to a counter in global memory and yields what it was. What this
/// thread knows is seen by those who count after it.
__device__ __forceinline__ unsigned countUp(unsigned *Counter) {
  unsigned Out;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(Out)
               : "l"(Counter)
               : "memory");
  return Out;
}

} // namespace llmc
