// The packer: every layout against what an independent decoder reads back,
// every source type, transposition, interleaving, and independence of threads.
#include "compiler/weights/Pack.h"
#include "runtime/base/File.h"
#include "runtime/base/Half.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

using namespace llmc;

namespace {
class PackTest : public testing::Test {
protected:
  PackTest() {
    char Name[] = "/tmp/llmc-pack-XXXXXX";
    Folder = ::mkdtemp(Name);
    EXPECT_TRUE(writeFile(Folder + "/model.onnx", bytesOf("x")).ok());
    Store = WeightStore::open(Folder + "/model.onnx").take();
  }
  ~PackTest() override { std::filesystem::remove_all(Folder); }

  /// A source in a file of its own, shifted so that nothing is aligned.
  WeightSource source(const std::string &Name, std::vector<int64_t> Shape,
                      DType Type, std::span<const uint8_t> Bytes) {
    std::vector<uint8_t> File(3, 0xee);
    File.insert(File.end(), Bytes.begin(), Bytes.end());
    EXPECT_TRUE(writeFile(Folder + "/" + Name, File).ok());
    Result<uint32_t> Index = Store.addFile(Name, Name);
    EXPECT_TRUE(Index.ok());
    WeightSource S;
    S.Name = Name;
    S.File = *Index;
    S.Offset = 3;
    S.Length = Bytes.size();
    S.Type = Type;
    S.Shape = std::move(Shape);
    return S;
  }
  WeightSource source(const std::string &Name, std::vector<int64_t> Shape,
                      const std::vector<float> &Values) {
    return source(
        Name, std::move(Shape), DType::F32,
        {reinterpret_cast<const uint8_t *>(Values.data()), Values.size() * 4});
  }

  static PackedTensor tensor(const char *Name, Layout Form, uint64_t Rows,
                             uint64_t Cols, WeightSource S,
                             bool Transposed = false) {
    PackedTensor T;
    T.Name = Name;
    T.Form = Form;
    T.Rows = Rows;
    T.Cols = Cols;
    T.Sources = {std::move(S)};
    T.Pieces = {{0, 0, Rows, Transposed}};
    return T;
  }

  /// Places the tensors one after another and packs them.
  Result<std::vector<uint8_t>> pack(std::vector<PackedTensor> Tensors,
                                    const PackOptions &O = {}) {
    WeightProgram P;
    for (PackedTensor &T : Tensors) {
      T.Offset = (P.Bytes + 255) / 256 * 256;
      T.Bytes = packedBytes(T.Form, T.Rows, T.Cols);
      P.Bytes = T.Offset + T.Bytes;
    }
    P.Tensors = std::move(Tensors);
    return pack(P, O);
  }
  Result<std::vector<uint8_t>> pack(const WeightProgram &P,
                                    const PackOptions &O) {
    std::vector<uint8_t> Out;
    Result<std::vector<TensorQuality>> Q =
        packWeights(P, Store, O, [&](std::span<const uint8_t> Data) {
          Out.insert(Out.end(), Data.begin(), Data.end());
          return Status::success();
        });
    if (!Q.ok())
      return Q.takeStatus();
    Quality = Q.take();
    EXPECT_EQ(Out.size(), P.Bytes);
    return Out;
  }
  std::string failureOf(std::vector<PackedTensor> Tensors) {
    Result<std::vector<uint8_t>> R = pack(std::move(Tensors));
    EXPECT_FALSE(R.ok());
    Code = R.status().code();
    return R.status().message();
  }

