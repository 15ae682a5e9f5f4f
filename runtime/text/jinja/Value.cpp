// Values, their equality and their text (which is Python's).
#include "runtime/text/jinja/Value.h"

#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Characters.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace llmc::jinja {

namespace {

constexpr size_t IndexedFrom = 9; ///< members; below, a walk is faster

/// Same for equal keys of a dict, different otherwise.
std::string keyText(const Value &V) {
  if (V.isString())
    return "s" + V.asString();
  if (V.isNumber() && V.asReal() == std::floor(V.asReal()))
    return "n" + std::to_string(static_cast<int64_t>(V.asReal()));
  return "r" + represent(V);
}

uint32_t clampWeight(uint64_t W) {
  return static_cast<uint32_t>(std::min<uint64_t>(W, UINT32_MAX));
}
uint16_t clampDepth(unsigned D) {
  return static_cast<uint16_t>(std::min(D, 60000u));
}

} // namespace

Value Value::undefined(std::string Why) {
  Value V = string(std::move(Why));
  V.K = Kind::Undefined;
  return V;
}
Value Value::boolean(bool B) {
  Value V(Kind::Bool);
  V.I = B;
  return V;
}
Value Value::integer(int64_t I) {
  Value V(Kind::Int);
  V.I = I;
  return V;
}
Value Value::real(double F) {
  Value V(Kind::Float);
  V.F = F;
  return V;
}
Value Value::string(std::string S) {
  Value V(Kind::String);
  V.Weight = clampWeight(1 + S.size() / 8);
  std::shared_ptr<StringBox> B = std::make_shared<StringBox>();
  B->Text = std::move(S);
  V.P = std::move(B);
  return V;
}
Value Value::markup(std::string S) {
  Value V = string(std::move(S));
  V.Marked = true;
  return V;
}
Value Value::group(Value Key, Items L) {
  Value V = tuple({std::move(Key), list(std::move(L))});
  V.Marked = true;
  return V;
}
Value Value::iterator(Items L, std::string Name) {
  std::shared_ptr<Object> O = std::make_shared<Object>(Object::Type::Iterator);
  O->Items = std::move(L);
  O->Name = std::move(Name);
  return object(std::move(O));
}
Value Value::list(Items L, Kind K) {
  Value V(K);
  uint64_t Weight = 1;
  for (const Value &I : L) {
    V.Depth = std::max(V.Depth, I.Depth);
    Weight += I.Weight;
  }
  V.Depth = clampDepth(V.Depth + 1u);
  V.Weight = clampWeight(Weight);
  std::shared_ptr<ListBox> B = std::make_shared<ListBox>();
  B->Items = std::move(L);
  V.P = std::move(B);
  return V;
}
Value Value::dict(Members M) {
  Value V(Kind::Dict);
  std::shared_ptr<DictBox> B = std::make_shared<DictBox>();
  uint64_t Weight = 1;
  for (auto &[Key, Member] : M) {
    Weight += Key.Weight + Member.Weight;
    auto [It, New] = B->Index.emplace(keyText(Key), B->Members.size());
    V.Depth = std::max<uint16_t>(V.Depth, Member.Depth);
    if (New)
      B->Members.emplace_back(std::move(Key), std::move(Member));
    else
      B->Members[It->second].second = std::move(Member);
  }
  V.Depth = clampDepth(V.Depth + 1u);
  V.Weight = clampWeight(Weight);
  if (B->Members.size() < IndexedFrom)
    B->Index.clear();
  V.P = std::move(B);
  return V;
}
Value Value::object(std::shared_ptr<Object> O) {
  Value V(Kind::Object);
  uint64_t Weight = 1 + O->Self.Weight + O->Last.Weight;
  unsigned Depth = std::max(O->Self.Depth, O->Last.Depth);
  for (const Value &I : O->Items) {
    Weight += I.Weight;
    Depth = std::max<unsigned>(Depth, I.Depth);
  }
  V.Weight = clampWeight(Weight);
  V.Depth = clampDepth(Depth + 1);
  V.P = std::move(O);
  return V;
}

