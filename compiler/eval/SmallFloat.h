// Floats of 8 and 4 bits in software: the fp8 types of ONNX, the power-of-two
// scale e8m0 and fp4 (e2m1). Sources of the formats: the ONNX documents
// "Float stored in 8 bits" and "Cast", the OCP microscaling specification.
#ifndef LLMC_COMPILER_EVAL_SMALLFLOAT_H
#define LLMC_COMPILER_EVAL_SMALLFLOAT_H

#include "runtime/base/DType.h"

#include <cstdint>

namespace llmc::eval {

/// Whether T is one of the types of this file.
bool isSmallFloat(DType T);

/// The value of a code; what has more bits than the type is ignored.
double smallFloatValue(DType T, uint8_t Code);

/// How a number becomes a power of two (e8m0 only).
enum class PowerRounding { Up, Down, Nearest };

/// The nearest code, ties to even. Beyond the largest number: that number when
/// Saturate, else infinity or NaN as the type has it (fp4 always saturates).
uint8_t toSmallFloat(DType T, double Value, bool Saturate = true,
                     PowerRounding Rounding = PowerRounding::Up);

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_SMALLFLOAT_H
