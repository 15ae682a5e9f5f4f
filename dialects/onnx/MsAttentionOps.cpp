// Verifiers of the attention ops of com.microsoft: heads and the sizes that
// follow from them.
#include "dialects/onnx/MsVerify.h"
#include "dialects/support/Verify.h"

using namespace mlir;
using namespace llmc::onnx;

#define GET_OP_CLASSES
#include "dialects/onnx/MsAttentionOps.cpp.inc"

void OnnxDialect::registerMsAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/MsAttentionOps.cpp.inc"
      >();
}

namespace llmc::onnx {
std::optional<int64_t> knownDim(Value V, int64_t Axis) {
  RankedTensorType T = rankedType(V);
  if (!T)
    return std::nullopt;
  int64_t At = Axis < 0 ? Axis + T.getRank() : Axis;
  if (At < 0 || At >= T.getRank() || T.isDynamicDim(static_cast<unsigned>(At)))
    return std::nullopt;
  return T.getDimSize(static_cast<unsigned>(At));
}

std::optional<int64_t> knownElements(Value V) {
  RankedTensorType T = rankedType(V);
  if (!T || !T.hasStaticShape())
    return std::nullopt;
  return T.getNumElements();
}

LogicalResult verifyThere(Operation *Op, StringRef Name, Value V,
                          StringRef What) {
  if (!isNone(V))
    return success();
  return msError(Op, Name) << "input " << What << " is not there";
}

InFlightDiagnostic msError(Operation *Op, StringRef Name) {
  return Op->emitError() << Name << ": ";
}
} // namespace llmc::onnx

namespace {
/// Far above any model, so that products of two do not overflow.
constexpr int64_t MaxHeads = 1 << 20;

LogicalResult verifyHeads(Operation *Op, StringRef Name, int64_t Heads) {
  if (Heads < 1 || Heads > MaxHeads)
    return msError(Op, Name)
           << "C1: num_heads is " << Heads << ", expected 1 to " << MaxHeads;
  return success();
}

LogicalResult verifyHeads(Operation *Op, StringRef Name, int64_t Heads,
                          int64_t KvHeads) {
  if (failed(verifyHeads(Op, Name, Heads)))
    return failure();
  if (KvHeads < 1 || KvHeads > MaxHeads)
    return msError(Op, Name) << "C1: kv_num_heads is " << KvHeads
                             << ", expected 1 to " << MaxHeads;
  if (Heads % KvHeads != 0)
    return msError(Op, Name) << "C1: num_heads " << Heads
                             << " is no multiple of kv_num_heads " << KvHeads;
  return success();
}

LogicalResult verifyPair(Operation *Op, StringRef Name, Value A, Value B,
                         StringRef AName, StringRef BName) {
  if (isNone(A) == isNone(B))
    return success();
  return msError(Op, Name) << "C2: " << (isNone(A) ? BName : AName)
                           << " is there without "
                           << (isNone(A) ? AName : BName);
}

/// The last dim of `V` is a multiple of `Parts`.
LogicalResult verifyParts(Operation *Op, StringRef Name, Value V,
                          StringRef What, int64_t Parts) {
  std::optional<int64_t> Dim = knownDim(V, -1);
  if (!Dim || *Dim % Parts == 0)
    return success();
  return msError(Op, Name) << "C3: the last dim of " << What << " is " << *Dim
                           << ", expected a multiple of " << Parts << " heads";
}

/// Dim `Axis` of a cache of four dims.
LogicalResult verifyCacheHeads(Operation *Op, StringRef Name, Value Cache,
                               StringRef What, int64_t KvHeads) {
  RankedTensorType T = rankedType(Cache);
  if (!T)
    return success();
  if (T.getRank() != 4)
    return msError(Op, Name)
           << "C3: " << What << " has " << T.getRank() << " dims, expected 4";
  std::optional<int64_t> Heads = knownDim(Cache, 1);
  if (Heads && *Heads != KvHeads)
    return msError(Op, Name) << "C3: " << What << " has " << *Heads
                             << " heads, expected " << KvHeads;
  return success();
}

/// Query, key and value of grouped attention, packed or not.
LogicalResult verifyGrouped(Operation *Op, StringRef Name, Value Query,
                            Value Key, Value Val, int64_t Heads,
                            int64_t KvHeads) {
  if (isNone(Key))
    return verifyParts(Op, Name, Query, "query", Heads + 2 * KvHeads);
  if (failed(verifyParts(Op, Name, Query, "query", Heads)) ||
      failed(verifyParts(Op, Name, Key, "key", KvHeads)) ||
      failed(verifyParts(Op, Name, Val, "value", KvHeads)))
    return failure();
  std::optional<int64_t> Q = knownDim(Query, -1), K = knownDim(Key, -1);
  if (Q && K && *Q / Heads != *K / KvHeads)
    return msError(Op, Name) << "C3: heads of the query have " << *Q / Heads
                             << " elements, those of the key " << *K / KvHeads;
  return success();
}
} // namespace

