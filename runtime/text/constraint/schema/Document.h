// A JSON document as a schema needs it: members in order, numbers as they are
// written, and where everything stands.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_DOCUMENT_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_DOCUMENT_H

#include "runtime/base/Status.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::constraint {

struct JsonValue {
  enum Kind : uint8_t { Null, Bool, Number, String, Array, Object };
  Kind What = Null;
  bool Flag = false;
  std::string Text;               ///< of a string; a number as it is written
  std::string Pointer;            ///< JSON pointer from the root
  std::vector<std::string> Names; ///< of an object's Items
  std::vector<JsonValue> Items;

  const JsonValue *find(std::string_view Name) const {
    for (size_t I = 0; I < Names.size(); ++I)
      if (Names[I] == Name)
        return &Items[I];
    return nullptr;
  }
};

/// Malformed when it is not JSON, has a name twice in an object, or is nested
/// deeper than 200 or larger than 4 MiB.
Result<std::unique_ptr<JsonValue>> readDocument(std::string_view Text);

/// Equal as JSON Schema has it: numbers by value, objects without order.
bool equalValues(const JsonValue &A, const JsonValue &B);

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_DOCUMENT_H
