// rowwise: a program of compiler/kernels/RowCode.h on each row. Grid: a block
// per token row.
//
// The block goes through the records together, one barrier per record: every
// record reads what the ones before wrote. Elementwise records are spread over
// the threads; sums and choices along an axis take a warp per axis, its values
// strided over the lanes and brought together by a butterfly; what must happen
// in order (running sums, scattered values) is one thread's. A row's bits
// depend on the row and the program alone. Sizes are arguments, not constants,
// so that all programs of a model are one kernel.
namespace llmc {

enum : int { RowThreads = 128, RowRecord = 32, RowInput = 3, RowInputs = 8 };

/// The record that is worked on (two, since the next is fetched while slow
/// threads still work on the last) and where its memories begin.
struct RowShared {
  int Step[2][RowRecord];
  float *Base[RowInput + RowInputs];
};

struct RowOperand {
  float *At;
  int Stride[4];

  __device__ __forceinline__ float *place(const int (&I)[4]) const {
    return At + I[0] * Stride[0] + I[1] * Stride[1] + I[2] * Stride[2] +
           I[3] * Stride[3];
  }
};

/// A record in registers.
struct RowStep {
  int Op;
  RowOperand D, A, B, C;
  int Dim[4];
  int Extra[2];

  __device__ __forceinline__ int axes() const {
    return Dim[0] * Dim[1] * Dim[2];
  }
  /// Loop counters of axis number N.
  __device__ __forceinline__ void axis(int N, int (&I)[4]) const {
    I[2] = N % Dim[2];
    I[1] = N / Dim[2] % Dim[1];
    I[0] = N / Dim[2] / Dim[1];
    I[3] = 0;
  }
};

__device__ __forceinline__ RowOperand rowOperand(const RowShared &Sh,
                                                 const int *Numbers) {
  RowOperand O;
  O.At = Sh.Base[Numbers[0]] + Numbers[1];
#pragma unroll
  for (int I = 0; I != 4; ++I)
    O.Stride[I] = Numbers[2 + I];
  return O;
}

__device__ __forceinline__ RowStep rowStep(const RowShared &Sh, int Index) {
  const int *N = Sh.Step[Index & 1];
  RowStep S;
  S.Op = N[0];
  S.D = rowOperand(Sh, N + 1);
  S.A = rowOperand(Sh, N + 7);
  S.B = rowOperand(Sh, N + 13);
  S.C = rowOperand(Sh, N + 19);
#pragma unroll
  for (int I = 0; I != 4; ++I)
    S.Dim[I] = N[25 + I];
  S.Extra[0] = N[29];
  S.Extra[1] = N[30];
  return S;
}

/// The element that index F chooses.
__device__ __forceinline__ int rowIndex(const RowStep &S, float F) {
  int At = F == F ? static_cast<int>(F) : 0;
  At = At < 0 ? At + S.Extra[1] : At;
  return At < 0 ? 0 : At >= S.Extra[1] ? S.Extra[1] - 1 : At;
}

/// All records of values that do not depend on each other.
__device__ __forceinline__ void rowElements(const RowStep &S) {
  int Axes = S.axes(), All = Axes * S.Dim[3];
  for (int N = threadIdx.x; N < All; N += RowThreads) {
    int I[4] = {0, 0, 0, N};
    if (Axes != 1) {
      S.axis(N / S.Dim[3], I);
      I[3] = N % S.Dim[3];
    }
    const float *From = S.A.place(I);
    if (S.Op == RowTake)
      From += rowIndex(S, *S.B.place(I)) * S.Extra[0];
    float X = *From;
    if (S.Op == RowSelect)
      X = *S.C.place(I) != 0.0f ? X : *S.B.place(I);
    else if (S.Op >= RowAdd && S.Op < RowSelect)
      X = binaryRow(S.Op, X, *S.B.place(I));
    else if (S.Op < RowAdd)
      X = unaryRow(S.Op, X);
    *S.D.place(I) = X;
  }
}

/// Two partial results of an axis as one.
__device__ __forceinline__ float rowJoin(int Op, float R, float X) {
  if (Op == RowProd)
    return R * X;
  if (Op == RowMaxOf)
    return R < X || R != R ? X : R;
  if (Op == RowMinOf)
    return R > X || R != R ? X : R;
  return R + X;
}

/// Sum, maximum, minimum, product or dot product of one axis by a warp.
__device__ __forceinline__ void rowReduce(const RowStep &S, int (&I)[4]) {
  const float *A = S.A.place(I), *B = S.B.place(I);
  float R = S.Op == RowProd                        ? 1.0f
            : S.Op == RowMaxOf || S.Op == RowMinOf ? notANumber()
                                                   : 0.0f;
  for (int N = laneOf(); N < S.Dim[3]; N += 32) {
    float X = A[N * S.A.Stride[3]];
    R = S.Op == RowDot ? fmaf(X, B[N * S.B.Stride[3]], R) : rowJoin(S.Op, R, X);
  }
#pragma unroll
  for (int Mask = 16; Mask != 0; Mask >>= 1) {
    float Other = __shfl_xor_sync(FullWarp, R, Mask);
    // The lower lane's first, so that both lanes have the same zero or NaN.
    bool Low = (laneOf() & Mask) == 0;
    R = rowJoin(S.Op, Low ? R : Other, Low ? Other : R);
  }
  if (laneOf() == 0)
    *S.D.place(I) = R;
}

/// The Extra[0] best of one axis by a warp, one after another: the best that
/// comes behind the last one found in the order of value, then index.
__device__ __forceinline__ void rowChoose(const RowStep &S, int (&I)[4]) {
  const float *A = S.A.place(I);
  float *D = S.D.place(I), *C = S.C.place(I);
  int Last = -1;
  float LastValue = 0.0f;
  for (int K = 0; K < S.Extra[0]; ++K) {
    int Best = -1;
    float BestValue = 0.0f;
    for (int N = laneOf(); N < S.Dim[3]; N += 32) {
      float V = A[N * S.A.Stride[3]];
      V = S.Extra[1] ? V : -V;
      bool Behind = Last < 0 || V < LastValue || (V == LastValue && N > Last);
      if (Behind && V == V && (Best < 0 || V > BestValue)) {
        Best = N;
        BestValue = V;
      }
    }
#pragma unroll
    for (int Mask = 16; Mask != 0; Mask >>= 1) {
      int Other = __shfl_xor_sync(FullWarp, Best, Mask);
      float Value = __shfl_xor_sync(FullWarp, BestValue, Mask);
      if (Other >= 0 && (Best < 0 || Value > BestValue ||
                         (Value == BestValue && Other < Best))) {
        Best = Other;
        BestValue = Value;
      }
    }
    if (Best >= 0) {
      LastValue = BestValue;
      Last = Best;
    }
    if (laneOf() == 0) {
      int At = Best < 0 ? 0 : Best; // nothing but NaN is left
      D[K * S.D.Stride[3]] = A[At * S.A.Stride[3]];
      C[K * S.C.Stride[3]] = static_cast<float>(At);
    }
  }
}

/// Running sums of one axis by one thread.
__device__ __forceinline__ void rowSums(const RowStep &S, int (&I)[4]) {
  const float *A = S.A.place(I);
  float *D = S.D.place(I), Sum = 0.0f;
  for (int N = 0; N < S.Dim[3]; ++N) {
    int At = S.Extra[1] ? S.Dim[3] - 1 - N : N;
    float X = A[At * S.A.Stride[3]];
    D[At * S.D.Stride[3]] = S.Extra[0] ? Sum : Sum + X;
    Sum += X;
  }
}

/// Values to places by index, in order.
__device__ __forceinline__ void rowScatter(const RowStep &S) {
  int All = S.axes() * S.Dim[3];
  for (int N = 0; N < All; ++N) {
    int I[4];
    S.axis(N / S.Dim[3], I);
    I[3] = N % S.Dim[3];
    float *To = S.D.place(I) + rowIndex(S, *S.B.place(I)) * S.Extra[0];
    float X = *S.A.place(I);
    *To = S.Op == RowPut ? X : *To + X;
  }
}

__device__ __forceinline__ void rowExecute(const RowStep &S) {
  if (S.Op <= RowSelect || S.Op == RowTake)
    return rowElements(S);
  if (S.Op > RowTake) {
    if (threadIdx.x == 0)
      rowScatter(S);
    return;
  }
  bool Alone = S.Op == RowCumSum;
  int Step = Alone ? RowThreads : RowThreads / 32;
  int I[4];
  for (int N = Alone ? threadIdx.x : warpOf(); N < S.axes(); N += Step) {
    S.axis(N, I);
    if (Alone)
      rowSums(S, I);
    else if (S.Op == RowTopK)
      rowChoose(S, I);
    else
      rowReduce(S, I);
  }
}

template <typename S>
__device__ __forceinline__ void
rowwise(const Counts *C, const float *In0, const float *In1, const float *In2,
        const float *In3, const float *In4, const float *In5, const float *In6,
        const float *In7, const float *Program, float *Out, float *Scratch,
        int Count, int ScratchN, int N, int N0, int N1, int N2, int N3, int N4,
        int N5, int N6, int N7) {
  __shared__ RowShared Sh;
  if (blockIdx.x >= C->Tokens)
    return;
  size_t Row = blockIdx.x;
  if (threadIdx.x == 0) {
    Sh.Base[0] = Scratch + Row * ScratchN;
    Sh.Base[1] = const_cast<float *>(Program) + Count * RowRecord;
    Sh.Base[2] = Out + Row * N;
    const float *In[RowInputs] = {In0, In1, In2, In3, In4, In5, In6, In7};
    int Width[RowInputs] = {N0, N1, N2, N3, N4, N5, N6, N7};
#pragma unroll
    for (int I = 0; I != RowInputs; ++I)
      Sh.Base[RowInput + I] = const_cast<float *>(In[I]) + Row * Width[I];
  }
  // The next record is on its way from memory while one is worked on.
  float Number = threadIdx.x < RowRecord ? Program[threadIdx.x] : 0.0f;
  for (int I = 0; I < Count; ++I) {
    if (threadIdx.x < RowRecord) {
      Sh.Step[I & 1][threadIdx.x] = static_cast<int>(Number);
      if (I + 1 < Count)
        Number = Program[(I + 1) * RowRecord + threadIdx.x];
    }
    __syncthreads();
    rowExecute(rowStep(Sh, I));
  }
}

} // namespace llmc
