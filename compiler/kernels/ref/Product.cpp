// Norm, quantisation and dot products of the reference kernels.
#include "compiler/kernels/ref/Product.h"

namespace llmc::kernels::ref {

namespace {
template <typename To, typename From> To bits(From F) {
  static_assert(sizeof(To) == sizeof(From));
  To T;
  std::memcpy(&T, &F, sizeof T);
  return T;
}
} // namespace

float fromHalf(uint16_t H) {
  uint32_t Sign = (H & 0x8000u) << 16, Rest = H & 0x7fffu;
  // As if the exponent had 8 bits: off by 2^112, denormals included.
  float F = bits<float>(Rest << 13) * 0x1p112f;
  if (Rest >= 0x7c00u)
    F = bits<float>(0x7f800000u | Rest << 13);
  return bits<float>(bits<uint32_t>(F) | Sign);
}

uint16_t toHalf(float F) {
  uint32_t Sign = bits<uint32_t>(F) >> 16 & 0x8000u;
  float A = std::fabs(F);
  if (!(A < 65520.0f)) // infinity and NaN, too
    return static_cast<uint16_t>(Sign | (A != A ? 0x7e00u : 0x7c00u));
  // The step of half around A is 2^(e - 10), at least 2^-24; dividing by it is
  // exact, and so is what rounding leaves.
  int E = 0;
  std::frexp(A, &E);
  int Step = E - 11 < -24 ? -24 : E - 11;
  float Rounded = std::ldexp(std::nearbyint(std::ldexp(A, -Step)), Step);
  return static_cast<uint16_t>(Sign |
                               bits<uint32_t>(Rounded * 0x1p-112f) >> 13);
}

std::vector<float> normRow(const float *X, int64_t K, int64_t Norm,
                           const float *Gain, const float *Bias, float Eps) {
  std::vector<float> Y(X, X + K);
  if (Norm == NormNone)
    return Y;
  float Mean = 0.0f;
  if (Norm == NormLayer) {
    float Lanes[16] = {};
    for (int64_t I = 0; I < K; ++I)
      Lanes[I % 16] += X[I];
    Mean = sumLanes(Lanes) / static_cast<float>(K);
  }
  float Lanes[16] = {};
  for (int64_t I = 0; I < K; ++I)
    Lanes[I % 16] = std::fmaf(X[I] - Mean, X[I] - Mean, Lanes[I % 16]);
  float Inv = 1.0f / std::sqrt(sumLanes(Lanes) / static_cast<float>(K) + Eps);
  for (int64_t I = 0; I < K; ++I) {
    float V = (X[I] - Mean) * Inv;
    if (Gain)
      V = V * Gain[I];
    if (Bias)
      V = V + Bias[I];
    Y[I] = V;
  }
  return Y;
}

namespace {
float clamp(float V, float Top) {
  return V > Top ? Top : (V < -Top ? -Top : V);
}
} // namespace

QuantRow quantiseRow(std::vector<float> X, int64_t Policy, bool Generated) {
  QuantRow Q;
  if (Policy == XF32) {
    Q.Exact = std::move(X);
    return Q;
  }
  X.resize((X.size() + 63) / 64 * 64, 0.0f);
  const float Top = Generated ? 32385.0f : 127.0f;
  for (size_t B = 0; B < X.size(); B += 32) {
    float Max = 0.0f;
    for (size_t I = B; I < B + 32; ++I)
      Max = std::fabs(X[I]) > Max ? std::fabs(X[I]) : Max;
    float Scale = Max / Top;
    Q.Scales.push_back(Scale);
    for (size_t I = B; I < B + 32; ++I) {
      float V = Scale > 0.0f ? std::nearbyintf(clamp(X[I] / Scale, Top)) : 0.0f;
      float Hi = Generated ? clamp(std::nearbyintf(V / 254.0f), 127.0f) : V;
      Q.Hi.push_back(static_cast<int32_t>(Hi));
      if (Generated)
        Q.Lo.push_back(static_cast<int32_t>(V - 254.0f * Hi));
    }
  }
  return Q;
}

float product(const QuantRow &X, const uint8_t *W, int64_t K, int64_t N,
              int64_t WType) {
  float Sum = 0.0f;
  for (size_t I = 0; I < X.Exact.size(); ++I)
    Sum = std::fmaf(packedValue(W, K, N, int64_t(I), WType), X.Exact[I], Sum);
  // Per block of 32: exact integers, then one fma, and one for the minimum.
  for (size_t B = 0; B < X.Scales.size() && int64_t(B) * 32 < K; ++B) {
    int32_t Hi = 0, Lo = 0, SumHi = 0, SumLo = 0;
    CodeElement E{};
    for (int64_t I = B * 32; I < int64_t(B) * 32 + 32; ++I) {
      if (I < K)
        E = codeElement(W, K, N, I, WType);
      int32_t Q = E.Code - static_cast<int32_t>(E.Zero);
      Hi += Q * X.Hi[I];
      SumHi += X.Hi[I];
      if (!X.Lo.empty()) {
        Lo += Q * X.Lo[I];
        SumLo += X.Lo[I];
      }
    }
    int32_t Block = X.Lo.empty() ? Hi : 254 * Hi + Lo;
    int32_t Ones = X.Lo.empty() ? SumHi : 254 * SumHi + SumLo;
    Sum = std::fmaf(static_cast<float>(Block), E.Scale * X.Scales[B], Sum);
    if (E.HasMinimum)
      Sum = std::fmaf(static_cast<float>(Ones), E.Minimum * X.Scales[B], Sum);
  }
  return Sum;
}

bool isPrompt(const LlmcCtx *C, int64_t Domain, int64_t R) {
  if (Domain == RowsR)
    R = static_cast<const int32_t *>(C->args->ptr[LLMC_ARG_LOGIT_ROWS])[R];
  return R < int64_t(C->counts->prompt_tokens);
}

} // namespace llmc::kernels::ref
