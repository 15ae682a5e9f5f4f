// Tests: what may stand behind "is".
#include "runtime/text/jinja/Library.h"

#include <algorithm>
#include <array>

namespace llmc::jinja {

namespace {

constexpr std::array<std::string_view, 43> Names = {
    "boolean", "callable",  "defined",     "divisibleby", "eq",     "equalto",
    "==",      "escaped",   "even",        "false",       "filter", "float",
    "ge",      "gt",        "greaterthan", ">",           ">=",     "in",
    "integer", "iterable",  "le",          "lessthan",    "lower",  "lt",
    "<",       "<=",        "mapping",     "ne",          "!=",     "none",
    "number",  "odd",       "sameas",      "sequence",    "string", "test",
    "true",    "undefined", "upper",       "True",        "False",  "None",
    "not"};

bool isCallable(const Value &V) {
  if (V.isUndefined()) // has the method, which raises
    return true;
  Object *O = V.asObject();
  if (O == nullptr)
    return false;
  switch (O->What) {
  case Object::Type::Namespace:
  case Object::Type::Iterator:
  case Object::Type::View:
  case Object::Type::Range:
  case Object::Type::Cycler:
    return false;
  default:
    return true;
  }
}

bool isIterable(const Value &V, bool Sequence) {
  if (V.isString() || V.isSequence() || V.isDict() || V.isUndefined())
    return true;
  Object *O = V.asObject();
  return O != nullptr && (O->What == Object::Type::Range ||
                          (!Sequence && (O->What == Object::Type::View ||
                                         O->What == Object::Type::Iterator)));
}

/// lower, upper: of the text of the value.
bool isCase(Context &C, const Value &V, bool Upper) {
  Value Text = Value::string(display(V));
  return callMethod(C, Text, Upper ? "isupper" : "islower", {}).truthy();
}

/// The operators and their names.
std::string_view operatorOf(std::string_view N) {
  if (N == "eq" || N == "equalto")
    return "==";
  if (N == "ne")
    return "!=";
  if (N == "lt" || N == "lessthan")
    return "<";
  if (N == "le")
    return "<=";
  if (N == "gt" || N == "greaterthan")
    return ">";
  if (N == "ge")
    return ">=";
  return N;
}

bool contains(Context &C, const Value &Where, const Value &What) {
  if (Where.isString() && !What.isString()) {
    C.fail("'in <string>' requires string as left operand, not " +
           std::string(What.typeName()));
    return false;
  }
  if (Where.isString())
    return Where.asString().find(What.asString()) != std::string::npos;
  if (Where.isDict())
    return C.hashable(What) && Where.find(What) != nullptr;
  for (const Value &V : C.iterate(Where))
    if (equal(V, What))
      return true;
  return false;
}

/// Tests with an operand; nothing when Name is none of them.
bool compare(Context &C, std::string_view Op, const Value &A, const Value &B) {
  if (!C.charge(std::min(A.weight(), B.weight())))
    return false;
  if (Op == "==" || Op == "!=")
    return equal(A, B) == (Op == "==");
  if (Op == "<" || Op == ">")
    return Op == "<" ? C.less(A, B) : C.less(B, A);
  return Op == "<=" ? !C.less(B, A) : !C.less(A, B);
}

bool plainTest(Context &C, const std::string &N, const Value &V) {
  if (N == "defined")
    return !V.isUndefined();
  if (N == "undefined")
    return V.isUndefined();
  if (N == "none" || N == "None")
    return V.isNone();
  if (N == "string")
    return V.isString();
  if (N == "mapping")
    return V.isDict();
  if (N == "number")
    return V.isNumber();
  if (N == "integer")
    return V.kind() == Value::Kind::Int;
  if (N == "float")
    return V.kind() == Value::Kind::Float;
  if (N == "boolean")
    return V.kind() == Value::Kind::Bool;
  if (N == "true" || N == "True")
    return V.kind() == Value::Kind::Bool && V.truthy();
  if (N == "false" || N == "False")
    return V.kind() == Value::Kind::Bool && !V.truthy();
  if (N == "iterable" || N == "sequence")
    return isIterable(V, N == "sequence");
  if (N == "callable")
    return isCallable(V);
  if (N == "escaped")
    return V.isMarkup();
  if (N == "upper" || N == "lower")
    return isCase(C, V, N == "upper");
  if (N == "odd" || N == "even")
    return equal(arithmetic(C, "%", V, Value::integer(2)),
                 Value::integer(N == "odd" ? 1 : 0));
  if (N == "filter" || N == "test")
    return C.hashable(V) && V.isString() &&
           (N == "filter" ? hasFilter(V.asString()) : hasTest(V.asString()));
  C.fail("no test named '" + N + "'");
  return false;
}

} // namespace

bool hasTest(std::string_view Name) {
  return std::find(Names.begin(), Names.end(), Name) != Names.end();
}

bool applyTest(Context &C, const std::string &Name, const Value &V,
               const Arguments &A) {
  std::string_view Op = operatorOf(Name);
  bool Operator = Op.find_first_of("=<>") != std::string_view::npos;
  if (!Operator && Name != "in" && Name != "sameas" && Name != "divisibleby")
    return plainTest(C, Name, V);
  const Value *B = A.get(0, "other");
  if (B == nullptr) {
    C.fail("test '" + Name + "' needs an operand");
    return false;
  }
  if (Operator)
    return compare(C, Op, V, *B);
  if (Name == "in")
    return contains(C, *B, V);
  if (Name == "sameas")
    return V.kind() == B->kind() && equal(V, *B);
  return equal(arithmetic(C, "%", V, *B), Value::integer(0));
}

} // namespace llmc::jinja
