// Tokenizer files write regular expressions for Oniguruma; we match with
// PCRE2. Most of the two languages is the same. This rewrites what is not:
// nested and intersected character classes, \h, \w, \b, \v, property names,
// (?m) for "dot matches newline", intervals followed by another quantifier.
#ifndef LLMC_RUNTIME_TEXT_REGEXTRANSLATE_H
#define LLMC_RUNTIME_TEXT_REGEXTRANSLATE_H

#include "runtime/base/Status.h"

#include <string>
#include <string_view>

namespace llmc {

/// The pattern for PCRE2 (UTF, UCP, MULTILINE). Malformed for classes that do
/// not end, Unsupported with the construct's name for what PCRE2 cannot do.
Result<std::string> translateRegex(std::string_view Pattern);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_REGEXTRANSLATE_H
