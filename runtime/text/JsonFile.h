// Reading the small JSON files of a model's folder, for the .cpp files of this
// room. The JSON library itself stays out of the header: parseJsonAs is a
// template over its document type.
#ifndef LLMC_RUNTIME_TEXT_JSONFILE_H
#define LLMC_RUNTIME_TEXT_JSONFILE_H

#include "runtime/base/JsonDepth.h"
#include "runtime/base/Status.h"

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace llmc {

/// Text of FOLDER/Name, or of Folder itself when that is a file with the same
/// extension. Nothing when there is no such file.
Result<std::optional<std::string>> readTextFile(const std::string &Folder,
                                                const std::string &Name);

/// JSON with each \u escape of half a surrogate pair made \ufffd: Python and
/// JavaScript write such texts, no UTF-8 can hold them. Same length.
std::string withoutLoneSurrogates(std::string_view Json);

/// Input iterator that tells how far a parser came.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  const char *At = nullptr;
  const char **Farthest = nullptr;

  reference operator*() const { return *At; }
  CountingIterator &operator++() {
    ++At;
    if (At > *Farthest)
      *Farthest = At;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator Old = *this;
    ++*this;
    return Old;
  }
  bool operator==(const CountingIterator &O) const { return At == O.At; }
  bool operator!=(const CountingIterator &O) const { return At != O.At; }
};

/// Parses without exceptions; the error names What and the byte. Json is a
/// document type of the JSON library.
template <typename Json>
Result<Json> parseJsonAs(std::string_view Text, const std::string &What) {
  LLMC_RETURN_IF_ERROR(checkJsonDepth(Text, What));
  const char *Farthest = Text.data();
  CountingIterator Begin{Text.data(), &Farthest};
  CountingIterator End{Text.data() + Text.size(), &Farthest};
  Json Root = Json::parse(Begin, End, nullptr, false);
  if (Root.is_discarded())
    return malformedError(What + ": not JSON at byte " +
                          std::to_string(Farthest - Text.data()) + " of " +
                          std::to_string(Text.size()));
  return Root;
}

/// Text of a special token: member Key of an object, either the text itself or
/// an object with "content"; empty when there is none.
template <typename Json> std::string tokenText(const Json &J, const char *Key) {
  auto It = J.find(Key);
  if (It == J.end())
    return "";
  if (It->is_string())
    return It->template get<std::string>();
  if (It->is_object() && It->contains("content") &&
      (*It)["content"].is_string())
    return (*It)["content"].template get<std::string>();
  return "";
}

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_JSONFILE_H
