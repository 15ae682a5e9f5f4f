// From sets of values to the grammar of their texts.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_EMITTER_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_EMITTER_H

#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/schema/Normalizer.h"

namespace llmc::constraint {

class Emitter {
public:
  Emitter(const JsonValue &Root, Grammar &G, const CompileOptions &O);

  /// Fills the grammar with the values of a schema and finishes it.
  Status emit(const JsonValue &Root);

private:
  struct Region {
    TermId Content;
    Key Value;
  };
  /// Term of the values of a key; arrays and objects are calls of rules,
  /// whose bodies are made later.
  Result<TermId> value(const Key &K);
  Result<TermId> scalars(const ValueSet &V, bool Once);
  Status body(uint32_t Rule, const Key &K);
  Result<TermId> array(const ArrayShape &A);
  Result<TermId> uniqueArray(const ArrayShape &A);
  Result<TermId> countingArray(const ArrayShape &A);
  Result<TermId> object(const ObjectShape &O);
  Result<std::vector<Region>> regions(const ObjectShape &O);
  Result<uint32_t> loopOf(const std::vector<Region> &Regions);
  TermId brackets(char Open, TermId In, char Close);
  Status grown();

  Grammar &G;
  Terms &T;
  Normalizer N;
  TermId Space; ///< white space, or nothing
  TermId Comma, Colon;
  std::map<Key, TermId> Values;
  std::vector<std::pair<uint32_t, Key>> Work; ///< rules without a body
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_EMITTER_H
