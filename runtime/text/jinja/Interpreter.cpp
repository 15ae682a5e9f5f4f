// Statements, scopes and calls. Loops, macros, with and captured blocks have
// scopes of their own; if has none. A scope that a macro was defined in lives
// until the end, all others go with their block. Long because statements and
// calls share the scopes and the output, which would have to be passed around.
#include "runtime/text/jinja/Interpreter.h"

#include "runtime/text/jinja/Library.h"

#include <algorithm>

namespace llmc::jinja {

using K = Node::Kind;

namespace {

constexpr unsigned MaxDepth = 1500; ///< nested evaluations
constexpr int64_t MaxRange = 100'000;

bool isFunction(std::string_view N) {
  for (std::string_view F : {"range", "namespace", "dict", "raise_exception",
                             "strftime_now", "joiner", "cycler", "lipsum"})
    if (N == F)
      return true;
  return false;
}

std::shared_ptr<Object> makeObject(Object::Type T, std::string Name) {
  std::shared_ptr<Object> O = std::make_shared<Object>(T);
  O->Name = std::move(Name);
  return O;
}

/// The block of that name somewhere below; null when there is none.
const Node *findBlock(const Node &N, std::string_view Name) {
  if (N.What == K::Block && N.Text == Name)
    return &N;
  for (const NodePtr &C : N.Children)
    if (const Node *Found = C ? findBlock(*C, Name) : nullptr)
      return Found;
  return nullptr;
}

} // namespace

bool mentions(const Node &N, std::string_view Name) {
  if (N.What == K::Name && N.Text == Name)
    return true;
  for (const NodePtr &C : N.Children)
    if (C && mentions(*C, Name))
      return true;
  for (const auto &[Key, C] : N.Named)
    if (C && mentions(*C, Name))
      return true;
  return false;
}

/// A scope for as long as it lives.
class Interpreter::Inner {
public:
  Inner(Interpreter &I, Scope *Parent)
      : I(I), Outer(I.Current), Own(std::make_unique<Scope>()) {
    Own->Parent = Parent;
    I.Current = Own.get();
  }
  ~Inner() {
    I.Current = Outer;
    if (Own->Kept)
      I.KeptScopes.push_back(std::move(Own));
  }
  Scope &scope() { return *Own; }

private:
  Interpreter &I;
  Scope *Outer;
  std::unique_ptr<Scope> Own;
};

Result<std::string> Interpreter::run(const Node &Template,
                                     const Value &Variables) {
  Scope Outermost;
  for (const auto &[Key, V] : Variables.members())
    Outermost.Variables.emplace_back(display(Key), V);
  Outermost.Kept = true;
  Root = &Template;
  Current = Globals = &Outermost;
  execute(Template);
  Current = Globals = nullptr;
  KeptScopes.clear();
  for (const std::shared_ptr<Object> &N : Namespaces)
    N->Fields.clear();
  Namespaces.clear();
  if (failed())
    return failure();
  return std::move(Out);
}

Value Interpreter::lookUp(const std::string &Name) {
  for (Scope *S = Current; S != nullptr; S = S->Parent)
    for (auto It = S->Variables.rbegin(); It != S->Variables.rend(); ++It)
      if (It->first == Name)
        return It->second;
  if (isFunction(Name))
    return Value::object(makeObject(Object::Type::Function, Name));
  if (Name == "self")
    return Value::object(makeObject(Object::Type::Blocks, Name));
  return Value::undefined("'" + Name + "' is undefined");
}

void Interpreter::set(const std::string &Name, Value V) {
  for (auto &[N, Old] : Current->Variables)
    if (N == Name) {
      Old = std::move(V);
      return;
    }
  Current->Variables.emplace_back(Name, std::move(V));
}

void Interpreter::print(const Node &N) {
  Out += N.Text;
  for (const NodePtr &C : N.Children) {
    Value V = evaluate(*C);
    if (!failed() && charge(V.weight()))
      Out += AutoEscape ? escapedValue(V).asString() : display(V);
  }
  if (Out.size() > MaxText)
    (void)room(Out.size());
}

std::string Interpreter::capture(const Node &Body) {
  std::string Outside = std::exchange(Out, "");
  execute(Body);
  return std::exchange(Out, std::move(Outside));
}

void Interpreter::assign(const Node &T, const Value &V) {
  if (T.What == K::Name) {
    set(T.Text, V);
  } else if (T.What == K::Attribute) {
    Value N = evaluate(*T.Children[0]);
    Object *O = N.asObject();
    if (O == nullptr || O->What != Object::Type::Namespace) {
      fail("cannot assign attribute on non-namespace object");
      return;
    }
    for (auto &[Name, Old] : O->Fields)
      if (Name == T.Text) {
        Old = V;
        return;
      }
    O->Fields.emplace_back(T.Text, V);
  } else {
    Value::Items Items = iterate(V);
    if (failed())
      return;
    if (Items.size() != T.Children.size()) {
      fail(std::to_string(Items.size()) + " values to unpack, expected " +
           std::to_string(T.Children.size()));
      return;
    }
    for (size_t I = 0; I < Items.size(); ++I)
      assign(*T.Children[I], Items[I]);
  }
}

Interpreter::Flow Interpreter::execute(const Node &N) {
  if (failed() || !charge(1))
    return Flow::Next;
  if (++Depth > MaxDepth)
    fail("nested deeper than " + std::to_string(MaxDepth));
  Line = N.Line, Column = N.Column;
  Flow F = Flow::Next;
  switch (N.What) {
  case K::Output:
    print(N);
    break;
  case K::Sequence:
    for (const NodePtr &C : N.Children) {
      F = execute(*C);
      if (F != Flow::Next || failed())
        break;
    }
    break;
  case K::If: {
    size_t I = 0;
    for (; I + 1 < N.Children.size(); I += 2)
      if (evaluate(*N.Children[I]).truthy() || failed())
        break;
    if (!failed() && I < N.Children.size())
      F = execute(*N.Children[std::min(I + 1, N.Children.size() - 1)]);
    break;
  }
  case K::For:
    F = executeFor(N);
    break;
  case K::Set:
    assign(*N.Children[0], evaluate(*N.Children[1]));
    break;
  case K::SetBlock:
    setBlock(N);
    break;
  case K::Macro:
    defineMacro(N);
    break;
  case K::CallBlock:
    callBlock(N);
    break;
  case K::FilterBlock: {
    Inner S(*this, Current);
    Value V = made(capture(*N.Children[1]));
    V = filter(*N.Children[0], &V);
    if (!V.isString() && !failed())
      fail("the filter of a block gave a value of type " +
           std::string(V.typeName()) + ", not a text");
    Out += V.asString();
    break;
  }
  case K::With:
    with(N, F);
    break;
  case K::Block:
    runBlock(N);
    break;
  case K::AutoEscape:
    autoEscape(N, F);
    break;
  case K::Do:
    evaluate(*N.Children[0]);
    break;
  case K::Break:
    F = Flow::Break;
    break;
  case K::Continue:
    F = Flow::Continue;
    break;
  default:
    fail("not a statement");
  }
  --Depth;
  return F;
}

void Interpreter::setBlock(const Node &N) {
  Value V;
  {
    Inner S(*this, Current);
    V = made(capture(*N.Children[2]));
  }
  if (N.Children[1]) {
    V = filter(*N.Children[1], &V);
    if (AutoEscape && V.isString())
      V = Value::markup(V.asString());
  }
  assign(*N.Children[0], V);
}

void Interpreter::with(const Node &N, Flow &F) {
  Value::Items Values;
  for (const auto &[Name, E] : N.Named)
    Values.push_back(evaluate(*E));
  Inner S(*this, Current);
  for (size_t I = 0; I < Values.size(); ++I)
    set(N.Named[I].first, Values[I]);
  F = execute(*N.Children[0]);
}

void Interpreter::autoEscape(const Node &N, Flow &F) {
  bool On = evaluate(*N.Children[0]).truthy();
  Inner S(*this, Current);
  bool Outside = std::exchange(AutoEscape, On);
  F = execute(*N.Children[1]);
  AutoEscape = Outside;
}

/// A block sees what the whole template sees, and what is around it only when
/// it is marked so.
void Interpreter::runBlock(const Node &N) {
  Inner S(*this, N.Literal.truthy() ? Current : Globals);
  bool Outside = std::exchange(AutoEscape, false);
  execute(*N.Children[0]);
  AutoEscape = Outside;
}

/// self.name: a function that gives the text of the block.
Value Interpreter::block(const std::string &Name) {
  const Node *B = findBlock(*Root, Name);
  if (B == nullptr)
    return Value::undefined("there is no block '" + Name + "'");
  std::shared_ptr<Object> O = makeObject(Object::Type::Blocks, Name);
  O->Body = B;
  return Value::object(std::move(O));
}

Interpreter::Flow Interpreter::executeFor(const Node &N) {
  Value Over = evaluate(*N.Children[1]);
  return failed() ? Flow::Next : runLoop(N, Over, 0);
}

/// Level: how deep a recursive loop is in calls of itself.
Interpreter::Flow Interpreter::runLoop(const Node &N, const Value &Over,
                                       size_t Level) {
  Value::Items Items = iterate(Over);
  if (N.Children[2]) { // the condition decides before loop.length is known
    Inner S(*this, Current);
    Value::Items Chosen;
    for (const Value &V : Items) {
      S.scope().Variables.clear();
      assign(*N.Children[0], V);
      if (evaluate(*N.Children[2]).truthy())
        Chosen.push_back(V);
      if (failed())
        return Flow::Next;
    }
    Items = std::move(Chosen);
  }
  if (failed())
    return Flow::Next;
  if (Items.empty())
    return N.Children[4] ? execute(*N.Children[4]) : Flow::Next;
  std::shared_ptr<Object> Loop = makeObject(Object::Type::Loop, "loop");
  Loop->Items = std::move(Items);
  Loop->Level = Level;
  if (N.Text == "recursive") {
    Loop->Body = &N;
    Loop->Home = Current;
  }
  Inner S(*this, Current);
  const Value Variable = Value::object(Loop);
  for (; Loop->Index < Loop->Items.size() && !failed(); ++Loop->Index) {
    if (!S.scope().Kept)
      S.scope().Variables.clear();
    set("loop", Variable);
    assign(*N.Children[0], Loop->Items[Loop->Index]);
    if (execute(*N.Children[3]) == Flow::Break)
      break;
  }
  Loop->Last = Value();
  return Flow::Next;
}

void Interpreter::defineMacro(const Node &N) {
  std::shared_ptr<Object> M = makeObject(Object::Type::Macro, N.Text);
  M->Body = &N;
  M->Home = Current;
  M->Escapes = AutoEscape;
  // The chain of scopes must outlive the macro.
  for (Scope *S = Current; S != nullptr; S = S->Parent)
    S->Kept = true;
  set(N.Text, Value::object(std::move(M)));
}

void Interpreter::callBlock(const Node &N) {
  std::shared_ptr<Object> Body = makeObject(Object::Type::Caller, "caller");
  Body->Body = &N;
  Body->Home = Current;
  Body->Escapes = AutoEscape;
  for (Scope *S = Current; S != nullptr; S = S->Parent)
    S->Kept = true;
  Value Caller = Value::object(std::move(Body));
  Value V = call(*N.Children[0], &Caller);
  if (!failed())
    Out += AutoEscape ? escapedValue(V).asString() : display(V);
}

Arguments Interpreter::arguments(const Node &N) {
  Arguments A;
  for (size_t I = 1; I < N.Children.size() && !failed(); ++I)
    A.Positional.push_back(evaluate(*N.Children[I]));
  for (const auto &[Name, E] : N.Named) {
    if (failed())
      break;
    Value V = evaluate(*E);
    if (Name == "*") {
      for (Value &I : iterate(V))
        A.Positional.push_back(std::move(I));
    } else if (Name == "**") {
      if (!V.isDict() && !failed())
        fail("argument after ** must be a mapping, not " +
             std::string(V.typeName()));
      for (const auto &[Key, Member] : V.members())
        A.Named.emplace_back(display(Key), Member);
    } else {
      A.Named.emplace_back(Name, std::move(V));
    }
  }
  return A;
}

/// A call. Methods are called without making an object of them first.
Value Interpreter::call(const Node &N, const Value *Caller) {
  const Node &Callee = *N.Children[0];
  if (Callee.What == K::Attribute) {
    Value Self = evaluate(*Callee.Children[0]);
    if (failed())
      return Value();
    MethodKind M = methodOf(Self, Callee.Text);
    if (M == MethodKind::Harmless)
      return callMethod(*this, Self, Callee.Text, arguments(N));
    Object *O = Self.asObject();
    if (O && (O->What == Object::Type::Loop || O->What == Object::Type::Cycler))
      return callLoop(*O, Callee.Text, arguments(N));
    return callValue(attribute(Self, Callee.Text), arguments(N));
  }
  Value V = evaluate(Callee);
  Arguments A = arguments(N);
  if (Caller != nullptr)
    A.Named.emplace_back("caller", *Caller);
  return failed() ? Value() : callValue(V, A);
}

Value Interpreter::callValue(const Value &V, const Arguments &A) {
  if (V.isUndefined())
    return fail(V.why());
  Object *O = V.asObject();
  if (O == nullptr)
    return fail("'" + std::string(V.typeName()) + "' object is not callable");
  switch (O->What) {
  case Object::Type::Function:
    return callFunction(O->Name, A);
  case Object::Type::Method:
    return callMethod(*this, O->Self, O->Name, A);
  case Object::Type::Macro:
  case Object::Type::Caller:
    return callMacro(*O, A);
  case Object::Type::Loop:
    return callRecursive(*O, A);
  case Object::Type::Blocks: {
    if (O->Body == nullptr)
      return fail("'self' is not callable");
    std::string Outside = std::exchange(Out, "");
    runBlock(*O->Body);
    return made(std::exchange(Out, std::move(Outside)));
  }
  case Object::Type::Joiner: {
    bool First = O->Index++ == 0;
    return First ? Value::string("") : O->Last;
  }
  default:
    return fail("'" + O->Name + "' is not callable");
  }
}

/// loop(items): the text of the same loop over other items.
Value Interpreter::callRecursive(Object &L, const Arguments &A) {
  if (L.Body == nullptr)
    return fail("only a loop marked recursive can be called");
  if (A.Positional.size() != 1 || !A.Named.empty())
    return fail("loop() takes one argument");
  Inner S(*this, L.Home);
  std::string Outside = std::exchange(Out, "");
  runLoop(*L.Body, A.Positional[0], L.Level + 1);
  return made(std::exchange(Out, std::move(Outside)));
}

Value Interpreter::callMacro(Object &M, const Arguments &A) {
  const Node &N = *M.Body;
  bool IsCaller = M.What == Object::Type::Caller;
  const Node &Body = *N.Children[IsCaller ? 1 : 0];
  Inner S(*this, M.Home);
  Value::Items Extra;
  Value::Members ExtraNamed;
  for (size_t I = N.Named.size(); I < A.Positional.size(); ++I)
    Extra.push_back(A.Positional[I]);
  for (const auto &[Name, V] : A.Named) {
    bool Parameter = Name == "caller";
    for (const auto &[P, Default] : N.Named)
      Parameter |= P == Name;
    if (!Parameter)
      ExtraNamed.emplace_back(Value::string(Name), V);
    else if (Name == "caller")
      set(Name, V);
  }
  if (!Extra.empty() && !mentions(Body, "varargs"))
    return fail("macro '" + M.Name + "' takes not more than " +
                std::to_string(N.Named.size()) + " argument(s)");
  if (!ExtraNamed.empty() && !mentions(Body, "kwargs"))
    return fail("macro '" + M.Name + "' takes no keyword argument '" +
                ExtraNamed[0].first.asString() + "'");
  for (size_t I = 0; I < N.Named.size(); ++I) {
    const auto &[Name, Default] = N.Named[I];
    const Value *Given = A.get(I, Name);
    set(Name, Given     ? *Given
              : Default ? evaluate(*Default)
                        : Value::undefined("parameter '" + Name +
                                           "' was not provided"));
  }
  set("varargs", Value::tuple(std::move(Extra)));
  set("kwargs", Value::dict(std::move(ExtraNamed)));
  bool Outside = std::exchange(AutoEscape, M.Escapes);
  std::string Text = capture(Body);
  AutoEscape = Outside;
  return made(std::move(Text));
}

Value Interpreter::callLoop(Object &L, const std::string &Name,
                            const Arguments &A) {
  if (L.What == Object::Type::Cycler) {
    if (Name == "reset")
      L.Index = 0;
    else if (Name == "next")
      return L.Items[L.Index++ % L.Items.size()];
    else
      return fail("cycler has no method '" + Name + "'");
    return Value::none();
  }
  if (Name == "cycle" && !A.Positional.empty())
    return A.Positional[L.Index % A.Positional.size()];
  if (Name == "changed") {
    Value Now = Value::list(A.Positional);
    bool Same = L.Last.isSequence() && equal(L.Last, Now);
    L.Last = std::move(Now);
    return Value::boolean(!Same);
  }
  return fail("the loop variable has no method '" + Name + "'");
}

Value Interpreter::range(const Arguments &A) {
  int64_t V[3] = {0, 0, 1};
  size_t N = A.Positional.size();
  if (N < 1 || N > 3)
    return fail("range expected 1 to 3 arguments, got " + std::to_string(N));
  for (size_t I = 0; I < N; ++I) {
    if (!A.Positional[I].isInteger())
      return fail("'" + std::string(A.Positional[I].typeName()) +
                  "' object cannot be interpreted as an integer");
    V[N == 1 ? 1 : I] = A.Positional[I].asInteger();
  }
  if (V[2] == 0)
    return fail("range() arg 3 must not be zero");
  // In doubles: the difference of two integers may not fit an integer.
  double Count = (double(V[1]) - double(V[0])) / double(V[2]);
  if (Count > MaxRange)
    return fail("range too big: more than " + std::to_string(MaxRange));
  Value::Items Out;
  for (int64_t I = V[0]; V[2] > 0 ? I < V[1] : I > V[1];) {
    Out.push_back(Value::integer(I));
    if (__builtin_add_overflow(I, V[2], &I))
      break;
  }
  (void)charge(Out.size());
  std::string Shown = "range(" + std::to_string(V[0]) + ", " +
                      std::to_string(V[1]) +
                      (V[2] == 1 ? "" : ", " + std::to_string(V[2])) + ")";
  std::shared_ptr<Object> O = makeObject(Object::Type::Range, Shown);
  O->Items = std::move(Out);
  return Value::object(std::move(O));
}

/// Keys and values of a dict, or pairs of a list.
bool Interpreter::pairsOf(const Value &V, Value::Members &Out) {
  if (V.isDict()) {
    Out.insert(Out.end(), V.members().begin(), V.members().end());
    return charge(V.members().size());
  }
  for (const Value &Pair : iterate(V)) {
    if (Pair.items().size() != 2)
      return fail("dict update sequence element has length " +
                  std::to_string(Pair.items().size()) + "; 2 is required"),
             false;
    if (!hashable(Pair.items()[0]))
      return false;
    Out.emplace_back(Pair.items()[0], Pair.items()[1]);
  }
  return !failed();
}

Value Interpreter::makeDict(const Arguments &A) {
  Value::Members M;
  if (A.Positional.size() > 1)
    return fail("dict expected at most 1 argument, got " +
                std::to_string(A.Positional.size()));
  if (!A.Positional.empty() && !pairsOf(A.Positional[0], M))
    return Value();
  for (const auto &[N, V] : A.Named)
    M.emplace_back(Value::string(N), V);
  return Value::dict(std::move(M));
}

Value Interpreter::makeNamespace(const Arguments &A) {
  std::shared_ptr<Object> N = makeObject(Object::Type::Namespace, "Namespace");
  Value D = makeDict(A);
  if (!charge(50)) // they stay until the end
    return Value();
  for (const auto &[Key, V] : D.members())
    N->Fields.emplace_back(display(Key), V);
  Namespaces.push_back(N);
  return Value::object(std::move(N));
}

Value Interpreter::callFunction(const std::string &Name, const Arguments &A) {
  if (Name == "range")
    return range(A);
  if (Name == "namespace")
    return makeNamespace(A);
  if (Name == "raise_exception") {
    const Value *M = A.get(0, "message");
    return fail(M ? display(*M) : "the template raised an exception");
  }
  if (Name == "dict")
    return makeDict(A);
  if (Name == "strftime_now") {
    const Value *F = A.get(0, "format");
    char Buffer[256] = {};
    std::string Format = F ? F->asString() : "";
    if (Format.size() > 100 ||
        (!Format.empty() &&
         std::strftime(Buffer, sizeof(Buffer), Format.c_str(), &Clock) == 0))
      return fail("strftime_now: format gives more than 255 characters");
    return Value::string(Buffer);
  }
  if (Name == "cycler" && !A.Positional.empty()) {
    std::shared_ptr<Object> O = makeObject(Object::Type::Cycler, "cycler");
    O->Items = A.Positional;
    return Value::object(std::move(O));
  }
  if (Name == "joiner") {
    std::shared_ptr<Object> O = makeObject(Object::Type::Joiner, "joiner");
    const Value *Separator = A.get(0, "sep");
    O->Last = Separator ? *Separator : Value::string(", ");
    return Value::object(std::move(O));
  }
  if (Name == "cycler")
    return fail("at least one item has to be provided");
  return fail("function '" + Name +
              "' is not implemented: it gives another text each time");
}

} // namespace llmc::jinja
