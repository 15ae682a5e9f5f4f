// Terms as states: derivatives, the bytes that behave alike, emptiness.
//
// A term with And or Not may denote nothing without being the term Nothing.
// live() finds out by a search for a text, once per state: every state on the
// way to a text is known to be live from then on, and when there is none, all
// states that were seen are dead.
#include "runtime/text/constraint/Terms.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace llmc::constraint {

uint32_t Terms::internPartition(const Partition &P) {
  uint64_t Hash = 0, Word;
  for (size_t I = 0; I < 256; I += sizeof(Word)) {
    std::memcpy(&Word, P.Class.data() + I, sizeof(Word));
    Hash = (Hash ^ Word) * 0xFF51AFD7ED558CCDull;
    Hash ^= Hash >> 32;
  }
  auto [From, To] = PartitionIndex.equal_range(Hash);
  for (auto It = From; It != To; ++It)
    if (Partitions[It->second].Class == P.Class)
      return It->second;
  uint32_t Id = static_cast<uint32_t>(Partitions.size());
  PartitionIndex.emplace(Hash, Id);
  Partitions.push_back(P);
  return Id;
}

namespace {

/// Bytes with the same number are in one class.
Terms::Partition byNumber(const std::array<uint64_t, 256> &Numbers) {
  Terms::Partition P;
  std::array<uint8_t, 512> Slot; // of a class, by the hash of its number
  std::array<bool, 512> Used{};
  for (size_t B = 0; B < 256; ++B) {
    if (B > 0 && Numbers[B] == Numbers[B - 1]) {
      P.Class[B] = P.Class[B - 1];
      continue;
    }
    size_t At = (Numbers[B] * 0xFF51AFD7ED558CCDull) >> 55;
    while (Used[At] && Numbers[P.First[Slot[At]]] != Numbers[B])
      At = (At + 1) % Slot.size();
    if (!Used[At]) {
      Used[At] = true;
      Slot[At] = static_cast<uint8_t>(P.First.size());
      P.First.push_back(static_cast<uint8_t>(B));
    }
    P.Class[B] = Slot[At];
  }
  return P;
}

template <typename Fn> Terms::Partition partitionBy(Fn NumberOf) {
  std::array<uint64_t, 256> Numbers;
  for (size_t B = 0; B < 256; ++B)
    Numbers[B] = NumberOf(static_cast<uint8_t>(B));
  return byNumber(Numbers);
}

} // namespace

uint32_t Terms::refine(uint32_t P, uint32_t Q) {
  if (P == Q)
    return P;
  uint64_t Key = uint64_t{std::min(P, Q)} << 32 | std::max(P, Q);
  auto It = Refined.find(Key);
  if (It != Refined.end())
    return It->second;
  uint32_t Id = internPartition(partitionBy([&](uint8_t B) {
    return uint64_t{Partitions[P].Class[B]} << 8 | Partitions[Q].Class[B];
  }));
  Refined.emplace(Key, Id);
  return Id;
}

uint32_t Terms::splitBy(const ByteSet &S) {
  return internPartition(
      partitionBy([&](uint8_t B) { return uint64_t{S.has(B)}; }));
}

uint32_t Terms::splitBySet(uint32_t Set) {
  if (Set >= SetPartitions.size())
    SetPartitions.resize(Sets.size(), Unknown);
  if (SetPartitions[Set] == Unknown)
    SetPartitions[Set] = splitBy(Sets[Set]);
  return SetPartitions[Set];
}

uint32_t Terms::tablePartition(const DfaTable &T, uint32_t State) {
  // Classes of the table that lead to the same state are one.
  std::vector<uint32_t> To;
  std::array<uint8_t, 256> Number{};
  for (uint32_t C = 0; C < T.Classes; ++C) {
    uint32_t Next = T.Next[size_t{State} * T.Classes + C];
    size_t I = 0;
    while (I < To.size() && To[I] != Next)
      ++I;
    if (I == To.size())
      To.push_back(Next);
    Number[C] = static_cast<uint8_t>(I);
  }
  return internPartition(
      partitionBy([&](uint8_t B) { return uint64_t{Number[T.Class[B]]}; }));
}

