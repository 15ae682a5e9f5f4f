// How the files of filters hand them to the one list.
#ifndef LLMC_RUNTIME_TEXT_JINJA_FILTERTABLE_H
#define LLMC_RUNTIME_TEXT_JINJA_FILTERTABLE_H

#include "runtime/text/jinja/Library.h"

#include <span>

namespace llmc::jinja {

using FilterFunction = Value (*)(Context &, const Value &, const Arguments &);

struct FilterEntry {
  std::string_view Name;
  std::string_view Parameters; ///< names in order; "*": any
  FilterFunction Run;
};

std::span<const FilterEntry> sequenceFilters();
std::span<const FilterEntry> numberFilters();
std::span<const FilterEntry> textFilters();

/// Arguments with defaults.
inline std::string textOf(const Value *V, const char *Default) {
  return V == nullptr ? Default : display(*V);
}
inline bool flagOf(const Value *V, bool Default) {
  return V == nullptr ? Default : V->truthy();
}
inline int64_t numberOf(const Value *V, int64_t Default) {
  return V != nullptr && V->isInteger() ? V->asInteger() : Default;
}

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_FILTERTABLE_H
