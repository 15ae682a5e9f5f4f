// Sets of JSON values, split by type: what a schema means. Scalars are exact
// sets, with intersection and complement; arrays and objects are unions of
// shapes whose elements are again schemas, named by Key and looked at when
// they are needed, so that recursive schemas are finite.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_VALUES_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_VALUES_H

#include "runtime/text/constraint/schema/Document.h"
#include "runtime/text/constraint/schema/Numbers.h"
#include "runtime/text/constraint/schema/Strings.h"

namespace llmc::constraint {

/// A place of the document and how it is meant.
struct Location {
  enum Mode : uint8_t {
    Schema,    ///< values that the schema at V allows
    NotSchema, ///< all others
    Const,     ///< the value V itself
    NotConst
  };
  const JsonValue *V = nullptr;
  Mode How = Schema;
  auto operator<=>(const Location &) const = default;

  Location negated() const {
    return {V, static_cast<Mode>(static_cast<uint8_t>(How) ^ 1)};
  }
};

/// All of several schemas at once; none: any value. In order, without doubles.
using Key = std::vector<Location>;
/// The schema `false`.
Key never();
bool isNever(const Key &K);
Key joined(const Key &A, const Key &B);

struct ArrayShape {
  struct Containing {
    Key What;
    uint32_t Min = 1, Max = Unbounded;
  };
  std::vector<Key> Prefix; ///< of the first elements
  Key Rest;                ///< of the others
  uint32_t Min = 0, Max = Unbounded;
  bool Unique = false;
  std::vector<Containing> Contains;

  bool any() const {
    return Prefix.empty() && Rest.empty() && Min == 0 && Max == Unbounded &&
           !Unique && Contains.empty();
  }
  const Key &element(size_t I) const {
    return I < Prefix.size() ? Prefix[I] : Rest;
  }
};

struct ObjectShape {
  struct Named {
    std::string Name;
    Key Value; ///< everything that holds of it
    bool Required = false;
  };
  /// Of all names that are not among Names: those in Content.
  struct Clause {
    TermId Content = Nothing; ///< as in StringSet
    Key Value;
  };
  std::vector<Named> Names; ///< in the order in which they are written
  std::vector<Clause> Clauses;
  uint32_t Min = 0, Max = Unbounded;

  bool any() const {
    return Names.empty() && Clauses.empty() && Min == 0 && Max == Unbounded;
  }
  Named *find(std::string_view Name) {
    for (Named &N : Names)
      if (N.Name == Name)
        return &N;
    return nullptr;
  }
};

struct ValueSet {
  bool Null = false;
  bool False = false, True = false;
  NumberSet Number;
  StringSet String;
  std::vector<ArrayShape> Arrays;
  std::vector<ObjectShape> Objects;
};

/// Set operations. Unsupported when a result cannot be written down exactly.
class ValueAlgebra {
public:
  static constexpr size_t MaxNames = 2000; ///< of an object shape

  explicit ValueAlgebra(Terms &T) : Pool(T), N(T), S(T) {}

  ValueSet all() const;
  Result<ValueSet> both(const ValueSet &A, const ValueSet &B);
  Result<ValueSet> either(const ValueSet &A, const ValueSet &B);
  Result<ValueSet> without(const ValueSet &A);
  Result<ValueSet> only(const JsonValue &V);

  Numbers &numbers() { return N; }
  Strings &strings() { return S; }
  Terms &terms() { return Pool; }
  /// Key of the values that a shape allows for a name that it does not list.
  Key valueOf(const ObjectShape &O, std::string_view Name);

private:
  bool join(const ArrayShape &A, const ArrayShape &B, ArrayShape &Out);
  bool join(const ObjectShape &A, const ObjectShape &B, ObjectShape &Out);
  Result<std::vector<ArrayShape>> without(const ArrayShape &A);
  Result<std::vector<ObjectShape>> without(const ObjectShape &A);

  Terms &Pool;
  Numbers N;
  Strings S;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_SCHEMA_VALUES_H
