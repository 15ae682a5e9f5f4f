// Making the next set: derive the heads, take apart what follows those that
// ended, predict what rules begin with.
#include "runtime/text/constraint/Automaton.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

uint64_t hashOf(const std::vector<Item> &Kernel) {
  uint64_t H = 0;
  auto Mix = [&H](uint64_t V) {
    H = (H ^ V) * 0xFF51AFD7ED558CCDull;
    H ^= H >> 31;
  };
  for (const Item &I : Kernel) {
    Mix(uint64_t{I.Head} << 32 | I.Rest);
    Mix(uint64_t{I.Origin} << 32 | I.Rule);
    Mix(I.Capture);
  }
  return H;
}

} // namespace

Automaton::Automaton(Grammar &Of, size_t Max) : G(Of), MaxBytes(Max) {
  Captures.emplace_back();
  store({}, Set()); // Dead
  // A kernel of one item that has ended, before what is to be matched.
  close({Item{Epsilon, G.start(), Root, 0, 0}});
}

size_t Automaton::memory() const {
  return Sets.size() * (sizeof(Set) + 48) + Items.size() * sizeof(Item) +
         Waits.size() * sizeof(Waiting) + Rows.size() * sizeof(SetId) +
         KernelItems.size() * sizeof(Item) + Captures.size() * 80 +
         Splits.size() * 48 + G.terms().memory();
}

uint32_t Automaton::capture(const Capture &C) {
  auto [It, New] =
      CaptureIndex.emplace(C, static_cast<uint32_t>(Captures.size()));
  if (New)
    Captures.push_back(C);
  return It->second;
}

/// The atomic beginning of a sequence, and the rest.
std::pair<TermId, TermId> Automaton::split(TermId T) {
  auto It = Splits.find(T);
  if (It != Splits.end())
    return It->second;
  Terms &P = G.terms();
  std::vector<TermId> Parts;
  TermId Rest = T;
  while (P[Rest].Kind == TermKind::Seq && !P.atomic(Rest) &&
         P.atomic(P[Rest].A)) {
    Parts.push_back(P[Rest].A);
    Rest = P[Rest].B;
  }
  std::pair<TermId, TermId> Out(P.seq(Parts), Rest);
  Splits.emplace(T, Out);
  return Out;
}

void Automaton::push(TermId T, SetId Origin, uint32_t Rule) {
  Open O{T, Origin, Rule};
  if (T != Nothing && Expanded.emplace(O, true).second)
    Work.push_back(O);
}

void Automaton::scan(TermId Head, TermId Rest, const Open &O, uint32_t C) {
  if (Head != Epsilon)
    NewItems.push_back({Head, Rest, O.Origin, O.Rule, C});
  if (G.terms().nullable(Head)) {
    if (C != 0)
      headEnded({Head, Rest, O.Origin, O.Rule, C}, nullptr, true);
    else
      push(Rest, O.Origin, O.Rule);
  }
}

void Automaton::call(uint32_t R, TermId Rest, const Open &O) {
  TermId Body = G.rules()[R].Body;
  if (Rest == Epsilon)
    return push(Body, O.Origin, O.Rule);
  NewWaits.push_back({R, Rest, O.Origin, O.Rule});
  push(Body, Self, R);
  if (G.nullableRule(R))
    push(Rest, O.Origin, O.Rule);
}

/// Head then Rest, where Head is not atomic.
void Automaton::expandHead(TermId Head, TermId Rest, const Open &O) {
  Terms &P = G.terms();
  const TermNode N = P[Head];
  switch (N.Kind) {
  case TermKind::Lex:
    return scan(N.A, Rest, O);
  case TermKind::Ref:
    return call(N.A, Rest, O);
  case TermKind::Loop:
    return expandLoop(Head, Rest, O);
  case TermKind::Alt:
    for (uint32_t I = 0; I < N.B; ++I)
      push(P.seq(P.kids(Head)[I], Rest), O.Origin, O.Rule);
    return;
  case TermKind::Repeat: {
    uint32_t Max = N.Max == Unbounded ? Unbounded : N.Max - 1;
    TermId More = P.repeat(N.A, N.Min == 0 ? 0 : N.Min - 1, Max);
    expandSeq(N.A, P.seq(More, Rest), O); // not pushed: x x* would be x+
    if (N.Min == 0)
      push(Rest, O.Origin, O.Rule);
    return;
  }
  default:
    return;
  }
}