  std::string Folder;
  WeightStore Store;
  std::vector<TensorQuality> Quality;
  StatusCode Code = StatusCode::Ok;
};

std::vector<float> randomValues(size_t Count, uint32_t Seed = 1) {
  std::mt19937 Random(Seed);
  std::normal_distribution<float> Normal(0, 0.05f);
  std::vector<float> V(Count);
  for (float &X : V)
    X = Normal(Random);
  return V;
}

std::vector<float> transposed(const std::vector<float> &V, size_t Rows,
                              size_t Cols) {
  std::vector<float> Out(V.size());
  for (size_t R = 0; R < Rows; ++R)
    for (size_t C = 0; C < Cols; ++C)
      Out[C * Rows + R] = V[R * Cols + C];
  return Out;
}

float floatAt(const std::vector<uint8_t> &B, size_t Index) {
  float F;
  std::memcpy(&F, B.data() + Index * 4, 4);
  return F;
}

uint16_t halfAt(const uint8_t *P) {
  uint16_t H;
  std::memcpy(&H, P, 2);
  return H;
}

/// Element of a p16.w8b32 tensor, from the layout's definition.
float decodeP16W8B32(const uint8_t *B, size_t Cols, size_t N, size_t K) {
  size_t Records = (Cols + 63) / 64;
  const uint8_t *Record = B + (N / 16 * Records + K / 64) * 1088;
  int Q = Record[K % 64 / 4 * 64 + N % 16 * 4 + K % 4] - 128;
  const uint8_t *Scales = Record + 1024;
  return static_cast<float>(Q) *
         f16ToFloat(halfAt(Scales + (K % 64 / 32 * 16 + N % 16) * 2));
}

TEST_F(PackTest, P16F32PadsRows) {
  std::vector<float> V = randomValues(18 * 3);
  Result<std::vector<uint8_t>> B =
      pack({tensor("w", Layout::P16F32, 18, 3, source("a", {18, 3}, V))});
  ASSERT_TRUE(B.ok()) << B.status().message();
  for (size_t N = 0; N < 32; ++N)
    for (size_t K = 0; K < 3; ++K)
      ASSERT_EQ(floatAt(*B, N / 16 * 48 + K * 16 + N % 16),
                N < 18 ? V[N * 3 + K] : 0.0f);
  EXPECT_TRUE(Quality[0].Exact);
}

TEST_F(PackTest, P16W8B32DecodesWithinHalfAStep) {
  constexpr size_t N = 35, K = 97;
  std::vector<float> V = randomValues(N * K);
  Result<std::vector<uint8_t>> B =
      pack({tensor("w", Layout::P16W8B32, N, K, source("a", {N, K}, V))});
  ASSERT_TRUE(B.ok()) << B.status().message();
  double Signal = 0, Noise = 0;
  float Largest = 0;
  for (size_t I = 0; I < 48; ++I)
    for (size_t J = 0; J < 128; ++J) {
      float Value = I < N && J < K ? V[I * K + J] : 0.0f;
      float E = Value - decodeP16W8B32(B->data(), K, I, J);
      ASSERT_TRUE(Value != 0 || E == 0) << I << " " << J;
      Signal += double{Value} * Value;
      Noise += double{E} * E;
      Largest = std::max(Largest, std::fabs(E));
    }
  EXPECT_EQ(Quality[0].MaxError, Largest);
  EXPECT_NEAR(Quality[0].SnrDb, 10 * std::log10(Signal / Noise), 1e-3);
  EXPECT_GT(Quality[0].SnrDb, 45);
}

TEST_F(PackTest, RowMajorLayouts) {
  constexpr size_t N = 19, K = 40;
  std::vector<float> V = randomValues(N * K);
  WeightSource S = source("a", {N, K}, V);
  Result<std::vector<uint8_t>> B = pack({tensor("h", Layout::NF16, N, K, S),
                                         tensor("q", Layout::NW8B32, N, K, S)});
  ASSERT_TRUE(B.ok()) << B.status().message();
  // n.f16: 19 * 40 * 2 = 1520 bytes; n.w8b32 at 1536: 19 * 64 = 1216 bytes of
  // weights, scales at 1536 + 1280.
  for (size_t I = 0; I < N; ++I)
    for (size_t J = 0; J < K; ++J) {
      EXPECT_EQ(halfAt(B->data() + (I * K + J) * 2), floatToF16(V[I * K + J]));
      int8_t Q = static_cast<int8_t>((*B)[1536 + I * 64 + J]);
      float Scale =
          f16ToFloat(halfAt(B->data() + 1536 + 1280 + (I * 2 + J / 32) * 2));
      ASSERT_NEAR(Q * Scale, V[I * K + J], Scale * 0.501f);
    }
  EXPECT_EQ(B->size(), 1536u + 1280 + N * 2 * 2);
}

TEST_F(PackTest, TransposedSourcesGiveTheSameBytes) {
  constexpr size_t N = 50, K = 70;
  std::vector<float> V = randomValues(N * K);
  WeightSource Plain = source("a", {N, K}, V);
  WeightSource Turned = source("b", {K, N}, transposed(V, N, K));
  for (Layout L : {Layout::P16F32, Layout::P16W8B32, Layout::NF16,
                   Layout::NW8B32, Layout::VecF32, Layout::NF32, Layout::NBF16,
                   rowsOf(kernels::Int4Format)}) {
    Result<std::vector<uint8_t>> A = pack({tensor("w", L, N, K, Plain)});
    Result<std::vector<uint8_t>> B = pack({tensor("w", L, N, K, Turned, true)});
    ASSERT_TRUE(A.ok() && B.ok());
    EXPECT_EQ(*A, *B) << nameOf(L);
  }
}

TEST_F(PackTest, SourceTypes) {
  std::vector<float> V = {1.0f, -0.5f, 0.25f, 3.140625f};
  std::vector<uint16_t> Half, Brain;
  std::vector<double> Double;
  for (float F : V) {
    Half.push_back(floatToF16(F));
    Brain.push_back(floatToBf16(F));
    Double.push_back(F);
  }
  auto Bytes = [](const auto &L) {
    return std::span(reinterpret_cast<const uint8_t *>(L.data()),
                     L.size() * sizeof L[0]);
  };
  WeightSource Inline;
  Inline.Name = "inline";
  Inline.Shape = {4};
  Inline.IsInline = true;
  Inline.Data.assign(Bytes(V).begin(), Bytes(V).end());
  Result<std::vector<uint8_t>> B =
      pack({tensor("h", Layout::VecF32, 4, 1,
                   source("h", {4}, DType::F16, Bytes(Half))),
            tensor("b", Layout::VecF32, 4, 1,
                   source("b", {4}, DType::BF16, Bytes(Brain))),
            tensor("d", Layout::VecF32, 4, 1,
                   source("d", {4}, DType::F64, Bytes(Double))),
            tensor("i", Layout::VecF32, 4, 1, Inline)});
  ASSERT_TRUE(B.ok()) << B.status().message();
  for (size_t T = 0; T < 4; ++T)
    for (size_t I = 0; I < 4; ++I)
      EXPECT_EQ(floatAt(*B, T * 64 + I), V[I]) << T;
  EXPECT_TRUE(std::all_of(B->begin() + 16, B->begin() + 256,
                          [](uint8_t X) { return X == 0; }));
}

TEST_F(PackTest, InterleavedPieces) {
  // 16 rows of gate, 16 rows of up, …; gate is stored transposed.
  constexpr size_t N = 48, K = 33;
  std::vector<float> Gate = randomValues(N * K, 1), Up = randomValues(N * K, 2);
  PackedTensor T;
  T.Name = "gate_up";
  T.Form = Layout::P16F32;
  T.Rows = 2 * N;
  T.Cols = K;
  T.Sources = {source("g", {K, N}, transposed(Gate, N, K)),
               source("u", {N, K}, Up)};
  for (uint64_t R = 0; R < N; R += 16) {
    T.Pieces.push_back({0, R, 16, true});
    T.Pieces.push_back({1, R, 16, false});
  }
  // Small memory: many chunks; no memory to speak of: a panel at a time.
  for (uint64_t Memory : {UINT64_C(1) << 30, UINT64_C(20000), UINT64_C(1)}) {
    PackOptions O;
    O.Threads = 1;
    O.MemoryBytes = Memory;
    Result<std::vector<uint8_t>> B = pack({T}, O);
    ASSERT_TRUE(B.ok()) << B.status().message();
    for (size_t R = 0; R < 2 * N; ++R)
      for (size_t C = 0; C < K; ++C)
        ASSERT_EQ(floatAt(*B, R / 16 * 16 * K + C * 16 + R % 16),
                  (R / 16 % 2 ? Up : Gate)[(R / 32 * 16 + R % 16) * K + C]);
  }
}

TEST_F(PackTest, PiecesOfAnyLengthAndOrder) {
  std::vector<float> A = randomValues(20 * 5, 1), B = randomValues(9 * 5, 2);
  PackedTensor T = tensor("w", Layout::VecF32, 29, 5, source("a", {20, 5}, A));
  T.Sources.push_back(source("b", {5, 9}, transposed(B, 9, 5)));
  T.Pieces = {
      {1, 7, 2, true}, {0, 3, 17, false}, {1, 0, 7, true}, {0, 0, 3, false}};
  Result<std::vector<uint8_t>> Out = pack({T});
  ASSERT_TRUE(Out.ok()) << Out.status().message();
  std::vector<float> Want(B.begin() + 35, B.end());
  Want.insert(Want.end(), A.begin() + 15, A.end());
  Want.insert(Want.end(), B.begin(), B.begin() + 35);
  Want.insert(Want.end(), A.begin(), A.begin() + 15);
  EXPECT_EQ(std::memcmp(Out->data(), Want.data(), Out->size()), 0);
}

TEST_F(PackTest, ThreadsAndMemoryDoNotMatter) {
  constexpr size_t N = 200, K = 96;
  WeightSource S = source("a", {N, K}, randomValues(N * K));
  WeightSource T = source("b", {K, N}, randomValues(N * K, 3));
  std::vector<PackedTensor> Tensors = {
      tensor("x", Layout::P16W8B32, N, K, S),
      tensor("y", Layout::NW8B32, N, K, T, true),
      tensor("z", Layout::NF16, N, K, T, true)};
  Result<std::vector<uint8_t>> First = pack(Tensors);
  ASSERT_TRUE(First.ok());
  std::vector<TensorQuality> FirstQuality = Quality;
  for (unsigned Threads : {1u, 2u, 3u, 8u})
    for (uint64_t Memory : {1u, 50000u, 200000u}) {
      PackOptions O;
      O.Threads = Threads;
      O.MemoryBytes = Memory;
      Result<std::vector<uint8_t>> Again = pack(Tensors, O);
      ASSERT_TRUE(Again.ok());
      EXPECT_EQ(*First, *Again);
      for (size_t I = 0; I < 3; ++I)
        EXPECT_EQ(Quality[I].SnrDb, FirstQuality[I].SnrDb);
    }
}

TEST_F(PackTest, SameOffsetIsPackedOnce) {
  std::vector<float> V = randomValues(16 * 64);
  WeightProgram P;
  P.Tensors = {
      tensor("embed", Layout::P16W8B32, 16, 64, source("a", {16, 64}, V))};
  P.Tensors[0].Bytes = P.Bytes = 1088;
  P.Tensors.push_back(P.Tensors[0]);
  P.Tensors[1].Name = "head";
  Result<std::vector<uint8_t>> B = pack(P, {});
  ASSERT_TRUE(B.ok()) << B.status().message();
  EXPECT_EQ(Quality[0].SnrDb, Quality[1].SnrDb);
}

// B43: nothing is cut to 31 bits, and only what is needed is read.
TEST_F(PackTest, OffsetsBeyondFourGiB) {
  constexpr uint64_t Offset = (UINT64_C(1) << 32) + 12345;
  std::vector<float> V = randomValues(16 * 8);
  Result<AtomicFile> F = AtomicFile::create(Folder + "/large");
  ASSERT_TRUE(F.ok());
  ASSERT_TRUE(F->writeAt(Offset, {reinterpret_cast<const uint8_t *>(V.data()),
                                  V.size() * 4})
                  .ok()); // a hole in front
  ASSERT_TRUE(F->commit().ok());
  WeightSource S;
  S.Name = "large";
  S.File = *Store.addFile("large", "large");
  S.Offset = Offset;
  S.Length = V.size() * 4;
  S.Shape = {16, 8};
  Result<std::vector<uint8_t>> B =
      pack({tensor("w", Layout::VecF32, 16, 8, S)});
  ASSERT_TRUE(B.ok()) << B.status().message();
  EXPECT_EQ(std::memcmp(B->data(), V.data(), B->size()), 0);
}

TEST_F(PackTest, NotFiniteIsRefused) {
  for (float Bad : {INFINITY, -INFINITY, NAN}) {
    std::vector<float> V = randomValues(20 * 64);
    V[18 * 64 + 5] = Bad;
    std::string M = failureOf(
        {tensor("w", Layout::P16W8B32, 20, 64, source("bad", {20, 64}, V))});
    EXPECT_EQ(Code, StatusCode::Malformed);
    EXPECT_EQ(M, "weight bad is not finite at row 18, column 5 of packed "
                 "tensor w");
  }
}

TEST_F(PackTest, TooLargeForTheLayoutIsRefused) {
  std::vector<float> V(16, 1e9f);
  EXPECT_NE(
      failureOf({tensor("w", Layout::NF16, 16, 1, source("a", {16, 1}, V))})
          .find("compile with --f32"),
      std::string::npos);
  EXPECT_EQ(Code, StatusCode::Unsupported);
  failureOf({tensor("w", Layout::P16W8B32, 16, 1, source("b", {16, 1}, V))});
  EXPECT_EQ(Code, StatusCode::Unsupported);
}

TEST_F(PackTest, ContradictionsAreBugs) {
  WeightSource S = source("a", {4, 2}, randomValues(8));
  failureOf({tensor("w", Layout::VecF32, 5, 2, S)}); // piece too long
  EXPECT_EQ(Code, StatusCode::Internal);
  failureOf({tensor("w", Layout::VecF32, 4, 3, S)}); // columns
  EXPECT_EQ(Code, StatusCode::Internal);
  PackedTensor T = tensor("w", Layout::VecF32, 4, 2, S);
  T.Pieces[0].RowCount = 3; // rows missing
  failureOf({T});
  EXPECT_EQ(Code, StatusCode::Internal);
  S.Length = 28; // the file's description is wrong
  failureOf({tensor("w", Layout::VecF32, 4, 2, S)});
  EXPECT_EQ(Code, StatusCode::Malformed);
  S.Length = 32;
  S.Offset = 4; // leaves the file
  failureOf({tensor("w", Layout::VecF32, 4, 2, S)});
  EXPECT_EQ(Code, StatusCode::Malformed);
}

TEST_F(PackTest, SinkFailureStops) {
  WeightSource S = source("a", {160, 64}, randomValues(160 * 64));
  WeightProgram P;
  P.Tensors = {tensor("w", Layout::P16F32, 160, 64, S)};
  P.Bytes = P.Tensors[0].Bytes = 160 * 64 * 4;
  PackOptions O;
  O.Threads = 4;
  O.MemoryBytes = 1;
  int Calls = 0;
  Result<std::vector<TensorQuality>> R =
      packWeights(P, Store, O, [&](std::span<const uint8_t>) {
        return ++Calls == 3 ? doesNotFitError("disk full") : Status();
      });
  EXPECT_EQ(R.status().code(), StatusCode::DoesNotFit);
  EXPECT_EQ(Calls, 3);
}
} // namespace
