// Quantised sources: the codes, scales and zero points that come out of the
// packed formats are the file's, bit for bit, whatever the file's order; the
// values of other layouts are (code - zero) * scale.
#include "compiler/weights/Pack.h"
#include "compiler/weights/PackedFormat.h"
#include "compiler/weights/RowFormat.h"
#include "runtime/base/File.h"
#include "runtime/base/Half.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

using namespace llmc;
using kernels::CodeKind;
using kernels::WeightFormat;
using kernels::ZeroKind;

namespace {

/// A matrix as it should come back: codes unsigned.
struct Matrix {
  uint64_t Rows, Cols, Block;
  std::vector<uint8_t> Codes;       ///< [Rows][Cols]
  std::vector<float> Scales, Zeros; ///< [Rows][blocks]

  uint64_t blocks() const { return (Cols + Block - 1) / Block; }
  uint8_t code(uint64_t R, uint64_t C) const { return Codes[R * Cols + C]; }
  float scale(uint64_t R, uint64_t C) const {
    return Scales[R * blocks() + C / Block];
  }
  float zero(uint64_t R, uint64_t C) const {
    return Zeros[R * blocks() + C / Block];
  }
};

Matrix randomMatrix(uint64_t Rows, uint64_t Cols, uint64_t Block, unsigned Bits,
                    bool HalfScales, int Zero) {
  std::mt19937 Random(static_cast<uint32_t>(Rows * 31 + Cols + Bits));
  Matrix M{Rows, Cols, Block, {}, {}, {}};
  for (uint64_t I = 0; I < Rows * Cols; ++I)
    M.Codes.push_back(static_cast<uint8_t>(Random() % (1u << Bits)));
  for (uint64_t I = 0; I < Rows * M.blocks(); ++I) {
    float S = static_cast<float>(Random() % 2000) / 9999.0f - 0.05f;
    M.Scales.push_back(HalfScales ? f16ToFloat(floatToF16(S)) : S);
    M.Zeros.push_back(static_cast<float>(
        Zero >= 0 ? Zero : static_cast<int>(Random() % (1u << Bits))));
  }
  return M;
}

/// Packs elements of Bits bits, low bits first.
class BitWriter {
public:
  void put(uint32_t Value, unsigned Bits, bool HighFirst = false) {
    for (unsigned B = 0; B < Bits; ++B, ++At) {
      Bytes.resize(At / 8 + 1);
      uint64_t Place = HighFirst ? (At / Bits * Bits ^ Bits) % 8 + B : At % 8;
      Bytes[At / 8] =
          static_cast<uint8_t>(Bytes[At / 8] | (Value >> B & 1u) << Place);
    }
  }
  void alignByte() { At = (At + 7) / 8 * 8; }
  std::vector<uint8_t> Bytes;

private:
  uint64_t At = 0;
};

class PackCodesTest : public testing::Test {
protected:
  PackCodesTest() {
    char Name[] = "/tmp/llmc-codes-XXXXXX";
    Folder = ::mkdtemp(Name);
    EXPECT_TRUE(writeFile(Folder + "/model.onnx", bytesOf("x")).ok());
    Store = WeightStore::open(Folder + "/model.onnx").take();
  }
  ~PackCodesTest() override { std::filesystem::remove_all(Folder); }

  /// Bytes in a file, behind some others.
  WeightBytes inFile(const std::vector<uint8_t> &Bytes) {
    std::string Name = "f" + std::to_string(Files++);
    std::vector<uint8_t> File(5, 0xee);
    File.insert(File.end(), Bytes.begin(), Bytes.end());
    EXPECT_TRUE(writeFile(Folder + "/" + Name, File).ok());
    WeightBytes B;
    B.File = *Store.addFile(Name, Name);
    B.Offset = 5;
    B.Length = Bytes.size();
    return B;
  }
  WeightBytes floats(const std::vector<float> &V, bool Half) {
    std::vector<uint8_t> Out;
    for (float F : V) {
      uint32_t Bits;
      std::memcpy(&Bits, &F, 4);
      uint16_t H = floatToF16(F);
      const uint8_t *P = Half ? reinterpret_cast<const uint8_t *>(&H)
                              : reinterpret_cast<const uint8_t *>(&Bits);
      Out.insert(Out.end(), P, P + (Half ? 2 : 4));
    }
    return inFile(Out);
  }

