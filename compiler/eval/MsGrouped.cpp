// GroupQueryAttention, SparseAttention and PagedAttention: grouped heads,
// rotary embedding and caches inside. Semantics: onnxruntime
// docs/ContribOperators.md, and what ONNX Runtime 1.32 computes
// (tools/dev/ms_cases.py).
//
// Long because the three ops share their projections, rotation and caches.
#include "compiler/eval/Attend.h"
#include "compiler/eval/Convert.h"
#include "compiler/eval/Microsoft.h"

#include <cmath>
#include <limits>

namespace llmc::eval {

namespace {
constexpr double Hidden = -std::numeric_limits<double>::infinity();

struct Heads {
  int64_t Query, Key;
};

Result<Heads> headsOf(const OpCall &C) {
  Heads N{C.attr("num_heads", 0), C.attr("kv_num_heads", 0)};
  if (N.Query < 1 || N.Key < 1 || N.Query % N.Key != 0)
    return malformedError("attention: num_heads " + std::to_string(N.Query) +
                          " on kv_num_heads " + std::to_string(N.Key));
  return N;
}

struct QueryKeyValue {
  HeadTensor Q, K, V;
};

/// From three operands [B, S, heads * size] or one with all side by side.
Result<QueryKeyValue> projections(const OpCall &C, const Tensor &Query,
                                  const Tensor &Key, const Tensor &Value,
                                  Heads N) {
  if (Query.rank() != 3)
    return malformedError("attention: query is " + describe(Query));
  QueryKeyValue Out;
  bool Packed = !Key.present();
  int64_t Parts = Packed ? N.Query + 2 * N.Key : N.Query;
  int64_t Size = Query.Shape[2] / Parts;
  if (Size < 1 || Query.Shape[2] % Parts != 0)
    return malformedError("attention: query is " + describe(Query) +
                          ", expected a multiple of " + std::to_string(Parts) +
                          " columns");
  LLMC_ASSIGN_OR_RETURN(Out.Q, splitHeads(C.Limit, Query, N.Query, 0, Size));
  if (Packed) {
    LLMC_ASSIGN_OR_RETURN(
        Out.K, splitHeads(C.Limit, Query, N.Key, N.Query * Size, Size));
    LLMC_ASSIGN_OR_RETURN(Out.V, splitHeads(C.Limit, Query, N.Key,
                                            (N.Query + N.Key) * Size, Size));
    return Out;
  }
  if (Key.rank() != 3 || Value.rank() != 3)
    return malformedError("attention: key is " + describe(Key) + ", value " +
                          describe(Value));
  LLMC_ASSIGN_OR_RETURN(
      Out.K, splitHeads(C.Limit, Key, N.Key, 0, Key.Shape[2] / N.Key));
  LLMC_ASSIGN_OR_RETURN(
      Out.V, splitHeads(C.Limit, Value, N.Key, 0, Value.Shape[2] / N.Key));
  return Out;
}

/// x / rms(x) * weight of every head.
Status normHeads(HeadTensor &X, const Tensor &Weight, double Epsilon) {
  if (!Weight.present())
    return Status::success();
  if (Weight.count() != X.Size)
    return malformedError("attention: a norm of " + describe(Weight) +
                          " for heads of " + std::to_string(X.Size));
  std::vector<double> W = load<double>(Weight);
  for (size_t At = 0; At + static_cast<size_t>(X.Size) <= X.Data.size();
       At += static_cast<size_t>(X.Size)) {
    double Sum = 0;
    for (int64_t I = 0; I < X.Size; ++I)
      Sum += X.Data[At + static_cast<size_t>(I)] *
             X.Data[At + static_cast<size_t>(I)];
    double Factor = 1 / std::sqrt(Sum / static_cast<double>(X.Size) + Epsilon);
    for (int64_t I = 0; I < X.Size; ++I)
      X.Data[At + static_cast<size_t>(I)] *= Factor * W[static_cast<size_t>(I)];
  }
  return Status::success();
}

using PositionOf = std::function<int64_t(int64_t, int64_t)>;

/// Rotates the heads of every row by its position.
Status rotateHeads(HeadTensor &X, const Tensor &Cos, const Tensor &Sin,
                   const PositionOf &Position, bool Interleaved) {
  int64_t Width = Cos.rank() == 2 ? Cos.Shape[1] : 0;
  if (Width < 1 || 2 * Width > X.Size || Sin.Shape != Cos.Shape)
    return malformedError("attention: cos_cache " + describe(Cos) +
                          ", sin_cache " + describe(Sin) + " for heads of " +
                          std::to_string(X.Size));
  std::vector<double> C = load<double>(Cos), S = load<double>(Sin);
  for (int64_t B = 0; B < X.Batch; ++B)
    for (int64_t R = 0; R < X.Rows; ++R) {
      int64_t P = Position(B, R);
      if (P < 0 || P >= Cos.Shape[0])
        return malformedError("attention: position " + std::to_string(P) +
                              ", cos_cache has " +
                              std::to_string(Cos.Shape[0]) + " rows");
      for (int64_t H = 0; H < X.Heads; ++H)
        rotate(X.row(B, H, R), C.data() + P * Width, S.data() + P * Width,
               Width, Interleaved);
    }
  return Status::success();
}

/// What is stored and what is read back: numbers of the cache's type, or codes
/// with a scale per tensor or per head and element.
struct CacheCoding {
  std::vector<double> Scales; ///< empty: none
  DType Type = DType::None;
  bool PerChannel = false;