/// Of an Alt or And: bytes are alike when they are in all parts, which is when
/// the numbers of their classes, put side by side, are the same number.
uint32_t Terms::listPartition(const TermNode &N) {
  std::vector<uint32_t> Parts;
  for (uint32_t I = 0; I < N.B; ++I)
    Parts.push_back(stateOf(Kids[N.A + I]).Partition);
  std::sort(Parts.begin(), Parts.end());
  Parts.erase(std::unique(Parts.begin(), Parts.end()), Parts.end());
  std::array<uint64_t, 256> Side{};
  unsigned Bits = 0;
  for (uint32_t Part : Parts) {
    const Partition &P = Partitions[Part];
    unsigned More = static_cast<unsigned>(std::bit_width(P.First.size() - 1));
    if (Bits + More > 64) {
      const Partition So = byNumber(Side);
      for (size_t B = 0; B < 256; ++B)
        Side[B] = So.Class[B];
      Bits = 8;
    }
    for (size_t B = 0; B < 256; ++B)
      Side[B] = Side[B] << More | P.Class[B];
    Bits += More;
  }
  return internPartition(byNumber(Side));
}

uint32_t Terms::computePartition(TermId T) {
  const TermNode N = Nodes[T];
  switch (N.Kind) {
  case TermKind::Bytes:
    return splitBySet(N.A);
  case TermKind::Dfa:
    return tablePartition(Tables[N.A], N.B);
  case TermKind::Repeat:
  case TermKind::Not:
    return stateOf(N.A).Partition;
  case TermKind::Seq: {
    uint32_t P = stateOf(N.A).Partition;
    TermId At = T;
    while (Nodes[At].Kind == TermKind::Seq && Nodes[Nodes[At].A].Nullable) {
      At = Nodes[At].B;
      TermId Head = Nodes[At].Kind == TermKind::Seq ? Nodes[At].A : At;
      P = refine(P, stateOf(Head).Partition);
    }
    return P;
  }
  case TermKind::Alt:
  case TermKind::And: {
    if (N.B == 2)
      return refine(stateOf(Kids[N.A]).Partition,
                    stateOf(Kids[N.A + 1]).Partition);
    return listPartition(N);
  }
  default:
    return splitBy(ByteSet());
  }
}

Terms::State &Terms::makeState(TermId T) {
  uint32_t P = computePartition(T);
  States[T].Partition = P;
  States[T].Row = static_cast<uint32_t>(Rows.size());
  if (Rows.size() + Partitions[P].First.size() > 16ull * MaxTerms)
    Overflow = true; // the row is there, but no derivative is made any more
  Rows.resize(Rows.size() + Partitions[P].First.size(), Unknown);
  return States[T];
}

TermId Terms::deriveSeq(TermId T, uint8_t B) {
  if (const TermNode N = Nodes[T]; !Nodes[N.A].Nullable)
    return seq(derive(N.A, B), N.B);
  std::vector<TermId> List;
  while (true) {
    const TermNode N = Nodes[T];
    if (N.Kind != TermKind::Seq) {
      List.push_back(derive(T, B));
      break;
    }
    List.push_back(seq(derive(N.A, B), N.B));
    if (!Nodes[N.A].Nullable)
      break;
    T = N.B;
  }
  return List.size() == 1 ? List[0] : alt(List);
}

