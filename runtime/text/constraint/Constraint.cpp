// Computing masks.
#include "runtime/text/constraint/Constraint.h"

#include <algorithm>
#include <bit>

namespace llmc::constraint {

namespace {

constexpr size_t RecentMasks = 128;
/// Nodes of a subtree from which on it is worth asking whether all of it is
/// allowed; of a state of which that was not asked yet.
constexpr uint32_t RunNodes = 6, RunNodesNew = 48;

/// Whether nothing below a node can come first. Only said between characters.
bool missed(uint64_t Below, uint64_t First) {
  return (Below & First) == 0 && ((Below | First) & NotUtf8) == 0;
}

/// The states below one head as a table of its own: a walk over the whole
/// vocabulary takes few states and many steps.
class HeadWalk {
public:
  static constexpr uint32_t Dead = UINT32_MAX, Unknown = UINT32_MAX - 1;

  /// Exits: covers will be asked for Ends.
  HeadWalk(Terms &P, TermId Head, bool Exits)
      : P(P), Last(Exits ? P.lastGroups(Head) : 0) {
    add(Head);
  }

  uint32_t step(uint32_t From, uint8_t B) {
    uint32_t To = Next[Rows[From].At + Rows[From].Class[B]];
    return To != Unknown ? To : stepSlow(From, B);
  }
  bool nullable(uint32_t State) const { return Ends[State] != 0; }
  /// Whether tokens at a node and below stay in the head, where State holds
  /// before the node: all of at most so many characters; 0: not known. With
  /// Ends, moreover, the head can end at all these nodes, where they are not
  /// within a character, or at none, which it tells.
  uint32_t covers(uint32_t State, const TokenTrie::Tier &T, uint32_t Node,
                  bool *Ends) {
    const TokenTrie::Node &N = T.Nodes[Node];
    uint64_t In = TokenTrie::groupsUnder(T, Node);
    if (N.End - Node < RunNodes || N.Height == 255 || (In & NotUtf8) != 0)
      return 0;
    if (Ends != nullptr && (In & Last) == 0) {
      *Ends = false;
      Ends = nullptr;
    }
    if (StateForms *Its = formsOf(State)) {
      bool Always = false;
      uint32_t Most = coveredByForm(*Its, N, In, Always);
      if (Most == 0 || Ends == nullptr)
        return Most;
      if (Always && N.Height < Most) {
        *Ends = true;
        return Most;
      }
    }
    if (!Running.known(State) && N.End - Node < RunNodesNew)
      return 0;
    bool IsFirst = true;
    bool Is = Running.covers(*this, State, In, N.Height + 1u, [&](uint32_t To) {
      if (Ends == nullptr)
        return true;
      if (IsFirst)
        *Ends = nullable(To);
      IsFirst = false;
      return nullable(To) == *Ends;
    });
    return Is ? Unbounded : 0;
  }

private:
  /// `x{a,b} tail`: runs without the states of every count being made.
  struct Form {
    TermId Char = Nothing; ///< x
    uint64_t Tried = 0;    ///< groups
    uint64_t Good = 0;     ///< those all of whose characters are x
    uint64_t Tail = 0;     ///< groups at which the tail begins
    uint32_t Most = 0;
    bool Always = false; ///< it may end behind any x
  };
  /// Of a state; several when it has alternatives.
  struct StateForms {
    static constexpr size_t Max = 4;
    bool Alone = true; ///< no alternatives
    std::vector<Form> Of;
  };

