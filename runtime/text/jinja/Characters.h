// Kinds of characters as Python's str knows them.
#ifndef LLMC_RUNTIME_TEXT_JINJA_CHARACTERS_H
#define LLMC_RUNTIME_TEXT_JINJA_CHARACTERS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace llmc::jinja {

/// White space as str.split and str.strip see it.
bool isSpace(uint32_t C);
/// Ends a line for str.splitlines ("\r\n" counts once).
bool isLineEnd(uint32_t C);
/// Whether repr shows it as it is.
bool isPrintable(uint32_t C);
bool isLetter(uint32_t C);
/// \w of Python's regular expressions.
bool isWord(uint32_t C);
bool isLower(uint32_t C);
bool isUpper(uint32_t C);
bool isTitle(uint32_t C);
inline bool isCased(uint32_t C) {
  return isLower(C) || isUpper(C) || isTitle(C);
}
/// Numbers: 0-9 of all scripts; with superscripts and the like; with all that
/// has a numeric value.
bool isDecimal(uint32_t C);
bool isDigitLike(uint32_t C);
bool isNumeric(uint32_t C);

/// Appends the escape of a character: \x41, \u0041 or \U00000041, whichever
/// is the shortest that holds it.
void appendEscaped(std::string &Out, uint32_t C);

std::string upperCase(std::string_view S);
std::string lowerCase(std::string_view S);
std::string foldedCase(std::string_view S);
std::string swappedCase(std::string_view S);
/// Python's str.title: each run of cased characters.
std::string titleCase(std::string_view S);
/// The filter title: what stands between spaces, hyphens and open brackets.
std::string titleWords(std::string_view S);
/// The first character large, the rest small.
std::string capitalized(std::string_view S);

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_CHARACTERS_H
