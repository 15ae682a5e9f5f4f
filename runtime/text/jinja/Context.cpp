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
  default:
    fail("'" + std::string(V.typeName()) + "' object is not iterable");
  }
  return Out;
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