LogicalResult MsGroupQueryAttentionOp::verify() {
  constexpr llvm::StringLiteral Name = "GroupQueryAttention";
  int64_t Heads = getNumHeads(), Kv = getKvNumHeads();
  if (failed(verifyHeads(*this, Name, Heads, Kv)) ||
      failed(verifyThere(*this, Name, getSeqlensK(), "seqlens_k")) ||
      failed(verifyThere(*this, Name, getTotalSequenceLength(),
                         "total_sequence_length")) ||
      failed(verifyPair(*this, Name, getKey(), getValue(), "key", "value")) ||
      failed(verifyPair(*this, Name, getPastKey(), getPastValue(), "past_key",
                        "past_value")) ||
      failed(verifyPair(*this, Name, getCosCache(), getSinCache(), "cos_cache",
                        "sin_cache")))
    return failure();
  if (getDoRotary() && isNone(getCosCache()))
    return msError(*this, Name) << "C2: do_rotary is 1 without cos_cache";
  if (failed(verifyCacheHeads(*this, Name, getPastKey(), "past_key", Kv)) ||
      failed(verifyCacheHeads(*this, Name, getPastValue(), "past_value", Kv)))
    return failure();
  std::optional<int64_t> Sinks = knownElements(getHeadSink());
  if (Sinks && *Sinks != Heads)
    return msError(*this, Name)
           << "C3: head_sink has " << *Sinks << " elements, expected " << Heads;
  return verifyGrouped(*this, Name, getQuery(), getKey(), getValue(), Heads,
                       Kv);
}

LogicalResult MsMultiHeadAttentionOp::verify() {
  constexpr llvm::StringLiteral Name = "MultiHeadAttention";
  int64_t Heads = getNumHeads();
  if (failed(verifyHeads(*this, Name, Heads)) ||
      failed(verifyPair(*this, Name, getPastKey(), getPastValue(), "past_key",
                        "past_value")) ||
      failed(verifyCacheHeads(*this, Name, getPastKey(), "past_key", Heads)) ||
      failed(
          verifyCacheHeads(*this, Name, getPastValue(), "past_value", Heads)))
    return failure();
  if (RankedTensorType Q = rankedType(getQuery()); Q && Q.getRank() == 3)
    return verifyParts(*this, Name, getQuery(), "query", Heads);
  return success();
}

LogicalResult MsAttentionOp::verify() {
  constexpr llvm::StringLiteral Name = "Attention";
  int64_t Heads = getNumHeads();
  if (failed(verifyHeads(*this, Name, Heads)))
    return failure();
  std::optional<int64_t> Columns = knownDim(getWeights(), -1);
  std::optional<ArrayRef<int64_t>> Sizes = getQkvHiddenSizes();
  if (!Sizes) {
    if (Columns && (*Columns % 3 != 0 || *Columns / 3 % Heads != 0))
      return msError(*this, Name)
             << "C2: weights have " << *Columns << " columns, expected a "
             << "multiple of 3 * " << Heads << " heads";
    return success();
  }
  if (Sizes->size() != 3)
    return msError(*this, Name) << "C2: qkv_hidden_sizes has " << Sizes->size()
                                << " entries, expected 3";
  int64_t Sum = 0;
  for (int64_t Size : *Sizes) {
    if (Size < 1 || Size > (1 << 30) || Size % Heads != 0)
      return msError(*this, Name)
             << "C2: qkv_hidden_sizes has " << Size
             << ", expected a positive multiple of " << Heads << " heads";
    Sum += Size;
  }
  if (Columns && *Columns != Sum)
    return msError(*this, Name) << "C2: weights have " << *Columns
                                << " columns, qkv_hidden_sizes " << Sum;
  return success();
}

