// The terminals of Lark's library `common`.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_LARKCOMMON_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_LARKCOMMON_H

#include <string_view>

namespace llmc::constraint {

/// The regular expression of common.NAME; empty when there is none.
std::string_view larkCommon(std::string_view Name);

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_LARKCOMMON_H
