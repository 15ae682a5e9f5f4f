// Dim parameters of an ONNX file as expressions of #onnx.dims.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_DIMNAMES_H
#define LLMC_COMPILER_FRONTEND_ONNX_DIMNAMES_H

#include <string>

namespace llmc {

/// "a + b" for "b+a", "?" for an empty name; characters that no symbol has
/// become underscores.
std::string dimExpression(const std::string &Param);

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_DIMNAMES_H
