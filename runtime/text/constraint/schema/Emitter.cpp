// Texts of values. Members are written in one order: those that the schema
// names, as it names them, then others. So what is required is a matter of
// place; only others must be kept from coming twice, which a Loop does.
#include "runtime/text/constraint/schema/Emitter.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

constexpr uint32_t MaxSpace = 24;
constexpr size_t MaxRules = 20000, MaxCells = 40000, MaxRegions = 256;

uint32_t minus(uint32_t A, uint32_t B) {
  return A == Unbounded ? Unbounded : A > B ? A - B : 0;
}

} // namespace

Emitter::Emitter(const JsonValue &Root, Grammar &Gr, const CompileOptions &O)
    : G(Gr), T(Gr.terms()), N(Root, T) {
  ByteSet White;
  for (char C : {' ', '\t', '\n', '\r'})
    White.add(static_cast<uint8_t>(C));
  Space = O.Whitespace ? T.repeat(T.bytes(White), 0, MaxSpace) : Epsilon;
  Comma = T.seq(Space, T.seq(T.byte(','), Space));
  Colon = T.seq(Space, T.seq(T.byte(':'), Space));
}

Status Emitter::grown() {
  return T.overflowed() ? doesNotFitError("schema: more than " +
                                          std::to_string(T.size()) + " states")
                        : Status::success();
}

TermId Emitter::brackets(char Open, TermId In, char Close) {
  TermId Inner = In == Epsilon ? Space : T.seq(Space, T.seq(In, Space));
  return T.seq(T.byte(static_cast<uint8_t>(Open)),
               T.seq(Inner, T.byte(static_cast<uint8_t>(Close))));
}

/// Once: one text for each value.
Result<TermId> Emitter::scalars(const ValueSet &V, bool Once) {
  ValueAlgebra &A = N.algebra();
  std::vector<TermId> List;
  if (V.Null)
    List.push_back(T.literal("null"));
  if (V.False)
    List.push_back(T.literal("false"));
  if (V.True)
    List.push_back(T.literal("true"));
  TermId Number =
      Once ? A.numbers().writtenOnce(V.Number) : A.numbers().written(V.Number);
  if (T.live(Number))
    List.push_back(Number);
  List.push_back(Once ? A.strings().writtenOnce(V.String)
                      : A.strings().written(V.String));
  LLMC_RETURN_IF_ERROR(grown());
  return T.alt(List);
}

Result<TermId> Emitter::value(const Key &K) {
  auto It = Values.find(K);
  if (It != Values.end())
    return It->second;
  LLMC_ASSIGN_OR_RETURN(const ValueSet *V, N.valuesOf(K));
  LLMC_ASSIGN_OR_RETURN(TermId Out, scalars(*V, false));
  Out = T.lex(Out);
  if (!V->Arrays.empty() || !V->Objects.empty()) {
    if (G.rules().size() >= MaxRules)
      return unsupportedError("schema: more than " + std::to_string(MaxRules) +
                              " different arrays and objects");
    uint32_t Rule = G.addRule("value");
    Work.emplace_back(Rule, K);
    Out = T.alt(Out, T.ref(Rule));
  }
  Values.emplace(K, Out);
  return Out;
}

Status Emitter::body(uint32_t Rule, const Key &K) {
  LLMC_ASSIGN_OR_RETURN(const ValueSet *V, N.valuesOf(K));
  std::vector<TermId> List;
  for (const ArrayShape &A : V->Arrays) {
    LLMC_ASSIGN_OR_RETURN(TermId One, array(A));
    List.push_back(One);
  }
  for (const ObjectShape &O : V->Objects) {
    LLMC_ASSIGN_OR_RETURN(TermId One, object(O));
    List.push_back(One);
  }
  G.setBody(Rule, T.alt(List));
  return grown();
}

Result<TermId> Emitter::array(const ArrayShape &A) {
  if (!A.Contains.empty() && A.Unique)
    return unsupportedError("schema: uniqueItems beside contains is not "
                            "supported");
  if (!A.Contains.empty())
    return countingArray(A);
  if (A.Unique && A.Max > 1)
    return uniqueArray(A);
  uint32_t Listed = static_cast<uint32_t>(A.Prefix.size());
  // From the end: what follows I elements.
  TermId Tail = Epsilon;
  if (A.Max > Listed) {
    LLMC_ASSIGN_OR_RETURN(TermId Rest, value(A.Rest));
    uint32_t Min = minus(A.Min, Listed), Max = minus(A.Max, Listed);
    if (Listed > 0)
      Tail = T.repeat(T.seq(Comma, Rest), Min, Max);
    else
      Tail = T.seq(Rest,
                   T.repeat(T.seq(Comma, Rest), minus(Min, 1), minus(Max, 1)));
    if (Listed == 0 && Min == 0)
      Tail = T.optional(Tail);
  }
  for (uint32_t I = std::min(Listed, A.Max); I-- > 0;) {
    LLMC_ASSIGN_OR_RETURN(TermId Element, value(A.Prefix[I]));
    Tail = T.seq(I == 0 ? Epsilon : Comma, T.seq(Element, Tail));
    if (A.Min <= I)
      Tail = T.optional(Tail);
  }
  return brackets('[', Tail, ']');
}