  static WeightSource source(std::vector<int64_t> Shape, WeightBytes Codes,
                             QuantizedParts Parts) {
    WeightSource S;
    S.Name = "w";
    S.Shape = std::move(Shape);
    S.File = Codes.File;
    S.Offset = Codes.Offset;
    S.Length = Codes.Length;
    S.Quantized = std::move(Parts);
    return S;
  }

  /// Packs rows [Begin, End) of the source in small chunks.
  std::vector<uint8_t> pack(Layout Form, const WeightSource &S, uint64_t Rows,
                            uint64_t Cols, bool Transposed,
                            uint64_t Begin = 0) {
    WeightProgram P;
    PackedTensor T;
    T.Name = "t";
    T.Form = Form;
    T.Rows = Rows;
    T.Cols = Cols;
    T.Bytes = P.Bytes = packedBytes(Form, Rows, Cols);
    T.Sources = {S};
    T.Pieces = {{0, Begin, Rows, Transposed}};
    P.Tensors = {T};
    PackOptions O;
    O.Threads = 2;
    O.MemoryBytes = 4096;
    std::vector<uint8_t> Out;
    Result<std::vector<TensorQuality>> Q =
        packWeights(P, Store, O, [&](std::span<const uint8_t> Data) {
          Out.insert(Out.end(), Data.begin(), Data.end());
          return Status::success();
        });
    EXPECT_TRUE(Q.ok()) << Q.status().message();
    if (Q.ok() && isQuantized(Form)) {
      EXPECT_TRUE(Q->front().Exact);
    }
    return Out;
  }

  /// Reads the packed form back, by its definition.
  void expectSame(const std::vector<uint8_t> &Packed, WeightFormat F,
                  const Matrix &M, uint64_t Begin = 0) {
    int64_t K = static_cast<int64_t>(M.Cols), Block = F.Block ? F.Block : K;
    int64_t Rows = static_cast<int64_t>(M.Rows - Begin);
    int64_t RecordCols = F.recordCols(K), PerLine = 32 / F.Bits;
    for (int64_t R = 0; R < Rows; ++R)
      for (int64_t C = 0; C < K; ++C) {
        const uint8_t *Record = Packed.data() + F.headerBytes() +
                                R / 16 * F.panelBytes(K) +
                                C / RecordCols * F.recordBytes(K);
        int64_t In = C % RecordCols, B = In / Block, Lane = R % 16;
        int64_t L = In % PerLine;
        int Code =
            Record[In / PerLine * 64 + Lane * 4 + L % 4] >> (L / 4 * F.Bits) &
            ((1 << F.Bits) - 1);
        const uint8_t *Scales = Record + F.codeBytes(K) + B * F.scaleBytes();
        const uint8_t *Zeros = Record + F.codeBytes(K) +
                               F.blocksPerRecord() * F.scaleBytes() +
                               B * F.zeroBytes();
        uint64_t Row = static_cast<uint64_t>(R) + Begin,
                 Col = static_cast<uint64_t>(C);
        ASSERT_EQ(Code, M.code(Row, Col)) << R << ", " << C;
        float Scale;
        std::memcpy(&Scale, Scales + Lane * 4 * !F.HalfScale, 4);
        uint16_t Half;
        std::memcpy(&Half, Scales + Lane * 2, 2);
        ASSERT_EQ(F.HalfScale ? f16ToFloat(Half) : Scale, M.scale(Row, Col));
        if (F.Zero == ZeroKind::Byte) {
          ASSERT_EQ(Zeros[Lane], M.zero(Row, Col));
        }
        float Zero;
        if (F.Zero == ZeroKind::Float) {
          std::memcpy(&Zero, Zeros + Lane * 4, 4);
          ASSERT_EQ(Zero, M.zero(Row, Col));
        }
      }
  }

