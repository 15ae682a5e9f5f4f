// Set operations on values, type by type.
#include "runtime/text/constraint/schema/Values.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

constexpr size_t MaxShapes = 512;

Status tooMany(const char *What, size_t Count, size_t Most) {
  return unsupportedError("the schema combines to " + std::to_string(Count) +
                          " " + What + ", at most " + std::to_string(Most));
}

const JsonValue &falseSchema() {
  static const JsonValue False = [] {
    JsonValue V;
    V.What = JsonValue::Bool;
    return V;
  }();
  return False;
}

} // namespace

Key never() { return {{&falseSchema(), Location::Schema}}; }

bool isNever(const Key &K) {
  for (const Location &L : K)
    if ((L.How == Location::Schema && L.V->What == JsonValue::Bool &&
         !L.V->Flag) ||
        (L.How == Location::NotSchema && L.V->What == JsonValue::Bool &&
         L.V->Flag))
      return true;
  return false;
}

Key joined(const Key &A, const Key &B) {
  if (isNever(A) || isNever(B))
    return never();
  Key Out = A;
  for (const Location &L : B)
    if (std::find(Out.begin(), Out.end(), L) == Out.end())
      Out.push_back(L);
  return Out;
}

ValueSet ValueAlgebra::all() const {
  ValueSet V;
  V.Null = V.False = V.True = true;
  V.Number = N.all();
  V.String = S.all();
  V.Arrays.emplace_back();
  V.Objects.emplace_back();
  return V;
}

bool ValueAlgebra::join(const ArrayShape &A, const ArrayShape &B,
                        ArrayShape &Out) {
  Out.Min = std::max(A.Min, B.Min);
  Out.Max = std::min(A.Max, B.Max);
  Out.Unique = A.Unique || B.Unique;
  Out.Rest = joined(A.Rest, B.Rest);
  for (size_t I = 0; I < std::max(A.Prefix.size(), B.Prefix.size()); ++I) {
    Out.Prefix.push_back(joined(A.element(I), B.element(I)));
    if (isNever(Out.Prefix.back()))
      Out.Max = std::min(Out.Max, static_cast<uint32_t>(I));
  }
  Out.Contains = A.Contains;
  Out.Contains.insert(Out.Contains.end(), B.Contains.begin(), B.Contains.end());
  return Out.Min <= Out.Max;
}

Key ValueAlgebra::valueOf(const ObjectShape &O, std::string_view Name) {
  Key Out;
  std::string Spelled = Strings::spelling(Name);
  for (const ObjectShape::Clause &C : O.Clauses)
    if (Pool.matches(C.Content, Spelled))
      Out = joined(Out, C.Value);
  return Out;
}

bool ValueAlgebra::join(const ObjectShape &A, const ObjectShape &B,
                        ObjectShape &Out) {
  Out = A;
  ObjectShape Other = B;
  std::unordered_map<std::string_view, const ObjectShape::Named *> InB;
  for (const ObjectShape::Named &M : Other.Names)
    InB.emplace(M.Name, &M);
  for (ObjectShape::Named &M : Out.Names) {
    auto It = InB.find(M.Name);
    if (It == InB.end()) {
      M.Value = joined(M.Value, valueOf(B, M.Name));
    } else {
      M.Value = joined(M.Value, It->second->Value);
      M.Required |= It->second->Required;
      InB.erase(It);
    }
  }
  for (ObjectShape::Named &M : Other.Names)
    if (InB.count(M.Name) != 0) {
      M.Value = joined(M.Value, valueOf(A, M.Name));
      Out.Names.push_back(M);
    }
  for (const ObjectShape::Named &M : Out.Names)
    if (M.Required && isNever(M.Value))
      return false;
  for (const ObjectShape::Clause &C : B.Clauses)
    if (std::none_of(Out.Clauses.begin(), Out.Clauses.end(),
                     [&](const ObjectShape::Clause &D) {
                       return D.Content == C.Content && D.Value == C.Value;
                     }))
      Out.Clauses.push_back(C);
  Out.Min = std::max(A.Min, B.Min);
  Out.Max = std::min(A.Max, B.Max);
  return Out.Min <= Out.Max;
}

