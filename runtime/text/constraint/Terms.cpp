// Making terms. Simplifications keep the number of states small: lists are
// flat, sorted and without doubles (which alone makes it finite), byte sets
// merge, alternatives with a common tail share it, adjoining repetitions add.
#include "runtime/text/constraint/Terms.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

uint64_t mix(uint64_t H, uint64_t V) {
  H = (H ^ V) * 0xFF51AFD7ED558CCDull;
  return H ^ (H >> 29);
}

uint32_t addCounts(uint32_t A, uint32_t B) {
  uint64_t Sum = uint64_t{A} + B;
  return A == Unbounded || B == Unbounded || Sum >= Unbounded
             ? Unbounded
             : static_cast<uint32_t>(Sum);
}

uint32_t multiplyCounts(uint32_t A, uint32_t B) {
  if (A == 0 || B == 0)
    return 0;
  uint64_t Product = uint64_t{A} * B;
  return A == Unbounded || B == Unbounded || Product >= Unbounded
             ? Unbounded
             : static_cast<uint32_t>(Product);
}

bool isList(TermKind K) { return K == TermKind::Alt || K == TermKind::And; }

} // namespace

Terms::Terms(uint32_t Max) : MaxTerms(Max) {
  Buckets.assign(1024, Unknown);
  TermNode N;
  intern(N); // Nothing
  N.Kind = TermKind::Epsilon;
  N.Nullable = true;
  intern(N);
  TermNode Any, Rep;
  Any.Kind = TermKind::Bytes;
  Any.A = internSet(ByteSet::all());
  Rep.Kind = TermKind::Repeat;
  Rep.A = Everything + 1; // the next node
  Rep.Max = Unbounded;
  Rep.Nullable = true;
  intern(Rep);
  intern(Any);
}

size_t Terms::memory() const {
  return Nodes.size() * (sizeof(TermNode) + sizeof(State) + 9) +
         (Kids.size() + Rows.size()) * sizeof(TermId) +
         Partitions.size() * 600 + (Refined.size() + Clamped.size()) * 48;
}

uint32_t Terms::internSet(const ByteSet &S) {
  auto [It, New] = SetIndex.emplace(S, static_cast<uint32_t>(Sets.size()));
  if (New)
    Sets.push_back(S);
  return It->second;
}

uint64_t Terms::hashOf(const TermNode &N, std::span<const TermId> List) const {
  uint64_t H = mix(static_cast<uint64_t>(N.Kind), N.B);
  if (isList(N.Kind)) {
    for (TermId T : List)
      H = mix(H, T);
    return H;
  }
  return mix(mix(H, N.A), uint64_t{N.Min} << 32 | N.Max);
}

void Terms::grow() {
  Buckets.assign(Buckets.size() * 2, Unknown);
  size_t Mask = Buckets.size() - 1;
  for (TermId T = 0; T < Nodes.size(); ++T) {
    std::span<const TermId> List;
    if (isList(Nodes[T].Kind))
      List = kids(T);
    size_t At = hashOf(Nodes[T], List) & Mask;
    while (Buckets[At] != Unknown)
      At = (At + 1) & Mask;
    Buckets[At] = T;
  }
}

TermId Terms::intern(const TermNode &N, std::span<const TermId> List) {
  size_t Mask = Buckets.size() - 1, At = hashOf(N, List) & Mask;
  for (; Buckets[At] != Unknown; At = (At + 1) & Mask) {
    TermId T = Buckets[At];
    const TermNode &M = Nodes[T];
    if (M.Kind != N.Kind || M.B != N.B)
      continue;
    if (isList(N.Kind)) {
      std::span<const TermId> Have = kids(T);
      if (std::equal(Have.begin(), Have.end(), List.begin(), List.end()))
        return T;
    } else if (M.A == N.A && M.Min == N.Min && M.Max == N.Max) {
      return T;
    }
  }
  if (Nodes.size() >= MaxTerms ||
      Kids.size() + List.size() >= 8ull * MaxTerms) {
    Overflow = true;
    return Nothing;
  }
  TermId Id = static_cast<TermId>(Nodes.size());
  Buckets[At] = Id;
  Nodes.push_back(N);
  if (isList(N.Kind)) {
    Nodes.back().A = static_cast<uint32_t>(Kids.size());
    Kids.insert(Kids.end(), List.begin(), List.end());
  }
  States.emplace_back();
  Alive.push_back(NotKnown);
  if (Nodes.size() * 2 > Buckets.size())
    grow();
  return Id;
}

