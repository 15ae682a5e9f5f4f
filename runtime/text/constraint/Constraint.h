// A constraint over a vocabulary: which tokens may come next.
//
// The mask of a state is the union over its items of what stays inside the
// item's head, which depends on the head alone and is kept, and of what goes
// on behind its end, which is walked for the few nodes of the trie at which
// the head can end. So strings at any place of a document share one mask.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_CONSTRAINT_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_CONSTRAINT_H

#include "runtime/text/constraint/Automaton.h"
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
  bool mustEnd(const State &S) const { return A.ended(S.Set); }
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
  /// What a head allows in one tier.
  struct HeadMask {
    std::vector<int32_t> Few;    ///< ids, when they are few
    std::vector<uint64_t> Bits;  ///< else
    std::vector<uint32_t> Exits; ///< nodes at which it ends, with more below
  };
  using Bits = std::vector<uint64_t>;

  const HeadMask &headMask(size_t Tier, TermId Head);
  void compute(SetId S, Bits &Out);
  void computeFirst(SetId S, Bits &Out);
  void behind(SetId S, size_t Item, size_t Tier, const HeadMask &M, Bits &Out);
  /// Allows what can come below a node from a set that holds there. Exactly:
  /// where keys are read, ask from Exact instead.
  void walkBelow(const TokenTrie::Tier &T, uint32_t Node, SetId Set,
                 SetId Exact, Bits &Out);
  void allow(int32_t Token, Bits &Out) const;

  std::unique_ptr<Grammar> G;
  std::shared_ptr<const TokenTrie> Trie;
  size_t MaxBytes;
  Automaton A;
  std::vector<std::unordered_map<TermId, HeadMask>> Heads; ///< by tier
  size_t HeadBytes = 0;
  /// Whole masks, the last used in front.
  std::list<std::pair<uint64_t, Bits>> Recent;
  std::unordered_map<uint64_t, std::list<std::pair<uint64_t, Bits>>::iterator>
      Known;
  std::vector<uint32_t> Path; ///< states along the walk, by depth
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_CONSTRAINT_H
