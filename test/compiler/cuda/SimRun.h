// Kernel texts through NVRTC and the CUDA simulator: what a GPU would execute,
// with the simulator linked into the test.
#ifndef LLMC_TEST_COMPILER_CUDA_SIMRUN_H
#define LLMC_TEST_COMPILER_CUDA_SIMRUN_H

#include "compiler/kernels/ProductShape.h"
#include "compiler/target/cuda/Nvrtc.h"
#include "compiler/target/cuda/ProductForms.h"
#include "compiler/weights/PackFragments.h"
#include "test/compiler/cuda/HostRun.h"
#include "test/cudasim/Harness.h"

namespace llmc::test {

/// By the definition of the formats: sign, exponent, mantissa.
inline double floatOfCode(kernels::CodeKind Kind, unsigned Code) {
  bool E4 =
      Kind == kernels::CodeKind::F8E4M3 || Kind == kernels::CodeKind::F8E4M3Z;
  int Mantissa = E4 ? 3 : 2, Bias = E4 ? 7 : 15;
  Bias +=
      Kind == kernels::CodeKind::F8E4M3Z || Kind == kernels::CodeKind::F8E5M2Z;
  int Exponent = static_cast<int>(Code & 0x7f) >> Mantissa;
  double Part = (Code & ((1u << Mantissa) - 1)) / std::ldexp(1.0, Mantissa);
  double V =
      std::ldexp(Exponent ? 1 + Part : Part, (Exponent ? Exponent : 1) - Bias);
  return Code & 0x80 ? -V : V;
}

/// Random weights in fragment order and the values that they stand for.
struct FragmentWeights {
  int64_t Rows, Cols;
  std::vector<double> Value;
  std::vector<uint8_t> Bytes;

