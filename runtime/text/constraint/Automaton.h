// The automaton of a grammar, built as it is used.
//
// It is an Earley recogniser ("An efficient context-free parsing algorithm",
// CACM 1970) whose sets are hash-consed: a set is known by its number, equal
// sets have equal numbers, and the step from a set by a byte is kept in a
// table. So text that was seen once is matched by table look-ups, a copy of a
// parser's state is one number, and going back is free.
//
// An item waits for bytes: Head, an atomic term, is what may come now, Rest
// what comes behind it, then rule Rule that was called in set Origin is done.
// A call that is the last thing of its rule hands on its caller's Origin and
// Rule, so lists by right recursion take no stack.
//
// Every set but Dead can be completed, because finish() of the grammar cut off
// what cannot.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_AUTOMATON_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_AUTOMATON_H

#include "runtime/text/constraint/Grammar.h"

namespace llmc::constraint {

using SetId = uint32_t;

/// A key of a Loop that is being read: what it is so far.
struct Capture {
  TermId Loop = 0; ///< in place Key
  uint32_t Entry = 0;
  uint32_t Word = 0; ///< number of the bytes so far
  auto operator<=>(const Capture &) const = default;
};

struct Item {
  TermId Head = Nothing;
  TermId Rest = Epsilon;
  SetId Origin = 0;
  uint32_t Rule = 0;
  uint32_t Capture = 0; ///< 0: none
  auto operator<=>(const Item &) const = default;
};

class Automaton {
public:
  static constexpr SetId Dead = 0, Start = 1;

  /// Borrows a finished grammar.
  explicit Automaton(Grammar &G, size_t MaxBytes = size_t{256} << 20);

  /// The set after B. Dead when no text of the language goes on so, and when
  /// the limit of memory is reached (full()).
  SetId step(SetId S, uint8_t B) {
    const Set &Of = Sets[S];
    if (Of.InKey)
      return stepSlow(S, B);
    SetId To = Rows[Of.Row + G.terms().partition(Of.Partition).Class[B]];
    return To != Unknown ? To : stepSlow(S, B);
  }
  /// The set after a text.
  SetId walk(SetId S, std::string_view Text) {
    for (size_t I = 0; I < Text.size() && S != Dead; ++I)
      S = step(S, static_cast<uint8_t>(Text[I]));
    return S;
  }
  /// Whether the text may end here.
  bool accepts(SetId S) const { return Sets[S].Accepts; }
  /// Whether no item is left: nothing can follow. What is left may still be
  /// unable to take a byte, such as 101 within its bounds: see mustEnd.
  bool ended(SetId S) const { return Sets[S].ItemCount == 0; }
  /// Whether nothing can follow, and the text ends here or is dead.
  bool mustEnd(SetId S);
  /// Whether a key of a Loop is being read.
  bool inKey(SetId S) const { return Sets[S].InKey; }
  std::span<const Item> items(SetId S) const {
    return std::span<const Item>(Items).subspan(Sets[S].Items,
                                                Sets[S].ItemCount);
  }
  /// Whether there are endlessly many keys beside the one that I captures.
  bool endlessKeys(const Item &I) const {
    return G.spec(G.terms()[Captures[I.Capture].Loop].A).endless();
  }
  /// The set in which Head of item I of S has just ended, and nothing else of
  /// S goes on. MoreKey: bytes of the key since S, when the item captures one;
  /// null: leave the key out of what was seen.
  SetId resume(SetId S, size_t I, const std::string *MoreKey);
  /// Terms::firstGroups of what can come, without making sets.
  uint64_t firstGroups(SetId S);
  /// The only byte that can come, or -1.
  int forcedByte(SetId S);

  bool full() const { return Full || G.terms().overflowed(); }
  size_t setCount() const { return Sets.size(); }
  size_t memory() const;
  Grammar &grammar() { return G; }

private:
  static constexpr uint32_t Unknown = UINT32_MAX;
  static constexpr SetId Self = UINT32_MAX;     ///< origin: the set being made
  static constexpr SetId Root = UINT32_MAX - 1; ///< origin of the start

  struct Waiting {
    uint32_t For; ///< rule
    TermId Rest;
    SetId Origin;
    uint32_t Rule;
    auto operator<=>(const Waiting &) const = default;
  };
  struct Set {
    uint32_t Items = 0, ItemCount = 0;
    uint32_t Waits = 0, WaitCount = 0;
    uint32_t Partition = 0, Row = 0; ///< none while a key is read: every
                                     ///< byte makes another one
    bool Accepts = false, InKey = false;
  };
  /// What is to be taken apart: Rest of an item whose head has ended.
  struct Open {
    TermId T;
    SetId Origin;
    uint32_t Rule;
    auto operator<=>(const Open &) const = default;
  };

  SetId stepSlow(SetId S, uint8_t B);
  SetId close(std::vector<Item> Kernel);
  SetId store(const std::vector<Item> &Kernel, Set New);
  void push(TermId T, SetId Origin, uint32_t Rule);
  void expand(const Open &O);
  void expandSeq(TermId Body, TermId Rest, const Open &O);
  void expandHead(TermId Head, TermId Rest, const Open &O);
  void call(uint32_t R, TermId Rest, const Open &O);
  void expandLoop(TermId Loop, TermId Rest, const Open &O);
  void scan(TermId Head, TermId Rest, const Open &O, uint32_t Capture = 0);
  void headEnded(const Item &I, const std::string *MoreKey, bool Keep);
  void complete(SetId Origin, uint32_t Rule);
  std::pair<TermId, TermId> split(TermId T);
  uint32_t capture(const Capture &C);

  Grammar &G;
  size_t MaxBytes;
  bool Full = false;
  std::vector<Set> Sets;
  std::vector<Item> Items;
  std::vector<Waiting> Waits;
  std::vector<SetId> Rows;
  std::unordered_multimap<uint64_t, SetId> Index; ///< by hash of the kernel
  std::vector<std::pair<uint32_t, uint32_t>>
      Kernels; ///< of sets, in KernelItems
  std::vector<Item> KernelItems;
  std::vector<Capture> Captures;
  std::map<Capture, uint32_t> CaptureIndex;
  std::unordered_map<TermId, std::pair<TermId, TermId>> Splits;

  // Of the set being made.
  std::vector<Open> Work;
  std::vector<Item> NewItems;
  std::vector<Waiting> NewWaits;
  std::map<Open, bool> Expanded;
  std::map<std::pair<SetId, uint32_t>, bool> Completed;
  bool NewAccepts = false;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_AUTOMATON_H
