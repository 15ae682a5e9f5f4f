// embed: out[t] = scale * W[ids[t]], one block per token row.
namespace llmc {

template <typename S>
__device__ __forceinline__ void embed(const Counts *C, const int *Ids,
                                      const unsigned char *__restrict__ W,
                                      float *Out) {
  using M = Matrix<S::WType, S::Vocab, S::Hidden>;
  int Row = blockIdx.x;
  if (Row >= static_cast<int>(C->Tokens))
    return;
  int Id = Ids[Row];
  for (int Begin = threadIdx.x * M::Vec; Begin < S::Hidden;
       Begin += blockDim.x * M::Vec) {
    float Weight[M::Vec];
    M::read(W, Id, Begin, Weight);
    float Factor = M::scale(W, Id, Begin);
#pragma unroll
    for (int E = 0; E != M::Vec; ++E)
      if (S::Hidden % M::Vec == 0 || Begin + E < S::Hidden)
        Out[static_cast<size_t>(Row) * S::Hidden + Begin + E] =
            Weight[E] * Factor * S::Scale();
  }
}

} // namespace llmc
