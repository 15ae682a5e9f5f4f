// Filters: what may stand behind "|". Long because all filters of the language
// are in its one table, each a few lines.
#include "runtime/text/jinja/Library.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace llmc::jinja {

namespace {

using Function = Value (*)(Context &, const Value &, const Arguments &);

std::string textOf(const Value *V, const char *Default) {
  return V == nullptr ? Default : display(*V);
}
bool flagOf(const Value *V, bool Default) {
  return V == nullptr ? Default : V->truthy();
}
int64_t numberOf(const Value *V, int64_t Default) {
  return V != nullptr && V->isInteger() ? V->asInteger() : Default;
}

/// "a.b.0" looked up step by step; a missing one gives Default.
Value path(Context &C, Value V, const Value &Name, const Value *Default) {
  if (Name.isInteger()) {
    V = C.item(V, Name);
  } else {
    std::string P = display(Name);
    for (size_t At = 0; At <= P.size() && !V.isUndefined();) {
      size_t Dot = std::min(P.find('.', At), P.size());
      std::string Part = P.substr(At, Dot - At);
      int64_t Index = 0;
      bool Digits =
          !Part.empty() &&
          std::from_chars(Part.data(), Part.data() + Part.size(), Index).ptr ==
              Part.data() + Part.size();
      V = Digits && V.isSequence() ? C.item(V, Value::integer(Index))
                                   : C.item(V, Value::string(Part));
      At = Dot + 1;
    }
  }
  return V.isUndefined() && Default != nullptr ? *Default : V;
}

/// Key for comparisons that ignore case.
Value folded(const Value &V, bool CaseSensitive) {
  return V.isString() && !CaseSensitive ? Value::string(lowerCase(V.asString()))
                                        : V;
}

/// Sorts by keys; stops comparing after an error.
void sortBy(Context &C, Value::Items &Items, Value::Items &Keys, bool Reverse) {
  std::vector<size_t> Order(Items.size());
  for (size_t I = 0; I < Order.size(); ++I)
    Order[I] = I;
  uint64_t Weight = 1;
  for (const Value &K : Keys)
    Weight += K.weight();
  if (!C.charge(Weight * 8))
    return;
  // One kind for all, or the order would not be an order.
  for (const Value &K : Keys)
    (void)C.less(K, Keys.front());
  if (C.failed())
    return;
  std::stable_sort(Order.begin(), Order.end(), [&](size_t A, size_t B) {
    if (C.failed())
      return false;
    return Reverse ? C.less(Keys[B], Keys[A]) : C.less(Keys[A], Keys[B]);
  });
  Value::Items SortedItems, SortedKeys;
  for (size_t I : Order) {
    SortedItems.push_back(Items[I]);
    SortedKeys.push_back(Keys[I]);
  }
  Items = std::move(SortedItems);
  Keys = std::move(SortedKeys);
}

Value sortFilter(Context &C, const Value &V, const Arguments &A) {
  Value::Items Items = C.iterate(V), Keys;
  const Value *By = A.get(2, "attribute");
  bool Case = flagOf(A.get(1, "case_sensitive"), false);
  for (const Value &I : Items)
    Keys.push_back(folded(By ? path(C, I, *By, nullptr) : I, Case));
  sortBy(C, Items, Keys, flagOf(A.get(0, "reverse"), false));
  return Value::list(std::move(Items));
}

Value dictSort(Context &C, const Value &V, const Arguments &A) {
  if (!V.isDict())
    return C.fail("dictsort needs a dict, not " + std::string(V.typeName()));
  bool ByValue = textOf(A.get(1, "by"), "key") == "value";
  bool Case = flagOf(A.get(0, "case_sensitive"), false);
  Value::Items Items, Keys;
  for (const auto &[Key, Member] : V.members()) {
    Items.push_back(Value::tuple({Key, Member}));
    Keys.push_back(folded(ByValue ? Member : Key, Case));
  }
  sortBy(C, Items, Keys, flagOf(A.get(2, "reverse"), false));
  return Value::list(std::move(Items));
}

Value groupBy(Context &C, const Value &V, const Arguments &A) {
  const Value *By = A.get(0, "attribute");
  if (By == nullptr)
    return C.fail("groupby needs an attribute");
  Value::Items Items = C.iterate(V), Keys, Out;
  for (const Value &I : Items)
    Keys.push_back(folded(path(C, I, *By, A.get(1, "default")),
                          flagOf(A.get(2, "case_sensitive"), false)));
  sortBy(C, Items, Keys, false);
  for (size_t I = 0; I < Items.size() && !C.failed();) {
    Value::Items Group;
    size_t First = I;
    for (; I < Items.size() && equal(Keys[I], Keys[First]); ++I)
      Group.push_back(Items[I]);
    Out.push_back(Value::tuple(
        {path(C, Items[First], *By, nullptr), Value::list(std::move(Group))}));
  }
  return Value::list(std::move(Out));
}

Value extreme(Context &C, const Value &V, const Arguments &A, bool Largest) {
  Value::Items Items = C.iterate(V);
  const Value *By = A.get(1, "attribute");
  Value Best = Value::undefined("no items, so there is no smallest or "
                                "largest");
  Value BestKey;
  for (size_t I = 0; I < Items.size() && !C.failed(); ++I) {
    Value Key = folded(By ? path(C, Items[I], *By, nullptr) : Items[I],
                       flagOf(A.get(0, "case_sensitive"), false));
    if (I == 0 || (Largest ? C.less(BestKey, Key) : C.less(Key, BestKey))) {
      Best = Items[I];
      BestKey = Key;
    }
  }
  return Best;
}

Value sum(Context &C, const Value &V, const Arguments &A) {
  const Value *By = A.get(0, "attribute"), *Start = A.get(1, "start");
  double Real = Start && Start->isNumber() ? Start->asReal() : 0;
  int64_t Whole = numberOf(Start, 0);
  bool AllWhole = !Start || Start->isInteger();
  for (const Value &I : C.iterate(V)) {
    Value N = By ? path(C, I, *By, nullptr) : I;
    if (!N.isNumber())
      return C.fail("sum of a value of type " + std::string(N.typeName()));
    AllWhole &=
        N.isInteger() && !__builtin_add_overflow(Whole, N.asInteger(), &Whole);
    Real += N.asReal();
  }
  return AllWhole ? Value::integer(Whole) : Value::real(Real);
}

/// select, reject, selectattr, rejectattr: Skip arguments are of the filter
/// itself, then comes a test and its operands.
Value choose(Context &C, const Value &V, const Arguments &A, bool ByAttribute,
             bool Keep) {
  size_t Skip = ByAttribute ? 1 : 0;
  const Value *Attribute = ByAttribute ? A.get(0, "attr") : nullptr;
  if (ByAttribute && Attribute == nullptr)
    return C.fail("filter needs the name of an attribute");
  std::string Test;
  Arguments Rest;
  if (A.Positional.size() > Skip) {
    Test = display(A.Positional[Skip]);
    if (!hasTest(Test))
      return C.fail("no test named '" + Test + "'");
    Rest.Positional.assign(A.Positional.begin() + Skip + 1, A.Positional.end());
    Rest.Named = A.Named;
  }
  Value::Items Out;
  if (!V.truthy()) // none, too, as in Jinja
    return Value::list({});
  for (const Value &I : C.iterate(V)) {
    Value What = Attribute ? path(C, I, *Attribute, nullptr) : I;
    bool Yes = Test.empty() ? What.truthy() : applyTest(C, Test, What, Rest);
    if (Yes == Keep)
      Out.push_back(I);
    if (C.failed())
      break;
  }
  return Value::list(std::move(Out));
}

Value mapFilter(Context &C, const Value &V, const Arguments &A) {
  const Value *Attribute = A.get(SIZE_MAX, "attribute");
  Value::Items Out;
  if (Attribute == nullptr && A.Positional.empty())
    return C.fail("map needs a filter or an attribute");
  std::string Filter = Attribute ? "" : display(A.Positional[0]);
  if (!Attribute && !hasFilter(Filter))
    return C.fail("no filter named '" + Filter + "'");
  Arguments Rest;
  if (!Attribute) {
    Rest.Positional.assign(A.Positional.begin() + 1, A.Positional.end());
    Rest.Named = A.Named;
  }
  if (!V.truthy())
    return Value::list({});
  for (const Value &I : C.iterate(V)) {
    Out.push_back(Attribute ? path(C, I, *Attribute, A.get(SIZE_MAX, "default"))
                            : applyFilter(C, Filter, I, Rest));
    if (C.failed())
      break;
  }
  return Value::list(std::move(Out));
}

Value unique(Context &C, const Value &V, const Arguments &A) {
  Value::Items Out, Keys;
  const Value *By = A.get(1, "attribute");
  for (const Value &I : C.iterate(V)) {
    Value Key = folded(By ? path(C, I, *By, nullptr) : I,
                       flagOf(A.get(0, "case_sensitive"), false));
    if (!C.charge(1 + Keys.size() + Key.weight()))
      break;
    bool Old = std::any_of(Keys.begin(), Keys.end(),
                           [&](const Value &K) { return equal(K, Key); });
    if (Old)
      continue;
    Keys.push_back(Key);
    Out.push_back(I);
  }
  return Value::list(std::move(Out));
}

Value batch(Context &C, const Value &V, const Arguments &A) {
  int64_t Size = numberOf(A.get(0, "linecount"), 0);
  const Value *Fill = A.get(1, "fill_with");
  if (Size < 1 || Size > 100'000)
    return C.fail("batch size " + std::to_string(Size) +
                  ", expected 1 to 100000");
  Value::Items Out, Part;
  for (const Value &I : C.iterate(V)) {
    Part.push_back(I);
    if (static_cast<int64_t>(Part.size()) == Size)
      Out.push_back(Value::list(std::exchange(Part, {})));
  }
  if (!Part.empty()) {
    while (Fill && !Fill->isNone() && static_cast<int64_t>(Part.size()) < Size)
      Part.push_back(*Fill);
    Out.push_back(Value::list(std::move(Part)));
  }
  return Value::list(std::move(Out));
}

Value defaultFilter(Context &, const Value &V, const Arguments &A) {
  const Value *D = A.get(0, "default_value");
  bool Falsy = flagOf(A.get(1, "boolean"), false);
  bool Use = V.isUndefined() || (Falsy && !V.truthy());
  return !Use ? V : D ? *D : Value::string("");
}

Value length(Context &C, const Value &V, const Arguments &) {
  size_t N = 0;
  if (V.isString())
    N = characterCount(V.asString());
  else if (V.isSequence())
    N = V.items().size();
  else if (V.isDict())
    N = V.members().size();
  else if (!V.isUndefined())
    return C.fail("object of type '" + std::string(V.typeName()) +
                  "' has no len()");
  return Value::integer(static_cast<int64_t>(N));
}

Value toJsonFilter(Context &C, const Value &V, const Arguments &A) {
  JsonStyle S;
  const Value *Indent = A.get(0, "indent");
  if (Indent && Indent->isInteger()) {
    S.Indent =
        static_cast<int>(std::clamp<int64_t>(Indent->asInteger(), 0, 64));
    S.Comma = ",";
  }
  const Value *Separators = A.get(SIZE_MAX, "separators");
  if (Separators && Separators->items().size() == 2) {
    S.Comma = display(Separators->items()[0]);
    S.Colon = display(Separators->items()[1]);
    if (S.Comma.size() > 16 || S.Colon.size() > 16)
      return C.fail("tojson separators are longer than 16 bytes");
  }
  S.SortKeys = flagOf(A.get(SIZE_MAX, "sort_keys"), false);
  S.Ascii = flagOf(A.get(SIZE_MAX, "ensure_ascii"), false);
  return toJson(C, V, S);
}

Value indent(Context &C, const Value &V, const Arguments &A) {
  const Value *Width = A.get(0, "width");
  std::string By = Width && Width->isString()
                       ? Width->asString()
                       : std::string(static_cast<size_t>(std::clamp<int64_t>(
                                         numberOf(Width, 4), 0, 1000)),
                                     ' ');
  bool First = flagOf(A.get(1, "first"), false);
  bool Blank = flagOf(A.get(2, "blank"), false);
  std::string S = display(V), Out;
  uint64_t Lines =
      1 + static_cast<uint64_t>(std::count(S.begin(), S.end(), '\n'));
  if (!C.room(S.size() + Lines * By.size()))
    return Value();
  for (size_t At = 0, N = 0; At <= S.size(); ++N) {
    size_t End = std::min(S.find('\n', At), S.size());
    if (N != 0)
      Out += '\n';
    if ((N != 0 || First) && (End != At || Blank))
      Out += By;
    Out.append(S, At, End - At);
    At = End + 1;
  }
  return Value::string(std::move(Out));
}

Value roundFilter(Context &C, const Value &V, const Arguments &A) {
  if (!V.isNumber())
    return C.fail("round of a value of type " + std::string(V.typeName()));
  std::string Method = textOf(A.get(1, "method"), "common");
  double Scale =
      std::pow(10.0, static_cast<double>(std::clamp<int64_t>(
                         numberOf(A.get(0, "precision"), 0), -300, 300)));
  if (V.isInteger() && Method == "common" && Scale >= 1)
    return Value::integer(V.asInteger());
  double X = V.asReal() * Scale;
  if (Method != "common" && Method != "ceil" && Method != "floor")
    return C.fail("round method '" + Method + "' is not known");
  X = Method == "ceil"    ? std::ceil(X)
      : Method == "floor" ? std::floor(X)
                          : std::nearbyint(X);
  if (V.isInteger() && Method == "common" && std::fabs(X / Scale) < 1e15)
    return Value::integer(static_cast<int64_t>(X / Scale));
  return Value::real(X / Scale);
}

Value toInteger(Context &, const Value &V, const Arguments &A) {
  const Value *Default = A.get(0, "default");
  if (V.isInteger())
    return Value::integer(V.asInteger());
  double D = 0;
  bool Good = V.kind() == Value::Kind::Float;
  if (Good)
    D = V.asReal();
  if (V.isString()) {
    std::string S = strip(V.asString(), nullptr, Side::Both);
    int Base = static_cast<int>(
        std::clamp<int64_t>(numberOf(A.get(1, "base"), 10), 2, 36));
    int64_t I = 0;
    const char *End = S.data() + S.size();
    if (!S.empty() && std::from_chars(S.data(), End, I, Base).ptr == End)
      return Value::integer(I);
    Good = !S.empty() && std::from_chars(S.data(), End, D).ptr == End;
  }
  if (!Good || !(std::fabs(D) < 9e18))
    return Default ? *Default : Value::integer(0);
  return Value::integer(static_cast<int64_t>(D));
}

Value toReal(Context &, const Value &V, const Arguments &A) {
  const Value *Default = A.get(0, "default");
  if (V.isNumber())
    return Value::real(V.asReal());
  double D = 0;
  std::string S = strip(V.asString(), nullptr, Side::Both);
  const char *End = S.data() + S.size();
  if (!S.empty() && std::from_chars(S.data(), End, D).ptr == End)
    return Value::real(D);
  return Default ? *Default : Value::real(0);
}

Value absolute(Context &C, const Value &V, const Arguments &) {
  if (V.kind() == Value::Kind::Float)
    return Value::real(std::fabs(V.asReal()));
  if (!V.isInteger() || V.asInteger() == INT64_MIN)
    return C.fail("abs of a value of type " + std::string(V.typeName()));
  return Value::integer(std::abs(V.asInteger()));
}

Value escape(Context &C, const Value &V, const Arguments &) {
  std::string Out;
  for (char Ch : display(V))
    switch (Ch) {
    case '&':
      Out += "&amp;";
      break;
    case '<':
      Out += "&lt;";
      break;
    case '>':
      Out += "&gt;";
      break;
    case '\'':
      Out += "&#39;";
      break;
    case '"':
      Out += "&#34;";
      break;
    default:
      Out += Ch;
    }
  (void)C.room(Out.size());
  return Value::string(std::move(Out));
}

Value reverse(Context &C, const Value &V, const Arguments &) {
  Value::Items Items = C.iterate(V);
  std::reverse(Items.begin(), Items.end());
  return V.isString() ? joinTexts(C, Items, "") : Value::list(Items);
}

Value endOf(Context &C, const Value &V, bool First) {
  Value::Items Items = C.iterate(V);
  if (Items.empty())
    return Value::undefined("no items, so there is no first or last");
  return First ? Items.front() : Items.back();
}

Value joinFilter(Context &C, const Value &V, const Arguments &A) {
  Value::Items Items = C.iterate(V);
  if (const Value *By = A.get(1, "attribute"))
    for (Value &I : Items)
      I = path(C, I, *By, nullptr);
  return joinTexts(C, Items, textOf(A.get(0, "d"), ""));
}

Value trim(Context &C, const Value &V, const Arguments &A) {
  const Value *Chars = A.get(0, "chars");
  (void)C.charge(V.weight());
  return Value::string(strip(
      display(V), Chars && Chars->isString() ? &Chars->asString() : nullptr,
      Side::Both));
}

Value replaceFilter(Context &C, const Value &V, const Arguments &A) {
  const Value *Old = A.get(0, "old"), *New = A.get(1, "new");
  if (Old == nullptr || New == nullptr)
    return C.fail("replace needs the old and the new text");
  return replaceText(C, display(V), display(*Old), display(*New),
                     numberOf(A.get(2, "count"), -1));
}

Value itemsFilter(Context &C, const Value &V, const Arguments &A) {
  if (V.isUndefined())
    return Value::list({});
  if (!V.isDict())
    return C.fail("can only get item pairs from a mapping");
  return callMethod(C, V, "items", A);
}

Value urlEncode(Context &C, const Value &V, const Arguments &) {
  constexpr char Hex[] = "0123456789ABCDEF";
  std::string Out;
  for (char Ch : display(V)) {
    uint8_t B = static_cast<uint8_t>(Ch);
    if (std::isalnum(B) ||
        std::string_view("_.-~/").find(Ch) != std::string_view::npos) {
      Out += Ch;
      continue;
    }
    Out += '%';
    Out += Hex[B >> 4];
    Out += Hex[B & 15];
  }
  (void)C.room(Out.size());
  return Value::string(std::move(Out));
}

Value wordCount(Context &C, const Value &V, const Arguments &) {
  Value Words = callMethod(C, Value::string(display(V)), "split", {});
  return Value::integer(static_cast<int64_t>(Words.items().size()));
}

/// The method of the same name.
Value center(Context &C, const Value &V, const Arguments &A) {
  Arguments Width = A;
  if (A.get(0, "width") == nullptr)
    Width.Positional.push_back(Value::integer(80));
  return callMethod(C, Value::string(display(V)), "center", Width);
}

Value attributeOf(Context &C, const Value &V, const Arguments &A) {
  const Value *Name = A.get(0, "name");
  if (Name == nullptr || !Name->isString())
    return C.fail("attr needs the name of an attribute");
  if (V.isDict())
    return Value::undefined("'dict object' has no attribute '" +
                            Name->asString() + "'");
  return C.attribute(V, Name->asString());
}

/// In Count columns, the first ones longer by one.
Value slices(Context &C, const Value &V, const Arguments &A) {
  Value::Items Items = C.iterate(V);
  int64_t Count = numberOf(A.get(0, "slices"), 0);
  const Value *Fill = A.get(1, "fill_with");
  if (Count <= 0 || Count > 100'000)
    return C.fail("slice into " + std::to_string(Count) + " parts");
  size_t N = static_cast<size_t>(Count), Each = Items.size() / N;
  size_t Longer = Items.size() % N, At = 0;
  Value::Items Out;
  for (size_t I = 0; I < N; ++I) {
    size_t Size = Each + (I < Longer ? 1 : 0);
    Value::Items Part(Items.begin() + At, Items.begin() + At + Size);
    At += Size;
    if (Fill != nullptr && !Fill->isNone() && I >= Longer)
      Part.push_back(*Fill);
    Out.push_back(Value::list(std::move(Part)));
  }
  return Value::list(std::move(Out));
}

template <std::string (*Change)(std::string_view)>
Value changed(Context &C, const Value &V, const Arguments &) {
  (void)C.charge(V.weight());
  return Value::string(Change(display(V)));
}

Value asText(Context &C, const Value &V, const Arguments &) {
  return C.charge(V.weight()) ? Value::string(display(V)) : Value();
}

const std::map<std::string_view, Function> &table() {
  static const std::map<std::string_view, Function> Table = {
      {"abs", absolute},
      {"attr", attributeOf},
      {"batch", batch},
      {"capitalize", changed<capitalized>},
      {"center", center},
      {"count", length},
      {"d", defaultFilter},
      {"default", defaultFilter},
      {"dictsort", dictSort},
      {"e", escape},
      {"escape", escape},
      {"first", [](Context &C, const Value &V,
                   const Arguments &) { return endOf(C, V, true); }},
      {"float", toReal},
      {"forceescape", escape},
      {"format",
       [](Context &C, const Value &V, const Arguments &A) {
         return formatPercent(C, display(V), A.Positional);
       }},
      {"groupby", groupBy},
      {"indent", indent},
      {"int", toInteger},
      {"items", itemsFilter},
      {"join", joinFilter},
      {"last", [](Context &C, const Value &V,
                  const Arguments &) { return endOf(C, V, false); }},
      {"length", length},
      {"list", [](Context &C, const Value &V,
                  const Arguments &) { return Value::list(C.iterate(V)); }},
      {"lower", changed<lowerCase>},
      {"map", mapFilter},
      {"max", [](Context &C, const Value &V,
                 const Arguments &A) { return extreme(C, V, A, true); }},
      {"min", [](Context &C, const Value &V,
                 const Arguments &A) { return extreme(C, V, A, false); }},
      {"reject",
       [](Context &C, const Value &V, const Arguments &A) {
         return choose(C, V, A, false, false);
       }},
      {"rejectattr",
       [](Context &C, const Value &V, const Arguments &A) {
         return choose(C, V, A, true, false);
       }},
      {"replace", replaceFilter},
      {"reverse", reverse},
      {"round", roundFilter},
      {"safe", asText},
      {"select",
       [](Context &C, const Value &V, const Arguments &A) {
         return choose(C, V, A, false, true);
       }},
      {"selectattr",
       [](Context &C, const Value &V, const Arguments &A) {
         return choose(C, V, A, true, true);
       }},
      {"slice", slices},
      {"sort", sortFilter},
      {"string", asText},
      {"sum", sum},
      {"title", changed<titleWords>},
      {"tojson", toJsonFilter},
      {"trim", trim},
      {"unique", unique},
      {"upper", changed<upperCase>},
      {"urlencode", urlEncode},
      {"wordcount", wordCount},
  };
  return Table;
}

} // namespace

bool hasFilter(std::string_view Name) { return table().contains(Name); }

Value applyFilter(Context &C, const std::string &Name, const Value &In,
                  const Arguments &A) {
  return C.failed() ? Value() : table().at(Name)(C, In, A);
}

} // namespace llmc::jinja
