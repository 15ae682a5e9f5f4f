// Filters that work on lists, dicts and what else has elements.
#include "runtime/text/jinja/FilterTable.h"

#include <algorithm>
#include <charconv>

namespace llmc::jinja {

namespace {

/// A part of digits is an index, whatever it looks into.
Value keyOf(const std::string &Part) {
  int64_t Index = 0;
  const char *End = Part.data() + Part.size();
  bool Digits = !Part.empty() && Part[0] != '-' &&
                std::from_chars(Part.data(), End, Index).ptr == End;
  return Digits ? Value::integer(Index) : Value::string(Part);
}

/// "a.b.0" looked up step by step; a missing step gives Default, and without
/// one nothing can be looked up behind it.
Value path(Context &C, Value V, const Value &Name, const Value *Default) {
  auto Step = [&](const Value &Key) {
    V = C.item(V, Key);
    if (V.isUndefined() && Default != nullptr && !Default->isNone())
      V = *Default;
  };
  if (Name.isInteger()) {
    Step(Name);
    return V;
  }
  std::string P = display(Name);
  for (size_t At = 0; At <= P.size() && !C.failed();) {
    size_t Dot = std::min(P.find('.', At), P.size());
    Step(keyOf(P.substr(At, Dot - At)));
    At = Dot + 1;
  }
  return V;
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
  for (size_t I = 1; I < Keys.size(); ++I)
    (void)C.less(Keys[I], Keys.front());
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

/// What an element is sorted by: its attributes, as many as there are between
/// commas. A list even for one, so that equal keys never compare their parts.
Value sortKey(Context &C, const Value &I, const Value *By, bool Case) {
  if (By == nullptr || By->isNone())
    return Value::list({folded(I, Case)});
  if (!By->isString())
    return Value::list({folded(path(C, I, *By, nullptr), Case)});
  Value::Items Keys;
  const std::string &S = By->asString();
  for (size_t At = 0; At <= S.size() && !C.failed();) {
    size_t End = std::min(S.find(',', At), S.size());
    Value Name = Value::string(S.substr(At, End - At));
    Keys.push_back(folded(path(C, I, Name, nullptr), Case));
    At = End + 1;
  }
  return Value::list(std::move(Keys));
}

Value sortFilter(Context &C, const Value &V, const Arguments &A) {
  Value::Items Items = C.iterate(V), Keys;
  const Value *By = A.get(2, "attribute");
  bool Case = flagOf(A.get(1, "case_sensitive"), false);
  for (const Value &I : Items)
    Keys.push_back(sortKey(C, I, By, Case));
  sortBy(C, Items, Keys, flagOf(A.get(0, "reverse"), false));
  return Value::list(std::move(Items));
}

Value dictSort(Context &C, const Value &V, const Arguments &A) {
  if (!V.isDict())
    return C.fail("dictsort needs a dict, not " + std::string(V.typeName()));
  std::string By = textOf(A.get(1, "by"), "key");
  if (By != "key" && By != "value")
    return C.fail("you can only sort by either \"key\" or \"value\"");
  bool ByValue = By == "value";
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
    Out.push_back(Value::group(path(C, Items[First], *By, A.get(1, "default")),
                               std::move(Group)));
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
  Value Total = Start ? *Start : Value::integer(0);
  if (Total.isString())
    return C.fail("sum() can't sum strings");
  for (const Value &I : C.iterate(V)) {
    Total = arithmetic(C, "+", Total,
                       By && !By->isNone() ? path(C, I, *By, nullptr) : I);
    if (C.failed() || !C.charge(Total.weight()) ||
        Total.weight() > MaxValueWeight)
      return C.fail("the sum has too many parts");
  }
  return Total;
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
    return Value::iterator({});
  for (const Value &I : C.iterate(V)) {
    Value What = Attribute ? path(C, I, *Attribute, nullptr) : I;
    bool Yes = Test.empty() ? What.truthy() : applyTest(C, Test, What, Rest);
    if (Yes == Keep)
      Out.push_back(I);
    if (C.failed())
      break;
  }
  return Value::iterator(std::move(Out));
}

Value mapFilter(Context &C, const Value &V, const Arguments &A) {
  const Value *Attribute = A.get(SIZE_MAX, "attribute");
  Value::Items Out;
  if (Attribute == nullptr && A.Positional.empty() && !V.truthy())
    return Value::iterator({});
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
    return Value::iterator({});
  for (const Value &I : C.iterate(V)) {
    Out.push_back(Attribute ? path(C, I, *Attribute, A.get(SIZE_MAX, "default"))
                            : applyFilter(C, Filter, I, Rest));
    if (C.failed())
      break;
  }
  return Value::iterator(std::move(Out));
}

Value unique(Context &C, const Value &V, const Arguments &A) {
  Value::Items Out, Keys;
  const Value *By = A.get(1, "attribute");
  for (const Value &I : C.iterate(V)) {
    Value Key = folded(By ? path(C, I, *By, nullptr) : I,
                       flagOf(A.get(0, "case_sensitive"), false));
    if (!C.hashable(Key) || !C.charge(1 + Keys.size() + Key.weight()))
      break;
    bool Old = std::any_of(Keys.begin(), Keys.end(),
                           [&](const Value &K) { return equal(K, Key); });
    if (Old)
      continue;
    Keys.push_back(Key);
    Out.push_back(I);
  }
  return Value::iterator(std::move(Out));
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
  return Value::iterator(std::move(Out));
}

Value length(Context &C, const Value &V, const Arguments &) {
  size_t N = 0;
  return C.lengthOf(V, N) ? Value::integer(static_cast<int64_t>(N)) : Value();
}

/// Backwards; what it yields depends on what goes in, as in Jinja.
Value reverse(Context &C, const Value &V, const Arguments &) {
  Value::Items Items = C.iterate(V);
  std::reverse(Items.begin(), Items.end());
  if (V.isString())
    return joinTexts(C, Items, "");
  Object *O = V.asObject();
  if (O && O->What == Object::Type::Iterator)
    return Value::list(std::move(Items));
  std::string Name = V.isDict()                      ? "dict_reversekeyiterator"
                     : V.kind() == Value::Kind::List ? "list_reverseiterator"
                     : O && O->What == Object::Type::Range ? "range_iterator"
                     : O ? "dict_reverseitemiterator"
                         : "reversed";
  return Value::iterator(std::move(Items), std::move(Name));
}

Value firstOf(Context &C, const Value &V, const Arguments &) {
  Object *O = V.asObject();
  if (O && O->What == Object::Type::Iterator && O->Index < O->Items.size())
    return O->Items[O->Index++];
  Value::Items Items = C.iterate(V);
  return Items.empty() ? Value::undefined("No first item, sequence was empty.")
                       : Items.front();
}

Value lastOf(Context &C, const Value &V, const Arguments &) {
  if (Object *O = V.asObject(); O && O->What == Object::Type::Iterator)
    return C.fail("'" + O->Name + "' object is not reversible");
  Value::Items Items = C.iterate(V);
  return Items.empty() ? Value::undefined("No last item, sequence was empty.")
                       : Items.back();
}

/// Any element; which one follows the clock.
Value randomOf(Context &C, const Value &V, const Arguments &) {
  size_t N = 0;
  if (!C.lengthOf(V, N) || V.isDict())
    return C.fail("random needs a list or a text");
  std::tm When = C.Clock;
  uint64_t Seed = static_cast<uint64_t>(timegm(&When)) * 6364136223846793005u;
  Value::Items Items = C.iterate(V);
  return N == 0 ? Value::undefined("No random item, sequence was empty.")
                : Items[(Seed >> 33) % N];
}

Value joinFilter(Context &C, const Value &V, const Arguments &A) {
  Value::Items Items = C.iterate(V);
  if (const Value *By = A.get(1, "attribute"); By && !By->isNone())
    for (Value &I : Items)
      I = path(C, I, *By, nullptr);
  const Value *D = A.get(0, "d");
  bool Html = D && D->isMarkup();
  for (const Value &I : Items)
    Html |= I.isMarkup();
  if (!C.AutoEscape || !Html)
    return joinTexts(C, Items, textOf(D, ""));
  for (Value &I : Items)
    I = escapedValue(I);
  std::string Between = D ? escapedValue(*D).asString() : "";
  return Value::markup(joinTexts(C, Items, Between).asString());
}

Value itemsFilter(Context &C, const Value &V, const Arguments &A) {
  if (V.isUndefined())
    return Value::iterator({});
  if (!V.isDict())
    return C.fail("can only get item pairs from a mapping");
  return Value::iterator(C.iterate(callMethod(C, V, "items", A)));
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
  return Value::iterator(std::move(Out));
}

constexpr FilterEntry Table[] = {
    {"attr", "name", attributeOf},
    {"batch", "linecount fill_with", batch},
    {"count", "", length},
    {"dictsort", "case_sensitive by reverse", dictSort},
    {"first", "", firstOf},
    {"groupby", "attribute default case_sensitive", groupBy},
    {"items", "", itemsFilter},
    {"join", "d attribute", joinFilter},
    {"last", "", lastOf},
    {"length", "", length},
    {"list", "",
     [](Context &C, const Value &V, const Arguments &) {
       return Value::list(C.iterate(V));
     }},
    {"map", "*", mapFilter},
    {"max", "case_sensitive attribute",
     [](Context &C, const Value &V, const Arguments &A) {
       return extreme(C, V, A, true);
     }},
    {"min", "case_sensitive attribute",
     [](Context &C, const Value &V, const Arguments &A) {
       return extreme(C, V, A, false);
     }},
    {"random", "", randomOf},
    {"reject", "*",
     [](Context &C, const Value &V, const Arguments &A) {
       return choose(C, V, A, false, false);
     }},
    {"rejectattr", "*",
     [](Context &C, const Value &V, const Arguments &A) {
       return choose(C, V, A, true, false);
     }},
    {"reverse", "", reverse},
    {"select", "*",
     [](Context &C, const Value &V, const Arguments &A) {
       return choose(C, V, A, false, true);
     }},
    {"selectattr", "*",
     [](Context &C, const Value &V, const Arguments &A) {
       return choose(C, V, A, true, true);
     }},
    {"slice", "slices fill_with", slices},
    {"sort", "reverse case_sensitive attribute", sortFilter},
    {"sum", "attribute start", sum},
    {"unique", "case_sensitive attribute", unique},
};

} // namespace

std::span<const FilterEntry> sequenceFilters() { return Table; }

} // namespace llmc::jinja