  /// The same row by row.
  void expectRows(const std::vector<uint8_t> &Packed, WeightFormat F,
                  const Matrix &M, uint64_t Begin = 0) {
    RowFormat Form{F, M.Cols};
    uint64_t Block = F.Block ? F.Block : M.Cols;
    ASSERT_EQ(Packed.size(), static_cast<uint64_t>(F.headerBytes()) +
                                 (M.Rows - Begin) * Form.rowBytes());
    for (uint64_t R = Begin; R < M.Rows; ++R)
      for (uint64_t C = 0; C < M.Cols; ++C) {
        const uint8_t *Row =
            Packed.data() + F.headerBytes() + (R - Begin) * Form.rowBytes();
        uint64_t Bit = C * F.Bits, B = C / Block;
        ASSERT_EQ(Row[Bit / 8] >> Bit % 8 & ((1 << F.Bits) - 1), M.code(R, C))
            << R << ", " << C;
        float Scale, Zero;
        uint16_t Half;
        std::memcpy(&Half, Row + Form.scaleAt() + B * Form.scaleBytes(), 2);
        std::memcpy(&Scale, Row + Form.scaleAt() + B * Form.scaleBytes(), 4);
        ASSERT_EQ(F.HalfScale ? f16ToFloat(Half) : Scale, M.scale(R, C));
        const uint8_t *ZeroAt = Row + Form.zeroAt() + B * Form.zeroBytes();
        if (F.Zero == ZeroKind::Byte) {
          ASSERT_EQ(*ZeroAt, M.zero(R, C));
        }
        if (F.Zero == ZeroKind::Float) {
          std::memcpy(&Zero, ZeroAt, 4);
          ASSERT_EQ(Zero, M.zero(R, C));
        }
      }
  }

  void expectValues(const std::vector<uint8_t> &Packed, const Matrix &M) {
    for (uint64_t R = 0; R < M.Rows; ++R)
      for (uint64_t C = 0; C < M.Cols; ++C) {
        float V;
        std::memcpy(
            &V, Packed.data() + ((R / 16 * M.Cols + C) * 16 + R % 16) * 4, 4);
        float Want =
            (static_cast<float>(M.code(R, C)) - M.zero(R, C)) * M.scale(R, C);
        ASSERT_EQ(V, Want) << R << ", " << C;
      }
  }

