// Operations of the evaluator whose indices are data (gather, scatter) and
// makers of tensors (Range, ConstantOfShape, OneHot, NonZero, EyeLike).
#include "compiler/eval/Ops.h"

#include <algorithm>
#include <cmath>

namespace llmc::eval {

static int64_t product(const Dims &Shape, size_t Begin, size_t End) {
  return countOf(Dims(Shape.begin() + static_cast<int64_t>(Begin),
                      Shape.begin() + static_cast<int64_t>(End)));
}

static Status outOfRange(const char *Op, int64_t Index, int64_t Dim) {
  return malformedError(std::string(Op) + ": index " + std::to_string(Index) +
                        " is out of range for dim " + std::to_string(Dim));
}

/// Makes a negative index count from the end; false when out of range.
static bool wrapIndex(int64_t &Index, int64_t Dim) {
  if (Index < 0)
    Index += Dim;
  return Index >= 0 && Index < Dim;
}

Result<Tensor> gather(Budget &B, const Tensor &X, const Tensor &Indices,
                      int64_t Axis) {
  if (!isInteger(Indices.Type))
    return malformedError("gather: indices are " + describe(Indices));
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, X.rank()));
  size_t D = static_cast<size_t>(A);
  Dims Shape(X.Shape.begin(), X.Shape.begin() + A);
  Shape.insert(Shape.end(), Indices.Shape.begin(), Indices.Shape.end());
  Shape.insert(Shape.end(), X.Shape.begin() + A + 1, X.Shape.end());
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, Shape));
  std::vector<int64_t> At = load<int64_t>(Indices);
  int64_t Outer = product(X.Shape, 0, D);
  size_t Row = static_cast<size_t>(product(X.Shape, D + 1, X.Shape.size())) *
               storedBytes(X.Type);
  for (int64_t &I : At)
    if (int64_t Given = I; !wrapIndex(I, X.Shape[D]))
      return outOfRange("gather", Given, X.Shape[D]);
  uint8_t *To = Out.Bytes.data();
  for (int64_t O = 0; O < Outer && Row; ++O)
    for (int64_t I : At) {
      std::memcpy(To, &X.Bytes[static_cast<size_t>(O * X.Shape[D] + I) * Row],
                  Row);
      To += Row;
    }
  return Out;
}

/// Checks indices of Gather-/ScatterElements and returns the flat position in
/// X of each.
static Result<std::vector<int64_t>> elementPositions(const char *Op,
                                                     const Tensor &X,
                                                     const Tensor &Indices,
                                                     int64_t Axis) {
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, X.rank()));
  size_t D = static_cast<size_t>(A);
  if (Indices.rank() != X.rank() || !isInteger(Indices.Type))
    return malformedError(std::string(Op) + ": indices " + describe(Indices) +
                          " for " + describe(X));
  for (size_t I = 0; I < X.Shape.size(); ++I)
    if (I != D && Indices.Shape[I] > X.Shape[I])
      return malformedError(std::string(Op) + ": indices " + describe(Indices) +
                            " for " + describe(X));
  std::vector<int64_t> At = load<int64_t>(Indices);
  Dims Strides = stridesOf(X.Shape), Others = Strides;
  Others[D] = 0;
  int64_t Bad = 0;
  bool Ok = true;
  forEachIndex(Indices.Shape, {Others}, [&](int64_t I, const int64_t *Base) {
    int64_t &P = At[static_cast<size_t>(I)];
    if (int64_t Given = P; !wrapIndex(P, X.Shape[D])) {
      Ok = false;
      Bad = Given;
    }
    P = Base[0] + P * Strides[D];
  });
  if (!Ok)
    return outOfRange(Op, Bad, X.Shape[D]);
  return At;
}

Result<Tensor> gatherElements(Budget &B, const Tensor &X, const Tensor &Indices,
                              int64_t Axis) {
  LLMC_ASSIGN_OR_RETURN(std::vector<int64_t> At,
                        elementPositions("gather_elements", X, Indices, Axis));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, Indices.Shape));
  size_t Size = storedBytes(X.Type);
  for (size_t I = 0; I < At.size(); ++I)
    std::memcpy(&Out.Bytes[I * Size],
                &X.Bytes[static_cast<size_t>(At[I]) * Size], Size);
  return Out;
}