void Automaton::expandLoop(TermId Loop, TermId Rest, const Open &O) {
  Terms &P = G.terms();
  const TermNode N = P[Loop];
  const LoopState S = G.loopState(N.B);
  if (S.At != LoopState::Key) {
    if (S.Min == 0)
      push(Rest, O.Origin, O.Rule);
    if (S.Max == 0 || !G.hasKeys(N.A, S.Seen, std::max(S.Min, 1u)))
      return;
    LoopState K = S;
    K.At = LoopState::Key;
    TermId Key = P.loop(N.A, G.loopState(K));
    TermId Lead = S.At == LoopState::Next ? G.spec(N.A).Separator : Epsilon;
    return push(P.seq(Lead, P.seq(Key, Rest)), O.Origin, O.Rule);
  }
  for (uint32_t E = 0; E < G.spec(N.A).Entries.size(); ++E) {
    TermId Key = G.openKey(N.A, E, S.Seen);
    if (Key != Nothing)
      scan(Key, Rest, O, capture({Loop, E, G.word("")}));
  }
}

/// Body then Rest.
void Automaton::expandSeq(TermId Body, TermId Rest, const Open &O) {
  Terms &P = G.terms();
  if (P.atomic(Body))
    return scan(Body, Rest, O);
  if (P[Body].Kind != TermKind::Seq)
    return expandHead(Body, Rest, O);
  TermId Head = P[Body].A, Tail = P[Body].B;
  if (!P.atomic(Head))
    return expandHead(Head, P.seq(Tail, Rest), O);
  std::pair<TermId, TermId> Parts = split(Body);
  scan(Parts.first, P.seq(Parts.second, Rest), O);
}

void Automaton::expand(const Open &O) {
  if (O.T == Epsilon)
    return complete(O.Origin, O.Rule);
  expandSeq(O.T, Epsilon, O);
}

void Automaton::complete(SetId Origin, uint32_t Rule) {
  if (Origin == Root) {
    NewAccepts = true;
    return;
  }
  // A rule that matched nothing: its callers went on at once.
  if (Origin == Self ||
      !Completed.emplace(std::pair(Origin, Rule), true).second)
    return;
  const Set Of = Sets[Origin];
  auto First = Waits.begin() + Of.Waits, Last = First + Of.WaitCount;
  for (auto It = std::lower_bound(First, Last, Waiting{Rule, 0, 0, 0});
       It != Last && It->For == Rule; ++It)
    push(It->Rest, It->Origin == Self ? Origin : It->Origin, It->Rule);
}

/// What follows an item. Keep: the key may go on as well as end.
void Automaton::headEnded(const Item &I, const std::string *MoreKey,
                          bool Keep) {
  if (I.Capture == 0)
    return push(I.Rest, I.Origin, I.Rule);
  const Capture C = Captures[I.Capture];
  Terms &P = G.terms();
  uint32_t Spec = P[C.Loop].A;
  LoopState S = G.loopState(P[C.Loop].B);
  if (MoreKey || Keep) {
    uint32_t W = C.Word;
    if (MoreKey)
      W = G.word(G.wordText(W) + *MoreKey);
    auto At = std::lower_bound(S.Seen.begin(), S.Seen.end(), W);
    if (At == S.Seen.end() || *At != W)
      S.Seen.insert(At, W);
  }
  S.Min = S.Min == 0 ? 0 : S.Min - 1;
  S.Max = S.Max == Unbounded ? Unbounded : S.Max - 1;
  S.At = LoopState::Next;
  TermId More = P.loop(Spec, G.loopState(S));
  TermId Value = G.spec(Spec).Entries[C.Entry].Value;
  push(P.seq(Value, P.seq(More, I.Rest)), I.Origin, I.Rule);
}

SetId Automaton::store(const std::vector<Item> &Kernel, Set New) {
  SetId Id = static_cast<SetId>(Sets.size());
  Terms &P = G.terms();
  New.Items = static_cast<uint32_t>(Items.size());
  New.ItemCount = static_cast<uint32_t>(NewItems.size());
  Items.insert(Items.end(), NewItems.begin(), NewItems.end());
  New.Waits = static_cast<uint32_t>(Waits.size());
  New.WaitCount = static_cast<uint32_t>(NewWaits.size());
  Waits.insert(Waits.end(), NewWaits.begin(), NewWaits.end());
  New.Partition = P.partitionOf(Nothing);
  for (const Item &I : NewItems) {
    New.Partition = P.refine(New.Partition, P.partitionOf(I.Head));
    New.InKey |= I.Capture != 0;
  }
  New.Row = static_cast<uint32_t>(Rows.size());
  size_t Classes = New.InKey ? 0 : P.partition(New.Partition).First.size();
  Rows.resize(Rows.size() + Classes, NewItems.empty() ? Dead : Unknown);
  Sets.push_back(New);
  Kernels.emplace_back(KernelItems.size(), Kernel.size());
  KernelItems.insert(KernelItems.end(), Kernel.begin(), Kernel.end());
  return Id;
}