Result<ValueSet> ValueAlgebra::both(const ValueSet &A, const ValueSet &B) {
  ValueSet Out;
  Out.Null = A.Null && B.Null;
  Out.False = A.False && B.False;
  Out.True = A.True && B.True;
  Out.Number = N.both(A.Number, B.Number);
  Out.String = S.both(A.String, B.String);
  size_t Most = std::max(A.Arrays.size() * B.Arrays.size(),
                         A.Objects.size() * B.Objects.size());
  if (Most > MaxShapes * 8)
    return tooMany("shapes", Most, MaxShapes * 8);
  for (const ArrayShape &X : A.Arrays)
    for (const ArrayShape &Y : B.Arrays)
      if (ArrayShape Z; join(X, Y, Z))
        Out.Arrays.push_back(std::move(Z));
  for (const ObjectShape &X : A.Objects)
    for (const ObjectShape &Y : B.Objects)
      if (ObjectShape Z; join(X, Y, Z)) {
        if (Z.Names.size() > MaxNames)
          return tooMany("properties", Z.Names.size(), MaxNames);
        Out.Objects.push_back(std::move(Z));
      }
  if (size_t Count = std::max(Out.Arrays.size(), Out.Objects.size());
      Count > MaxShapes)
    return tooMany("shapes", Count, MaxShapes);
  return Out;
}

Result<ValueSet> ValueAlgebra::either(const ValueSet &A, const ValueSet &B) {
  ValueSet Out = A;
  Out.Null |= B.Null;
  Out.False |= B.False;
  Out.True |= B.True;
  Out.Number = N.either(A.Number, B.Number);
  Out.String = S.either(A.String, B.String);
  // A shape that allows everything makes the others superfluous.
  auto Add = [](auto &To, const auto &From) {
    for (const auto &Shape : From) {
      if (!To.empty() && To[0].any())
        return;
      if (Shape.any())
        To.clear();
      To.push_back(Shape);
    }
  };
  Add(Out.Arrays, B.Arrays);
  Add(Out.Objects, B.Objects);
  if (size_t Count = std::max(Out.Arrays.size(), Out.Objects.size());
      Count > MaxShapes)
    return tooMany("shapes", Count, MaxShapes);
  return Out;
}

Result<std::vector<ArrayShape>> ValueAlgebra::without(const ArrayShape &A) {
  std::vector<ArrayShape> Out;
  if (A.Unique)
    return unsupportedError("the complement of uniqueItems is not supported");
  if (A.Min > 0)
    Out.emplace_back().Max = A.Min - 1;
  if (A.Max != Unbounded)
    Out.emplace_back().Min = A.Max + 1;
  for (size_t I = 0; I < A.Prefix.size(); ++I)
    for (const Location &L : A.Prefix[I]) {
      ArrayShape Bad;
      Bad.Prefix.assign(I, Key());
      Bad.Prefix.push_back({L.negated()});
      Bad.Min = static_cast<uint32_t>(I + 1);
      Out.push_back(std::move(Bad));
    }
  for (const Location &L : A.Rest) {
    if (!A.Prefix.empty())
      return unsupportedError("the complement of items behind prefixItems is "
                              "not supported");
    ArrayShape Bad;
    Bad.Contains.push_back({{L.negated()}, 1, Unbounded});
    Out.push_back(std::move(Bad));
  }
  for (const ArrayShape::Containing &C : A.Contains) {
    if (C.Min > 0) {
      ArrayShape Few;
      Few.Contains.push_back({C.What, 0, C.Min - 1});
      Out.push_back(std::move(Few));
    }
    if (C.Max != Unbounded) {
      ArrayShape Many;
      Many.Contains.push_back({C.What, C.Max + 1, Unbounded});
      Out.push_back(std::move(Many));
    }
  }
  return Out;
}