/// Row numbers (of rows of X behind the indexed dims) of GatherND/ScatterND.
static Result<std::vector<int64_t>> rowNumbers(const char *Op, const Tensor &X,
                                               const Tensor &Indices,
                                               int64_t BatchDims) {
  int64_t R = Indices.rank() ? Indices.Shape.back() : -1;
  if (!isInteger(Indices.Type) || R < 0 || BatchDims < 0 ||
      BatchDims >= Indices.rank() || BatchDims + R > X.rank())
    return malformedError(std::string(Op) + ": indices " + describe(Indices) +
                          " for " + describe(X));
  for (int64_t I = 0; I < BatchDims; ++I)
    if (X.Shape[static_cast<size_t>(I)] !=
        Indices.Shape[static_cast<size_t>(I)])
      return malformedError(std::string(Op) + ": batch dims differ: " +
                            describe(Indices) + ", " + describe(X));
  std::vector<int64_t> At = load<int64_t>(Indices);
  size_t Tuples =
      static_cast<size_t>(product(Indices.Shape, 0, Indices.Shape.size() - 1));
  size_t PerBatch = static_cast<size_t>(product(
      Indices.Shape, static_cast<size_t>(BatchDims), Indices.Shape.size() - 1));
  std::vector<int64_t> Rows(Tuples);
  for (size_t T = 0; T < Tuples; ++T) {
    int64_t Row = static_cast<int64_t>(T / PerBatch);
    for (int64_t I = 0; I < R; ++I) {
      int64_t Index = At[T * static_cast<size_t>(R) + static_cast<size_t>(I)];
      int64_t Dim = X.Shape[static_cast<size_t>(BatchDims + I)];
      if (int64_t Given = Index; !wrapIndex(Index, Dim))
        return outOfRange(Op, Given, Dim);
      Row = Row * Dim + Index;
    }
    Rows[T] = Row;
  }
  return Rows;
}

Result<Tensor> gatherNd(Budget &B, const Tensor &X, const Tensor &Indices,
                        int64_t BatchDims) {
  LLMC_ASSIGN_OR_RETURN(std::vector<int64_t> Rows,
                        rowNumbers("gather_nd", X, Indices, BatchDims));
  Dims Shape(Indices.Shape.begin(), Indices.Shape.end() - 1);
  size_t First = static_cast<size_t>(BatchDims + Indices.Shape.back());
  Shape.insert(Shape.end(), X.Shape.begin() + static_cast<int64_t>(First),
               X.Shape.end());
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, Shape));
  size_t Row = static_cast<size_t>(product(X.Shape, First, X.Shape.size())) *
               storedBytes(X.Type);
  for (size_t I = 0; I < Rows.size() && Row; ++I)
    std::memcpy(&Out.Bytes[I * Row],
                &X.Bytes[static_cast<size_t>(Rows[I]) * Row], Row);
  return Out;
}

template <typename Wide>
static void combineAs(Tensor &Out, const std::vector<int64_t> &At,
                      const Tensor &Updates, ScatterMode Mode) {
  std::vector<Wide> V = load<Wide>(Out), U = load<Wide>(Updates);
  for (size_t I = 0; I < At.size(); ++I) {
    Wide &E = V[static_cast<size_t>(At[I])];
    switch (Mode) {
    case ScatterMode::None:
      E = U[I];
      break;
    case ScatterMode::Add:
      E = E + U[I];
      break;
    case ScatterMode::Mul:
      E = E * U[I];
      break;
    case ScatterMode::Min:
      E = std::min(E, U[I]);
      break;
    case ScatterMode::Max:
      E = std::max(E, U[I]);
      break;
    }
  }
  store(Out, V);
}

/// Combines update i into element At[i], in order.
static void combine(Tensor &Out, const std::vector<int64_t> &At,
                    const Tensor &Updates, ScatterMode Mode) {
  if (isFloat(Out.Type))
    combineAs<double>(Out, At, Updates, Mode);
  else
    combineAs<int64_t>(Out, At, Updates, Mode);
}

