// Whole subtrees of the vocabulary at once: where every text of some groups of
// bytes leads on, a subtree that holds nothing else needs no walk.
//
// A state runs when many groups of bytes lead from it to one and the same
// state: the inside of a string to itself, `x{0,9}` to `x{0,8}`. A subtree of
// some height is covered when its groups run along the chain of these states
// for so many bytes. Masks of free text take a walk of a few percent of the
// trie in this way.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_RUNS_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_RUNS_H

#include "runtime/text/constraint/CharGroups.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace llmc::constraint {

// A Machine has the constant Dead and uint32_t step(uint32_t State, uint8_t B).

/// Whether all characters that Rest begins lead from S to To.
template <typename Machine>
bool restTo(Machine &M, uint32_t S, Utf8Rest Rest, uint32_t To) {
  uint32_t Last = Machine::Dead;
  for (unsigned B = Rest.Low; B <= Rest.High; ++B) {
    uint32_t Next = M.step(S, static_cast<uint8_t>(B));
    if (Next == Machine::Dead || (Rest.Left == 1 && Next != To) ||
        (Rest.Left > 1 && Next != Last && !restTo(M, Next, Rest.next(), To)))
      return false;
    Last = Next;
  }
  return true;
}

/// Finds groups with a character that does not lead to a state To.
template <typename Machine> class Astray {
public:
  Astray(Machine &M, uint32_t To) : M(M), To(To) {}

  /// Those of Wanted, groups of characters of several bytes, from state S.
  uint64_t of(uint32_t S, uint64_t Wanted) {
    Left = Wanted;
    for (unsigned B = 0xC2; B <= 0xF4 && Left != 0; ++B) {
      uint8_t Lead = static_cast<uint8_t>(B);
      if (uint32_t Node = Tree.lead(Lead); (Tree.groups(Node) & Left) != 0)
        below(M.step(S, Lead), Utf8Rest::after(Lead), Node);
    }
    return Wanted & ~Left;
  }

private:
  /// S: the state behind the bytes up to Node.
  void below(uint32_t S, Utf8Rest Rest, uint32_t Node) {
    uint64_t Here = Tree.groups(Node) & Left;
    if (Here == 0 || (S == Full && Rest == FullRest))
      return;
    if (S == Machine::Dead || (Rest.Left == 0 && S != To)) {
      Left &= ~Here;
      return;
    }
    if (Rest.Left == 0)
      return;
    if (restTo(M, S, Rest, To)) {
      Full = S, FullRest = Rest;
      return;
    }
    uint32_t LastState = Machine::Dead, LastNode = UINT32_MAX;
    for (unsigned B = Rest.Low; B <= Rest.High; ++B) {
      uint8_t Byte = static_cast<uint8_t>(B);
      uint32_t Next = Tree.next(Node, Byte);
      if ((Tree.groups(Next) & Left) == 0)
        continue;
      uint32_t State = M.step(S, Byte);
      if (State != LastState || Next != LastNode)
        below(State, Rest.next(), Next);
      LastState = State, LastNode = Next;
    }
  }

  Machine &M;
  uint32_t To;
  const CharTree &Tree = CharTree::get();
  uint64_t Left = 0;             ///< groups that did not go astray yet
  uint32_t Full = Machine::Dead; ///< a state from which none goes astray
  Utf8Rest FullRest;
};

/// Groups of Wanted all of whose characters lead from S to To.
template <typename Machine>
uint64_t charsTo(Machine &M, uint32_t S, uint32_t To, uint64_t Wanted) {
  uint64_t Others = 0;
  for (unsigned B = 0; B < 128 && (Wanted & ~MultiByte & ~Others) != 0; ++B)
    if (uint8_t Byte = static_cast<uint8_t>(B);
        (asciiGroup(Byte) & Wanted & ~Others) != 0 && M.step(S, Byte) != To)
      Others |= asciiGroup(Byte);
  Others |= Astray<Machine>(M, To).of(S, Wanted & MultiByte);
  return Wanted & ~NotUtf8 & ~Others;
}

