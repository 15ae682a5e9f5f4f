// The filters, tests and methods that templates may use.
#ifndef LLMC_RUNTIME_TEXT_JINJA_LIBRARY_H
#define LLMC_RUNTIME_TEXT_JINJA_LIBRARY_H

#include "runtime/text/jinja/Context.h"

namespace llmc::jinja {

bool hasFilter(std::string_view Name);
Value applyFilter(Context &C, const std::string &Name, const Value &In,
                  const Arguments &A);

bool hasTest(std::string_view Name);
bool applyTest(Context &C, const std::string &Name, const Value &In,
               const Arguments &A);

/// Whether a value of this kind has a harmless method of that name, or one
/// that would change it (which templates may not do).
enum class MethodKind : uint8_t { None, Harmless, Changes };
MethodKind methodOf(const Value &Self, std::string_view Name);
Value callMethod(Context &C, const Value &Self, const std::string &Name,
                 const Arguments &A);

/// The rare methods of texts. A null: whether the name can be one.
bool isMoreMethod(std::string_view Name, const Arguments *A);
Value moreMethod(Context &C, const std::string &S, const std::string &Name,
                 const Arguments &A);

/// Text helpers shared by filters and methods.
std::string upperCase(std::string_view S);
std::string lowerCase(std::string_view S);
/// Python's str.title: each run of letters.
std::string titleCase(std::string_view S);
/// The filter title: what stands between spaces, hyphens and open brackets.
std::string titleWords(std::string_view S);
/// The first character large, the rest small.
std::string capitalized(std::string_view S);
enum class Side : uint8_t { Both, Left, Right };
/// Strips Characters (whitespace when null) from the ends.
std::string strip(std::string_view S, const std::string *Characters, Side At);
/// Count < 0: all.
Value replaceText(Context &C, const std::string &S, const std::string &Old,
                  const std::string &New, int64_t Count);
Value joinTexts(Context &C, const Value::Items &Items,
                const std::string &Separator);
/// '%s of %d' with values; '{} of {n}' with arguments.
Value formatPercent(Context &C, const std::string &Format,
                    const Value::Items &Values);
Value formatBraces(Context &C, const std::string &Format, const Arguments &A);
/// JSON with Python's spacing.
struct JsonStyle {
  int Indent = -1; ///< -1: one line
  std::string Comma = ", ", Colon = ": ";
  bool SortKeys = false, Ascii = false;
};
Value toJson(Context &C, const Value &V, const JsonStyle &Style);
/// Position for a slice or -1 based index: clamps as Python does.
Value sliceOf(Context &C, const Value &V, const Value *Begin, const Value *End,
              const Value *Step);

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_LIBRARY_H