TermId Terms::internList(TermKind K, const std::vector<TermId> &List) {
  TermNode N;
  N.Kind = K;
  N.B = static_cast<uint32_t>(List.size());
  N.Nullable = K == TermKind::And;
  N.HasBool = K == TermKind::And;
  for (TermId T : List) {
    const TermNode &Kid = Nodes[T];
    N.Atomic &= Kid.Atomic;
    N.HasBool |= Kid.HasBool;
    N.HasCount |= Kid.HasCount;
    N.Nullable = K == TermKind::And ? N.Nullable && Kid.Nullable
                                    : N.Nullable || Kid.Nullable;
  }
  return intern(N, List);
}

TermId Terms::bytes(const ByteSet &S) {
  if (S.empty())
    return Nothing;
  TermNode N;
  N.Kind = TermKind::Bytes;
  N.A = internSet(S);
  return intern(N);
}

TermId Terms::byte(uint8_t B) {
  ByteSet S;
  S.add(B);
  return bytes(S);
}

TermId Terms::literal(std::string_view Text) {
  TermId T = Epsilon;
  for (size_t I = Text.size(); I-- > 0;)
    T = seqOf(byte(static_cast<uint8_t>(Text[I])), T);
  return T;
}

TermId Terms::oneOf(std::vector<std::string_view> Texts) {
  std::sort(Texts.begin(), Texts.end());
  Texts.erase(std::unique(Texts.begin(), Texts.end()), Texts.end());
  return trie(Texts, 0);
}

/// Texts are sorted, share their first At bytes and differ.
TermId Terms::trie(std::span<const std::string_view> Texts, size_t At) {
  if (Texts.size() == 1)
    return literal(Texts[0].substr(At));
  if (At >= 4096) { // deep sharing: a list does as well as recursion
    std::vector<TermId> List;
    for (std::string_view Text : Texts)
      List.push_back(literal(Text.substr(At)));
    return alt(List);
  }
  std::vector<TermId> List;
  size_t I = 0;
  if (!Texts.empty() && Texts[0].size() == At) {
    List.push_back(Epsilon);
    ++I;
  }
  while (I < Texts.size()) {
    size_t End = I + 1;
    while (End < Texts.size() && Texts[End][At] == Texts[I][At])
      ++End;
    List.push_back(seq(byte(static_cast<uint8_t>(Texts[I][At])),
                       trie(Texts.subspan(I, End - I), At + 1)));
    I = End;
  }
  return alt(List);
}

/// Head is neither a Seq nor empty.
TermId Terms::seqOf(TermId Head, TermId Tail) {
  if (Tail == Nothing)
    return Nothing;
  if (Tail == Epsilon)
    return Head;
  const TermNode H = Nodes[Head], T = Nodes[Tail];
  // x{a,b} x{c,d}, x x{a,b}, x{a,b} x.
  TermId Next = T.Kind == TermKind::Seq ? T.A : Tail;
  TermId Rest = T.Kind == TermKind::Seq ? T.B : Epsilon;
  const TermNode N = Nodes[Next];
  bool HeadCounts = H.Kind == TermKind::Repeat,
       NextCounts = N.Kind == TermKind::Repeat;
  bool OneHead = NextCounts && N.A == Head, OneNext = HeadCounts && H.A == Next;
  if (OneHead || OneNext || (HeadCounts && NextCounts && H.A == N.A)) {
    TermId Sum = repeat(OneNext ? Next : N.A,
                        addCounts(OneHead ? 1 : H.Min, OneNext ? 1 : N.Min),
                        addCounts(OneHead ? 1 : H.Max, OneNext ? 1 : N.Max));
    return Rest == Epsilon ? Sum : seq(Sum, Rest);
  }
  TermNode S;
  S.Kind = TermKind::Seq;
  S.A = Head, S.B = Tail;
  S.Atomic = H.Atomic && T.Atomic;
  S.Nullable = H.Nullable && T.Nullable;
  S.HasBool = H.HasBool || T.HasBool;
  S.HasCount = H.HasCount || T.HasCount;
  return intern(S);
}

TermId Terms::seq(TermId A, TermId B) {
  if (A == Nothing || B == Nothing)
    return Nothing;
  if (A == Epsilon)
    return B;
  if (B == Epsilon)
    return A;
  std::vector<TermId> Spine;
  for (; Nodes[A].Kind == TermKind::Seq; A = Nodes[A].B)
    Spine.push_back(Nodes[A].A);
  TermId T = seqOf(A, B);
  for (size_t I = Spine.size(); I-- > 0;)
    T = seqOf(Spine[I], T);
  return T;
}