  double scale(int64_t H, int64_t I, int64_t Size) const {
    return PerChannel ? Scales[static_cast<size_t>(H * Size + I)] : Scales[0];
  }
};

Result<CacheCoding> coding(const OpCall &C, const Tensor &Past,
                           const Tensor &Scale, llvm::StringRef Kind,
                           DType Type, int64_t Heads, int64_t Size) {
  CacheCoding Out;
  Out.Type = Past.present() ? Past.Type : Type;
  if (Kind == "NONE")
    return Out;
  if (C.attr("kv_cache_bit_width", 8) != 8 || Out.Type != DType::I8)
    return unsupportedError("evaluation: a quantised cache that is not int8");
  Out.PerChannel = Kind == "PER_CHANNEL";
  Out.Scales = load<double>(Scale);
  int64_t Want = Out.PerChannel ? Heads * Size : 1;
  if (static_cast<int64_t>(Out.Scales.size()) != Want)
    return malformedError("attention: " + std::to_string(Out.Scales.size()) +
                          " scales of the cache, expected " +
                          std::to_string(Want));
  return Out;
}

/// New rows into the past at Begin[b]; rows of both as they are read back.
struct CacheRows {
  HeadTensor Read;  ///< numbers
  HeadTensor Store; ///< what the present holds
};

Result<CacheRows> appendRows(const OpCall &C, const Tensor &Past,
                             const HeadTensor &New,
                             const std::vector<int64_t> &Begin, int64_t Rows,
                             const CacheCoding &Code) {
  CacheRows Out;
  LLMC_ASSIGN_OR_RETURN(
      Out.Store, makeHeads(C.Limit, New.Batch, New.Heads, Rows, New.Size));
  if (Past.present()) {
    if (Past.rank() != 4 || Past.Shape[0] != New.Batch ||
        Past.Shape[1] != New.Heads || Past.Shape[3] != New.Size)
      return malformedError("attention: a past of " + describe(Past) +
                            " before heads of " + std::to_string(New.Size));
    LLMC_ASSIGN_OR_RETURN(HeadTensor Old, fromHeads(C.Limit, Past));
    for (int64_t B = 0; B < New.Batch; ++B)
      for (int64_t H = 0; H < New.Heads; ++H)
        std::copy_n(Old.row(B, H, 0), std::min(Rows, Old.Rows) * New.Size,
                    Out.Store.row(B, H, 0));
  }
  for (int64_t B = 0; B < New.Batch; ++B)
    for (int64_t H = 0; H < New.Heads; ++H)
      for (int64_t R = 0; R < New.Rows; ++R) {
        int64_t At = Begin[static_cast<size_t>(B)] + R;
        if (At < 0 || At >= Rows)
          continue;
        for (int64_t I = 0; I < New.Size; ++I) {
          double V = New.row(B, H, R)[I];
          if (!Code.Scales.empty())
            V = std::clamp(std::nearbyint(V / Code.scale(H, I, New.Size)),
                           -128.0, 127.0);
          Out.Store.row(B, H, At)[I] = V;
        }
      }
  Out.Read = Out.Store;
  if (!Code.Scales.empty())
    for (int64_t B = 0; B < New.Batch; ++B)
      for (int64_t H = 0; H < New.Heads; ++H)
        for (int64_t R = 0; R < Rows; ++R)
          for (int64_t I = 0; I < New.Size; ++I)
            Out.Read.row(B, H, R)[I] *= Code.scale(H, I, New.Size);
  return Out;
}

/// Bias of [B or 1, N or 1, S, T].
struct ScoreBias {
  std::vector<double> Data;
  Dims Shape;