  std::string Folder;
  WeightStore Store;
  int Files = 0;
};

/// MatMulNBits: rows of whole blocks, zero points packed along the blocks.
TEST_F(PackCodesTest, BlocksOfBits) {
  for (unsigned Bits : {2u, 4u, 8u})
    for (uint64_t Block : {uint64_t{16}, uint64_t{32}, uint64_t{128}})
      for (int Zeros : {0, 1, 2}) { // none, packed, floats
        uint64_t N = 35, K = 80;
        int Middle = 1 << (Bits - 1);
        Matrix M =
            randomMatrix(N, K, Block, Bits, Block != 32, Zeros ? -1 : Middle);
        if (Zeros == 2)
          for (float &Z : M.Zeros)
            Z += 0.5f;
        uint64_t Blocks = M.blocks();
        BitWriter Codes, Packed;
        for (uint64_t R = 0; R < N; ++R) {
          for (uint64_t C = 0; C < Blocks * Block; ++C)
            Codes.put(C < K ? M.code(R, C) : 3u, Bits);
          for (uint64_t B = 0; B < Blocks; ++B)
            Packed.put(static_cast<uint32_t>(M.Zeros[R * Blocks + B]), Bits);
          Packed.alignByte();
        }
        QuantizedParts P;
        P.How.Code =
            Bits == 2 ? DType::U2 : (Bits == 4 ? DType::U4 : DType::U8);
        P.How.Pitch = Blocks * Block;
        P.How.BlockCols = Block;
        P.How.Scale = Block != 32 ? DType::F16 : DType::F32;
        P.How.ScalePitch = Blocks;
        P.Scales = floats(M.Scales, Block != 32);
        P.How.ZeroValue = static_cast<float>(Middle);
        if (Zeros == 1) {
          P.How.Zero = P.How.Code;
          P.How.ZeroPitch = (Blocks * Bits + 7) / 8 * 8 / Bits;
          P.Zeros = inFile(Packed.Bytes);
        } else if (Zeros == 2) {
          P.How.Zero = DType::F32;
          P.How.ZeroPitch = Blocks;
          P.Zeros = floats(M.Zeros, false);
        }
        WeightSource S =
            source({int64_t(N), int64_t(K)}, inFile(Codes.Bytes), P);
        std::optional<WeightFormat> F = packedFormatOf(P.How, N, K, false);
        ASSERT_TRUE(F);
        EXPECT_EQ(F->Zero, Zeros == 0   ? ZeroKind::Middle
                           : Zeros == 1 ? ZeroKind::Byte
                                        : ZeroKind::Float);
        expectSame(pack(layoutOf(*F), S, N, K, false), *F, M);
        expectSame(pack(layoutOf(*F), S, N - 5, K, false, 5), *F, M, 5);
        expectRows(pack(rowsOf(*F), S, N, K, false), *F, M);
        expectRows(pack(rowsOf(*F), S, N - 5, K, false, 5), *F, M, 5);
        expectValues(pack(Layout::P16F32, S, N, K, false), M);
      }
}

/// DequantizeLinear of [K, N] with blocks along K: the weight is transposed,
/// codes of odd width run on from row to row.
TEST_F(PackCodesTest, TransposedBlocksOfInt4) {
  uint64_t N = 37, K = 96, Block = 32;
  Matrix M = randomMatrix(N, K, Block, 4, false, -1);
  BitWriter Codes, Zeros;
  std::vector<float> Scales;
  for (uint64_t C = 0; C < K; ++C)
    for (uint64_t R = 0; R < N; ++R)
      Codes.put(M.code(R, C) ^ 8u, 4); // i4
  for (uint64_t B = 0; B < M.blocks(); ++B)
    for (uint64_t R = 0; R < N; ++R) {
      Scales.push_back(M.Scales[R * M.blocks() + B]);
      Zeros.put(static_cast<uint32_t>(M.Zeros[R * M.blocks() + B]) ^ 8u, 4);
    }
  QuantizedParts P;
  P.How.Code = P.How.Zero = DType::I4;
  P.How.Pitch = P.How.ScalePitch = P.How.ZeroPitch = N;
  P.How.BlockRows = Block;
  P.Scales = floats(Scales, false);
  P.Zeros = inFile(Zeros.Bytes);
  WeightSource S = source({int64_t(K), int64_t(N)}, inFile(Codes.Bytes), P);
  std::optional<WeightFormat> F = packedFormatOf(P.How, K, N, true);
  ASSERT_TRUE(F);
  EXPECT_EQ(F->Block, Block);
  expectSame(pack(layoutOf(*F), S, N, K, true), *F, M);
  expectRows(pack(rowsOf(*F), S, N, K, true), *F, M);
  expectValues(pack(Layout::P16F32, S, N, K, true), M);
}

/// One scale for a whole column of [K, N], signed bytes, no zero point.
TEST_F(PackCodesTest, OneScalePerOutput) {
  uint64_t N = 20, K = 50;
  Matrix M = randomMatrix(N, K, K, 8, false, 128);
  BitWriter Codes;
  for (uint64_t C = 0; C < K; ++C)
    for (uint64_t R = 0; R < N; ++R)
      Codes.put(M.code(R, C) ^ 128u, 8);
  QuantizedParts P;
  P.How.Code = DType::I8;
  P.How.Pitch = P.How.ScalePitch = N;
  P.How.BlockRows = K;
  P.Scales = floats(M.Scales, false);
  WeightSource S = source({int64_t(K), int64_t(N)}, inFile(Codes.Bytes), P);
  std::optional<WeightFormat> F = packedFormatOf(P.How, K, N, true);
  ASSERT_TRUE(F);
  EXPECT_EQ(F->Block, 0u);
  EXPECT_EQ(F->Zero, ZeroKind::Middle);
  expectSame(pack(layoutOf(*F), S, N, K, true), *F, M);
  expectRows(pack(rowsOf(*F), S, N, K, true), *F, M);
  expectValues(pack(Layout::P16F32, S, N, K, true), M);
}

/// bitsandbytes: blocks run over the ends of rows, the high half comes first.
TEST_F(PackCodesTest, CodebookWithFlatBlocks) {
  uint64_t N = 18, K = 48, Flat = 64;
  Matrix M = randomMatrix(N, K, 16, 4, false, 0);
  std::vector<float> Scales;
  for (uint64_t I = 0; I < (N * K + Flat - 1) / Flat; ++I)
    Scales.push_back(0.01f * static_cast<float>(I + 1));
  BitWriter Codes;
  for (uint64_t R = 0; R < N; ++R)
    for (uint64_t C = 0; C < K; ++C) {
      Codes.put(M.code(R, C), 4, true);
      M.Scales[R * M.blocks() + C / 16] = Scales[(R * K + C) / Flat];
    }
  QuantizedParts P;
  P.How.Code = DType::U4;
  P.How.Table = CodeTable::Nf4;
  P.How.HighFirst = true;
  P.How.Pitch = K;
  P.How.Flat = Flat;
  P.Scales = floats(Scales, false);
  WeightSource S = source({int64_t(N), int64_t(K)}, inFile(Codes.Bytes), P);
  std::optional<WeightFormat> F = packedFormatOf(P.How, N, K, false);
  ASSERT_TRUE(F);
  EXPECT_EQ(F->Block, 16u);
  EXPECT_EQ(F->Kind, CodeKind::Table);
  std::vector<uint8_t> Packed = pack(layoutOf(*F), S, N, K, false);
  expectSame(Packed, *F, M);
  EXPECT_EQ(std::memcmp(Packed.data(), codebookOf(P.How), 64), 0);
  std::vector<uint8_t> Values = pack(Layout::P16F32, S, N, K, false);
  float First;
  std::memcpy(&First, Values.data(), 4);
  EXPECT_EQ(First, codebookOf(P.How)[M.code(0, 0)] * Scales[0]);
}

/// What no format has comes out as values: columns in groups.
TEST_F(PackCodesTest, GroupsOfColumns) {
  uint64_t N = 16, K = 64;
  Matrix M = randomMatrix(N, K, 1, 4, false, 8);
  std::vector<float> Scales;
  std::vector<int32_t> Groups;
  for (uint64_t I = 0; I < N * 2; ++I)
    Scales.push_back(0.5f + static_cast<float>(I));
  for (uint64_t C = 0; C < K; ++C)
    Groups.push_back(static_cast<int32_t>(C * 7 % 2));
  BitWriter Codes;
  for (uint64_t R = 0; R < N; ++R)
    for (uint64_t C = 0; C < K; ++C) {
      Codes.put(M.code(R, C), 4);
      M.Scales[R * K + C] = Scales[R * 2 + static_cast<size_t>(Groups[C])];
    }
  QuantizedParts P;
  P.How.Code = DType::U4;
  P.How.Pitch = K;
  P.How.BlockCols = 32;
  P.How.ScalePitch = 2;
  P.How.ZeroValue = 8;
  P.How.Groups = true;
  P.Scales = floats(Scales, false);
  const uint8_t *G = reinterpret_cast<const uint8_t *>(Groups.data());
  P.Groups = inFile({G, G + K * 4});
  EXPECT_FALSE(packedFormatOf(P.How, N, K, false));
  WeightSource S = source({int64_t(N), int64_t(K)}, inFile(Codes.Bytes), P);
  expectValues(pack(Layout::P16F32, S, N, K, false), M);
}

TEST_F(PackCodesTest, EightBitFloats) {
  uint64_t N = 16, K = 256;
  QuantizedParts P;
  P.How.Code = DType::F8E4M3;
  P.How.Pitch = P.How.BlockCols = K;
  P.Scales = floats(std::vector<float>(N, 1.0f), false);
  std::vector<uint8_t> Codes(N * K);
  for (size_t I = 0; I < Codes.size(); ++I)
    Codes[I] = I % 128 == 127 ? 0 : static_cast<uint8_t>(I);
  WeightSource S = source({int64_t(N), int64_t(K)}, inFile(Codes), P);
  std::vector<uint8_t> Values = pack(Layout::P16F32, S, N, K, false);
  const auto At = [&](size_t C) {
    float V;
    std::memcpy(&V, Values.data() + C * 64, 4);
    return V;
  };
  EXPECT_EQ(At(0x7e), 448.0f);
  EXPECT_EQ(At(0x01), 0x1p-9f);
  EXPECT_EQ(At(0x38), 1.0f);
  EXPECT_EQ(At(0xb8), -1.0f);
}

TEST_F(PackCodesTest, SizesAreChecked) {
  QuantizedParts P;
  P.How.Code = DType::U4;
  P.How.Pitch = P.How.BlockCols = 32;
  P.Scales = floats(std::vector<float>(15, 1.0f), false);
  WeightSource S = source({16, 32}, inFile(std::vector<uint8_t>(256)), P);
  PackedTensor T;
  T.Form = Layout::P16F32;
  T.Name = "t";
  T.Rows = 16;
  T.Cols = 32;
  T.Sources = {S};
  T.Pieces = {{0, 0, 16, false}};
  WeightProgram Program;
  Program.Bytes = T.Bytes = packedBytes(T.Form, 16, 32);
  Program.Tensors = {T};
  Status Bad = checkProgram(Program, Store);
  EXPECT_EQ(Bad.code(), StatusCode::Malformed);
  EXPECT_EQ(Bad.message(),
            "weight w: length in bytes of its scales is 60, expected 64");
}

TEST(EncodingText, ComesBack) {
  for (const char *Text :
       {"u4 pitch 64 block 1x32 scale f16 2 zero u4 2",
        "u4 nf4 high pitch 48 flat 64 scale f32 1",
        "i8 pitch 20 block 50x1 scale f32 20 times 0.00100000005",
        "u4 pitch 64 block 1x32 groups scale f32 2 zero 8",
        "f8e4m3 pitch 9 block 9x9 scale f32 1 zero 7.5"}) {
    Result<Encoding> E = encodingOf(Text);
    ASSERT_TRUE(E.ok()) << Text;
    EXPECT_EQ(toText(*E), Text);
  }
  EXPECT_FALSE(encodingOf("u4 pitch x").ok());
  EXPECT_FALSE(encodingOf("u9 pitch 4").ok());
  EXPECT_FALSE(encodingOf("u4 pitch 4 block 0x3").ok());
}

TEST(LayoutNames, ComeBack) {
  for (const char *Id :
       {"p16.i4b32.f16.z8", "p16.irow", "p16.i8row.f32.zm", "p16.t4b64.f32.z0",
        "p16.e4m8row.f32.z0", "p16.e5mz8b128.f16.zf", "p16.bf16"}) {
    std::optional<Layout> L = layoutOf(Id);
    if (std::string_view(Id) == "p16.irow") {
      EXPECT_FALSE(L);
      continue;
    }
    ASSERT_TRUE(L) << Id;
    EXPECT_EQ(nameOf(*L), Id);
  }
  EXPECT_FALSE(layoutOf("p16.i4b33.f16.z8"));
  EXPECT_FALSE(layoutOf("p16.i4b0.f16.z8"));
}
} // namespace