SetId Automaton::close(std::vector<Item> Kernel) {
  std::sort(Kernel.begin(), Kernel.end());
  Kernel.erase(std::unique(Kernel.begin(), Kernel.end()), Kernel.end());
  uint64_t H = hashOf(Kernel);
  auto [From, To] = Index.equal_range(H);
  for (auto It = From; It != To; ++It) {
    auto [At, Count] = Kernels[It->second];
    if (Count == Kernel.size() &&
        std::equal(Kernel.begin(), Kernel.end(), KernelItems.begin() + At))
      return It->second;
  }
  if (memory() > MaxBytes || G.terms().overflowed()) {
    Full = true;
    return Dead;
  }
  Work.clear(), NewItems.clear(), NewWaits.clear();
  Expanded.clear(), Completed.clear();
  NewAccepts = false;
  for (const Item &I : Kernel)
    scan(I.Head, I.Rest, {0, I.Origin, I.Rule}, I.Capture);
  while (!Work.empty()) {
    Open O = Work.back();
    Work.pop_back();
    expand(O);
  }
  // Heads with the same future are one.
  auto Future = [](const Item &A) {
    return std::tuple(A.Rest, A.Origin, A.Rule, A.Capture);
  };
  std::sort(
      NewItems.begin(), NewItems.end(), [&](const Item &A, const Item &B) {
        return std::tuple(Future(A), A.Head) < std::tuple(Future(B), B.Head);
      });
  size_t Kept = 0;
  for (size_t I = 0; I < NewItems.size();) {
    std::vector<TermId> Heads;
    size_t End = I;
    for (;
         End < NewItems.size() && Future(NewItems[End]) == Future(NewItems[I]);
         ++End)
      Heads.push_back(NewItems[End].Head);
    Item Merged = NewItems[I];
    Merged.Head = Heads.size() == 1 ? Heads[0] : G.terms().alt(Heads);
    NewItems[Kept++] = Merged;
    I = End;
  }
  NewItems.resize(Kept);
  std::sort(NewWaits.begin(), NewWaits.end());
  NewWaits.erase(std::unique(NewWaits.begin(), NewWaits.end()), NewWaits.end());
  Set New;
  New.Accepts = NewAccepts;
  SetId Id = store(Kernel, New);
  Index.emplace(H, Id);
  return Id;
}

SetId Automaton::stepSlow(SetId S, uint8_t B) {
  Terms &P = G.terms();
  const Set Of = Sets[S];
  std::vector<Item> Kernel;
  for (uint32_t N = 0; N < Of.ItemCount; ++N) {
    Item I = Items[Of.Items + N];
    I.Head = P.derive(I.Head, B);
    if (I.Head == Nothing || !P.live(I.Head))
      continue;
    if (I.Origin == Self)
      I.Origin = S;
    if (I.Capture != 0) {
      Capture C = Captures[I.Capture];
      C.Word = G.word(G.wordText(C.Word) + static_cast<char>(B));
      I.Capture = capture(C);
    }
    Kernel.push_back(I);
  }
  SetId To = Kernel.empty() ? Dead : close(std::move(Kernel));
  if (full())
    return Dead; // not kept
  if (!Of.InKey)
    Rows[Of.Row + P.partition(Of.Partition).Class[B]] = To;
  return To;
}

SetId Automaton::resume(SetId S, size_t N, const std::string *MoreKey) {
  // As a kernel: what follows the head, behind nothing.
  Item I = items(S)[N];
  if (I.Origin == Self)
    I.Origin = S;
  if (I.Capture == 0) {
    I.Head = Epsilon;
    return close({I});
  }
  Work.clear(), Expanded.clear();
  headEnded(I, MoreKey, false);
  if (Work.empty())
    return Dead;
  Open O = Work.back();
  Work.clear();
  return close({Item{Epsilon, O.T, O.Origin, O.Rule, 0}});
}

uint64_t Automaton::firstGroups(SetId S) {
  uint64_t Groups = 0;
  for (uint32_t N = 0; N < Sets[S].ItemCount; ++N)
    Groups |= G.terms().firstGroups(Items[Sets[S].Items + N].Head);
  return Groups;
}

bool Automaton::mustEnd(SetId S) {
  if (ended(S))
    return true;
  if (!accepts(S))
    return false;
  for (unsigned B = 0; B < 256; ++B)
    if (step(S, static_cast<uint8_t>(B)) != Dead)
      return false;
  return !full();
}

int Automaton::forcedByte(SetId S) {
  if (accepts(S) || ended(S))
    return -1;
  int Only = -1;
  for (unsigned B = 0; B < 256; ++B)
    if (step(S, static_cast<uint8_t>(B)) != Dead) {
      if (Only >= 0)
        return -1;
      Only = static_cast<int>(B);
    }
  return full() ? -1 : Only;
}

} // namespace llmc::constraint