  /// Null when the state has none.
  StateForms *formsOf(uint32_t State) {
    if (State >= FormAt.size())
      FormAt.resize(size_t{State} + State / 2 + 64, NotKnown);
    if (FormAt[State] == NotKnown) {
      StateForms New;
      addForms(New, StateOf[State], Epsilon);
      FormAt[State] = New.Of.empty() ? None : uint32_t(Forms.size());
      if (!New.Of.empty())
        Forms.push_back(std::move(New));
    }
    return FormAt[State] == None ? nullptr : &Forms[FormAt[State]];
  }
  /// Of T and Tail behind it; of an Alt those of all alternatives.
  void addForms(StateForms &To, TermId T, TermId Tail) {
    TermNode N = P[T];
    if (N.Kind == TermKind::Alt) {
      To.Alone = false;
      for (uint32_t I = 0; I < N.B && To.Of.size() < StateForms::Max; ++I)
        addForms(To, P.kids(T)[I], Tail);
    } else if (N.Kind == TermKind::Seq && !N.HasBool &&
               P[N.A].Kind != TermKind::Bytes) {
      addForms(To, N.A, P.seq(N.B, Tail));
    } else if (N.Kind == TermKind::Repeat && !N.HasBool && P.live(Tail)) {
      To.Of.push_back({N.A, 0, 0, P.firstGroups(Tail), N.Max,
                       N.Min == 0 && P.nullable(Tail)});
    }
  }
  uint32_t coveredByForm(StateForms &Its, const TokenTrie::Node &N, uint64_t In,
                         bool &Always) {
    for (Form &F : Its.Of) {
      // Beyond the count only another alternative or the tail could go on.
      if (N.Height >= F.Most &&
          (!Its.Alone || (F.Tail & In) != 0 || N.Depth + N.Height >= 255))
        continue;
      if (uint64_t Ask = In & ~F.Tried; Ask != 0) {
        F.Good |= P.charGroups(F.Char, Ask);
        F.Tried |= Ask;
      }
      Always = F.Always;
      if ((In & ~F.Good) == 0)
        return F.Most;
    }
    return 0;
  }

  uint32_t add(TermId Id) {
    auto [It, New] = Index.emplace(Id, static_cast<uint32_t>(StateOf.size()));
    if (New) {
      const Terms::Partition &Like = P.partition(P.partitionOf(Id));
      StateOf.push_back(Id);
      Ends.push_back(P.nullable(Id));
      Rows.push_back({Like.Class.data(), static_cast<uint32_t>(Next.size())});
      Next.resize(Next.size() + Like.First.size(), Unknown);
    }
    return It->second;
  }
  uint32_t stepSlow(uint32_t From, uint8_t B) {
    TermId To = P.derive(StateOf[From], B);
    uint32_t State = To == Nothing || !P.live(To) ? Dead : add(To);
    Next[Rows[From].At + Rows[From].Class[B]] = State;
    return State;
  }

  struct Row {
    const uint8_t *Class; ///< of bytes
    uint32_t At;          ///< of the first class, in Next
  };