Result<Tensor> scatterElements(Budget &B, const Tensor &X,
                               const Tensor &Indices, const Tensor &Updates,
                               int64_t Axis, ScatterMode Mode) {
  if (Updates.Shape != Indices.Shape || Updates.Type != X.Type)
    return malformedError("scatter_elements: updates " + describe(Updates) +
                          " for indices " + describe(Indices));
  LLMC_ASSIGN_OR_RETURN(std::vector<int64_t> At,
                        elementPositions("scatter_elements", X, Indices, Axis));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  Out.Bytes = X.Bytes;
  combine(Out, At, Updates, Mode);
  return Out;
}

Result<Tensor> scatterNd(Budget &B, const Tensor &X, const Tensor &Indices,
                         const Tensor &Updates, ScatterMode Mode) {
  LLMC_ASSIGN_OR_RETURN(std::vector<int64_t> Rows,
                        rowNumbers("scatter_nd", X, Indices, 0));
  size_t First = static_cast<size_t>(Indices.Shape.back());
  int64_t Row = product(X.Shape, First, X.Shape.size());
  Dims Expected(Indices.Shape.begin(), Indices.Shape.end() - 1);
  Expected.insert(Expected.end(), X.Shape.begin() + static_cast<int64_t>(First),
                  X.Shape.end());
  if (Updates.Type != X.Type || Updates.Shape != Expected)
    return malformedError("scatter_nd: updates " + describe(Updates) +
                          " for indices " + describe(Indices));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  Out.Bytes = X.Bytes;
  std::vector<int64_t> At;
  At.reserve(static_cast<size_t>(Updates.count()));
  for (int64_t R : Rows)
    for (int64_t I = 0; I < Row; ++I)
      At.push_back(R * Row + I);
  combine(Out, At, Updates, Mode);
  return Out;
}

Result<Tensor> tensorScatter(Budget &B, const Tensor &Past,
                             const Tensor &Update, const Tensor &WriteIndices,
                             int64_t Axis, bool Circular) {
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, Past.rank()));
  size_t D = static_cast<size_t>(A);
  Dims Expected = Update.Shape;
  if (Update.rank() == Past.rank())
    Expected[D] = Past.Shape[D];
  if (A == 0 || Expected != Past.Shape || Update.Type != Past.Type ||
      (WriteIndices.present() &&
       WriteIndices.Shape != Dims{Past.Shape.front()}))
    return malformedError("tensor_scatter: update " + describe(Update) +
                          " into " + describe(Past));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(Past.Type, Past.Shape));
  Out.Bytes = Past.Bytes;
  int64_t Max = Past.Shape[D], Length = Update.Shape[D];
  int64_t Middle = product(Past.Shape, 1, D);
  size_t Row =
      static_cast<size_t>(product(Past.Shape, D + 1, Past.Shape.size())) *
      storedBytes(Past.Type);
  for (int64_t N = 0; N < Past.Shape.front(); ++N) {
    int64_t First = WriteIndices.present() ? intAt(WriteIndices, N) : 0;
    for (int64_t M = 0; M < Middle; ++M)
      for (int64_t T = 0; T < Length && Row; ++T) {
        int64_t At = First + T;
        if (Circular && Max > 0)
          At = (At % Max + Max) % Max;
        if (At < 0 || At >= Max)
          return outOfRange("tensor_scatter", At, Max);
        int64_t Line = N * Middle + M;
        std::memcpy(&Out.Bytes[static_cast<size_t>(Line * Max + At) * Row],
                    &Update.Bytes[static_cast<size_t>(Line * Length + T) * Row],
                    Row);
      }
  }
  return Out;
}

