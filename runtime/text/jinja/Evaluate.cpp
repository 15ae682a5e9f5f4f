// Expressions: operators, look-ups, filters and tests.
#include "runtime/text/jinja/Interpreter.h"

#include "runtime/text/jinja/Library.h"

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
    for (const NodePtr &C : N.Children)
      L.push_back(evaluate(*C));
    return N.What == K::List ? Value::list(std::move(L))
                             : Value::tuple(std::move(L));
  }
  case K::Dict: {
    Value::Members M;
    for (size_t I = 0; I < N.Children.size(); I += 2) {
      Value Key = Child(I);
      if (Key.isObject() || Key.isUndefined())
        return fail("a key of a dict cannot be of type " +
                    std::string(Key.typeName()));
      if (!hashable(Key))
        return Value();
      M.emplace_back(std::move(Key), Child(I + 1));
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
    if (V.kind() == Value::Kind::Float)
      return Value::real(N.What == K::Negative ? -V.asReal() : V.asReal());
    return arithmetic(*this, N.What == K::Negative ? "-" : "+",
                      Value::integer(0), V);
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

Value Interpreter::binary(const Node &N) {
  Value A = evaluate(*N.Children[0]);
  Value B = evaluate(*N.Children[1]);
  if (failed())
    return Value();
  if (N.Text != "~")
    return arithmetic(*this, N.Text, A, B);
  if (!charge(A.weight() + B.weight()))
    return Value();
  bool Html = AutoEscape && (A.isMarkup() || B.isMarkup());
  std::string S = Html ? escapedValue(A).asString() + escapedValue(B).asString()
                       : display(A) + display(B);
  if (!room(S.size()))
    return Value();
  return Html ? Value::markup(std::move(S)) : Value::string(std::move(S));
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

/// The same of a macro: what its parameters are.
bool macroField(const Object &M, const std::string &Name, Value &Out) {
  if (Name == "name")
    Out = Value::string(M.Name);
  else if (Name == "caller")
    Out = Value::boolean(mentions(*M.Body->Children[0], "caller"));
  else if (Name == "catch_kwargs")
    Out = Value::boolean(mentions(*M.Body->Children[0], "kwargs"));
  else if (Name == "catch_varargs")
    Out = Value::boolean(mentions(*M.Body->Children[0], "varargs"));
  else if (Name == "arguments") {
    Value::Items Names;
    for (const auto &[Parameter, Default] : M.Body->Named)
      Names.push_back(Value::string(Parameter));
    Out = Value::tuple(std::move(Names));
  } else
    return false;
  return true;
}

/// real, imag and so on of numbers.
bool numberField(const Value &N, const std::string &Name, Value &Out) {
  bool Whole = N.isInteger();
  if (Name == "real" || (Whole && Name == "numerator"))
    Out = Whole ? Value::integer(N.asInteger()) : N;
  else if (Name == "imag")
    Out = Whole ? Value::integer(0) : Value::real(0);
  else if (Whole && Name == "denominator")
    Out = Value::integer(1);
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
  if (Of.isGroup() && (Name == "grouper" || Name == "list"))
    return Of.items()[Name == "list" ? 1 : 0];
  if (Value V; Of.isNumber() && numberField(Of, Name, V))
    return V;
  if (Object *O = Of.asObject()) {
    Value V;
    if (O->What == Object::Type::Loop && loopField(*O, Name, V))
      return V;
    if (O->What == Object::Type::Macro && macroField(*O, Name, V))
      return V;
    if (O->What == Object::Type::Blocks)
      return block(Name);
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
  Object *O = Of.asObject();
  if (O && O->What == Object::Type::Range)
    return item(Value::list(O->Items), Key);
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
    if (I >= 0 && I < N && Of.isString()) {
      size_t At = static_cast<size_t>(I);
      std::string One =
          Of.asString().substr(Starts[At], Starts[At + 1] - Starts[At]);
      return Of.isMarkup() ? Value::markup(std::move(One))
                           : Value::string(std::move(One));
    }
    if (I >= 0 && I < N)
      return Of.items()[static_cast<size_t>(I)];
  }
  return Value::undefined("'" + std::string(Of.typeName()) +
                          " object' has no element " + represent(Key));
}

} // namespace llmc::jinja