TermId Terms::deriveSlow(TermId T, uint8_t B) {
  if (Overflow)
    return Nothing;
  const TermNode N = Nodes[T];
  TermId To = Nothing;
  switch (N.Kind) {
  case TermKind::Bytes:
    To = Sets[N.A].has(B) ? Epsilon : Nothing;
    break;
  case TermKind::Seq:
    To = deriveSeq(T, B);
    break;
  case TermKind::Alt:
  case TermKind::And: {
    std::vector<TermId> List;
    for (uint32_t I = 0; I < N.B; ++I) {
      TermId Kid = derive(Kids[N.A + I], B);
      if (N.Kind == TermKind::And || Kid != Nothing)
        List.push_back(Kid);
      if (Kid == Nothing && N.Kind == TermKind::And)
        break;
    }
    if (List.size() == 1) { // as most bytes leave of a list of texts
      To = List[0];
      break;
    }
    To = N.Kind == TermKind::And ? both(List) : alt(List);
    break;
  }
  case TermKind::Not:
    To = complement(derive(N.A, B));
    break;
  case TermKind::Repeat: {
    uint32_t Max = N.Max == Unbounded ? Unbounded : N.Max - 1;
    To = seq(derive(N.A, B), repeat(N.A, N.Min == 0 ? 0 : N.Min - 1, Max));
    break;
  }
  case TermKind::Dfa: {
    uint32_t Next = Tables[N.A].next(N.B, B);
    if (Next == DfaTable::Dead)
      break;
    TermNode S = N;
    S.B = Next;
    S.Nullable = Tables[N.A].Accept[Next] != 0;
    To = intern(S);
    break;
  }
  default:
    break;
  }
  if (Overflow)
    return Nothing; // not kept: it is not the answer
  State &S = stateOf(T);
  Rows[S.Row + Partitions[S.Partition].Class[B]] = To;
  return To;
}

bool Terms::live(TermId T) {
  const TermNode N = Nodes[T];
  if (!N.HasBool)
    return T != Nothing;
  if (N.Nullable)
    return true;
  if (Alive[T] != NotKnown)
    return Alive[T] == Live;
  bool Is = true;
  switch (N.Kind) {
  case TermKind::Seq:
    for (TermId At = T; Is && Nodes[At].HasBool;) {
      bool More = Nodes[At].Kind == TermKind::Seq;
      Is = live(More ? Nodes[At].A : At);
      if (!More)
        break;
      At = Nodes[At].B;
    }
    break;
  case TermKind::Alt:
    Is = false;
    for (uint32_t I = 0; I < N.B && !Is; ++I)
      Is = live(Kids[N.A + I]);
    break;
  case TermKind::Repeat:
    Is = live(N.A);
    break;
  default:
    return searchLive(T);
  }
  if (!Overflow)
    Alive[T] = Is ? Live : Dead;
  return Is;
}

bool Terms::searchLive(TermId Start) {
  struct Step {
    TermId T;
    uint32_t From;
  };
  std::vector<Step> Seen{{Start, UINT32_MAX}};
  std::unordered_map<TermId, uint32_t> Known{{Start, 0}};
  for (uint32_t I = 0; I < Seen.size(); ++I) {
    TermId T = Seen[I].T;
    bool Found = Nodes[T].Nullable || Alive[T] == Live ||
                 (T != Nothing && !Nodes[T].HasBool);
    if (Found) {
      for (uint32_t At = I; At != UINT32_MAX; At = Seen[At].From)
        Alive[Seen[At].T] = Live;
      return true;
    }
    if (T == Nothing || Alive[T] == Dead)
      continue;
    const std::vector<uint8_t> First = Partitions[stateOf(T).Partition].First;
    for (uint8_t B : First) {
      TermId To = derive(T, B);
      if (To != Nothing &&
          Known.emplace(To, static_cast<uint32_t>(Seen.size())).second)
        Seen.push_back({To, I});
    }
    if (Overflow)
      return false;
  }
  for (const Step &S : Seen)
    Alive[S.T] = Dead;
  return false;
}

bool Terms::matches(TermId T, std::string_view Text) {
  for (char C : Text)
    if ((T = derive(T, static_cast<uint8_t>(C))) == Nothing)
      return false;
  return nullable(T);
}

