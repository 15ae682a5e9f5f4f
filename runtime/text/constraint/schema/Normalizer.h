// From schemas to the sets of values that they mean.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_NORMALIZER_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_NORMALIZER_H

#include "runtime/text/constraint/schema/References.h"
#include "runtime/text/constraint/schema/Values.h"

#include <set>

namespace llmc::constraint {

class Normalizer {
public:
  Normalizer(const JsonValue &Root, Terms &T) : Refs(Root), A(T) {}

  /// The values that satisfy all of a key. The pointer stays valid. Failures
  /// name the place.
  Result<const ValueSet *> valuesOf(const Key &K);
  ValueAlgebra &algebra() { return A; }
  /// Whether it is certain that no value satisfies the key.
  bool provablyEmpty(const Key &K);

private:
  Result<ValueSet> valuesOf(const Location &L);
  Result<ValueSet> schema(const JsonValue &S);

  // Keywords; each restricts In.
  Status keyword(const JsonValue &S, const std::string &Name,
                 const JsonValue &V, ValueSet &In);
  Status restrict(ValueSet &In, const ValueSet &By);
  Status types(const JsonValue &V, ValueSet &In);
  Status enumeration(const JsonValue &V, ValueSet &In);
  Status numbers(const JsonValue &S, const std::string &Name,
                 const JsonValue &V, ValueSet &In);
  Status strings(const std::string &Name, const JsonValue &V, ValueSet &In);
  Status arrays(const JsonValue &S, ValueSet &In);
  Status objects(const JsonValue &S, ValueSet &In);
  Status objectNames(const JsonValue &S, ObjectShape &O);
  Status dependencies(const JsonValue &V, ValueSet &In);
  Status combine(const JsonValue &S, const std::string &Name,
                 const JsonValue &V, ValueSet &In);
  Result<ValueSet> scalarsOfOne(const std::vector<ValueSet> &All);
  Status oneOf(const JsonValue &V, ValueSet &In);
  Status condition(const JsonValue &S, ValueSet &In);
  Result<bool> disjoint(const ValueSet &X, const ValueSet &Y);
  Result<uint32_t> count(const JsonValue &V);
  Result<Key> sub(const JsonValue &V);

  References Refs;
  ValueAlgebra A;
  std::map<Location, ValueSet> Known;
  std::map<Key, ValueSet> KnownKeys;
  std::set<Location> Open; ///< being looked at
  unsigned Probing = 0;    ///< inside provablyEmpty
  unsigned Depth = 0;
};

/// Adds where in the schema a failure is.
Status at(const JsonValue &V, const Status &S);

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_NORMALIZER_H
