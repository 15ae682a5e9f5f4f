// The keywords that say something about one type of value.
#include "runtime/text/constraint/schema/Normalizer.h"

#include "runtime/base/Quote.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

const char *kindName(const JsonValue &V) {
  static constexpr const char *Names[] = {
      "null", "a truth value", "a number", "a text", "a list", "an object"};
  return Names[V.What];
}

Status expected(const char *What, const JsonValue &V) {
  return malformedError(std::string("is ") + kindName(V) + ", expected " +
                        What);
}

} // namespace

Result<uint32_t> Normalizer::count(const JsonValue &V) {
  if (V.What != JsonValue::Number)
    return at(V, expected("a count", V));
  LLMC_ASSIGN_OR_RETURN(Decimal D, parseDecimal(V.Text));
  if (D.Negative || D.Exponent < 0)
    return at(V, malformedError("is " + printable(V.Text) +
                                ", expected a count of 0 or more"));
  std::string Text = D.text();
  if (Text.size() > 9)
    return Unbounded - 1;
  return static_cast<uint32_t>(std::stoul(Text));
}

Status Normalizer::types(const JsonValue &V, ValueSet &In) {
  std::vector<const JsonValue *> Names;
  if (V.What == JsonValue::Array)
    for (const JsonValue &Item : V.Items)
      Names.push_back(&Item);
  else
    Names.push_back(&V);
  if (Names.empty())
    return malformedError("is empty, expected a type");
  ValueSet All = A.all(), Sum;
  for (const JsonValue *N : Names) {
    if (N->What != JsonValue::String)
      return expected("the name of a type", *N);
    const std::string &T = N->Text;
    if (T == "null")
      Sum.Null = true;
    else if (T == "boolean")
      Sum.False = Sum.True = true;
    else if (T == "number")
      Sum.Number = All.Number;
    else if (T == "integer")
      Sum.Number = A.numbers().either(Sum.Number, A.numbers().integers());
    else if (T == "string")
      Sum.String = All.String;
    else if (T == "array")
      Sum.Arrays = All.Arrays;
    else if (T == "object")
      Sum.Objects = All.Objects;
    else
      return malformedError("type " + quoted(T) + " is not known");
  }
  return restrict(In, Sum);
}

Status Normalizer::enumeration(const JsonValue &V, ValueSet &In) {
  if (V.What != JsonValue::Array || V.Items.empty())
    return malformedError("expected a list of values");
  ValueSet Sum;
  std::vector<std::string> Texts; // together: there may be thousands
  for (const JsonValue &Item : V.Items) {
    if (Item.What == JsonValue::String) {
      Texts.push_back(Item.Text);
      continue;
    }
    LLMC_ASSIGN_OR_RETURN(ValueSet One, A.only(Item));
    LLMC_ASSIGN_OR_RETURN(Sum, A.either(Sum, One));
  }
  Sum.String = A.strings().oneOf(Texts);
  return restrict(In, Sum);
}

Status Normalizer::numbers(const JsonValue &S, const std::string &Name,
                           const JsonValue &V, ValueSet &In) {
  bool Lower = Name == "minimum" || Name == "exclusiveMinimum";
  bool Strict = Name.starts_with("exclusive");
  if (Strict && V.What == JsonValue::Bool)
    return Status::success(); // draft 4: read with the bound itself
  if (V.What != JsonValue::Number)
    return expected("a number", V);
  LLMC_ASSIGN_OR_RETURN(Decimal D, parseDecimal(V.Text));
  Numbers &N = A.numbers();
  NumberSet By;
  if (Name == "multipleOf") {
    if (D.zero() || D.Negative)
      return malformedError("is " + printable(V.Text) +
                            ", expected more than 0");
    LLMC_ASSIGN_OR_RETURN(By, N.multiples(D));
  } else {
    const JsonValue *Flag =
        S.find(Lower ? "exclusiveMinimum" : "exclusiveMaximum");
    Strict |= Flag && Flag->What == JsonValue::Bool && Flag->Flag;
    By = Lower ? N.above(D, Strict) : N.below(D, Strict);
  }
  In.Number = N.both(In.Number, By);
  return Status::success();
}

Status Normalizer::strings(const std::string &Name, const JsonValue &V,
                           ValueSet &In) {
  StringSet By = A.strings().all();
  if (Name == "minLength" || Name == "maxLength") {
    LLMC_ASSIGN_OR_RETURN(uint32_t Count, count(V));
    if (Name == "minLength" && Count > MaxDemandedChars)
      return unsupportedError("is " + std::to_string(Count) + ", at most " +
                              std::to_string(MaxDemandedChars));
    (Name == "minLength" ? By.Min : By.Max) = Count;
  } else {
    if (V.What != JsonValue::String)
      return expected("a text", V);
    LLMC_ASSIGN_OR_RETURN(By, Name == "pattern" ? A.strings().matching(V.Text)
                                                : A.strings().format(V.Text));
    if (V.Text == "int32" || V.Text == "int64") {
      bool Wide = V.Text == "int64";
      LLMC_ASSIGN_OR_RETURN(
          Decimal Low,
          parseDecimal(Wide ? "-9223372036854775808" : "-2147483648"));
      LLMC_ASSIGN_OR_RETURN(
          Decimal High,
          parseDecimal(Wide ? "9223372036854775807" : "2147483647"));
      Numbers &N = A.numbers();
      if (Name == "format")
        In.Number = N.both(In.Number,
                           N.both(N.above(Low, false), N.below(High, false)));
    }
  }
  In.String = A.strings().both(In.String, By);
  return Status::success();
}

