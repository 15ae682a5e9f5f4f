// Front end of JSON Schema.
#include "runtime/text/constraint/Compile.h"
namespace llmc::constraint {
Result<std::unique_ptr<Grammar>> compileSchema(std::string_view,
                                               const CompileOptions &) {
  return unsupportedError("schema: JSON Schema is not implemented");
}
} // namespace llmc::constraint