/// The state behind the first character of a group; Dead when there is none.
template <typename Machine>
uint32_t behindFirst(Machine &M, uint32_t S, uint64_t Group) {
  const CharTree &Tree = CharTree::get();
  for (unsigned B = 0xC2; B <= 0xF4; ++B) {
    uint32_t Node = Tree.lead(static_cast<uint8_t>(B));
    if ((Tree.groups(Node) & Group) == 0)
      continue;
    S = M.step(S, static_cast<uint8_t>(B));
    for (Utf8Rest Rest = Utf8Rest::after(static_cast<uint8_t>(B));
         Rest.Left > 0 && S != Machine::Dead; Rest = Rest.next()) {
      unsigned C = Rest.Low;
      while ((Tree.groups(Tree.next(Node, static_cast<uint8_t>(C))) & Group) ==
             0)
        ++C;
      Node = Tree.next(Node, static_cast<uint8_t>(C));
      S = M.step(S, static_cast<uint8_t>(C));
    }
    return S;
  }
  return Machine::Dead;
}

template <typename Machine> class Runs {
public:
  struct Run {
    uint32_t Next = Machine::Dead;
    uint64_t Groups = 0;
    uint64_t Tried = 0; ///< of several bytes: not in Groups before
    bool Known = false;
  };

  bool known(uint32_t S) const { return S < Of.size() && Of[S].Known; }

  /// Whether all texts over Groups of at most Height bytes stay alive behind
  /// S, by way of states for which Also holds. Never true by mistake.
  template <typename Fn>
  bool covers(Machine &M, uint32_t S, uint64_t Groups, unsigned Height,
              Fn Also) {
    for (; Height > 0; --Height) {
      const Run R = get(M, S, Groups);
      if ((Groups & ~R.Groups) != 0 || !Also(R.Next))
        return false;
      if (R.Next == S)
        return true;
      S = R.Next;
    }
    return true;
  }

private:
  const Run &get(Machine &M, uint32_t S, uint64_t Wanted) {
    if (S >= Of.size())
      Of.resize(size_t{S} + S / 2 + 16);
    if (!Of[S].Known)
      find(M, S);
    uint64_t Ask = Wanted & MultiByte & ~Of[S].Tried;
    if (Ask != 0 && (Wanted & ~MultiByte & ~Of[S].Groups) == 0) {
      if (Of[S].Next == Machine::Dead)
        Of[S].Next = behindFirst(M, S, Ask & (~Ask + 1));
      Of[S].Tried |= Ask;
      if (Of[S].Next != Machine::Dead)
        Of[S].Groups |= Ask & ~Astray<Machine>(M, Of[S].Next).of(S, Ask);
    }
    return Of[S];
  }

  void find(Machine &M, uint32_t S) {
    uint32_t To[128];
    std::vector<std::pair<uint32_t, unsigned>> Count;
    for (unsigned B = 0; B < 128; ++B) {
      To[B] = M.step(S, static_cast<uint8_t>(B));
      if (To[B] == Machine::Dead)
        continue;
      size_t I = 0;
      while (I < Count.size() && Count[I].first != To[B])
        ++I;
      if (I == Count.size())
        Count.emplace_back(To[B], 0);
      ++Count[I].second;
    }
    Run R;
    R.Known = true;
    unsigned Most = 0;
    for (auto [State, N] : Count)
      if (N > Most)
        Most = N, R.Next = State;
    for (unsigned B = 0; B < 128; ++B)
      if (Most != 0)
        R.Groups |= asciiGroup(static_cast<uint8_t>(B));
    for (unsigned B = 0; B < 128; ++B)
      if (To[B] != R.Next)
        R.Groups &= ~asciiGroup(static_cast<uint8_t>(B));
    Of[S] = R;
  }

  std::vector<Run> Of;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_RUNS_H