  double at(int64_t B, int64_t H, int64_t S, int64_t T) const {
    if (Data.empty())
      return 0;
    int64_t Bx = Shape[0] == 1 ? 0 : B, Hx = Shape[1] == 1 ? 0 : H;
    return Data[static_cast<size_t>(
        ((Bx * Shape[1] + Hx) * Shape[2] + S) * Shape[3] + T)];
  }
};

Result<ScoreBias> scoreBias(const Tensor &T, int64_t B, int64_t N, int64_t S,
                            int64_t Keys) {
  ScoreBias Out;
  if (!T.present())
    return Out;
  if (T.rank() != 4 || (T.Shape[0] != 1 && T.Shape[0] != B) ||
      (T.Shape[1] != 1 && T.Shape[1] != N) || T.Shape[2] != S ||
      T.Shape[3] < Keys)
    return malformedError("attention: attention_bias is " + describe(T) +
                          " for " + std::to_string(S) + " queries and " +
                          std::to_string(Keys) + " keys");
  Out.Data = load<double>(T);
  Out.Shape = T.Shape;
  return Out;
}

/// Scale, soft cap and sinks from attributes and operand `Sink`.
Result<Attend> settings(const OpCall &C, const Tensor &Sink, int64_t Heads) {
  Attend How;
  How.Scale = C.floatAttr("scale", 0);
  How.Softcap = C.floatAttr("softcap", 0);
  How.HasSink = Sink.present() || C.attr("smooth_softmax", -1) == 1;
  if (!Sink.present())
    return How;
  How.Sinks = load<double>(Sink);
  if (static_cast<int64_t>(How.Sinks.size()) != Heads)
    return malformedError("attention: head_sink is " + describe(Sink) +
                          ", expected " + std::to_string(Heads) + " elements");
  return How;
}

/// Rows of the past of each batch. A prompt (as many new tokens as there are
/// in total) starts at 0 whatever the past holds.
Result<std::vector<int64_t>> pastRows(const OpCall &C, const Tensor &Lengths,
                                      int64_t Batch, int64_t New,
                                      int64_t Total) {
  if (Lengths.count() != Batch || !isInteger(Lengths.Type))
    return malformedError("attention: seqlens_k is " + describe(Lengths) +
                          ", expected " + std::to_string(Batch) + " elements");
  std::vector<int64_t> Out;
  for (int64_t B = 0; B < Batch; ++B) {
    int64_t Past = New == Total ? 0 : intAt(Lengths, B) + 1 - New;
    if (Past < 0 || Past + New > Total)
      return malformedError("attention: seqlens_k has " +
                            std::to_string(intAt(Lengths, B)) + " for " +
                            std::to_string(New) + " of " +
                            std::to_string(Total) + " tokens");
    Out.push_back(Past);
  }
  (void)C;
  return Out;
}

Outputs groupQueryAttention(const OpCall &C) {
  if (C.attr("sliding_window_cache", 0) != 0)
    return unsupportedError("evaluation: sliding_window_cache");
  LLMC_ASSIGN_OR_RETURN(Heads N, headsOf(C));
  LLMC_ASSIGN_OR_RETURN(QueryKeyValue X,
                        projections(C, C.in(0), C.in(1), C.in(2), N));
  LLMC_ASSIGN_OR_RETURN(int64_t Total, C.scalar(6, 0));
  int64_t Batch = X.Q.Batch, New = X.Q.Rows;
  LLMC_ASSIGN_OR_RETURN(std::vector<int64_t> Past,
                        pastRows(C, C.in(5), Batch, New, Total));
  double Epsilon = C.floatAttr("qk_norm_epsilon", 1e-6f);
  LLMC_RETURN_IF_ERROR(
      normHeads(X.Q, C.in(14), C.floatAttr("q_norm_epsilon", Epsilon)));
  LLMC_RETURN_IF_ERROR(
      normHeads(X.K, C.in(15), C.floatAttr("k_norm_epsilon", Epsilon)));
  if (C.attr("do_rotary", 0)) {
    const Tensor &Given = C.in(9);
    if (Given.present() && Given.count() != Batch * New)
      return malformedError("attention: position_ids are " + describe(Given));
    const auto Position = [&](int64_t B, int64_t R) {
      return Given.present() ? intAt(Given, B * New + R)
                             : Past[static_cast<size_t>(B)] + R;
    };
    bool Pairs = C.attr("rotary_interleaved", 0) != 0;
    for (HeadTensor *H : {&X.Q, &X.K})
      LLMC_RETURN_IF_ERROR(rotateHeads(*H, C.in(7), C.in(8), Position, Pairs));
  }
  int64_t Rows = Total;
  if (C.in(3).present() && C.in(3).rank() == 4)
    Rows = std::max(Rows, C.in(3).Shape[2]);
  LLMC_ASSIGN_OR_RETURN(CacheCoding KeyCode,
                        coding(C, C.in(3), C.in(12),
                               C.text("k_quant_type", "NONE"), C.in(0).Type,
                               N.Key, X.K.Size));
  LLMC_ASSIGN_OR_RETURN(CacheCoding ValueCode,
                        coding(C, C.in(4), C.in(13),
                               C.text("v_quant_type", "NONE"), C.in(0).Type,
                               N.Key, X.V.Size));
  LLMC_ASSIGN_OR_RETURN(CacheRows K,
                        appendRows(C, C.in(3), X.K, Past, Rows, KeyCode));
  LLMC_ASSIGN_OR_RETURN(CacheRows V,
                        appendRows(C, C.in(4), X.V, Past, Rows, ValueCode));
  LLMC_ASSIGN_OR_RETURN(Attend How, settings(C, C.in(11), N.Query));
  LLMC_ASSIGN_OR_RETURN(ScoreBias Bias,
                        scoreBias(C.in(10), Batch, N.Query, New, Total));
  int64_t Window = C.attr("local_window_size", -1);
  bool Causal = C.attr("causal", 1) != 0;
  How.KeyRows.assign(static_cast<size_t>(Batch), Total);
  How.Bias = [&](int64_t B, int64_t H, int64_t S, int64_t T) {
    int64_t P = Past[static_cast<size_t>(B)] + S;
    if ((Causal && T > P) || (Window > 0 && T <= P - Window))
      return Hidden;
    return Bias.at(B, H, S, T);
  };
  LLMC_ASSIGN_OR_RETURN(
      Tensor Out, attend(C.Limit, How, X.Q, K.Read, V.Read, C.in(0).Type));
  LLMC_ASSIGN_OR_RETURN(Tensor PresentK,
                        toTensor(C.Limit, K.Store, KeyCode.Type));
  LLMC_ASSIGN_OR_RETURN(Tensor PresentV,
                        toTensor(C.Limit, V.Store, ValueCode.Type));
  return std::vector<Tensor>{std::move(Out), std::move(PresentK),
                             std::move(PresentV), Tensor()};
}

//===----------------------------------------------------------------------===//
// PagedAttention
//===----------------------------------------------------------------------===//

/// Where position `P` of a row lies in a cache of blocks.
Result<int64_t> slotOf(const Tensor &Table, int64_t Row, int64_t P,
                       int64_t BlockSize, int64_t Blocks) {
  int64_t Columns = Table.Shape[1], Column = P / BlockSize;
  int64_t Block =
      Column < Columns ? intAt(Table, Row * Columns + Column) : int64_t(-1);
  if (Block < 0 || Block >= Blocks)
    return malformedError("attention: position " + std::to_string(P) +
                          " has no block of " + std::to_string(Blocks));
  return Block * BlockSize + P % BlockSize;
}

/// Row and position of every token; row -1: of none.
struct TokenPlaces {
  std::vector<int64_t> Row, Position;

