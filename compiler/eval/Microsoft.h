// The com.microsoft ops of the evaluator: one file per family; this joins them.
#ifndef LLMC_COMPILER_EVAL_MICROSOFT_H
#define LLMC_COMPILER_EVAL_MICROSOFT_H

#include "compiler/eval/EvaluatorTable.h"

namespace llmc::eval {

using HandlerMap = llvm::StringMap<OpHandler>;

void addMicrosoftHandlers(HandlerMap &Map); ///< all of the following
void addMsAttention(HandlerMap &Map);       ///< MsAttention.cpp
void addMsGrouped(HandlerMap &Map);         ///< MsGrouped.cpp
void addMsRotary(HandlerMap &Map);          ///< MsRotary.cpp
void addMsWeights(HandlerMap &Map);         ///< MsWeights.cpp
void addMsExperts(HandlerMap &Map);         ///< MsExperts.cpp

/// Numbers of blockwise codes in bytes, lowest bits first: `Rows` rows of
/// `Bytes` bytes each, `Count` codes of a row.
std::vector<double> unpackCodes(const Tensor &Packed, int64_t Rows,
                                int64_t Bytes, int64_t Count, int64_t Bits);

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_MICROSOFT_H