Status Normalizer::arrays(const JsonValue &S, ValueSet &In) {
  ArrayShape Out;
  const JsonValue *Items = S.find("items"), *Prefix = S.find("prefixItems");
  const JsonValue *Rest = Items;
  if (Items && Items->What == JsonValue::Array) { // before draft 2020-12
    Prefix = Items;
    Rest = S.find("additionalItems");
  }
  if (Prefix) {
    if (Prefix->What != JsonValue::Array)
      return at(*Prefix, expected("a list of schemas", *Prefix));
    for (const JsonValue &Item : Prefix->Items) {
      LLMC_ASSIGN_OR_RETURN(Key K, sub(Item));
      Out.Prefix.push_back(std::move(K));
    }
  }
  if (const JsonValue *Left = S.find("unevaluatedItems")) {
    for (const char *Other :
         {"allOf", "anyOf", "oneOf", "$ref", "if", "contains"})
      if (S.find(Other))
        return at(*Left,
                  unsupportedError(std::string("unevaluatedItems beside ") +
                                   Other + " is not supported"));
    Rest = Rest ? Rest : Left;
  }
  if (Rest) {
    LLMC_ASSIGN_OR_RETURN(Out.Rest, sub(*Rest));
  }
  auto Count = [&](const char *Name, uint32_t &To) -> Status {
    if (const JsonValue *V = S.find(Name)) {
      LLMC_ASSIGN_OR_RETURN(To, count(*V));
    }
    return Status::success();
  };
  LLMC_RETURN_IF_ERROR(Count("minItems", Out.Min));
  LLMC_RETURN_IF_ERROR(Count("maxItems", Out.Max));
  if (Out.Min > MaxDemandedChars)
    return unsupportedError("demands " + std::to_string(Out.Min) +
                            " elements, at most " +
                            std::to_string(MaxDemandedChars));
  if (const JsonValue *V = S.find("uniqueItems")) {
    if (V->What != JsonValue::Bool)
      return at(*V, expected("a truth value", *V));
    Out.Unique = V->Flag;
  }
  if (const JsonValue *V = S.find("contains")) {
    ArrayShape::Containing C;
    LLMC_ASSIGN_OR_RETURN(C.What, sub(*V));
    LLMC_RETURN_IF_ERROR(Count("minContains", C.Min));
    LLMC_RETURN_IF_ERROR(Count("maxContains", C.Max));
    if (C.Min > 0 || C.Max != Unbounded)
      Out.Contains.push_back(std::move(C));
  }
  ValueSet By = A.all();
  By.Arrays = {std::move(Out)};
  if (By.Arrays[0].Min > By.Arrays[0].Max)
    By.Arrays.clear();
  return restrict(In, By);
}

/// properties, patternProperties, additionalProperties, propertyNames.
Status Normalizer::objectNames(const JsonValue &S, ObjectShape &O) {
  Terms &T = A.terms();
  TermId Others = A.strings().anyContent();
  std::vector<std::string_view> Spelled;
  std::vector<std::string> Hold;
  if (const JsonValue *V = S.find("patternProperties")) {
    if (V->What != JsonValue::Object)
      return at(*V, expected("an object of schemas", *V));
    for (size_t I = 0; I < V->Names.size(); ++I) {
      Result<StringSet> M = A.strings().matching(V->Names[I]);
      if (!M.ok())
        return at(V->Items[I], M.status());
      LLMC_ASSIGN_OR_RETURN(Key K, sub(V->Items[I]));
      O.Clauses.push_back({M->Content, std::move(K)});
      Others = T.except(Others, M->Content);
    }
  }
  size_t Patterns = O.Clauses.size();
  if (const JsonValue *V = S.find("properties")) {
    if (V->What != JsonValue::Object)
      return at(*V, expected("an object of schemas", *V));
    for (const std::string &Name : V->Names)
      Hold.push_back(Strings::spelling(Name));
    Spelled.assign(Hold.begin(), Hold.end());
    if (!Spelled.empty())
      Others = T.except(Others, T.oneOf(std::move(Spelled)));
  }
  const JsonValue *More = S.find("additionalProperties");
  if (const JsonValue *Left = S.find("unevaluatedProperties")) {
    for (const char *Other :
         {"allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas"})
      if (S.find(Other))
        return at(*Left, unsupportedError(
                             std::string("unevaluatedProperties beside ") +
                             Other + " is not supported"));
    More = More ? More : Left;
  }
  if (More) {
    LLMC_ASSIGN_OR_RETURN(Key K, sub(*More));
    if (!K.empty())
      O.Clauses.push_back({Others, std::move(K)});
  }
  if (const JsonValue *V = S.find("propertyNames")) {
    LLMC_ASSIGN_OR_RETURN(Key K, sub(*V));
    LLMC_ASSIGN_OR_RETURN(const ValueSet *Names, valuesOf(K));
    TermId Bad =
        T.except(A.strings().anyContent(), A.strings().content(Names->String));
    if (T.live(Bad))
      O.Clauses.push_back({Bad, never()});
  }
  if (const JsonValue *V = S.find("properties"))
    for (size_t I = 0; I < V->Names.size(); ++I) {
      LLMC_ASSIGN_OR_RETURN(Key K, sub(V->Items[I]));
      for (size_t C = 0; C < O.Clauses.size(); ++C) {
        bool Additional =
            C == Patterns && More && O.Clauses[C].Content == Others;
        if (!Additional && T.matches(O.Clauses[C].Content, Hold[I]))
          K = joined(K, O.Clauses[C].Value);
      }
      O.Names.push_back({V->Names[I], std::move(K), false});
    }
  return Status::success();
}