  int64_t row(int64_t T) const { return Row[static_cast<size_t>(T)]; }
  int64_t position(int64_t T) const { return Position[static_cast<size_t>(T)]; }
};

Result<TokenPlaces> placesOf(const Tensor &First, const Tensor &Past,
                             int64_t Tokens) {
  TokenPlaces Out;
  Out.Row.assign(static_cast<size_t>(Tokens), -1);
  Out.Position.assign(static_cast<size_t>(Tokens), 0);
  for (int64_t R = 0; R < Past.count(); ++R)
    for (int64_t T = intAt(First, R); T < intAt(First, R + 1); ++T) {
      if (T < 0 || T >= Tokens)
        return malformedError("attention: token " + std::to_string(T) + " of " +
                              std::to_string(Tokens));
      Out.Row[static_cast<size_t>(T)] = R;
      Out.Position[static_cast<size_t>(T)] =
          intAt(Past, R) + T - intAt(First, R);
    }
  return Out;
}

/// The caches of all rows and how to find a position in them.
struct PagedCache {
  const Tensor &Table;
  int64_t Blocks, BlockSize, Heads, Size;
  std::vector<double> K, V;

  Result<int64_t> slot(int64_t Row, int64_t P) const {
    return slotOf(Table, Row, P, BlockSize, Blocks);
  }
  double *key(int64_t Slot, int64_t H) {
    return K.data() + (Slot * Heads + H) * Size;
  }
  double *value(int64_t Slot, int64_t H) {
    return V.data() + (Slot * Heads + H) * Size;
  }