const std::string &Value::asString() const {
  static const std::string Empty;
  return K == Kind::String ? static_cast<const StringBox &>(*P).Text : Empty;
}
const Value::Items &Value::items() const {
  static const Items Empty;
  return isSequence() ? static_cast<const ListBox &>(*P).Items : Empty;
}
const Value::Members &Value::members() const {
  static const Members Empty;
  return isDict() ? static_cast<const DictBox &>(*P).Members : Empty;
}
Object *Value::asObject() const {
  return isObject() ? static_cast<Object *>(P.get()) : nullptr;
}
const std::string &Value::why() const {
  static const std::string Plain = "value is undefined";
  return isUndefined() && P ? static_cast<const StringBox &>(*P).Text : Plain;
}

const Value *Value::find(const Value &Key) const {
  if (!isDict())
    return nullptr;
  const DictBox &B = static_cast<const DictBox &>(*P);
  if (B.Index.empty()) {
    for (const auto &[K2, V] : B.Members)
      if (equal(K2, Key))
        return &V;
    return nullptr;
  }
  auto It = B.Index.find(keyText(Key));
  return It == B.Index.end() ? nullptr : &B.Members[It->second].second;
}

bool Value::truthy() const {
  switch (K) {
  case Kind::Undefined:
  case Kind::None:
    return false;
  case Kind::Bool:
  case Kind::Int:
    return I != 0;
  case Kind::Float:
    return F != 0;
  case Kind::String:
    return !asString().empty();
  case Kind::List:
  case Kind::Tuple:
    return !items().empty();
  case Kind::Dict:
    return !members().empty();
  case Kind::Object: {
    const Object &O = *asObject();
    bool Sized = O.What == Object::Type::View || O.What == Object::Type::Range;
    return !Sized || !O.Items.empty();
  }
  }
  return false;
}

std::string_view Value::typeName() const {
  static constexpr std::string_view Names[] = {
      "Undefined", "NoneType", "bool",  "int",  "float",
      "str",       "list",     "tuple", "dict", "object"};
  return Names[static_cast<unsigned>(K)];
}

bool equal(const Value &A, const Value &B) {
  if (A.isNumber() && B.isNumber()) {
    if (A.isInteger() && B.isInteger())
      return A.asInteger() == B.asInteger();
    return A.asReal() == B.asReal();
  }
  if (A.kind() != B.kind())
    return false;
  switch (A.kind()) {
  case Value::Kind::String:
    return A.asString() == B.asString();
  case Value::Kind::List:
  case Value::Kind::Tuple:
    return std::equal(A.items().begin(), A.items().end(), B.items().begin(),
                      B.items().end(), equal);
  case Value::Kind::Dict:
    if (A.members().size() != B.members().size())
      return false;
    for (const auto &[Key, V] : A.members()) {
      const Value *Other = B.find(Key);
      if (Other == nullptr || !equal(V, *Other))
        return false;
    }
    return true;
  case Value::Kind::Object:
    return A.asObject() == B.asObject();
  default:
    return true; // none and none, undefined and undefined
  }
}

std::string realText(double F) {
  if (std::isnan(F))
    return "nan";
  if (std::isinf(F))
    return F < 0 ? "-inf" : "inf";
  char Buffer[40];
  // Python writes exponents outside [1e-4, 1e16) and two digits of them.
  double Size = std::fabs(F);
  bool Exponent = Size != 0 && (Size < 1e-4 || Size >= 1e16);
  std::to_chars_result R = std::to_chars(
      Buffer, Buffer + sizeof(Buffer), F,
      Exponent ? std::chars_format::scientific : std::chars_format::fixed);
  std::string S(Buffer, R.ptr);
  if (!Exponent && S.find('.') == std::string::npos)
    S += ".0";
  return S;
}

std::string display(const Value &V) {
  switch (V.kind()) {
  case Value::Kind::Undefined:
    return "";
  case Value::Kind::String:
    return V.asString();
  default:
    return represent(V);
  }
}