Status Normalizer::objects(const JsonValue &S, ValueSet &In) {
  ObjectShape O;
  for (const char *Names : {"properties", "required"})
    if (const JsonValue *V = S.find(Names);
        V && V->Items.size() > ValueAlgebra::MaxNames)
      return at(*V, unsupportedError("has " + std::to_string(V->Items.size()) +
                                     " names, at most " +
                                     std::to_string(ValueAlgebra::MaxNames)));
  LLMC_RETURN_IF_ERROR(objectNames(S, O));
  if (const JsonValue *V = S.find("required")) {
    if (V->What != JsonValue::Array)
      return at(*V, expected("a list of names", *V));
    for (const JsonValue &Name : V->Items) {
      if (Name.What != JsonValue::String)
        return at(Name, expected("a name", Name));
      if (ObjectShape::Named *Found = O.find(Name.Text))
        Found->Required = true;
      else
        O.Names.push_back({Name.Text, A.valueOf(O, Name.Text), true});
    }
  }
  if (const JsonValue *V = S.find("minProperties")) {
    LLMC_ASSIGN_OR_RETURN(O.Min, count(*V));
    if (O.Min > MaxDemandedChars)
      return at(*V,
                unsupportedError("is " + std::to_string(O.Min) + ", at most " +
                                 std::to_string(MaxDemandedChars)));
  }
  if (const JsonValue *V = S.find("maxProperties")) {
    LLMC_ASSIGN_OR_RETURN(O.Max, count(*V));
  }
  ValueSet By = A.all();
  By.Objects = {std::move(O)};
  ValueSet Any = A.all();
  LLMC_ASSIGN_OR_RETURN(By, A.both(Any, By)); // drops what cannot be
  return restrict(In, By);
}

/// name: [names], or name: schema; for objects that have the name.
Status Normalizer::dependencies(const JsonValue &V, ValueSet &In) {
  if (V.What != JsonValue::Object)
    return expected("an object", V);
  for (size_t I = 0; I < V.Names.size(); ++I) {
    const JsonValue &D = V.Items[I];
    ValueSet Without = A.all(), With = A.all();
    Without.Objects[0].Names.push_back({V.Names[I], never(), false});
    With.Objects[0].Names.push_back({V.Names[I], Key(), true});
    ValueSet ObjectsOnly;
    ObjectsOnly.Objects = With.Objects;
    if (D.What == JsonValue::Array) {
      for (const JsonValue &Name : D.Items) {
        if (Name.What != JsonValue::String)
          return at(Name, expected("a name", Name));
        ObjectShape &O = ObjectsOnly.Objects[0];
        if (ObjectShape::Named *Found = O.find(Name.Text))
          Found->Required = true;
        else
          O.Names.push_back({Name.Text, Key(), true});
      }
    } else {
      LLMC_RETURN_IF_ERROR(sub(D).takeStatus());
      LLMC_ASSIGN_OR_RETURN(ValueSet More, valuesOf({&D, Location::Schema}));
      LLMC_ASSIGN_OR_RETURN(ObjectsOnly, A.both(ObjectsOnly, More));
    }
    // Either without the name, or with all that it brings.
    Without.Objects.insert(Without.Objects.end(), ObjectsOnly.Objects.begin(),
                           ObjectsOnly.Objects.end());
    LLMC_RETURN_IF_ERROR(restrict(In, Without));
  }
  return Status::success();
}

} // namespace llmc::constraint
