// Filters: what may stand behind "|". Finds them by name and checks what they
// are called with.
#include "runtime/text/jinja/FilterTable.h"

#include <algorithm>
#include <map>

namespace llmc::jinja {

namespace {

const std::map<std::string_view, const FilterEntry *> &table() {
  static const std::map<std::string_view, const FilterEntry *> Table = [] {
    std::map<std::string_view, const FilterEntry *> T;
    for (std::span<const FilterEntry> Part :
         {sequenceFilters(), numberFilters(), textFilters()})
      for (const FilterEntry &E : Part)
        T.emplace(E.Name, &E);
    return T;
  }();
  return Table;
}

/// Whether the arguments are as many and named as the filter takes.
bool fits(Context &C, const FilterEntry &F, const Arguments &A) {
  if (F.Parameters == "*")
    return true;
  std::vector<std::string_view> Names;
  for (size_t At = 0; At < F.Parameters.size();) {
    size_t End = std::min(F.Parameters.find(' ', At), F.Parameters.size());
    Names.push_back(F.Parameters.substr(At, End - At));
    At = End + 1;
  }
  if (A.Positional.size() > Names.size()) {
    C.fail("filter '" + std::string(F.Name) + "' takes at most " +
           std::to_string(Names.size()) + " argument(s), got " +
           std::to_string(A.Positional.size()));
    return false;
  }
  for (const auto &[Name, V] : A.Named) {
    size_t I = static_cast<size_t>(std::find(Names.begin(), Names.end(), Name) -
                                   Names.begin());
    if (I < Names.size() && I >= A.Positional.size())
      continue;
    C.fail("filter '" + std::string(F.Name) + "' got " +
           (I < Names.size() ? "two values for" : "an unexpected") +
           " argument '" + Name + "'");
    return false;
  }
  return true;
}

} // namespace

bool hasFilter(std::string_view Name) { return table().contains(Name); }

Value applyFilter(Context &C, const std::string &Name, const Value &In,
                  const Arguments &A) {
  if (C.failed())
    return Value();
  if (!hasFilter(Name)) // in a branch that should not have been taken
    return C.fail("no filter named '" + Name + "'");
  const FilterEntry &F = *table().at(Name);
  return fits(C, F, A) ? F.Run(C, In, A) : Value();
}

} // namespace llmc::jinja
