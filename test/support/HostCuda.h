// CUDA C++ as host C++, for tests of the kernel text: what the text uses of the
// language, and a scheduler that runs a block as one fiber per thread. A fiber
// runs until its next barrier or shuffle, so collectives, shared memory and
// early exits work as on a GPU; one thread of the host runs everything. It
// finds wrong indices, missing rows and deadlocks, not races: those are for the
// simulator, which runs the real PTX.
#ifndef LLMC_TEST_SUPPORT_HOSTCUDA_H
#define LLMC_TEST_SUPPORT_HOSTCUDA_H

#include "test/support/HostCudaAbi.h"

// C headers only: a kernel compiles in a fraction of the time.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
float fmaf(float, float, float);
float fmaxf(float, float);
float fminf(float, float);
float fabsf(float);
float rintf(float);
float copysignf(float, float);
float floorf(float);
float ceilf(float);
float truncf(float);
double fma(double, double, double);
float exp2f(float);
}

#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__

struct Dim3 {
  unsigned x = 0, y = 0, z = 0;
};
inline Dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace hostcuda {
// Saves the callee-saved registers and the stack of one fiber, loads another.
extern "C" void hostcudaSwitch(void **Save, void *Load);
asm(R"(
  .text
  .globl hostcudaSwitch
  .hidden hostcudaSwitch
  .type hostcudaSwitch,@function
hostcudaSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size hostcudaSwitch,.-hostcudaSwitch
)");

struct Meeting { // of the lanes of a warp, or of the threads of a block
  unsigned Arrived = 0, Generation = 0;
  unsigned Value[2][32] = {};
};
struct Fiber {
  void *Stack = nullptr;
  bool Done = false;
};
constexpr size_t StackBytes = 128 * 1024;

constexpr unsigned MaxThreads = 1024;

inline Fiber Fibers[MaxThreads];
inline Meeting Warps[MaxThreads / 32], Block;
inline char *Stacks = nullptr; // for MaxThreads, kept
inline unsigned Current = 0, Alive = 0;
inline bool Progress = false;
inline void *Scheduler = nullptr;
inline void (*Body)(void **) = nullptr;
inline void **BodyParams = nullptr;

inline void yield() { hostcudaSwitch(&Fibers[Current].Stack, Scheduler); }

/// Waits until Members have arrived; yields the generation that was met.
inline unsigned meet(Meeting &M, unsigned Members) {
  unsigned Generation = M.Generation;
  Progress = true;
  if (++M.Arrived == Members) {
    M.Arrived = 0;
    ++M.Generation;
    return Generation;
  }
  while (M.Generation == Generation)
    yield();
  return Generation;
}

inline void entry() {
  Body(BodyParams);
  Fibers[Current].Done = true;
  --Alive;
  Progress = true;
  yield();
}

inline void runBlock(unsigned Threads) {
  if (!Stacks)
    Stacks = static_cast<char *>(malloc(StackBytes * MaxThreads));
  for (Meeting &W : Warps)
    W = Meeting();
  Block = Meeting();
  Alive = Threads;
  for (unsigned I = 0; I != Threads; ++I) {
    // 16-byte aligned top; entry() is entered by ret, as by a call.
    Fibers[I] = Fiber();
    char *Top = Stacks + StackBytes * (I + 1);
    void **Sp =
        reinterpret_cast<void **>(reinterpret_cast<size_t>(Top) / 16 * 16 - 64);
    for (unsigned Slot = 0; Slot != 8; ++Slot)
      Sp[Slot] = nullptr;
    Sp[6] = reinterpret_cast<void *>(&entry);
    Fibers[I].Stack = Sp;
  }
  while (Alive != 0) {
    Progress = false;
    for (Current = 0; Current != Threads; ++Current) {
      if (Fibers[Current].Done)
        continue;
      threadIdx = {Current, 0, 0};
      hostcudaSwitch(&Scheduler, Fibers[Current].Stack);
    }
    if (!Progress) {
      fprintf(stderr, "hostcuda: block %u,%u,%u is stuck\n", blockIdx.x,
              blockIdx.y, blockIdx.z);
      abort();
    }
  }
}

inline void runGrid(const llmc::test::HostGrid &G, void (*Kernel)(void **),
                    void **Params) {
  Body = Kernel;
  BodyParams = Params;
  gridDim = {G.Grid[0], G.Grid[1], G.Grid[2]};
  blockDim = {G.Block[0], G.Block[1], G.Block[2]};
  for (blockIdx.z = 0; blockIdx.z != gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y != gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x != gridDim.x; ++blockIdx.x)
        runBlock(blockDim.x);
}

inline float shuffle(float X, unsigned From) {
  Meeting &W = hostcuda::Warps[threadIdx.x / 32];
  memcpy(&W.Value[W.Generation & 1][threadIdx.x % 32], &X, 4);
  unsigned Met = meet(W, 32);
  memcpy(&X, &W.Value[Met & 1][From % 32], 4);
  return X;
}
} // namespace hostcuda

