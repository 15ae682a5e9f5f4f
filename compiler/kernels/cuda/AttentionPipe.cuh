// Tiles of keys and values on their way from pages to shared memory: a ring of
// Stages tiles of each, in the order K0 V0 K1 V1 …, one group of copies per
// tile and thread. The pages of a tile are looked up one tile ahead.
//
// A cache of codes is copied as it is, each piece of 16 codes with its scale;
// the thread that copied a piece makes f16 of it (code * scale, rounded) in one
// tile of keys and one of values, or in one for both (OneTile) where heads are
// too large for two.
namespace llmc {

template <typename S, typename T> class KvPipe {
public:
  enum : bool { Codes = S::KvType == KvI8 };
  enum : int {
    Stages = S::Stages,
    Piece = 16 / KvBlock<S>::Bytes, ///< features of 16 bytes
    KeyPieces = S::HeadDim / Piece,
    ValuePieces = T::Columns / Piece,
    KeyCopy = Codes ? TileKeys * KeyPieces * 20 : T::KeyBytes,
    ValueCopy = Codes ? TileKeys * ValuePieces * 20 : T::ValueBytes,
    KeyTile = Stages * (KeyCopy + ValueCopy), ///< f16, of codes
    ValueTile = S::OneTile ? KeyTile : KeyTile + T::KeyBytes,
    Larger = T::KeyBytes > T::ValueBytes ? T::KeyBytes : T::ValueBytes,
    Bytes = !Codes       ? KeyTile
            : S::OneTile ? KeyTile + Larger
                         : ValueTile + T::ValueBytes,
    InFlight = 2 * Stages - 2 ///< groups behind the one that is waited for
  };

  /// Ring is shared memory of Bytes, zero in the rows' padding (clear).
  __device__ __forceinline__ KvPipe(unsigned char *Ring,
                                    const unsigned char *Head, int Column0)
      : Ring(Ring), Head(Head), Column0(Column0) {}

  /// Writes zeros behind the features of keys, once.
  static __device__ __forceinline__ void clear(unsigned char *Ring) {
    if constexpr (T::KeyPieces % 2 != 0) // never with codes
      for (int I = threadIdx.x; I < Stages * TileKeys; I += AttentionWarps * 32)
        *reinterpret_cast<Quad *>(Ring + I * T::KeyRow +
                                  T::KeyPieces * 16) = {0, 0, 0, 0};
  }

  /// Begins with tile First; tiles are visited in ascending order, but of the
  /// segments only every Hop-th. Positions outside [Low, High] are copied as 0.
  __device__ __forceinline__ void start(const unsigned *PageTable, int First,
                                        int Low_, int High_, int Hop_) {
    Pages = PageTable;
    Low = Low_;
    High = High_;
    Hop = Hop_;
    Load = First;
    KeySlot = ValueSlot = ReadSlot = 0;
    lookUp();
#pragma unroll
    for (int I = 0; I != Stages; ++I) {
      issueKeys();
      if (I + 1 != Stages)
        issueValues();
    }
  }

  __device__ __forceinline__ int next(int Tile) const {
    constexpr int Tiles = Segment / TileKeys;
    ++Tile;
    return Tile % Tiles == 0 ? Tile + (Hop - 1) * Tiles : Tile;
  }

  __device__ __forceinline__ void issueKeys() {
    Page0 = Next0;
    Page1 = Next1;
    if (Load * TileKeys <= High)
      copy<KeyPieces, T::KeyRow, S::HeadDim, false>(Ring + KeySlot * KeyCopy,
                                                    Head, KeyPieces);
    KeySlot = KeySlot + 1 == Stages ? 0 : KeySlot + 1;
    commitCopies();
  }
  __device__ __forceinline__ void issueValues() {
    if (Load * TileKeys <= High)
      copy<ValuePieces, T::ValueRow, S::VHeadDim, true>(
          Ring + Stages * KeyCopy + ValueSlot * ValueCopy,
          Head + KvBlock<S>::value(0, Column0),
          (S::VHeadDim - Column0) / Piece);
    ValueSlot = ValueSlot + 1 == Stages ? 0 : ValueSlot + 1;
    commitCopies();
    Load = next(Load);
    lookUp();
  }

  /// Behind the wait for a tile and before the barrier: makes keys of codes.
  __device__ __forceinline__ void openKeys() {
    if constexpr (Codes && S::OneTile)
      __syncthreads(); // the values have been read
    if constexpr (Codes)
      open<KeyPieces, T::KeyRow>(Ring + KeyTile, Ring + ReadSlot * KeyCopy);
  }
  __device__ __forceinline__ void openValues() {
    if constexpr (Codes && S::OneTile)
      __syncthreads(); // the keys have been read
    if constexpr (Codes)
      open<ValuePieces, T::ValueRow>(
          Ring + ValueTile, Ring + Stages * KeyCopy + ReadSlot * ValueCopy);
  }

  __device__ __forceinline__ const unsigned char *keys() const {
    return Ring + (Codes ? KeyTile : ReadSlot * KeyCopy);
  }
  __device__ __forceinline__ const unsigned char *values() const {
    return Ring + (Codes ? ValueTile : Stages * KeyCopy + ReadSlot * ValueCopy);
  }
  __device__ __forceinline__ void advance() {
    ReadSlot = ReadSlot + 1 == Stages ? 0 : ReadSlot + 1;
  }

private:
  __device__ __forceinline__ void lookUp() {
    constexpr int PerTile = TileKeys / PageTokens;
    if (Load * TileKeys > High)
      return;
    int Last = High / PageTokens, At = Load * PerTile;
    Next0 = Pages[At];
    Next1 = Pages[At + 1 > Last ? Last : At + 1];
  }

  /// The tile's rows, Pieces of 16 bytes each; Have of them exist.
  template <int Pieces, int RowBytes, int Features, bool Value>
  __device__ __forceinline__ void copy(unsigned char *To,
                                       const unsigned char *From, int Have) {
    size_t Page[2] = {static_cast<size_t>(Page0) * S::KvPageStride,
                      static_cast<size_t>(Page1) * S::KvPageStride};
#pragma unroll 1
    for (int I = threadIdx.x; I < TileKeys * Pieces; I += AttentionWarps * 32) {
      int Row = I / Pieces, At = I % Pieces, Token = Row % PageTokens;
      int Position = Load * TileKeys + Row;
      bool Valid = Position >= Low && Position <= High && At < Have;
      size_t Off = Row < PageTokens ? Page[0] : Page[1];
      copyAsync16OrZero(
          To + (Codes ? I * 16 : Row * RowBytes + At * 16),
          Valid ? From + Off + Token * Features * KvBlock<S>::Bytes + At * 16
                : From,
          Valid);
      if constexpr (Codes)
        copyAsync4OrZero(
            To + TileKeys * Pieces * 16 + I * 4,
            Valid ? Head + Off + KvBlock<S>::scale(Value, Token) : Head, Valid);
    }
  }

  /// Four codes as f16.
  static __device__ __forceinline__ void
  halves(unsigned FourCodes, float Scale, unsigned &Low2, unsigned &High2) {
    float V[4];
#pragma unroll
    for (int I = 0; I != 4; ++I)
      V[I] = Scale *
             static_cast<float>(static_cast<signed char>(FourCodes >> (8 * I)));
    Low2 = packHalves(V[0], V[1]);
    High2 = packHalves(V[2], V[3]);
  }

  /// This thread's pieces of a tile of codes, to rows of f16.
  template <int Pieces, int RowBytes>
  __device__ __forceinline__ void open(unsigned char *To,
                                       const unsigned char *From) {
#pragma unroll 1
    for (int I = threadIdx.x; I < TileKeys * Pieces; I += AttentionWarps * 32) {
      Quad C = *reinterpret_cast<const Quad *>(From + I * 16);
      float Scale = *reinterpret_cast<const float *>(
          From + TileKeys * Pieces * 16 + I * 4);
      Quad A, B;
      halves(C.X, Scale, A.X, A.Y);
      halves(C.Y, Scale, A.Z, A.W);
      halves(C.Z, Scale, B.X, B.Y);
      halves(C.W, Scale, B.Z, B.W);
      // Eight lanes write 16 bytes to different banks: four of them the second
      // half first.
      bool Turn = (threadIdx.x & 4) != 0;
      unsigned char *At = To + I / Pieces * RowBytes + I % Pieces * 32;
      *reinterpret_cast<Quad *>(At + (Turn ? 16 : 0)) = Turn ? B : A;
      *reinterpret_cast<Quad *>(At + (Turn ? 0 : 16)) = Turn ? A : B;
    }
  }

  unsigned char *Ring;
  const unsigned char *Head; ///< the KV head in page 0
  const unsigned *Pages = nullptr;
  int Column0, Low = 0, High = -1, Hop = 1, Load = 0;
  int KeySlot = 0, ValueSlot = 0, ReadSlot = 0;
  unsigned Page0 = 0, Page1 = 0, Next0 = 0, Next1 = 0;
};

} // namespace llmc