namespace {

std::string listed(const Value::Items &Items, char Open, char Close) {
  std::string Out(1, Open);
  for (const Value &I : Items) {
    if (Out.size() > 1)
      Out += ", ";
    Out += represent(I);
  }
  return Out + Close;
}

std::string representMembers(const auto &Members, const auto &KeyText) {
  std::string Out = "{";
  for (const auto &[Key, Member] : Members) {
    if (Out.size() > 1)
      Out += ", ";
    Out += KeyText(Key) + ": " + represent(Member);
  }
  return Out + '}';
}

std::string representItems(const Value &V) {
  if (V.kind() == Value::Kind::List)
    return listed(V.items(), '[', ']');
  return listed(V.items(), '(', V.items().size() == 1 ? ',' : ')') +
         (V.items().size() == 1 ? ")" : "");
}

/// A namespace may hold itself, and others many times over: one stays closed
/// inside itself, and when what was written grew too large.
std::string representNamespace(const Object &N) {
  static thread_local std::vector<const Object *> Open;
  static thread_local uint64_t Weight = 0;
  if (Open.empty())
    Weight = 0;
  for (const auto &[Name, V] : N.Fields)
    Weight += Name.size() + V.weight();
  if (Weight > MaxValueWeight || Open.size() >= MaxValueDepth ||
      std::find(Open.begin(), Open.end(), &N) != Open.end())
    return "<Namespace>";
  Open.push_back(&N);
  std::string Out = "<Namespace " + representMembers(N.Fields, quoted) + ">";
  Open.pop_back();
  return Out;
}

std::string representObject(const Object &O) {
  switch (O.What) {
  case Object::Type::View:
    return O.Name + "(" + listed(O.Items, '[', ']') + ")";
  case Object::Type::Range:
    return O.Name;
  case Object::Type::Iterator:
    return "<" + O.Name + " object>";
  case Object::Type::Namespace:
    return representNamespace(O);
  default:
    return "<" + O.Name + ">";
  }
}

} // namespace

std::string quoted(std::string_view S) {
  char Quote =
      S.find('\'') != std::string::npos && S.find('"') == std::string::npos
          ? '"'
          : '\'';
  std::string Out(1, Quote);
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    uint32_t C = nextCodePoint(S, I);
    if (C == '\n')
      Out += "\\n";
    else if (C == '\t')
      Out += "\\t";
    else if (C == '\r')
      Out += "\\r";
    else if (C == '\\' || C == static_cast<uint32_t>(Quote))
      (Out += '\\') += static_cast<char>(C);
    else if (isPrintable(C))
      Out += S.substr(Begin, I - Begin);
    else
      appendEscaped(Out, C);
  }
  return Out + Quote;
}

std::string represent(const Value &V) {
  switch (V.kind()) {
  case Value::Kind::Undefined:
    return "Undefined";
  case Value::Kind::None:
    return "None";
  case Value::Kind::Bool:
    return V.asInteger() ? "True" : "False";
  case Value::Kind::Int:
    return std::to_string(V.asInteger());
  case Value::Kind::Float:
    return realText(V.asReal());
  case Value::Kind::String:
    return V.isMarkup() ? "Markup(" + quoted(V.asString()) + ")"
                        : quoted(V.asString());
  case Value::Kind::List:
  case Value::Kind::Tuple:
    return representItems(V);
  case Value::Kind::Dict:
    return representMembers(V.members(), represent);
  case Value::Kind::Object:
    return representObject(*V.asObject());
  }
  return "";
}

size_t characterCount(std::string_view S) {
  return static_cast<size_t>(std::count_if(
      S.begin(), S.end(), [](char C) { return (C & 0xC0) != 0x80; }));
}

std::vector<size_t> characterStarts(std::string_view S) {
  std::vector<size_t> Starts;
  for (size_t I = 0; I < S.size(); ++I)
    if ((S[I] & 0xC0) != 0x80)
      Starts.push_back(I);
  Starts.push_back(S.size());
  return Starts;
}

} // namespace llmc::jinja