LogicalResult MsDecoderMaskedMultiHeadAttentionOp::verify() {
  return verifyHeads(*this, "DecoderMaskedMultiHeadAttention", getNumHeads());
}

LogicalResult MsPagedAttentionOp::verify() {
  constexpr llvm::StringLiteral Name = "PagedAttention";
  if (failed(verifyThere(*this, Name, getKeyCache(), "key_cache")) ||
      failed(verifyThere(*this, Name, getCumulativeSequenceLength(),
                         "cumulative_sequence_length")) ||
      failed(verifyThere(*this, Name, getPastSeqlens(), "past_seqlens")) ||
      failed(verifyThere(*this, Name, getBlockTable(), "block_table")) ||
      failed(verifyHeads(*this, Name, getNumHeads(), getKvNumHeads())) ||
      failed(verifyPair(*this, Name, getCosCache(), getSinCache(), "cos_cache",
                        "sin_cache")))
    return failure();
  return verifyGrouped(*this, Name, getQuery(), getKey(), getValue(),
                       getNumHeads(), getKvNumHeads());
}

LogicalResult MsSparseAttentionOp::verify() {
  constexpr llvm::StringLiteral Name = "SparseAttention";
  if (failed(verifyThere(*this, Name, getPastKey(), "past_key")) ||
      failed(verifyThere(*this, Name, getPastValue(), "past_value")) ||
      failed(verifyThere(*this, Name, getBlockRowIndices(),
                         "block_row_indices")) ||
      failed(verifyThere(*this, Name, getBlockColIndices(),
                         "block_col_indices")) ||
      failed(verifyThere(*this, Name, getKeyTotalSequenceLengths(),
                         "key_total_sequence_lengths")) ||
      failed(verifyHeads(*this, Name, getNumHeads(), getKvNumHeads())))
    return failure();
  return verifyGrouped(*this, Name, getQuery(), getKey(), getValue(),
                       getNumHeads(), getKvNumHeads());
}

static LogicalResult verifyRotary(Operation *Op, StringRef Name, Value Input,
                                  Value Cos, Value Sin, int64_t Heads,
                                  int64_t RotaryDim) {
  if (Heads < 0 || Heads > MaxHeads)
    return msError(Op, Name)
           << "C1: num_heads is " << Heads << ", expected 0 to " << MaxHeads;
  if (RotaryDim < 0 || RotaryDim % 2 != 0)
    return msError(Op, Name) << "C1: rotary_embedding_dim is " << RotaryDim
                             << ", expected an even number";
  RankedTensorType T = rankedType(Input);
  if (RotaryDim > 0 && Heads == 0 && T && T.getRank() == 3)
    return msError(Op, Name) << "C1: rotary_embedding_dim is " << RotaryDim
                             << " and num_heads 0, expected both";
  std::optional<int64_t> C = knownDim(Cos, -1), S = knownDim(Sin, -1);
  if (C && S && *C != *S)
    return msError(Op, Name)
           << "C2: cos_cache has " << *C << " columns, sin_cache " << *S;
  if (C && RotaryDim > 0 && *C * 2 != RotaryDim)
    return msError(Op, Name)
           << "C2: cos_cache has " << *C << " columns, expected half of "
           << "rotary_embedding_dim " << RotaryDim;
  return success();
}

LogicalResult MsRotaryEmbeddingOp::verify() {
  return verifyRotary(*this, "RotaryEmbedding", getInput(), getCosCache(),
                      getSinCache(), getNumHeads(), getRotaryEmbeddingDim());
}

LogicalResult MsMRotaryEmbeddingOp::verify() {
  for (int64_t Size : getMropeSection())
    if (Size < 1)
      return msError(*this, "MRotaryEmbedding")
             << "C1: mrope_section has " << Size << ", expected at least 1";
  return verifyRotary(*this, "MRotaryEmbedding", getInput(), getCosCache(),
                      getSinCache(), getNumHeads(), getRotaryEmbeddingDim());
}
