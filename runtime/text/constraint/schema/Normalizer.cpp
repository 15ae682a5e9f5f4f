// Schemas and what combines them: references, allOf, anyOf, oneOf, not, if.
#include "runtime/text/constraint/schema/Normalizer.h"

#include "runtime/base/Quote.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

constexpr unsigned MaxDepth = 400; // of schemas within schemas at one place

/// Keywords that say nothing about which values are valid.
bool isNote(const std::string &Name) {
  static const std::set<std::string> Notes = {"title",
                                              "description",
                                              "default",
                                              "examples",
                                              "example",
                                              "$comment",
                                              "deprecated",
                                              "readOnly",
                                              "writeOnly",
                                              "$schema",
                                              "$id",
                                              "id",
                                              "$defs",
                                              "definitions",
                                              "$anchor",
                                              "$vocabulary",
                                              "contentEncoding",
                                              "contentMediaType",
                                              "contentSchema",
                                              "externalDocs",
                                              "xml",
                                              "discriminator",
                                              "markdownDescription"};
  return Notes.count(Name) != 0 || Name.starts_with("x-");
}

bool isOneOf(const std::string &Name,
             std::initializer_list<const char *> Names) {
  return std::find(Names.begin(), Names.end(), Name) != Names.end();
}

} // namespace

Status at(const JsonValue &V, const Status &S) {
  if (S.ok() || S.message().starts_with("schema"))
    return S;
  return Status(S.code(), "schema: " +
                              (V.Pointer.empty() ? std::string("the root")
                                                 : printable(V.Pointer)) +
                              ": " + S.message());
}

Result<Key> Normalizer::sub(const JsonValue &V) {
  if (V.What == JsonValue::Bool)
    return V.Flag ? Key() : never();
  if (V.What != JsonValue::Object)
    return at(V, malformedError("expected a schema, an object or a truth "
                                "value"));
  return Key{{&V, Location::Schema}};
}

Status Normalizer::restrict(ValueSet &In, const ValueSet &By) {
  LLMC_ASSIGN_OR_RETURN(In, A.both(In, By));
  return Status::success();
}

Result<const ValueSet *> Normalizer::valuesOf(const Key &K) {
  auto It = KnownKeys.find(K);
  if (It != KnownKeys.end())
    return &It->second;
  ValueSet All = A.all();
  for (const Location &L : K) {
    LLMC_ASSIGN_OR_RETURN(ValueSet V, valuesOf(L));
    Status Joined = restrict(All, V);
    if (!Joined.ok())
      return at(*L.V, Joined);
  }
  return &KnownKeys.emplace(K, std::move(All)).first->second;
}

Result<ValueSet> Normalizer::valuesOf(const Location &L) {
  auto It = Known.find(L);
  if (It != Known.end())
    return It->second;
  if (!Open.insert(L).second)
    return at(*L.V, malformedError("the reference leads back to itself"));
  if (++Depth > MaxDepth) {
    Open.erase(L);
    --Depth;
    return at(*L.V, unsupportedError("references nested deeper than " +
                                     std::to_string(MaxDepth)));
  }
  bool Negated = L.How == Location::NotSchema || L.How == Location::NotConst;
  Result<ValueSet> V = Negated                    ? valuesOf(L.negated())
                       : L.How == Location::Const ? A.only(*L.V)
                                                  : schema(*L.V);
  if (Negated && V.ok())
    V = A.without(*V);
  --Depth;
  Open.erase(L);
  if (A.terms().overflowed())
    return at(*L.V,
              doesNotFitError("more than " + std::to_string(A.terms().size()) +
                              " states"));
  if (!V.ok())
    return at(*L.V, V.status());
  Known.emplace(L, *V);
  return V;
}

bool Normalizer::provablyEmpty(const Key &K) {
  if (isNever(K))
    return true;
  ++Probing;
  Result<const ValueSet *> V = valuesOf(K);
  --Probing;
  if (!V.ok()) // also when it is about itself
    return false;
  const ValueSet &S = **V;
  return !S.Null && !S.False && !S.True && A.numbers().empty(S.Number) &&
         A.strings().empty(S.String) && S.Arrays.empty() && S.Objects.empty();
}