TermId Terms::seq(std::span<const TermId> Parts) {
  TermId T = Epsilon;
  for (size_t I = Parts.size(); I-- > 0;)
    T = seq(Parts[I], T);
  return T;
}

void Terms::flatten(TermKind K, TermId T, std::vector<TermId> &Out) const {
  if (Nodes[T].Kind != K)
    Out.push_back(T);
  else
    for (TermId Kid : kids(T))
      Out.push_back(Kid); // kids of lists are flat already
}

void Terms::mergeBytes(std::vector<TermId> &List, bool Union) {
  ByteSet Sum = Union ? ByteSet() : ByteSet::all();
  size_t Found = 0, To = 0;
  for (TermId T : List)
    if (Nodes[T].Kind == TermKind::Bytes) {
      Sum = Union ? Sum | byteSet(T) : Sum & byteSet(T);
      ++Found;
    } else {
      List[To++] = T;
    }
  List.resize(To);
  if (Found != 0)
    List.push_back(bytes(Sum));
}

/// Long lists of texts become tries: b x | b y = b (x | y).
void Terms::factorHeads(std::vector<TermId> &List) {
  constexpr size_t Many = 16, Deepest = 256;
  if (List.size() < Many || HeadDepth >= Deepest)
    return;
  auto HeadOf = [&](TermId T) { // 0: none that is a byte set
    bool Is = Nodes[T].Kind == TermKind::Seq &&
              Nodes[Nodes[T].A].Kind == TermKind::Bytes;
    return Is ? Nodes[T].A : 0;
  };
  std::stable_sort(List.begin(), List.end(),
                   [&](TermId A, TermId B) { return HeadOf(A) < HeadOf(B); });
  std::vector<TermId> Out;
  ++HeadDepth;
  for (size_t I = 0; I < List.size();) {
    TermId Head = HeadOf(List[I]);
    std::vector<TermId> Tails;
    size_t End = I;
    for (; End < List.size() && HeadOf(List[End]) == Head; ++End)
      Tails.push_back(Head == 0 ? List[End] : Nodes[List[End]].B);
    if (Head == 0 || Tails.size() == 1)
      Out.insert(Out.end(), List.begin() + static_cast<ptrdiff_t>(I),
                 List.begin() + static_cast<ptrdiff_t>(End));
    else
      Out.push_back(seq(Head, alt(Tails)));
    I = End;
  }
  --HeadDepth;
  List.swap(Out);
}

/// Alternatives with the same tail become one: x c | y c = (x | y) c.
void Terms::factor(std::vector<TermId> &List) {
  std::stable_sort(List.begin(), List.end(), [&](TermId A, TermId B) {
    uint32_t Ka = Nodes[A].Kind == TermKind::Seq ? Nodes[A].B : 0;
    uint32_t Kb = Nodes[B].Kind == TermKind::Seq ? Nodes[B].B : 0;
    return Ka != Kb ? Ka < Kb : A < B;
  });
  std::vector<TermId> Out;
  for (size_t I = 0; I < List.size();) {
    if (Nodes[List[I]].Kind != TermKind::Seq) {
      Out.push_back(List[I++]);
      continue;
    }
    TermId Tail = Nodes[List[I]].B;
    std::vector<TermId> Heads;
    size_t End = I;
    for (; End < List.size() && Nodes[List[End]].Kind == TermKind::Seq &&
           Nodes[List[End]].B == Tail;
         ++End)
      Heads.push_back(Nodes[List[End]].A);
    Out.push_back(Heads.size() == 1 ? List[I] : seq(alt(Heads), Tail));
    I = End;
  }
  List.swap(Out);
}

TermId Terms::alt(std::span<const TermId> Given) {
  std::vector<TermId> List;
  for (TermId T : Given)
    flatten(TermKind::Alt, T, List);
  std::sort(List.begin(), List.end());
  List.erase(std::unique(List.begin(), List.end()), List.end());
  if (std::binary_search(List.begin(), List.end(), Everything))
    return Everything;
  if (List.size() > 1) {
    mergeBytes(List, true);
    factorHeads(List);
    factor(List);
  }
  bool HasEpsilon = false, HasNullable = false;
  std::vector<TermId> Out;
  for (TermId T : List) {
    if (T == Epsilon)
      HasEpsilon = true;
    else if (T != Nothing)
      flatten(TermKind::Alt, T, Out);
    HasNullable |= T != Epsilon && Nodes[T].Nullable;
  }
  if (HasEpsilon && !HasNullable)
    Out.push_back(Epsilon);
  std::sort(Out.begin(), Out.end());
  Out.erase(std::unique(Out.begin(), Out.end()), Out.end());
  if (Out.size() < 2)
    return Out.empty() ? Nothing : Out[0];
  return internList(TermKind::Alt, Out);
}

