// $ref, $id and $anchor: which place of the document a reference names.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_REFERENCES_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_REFERENCES_H

#include "runtime/text/constraint/schema/Document.h"

#include <map>

namespace llmc::constraint {

class References {
public:
  explicit References(const JsonValue &Root);

  /// What Ref, written at From, stands for. Malformed when there is nothing,
  /// Unsupported when it is in another document.
  Result<const JsonValue *> resolve(const JsonValue &From,
                                    const std::string &Ref) const;

private:
  void visit(const JsonValue &V, const std::string &Base);

  const JsonValue &Root;
  std::map<std::string, const JsonValue *> Resources; ///< by address
  std::map<std::string, const JsonValue *> Anchors;   ///< address#name
  std::map<const JsonValue *, std::string> Bases;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_REFERENCES_H
