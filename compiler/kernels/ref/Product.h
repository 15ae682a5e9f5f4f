// Norm, activation quantisation and the product of one row with one packed
// output row, as the contract defines them ("Numerics").
#ifndef LLMC_COMPILER_KERNELS_REF_PRODUCT_H
#define LLMC_COMPILER_KERNELS_REF_PRODUCT_H

#include "compiler/kernels/ref/Math.h"
#include "runtime/device/StepAbi.h"

#include <vector>

namespace llmc::kernels::ref {

float fromHalf(uint16_t H);
uint16_t toHalf(float F);

/// The normed row; gain and bias may be null.
std::vector<float> normRow(const float *X, int64_t K, int64_t Norm,
                           const float *Gain, const float *Bias, float Eps);

/// A row as a product sees it: exact, or blocks of 32 in one or two planes.
struct QuantRow {
  std::vector<float> Exact;
  std::vector<int32_t> Hi, Lo; ///< Lo is empty for prompt rows
  std::vector<float> Scales;
};
QuantRow quantiseRow(std::vector<float> X, int64_t Policy, bool Generated);

/// Output N of the packed matrix W for that row, without bias.
float product(const QuantRow &X, const uint8_t *W, int64_t K, int64_t N,
              int64_t WType);

/// A code of a packed matrix and what belongs to it; Value is the code as a
/// number, by table or float format.
struct CodeElement {
  int32_t Code;
  float Value, Scale, Zero;
  bool HasMinimum; ///< instead of a zero point
  float Minimum;
};
CodeElement codeElement(const uint8_t *W, int64_t K, int64_t Row, int64_t Col,
                        int64_t WType);

/// Element (row, col) of a packed matrix.
float packedValue(const uint8_t *W, int64_t K, int64_t Row, int64_t Col,
                  int64_t WType);

/// Whether row R of the domain is a prompt row.
bool isPrompt(const LlmcCtx *C, int64_t Domain, int64_t R);

} // namespace llmc::kernels::ref

#endif // LLMC_COMPILER_KERNELS_REF_PRODUCT_H
