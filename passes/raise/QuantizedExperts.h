// The weights of all experts of a QMoE, in whatever form its quant_type says,
// as values.
#ifndef LLMC_PASSES_RAISE_QUANTIZEDEXPERTS_H
#define LLMC_PASSES_RAISE_QUANTIZEDEXPERTS_H

#include "passes/raise/QuantizedMaker.h"

#include <string>

namespace llmc::raise {

/// Makes the weights of Q values [E, rows, columns], without codes: Q keeps its
/// place. Returns why not, or an empty text.
std::string dequantiseExperts(onnx::MsQMoEOp Q, QuantizedMaker &Maker);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_QUANTIZEDEXPERTS_H
