// Methods of texts, lists, dicts and numbers. Those that would change the
// value are known by name and refused.
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

Value split(Context &C, const std::string &S, const Arguments &A,
            bool FromRight) {
  const std::string *Separator = textArgument(A, 0, "sep");
  int64_t Max = integerArgument(A, 1, "maxsplit", -1);
  Value::Items Out;
  if (!C.charge(1 + S.size()))
    return Value();
  if (Separator != nullptr && Separator->empty())
    return C.fail("empty separator");
  if (Separator == nullptr && FromRight && Max >= 0) {
    constexpr std::string_view Spaces = " \t\n\r\v\f";
    std::string_view Rest = S;
    for (; Max >= 0; --Max) {
      size_t End = Rest.find_last_not_of(Spaces);
      if (End == std::string_view::npos)
        break;
      Rest = Rest.substr(0, End + 1);
      size_t Gap = Rest.find_last_of(Spaces);
      if (Max == 0 || Gap == std::string_view::npos) {
        Out.push_back(Value::string(std::string(Rest)));
        break;
      }
      Out.push_back(Value::string(std::string(Rest.substr(Gap + 1))));
      Rest = Rest.substr(0, Gap);
    }
    std::reverse(Out.begin(), Out.end());
    return Value::list(std::move(Out));
  }
  if (Separator == nullptr) {
    std::string Rest = strip(S, nullptr, Side::Left);
    while (!Rest.empty()) {
      size_t End = Rest.find_first_of(" \t\n\r\v\f");
      if (End == std::string::npos || Max == 0) {
        Out.push_back(
            Value::string(Max == 0 ? Rest : strip(Rest, nullptr, Side::Right)));
        break;
      }
      Out.push_back(Value::string(Rest.substr(0, End)));
      size_t Next = Rest.find_first_not_of(" \t\n\r\v\f", End);
      Rest = Next == std::string::npos ? "" : Rest.substr(Next);
      --Max;
      if (!C.charge(1 + Rest.size() / 16))
        return Value();
    }
    return Value::list(std::move(Out));
  }
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

bool allOf(const std::string &S, bool (*Is)(char)) {
  return !S.empty() && std::all_of(S.begin(), S.end(), Is);
}

Value textMethod(Context &C, const std::string &S, const std::string &M,
                 const Arguments &A) {
  if (!C.charge(1 + S.size() / 8))
    return Value();
  if (isMoreMethod(M, &A))
    return moreMethod(C, S, M, A);
  if (M == "upper")
    return Value::string(upperCase(S));
  if (M == "lower" || M == "casefold")
    return Value::string(lowerCase(S));
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
  if (M == "isdigit" || M == "isdecimal" || M == "isnumeric")
    return Value::boolean(
        allOf(S, [](char D) { return D >= '0' && D <= '9'; }));
  if (M == "isalpha")
    return Value::boolean(allOf(S, [](char D) {
      return ((D | 0x20) >= 'a' && (D | 0x20) <= 'z') || (D & 0x80);
    }));
  if (M == "isspace")
    return Value::boolean(!S.empty() && strip(S, nullptr, Side::Both).empty());
  if (M == "isupper" || M == "islower")
    return Value::boolean((M == "isupper" ? upperCase(S) : lowerCase(S)) == S &&
                          upperCase(S) != lowerCase(S));
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
    return formatBraces(C, S, A);
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
    const Value *Found = D.find(*Key), *Default = A.get(1, "default");
    return Found ? *Found : Default ? *Default : Value::none();
  }
  if (M == "copy")
    return D;
  Value::Items Out;
  for (const auto &[Key, V] : D.members())
    Out.push_back(M == "items"  ? Value::tuple({Key, V})
                  : M == "keys" ? Key
                                : V);
  return Value::list(std::move(Out));
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
  default:
    break;
  }
  return Harmless  ? MethodKind::Harmless
         : Changes ? MethodKind::Changes
                   : MethodKind::None;
}

Value callMethod(Context &C, const Value &Self, const std::string &M,
                 const Arguments &A) {
  switch (Self.kind()) {
  case Value::Kind::String:
    return textMethod(C, Self.asString(), M, A);
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
  default:
    return listMethod(C, Self, M, A);
  }
}

} // namespace llmc::jinja
