// Expressions: operators, look-ups, filters and tests.
#include "runtime/text/jinja/Interpreter.h"

#include "runtime/text/jinja/Library.h"

#include <cmath>

namespace llmc::jinja {

using K = Node::Kind;

namespace {
constexpr unsigned MaxDepth = 1500; ///< nested evaluations
} // namespace

Value Interpreter::evaluate(const Node &N) {
  if (failed() || !charge(1))
    return Value();
  if (++Depth > MaxDepth)
    return fail("nested deeper than " + std::to_string(MaxDepth));
  uint32_t OuterLine = std::exchange(Line, N.Line);
  uint32_t OuterColumn = std::exchange(Column, N.Column);
  Value V = evaluateKind(N);
  if (V.depth() > MaxValueDepth)
    fail("value nested deeper than " + std::to_string(MaxValueDepth));
  if (V.weight() > MaxValueWeight)
    fail("value has more than " + std::to_string(MaxValueWeight) + " parts");
  --Depth;
  Line = OuterLine, Column = OuterColumn;
  return failed() ? Value() : V;
}

/// Whether a list or dict may hold it: no object but those that hold nothing.
static bool mayBePart(const Value &V) {
  Object *O = V.asObject();
  return O == nullptr || O->What == Object::Type::Function ||
         O->What == Object::Type::Macro;
}

Value Interpreter::evaluateKind(const Node &N) {
  auto Child = [&](size_t I) { return evaluate(*N.Children[I]); };
  switch (N.What) {
  case K::Constant:
    return N.Literal;
  case K::Name:
    return lookUp(N.Text);
  case K::List:
  case K::Tuple: {
    Value::Items L;
    for (const NodePtr &C : N.Children) {
      L.push_back(evaluate(*C));
      if (!mayBePart(L.back()))
        return fail("a list cannot hold '" + L.back().asObject()->Name + "'");
    }
    return N.What == K::List ? Value::list(std::move(L))
                             : Value::tuple(std::move(L));
  }
  case K::Dict: {
    Value::Members M;
    for (size_t I = 0; I < N.Children.size(); I += 2) {
      Value Key = Child(I);
      if (Key.kind() == Value::Kind::List || Key.isDict() || Key.isObject())
        return fail("unhashable type: '" + std::string(Key.typeName()) + "'");
      M.emplace_back(std::move(Key), Child(I + 1));
      if (const Value &V = M.back().second; !mayBePart(V))
        return fail("a dict cannot hold '" + V.asObject()->Name + "'");
    }
    return Value::dict(std::move(M));
  }
  case K::Not:
    return Value::boolean(!Child(0).truthy());
  case K::Negative:
  case K::Positive: {
    Value V = Child(0);
    if (!V.isNumber())
      return failed() ? V
                      : fail(V.isUndefined()
                                 ? V.why()
                                 : "bad operand type for unary " +
                                       std::string(
                                           N.What == K::Negative ? "-" : "+") +
                                       ": '" + std::string(V.typeName()) + "'");
    return N.What == K::Negative ? numeric('-', Value::integer(0), V) : V;
  }
  case K::Binary:
    return binary(N);
  case K::Compare:
    return compare(N);
  case K::And:
  case K::Or: {
    Value L = Child(0);
    return L.truthy() == (N.What == K::And) ? Child(1) : L;
  }
  case K::Conditional:
    if (Child(1).truthy())
      return Child(0);
    return N.Children[2]
               ? Child(2)
               : Value::undefined("the condition was false and there is no "
                                  "else");
  case K::Attribute:
    return attribute(Child(0), N.Text);
  case K::Item: {
    Value Of = Child(0);
    return item(Of, Child(1));
  }
  case K::Slice:
    return slice(N);
  case K::Call:
    return call(N);
  case K::Filter:
    return filter(N, nullptr);
  case K::Test: {
    Value In = Child(0);
    Arguments A = arguments(N);
    return failed() ? Value() : Value::boolean(applyTest(*this, N.Text, In, A));
  }
  default:
    return fail("not an expression");
  }
}

/// Input stands for the block when the chain belongs to one.
Value Interpreter::filter(const Node &N, const Value *Input) {
  Value In;
  if (!N.Children[0])
    In = Input ? *Input : Value();
  else if (N.Children[0]->What == K::Filter)
    In = filter(*N.Children[0], Input);
  else
    In = evaluate(*N.Children[0]);
  Arguments A = arguments(N);
  return failed() ? Value() : applyFilter(*this, N.Text, In, A);
}

Value Interpreter::compare(const Node &N) {
  Value L = evaluate(*N.Children[0]);
  for (const auto &[Op, E] : N.Named) {
    Value R = evaluate(*E);
    if (failed())
      return Value();
    bool Yes = false;
    Arguments A;
    if (Op == "in" || Op == "not in") {
      A.Positional.push_back(R);
      if (L.isUndefined() && R.isString())
        return fail(L.why());
      Yes = applyTest(*this, "in", L, A) == (Op == "in");
    } else {
      A.Positional.push_back(R);
      Yes = applyTest(*this, Op, L, A);
    }
    if (failed() || !Yes)
      return Value::boolean(false);
    L = std::move(R);
  }
  return Value::boolean(true);
}

Value Interpreter::binaryError(std::string_view Op, const Value &A,
                               const Value &B) {
  if (A.isUndefined() || B.isUndefined())
    return fail((A.isUndefined() ? A : B).why());
  if (Op == "+" && A.isString())
    return fail("can only concatenate str (not \"" + std::string(B.typeName()) +
                "\") to str");
  return fail("unsupported operand type(s) for " + std::string(Op) + ": '" +
              std::string(A.typeName()) + "' and '" +
              std::string(B.typeName()) + "'");
}

Value Interpreter::binary(const Node &N) {
  Value A = evaluate(*N.Children[0]);
  Value B = evaluate(*N.Children[1]);
  if (failed())
    return Value();
  const std::string &Op = N.Text;
  if (Op == "~") {
    if (!charge(A.weight() + B.weight()))
      return Value();
    std::string S = display(A) + display(B);
    return room(S.size()) ? Value::string(std::move(S)) : Value();
  }
  if (Op == "+" && A.isString() && B.isString()) {
    if (!room(A.asString().size() + B.asString().size()))
      return Value();
    return Value::string(A.asString() + B.asString());
  }
  if (Op == "+" && A.isSequence() && A.kind() == B.kind()) {
    Value::Items L = iterate(A), R = iterate(B);
    L.insert(L.end(), R.begin(), R.end());
    return Value::list(std::move(L), A.kind());
  }
  if (Op == "%" && A.isString())
    return formatPercent(*this, A.asString(),
                         B.kind() == Value::Kind::Tuple ? B.items()
                                                        : Value::Items{B});
  if (Op == "*" && (A.isInteger() != B.isInteger()) &&
      !(A.isNumber() && B.isNumber()))
    return A.isInteger() ? times(B, A) : times(A, B);
  if (!A.isNumber() || !B.isNumber())
    return binaryError(Op, A, B);
  if (Op == "**")
    return power(A, B);
  return numeric(Op == "//" ? 'f' : Op[0], A, B);
}

/// Text or list, repeated.
Value Interpreter::times(const Value &A, const Value &B) {
  if (!A.isString() && !A.isSequence())
    return binaryError("*", A, B);
  uint64_t Count = B.asInteger() < 0 ? 0 : static_cast<uint64_t>(B.asInteger());
  if (Count > MaxText || A.weight() * Count > MaxValueWeight ||
      !charge(A.weight() * Count))
    return fail("repeated " + std::to_string(Count) + " times is too large");
  if (A.isString()) {
    std::string S;
    for (uint64_t I = 0; I < Count; ++I)
      S += A.asString();
    return room(S.size()) ? Value::string(std::move(S)) : Value();
  }
  Value::Items L;
  for (uint64_t I = 0; I < Count; ++I)
    L.insert(L.end(), A.items().begin(), A.items().end());
  return Value::list(std::move(L), A.kind());
}

Value Interpreter::power(const Value &A, const Value &B) {
  double R = std::pow(A.asReal(), B.asReal());
  if (A.isInteger() && B.isInteger() && B.asInteger() >= 0) {
    if (!(std::fabs(R) < 9e15)) // above, doubles are not exact
      return fail("result of ** is too large");
    return Value::integer(static_cast<int64_t>(R));
  }
  return Value::real(R);
}

/// + - * / % and f (floor division) on numbers, with Python's signs.
Value Interpreter::numeric(char Op, const Value &A, const Value &B) {
  if ((Op == '/' || Op == '%' || Op == 'f') && B.asReal() == 0)
    return fail("division by zero");
  if (Op == '/')
    return Value::real(A.asReal() / B.asReal());
  if (!A.isInteger() || !B.isInteger()) {
    double X = A.asReal(), Y = B.asReal();
    switch (Op) {
    case '+':
      return Value::real(X + Y);
    case '-':
      return Value::real(X - Y);
    case '*':
      return Value::real(X * Y);
    case 'f':
      return Value::real(std::floor(X / Y));
    default:
      return Value::real(X - std::floor(X / Y) * Y);
    }
  }
  int64_t X = A.asInteger(), Y = B.asInteger(), R = 0;
  bool Overflow = false;
  switch (Op) {
  case '+':
    Overflow = __builtin_add_overflow(X, Y, &R);
    break;
  case '-':
    Overflow = __builtin_sub_overflow(X, Y, &R);
    break;
  case '*':
    Overflow = __builtin_mul_overflow(X, Y, &R);
    break;
  default:
    if (Y == -1) { // the one division that can overflow
      Overflow = Op == 'f' && __builtin_sub_overflow(int64_t{0}, X, &R);
      break;
    }
    R = Op == 'f' ? X / Y : X % Y;
    if (X % Y != 0 && (X < 0) != (Y < 0))
      R += Op == 'f' ? -1 : Y;
  }
  if (Overflow)
    return fail("integer does not fit in 64 bits");
  return Value::integer(R);
}

Value Interpreter::slice(const Node &N) {
  Value Of = evaluate(*N.Children[0]);
  Value Parts[3];
  const Value *Given[3] = {};
  for (int I = 0; I < 3; ++I)
    if (N.Children[I + 1]) {
      Parts[I] = evaluate(*N.Children[I + 1]);
      Given[I] = &Parts[I];
    }
  if (failed())
    return Value();
  return sliceOf(*this, Of, Given[0], Given[1], Given[2]);
}

namespace {

/// A field of the loop variable; false when there is none of that name.
bool loopField(const Object &L, const std::string &Name, Value &Out) {
  int64_t I = static_cast<int64_t>(L.Index);
  int64_t N = static_cast<int64_t>(L.Items.size());
  if (Name == "index")
    Out = Value::integer(I + 1);
  else if (Name == "index0")
    Out = Value::integer(I);
  else if (Name == "revindex")
    Out = Value::integer(N - I);
  else if (Name == "revindex0")
    Out = Value::integer(N - I - 1);
  else if (Name == "first")
    Out = Value::boolean(I == 0);
  else if (Name == "last")
    Out = Value::boolean(I + 1 == N);
  else if (Name == "length")
    Out = Value::integer(N);
  else if (Name == "depth")
    Out = Value::integer(static_cast<int64_t>(L.Level) + 1);
  else if (Name == "depth0")
    Out = Value::integer(static_cast<int64_t>(L.Level));
  else if (Name == "previtem")
    Out = I > 0 ? L.Items[L.Index - 1]
                : Value::undefined("there is no previous item");
  else if (Name == "nextitem")
    Out = I + 1 < N ? L.Items[L.Index + 1]
                    : Value::undefined("there is no next item");
  else
    return false;
  return true;
}

std::string noAttribute(const Value &Of, const std::string &Name) {
  std::string Type =
      Of.isNone() ? "None" : std::string(Of.typeName()) + " object";
  return "'" + Type + "' has no attribute '" + Name + "'";
}

} // namespace

Value Interpreter::attribute(const Value &Of, const std::string &Name) {
  if (failed())
    return Value();
  if (Of.isUndefined())
    return fail(Of.why());
  MethodKind M = methodOf(Of, Name);
  if (M == MethodKind::Changes)
    return Value::undefined("access to attribute '" + Name + "' of '" +
                            std::string(Of.typeName()) + "' object is unsafe.");
  if (M == MethodKind::Harmless) {
    std::shared_ptr<Object> O = std::make_shared<Object>(Object::Type::Method);
    O->Name = Name;
    O->Self = Of;
    return Value::object(std::move(O));
  }
  if (const Value *V = Of.find(Name))
    return *V;
  if (Object *O = Of.asObject()) {
    Value V;
    if (O->What == Object::Type::Loop && loopField(*O, Name, V))
      return V;
    if (O->What == Object::Type::Macro && Name == "name")
      return Value::string(O->Name);
    if (O->What == Object::Type::Cycler && Name == "current")
      return O->Items[O->Index % O->Items.size()];
    for (const auto &[Field, F] : O->Fields)
      if (Field == Name)
        return F;
  }
  return Value::undefined(noAttribute(Of, Name));
}

Value Interpreter::item(const Value &Of, const Value &Key) {
  if (failed())
    return Value();
  if (Of.isUndefined())
    return fail(Of.why());
  if (const Value *V = Of.find(Key))
    return *V;
  if (Key.isString())
    return attribute(Of, Key.asString());
  if (Key.isInteger() && (Of.isSequence() || Of.isString())) {
    if (!charge(Of.isString() ? Of.weight() : 1))
      return Value();
    std::vector<size_t> Starts;
    if (Of.isString())
      Starts = characterStarts(Of.asString());
    int64_t N = static_cast<int64_t>(Of.isString() ? Starts.size() - 1
                                                   : Of.items().size());
    int64_t I = Key.asInteger();
    I += I < 0 ? N : 0;
    if (I >= 0 && I < N && Of.isString())
      return Value::string(Of.asString().substr(
          Starts[static_cast<size_t>(I)],
          Starts[static_cast<size_t>(I) + 1] - Starts[static_cast<size_t>(I)]));
    if (I >= 0 && I < N)
      return Of.items()[static_cast<size_t>(I)];
  }
  return Value::undefined("'" + std::string(Of.typeName()) +
                          " object' has no element " + represent(Key));
}

} // namespace llmc::jinja