Result<ValueSet> Normalizer::schema(const JsonValue &S) {
  ValueSet In = A.all();
  if (S.What == JsonValue::Bool)
    return S.Flag ? In : ValueSet();
  if (S.What != JsonValue::Object)
    return at(S, malformedError("expected a schema, an object or a truth "
                                "value"));
  for (size_t I = 0; I < S.Names.size(); ++I) {
    Status Done = keyword(S, S.Names[I], S.Items[I], In);
    if (!Done.ok())
      return at(S.Items[I], Done);
  }
  return In;
}

Status Normalizer::keyword(const JsonValue &S, const std::string &Name,
                           const JsonValue &V, ValueSet &In) {
  if (isNote(Name))
    return Status::success();
  if (Name == "type")
    return types(V, In);
  if (Name == "enum")
    return enumeration(V, In);
  if (Name == "const") {
    LLMC_ASSIGN_OR_RETURN(ValueSet Only, A.only(V));
    return restrict(In, Only);
  }
  if (isOneOf(Name, {"minimum", "maximum", "exclusiveMinimum",
                     "exclusiveMaximum", "multipleOf"}))
    return numbers(S, Name, V, In);
  if (isOneOf(Name, {"minLength", "maxLength", "pattern", "format"}))
    return strings(Name, V, In);
  // Those that work together are done at the first of them.
  static const std::set<std::string> Array = {
      "prefixItems", "items",           "additionalItems", "minItems",
      "maxItems",    "uniqueItems",     "contains",        "minContains",
      "maxContains", "unevaluatedItems"};
  static const std::set<std::string> Object = {"properties",
                                               "patternProperties",
                                               "additionalProperties",
                                               "propertyNames",
                                               "required",
                                               "minProperties",
                                               "maxProperties",
                                               "unevaluatedProperties"};
  static const std::set<std::string> If = {"if", "then", "else"};
  const std::set<std::string> *Group = Array.count(Name)    ? &Array
                                       : Object.count(Name) ? &Object
                                       : If.count(Name)     ? &If
                                                            : nullptr;
  if (Group != nullptr) {
    auto First = std::find_if(
        S.Names.begin(), S.Names.end(),
        [&](const std::string &Other) { return Group->count(Other) != 0; });
    if (*First != Name)
      return Status::success();
    return Group == &Array    ? arrays(S, In)
           : Group == &Object ? objects(S, In)
                              : condition(S, In);
  }
  if (isOneOf(Name, {"dependentRequired", "dependentSchemas", "dependencies"}))
    return dependencies(V, In);
  return combine(S, Name, V, In);
}

Status Normalizer::combine(const JsonValue &S, const std::string &Name,
                           const JsonValue &V, ValueSet &In) {
  if (Name == "$ref") {
    if (V.What != JsonValue::String)
      return malformedError("expected a text");
    LLMC_ASSIGN_OR_RETURN(const JsonValue *To, Refs.resolve(S, V.Text));
    LLMC_ASSIGN_OR_RETURN(ValueSet Found, valuesOf({To, Location::Schema}));
    return restrict(In, Found);
  }
  if (Name == "not") {
    LLMC_RETURN_IF_ERROR(sub(V).takeStatus());
    LLMC_ASSIGN_OR_RETURN(ValueSet Found, valuesOf({&V, Location::NotSchema}));
    return restrict(In, Found);
  }
  if (Name != "allOf" && Name != "anyOf" && Name != "oneOf")
    return unsupportedError("keyword " + quoted(Name) + " is not supported");
  if (V.What != JsonValue::Array || V.Items.empty())
    return malformedError("expected a list of schemas");
  if (Name == "oneOf")
    return oneOf(V, In);
  ValueSet Any;
  for (const JsonValue &Item : V.Items) {
    LLMC_ASSIGN_OR_RETURN(ValueSet One, valuesOf({&Item, Location::Schema}));
    if (Name == "allOf") {
      LLMC_RETURN_IF_ERROR(restrict(In, One));
    } else {
      LLMC_ASSIGN_OR_RETURN(Any, A.either(Any, One));
    }
  }
  return Name == "allOf" ? Status::success() : restrict(In, Any);
}