  /// Keys and values of the new tokens.
  Status write(const QueryKeyValue &X, const TokenPlaces &At) {
    for (int64_t T = 0; T < X.K.Rows; ++T) {
      if (At.row(T) < 0)
        continue;
      LLMC_ASSIGN_OR_RETURN(int64_t Slot, slot(At.row(T), At.position(T)));
      for (int64_t H = 0; H < Heads; ++H) {
        std::copy_n(X.K.row(0, H, T), Size, key(Slot, H));
        std::copy_n(X.V.row(0, H, T), Size, value(Slot, H));
      }
    }
    return Status::success();
  }

  /// Keys and values of positions 0 to `Rows` of a row.
  Status read(int64_t Row, HeadTensor &Keys, HeadTensor &Values) {
    for (int64_t J = 0; J < Keys.Rows; ++J) {
      LLMC_ASSIGN_OR_RETURN(int64_t Slot, slot(Row, J));
      for (int64_t H = 0; H < Heads; ++H) {
        std::copy_n(key(Slot, H), Size, Keys.row(0, H, J));
        std::copy_n(value(Slot, H), Size, Values.row(0, H, J));
      }
    }
    return Status::success();
  }
};

/// One token against all positions up to its own: [N * size].
Result<Tensor> attendToken(const OpCall &C, Attend &How, const HeadTensor &All,
                           int64_t T, const TokenPlaces &At,
                           PagedCache &Cache) {
  int64_t P = At.position(T), Window = C.attr("local_window_size", -1);
  LLMC_ASSIGN_OR_RETURN(HeadTensor Q,
                        makeHeads(C.Limit, 1, All.Heads, 1, All.Size));
  LLMC_ASSIGN_OR_RETURN(HeadTensor K,
                        makeHeads(C.Limit, 1, Cache.Heads, P + 1, Cache.Size));
  LLMC_ASSIGN_OR_RETURN(HeadTensor V,
                        makeHeads(C.Limit, 1, Cache.Heads, P + 1, Cache.Size));
  for (int64_t H = 0; H < All.Heads; ++H)
    std::copy_n(All.row(0, H, T), All.Size, Q.row(0, H, 0));
  LLMC_RETURN_IF_ERROR(Cache.read(At.row(T), K, V));
  How.Bias = [=](int64_t, int64_t, int64_t, int64_t J) {
    return Window > 0 && J <= P - Window ? Hidden : 0.0;
  };
  return attend(C.Limit, How, Q, K, V, DType::F64);
}

/// What the evaluation relies on.
Status checkPaged(const OpCall &C, const QueryKeyValue &X) {
  const Tensor &Keys = C.in(3), &First = C.in(5), &Past = C.in(6),
               &Table = C.in(7);
  if (Keys.rank() != 4 || C.in(4).Shape != Keys.Shape || Table.rank() != 2 ||
      Keys.Shape[1] < 1 || Keys.Shape[2] != X.K.Heads ||
      Keys.Shape[3] != X.K.Size || X.V.Size != X.K.Size ||
      First.count() != Past.count() + 1 || Table.Shape[0] != Past.count())
    return malformedError("attention: key_cache is " + describe(Keys) +
                          ", block_table " + describe(Table));
  return Status::success();
}

Outputs pagedAttention(const OpCall &C) {
  if (C.text("kv_cache_layout", "SEPARATE") != "SEPARATE" ||
      C.text("k_quant_type", "NONE") != "NONE" ||
      C.text("v_quant_type", "NONE") != "NONE" || C.in(10).present())
    return unsupportedError("evaluation: this form of PagedAttention");
  LLMC_ASSIGN_OR_RETURN(Heads N, headsOf(C));
  // One batch of all tokens: [1, tokens, columns].
  const auto Batched = [](Tensor T) {
    if (T.present())
      T.Shape.insert(T.Shape.begin(), 1);
    return T;
  };
  LLMC_ASSIGN_OR_RETURN(
      QueryKeyValue X,
      projections(C, Batched(C.in(0)), Batched(C.in(1)), Batched(C.in(2)), N));
  LLMC_RETURN_IF_ERROR(checkPaged(C, X));
  double Epsilon = C.floatAttr("qk_norm_epsilon", 1e-6f);
  LLMC_RETURN_IF_ERROR(normHeads(X.Q, C.in(12), Epsilon));
  LLMC_RETURN_IF_ERROR(normHeads(X.K, C.in(13), Epsilon));
  LLMC_ASSIGN_OR_RETURN(TokenPlaces At, placesOf(C.in(5), C.in(6), X.Q.Rows));
  if (C.attr("do_rotary", 0))
    for (HeadTensor *H : {&X.Q, &X.K})
      LLMC_RETURN_IF_ERROR(rotateHeads(
          *H, C.in(8), C.in(9),
          [&](int64_t, int64_t T) { return At.position(T); },
          C.attr("rotary_interleaved", 0) != 0));
  Tensor Keys = C.in(3), Values = C.in(4);
  PagedCache Cache{C.in(7),  Keys.Shape[0],      Keys.Shape[1],       N.Key,
                   X.K.Size, load<double>(Keys), load<double>(Values)};
  LLMC_RETURN_IF_ERROR(Cache.write(X, At));
  LLMC_ASSIGN_OR_RETURN(Attend How, settings(C, C.in(11), N.Query));
  int64_t Columns = N.Query * X.V.Size;
  LLMC_ASSIGN_OR_RETURN(Tensor Out,
                        C.Limit.allocate(C.in(0).Type, {X.Q.Rows, Columns}));
  std::vector<double> Sums(static_cast<size_t>(Out.count()), 0);
  for (int64_t T = 0; T < X.Q.Rows; ++T) {
    if (At.row(T) < 0)
      continue;
    LLMC_ASSIGN_OR_RETURN(Tensor One, attendToken(C, How, X.Q, T, At, Cache));
    std::copy_n(One.data<double>(), Columns, Sums.data() + T * Columns);
  }
  store(Out, Sums);
  store(Keys, Cache.K);
  store(Values, Cache.V);
  return std::vector<Tensor>{std::move(Out), std::move(Keys),
                             std::move(Values)};
}

//===----------------------------------------------------------------------===//
// SparseAttention
//===----------------------------------------------------------------------===//

/// Blocks of keys that blocks of queries see: compressed rows per layout.
struct BlockLayout {
  const Tensor &Rows, &Columns;
  int64_t BlockSize;

