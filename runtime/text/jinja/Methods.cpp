// Methods of texts, lists, dicts and numbers. Those that would change the
// value are known by name and refused.
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Library.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace llmc::jinja {

namespace {

bool among(std::string_view Name, std::initializer_list<std::string_view> L) {
  return std::find(L.begin(), L.end(), Name) != L.end();
}

const std::string *textArgument(const Arguments &A, size_t I,
                                std::string_view Name) {
  const Value *V = A.get(I, Name);
  return V != nullptr && V->isString() ? &V->asString() : nullptr;
}

int64_t integerArgument(const Arguments &A, size_t I, std::string_view Name,
                        int64_t Default) {
  const Value *V = A.get(I, Name);
  return V != nullptr && V->isInteger() ? V->asInteger() : Default;
}

/// Character position of a byte position.
int64_t characterAt(const std::string &S, size_t Byte) {
  return static_cast<int64_t>(
      characterCount(std::string_view(S).substr(0, Byte)));
}

/// At white space; what is left after Max cuts stays in one piece.
Value splitSpaces(const std::string &S, int64_t Max, bool FromRight) {
  std::vector<std::string> Words = wordsOf(S);
  Value::Items Out;
  size_t Cuts = Max < 0 || Max >= static_cast<int64_t>(Words.size())
                    ? Words.size()
                    : static_cast<size_t>(Max);
  size_t Whole = Words.size() - Cuts; // words that stay together
  if (Whole < 2) {
    for (std::string &W : Words)
      Out.push_back(Value::string(std::move(W)));
    return Value::list(std::move(Out));
  }
  // The piece runs to the end (or from the begin) of the stripped side.
  std::string Rest = strip(S, nullptr, FromRight ? Side::Right : Side::Left);
  for (size_t I = 0; I < Cuts; ++I) {
    const std::string &W = FromRight ? Words[Words.size() - 1 - I] : Words[I];
    Out.push_back(Value::string(W));
    Rest = FromRight ? strip(Rest.substr(0, Rest.size() - W.size()), nullptr,
                             Side::Right)
                     : strip(Rest.substr(W.size()), nullptr, Side::Left);
  }
  Out.push_back(Value::string(std::move(Rest)));
  if (FromRight)
    std::reverse(Out.begin(), Out.end());
  return Value::list(std::move(Out));
}

Value split(Context &C, const std::string &S, const Arguments &A,
            bool FromRight) {
  const std::string *Separator = textArgument(A, 0, "sep");
  int64_t Max = integerArgument(A, 1, "maxsplit", -1);
  Value::Items Out;
  if (!C.charge(1 + S.size()))
    return Value();
  if (Separator != nullptr && Separator->empty())
    return C.fail("empty separator");
  if (Separator == nullptr)
    return splitSpaces(S, Max, FromRight);
  if (FromRight) {
    size_t End = S.size();
    for (; Max != 0; --Max) {
      if (End < Separator->size())
        break;
      size_t Hit = S.rfind(*Separator, End - Separator->size());
      if (Hit == std::string::npos)
        break;
      size_t Behind = Hit + Separator->size();
      Out.push_back(Value::string(S.substr(Behind, End - Behind)));
      End = Hit;
    }
    Out.push_back(Value::string(S.substr(0, End)));
    std::reverse(Out.begin(), Out.end());
    return Value::list(std::move(Out));
  }
  size_t At = 0;
  for (size_t Hit;
       Max != 0 && (Hit = S.find(*Separator, At)) != std::string::npos; --Max) {
    Out.push_back(Value::string(S.substr(At, Hit - At)));
    At = Hit + Separator->size();
  }
  Out.push_back(Value::string(S.substr(At)));
  return Value::list(std::move(Out));
}

bool hasEnd(const std::string &S, const Value &What, bool Start) {
  if (What.isSequence())
    return std::any_of(What.items().begin(), What.items().end(),
                       [&](const Value &V) { return hasEnd(S, V, Start); });
  if (!What.isString())
    return false;
  const std::string &T = What.asString();
  return Start ? S.starts_with(T) : S.ends_with(T);
}

size_t countOf(const std::string &S, const std::string &What) {
  if (What.empty())
    return characterCount(S) + 1;
  size_t N = 0;
  for (size_t At = 0; (At = S.find(What, At)) != std::string::npos;
       At += What.size())
    ++N;
  return N;
}

Value partition(const std::string &S, const std::string &By, bool Last) {
  size_t Hit = Last ? S.rfind(By) : S.find(By);
  if (Hit == std::string::npos)
    return Last ? Value::tuple(
                      {Value::string(""), Value::string(""), Value::string(S)})
                : Value::tuple(
                      {Value::string(S), Value::string(""), Value::string("")});
  return Value::tuple({Value::string(S.substr(0, Hit)), Value::string(By),
                       Value::string(S.substr(Hit + By.size()))});
}

bool allOf(const std::string &S, bool (*Is)(uint32_t)) {
  for (size_t I = 0; I < S.size();)
    if (!Is(nextCodePoint(S, I)))
      return false;
  return !S.empty();
}

/// isupper and islower: one cased character at least and none of the others.
bool allCased(const std::string &S, bool Upper) {
  bool Any = false;
  for (size_t I = 0; I < S.size();) {
    uint32_t C = nextCodePoint(S, I);
    if (isTitle(C) || (Upper ? isLower(C) : isUpper(C)))
      return false;
    Any |= Upper ? isUpper(C) : isLower(C);
  }
  return Any;
}

Value textMethod(Context &C, const std::string &S, const std::string &M,
                 const Arguments &A) {
  if (!C.charge(1 + S.size() / 8))
    return Value();
  if (isMoreMethod(M, &A))
    return moreMethod(C, S, M, A);
  if (M == "upper")
    return Value::string(upperCase(S));
  if (M == "lower")
    return Value::string(lowerCase(S));
  if (M == "casefold")
    return Value::string(foldedCase(S));
  if (M == "title")
    return Value::string(titleCase(S));
  if (M == "capitalize")
    return Value::string(capitalized(S));
  if (M == "strip" || M == "lstrip" || M == "rstrip")
    return Value::string(strip(S, textArgument(A, 0, "chars"),
                               M == "strip"    ? Side::Both
                               : M == "lstrip" ? Side::Left
                                               : Side::Right));
  if (M == "split" || M == "rsplit")
    return split(C, S, A, M == "rsplit");
  if (M == "isdigit")
    return Value::boolean(allOf(S, isDigitLike));
  if (M == "isdecimal")
    return Value::boolean(allOf(S, isDecimal));
  if (M == "isnumeric")
    return Value::boolean(allOf(S, isNumeric));
  if (M == "isalpha")
    return Value::boolean(allOf(S, isLetter));
  if (M == "isspace")
    return Value::boolean(allOf(S, isSpace));
  if (M == "isupper" || M == "islower")
    return Value::boolean(allCased(S, M == "isupper"));
  if (M == "join") {
    const Value *List = A.get(0, "iterable");
    if (List == nullptr)
      return C.fail("join() takes exactly one argument (0 given)");
    Value::Items Items = C.iterate(*List);
    for (const Value &V : Items)
      if (!V.isString())
        return C.fail("sequence item: expected str instance, " +
                      std::string(V.typeName()) + " found");
    return joinTexts(C, Items, S);
  }
  if (M == "format")
    return formatBraces(C, Value::string(S), A);
  // The rest needs a text (or a tuple of them) first.
  const Value *First = A.get(0, "");
  if (First == nullptr)
    return C.fail(M + "() takes at least 1 argument (0 given)");
  if (M == "startswith" || M == "endswith")
    return Value::boolean(hasEnd(S, *First, M == "startswith"));
  if (!First->isString())
    return C.fail(M + "() needs a str, not " + std::string(First->typeName()));
  const std::string &T = First->asString();
  if (M == "replace") {
    const std::string *New = textArgument(A, 1, "new");
    if (New == nullptr)
      return C.fail("replace expected at least 2 arguments");
    return replaceText(C, S, T, *New, integerArgument(A, 2, "count", -1));
  }
  if (M == "find" || M == "rfind" || M == "index" || M == "rindex") {
    size_t Hit = M[0] == 'r' ? S.rfind(T) : S.find(T);
    if (Hit == std::string::npos && M.ends_with("index"))
      return C.fail("substring not found");
    return Value::integer(Hit == std::string::npos ? -1 : characterAt(S, Hit));
  }
  if (M == "count")
    return Value::integer(static_cast<int64_t>(countOf(S, T)));
  if (M == "removeprefix")
    return Value::string(S.starts_with(T) ? S.substr(T.size()) : S);
  if (M == "removesuffix")
    return Value::string(S.ends_with(T) ? S.substr(0, S.size() - T.size()) : S);
  return partition(S, T, M == "rpartition");
}

Value dictMethod(Context &C, const Value &D, const std::string &M,
                 const Arguments &A) {
  if (!C.charge(1 + (M == "get" ? 0 : D.members().size())))
    return Value();
  if (M == "get") {
    const Value *Key = A.get(0, "key");
    if (Key == nullptr)
      return C.fail("get expected at least 1 argument, got 0");
    if (!C.hashable(*Key))
      return Value();
    const Value *Found = D.find(*Key), *Default = A.get(1, "default");
    return Found ? *Found : Default ? *Default : Value::none();
  }
  if (M == "copy")
    return D;
  std::shared_ptr<Object> O = std::make_shared<Object>(Object::Type::View);
  O->Name = "dict_" + M;
  for (const auto &[Key, V] : D.members())
    O->Items.push_back(M == "items"  ? Value::tuple({Key, V})
                       : M == "keys" ? Key
                                     : V);
  return Value::object(std::move(O));
}

Value listMethod(Context &C, const Value &L, const std::string &M,
                 const Arguments &A) {
  if (!C.charge(1 + L.weight()))
    return Value();
  if (M == "copy")
    return L;
  const Value *What = A.get(0, "value");
  if (What == nullptr)
    return C.fail(M + "() takes exactly one argument (0 given)");
  if (M == "count" && A.Positional.size() > 1)
    return C.fail("count() takes exactly one argument (" +
                  std::to_string(A.Positional.size()) + " given)");
  int64_t Count = 0, At = 0;
  for (const Value &V : L.items()) {
    if (equal(V, *What)) {
      ++Count;
      if (M == "index")
        return Value::integer(At);
    }
    ++At;
  }
  if (M == "index")
    return C.fail(represent(*What) + " is not in list");
  return Value::integer(Count);
}

} // namespace

MethodKind methodOf(const Value &Self, std::string_view N) {
  bool Harmless = false, Changes = false;
  switch (Self.kind()) {
  case Value::Kind::String:
    Harmless =
        among(N, {"upper",        "lower",     "casefold",  "title",
                  "capitalize",   "strip",     "lstrip",    "rstrip",
                  "split",        "rsplit",    "isdigit",   "isdecimal",
                  "isnumeric",    "isalpha",   "isspace",   "isupper",
                  "islower",      "join",      "format",    "startswith",
                  "endswith",     "replace",   "find",      "rfind",
                  "index",        "rindex",    "count",     "removeprefix",
                  "removesuffix", "partition", "rpartition"}) ||
        isMoreMethod(N, nullptr);
    break;
  case Value::Kind::Dict:
    Harmless = among(N, {"get", "items", "keys", "values", "copy"});
    Changes = among(N, {"clear", "pop", "popitem", "setdefault", "update"});
    break;
  case Value::Kind::Tuple:
    Harmless = among(N, {"index", "count"});
    break;
  case Value::Kind::List:
    Harmless = among(N, {"index", "count", "copy"});
    Changes = among(N, {"append", "clear", "extend", "insert", "pop", "remove",
                        "reverse", "sort"});
    break;
  case Value::Kind::Int:
  case Value::Kind::Bool:
    Harmless = N == "bit_length";
    break;
  case Value::Kind::Float:
    Harmless = N == "is_integer";
    break;
  case Value::Kind::Object:
    Harmless = Self.asObject()->What == Object::Type::Range &&
               among(N, {"index", "count"});
    break;
  default:
    break;
  }
  return Harmless  ? MethodKind::Harmless
         : Changes ? MethodKind::Changes
                   : MethodKind::None;
}

namespace {

/// A method of a text that is HTML: what it is given is made safe first, and
/// what comes out is HTML again.
Value markupMethod(Context &C, const Value &Self, const std::string &M,
                   const Arguments &A) {
  if (M == "format")
    return formatBraces(C, Self, A);
  Arguments Safe = A;
  bool Escapes = among(M, {"join", "replace"});
  for (Value &V : Safe.Positional) {
    if (Escapes && M == "join") {
      Value::Items Items = C.iterate(V);
      for (Value &I : Items)
        I = I.isString() ? escapedValue(I) : I;
      V = Value::list(std::move(Items));
    } else if (Escapes && V.isString()) {
      V = escapedValue(V);
    }
  }
  auto Marked = [](const Value &V) {
    return V.isString() ? Value::markup(V.asString()) : V;
  };
  Value Out = textMethod(C, Self.asString(), M, Safe);
  if (!Out.isSequence())
    return Marked(Out);
  Value::Items Items = Out.items();
  for (Value &I : Items)
    I = Marked(I);
  return Value::list(std::move(Items), Out.kind());
}

} // namespace

Value callMethod(Context &C, const Value &Self, const std::string &M,
                 const Arguments &A) {
  switch (Self.kind()) {
  case Value::Kind::String:
    return Self.isMarkup() ? markupMethod(C, Self, M, A)
                           : textMethod(C, Self.asString(), M, A);
  case Value::Kind::Dict:
    return dictMethod(C, Self, M, A);
  case Value::Kind::Float:
    return Value::boolean(Self.asReal() == std::floor(Self.asReal()));
  case Value::Kind::Int:
  case Value::Kind::Bool: {
    int64_t I = Self.asInteger();
    uint64_t Size =
        I < 0 ? 0 - static_cast<uint64_t>(I) : static_cast<uint64_t>(I);
    return Value::integer(std::bit_width(Size));
  }
  case Value::Kind::Object:
    return listMethod(C, Value::list(Self.asObject()->Items), M, A);
  default:
    return listMethod(C, Self, M, A);
  }
}

} // namespace llmc::jinja
