// Running single kernels compiled for the host, and the double-precision
// references that the tests compare them with.
#ifndef LLMC_TEST_COMPILER_CUDA_HOSTRUN_H
#define LLMC_TEST_COMPILER_CUDA_HOSTRUN_H

#include "runtime/base/Half.h"
#include "runtime/device/StepAbi.h"
#include "test/compiler/cuda/Requests.h"
#include "test/support/HostKernels.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace llmc::test {
using Floats = std::vector<float>;

inline Floats randomFloats(size_t Count, unsigned Seed, float Scale = 1.0f) {
  Floats Out(Count);
  unsigned State = Seed * 747796405u + 1u;
  for (float &V : Out) {
    State = State * 1664525u + 1013904223u;
    V = (static_cast<int>(State >> 9) % 4096 - 2048) / 2048.0f * Scale;
  }
  return Out;
}

/// A packed matrix and the values that it stands for.
struct Weights {
  int64_t Rows, Cols;
  Floats Value;
  std::vector<uint8_t> Bytes;

  Weights(int64_t Type, int64_t Rows, int64_t Cols, unsigned Seed)
      : Rows(Rows), Cols(Cols), Value(randomFloats(Rows * Cols, Seed)) {
    if (Type == kernels::WF16) {
      Bytes.resize(Rows * Cols * 2);
      for (int64_t I = 0; I != Rows * Cols; ++I) {
        uint16_t H = floatToF16(Value[I]);
        Value[I] = f16ToFloat(H);
        std::memcpy(&Bytes[I * 2], &H, 2);
      }
      return;
    }
    int64_t Padded = (Cols + 31) / 32 * 32;
    size_t Base = (Rows * Padded + 255) / 256 * 256;
    Bytes.resize(Base + Rows * Padded / 32 * 2);
    for (int64_t R = 0; R != Rows; ++R)
      for (int64_t C = 0; C != Padded; ++C) {
        int64_t Block = R * (Padded / 32) + C / 32;
        float Scale = 0.001f * static_cast<float>(1 + Block % 7);
        uint16_t H = floatToF16(Scale);
        std::memcpy(&Bytes[Base + Block * 2], &H, 2);
        if (C >= Cols)
          continue;
        int Q = static_cast<int>(std::lrint(Value[R * Cols + C] * 127));
        Bytes[R * Padded + C] = static_cast<uint8_t>(Q);
        Value[R * Cols + C] = f16ToFloat(H) * static_cast<float>(Q);
      }
  }
  double at(int64_t R, int64_t C) const { return Value[R * Cols + C]; }
};

/// The kernels of these tests, each compiled once, when it is first run.
class Library {
public:
  static Library &get() {
    static Library L;
    return L;
  }
  void run(const cuda::KernelRequest &R, uint32_t Bucket,
           std::vector<const void *> Arguments) {
    Result<cuda::KernelInstance> I = cuda::instantiate(R, "sm_80");
    ASSERT_TRUE(I.ok()) << I.status().message();
    ASSERT_EQ(I->Params.size(), Arguments.size()) << I->Entry;
    if (!Kernels.count(I->Entry))
      build(*I);
    HostKernel Run = Kernels[I->Entry];
    ASSERT_TRUE(Run) << I->Entry;
    cuda::Grid G = cuda::gridOf(R, Bucket);
    std::vector<void *> Params;
    for (const void *&A : Arguments)
      Params.push_back(&A);
    Run({{G.X, G.Y, G.Z}, {I->Block, 1, 1}}, Params.data());
  }

private:
  void build(const cuda::KernelInstance &I) {
    Result<std::string> Path = compileForHost({I});
    ASSERT_TRUE(Path.ok()) << Path.status().message();
    void *Handle = dlopen(Path->c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(Handle) << dlerror();
    Kernels[I.Entry] = reinterpret_cast<HostKernel>(
        dlsym(Handle, (I.Entry + "_host").c_str()));
  }
  std::map<std::string, HostKernel> Kernels;
};

inline void near(double Found, double Expected, double Scale, const char *What,
                 int64_t At) {
  EXPECT_NEAR(Found, Expected, 2e-5 * (1 + Scale)) << What << " at " << At;
}

inline double act(int64_t Kind, double X) {
  switch (Kind) {
  case kernels::ActSilu:
    return X / (1 + std::exp(-X));
  case kernels::ActGelu:
    return 0.5 * X * (1 + std::erf(X / std::sqrt(2.0)));
  case kernels::ActGeluTanh:
    return 0.5 * X *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (X + 0.044715 * X * X * X)));
  case kernels::ActRelu:
    return X > 0 ? X : 0;
  case kernels::ActSigmoid:
    return 1 / (1 + std::exp(-X));
  case kernels::ActTanh:
    return std::tanh(X);
  case kernels::ActRelu2:
    return X > 0 ? X * X : 0;
  default:
    return X;
  }
}

/// The normed row in double.
inline std::vector<double> normRow(int64_t Kind, const float *X, int64_t K,
                                   const float *Gain, const float *Bias,
                                   double Eps) {
  std::vector<double> Out(X, X + K);
  if (Kind == kernels::NormNone)
    return Out;
  double Mean = 0, Square = 0;
  for (double V : Out)
    Mean += V / K;
  if (Kind == kernels::NormRms)
    Mean = 0;
  for (double V : Out)
    Square += (V - Mean) * (V - Mean) / K;
  for (int64_t I = 0; I != K; ++I)
    Out[I] = (Out[I] - Mean) / std::sqrt(Square + Eps) * (Gain ? Gain[I] : 1) +
             (Bias ? Bias[I] : 0);
  return Out;
}

/// Rotates dimension pairs as the model defines them.
inline void rotate(std::vector<double> &Head, const float *Table, int64_t Half,
                   bool Interleaved) {
  for (int64_t I = 0; I != Half; ++I) {
    int64_t A = Interleaved ? 2 * I : I, B = Interleaved ? 2 * I + 1 : I + Half;
    double C = Table[I], S = Table[Half + I], X = Head[A], Y = Head[B];
    Head[A] = X * C - Y * S;
    Head[B] = Y * C + X * S;
  }
}

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CUDA_HOSTRUN_H