/// Different elements: a list of keys without values.
Result<TermId> Emitter::uniqueArray(const ArrayShape &A) {
  if (!A.Prefix.empty())
    return unsupportedError("schema: uniqueItems beside prefixItems is not "
                            "supported");
  LLMC_ASSIGN_OR_RETURN(const ValueSet *V, N.valuesOf(A.Rest));
  if (!V->Arrays.empty() || !V->Objects.empty())
    return unsupportedError("schema: uniqueItems of arrays or objects is not "
                            "supported; give items a scalar type");
  LLMC_ASSIGN_OR_RETURN(TermId Element, scalars(*V, true));
  LoopSpec Spec;
  if (Element != Nothing)
    Spec.Entries.push_back({Element, Epsilon, false});
  Spec.Separator = Comma;
  return brackets('[', G.loop(G.addSpec(std::move(Spec)), A.Min, A.Max, true),
                  ']');
}

/// Counts the elements that a schema contains, beside all of them. Rows[F] is
/// what may follow I elements of which F count; I falls. With an upper bound
/// every element is counted, else as many as are demanded.
Result<TermId> Emitter::countingArray(const ArrayShape &A) {
  if (A.Contains.size() > 1)
    return unsupportedError("schema: contains more than once is not "
                            "supported");
  const ArrayShape::Containing &C = A.Contains[0];
  bool Exact = C.Max != Unbounded, Open = A.Max == Unbounded;
  uint32_t Most = Exact ? C.Max : C.Min;
  uint32_t Last = A.Max;
  if (Open)
    Last = std::max({A.Min, static_cast<uint32_t>(A.Prefix.size()), 1u});
  uint64_t Cells = (uint64_t{Most} + 1) * (uint64_t{Last} + 1);
  if (Cells > MaxCells)
    return unsupportedError("schema: contains with these counts takes " +
                            std::to_string(Cells) + " states, at most " +
                            std::to_string(MaxCells));
  std::vector<TermId> Rows(Most + 1), Next(Most + 2, Nothing);
  for (uint32_t I = Last + 1; I-- > 0;) {
    TermId Hit = Nothing, Miss = Nothing;
    if (I < Last || Open) {
      Key Element = A.element(I);
      LLMC_ASSIGN_OR_RETURN(Hit, value(joined(Element, C.What)));
      std::vector<Key> Others;
      if (!Exact)
        Others.push_back(Element);
      for (const Location &L : Exact ? C.What : Key())
        Others.push_back(joined(Element, {L.negated()}));
      for (const Key &K : Others) {
        LLMC_ASSIGN_OR_RETURN(TermId One, value(K));
        Miss = T.alt(Miss, One);
      }
    }
    TermId Sep = I == 0 ? Epsilon : Comma;
    for (uint32_t F = Most + 1; F-- > 0;) {
      bool Ends = I >= A.Min && F >= C.Min;
      TermId End = Ends ? Epsilon : Nothing;
      TermId Counted = F == Most   ? Nothing
                       : I == Last ? Rows[F + 1]
                                   : Next[F + 1];
      TermId More = T.seq(Sep, T.seq(Hit, Counted));
      if (I == Last) // as many others as liked, when it is open
        Rows[F] =
            T.seq(T.repeat(T.seq(Sep, Miss), 0, Unbounded), T.alt(End, More));
      else
        Rows[F] = T.alt(End, T.alt(More, T.seq(Sep, T.seq(Miss, Next[F]))));
    }
    std::copy(Rows.begin(), Rows.end(), Next.begin());
  }
  return brackets('[', Rows[0], ']');
}

/// Splits the names that the shape does not list by what holds of them.
Result<std::vector<Emitter::Region>> Emitter::regions(const ObjectShape &O) {
  TermId Rest = N.algebra().strings().anyContent();
  std::vector<std::string> Hold;
  for (const ObjectShape::Named &M : O.Names)
    Hold.push_back(Strings::spelling(M.Name));
  if (!Hold.empty())
    Rest = T.except(Rest, T.oneOf({Hold.begin(), Hold.end()}));
  std::vector<Region> All{{Rest, Key()}};
  for (const ObjectShape::Clause &C : O.Clauses) {
    std::vector<Region> Next;
    for (const Region &R : All) {
      TermId In = T.both(R.Content, C.Content);
      if (T.live(In))
        if (Key K = joined(R.Value, C.Value); !isNever(K))
          Next.push_back({In, std::move(K)});
      TermId Out = T.except(R.Content, C.Content);
      if (T.live(Out))
        Next.push_back({Out, R.Value});
    }
    if (Next.size() > MaxRegions)
      return unsupportedError("schema: patternProperties split names into " +
                              std::to_string(Next.size()) + " kinds, at most " +
                              std::to_string(MaxRegions));
    LLMC_RETURN_IF_ERROR(grown());
    All = std::move(Next);
  }
  return All;
}