  FragmentWeights(int64_t Type, int64_t Rows, int64_t Cols, unsigned Seed)
      : Rows(Rows), Cols(Cols), Value(static_cast<size_t>(Rows * Cols)) {
    int64_t Tiles = (Rows + 15) / 16;
    int64_t TileBytes = kernels::fragmentTileBytes(Type, Cols);
    Bytes.resize(static_cast<size_t>(Tiles * TileBytes));
    Floats Source = randomFloats(static_cast<size_t>(Tiles * 16 * Cols), Seed);
    for (int64_t T = 0; T != Tiles; ++T) {
      uint8_t *To = Bytes.data() + T * TileBytes;
      const float *From = Source.data() + T * 16 * Cols;
      if (kernels::isQuantized(Type))
        codes(static_cast<Layout>(Type), T, From, To);
      else
        halves(Type == kernels::WM16BF16, T, From, To);
    }
  }
  double at(int64_t R, int64_t C) const {
    return Value[static_cast<size_t>(R * Cols + C)];
  }

private:
  void halves(bool Brain, int64_t Tile, const float *From, uint8_t *To) {
    std::vector<uint16_t> Bits(static_cast<size_t>(16 * Cols));
    for (int64_t C = 0; C != Cols; ++C)
      for (int64_t R = 0; R != 16; ++R) {
        float V = From[R * Cols + C];
        uint16_t H = Brain ? floatToBf16(V) : floatToF16(V);
        Bits[static_cast<size_t>(C * 16 + R)] = H;
        if (Tile * 16 + R < Rows)
          Value[static_cast<size_t>((Tile * 16 + R) * Cols + C)] =
              Brain ? bf16ToFloat(H) : f16ToFloat(H);
      }
    putHalfFragments(static_cast<uint64_t>(Cols), Bits.data(), To);
  }
  void codes(Layout L, int64_t Tile, const float *From, uint8_t *To) {
    kernels::WeightFormat F = formatOf(L);
    int64_t Block = F.Block ? F.Block : Cols;
    int64_t Blocks = (Cols + Block - 1) / Block, Most = (1 << F.Bits) - 1;
    CodePanel P;
    P.Codes.resize(static_cast<size_t>(Cols * 16));
    P.Scales.resize(static_cast<size_t>(Blocks * 16));
    P.Zeros.resize(static_cast<size_t>(Blocks * 16));
    for (int64_t R = 0; R != 16; ++R) {
      for (int64_t B = 0; B != Blocks; ++B) {
        size_t At = static_cast<size_t>(B * 16 + R);
        float Scale = 0.01f * static_cast<float>(1 + (B + R) % 5) /
                      static_cast<float>(Most) * 15;
        P.Scales[At] = F.HalfScale ? f16ToFloat(floatToF16(Scale)) : Scale;
        float Zero = static_cast<float>((B * 3 + R) % Most);
        if (F.Zero == kernels::ZeroKind::Float)
          Zero += 0.37f;
        if (F.Zero == kernels::ZeroKind::Minimum)
          Zero = f16ToFloat(floatToF16(-Scale * Zero));
        P.Zeros[At] = Zero;
      }
      for (int64_t C = 0; C != Cols; ++C) {
        int64_t Code =
            std::lrint((From[R * Cols + C] + 1) / 2 * static_cast<float>(Most));
        P.Codes[static_cast<size_t>(C * 16 + R)] = static_cast<uint8_t>(Code);
        size_t At = static_cast<size_t>(C / Block * 16 + R);
        double Scale = P.Scales[At], Zero = P.Zeros[At];
        if (F.Kind != kernels::CodeKind::Integer) {
          // Half of the exponents, so that sums stay in the range of others.
          uint8_t &Byte = P.Codes[static_cast<size_t>(C * 16 + R)];
          Byte = static_cast<uint8_t>(Code & 0xbf);
          if (Tile * 16 + R < Rows)
            Value[static_cast<size_t>((Tile * 16 + R) * Cols + C)] =
                floatOfCode(F.Kind, Byte) * Scale;
          continue;
        }
        if (F.Zero == kernels::ZeroKind::None)
          Zero = 0;
        if (F.Zero == kernels::ZeroKind::Middle)
          Zero = 1 << (F.Bits - 1);
        if (Tile * 16 + R < Rows)
          Value[static_cast<size_t>((Tile * 16 + R) * Cols + C)] =
              F.Zero == kernels::ZeroKind::Minimum
                  ? static_cast<double>(Code) * Scale + Zero
                  : (static_cast<double>(Code) - Zero) * Scale;
      }
    }
    putFragments(L, static_cast<uint64_t>(Cols), P, To);
  }
};

/// Device memory with a copy of Host; read() copies back.
class SimBuffer {
public:
  explicit SimBuffer(const void *Host, size_t Bytes) : Bytes(Bytes) {
    EXPECT_EQ(cuMemAlloc_v2(&Address, Bytes), 0);
    if (Host) {
      EXPECT_EQ(cuMemcpyHtoD_v2(Address, Host, Bytes), 0);
    }
  }
  template <typename T>
  explicit SimBuffer(const std::vector<T> &V)
      : SimBuffer(V.data(), V.size() * sizeof(T)) {}
  SimBuffer(const SimBuffer &) = delete;
  SimBuffer &operator=(const SimBuffer &) = delete;
  ~SimBuffer() { cuMemFree_v2(Address); }
  void write(const void *Host) {
    EXPECT_EQ(cuMemcpyHtoD_v2(Address, Host, Bytes), 0);
  }
  template <typename T> std::vector<T> read() const {
    std::vector<T> Out(Bytes / sizeof(T));
    EXPECT_EQ(cuMemcpyDtoH_v2(Out.data(), Address, Bytes), 0);
    return Out;
  }
  /// Where a row begins, of rows of that many floats.
  DeviceAddress row(uint32_t Row, int64_t Floats) const {
    return Address + static_cast<uint64_t>(Row * Floats * 4);
  }
  DeviceAddress Address = 0;

private:
  size_t Bytes;
};

/// A phase of the catalogue with all its forms, loaded.
class SimPhase {
public:
  SimPhase(const cuda::KernelRequest &R, std::vector<uint32_t> Buckets,
           const std::string &Target = "sm_80")
      : Buckets(std::move(Buckets)) {
    load(R, Target);
  }
  void load(const cuda::KernelRequest &R, const std::string &Target) {
    Result<std::shared_ptr<const cuda::Nvrtc>> N = cuda::Nvrtc::open("");
    ASSERT_TRUE(N.ok()) << N.status().message();
    Forms = cuda::formsOf(R, this->Buckets, Target);
    for (const cuda::KernelForm &F : Forms) {
      Result<cuda::KernelInstance> I = cuda::instantiate(F.Request, Target);
      ASSERT_TRUE(I.ok()) << I.status().message();
      Kernels.push_back(I.take());
    }
    Result<cuda::CompiledModule> M =
        (*N)->compile(cuda::moduleText(Kernels, Target), Target);
    ASSERT_TRUE(M.ok()) << M.status().message() << "\n"
                        << (M.status().notes().empty()
                                ? ""
                                : M.status().notes().front());
    Ptx = M->Ptx;
    int Code = cuModuleLoadData(&Module, Ptx.c_str());
    ASSERT_EQ(Code, 0) << "the simulator does not load the PTX";
  }
  ~SimPhase() {
    if (Module)
      cuModuleUnload(Module);
  }
  /// All launches of the bucket. Arguments as in the entries, 0 for null.
  void run(size_t Bucket, std::vector<DeviceAddress> Arguments) {
    std::vector<void *> Params;
    for (DeviceAddress &A : Arguments)
      Params.push_back(&A);
    for (size_t I = 0; I != Kernels.size(); ++I) {
      const cuda::Grid &G = Forms[I].Grids[Bucket];
      if (G.X == 0)
        continue;
      ASSERT_EQ(Kernels[I].Params.size(), Params.size()) << Kernels[I].Entry;
      void *F = nullptr;
      ASSERT_EQ(cuModuleGetFunction(&F, Module, Kernels[I].Entry.c_str()), 0);
      ASSERT_EQ(cuLaunchKernel(F, G.X, G.Y, G.Z, Kernels[I].Block, 1, 1, 0,
                               nullptr, Params.data(), nullptr),
                0)
          << Kernels[I].Entry;
      ASSERT_EQ(cuCtxSynchronize(), 0) << Kernels[I].Entry;
    }
  }
  /// Rows from Begin on, with their counts and the first row of their output.
  struct Piece {
    uint32_t Begin;
    DeviceAddress Counts, Out;
  };
  /// All rows in every bucket, in pieces that fit it: First is what the first
  /// bucket gives, OutRow floats per row. The others must give the same bits,
  /// and none may write past the last row.
  void
  runAll(uint32_t Rows, int64_t OutRow, Floats &First,
         const std::function<std::vector<DeviceAddress>(const Piece &)> &Of) {
    for (size_t Bucket = 0; Bucket != Buckets.size(); ++Bucket) {
      constexpr float Untouched = 77.0f;
      SimBuffer Out(Floats(static_cast<size_t>(Rows * OutRow + 1), Untouched));
      uint32_t Step = Buckets[Bucket];
      for (uint32_t Begin = 0; Begin < Rows; Begin += Step) {
        LlmcCounts Counts{std::min(Step, Rows - Begin), 0, 1, 0, 0, 0};
        SimBuffer DCounts(&Counts, sizeof(Counts));
        run(Bucket, Of({Begin, DCounts.Address, Out.row(Begin, OutRow)}));
        if (testing::Test::HasFatalFailure())
          return;
      }
      Floats Found = Out.read<float>();
      EXPECT_EQ(Found.back(), Untouched) << "wrote past the end";
      if (First.empty())
        First = Found;
      ASSERT_EQ(std::memcmp(First.data(), Found.data(), Found.size() * 4), 0)
          << "bucket " << Step << " differs from bucket " << Buckets[0];
    }
  }
  std::vector<uint32_t> Buckets;
  std::vector<cuda::KernelForm> Forms;
  std::vector<cuda::KernelInstance> Kernels;
  std::string Ptx;

private:
  void *Module = nullptr;
};

inline bool hasNvrtc() { return cuda::Nvrtc::open("").ok(); }

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CUDA_SIMRUN_H
