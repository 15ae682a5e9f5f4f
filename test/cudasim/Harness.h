// Runs small PTX texts on the simulator, linked into the test.
#ifndef LLMC_TEST_CUDASIM_HARNESS_H
#define LLMC_TEST_CUDASIM_HARNESS_H

#include <bit>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using DeviceAddress = unsigned long long;
extern "C" {
int cuInit(unsigned);
int cuDeviceGetCount(int *);
int cuDeviceGetAttribute(int *, int, int);
int cuGetErrorName(int, const char **);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxDestroy_v2(void *);
int cuCtxSetCurrent(void *);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **, const void *);
int cuModuleLoadDataEx(void **, const void *, unsigned, int *, void **);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetGlobal_v2(DeviceAddress *, size_t *, void *, const char *);
int cuFuncSetAttribute(void *, int, int);
int cuFuncGetAttribute(int *, int, void *);
int cuMemGetInfo_v2(size_t *, size_t *);
int cuMemAlloc_v2(DeviceAddress *, size_t);
int cuMemFree_v2(DeviceAddress);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemFreeHost(void *);
int cuMemcpyHtoD_v2(DeviceAddress, const void *, size_t);
int cuMemcpyDtoH_v2(void *, DeviceAddress, size_t);
int cuMemcpyDtoHAsync_v2(void *, DeviceAddress, size_t, void *);
int cuMemcpyHtoDAsync_v2(DeviceAddress, const void *, size_t, void *);
int cuMemsetD32_v2(DeviceAddress, unsigned, size_t);
int cuMemsetD32Async(DeviceAddress, unsigned, size_t, void *);
int cuStreamCreate(void **, unsigned);
int cuStreamDestroy_v2(void *);
int cuStreamSynchronize(void *);
int cuStreamQuery(void *);
int cuStreamWaitEvent(void *, void *, unsigned);
int cuStreamBeginCapture_v2(void *, int);
int cuStreamEndCapture(void *, void **);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cuGraphLaunch(void *, void *);
int cuGraphDestroy(void *);
int cuGraphExecDestroy(void *);
int cuEventCreate(void **, unsigned);
int cuEventRecord(void *, void *);
int cuEventSynchronize(void *);
int cuEventQuery(void *);
int cuEventElapsedTime(float *, void *, void *);
int cuEventDestroy_v2(void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, void *, void **, void **);
int cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned,
                              unsigned, unsigned, unsigned, void *, void **);
}

/// A context that the test owns; destroyed with it.
struct SimContext {
  void *Handle = nullptr;
  SimContext() {
    EXPECT_EQ(cuInit(0), 0);
    EXPECT_EQ(cuCtxCreate_v2(&Handle, 0, 0), 0);
  }
  ~SimContext() { cuCtxDestroy_v2(Handle); }
};

inline std::string ptxHeader(const char *Target = "sm_80") {
  return std::string(".version 7.8\n.target ") + Target +
         "\n.address_size 64\n";
}

/// A kernel with one pointer parameter, in %rd1, and %tid.x in %tx.
inline std::string kernelText(const std::string &Body,
                              const std::string &Outside = "") {
  return ptxHeader() + Outside +
         ".visible .entry k(.param .u64 k_param_0)\n{\n"
         ".reg .pred %p<40>; .reg .b16 %h<40>; .reg .b32 %r<80>;\n"
         ".reg .f32 %f<40>; .reg .b64 %rd<40>; .reg .f64 %d<20>;\n"
         ".reg .b32 %tx;\n"
         "ld.param.u64 %rd1, [k_param_0];\ncvta.to.global.u64 %rd1, %rd1;\n"
         "mov.u32 %tx, %tid.x;\n" +
         Body + "\nret;\n}\n";
}

/// Loads Text, runs kernel k with one buffer; the code of the first failure.
inline int runBuffer(const std::string &Text, std::vector<uint32_t> &Words,
                     unsigned Threads = 32, unsigned Blocks = 1,
                     unsigned Shared = 0) {
  void *Module = nullptr, *Kernel = nullptr;
  char Log[512] = "";
  int Kinds[] = {5, 6};
  void *Values[] = {Log, reinterpret_cast<void *>(sizeof(Log))};
  int Code = cuModuleLoadDataEx(&Module, Text.c_str(), 2, Kinds, Values);
  if (Code) {
    ADD_FAILURE() << "load: " << Code << " " << Log;
    return Code;
  }
  EXPECT_EQ(cuModuleGetFunction(&Kernel, Module, "k"), 0);
  DeviceAddress Buffer = 0;
  EXPECT_EQ(cuMemAlloc_v2(&Buffer, Words.size() * 4), 0);
  EXPECT_EQ(cuMemcpyHtoD_v2(Buffer, Words.data(), Words.size() * 4), 0);
  void *Params[] = {&Buffer};
  Code = cuLaunchKernel(Kernel, Blocks, 1, 1, Threads, 1, 1, Shared, nullptr,
                        Params, nullptr);
  if (!Code)
    Code = cuCtxSynchronize();
  if (!Code) {
    EXPECT_EQ(cuMemcpyDtoH_v2(Words.data(), Buffer, Words.size() * 4), 0);
    EXPECT_EQ(cuMemFree_v2(Buffer), 0);
    EXPECT_EQ(cuModuleUnload(Module), 0);
  }
  return Code;
}

/// Runs Body once per row of operands, 32 rows at a time: word I of a row is
/// loaded into %rI (I from 2), the result is %r9. Wide operands are pairs.
inline std::vector<uint32_t>
evaluate(const std::string &Body,
         const std::vector<std::vector<uint32_t>> &Rows) {
  size_t N = Rows.empty() ? 0 : Rows[0].size(), Count = Rows.size();
  size_t Padded = (Count + 31) / 32 * 32;
  std::vector<uint32_t> Words(Padded * (N + 1), 0);
  for (size_t R = 0; R != Count; ++R)
    for (size_t I = 0; I != N; ++I)
      Words[R * (N + 1) + I] = Rows[R][I];
  std::string Text = "mov.u32 %r70, %ctaid.x;\nshl.b32 %r70, %r70, 5;\n"
                     "add.u32 %r70, %r70, %tx;\nmul.wide.u32 %rd2, %r70, " +
                     std::to_string((N + 1) * 4) +
                     ";\nadd.s64 %rd2, %rd1, %rd2;\n";
  for (size_t I = 0; I != N; ++I)
    Text += "ld.global.u32 %r" + std::to_string(2 + I) + ", [%rd2+" +
            std::to_string(4 * I) + "];\n";
  Text += Body + "\nst.global.u32 [%rd2+" + std::to_string(4 * N) + "], %r9;\n";
  EXPECT_EQ(runBuffer(kernelText(Text), Words, 32,
                      static_cast<unsigned>(Padded / 32)),
            0)
      << Body;
  std::vector<uint32_t> Out;
  for (size_t R = 0; R != Count; ++R)
    Out.push_back(Words[R * (N + 1) + N]);
  return Out;
}

inline float asFloat(uint32_t Bits) { return std::bit_cast<float>(Bits); }
inline uint32_t asBits(float Value) { return std::bit_cast<uint32_t>(Value); }

#endif // LLMC_TEST_CUDASIM_HARNESS_H