  bool sees(int64_t Head, int64_t Query, int64_t Key) const {
    int64_t Layout = Head % Rows.Shape[0], Block = Query / BlockSize;
    if (Block + 1 >= Rows.Shape[1])
      return false;
    int64_t First = intAt(Rows, Layout * Rows.Shape[1] + Block),
            Last = intAt(Rows, Layout * Rows.Shape[1] + Block + 1);
    for (int64_t I = std::max<int64_t>(First, 0);
         I < std::min(Last, Columns.Shape[1]); ++I)
      if (intAt(Columns, Layout * Columns.Shape[1] + I) == Key / BlockSize)
        return true;
    return false;
  }
};

Outputs sparseAttention(const OpCall &C) {
  LLMC_ASSIGN_OR_RETURN(Heads N, headsOf(C));
  LLMC_ASSIGN_OR_RETURN(QueryKeyValue X,
                        projections(C, C.in(0), C.in(1), C.in(2), N));
  LLMC_ASSIGN_OR_RETURN(int64_t Total, C.scalar(7, 0));
  BlockLayout Layout{C.in(5), C.in(6), C.attr("sparse_block_size", 0)};
  if (Layout.Rows.rank() != 2 || Layout.Columns.rank() != 2 ||
      Layout.Rows.Shape[0] < 1 ||
      Layout.Columns.Shape[0] != Layout.Rows.Shape[0] || Layout.BlockSize < 1)
    return malformedError("attention: block_row_indices are " +
                          describe(Layout.Rows) + ", block_col_indices " +
                          describe(Layout.Columns));
  int64_t Batch = X.Q.Batch, New = X.Q.Rows;
  // Lengths here count all keys, those of GroupQueryAttention one less.
  LLMC_ASSIGN_OR_RETURN(Tensor Lengths,
                        binary(C.Limit, Binary::Sub, C.in(8),
                               Tensor::ofInts(C.in(8).Type, {}, {1})));
  LLMC_ASSIGN_OR_RETURN(std::vector<int64_t> Past,
                        pastRows(C, Lengths, Batch, New, Total));
  if (C.attr("do_rotary", 0))
    for (HeadTensor *H : {&X.Q, &X.K})
      LLMC_RETURN_IF_ERROR(rotateHeads(
          *H, C.in(9), C.in(10),
          [&](int64_t B, int64_t R) {
            return Past[static_cast<size_t>(B)] + R;
          },
          C.attr("rotary_interleaved", 0) != 0));
  int64_t Rows =
      C.in(3).rank() == 4 ? std::max(Total, C.in(3).Shape[2]) : Total;
  CacheCoding Plain;
  Plain.Type = C.in(0).Type;
  LLMC_ASSIGN_OR_RETURN(CacheRows K,
                        appendRows(C, C.in(3), X.K, Past, Rows, Plain));
  LLMC_ASSIGN_OR_RETURN(CacheRows V,
                        appendRows(C, C.in(4), X.V, Past, Rows, Plain));
  Attend How;
  How.Scale = C.floatAttr("scale", 0);
  How.KeyRows.assign(static_cast<size_t>(Batch), Total);
  How.Bias = [&](int64_t B, int64_t H, int64_t S, int64_t T) {
    int64_t P = Past[static_cast<size_t>(B)] + S;
    return T <= P && Layout.sees(H, P, T) ? 0.0 : Hidden;
  };
  LLMC_ASSIGN_OR_RETURN(
      Tensor Out, attend(C.Limit, How, X.Q, K.Read, V.Read, C.in(0).Type));
  LLMC_ASSIGN_OR_RETURN(Tensor PresentK,
                        toTensor(C.Limit, K.Store, Plain.Type));
  LLMC_ASSIGN_OR_RETURN(Tensor PresentV,
                        toTensor(C.Limit, V.Store, Plain.Type));
  return std::vector<Tensor>{std::move(Out), std::move(PresentK),
                             std::move(PresentV)};
}
} // namespace

void addMsGrouped(HandlerMap &Map) {
  Map["onnx.ms_sparse_attention"] = sparseAttention;
  Map["onnx.ms_group_query_attention"] = groupQueryAttention;
  Map["onnx.ms_paged_attention"] = pagedAttention;
}

} // namespace llmc::eval
