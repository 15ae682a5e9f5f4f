// The Unicode normal forms, as the reference library gives them.
#ifndef LLMC_RUNTIME_TEXT_UNICODEFORMS_H
#define LLMC_RUNTIME_TEXT_UNICODEFORMS_H

#include <string>
#include <string_view>

namespace llmc {

enum class NormalForm { C, D, KC, KD };

/// The form of well-formed Text; time grows with its length, whatever the
/// order of its marks.
std::string toNormalForm(std::string_view Text, NormalForm F);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_UNICODEFORMS_H
