// The filters, tests and methods that templates may use.
#ifndef LLMC_RUNTIME_TEXT_JINJA_LIBRARY_H
#define LLMC_RUNTIME_TEXT_JINJA_LIBRARY_H

#include "runtime/text/jinja/Characters.h"
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
enum class Side : uint8_t { Both, Left, Right };
/// Strips Characters (whitespace when null) from the ends.
std::string strip(std::string_view S, const std::string *Characters, Side At);
/// Count < 0: all.
Value replaceText(Context &C, const std::string &S, const std::string &Old,
                  const std::string &New, int64_t Count);
Value joinTexts(Context &C, const Value::Items &Items,
                const std::string &Separator);
/// '%s of %d' % Values (a tuple, a dict or one value).
Value formatPercent(Context &C, const Value &Format, const Value &Values);
/// '{} of {n.x:>5}'.format(...).
Value formatBraces(Context &C, const Value &Format, const Arguments &A);
/// JSON with Python's spacing.
struct JsonStyle {
  bool Lines = false; ///< one line per element
  std::string Indent; ///< per level
  std::string Comma = ", ", Colon = ": ";
  bool SortKeys = false, Ascii = false;
};
Value toJson(Context &C, const Value &V, const JsonStyle &Style);
/// HTML: & < > ' " as entities; what is HTML already stays as it is.
std::string escaped(std::string_view S);
Value escapedValue(const Value &V);

/// + - * / % ** and f (floor division), with Python's rules for numbers, texts
/// and lists; an error for other kinds and for integers beyond 64 bits.
Value arithmetic(Context &C, std::string_view Op, const Value &A,
                 const Value &B);

/// Lines of a text as str.splitlines cuts them.
std::vector<std::string> linesOf(std::string_view S, bool KeepEnds);
/// Words between white space.
std::vector<std::string> wordsOf(std::string_view S);
/// Python's int() and float() of a text; false when it is none.
bool parseInteger(std::string_view S, int Base, int64_t &Out);
bool parseReal(std::string_view S, double &Out);
/// textwrap.wrap of one paragraph.
std::vector<std::string> wrapped(std::string_view S, int64_t Width,
                                 bool BreakLong, bool BreakHyphens);
/// pprint.pformat, 80 columns wide.
std::string pretty(Context &C, const Value &V);
/// Links in a text as <a> elements.
std::string linked(std::string_view Text, int64_t Limit,
                   const std::string &Attributes,
                   const std::vector<std::string> &Schemes);

/// Position for a slice or -1 based index: clamps as Python does.
Value sliceOf(Context &C, const Value &V, const Value *Begin, const Value *End,
              const Value *Step);

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_LIBRARY_H
