// The first error, the step counter and iteration.
#include "runtime/text/jinja/Context.h"

#include "runtime/text/jinja/Lexer.h"

namespace llmc::jinja {

Value Context::fail(const std::string &What) {
  if (!Failed) {
    Failed = true;
    Failure = templateError(Line, Column, What);
  }
  return Value();
}

bool Context::charge(uint64_t N) {
  Steps += N;
  if (Steps > MaxSteps)
    fail("takes more than " + std::to_string(MaxSteps) + " steps");
  return !Failed;
}

bool Context::room(uint64_t Bytes) {
  if (Bytes > MaxText)
    fail("text of " + std::to_string(Bytes) + " bytes, at most " +
         std::to_string(MaxText));
  return charge(1 + Bytes / 16);
}

Value::Items Context::iterate(const Value &V) {
  Value::Items Out;
  switch (V.kind()) {
  case Value::Kind::List:
  case Value::Kind::Tuple:
    if (charge(V.items().size()))
      Out = V.items();
    break;
  case Value::Kind::Dict:
    if (charge(V.members().size()))
      for (const auto &[Key, Member] : V.members())
        Out.push_back(Key);
    break;
  case Value::Kind::String: {
    const std::string &S = V.asString();
    if (!charge(S.size()))
      break;
    std::vector<size_t> Starts = characterStarts(S);
    for (size_t I = 0; I + 1 < Starts.size(); ++I)
      Out.push_back(
          Value::string(S.substr(Starts[I], Starts[I + 1] - Starts[I])));
    break;
  }
  case Value::Kind::Undefined:
    break;
  case Value::Kind::Object: {
    Object &O = *V.asObject();
    bool Once = O.What == Object::Type::Iterator;
    if (Once || O.What == Object::Type::View || O.What == Object::Type::Range) {
      size_t From = Once ? std::exchange(O.Index, O.Items.size()) : 0;
      if (charge(O.Items.size() - From))
        Out.assign(O.Items.begin() + static_cast<ptrdiff_t>(From),
                   O.Items.end());
      break;
    }
    [[fallthrough]];
  }
  default:
    fail("'" + std::string(V.typeName()) + "' object is not iterable");
  }
  return Out;
}

bool Context::lengthOf(const Value &V, size_t &N) {
  N = 0;
  Object *O = V.asObject();
  if (V.isString())
    N = characterCount(V.asString());
  else if (V.isSequence())
    N = V.items().size();
  else if (V.isDict())
    N = V.members().size();
  else if (O &&
           (O->What == Object::Type::View || O->What == Object::Type::Range ||
            O->What == Object::Type::Loop))
    N = O->Items.size();
  else if (!V.isUndefined())
    return fail("object of type '" + (O ? O->Name : std::string(V.typeName())) +
                "' has no len()"),
           false;
  return true;
}

bool Context::hashable(const Value &V) {
  if (V.kind() == Value::Kind::List || V.isDict())
    return fail("unhashable type: '" + std::string(V.typeName()) + "'"), false;
  if (V.kind() == Value::Kind::Tuple)
    for (const Value &I : V.items())
      if (!hashable(I))
        return false;
  return true;
}

bool Context::less(const Value &A, const Value &B) {
  if (A.isNumber() && B.isNumber())
    return A.isInteger() && B.isInteger() ? A.asInteger() < B.asInteger()
                                          : A.asReal() < B.asReal();
  if (A.isString() && B.isString())
    return A.asString() < B.asString();
  if (A.isSequence() && A.kind() == B.kind()) {
    for (size_t I = 0; I < A.items().size() && I < B.items().size(); ++I)
      if (!equal(A.items()[I], B.items()[I]))
        return less(A.items()[I], B.items()[I]);
    return A.items().size() < B.items().size();
  }
  const Value &Odd = A.isUndefined() ? A : B;
  fail(Odd.isUndefined() ? Odd.why()
                         : "'<' not supported between instances of '" +
                               std::string(A.typeName()) + "' and '" +
                               std::string(B.typeName()) + "'");
  return false;
}

} // namespace llmc::jinja