Result<Tensor> range(Budget &B, const Tensor &Start, const Tensor &Limit,
                     const Tensor &Delta) {
  if (Start.count() != 1 || Limit.count() != 1 || Delta.count() != 1 ||
      Start.Type != Limit.Type || Start.Type != Delta.Type)
    return malformedError("range: operands " + describe(Start) + ", " +
                          describe(Limit) + ", " + describe(Delta));
  if (isFloat(Start.Type)) {
    double S = floatAt(Start, 0), L = floatAt(Limit, 0), D = floatAt(Delta, 0);
    double N = std::max(std::ceil((L - S) / D), 0.0);
    if (D == 0 || !(N < 1e15))
      return malformedError("range: delta 0 or not finite");
    LLMC_ASSIGN_OR_RETURN(Tensor Out,
                          B.allocate(Start.Type, {static_cast<int64_t>(N)}));
    std::vector<double> V(static_cast<size_t>(N));
    for (size_t I = 0; I < V.size(); ++I)
      V[I] = S + static_cast<double>(I) * D;
    store(Out, V);
    return Out;
  }
  __int128 S = intAt(Start, 0), L = intAt(Limit, 0), D = intAt(Delta, 0);
  if (D == 0)
    return malformedError("range: delta 0");
  __int128 N = D > 0 ? (L - S + D - 1) / D : (S - L - D - 1) / -D;
  N = std::clamp<__int128>(N, 0, static_cast<__int128>(1) << 50);
  LLMC_ASSIGN_OR_RETURN(Tensor Out,
                        B.allocate(Start.Type, {static_cast<int64_t>(N)}));
  std::vector<int64_t> V(static_cast<size_t>(N));
  for (size_t I = 0; I < V.size(); ++I)
    V[I] = static_cast<int64_t>(S + static_cast<__int128>(I) * D);
  store(Out, V);
  return Out;
}

Result<Tensor> constantOfShape(Budget &B, const Dims &Shape,
                               const Tensor &Value) {
  if (Value.count() != 1)
    return malformedError("constant_of_shape: value is " + describe(Value));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(Value.Type, Shape));
  size_t Size = storedBytes(Value.Type);
  for (size_t I = 0; I < Out.Bytes.size(); I += Size)
    std::memcpy(&Out.Bytes[I], Value.Bytes.data(), Size);
  return Out;
}

Result<Tensor> oneHot(Budget &B, const Tensor &Indices, int64_t Depth,
                      const Tensor &Values, int64_t Axis) {
  LLMC_ASSIGN_OR_RETURN(int64_t A, normaliseAxis(Axis, Indices.rank() + 1));
  if (Values.count() != 2 || Depth < 0)
    return malformedError("one_hot: depth " + std::to_string(Depth) +
                          ", values " + describe(Values));
  Dims Shape = Indices.Shape;
  Shape.insert(Shape.begin() + A, Depth);
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(Values.Type, Shape));
  size_t Size = storedBytes(Values.Type);
  for (size_t I = 0; I < Out.Bytes.size(); I += Size)
    std::memcpy(&Out.Bytes[I], Values.Bytes.data(), Size);
  std::vector<int64_t> At = load<int64_t>(Indices);
  int64_t Inner =
      product(Indices.Shape, static_cast<size_t>(A), Indices.Shape.size());
  for (size_t I = 0; I < At.size(); ++I) {
    if (!wrapIndex(At[I], Depth))
      continue;
    int64_t N = static_cast<int64_t>(I);
    int64_t To = (N / Inner * Depth + At[I]) * Inner + N % Inner;
    std::memcpy(&Out.Bytes[static_cast<size_t>(To) * Size], &Values.Bytes[Size],
                Size);
  }
  return Out;
}

Result<Tensor> nonZero(Budget &B, const Tensor &X) {
  std::vector<double> V = load<double>(X);
  std::vector<int64_t> Hits;
  for (size_t I = 0; I < V.size(); ++I)
    if (V[I] != 0)
      Hits.push_back(static_cast<int64_t>(I));
  Dims Strides = stridesOf(X.Shape);
  int64_t Count = static_cast<int64_t>(Hits.size());
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(DType::I64, {X.rank(), Count}));
  for (size_t D = 0; D < X.Shape.size(); ++D)
    for (size_t I = 0; I < Hits.size(); ++I)
      Out.data<int64_t>()[D * Hits.size() + I] =
          Hits[I] / Strides[D] % X.Shape[D];
  return Out;
}

Result<Tensor> eyeLike(Budget &B, const Tensor &X, DType Type, int64_t K) {
  if (X.rank() != 2)
    return malformedError("eye_like of " + describe(X));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(Type, X.Shape));
  std::vector<int64_t> V(static_cast<size_t>(Out.count()), 0);
  for (size_t I = 0; I < V.size(); ++I) {
    int64_t N = static_cast<int64_t>(I);
    V[I] = N % X.Shape[1] - N / X.Shape[1] == K;
  }
  store(Out, V);
  return Out;
}

} // namespace llmc::eval