inline void __syncthreads() {
  hostcuda::meet(hostcuda::Block, hostcuda::Alive);
}
inline float __shfl_xor_sync(unsigned, float X, int Mask) {
  return hostcuda::shuffle(X, (threadIdx.x % 32) ^ static_cast<unsigned>(Mask));
}
inline float __shfl_sync(unsigned, float X, int From) {
  return hostcuda::shuffle(X, static_cast<unsigned>(From));
}
inline int __shfl_xor_sync(unsigned, int X, int Mask) {
  float F;
  memcpy(&F, &X, 4);
  F = hostcuda::shuffle(F, (threadIdx.x % 32) ^ static_cast<unsigned>(Mask));
  memcpy(&X, &F, 4);
  return X;
}
inline void __syncwarp() { hostcuda::shuffle(0.0f, threadIdx.x % 32); }
inline unsigned __ballot_sync(unsigned, bool Set) {
  unsigned Mask = 0;
  for (unsigned Lane = 0; Lane != 32; ++Lane)
    Mask |= (hostcuda::shuffle(Set, Lane) != 0.0f ? 1u : 0u) << Lane;
  return Mask;
}
inline int __popc(unsigned X) { return __builtin_popcount(X); }
inline int __ffs(int X) { return __builtin_ffs(X); }
inline long long __double_as_longlong(double X) {
  long long Out;
  memcpy(&Out, &X, 8);
  return Out;
}
inline double __longlong_as_double(long long X) {
  double Out;
  memcpy(&Out, &X, 8);
  return Out;
}
inline int __float_as_int(float X) {
  int Out;
  memcpy(&Out, &X, 4);
  return Out;
}
inline float __int_as_float(int X) {
  float Out;
  memcpy(&Out, &X, 4);
  return Out;
}

namespace llmc {
inline float halfToFloat(unsigned short Half) {
  _Float16 H;
  memcpy(&H, &Half, 2);
  return static_cast<float>(H);
}
inline unsigned short floatToHalf(float Value) {
  _Float16 H = static_cast<_Float16>(Value);
  unsigned short Out;
  memcpy(&Out, &H, 2);
  return Out;
}

// The mma products do not run here: their tests run PTX on the simulator.
inline unsigned noHostForm() {
  fprintf(stderr, "hostcuda: mma products have no form for the host\n");
  abort();
}
inline unsigned packHalvesClamped(float, float) { return noHostForm(); }
inline unsigned packBrains(float, float) { return noHostForm(); }
inline unsigned subHalves(unsigned, unsigned) { return noHostForm(); }
inline unsigned addHalves(unsigned, unsigned) { return noHostForm(); }
inline unsigned fmaHalves(unsigned, unsigned, unsigned) { return noHostForm(); }
template <unsigned> unsigned selectBytes(unsigned, unsigned) {
  return noHostForm();
}
template <unsigned, unsigned> unsigned maskAndSet(unsigned) {
  return noHostForm();
}
template <unsigned> unsigned maskAndOr(unsigned, unsigned) {
  return noHostForm();
}
template <bool>
void mmaTile(float (&)[4], const unsigned (&)[4], unsigned, unsigned) {
  noHostForm();
}
inline void launchDependents() { noHostForm(); }
inline void waitForEarlier() { noHostForm(); }
template <bool, int N> void loadWords(const unsigned char *, unsigned (&)[N]) {
  noHostForm();
}
} // namespace llmc

#include "test/support/HostTensor.h"

#endif // LLMC_TEST_SUPPORT_HOSTCUDA_H