/// A list of members with names of these regions.
Result<uint32_t> Emitter::loopOf(const std::vector<Region> &Regions) {
  LoopSpec Spec;
  Spec.Separator = Comma;
  for (const Region &One : Regions) {
    LLMC_ASSIGN_OR_RETURN(TermId Value, value(One.Value));
    TermId Name = T.seq(T.byte('"'), T.seq(One.Content, T.byte('"')));
    if (Value != Nothing)
      Spec.Entries.push_back({Name, T.seq(Colon, Value), false});
  }
  return G.addSpec(std::move(Spec));
}

Result<TermId> Emitter::object(const ObjectShape &O) {
  LLMC_ASSIGN_OR_RETURN(std::vector<Region> Regions, regions(O));
  LLMC_ASSIGN_OR_RETURN(uint32_t Others, loopOf(Regions));
  size_t Count = O.Names.size();
  // Members so far: exact while a bound needs it, else whether there are any.
  size_t Required = static_cast<size_t>(
      std::count_if(O.Names.begin(), O.Names.end(),
                    [](const ObjectShape::Named &M) { return M.Required; }));
  bool Counting = O.Min > Required || O.Max != Unbounded;
  size_t Width = Counting ? Count + 1 : 2;
  if (Counting && Width * Width > MaxCells)
    return unsupportedError("schema: minProperties or maxProperties beside " +
                            std::to_string(Count) + " properties takes " +
                            std::to_string(Width * Width) +
                            " states, at most " + std::to_string(MaxCells));
  std::vector<TermId> Rows(Width), Next;
  for (size_t C = 0; C < Width; ++C) {
    uint32_t Have = Counting ? static_cast<uint32_t>(C) : 0;
    if (Counting && Have > O.Max) {
      Rows[C] = Nothing;
      continue;
    }
    Rows[C] = G.loop(Others, Counting ? minus(O.Min, Have) : 0,
                     Counting ? minus(O.Max, Have) : Unbounded, C == 0);
  }
  for (size_t I = Count; I-- > 0;) {
    const ObjectShape::Named &M = O.Names[I];
    Next = Rows;
    TermId Value = Nothing;
    if (!isNever(M.Value)) {
      LLMC_ASSIGN_OR_RETURN(Value, value(M.Value));
    }
    TermId Name = T.literal("\"" + Strings::spelling(M.Name) + "\"");
    for (size_t C = 0; C < Width; ++C) {
      size_t After = std::min(C + 1, Width - 1);
      if (Counting && C > I)
        continue; // more members than names before this one
      TermId With = T.seq(C == 0 ? Epsilon : Comma,
                          T.seq(Name, T.seq(Colon, T.seq(Value, Next[After]))));
      Rows[C] = M.Required ? With : T.alt(With, Next[C]);
    }
  }
  LLMC_RETURN_IF_ERROR(grown());
  return brackets('{', Rows[0], '}');
}

Status Emitter::emit(const JsonValue &Root) {
  if (Root.What != JsonValue::Bool && Root.What != JsonValue::Object)
    return malformedError("schema: the root is no schema, expected an object "
                          "or a truth value");
  LLMC_ASSIGN_OR_RETURN(TermId Start, value({{&Root, Location::Schema}}));
  while (!Work.empty()) {
    std::pair<uint32_t, Key> Next = std::move(Work.back());
    Work.pop_back();
    LLMC_RETURN_IF_ERROR(body(Next.first, Next.second));
  }
  Status Done = G.finish(Start);
  if (Done.code() == StatusCode::Unsupported)
    return unsupportedError("schema: no value can satisfy it");
  return Done;
}

Result<std::unique_ptr<Grammar>> compileSchema(std::string_view Json,
                                               const CompileOptions &O) {
  LLMC_ASSIGN_OR_RETURN(std::unique_ptr<JsonValue> Root, readDocument(Json));
  std::unique_ptr<Grammar> G = std::make_unique<Grammar>();
  Emitter E(*Root, *G, O);
  LLMC_RETURN_IF_ERROR(E.emit(*Root));
  return G;
}

} // namespace llmc::constraint