  Terms &P;
  uint64_t Last; ///< groups of the bytes at which the head can end
  std::vector<TermId> StateOf;
  std::vector<uint8_t> Ends;
  std::vector<Row> Rows;
  std::vector<uint32_t> Next;
  std::unordered_map<TermId, uint32_t> Index;
  Runs<HeadWalk> Running;
  static constexpr uint32_t NotKnown = UINT32_MAX, None = UINT32_MAX - 1;
  std::vector<uint32_t> FormAt; ///< of states, in Forms
  std::vector<StateForms> Forms;
};

} // namespace

Constraint::Constraint(std::unique_ptr<Grammar> Gr,
                       std::shared_ptr<const TokenTrie> T, size_t Max)
    : G(std::move(Gr)), Trie(std::move(T)), MaxBytes(Max / 2), A(*G, Max / 2),
      Heads(Trie->tiers().size()), Path(Trie->longest() + 1, 0) {}

Status Constraint::status() const {
  if (!A.full())
    return Status::success();
  return doesNotFitError("the constraint needs more than " +
                         std::to_string(A.memory() >> 20) + " MiB");
}

void Constraint::allow(std::pair<uint32_t, uint32_t> Ranks, Bits &Out) const {
  const int32_t *Order = Trie->order().data();
  for (uint32_t R = Ranks.first; R < Ranks.second; ++R)
    Out[static_cast<uint32_t>(Order[R]) / 64] |= uint64_t{1} << (Order[R] % 64);
}

void Constraint::walkHead(const TokenTrie::Tier &T, TermId Head, bool Exits,
                          HeadMask &New) {
  auto Take = [&](std::pair<uint32_t, uint32_t> R) {
    if (!New.Ranks.empty() && New.Ranks.back().second == R.first)
      New.Ranks.back().second = R.second;
    else if (R.first != R.second)
      New.Ranks.push_back(R);
  };
  std::span<const uint8_t> Chars = Trie->chars();
  auto CharsBefore = [&](uint32_t Node) {
    const TokenTrie::Node &N = T.Nodes[Node];
    return TokenTrie::charCount(
        Trie->bytes(Trie->order()[N.Rank]).substr(0, N.Depth - 1u));
  };
  HeadWalk Walk(G->terms(), Head, Exits);
  Path[0] = 0;
  for (uint32_t I = 0; I < T.Nodes.size();) {
    const TokenTrie::Node &N = T.Nodes[I];
    // Where the walk goes unless it goes down: far away, mostly.
    __builtin_prefetch(T.Nodes.data() + N.End);
    __builtin_prefetch(T.Below.data() + N.End);
    bool Ends = false;
    if (uint32_t Most =
            Walk.covers(Path[N.Depth - 1], T, I, Exits ? &Ends : nullptr)) {
      auto [Begin, End] = TokenTrie::ranksUnder(T, I);
      if (N.Height < Most)
        Take({Begin, End});
      else
        for (uint32_t Done = CharsBefore(I), R = Begin; R < End; ++R)
          if (Chars[R] - Done <= Most)
            Take({R, R + 1});
      if (Ends)
        New.Exits.push_back({I, N.End});
      I = N.End;
      continue;
    }
    uint32_t To = Walk.step(Path[N.Depth - 1], N.Byte);
    if (To == HeadWalk::Dead) {
      I = N.End;
      continue;
    }
    Path[N.Depth] = To;
    Take(TokenTrie::ranksAt(T, I));
    if (Exits && Walk.nullable(To) && N.End > I + 1)
      New.Exits.push_back({I, I + 1});
    ++I;
  }
}

/// The bits of ranks in rising order, of a tier.
Constraint::Bits
Constraint::bitsOf(const TokenTrie::Tier &T,
                   std::span<const std::pair<uint32_t, uint32_t>> Ranks,
                   size_t Count) const {
  auto [Begin, End] = TokenTrie::ranksOf(T);
  if (Count <= (End - Begin) / 2) {
    Bits Out((Trie->vocab() + 63) / 64, 0);
    for (std::pair<uint32_t, uint32_t> R : Ranks)
      allow(R, Out);
    return Out;
  }
  Bits Out(T.All);
  const int32_t *Order = Trie->order().data();
  auto Forbid = [&](uint32_t First, uint32_t Last) {
    for (uint32_t R = First; R < Last; ++R)
      Out[static_cast<uint32_t>(Order[R]) / 64] &=
          ~(uint64_t{1} << (Order[R] % 64));
  };
  for (std::pair<uint32_t, uint32_t> R : Ranks) {
    Forbid(Begin, R.first);
    Begin = R.second;
  }
  Forbid(Begin, End);
  return Out;
}

const Constraint::HeadMask &Constraint::headMask(size_t Tier, TermId Head,
                                                 bool Exits) {
  const TokenTrie::Tier &T = Trie->tiers()[Tier];
  TermId Clamped = G->terms().clamp(Head, T.MaxBytes);
  uint64_t Key = uint64_t{Clamped} << 1 | Exits;
  auto It = Heads[Tier].find(Key);
  if (It != Heads[Tier].end())
    return It->second;
  if (HeadBytes > MaxBytes) {
    for (auto &Masks : Heads)
      Masks.clear();
    HeadBytes = 0;
  }
  Scratch.Ranks.clear(), Scratch.Exits.clear();
  walkHead(T, Clamped, Exits, Scratch);
  HeadMask New;
  New.Exits = Scratch.Exits;
  size_t Words = (Trie->vocab() + 63) / 64, Count = 0;
  for (std::pair<uint32_t, uint32_t> R : Scratch.Ranks)
    Count += R.second - R.first;
  if (Count > Words / 2)
    New.All = bitsOf(T, Scratch.Ranks, Count);
  else
    New.Ranks = Scratch.Ranks;
  HeadBytes += 8 * (New.Ranks.size() + New.Exits.size() + New.All.size());
  return Heads[Tier].emplace(Key, std::move(New)).first->second;
}

uint64_t Constraint::firstGroups(SetId S) {
  if (S >= First.size())
    First.resize(size_t{S} + S / 2 + 16);
  if (First[S] == 0)
    First[S] = A.firstGroups(S);
  return First[S];
}

/// Whether all tokens at a node and below may come where Set holds before it.
bool Constraint::covered(const TokenTrie::Tier &T, uint32_t Node, SetId Set) {
  const TokenTrie::Node &N = T.Nodes[Node];
  uint64_t In = TokenTrie::groupsUnder(T, Node);
  if (N.End - Node < (SetRuns.known(Set) ? RunNodes : RunNodesNew) ||
      N.Height == 255 || A.inKey(Set) || (In & NotUtf8) != 0)
    return false;
  SetMachine M{A};
  return SetRuns.covers(M, Set, In, N.Height + 1u, [&](SetId To) {
    return !A.inKey(To);
  }) && !A.full();
}

void Constraint::walkBelow(const TokenTrie::Tier &T, uint32_t Node, SetId Set,
                           SetId Exact, Bits &Out) {
  if (missed(T.Below[Node], firstGroups(Set)))
    return;
  Path[T.Nodes[Node].Depth] = Set;
  for (uint32_t I = Node + 1; I < T.Nodes[Node].End;) {
    const TokenTrie::Node &N = T.Nodes[I];
    if (covered(T, I, Path[N.Depth - 1])) {
      allow(TokenTrie::ranksUnder(T, I), Out);
      I = N.End;
      continue;
    }
    SetId To = A.step(Path[N.Depth - 1], N.Byte);
    if (To == Automaton::Dead) {
      I = N.End;
      continue;
    }
    if (A.inKey(To) && Exact != Automaton::Dead) {
      // What keys are left depends on the one that this walk left out.
      std::pair<uint32_t, uint32_t> Ranks = TokenTrie::ranksUnder(T, I);
      for (uint32_t R = Ranks.first; R < Ranks.second; ++R)
        if (A.walk(Exact, Trie->bytes(Trie->order()[R])) != Automaton::Dead)
          allow({R, R + 1}, Out);
      I = N.End;
      continue;
    }
    Path[N.Depth] = To;
    allow(TokenTrie::ranksAt(T, I), Out);
    ++I;
  }
}

/// Whether a node is before the end of a character of UTF-8.
bool Constraint::withinChar(const TokenTrie::Tier &T, uint32_t Node) const {
  const TokenTrie::Node &N = T.Nodes[Node];
  if (N.Byte < 0x80)
    return false;
  std::string_view Text = Trie->bytes(Trie->order()[N.Rank]).substr(0, N.Depth);
  size_t Lead = Text.size() - 1;
  while (Lead > 0 && (static_cast<uint8_t>(Text[Lead]) & 0xC0) == 0x80)
    --Lead;
  size_t Left = Utf8Rest::after(static_cast<uint8_t>(Text[Lead])).Left;
  return Left > Text.size() - 1 - Lead;
}

void Constraint::behind(SetId S, size_t Number, SetId Same,
                        const TokenTrie::Tier &T,
                        const std::vector<Exit> &Exits, Bits &Out) {
  SetId Exact = A.items(S)[Number].Capture ? S : Automaton::Dead;
  auto At = [&](uint32_t Node) {
    if (Same != Automaton::Dead)
      return walkBelow(T, Node, Same, Exact, Out);
    // Every key leaves other ones.
    int32_t Id = Trie->order()[T.Nodes[Node].Rank];
    std::string More(Trie->bytes(Id).substr(0, T.Nodes[Node].Depth));
    SetId After = A.resume(S, Number, &More);
    if (After != Automaton::Dead)
      walkBelow(T, Node, After, Automaton::Dead, Out);
  };
  uint64_t Wanted = Same != Automaton::Dead ? firstGroups(Same) : NotUtf8;
  for (Exit E : Exits) {
    bool Many = E.End > E.Node + 1;
    for (uint32_t I = E.Node; I < E.End;)
      if (missed(T.Below[I], Wanted))
        I = std::min(E.End, T.Nodes[I].End);
      else if (uint32_t Node = I++; !Many || !withinChar(T, Node))
        At(Node);
  }
}

void Constraint::compute(SetId S, Bits &Out) {
  for (size_t I = 0; I < A.items(S).size(); ++I) {
    const Item It = A.items(S)[I];
    bool Endless = It.Capture == 0 || A.endlessKeys(It);
    SetId Same = Endless ? A.resume(S, I, nullptr) : Automaton::Dead;
    bool Exits = !Endless || !A.ended(Same);
    for (size_t Tier = 0; Tier < Heads.size(); ++Tier) {
      const HeadMask &M = headMask(Tier, It.Head, Exits);
      for (std::pair<uint32_t, uint32_t> R : M.Ranks)
        allow(R, Out);
      for (size_t W = 0; W < M.All.size(); ++W)
        Out[W] |= M.All[W];
      if (Exits && !M.Exits.empty())
        behind(S, I, Same, Trie->tiers()[Tier], M.Exits, Out);
    }
  }
}

/// The first token loses its space: tokens with one as what is below it.
void Constraint::computeFirst(SetId S, Bits &Out) {
  compute(S, Out);
  for (const TokenTrie::Tier &T : Trie->tiers())
    for (uint32_t I = 0; I < T.Nodes.size(); I = T.Nodes[I].End) {
      if (T.Nodes[I].Byte != ' ')
        continue;
      auto [Begin, End] = TokenTrie::ranksUnder(T, I);
      for (uint32_t R = Begin; R < End; ++R)
        Out[static_cast<uint32_t>(Trie->order()[R]) / 64] &=
            ~(uint64_t{1} << (Trie->order()[R] % 64));
      walkBelow(T, I, S, Automaton::Dead, Out);
    }
}

std::span<const uint64_t> Constraint::mask(const State &S) {
  bool First = S.First && Trie->dropsLeadingSpace();
  uint64_t Key = uint64_t{S.Set} << 1 | First;
  auto It = Known.find(Key);
  if (It != Known.end()) {
    Recent.splice(Recent.begin(), Recent, It->second);
    return Recent.front().second;
  }
  if (Recent.size() >= RecentMasks) {
    Known.erase(Recent.back().first);
    Recent.splice(Recent.begin(), Recent, std::prev(Recent.end()));
  } else {
    Recent.emplace_front();
  }
  Bits &Out = Recent.front().second;
  Out.assign((Trie->vocab() + 63) / 64, 0);
  if (First)
    computeFirst(S.Set, Out);
  else
    compute(S.Set, Out);
  Recent.front().first = Key;
  Known[Key] = Recent.begin();
  return Out;
}

Constraint::State Constraint::accept(const State &S, int32_t Token) {
  std::string_view B;
  if (Token >= 0 && static_cast<size_t>(Token) < Trie->vocab())
    B = Trie->bytes(Token);
  if (S.First && Trie->dropsLeadingSpace() && !B.empty() && B[0] == ' ')
    B.remove_prefix(1);
  return {B.empty() ? Automaton::Dead : A.walk(S.Set, B), false};
}

void Constraint::forced(State S, size_t Most, std::vector<int32_t> &Out) {
  std::string Text;
  SetId Set = S.Set;
  while (Text.size() < 4 * Most) {
    int B = A.forcedByte(Set);
    if (B < 0)
      break;
    Text += static_cast<char>(B);
    Set = A.step(Set, static_cast<uint8_t>(B));
  }
  // The longest token first, as vocabularies of merges mostly do.
  for (size_t At = 0; At < Text.size() && Most > 0; --Most) {
    int32_t Best = -1;
    for (const TokenTrie::Tier &T : Trie->tiers())
      for (uint32_t I = 0; I < T.Nodes.size();) {
        const TokenTrie::Node &N = T.Nodes[I];
        auto [Rank, More] = TokenTrie::ranksAt(T, I);
        if (At + N.Depth > Text.size() ||
            static_cast<uint8_t>(Text[At + N.Depth - 1]) != N.Byte) {
          I = N.End;
          continue;
        }
        Best = Rank < More ? Trie->order()[Rank] : Best;
        ++I;
      }
    if (Best < 0)
      return;
    Out.push_back(Best);
    At += Trie->bytes(Best).size();
  }
}

} // namespace llmc::constraint
