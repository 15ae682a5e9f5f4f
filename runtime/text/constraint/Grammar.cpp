// Finishing a grammar: which rules can produce a text at all, which of them
// the empty one. Both are least fixed points over the rules.
#include "runtime/text/constraint/Grammar.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

/// So many different keys count as endlessly many.
constexpr uint64_t ManyKeys = 10000;

/// Parts of a sequence, or the term itself.
std::vector<TermId> parts(const Terms &T, TermId Id) {
  std::vector<TermId> Out;
  for (; T[Id].Kind == TermKind::Seq && !T.atomic(Id); Id = T[Id].B)
    Out.push_back(T[Id].A);
  Out.push_back(Id);
  return Out;
}

} // namespace

uint32_t Grammar::loopState(const LoopState &S) {
  auto [It, New] = StateIndex.emplace(S, static_cast<uint32_t>(States.size()));
  if (New)
    States.push_back(S);
  return It->second;
}

uint32_t Grammar::word(std::string_view Text) {
  auto It = WordIndex.find(Text);
  if (It == WordIndex.end()) {
    It = WordIndex.emplace(Text, static_cast<uint32_t>(Words.size())).first;
    Words.emplace_back(Text);
  }
  return It->second;
}

uint32_t Grammar::addSpec(LoopSpec Spec) {
  for (LoopSpec::Entry &E : Spec.Entries)
    E.Endless = Pool.countTexts(E.Key, ManyKeys) == ManyKeys;
  Specs.push_back(std::move(Spec));
  return static_cast<uint32_t>(Specs.size() - 1);
}

TermId Grammar::loop(uint32_t Spec, uint32_t Min, uint32_t Max, bool First) {
  LoopState S;
  S.Min = Min, S.Max = Max;
  S.At = First ? LoopState::Start : LoopState::Next;
  return Pool.loop(Spec, loopState(S));
}

TermId Grammar::openKey(uint32_t Spec, uint32_t Entry,
                        const std::vector<uint32_t> &Seen) {
  TermId Key = Specs[Spec].Entries[Entry].Key;
  std::vector<std::string_view> Texts;
  for (uint32_t W : Seen)
    if (Pool.matches(Key, Words[W]))
      Texts.push_back(Words[W]);
  if (Texts.empty())
    return Key;
  TermId Open = Pool.except(Key, Pool.oneOf(std::move(Texts)));
  return Pool.live(Open) ? Open : Nothing;
}

bool Grammar::hasKeys(uint32_t Spec, const std::vector<uint32_t> &Seen,
                      uint32_t Need) {
  if (Specs[Spec].endless())
    return true;
  uint64_t Count = 0;
  for (uint32_t E = 0; E < Specs[Spec].Entries.size() && Count < Need; ++E)
    Count += Pool.countTexts(openKey(Spec, E, Seen), Need - Count);
  return Count >= Need;
}

bool Grammar::holdsLoop(TermId T, Facts &F) {
  const LoopState &S = States[Pool[T].B];
  if (S.Min == 0 || F.Nullable)
    return S.Min == 0;
  uint64_t Count = 0;
  for (const LoopSpec::Entry &E : Specs[Pool[T].A].Entries)
    if (holds(E.Value, F))
      Count += E.Endless ? Unbounded : Pool.countTexts(E.Key, S.Min);
  return Count >= S.Min;
}

bool Grammar::holds(TermId T, Facts &F) {
  const TermNode N = Pool[T];
  if (N.Atomic)
    return F.Nullable ? N.Nullable : Pool.live(T);
  if (N.Kind == TermKind::Ref)
    return F.Rules[N.A];
  auto It = F.Terms.find(T);
  if (It != F.Terms.end())
    return It->second;
  bool Is = false;
  switch (N.Kind) {
  case TermKind::Seq:
    Is = true;
    for (TermId Part : parts(Pool, T))
      Is = Is && holds(Part, F);
    break;
  case TermKind::Alt:
    for (uint32_t I = 0; I < N.B && !Is; ++I)
      Is = holds(Pool.kids(T)[I], F);
    break;
  case TermKind::Repeat:
    Is = N.Min == 0 || holds(N.A, F);
    break;
  case TermKind::Lex:
    Is = holds(N.A, F);
    break;
  case TermKind::Loop:
    Is = holdsLoop(T, F);
    break;
  default:
    break;
  }
  F.Terms.emplace(T, Is);
  return Is;
}

void Grammar::fixpoint(Facts &F) {
  F.Rules.assign(Rules.size(), 0);
  for (bool Changed = true; Changed;) {
    Changed = false;
    F.Terms.clear();
    for (size_t R = 0; R < Rules.size(); ++R)
      if (!F.Rules[R] && holds(Rules[R].Body, F))
        F.Rules[R] = Changed = true;
  }
  F.Terms.clear();
}

/// The term without what is not productive.
TermId Grammar::prune(TermId T, Facts &Good,
                      std::unordered_map<TermId, TermId> &Done) {
  if (Pool.atomic(T))
    return Pool.live(T) ? T : Nothing;
  auto It = Done.find(T);
  if (It != Done.end())
    return It->second;
  const TermNode N = Pool[T];
  TermId To = T;
  switch (N.Kind) {
  case TermKind::Seq: {
    std::vector<TermId> List = parts(Pool, T);
    for (TermId &Part : List)
      Part = prune(Part, Good, Done);
    To = Pool.seq(List);
    break;
  }
  case TermKind::Alt: {
    std::vector<TermId> List;
    for (uint32_t I = 0; I < N.B; ++I)
      List.push_back(prune(Pool.kids(T)[I], Good, Done));
    To = Pool.alt(List);
    break;
  }
  case TermKind::Repeat:
    To = Pool.repeat(prune(N.A, Good, Done), N.Min, N.Max);
    break;
  case TermKind::Ref:
    To = Good.Rules[N.A] ? T : Nothing;
    break;
  default:
    To = holds(T, Good) ? T : Nothing;
    break;
  }
  Done.emplace(T, To);
  return To;
}

Status Grammar::finish(TermId Start) {
  Facts Good{false, {}, {}};
  fixpoint(Good);
  std::unordered_map<TermId, TermId> Done;
  for (LoopSpec &S : Specs) {
    for (LoopSpec::Entry &E : S.Entries)
      E.Value = prune(E.Value, Good, Done);
    std::erase_if(S.Entries,
                  [](const LoopSpec::Entry &E) { return E.Value == Nothing; });
  }
  for (Rule &R : Rules)
    R.Body = prune(R.Body, Good, Done);
  StartTerm = prune(Start, Good, Done);
  Facts Empty{true, {}, {}};
  fixpoint(Empty);
  NullableRules = std::move(Empty.Rules);
  if (Pool.overflowed())
    return doesNotFitError("constraint: more than " +
                           std::to_string(Pool.size()) + " states");
  if (StartTerm == Nothing)
    return unsupportedError("constraint: no text can satisfy it");
  return Status::success();
}

} // namespace llmc::constraint