Result<std::vector<ObjectShape>> ValueAlgebra::without(const ObjectShape &A) {
  std::vector<ObjectShape> Out;
  if (!A.Clauses.empty())
    return unsupportedError(
        "the complement of additionalProperties, patternProperties and "
        "propertyNames is not supported");
  if (A.Min > 0)
    Out.emplace_back().Max = A.Min - 1;
  if (A.Max != Unbounded)
    Out.emplace_back().Min = A.Max + 1;
  for (const ObjectShape::Named &M : A.Names) {
    if (M.Required)
      Out.emplace_back().Names.push_back({M.Name, never(), false});
    for (const Location &L : M.Value)
      Out.emplace_back().Names.push_back({M.Name, {L.negated()}, true});
  }
  return Out;
}

Result<ValueSet> ValueAlgebra::without(const ValueSet &A) {
  ValueSet Out;
  Out.Null = !A.Null;
  Out.False = !A.False;
  Out.True = !A.True;
  Out.Number = N.without(A.Number);
  Out.String = S.without(A.String);
  // All shapes must fail: start from everything and cut.
  Out.Arrays.emplace_back();
  Out.Objects.emplace_back();
  ValueSet Left = Out;
  for (const ArrayShape &X : A.Arrays) {
    LLMC_ASSIGN_OR_RETURN(std::vector<ArrayShape> Bad, without(X));
    std::vector<ArrayShape> Next;
    for (const ArrayShape &Y : Left.Arrays)
      for (const ArrayShape &Z : Bad)
        if (ArrayShape J; join(Y, Z, J))
          Next.push_back(std::move(J));
    if (Next.size() > MaxShapes)
      return tooMany("shapes", Next.size(), MaxShapes);
    Left.Arrays = std::move(Next);
  }
  for (const ObjectShape &X : A.Objects) {
    LLMC_ASSIGN_OR_RETURN(std::vector<ObjectShape> Bad, without(X));
    std::vector<ObjectShape> Next;
    for (const ObjectShape &Y : Left.Objects)
      for (const ObjectShape &Z : Bad)
        if (ObjectShape J; join(Y, Z, J))
          Next.push_back(std::move(J));
    if (Next.size() > MaxShapes)
      return tooMany("shapes", Next.size(), MaxShapes);
    Left.Objects = std::move(Next);
  }
  return Left;
}

Result<ValueSet> ValueAlgebra::only(const JsonValue &V) {
  ValueSet Out;
  switch (V.What) {
  case JsonValue::Null:
    Out.Null = true;
    break;
  case JsonValue::Bool:
    (V.Flag ? Out.True : Out.False) = true;
    break;
  case JsonValue::Number: {
    LLMC_ASSIGN_OR_RETURN(Decimal D, parseDecimal(V.Text));
    Out.Number = N.only(D, V.Text);
    break;
  }
  case JsonValue::String:
    Out.String = S.only(V.Text);
    break;
  case JsonValue::Array: {
    ArrayShape A;
    for (const JsonValue &Item : V.Items)
      A.Prefix.push_back({{&Item, Location::Const}});
    A.Min = A.Max = static_cast<uint32_t>(V.Items.size());
    Out.Arrays.push_back(std::move(A));
    break;
  }
  case JsonValue::Object: {
    ObjectShape O;
    if (V.Items.size() > MaxNames)
      return tooMany("properties", V.Items.size(), MaxNames);
    for (size_t I = 0; I < V.Items.size(); ++I)
      O.Names.push_back({V.Names[I], {{&V.Items[I], Location::Const}}, true});
    O.Clauses.push_back({S.anyContent(), never()});
    Out.Objects.push_back(std::move(O));
    break;
  }
  }
  return Out;
}

} // namespace llmc::constraint