uint64_t Terms::countTexts(TermId Start, uint64_t Limit) {
  // Depth first, each state once; a live state that is met on its own path has
  // endlessly many.
  struct Frame {
    TermId T;
    uint64_t Sum;       ///< of the texts found so far
    uint64_t Weight;    ///< bytes that lead here from the frame before
    const Partition *P; ///< which stays where it is
    size_t Next = 0;    ///< class
  };
  constexpr uint64_t OnPath = UINT64_MAX;
  std::unordered_map<TermId, uint64_t> Counts;
  std::vector<Frame> Path;
  uint64_t Whole = 0; // texts that end on the path
  auto Enter = [&](TermId T, uint64_t Weight) {
    Counts[T] = OnPath;
    Whole += nullable(T);
    Path.push_back({T, nullable(T), Weight, &Partitions[partitionOf(T)]});
  };
  if (!live(Start))
    return 0;
  Enter(Start, 1);
  for (uint64_t Steps = 0;;) {
    Frame &F = Path.back();
    if (F.Sum >= Limit || Whole >= Limit)
      return Limit;
    if (F.Next == F.P->First.size()) {
      Counts[F.T] = F.Sum;
      uint64_t More = F.Sum * F.Weight;
      Whole -= nullable(F.T);
      Path.pop_back();
      if (Path.empty())
        return More;
      Path.back().Sum += More;
      continue;
    }
    size_t Class = F.Next++;
    TermId To = derive(F.T, F.P->First[Class]);
    if (Overflow || ++Steps > 16 * Limit + (1u << 16))
      return Limit; // too many to tell apart
    if (!live(To))
      continue;
    uint64_t Weight = static_cast<uint64_t>(
        std::count(F.P->Class.begin(), F.P->Class.end(), Class));
    auto It = Counts.find(To);
    if (It == Counts.end())
      Enter(To, Weight);
    else if (It->second == OnPath)
      return Limit;
    else
      F.Sum += Weight * It->second;
  }
}

TermId Terms::clamp(TermId T, uint32_t Bytes) {
  const TermNode N = Nodes[T];
  // Under And and Not the far future decides whether a state is live.
  if (N.HasBool || !N.HasCount ||
      (N.Kind != TermKind::Seq && N.Kind != TermKind::Alt &&
       N.Kind != TermKind::Repeat))
    return T;
  uint64_t Key = uint64_t{T} << 32 | Bytes;
  auto It = Clamped.find(Key);
  if (It != Clamped.end())
    return It->second;
  TermId To = T;
  if (N.Kind == TermKind::Repeat) {
    // Each round takes a byte at least.
    uint32_t Max = N.Max > Bytes ? Unbounded : N.Max;
    To = repeat(clamp(N.A, Bytes), std::min(N.Min, Bytes + 1), Max);
  } else if (N.Kind == TermKind::Alt) {
    std::vector<TermId> List;
    for (uint32_t I = 0; I < N.B; ++I)
      List.push_back(clamp(Kids[N.A + I], Bytes));
    To = alt(List);
  } else {
    std::vector<TermId> Parts;
    for (TermId At = T;; At = Nodes[At].B) {
      bool More = Nodes[At].Kind == TermKind::Seq;
      Parts.push_back(clamp(More ? Nodes[At].A : At, Bytes));
      if (!More)
        break;
    }
    To = seq(Parts);
  }
  Clamped.emplace(Key, To);
  return To;
}

TermId Terms::dfa(DfaTable T, uint32_t Start) {
  size_t States = T.Accept.size();
  // Backwards from what accepts.
  std::vector<std::vector<uint32_t>> Into(States);
  for (uint32_t S = 0; S < States; ++S)
    for (uint32_t C = 0; C < T.Classes; ++C)
      if (uint32_t To = T.Next[size_t{S} * T.Classes + C]; To != DfaTable::Dead)
        Into[To].push_back(S);
  std::vector<uint8_t> Good(T.Accept.begin(), T.Accept.end());
  std::deque<uint32_t> Work;
  for (uint32_t S = 0; S < States; ++S)
    if (Good[S])
      Work.push_back(S);
  while (!Work.empty()) {
    for (uint32_t S : Into[Work.front()])
      if (!Good[S]) {
        Good[S] = 1;
        Work.push_back(S);
      }
    Work.pop_front();
  }
  for (uint32_t &To : T.Next)
    if (To != DfaTable::Dead && !Good[To])
      To = DfaTable::Dead;
  if (Start >= States || !Good[Start])
    return Nothing;
  TermNode N;
  N.Kind = TermKind::Dfa;
  N.A = static_cast<uint32_t>(Tables.size());
  N.B = Start;
  N.Nullable = T.Accept[Start] != 0;
  Tables.push_back(std::move(T));
  return intern(N);
}

} // namespace llmc::constraint
