// Computing masks.
#include "runtime/text/constraint/Constraint.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

constexpr size_t RecentMasks = 128;

/// The states below one head as a table of its own: a walk over the whole
/// vocabulary takes few states and many steps.
class HeadWalk {
public:
  static constexpr uint32_t Dead = UINT32_MAX, Unknown = UINT32_MAX - 1;

  HeadWalk(Terms &P, TermId Head) : P(P) { add(Head); }

  uint32_t step(uint32_t From, uint8_t B) {
    uint32_t To = From < Rows ? Next[size_t{From} * 256 + B] : Unknown;
    return To != Unknown ? To : stepSlow(From, B);
  }
  bool nullable(uint32_t State) const { return Ends[State] != 0; }

private:
  uint32_t add(TermId Id) {
    auto [It, New] = Index.emplace(Id, static_cast<uint32_t>(StateOf.size()));
    if (New) {
      StateOf.push_back(Id);
      Ends.push_back(P.nullable(Id));
      if (Rows < MaxRows)
        Next.resize(++Rows * size_t{256}, Unknown);
    }
    return It->second;
  }
  uint32_t stepSlow(uint32_t From, uint8_t B) {
    TermId To = P.derive(StateOf[From], B);
    uint32_t State = To == Nothing || !P.live(To) ? Dead : add(To);
    if (From < Rows)
      Next[size_t{From} * 256 + B] = State;
    return State;
  }

  static constexpr uint32_t MaxRows = 8192; ///< later states are not kept

  Terms &P;
  uint32_t Rows = 0;
  std::vector<TermId> StateOf;
  std::vector<uint8_t> Ends;
  std::vector<uint32_t> Next;
  std::unordered_map<TermId, uint32_t> Index;
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

void Constraint::allow(int32_t Token, Bits &Out) const {
  Trie->forTwins(Token, [&](int32_t Id) {
    Out[static_cast<size_t>(Id) / 64] |= uint64_t{1} << (Id % 64);
  });
}

const Constraint::HeadMask &Constraint::headMask(size_t Tier, TermId Head) {
  Terms &P = G->terms();
  const TokenTrie::Tier &T = Trie->tiers()[Tier];
  TermId Key = P.clamp(Head, T.MaxBytes);
  auto It = Heads[Tier].find(Key);
  if (It != Heads[Tier].end())
    return It->second;
  if (HeadBytes > MaxBytes) {
    for (auto &Masks : Heads)
      Masks.clear();
    HeadBytes = 0;
  }
  HeadMask New;
  std::vector<int32_t> Found;
  HeadWalk Walk(P, Key);
  Path[0] = 0;
  for (uint32_t I = 0; I < T.Nodes.size();) {
    const TokenTrie::Node &N = T.Nodes[I];
    uint32_t To = Walk.step(Path[N.Depth - 1], N.Byte);
    if (To == HeadWalk::Dead) {
      I = N.End;
      continue;
    }
    Path[N.Depth] = To;
    if (N.Token >= 0)
      Found.push_back(N.Token);
    if (Walk.nullable(To) && N.End > I + 1)
      New.Exits.push_back(I);
    ++I;
  }
  for (size_t I = 0, Count = Found.size(); I < Count; ++I)
    Trie->forTwins(Trie->same(Found[I]),
                   [&](int32_t Id) { Found.push_back(Id); });
  size_t Words = (Trie->vocab() + 63) / 64;
  if (Found.size() > Words / 2) {
    New.Bits.assign(Words, 0);
    for (int32_t Id : Found)
      New.Bits[static_cast<size_t>(Id) / 64] |= uint64_t{1} << (Id % 64);
  } else {
    New.Few = std::move(Found);
  }
  HeadBytes += 4 * (New.Few.size() + New.Exits.size()) + 8 * New.Bits.size();
  return Heads[Tier].emplace(Key, std::move(New)).first->second;
}

void Constraint::walkBelow(const TokenTrie::Tier &T, uint32_t Node, SetId Set,
                           SetId Exact, Bits &Out) {
  Path[T.Nodes[Node].Depth] = Set;
  for (uint32_t I = Node + 1; I < T.Nodes[Node].End;) {
    const TokenTrie::Node &N = T.Nodes[I];
    SetId To = A.step(Path[N.Depth - 1], N.Byte);
    if (To == Automaton::Dead) {
      I = N.End;
      continue;
    }
    if (A.inKey(To) && Exact != Automaton::Dead) {
      // What keys are left depends on the one that this walk left out.
      for (; I < N.End; ++I)
        if (int32_t Id = T.Nodes[I].Token;
            Id >= 0 && A.walk(Exact, Trie->bytes(Id)) != Automaton::Dead)
          allow(Id, Out);
      I = N.End;
      continue;
    }
    Path[N.Depth] = To;
    if (N.Token >= 0)
      allow(N.Token, Out);
    ++I;
  }
}

/// What goes on behind the head of an item.
void Constraint::behind(SetId S, size_t I, size_t Tier, const HeadMask &M,
                        Bits &Out) {
  if (M.Exits.empty())
    return;
  const TokenTrie::Tier &T = Trie->tiers()[Tier];
  const Item It = A.items(S)[I];
  bool Endless = It.Capture == 0 || A.endlessKeys(It);
  SetId Same = Endless ? A.resume(S, I, nullptr) : Automaton::Dead;
  if (Endless && A.ended(Same))
    return;
  for (uint32_t Node : M.Exits) {
    if (Endless) {
      walkBelow(T, Node, Same, It.Capture ? S : Automaton::Dead, Out);
      continue;
    }
    // Every key leaves other ones.
    uint32_t Leaf = Node;
    while (T.Nodes[Leaf].Token < 0)
      ++Leaf;
    std::string More(
        Trie->bytes(T.Nodes[Leaf].Token).substr(0, T.Nodes[Node].Depth));
    SetId After = A.resume(S, I, &More);
    if (After != Automaton::Dead)
      walkBelow(T, Node, After, Automaton::Dead, Out);
  }
}

void Constraint::compute(SetId S, Bits &Out) {
  for (size_t Tier = 0; Tier < Heads.size(); ++Tier)
    for (size_t I = 0; I < A.items(S).size(); ++I) {
      const HeadMask &M = headMask(Tier, A.items(S)[I].Head);
      for (int32_t Id : M.Few)
        Out[static_cast<size_t>(Id) / 64] |= uint64_t{1} << (Id % 64);
      for (size_t W = 0; W < M.Bits.size(); ++W)
        Out[W] |= M.Bits[W];
      behind(S, I, Tier, M, Out);
    }
}

/// The first token loses its space: every token on its own.
void Constraint::computeFirst(SetId S, Bits &Out) {
  for (size_t I = 0; I < Trie->vocab(); ++I) {
    std::string_view B = Trie->bytes(static_cast<int32_t>(I));
    if (!B.empty() && B[0] == ' ')
      B.remove_prefix(1);
    if (!B.empty() && A.walk(S, B) != Automaton::Dead)
      Out[I / 64] |= uint64_t{1} << (I % 64);
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
        if (At + N.Depth > Text.size() ||
            static_cast<uint8_t>(Text[At + N.Depth - 1]) != N.Byte) {
          I = N.End;
          continue;
        }
        Best = N.Token >= 0 ? N.Token : Best;
        ++I;
      }
    if (Best < 0)
      return;
    Out.push_back(Best);
    At += Trie->bytes(Best).size();
  }
}

} // namespace llmc::constraint