/// Whether no array or object is in both.
Result<bool> Normalizer::disjoint(const ValueSet &X, const ValueSet &Y) {
  ValueSet Xs, Ys;
  Xs.Arrays = X.Arrays, Xs.Objects = X.Objects;
  Ys.Arrays = Y.Arrays, Ys.Objects = Y.Objects;
  LLMC_ASSIGN_OR_RETURN(ValueSet Both, A.both(Xs, Ys));
  for (const ArrayShape &S : Both.Arrays) {
    bool Empty = false;
    for (size_t I = 0; I < std::min<size_t>(S.Min, S.Prefix.size() + 1); ++I)
      Empty = Empty || provablyEmpty(S.element(I));
    if (!Empty)
      return false;
  }
  for (const ObjectShape &S : Both.Objects) {
    bool Empty = false;
    for (const ObjectShape::Named &M : S.Names)
      Empty = Empty || (M.Required && provablyEmpty(M.Value));
    if (!Empty)
      return false;
  }
  return true;
}

/// Scalars that are in one of the sets only: all of them without those that
/// are met again.
Result<ValueSet> Normalizer::scalarsOfOne(const std::vector<ValueSet> &All) {
  ValueSet Once, Again;
  for (const ValueSet &V : All) {
    ValueSet One = V;
    One.Arrays.clear(), One.Objects.clear();
    LLMC_ASSIGN_OR_RETURN(ValueSet Common, A.both(Once, One));
    if (A.strings().empty(Common.String))
      Common.String = {};
    if (A.numbers().empty(Common.Number))
      Common.Number = {};
    LLMC_ASSIGN_OR_RETURN(Again, A.either(Again, Common));
    LLMC_ASSIGN_OR_RETURN(Once, A.either(Once, One));
  }
  LLMC_ASSIGN_OR_RETURN(ValueSet Rest, A.without(Again));
  return A.both(Once, Rest);
}

Status Normalizer::oneOf(const JsonValue &V, ValueSet &In) {
  // Alternatives are first cut to what the schema allows otherwise: that may
  // make them disjoint.
  std::vector<ValueSet> All, Shapes;
  for (const JsonValue &Item : V.Items) {
    LLMC_ASSIGN_OR_RETURN(ValueSet One, valuesOf({&Item, Location::Schema}));
    LLMC_ASSIGN_OR_RETURN(One, A.both(In, One));
    Shapes.emplace_back();
    Shapes.back().Arrays = One.Arrays, Shapes.back().Objects = One.Objects;
    All.push_back(std::move(One));
  }
  LLMC_ASSIGN_OR_RETURN(ValueSet Sum, scalarsOfOne(All));
  for (size_t I = 0; I < All.size(); ++I) {
    ValueSet Only = Shapes[I];
    for (size_t J = 0; J < All.size(); ++J) {
      if (J == I)
        continue;
      LLMC_ASSIGN_OR_RETURN(bool Apart, disjoint(Only, Shapes[J]));
      if (Apart)
        continue;
      Result<ValueSet> Rest = A.without(Shapes[J]);
      if (!Rest.ok())
        return unsupportedError(
            "alternatives " + std::to_string(std::min(I, J)) + " and " +
            std::to_string(std::max(I, J)) +
            " may both hold, and what is in one of them only cannot be "
            "written down (" +
            Rest.status().message() + ")");
      LLMC_ASSIGN_OR_RETURN(Only, A.both(Only, *Rest));
    }
    LLMC_ASSIGN_OR_RETURN(Sum, A.either(Sum, Only));
  }
  return restrict(In, Sum);
}

Status Normalizer::condition(const JsonValue &S, ValueSet &In) {
  const JsonValue *If = S.find("if");
  if (If == nullptr)
    return Status::success(); // then and else mean nothing without it
  auto Branch = [&](const char *Name, Location::Mode Mode) -> Result<ValueSet> {
    LLMC_ASSIGN_OR_RETURN(ValueSet V, valuesOf({If, Mode}));
    if (const JsonValue *B = S.find(Name)) {
      LLMC_ASSIGN_OR_RETURN(ValueSet More, valuesOf({B, Location::Schema}));
      return A.both(V, More);
    }
    return V;
  };
  LLMC_ASSIGN_OR_RETURN(ValueSet Then, Branch("then", Location::Schema));
  LLMC_ASSIGN_OR_RETURN(ValueSet Else, Branch("else", Location::NotSchema));
  LLMC_ASSIGN_OR_RETURN(ValueSet Any, A.either(Then, Else));
  return restrict(In, Any);
}

} // namespace llmc::constraint
