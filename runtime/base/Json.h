// Writing JSON: escaping and numbers, and a small writer that keeps commas and
// nesting right. (Reading is done with a library, inside .cpp files.)
#ifndef LLMC_RUNTIME_BASE_JSON_H
#define LLMC_RUNTIME_BASE_JSON_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace llmc {

/// Appends Text as a JSON string with its quotes. Bytes that are no valid
/// UTF-8 become U+FFFD, so that the output is always valid JSON.
void appendJsonString(std::string &Out, std::string_view Text);
/// The shortest text that reads back as V; null for NaN and infinities.
std::string jsonNumber(double V);

/// Builds one JSON document: open/close calls nest, key() comes before each
/// member of an object, commas are added as needed.
class JsonWriter {
public:
  JsonWriter &beginObject() { return open('{'); }
  JsonWriter &endObject() { return close('}'); }
  JsonWriter &beginArray() { return open('['); }
  JsonWriter &endArray() { return close(']'); }
  JsonWriter &key(std::string_view K);
  JsonWriter &value(std::string_view S);
  JsonWriter &value(const char *S) { return value(std::string_view(S)); }
  JsonWriter &value(double V);
  JsonWriter &value(bool V);
  JsonWriter &value(uint64_t V);
  JsonWriter &value(int64_t V);
  JsonWriter &value(uint32_t V) { return value(uint64_t{V}); }
  JsonWriter &value(int32_t V) { return value(int64_t{V}); }
  JsonWriter &null();
  /// JSON text as it is; the caller vouches for it.
  JsonWriter &raw(std::string_view Json);
  template <typename T> JsonWriter &member(std::string_view K, const T &V) {
    return key(K).value(V);
  }
  template <typename Range>
  JsonWriter &list(std::string_view K, const Range &Values) {
    key(K).beginArray();
    for (const auto &V : Values)
      value(V);
    return endArray();
  }

  const std::string &text() const { return Out; }

private:
  JsonWriter &open(char C);
  JsonWriter &close(char C);
  void separate();

  std::string Out;
  bool NeedComma = false;
};

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_JSON_H
