// A constraint over a vocabulary: which tokens may come next.
//
// The mask of a state is the union over its items of what stays inside the
// item's head, which depends on the head alone and is kept, and of what goes
// on behind its end, which is walked for the few nodes of the trie at which
// the head can end. So strings at any place of a document share one mask.
// Subtrees in which everything is allowed are taken without a walk (Runs.h).
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_CONSTRAINT_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_CONSTRAINT_H

#include "runtime/text/constraint/Automaton.h"
#include "runtime/text/constraint/Runs.h"
#include "runtime/text/constraint/TokenTrie.h"

#include <list>

namespace llmc::constraint {

/// Shared by all continuations under it; used by one thread at a time.
class Constraint {
public:
  /// MaxBytes: of the automaton and of kept masks, each about half.
  Constraint(std::unique_ptr<Grammar> G, std::shared_ptr<const TokenTrie> T,
             size_t MaxBytes = size_t{256} << 20);

  /// Before any token: the text is empty.
  struct State {
    SetId Set = Automaton::Start;
    bool First = true; ///< no token came yet
  };

  /// Words of one bit per id of the vocabulary; valid until the next call.
  /// End tokens are not in it: see mayEnd.
  std::span<const uint64_t> mask(const State &S);
  /// The text may end here.
  bool mayEnd(const State &S) const { return A.accepts(S.Set); }
  /// It must end: nothing can follow.
  bool mustEnd(const State &S) { return A.mustEnd(S.Set); }
  bool dead(const State &S) const { return S.Set == Automaton::Dead; }
  /// Dead when the token was not allowed.
  State accept(const State &S, int32_t Token);
  /// Tokens of the text that must come next, at most Most of them; a guess at
  /// how the model would cut it. Appends to Out.
  void forced(State S, size_t Most, std::vector<int32_t> &Out);

  /// More than half of the memory is used: begin new texts with another one.
  bool worn() const { return A.memory() > MaxBytes / 2; }
  /// Success, or that the memory is used up.
  Status status() const;
  const TokenTrie &trie() const { return *Trie; }
  Automaton &automaton() { return A; }

private:
  using Bits = std::vector<uint64_t>;
  /// Nodes at which a head can end; of several, those that are not within a
  /// character.
  struct Exit {
    uint32_t Node, End;
  };
  /// What a head allows in one tier.
  struct HeadMask {
    std::vector<std::pair<uint32_t, uint32_t>> Ranks; ///< when they are few
    Bits All;                                         ///< else
    std::vector<Exit> Exits;
  };
  /// The automaton as a machine of Runs.h.
  struct SetMachine {
    static constexpr uint32_t Dead = Automaton::Dead;
    Automaton &A;
    uint32_t step(uint32_t S, uint8_t B) { return A.step(S, B); }
  };

  /// Exits: those are wanted.
  const HeadMask &headMask(size_t Tier, TermId Head, bool Exits);
  void walkHead(const TokenTrie::Tier &T, TermId Head, bool Exits,
                HeadMask &New);
  Bits bitsOf(const TokenTrie::Tier &T,
              std::span<const std::pair<uint32_t, uint32_t>> Ranks,
              size_t Count) const;
  void compute(SetId S, Bits &Out);
  void computeFirst(SetId S, Bits &Out);
  /// What goes on behind the head of an item; Same: the set there, when the
  /// key that ends does not matter.
  void behind(SetId S, size_t Item, SetId Same, const TokenTrie::Tier &T,
              const std::vector<Exit> &Exits, Bits &Out);
  /// Allows what can come below a node from a set that holds there. Exactly:
  /// where keys are read, ask from Exact instead.
  void walkBelow(const TokenTrie::Tier &T, uint32_t Node, SetId Set,
                 SetId Exact, Bits &Out);
  bool covered(const TokenTrie::Tier &T, uint32_t Node, SetId Set);
  bool withinChar(const TokenTrie::Tier &T, uint32_t Node) const;
  uint64_t firstGroups(SetId S);
  void allow(std::pair<uint32_t, uint32_t> Ranks, Bits &Out) const;

  std::unique_ptr<Grammar> G;
  std::shared_ptr<const TokenTrie> Trie;
  size_t MaxBytes;
  Automaton A;
  std::vector<std::unordered_map<uint64_t, HeadMask>> Heads; ///< by tier
  size_t HeadBytes = 0;
  HeadMask Scratch; ///< of the head being walked
  /// Whole masks, the last used in front.
  std::list<std::pair<uint64_t, Bits>> Recent;
  std::unordered_map<uint64_t, std::list<std::pair<uint64_t, Bits>>::iterator>
      Known;
  std::vector<uint32_t> Path; ///< states along the walk, by depth
  Runs<SetMachine> SetRuns;
  std::vector<uint64_t> First; ///< of sets; 0: not known
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_CONSTRAINT_H
