// Reading the members of a JSON object of a tokenizer file with defaults for
// absent and null, for the .cpp files of this room. The JSON library itself
// stays out of the header.
#ifndef LLMC_RUNTIME_TEXT_JSONFIELDS_H
#define LLMC_RUNTIME_TEXT_JSONFIELDS_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace llmc {

/// Remembers the first member of the wrong kind; status tells it. Where: the
/// object's name in errors. The object must outlive the fields.
template <typename Json> class Fields {
public:
  Fields(const Json &Object, std::string Where)
      : J(Object), Where(std::move(Where)) {
    if (!J.is_object())
      Error = "is no object";
  }

  /// Null: absent, or null in the file.
  const Json *get(const char *Key) const {
    if (!J.is_object())
      return nullptr;
    auto It = J.find(Key);
    return It == J.end() || It->is_null() ? nullptr : &*It;
  }
  bool flag(const char *Key, bool Default) {
    const Json *V = get(Key);
    if (V != nullptr && !V->is_boolean())
      wrong(Key, *V, "true or false");
    return V != nullptr && V->is_boolean() ? V->template get<bool>() : Default;
  }
  std::string text(const char *Key, const char *Default) {
    const Json *V = get(Key);
    if (V != nullptr && !V->is_string())
      wrong(Key, *V, "a text");
    return V != nullptr && V->is_string() ? V->template get<std::string>()
                                          : Default;
  }
  int64_t number(const char *Key, int64_t Default, int64_t Least,
                 int64_t Most) {
    const Json *V = get(Key);
    if (V == nullptr)
      return Default;
    bool Fits = V->is_number_integer();
    if (Fits && V->is_number_unsigned())
      Fits = V->template get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
    int64_t N = Fits ? V->template get<int64_t>() : 0;
    if (Fits && N >= Least && N <= Most)
      return N;
    wrong(Key, *V, std::to_string(Least) + " to " + std::to_string(Most));
    return Default;
  }
  /// A member that must be there.
  const Json *need(const char *Key, const std::string &What) {
    const Json *V = get(Key);
    if (V == nullptr && Error.empty())
      Error = "has no '" + std::string(Key) + "', expected " + What;
    return V;
  }
  /// The name of a component: the member "type".
  std::string type() { return text("type", "?"); }

  void wrong(const char *Key, const Json &V, const std::string &Expected) {
    if (!Error.empty())
      return;
    std::string Found = V.is_array()    ? "a list"
                        : V.is_object() ? "an object"
                                        : V.dump();
    if (Found.size() > 60)
      Found = "a text of " + std::to_string(Found.size()) + " bytes";
    Error = "'" + std::string(Key) + "' is " + Found + ", expected " + Expected;
  }
  Status status() const {
    if (Error.empty())
      return Status::success();
    return malformedError("tokenizer.json: " + Where + " " + Error);
  }

private:
  const Json &J;
  std::string Where, Error;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_JSONFIELDS_H