TermId Terms::alt(TermId A, TermId B) {
  if (A == Nothing || A == B)
    return B;
  if (B == Nothing)
    return A;
  TermId Both[] = {A, B};
  return alt(Both);
}

TermId Terms::both(std::span<const TermId> Given) {
  std::vector<TermId> List;
  for (TermId T : Given)
    flatten(TermKind::And, T, List);
  std::sort(List.begin(), List.end());
  List.erase(std::unique(List.begin(), List.end()), List.end());
  if (!List.empty() && List[0] == Nothing)
    return Nothing;
  List.erase(std::remove(List.begin(), List.end(), Everything), List.end());
  if (List.empty())
    return Everything;
  if (List.size() == 1)
    return List[0];
  mergeBytes(List, false);
  bool AllNullable = true;
  for (TermId T : List) {
    if (T == Nothing)
      return Nothing;
    AllNullable &= Nodes[T].Nullable;
    if (Nodes[T].Kind == TermKind::Not &&
        std::find(List.begin(), List.end(), Nodes[T].A) != List.end())
      return Nothing;
  }
  if (std::find(List.begin(), List.end(), Epsilon) != List.end())
    return AllNullable ? Epsilon : Nothing;
  std::sort(List.begin(), List.end());
  List.erase(std::unique(List.begin(), List.end()), List.end());
  return List.size() == 1 ? List[0] : internList(TermKind::And, List);
}

TermId Terms::both(TermId A, TermId B) {
  TermId List[] = {A, B};
  return both(List);
}

TermId Terms::complement(TermId A) {
  if (A == Nothing)
    return Everything;
  if (A == Everything)
    return Nothing;
  if (Nodes[A].Kind == TermKind::Not)
    return Nodes[A].A;
  TermNode N;
  N.Kind = TermKind::Not;
  N.A = A;
  N.Nullable = !Nodes[A].Nullable;
  N.HasBool = true;
  return intern(N);
}

TermId Terms::except(TermId A, TermId B) { return both(A, complement(B)); }

TermId Terms::repeat(TermId A, uint32_t Min, uint32_t Max) {
  if (Max == 0 || A == Epsilon)
    return Epsilon;
  if (A == Nothing)
    return Min == 0 ? Epsilon : Nothing;
  const TermNode In = Nodes[A];
  if (In.Nullable)
    Min = 0;
  if (Min == 1 && Max == 1)
    return A;
  if (In.Kind == TermKind::Repeat) {
    // (x{0,m}){0,k} = x{0,mk}; (x{n}){k} = x{nk}; (x+)* = x*, (x+)+ = x+.
    if (In.Min == 0 || In.Min == In.Max ? In.Min == 0 || Min == Max
                                        : In.Min == 1 && In.Max == Unbounded)
      return repeat(In.A, multiplyCounts(In.Min, Min),
                    multiplyCounts(In.Max, Max));
  }
  TermNode N;
  N.Kind = TermKind::Repeat;
  N.A = A, N.Min = Min, N.Max = Max;
  N.Atomic = In.Atomic;
  N.Nullable = Min == 0;
  N.HasBool = In.HasBool;
  N.HasCount = In.HasCount || Min > 1 || Max != Unbounded;
  return intern(N);
}

TermId Terms::lex(TermId A) {
  if (A == Nothing || A == Epsilon || Nodes[A].Kind == TermKind::Lex)
    return A;
  TermNode N;
  N.Kind = TermKind::Lex;
  N.A = A;
  N.Atomic = false;
  return intern(N);
}

TermId Terms::ref(uint32_t Rule) {
  TermNode N;
  N.Kind = TermKind::Ref;
  N.A = Rule;
  N.Atomic = false;
  return intern(N);
}

TermId Terms::loop(uint32_t Spec, uint32_t State) {
  TermNode N;
  N.Kind = TermKind::Loop;
  N.A = Spec, N.B = State;
  N.Atomic = false;
  return intern(N);
}

} // namespace llmc::constraint
