// Languages of bytes as terms: the intermediate form of every constraint.
//
// A term is a node in an arena and is known by its number; equal terms have
// equal numbers (hash-consing), so that terms serve as states of an automaton:
// the derivative of a term by a byte (Brzozowski, "Derivatives of regular
// expressions", JACM 1964) is the state after that byte. Derivatives are made
// when they are first asked for. Counted repetitions stay counted, so
// `x{0,65536}` is one node, not 65536.
//
// Terms are atomic (regular: bytes, sequences, alternatives, intersections,
// complements, repetitions, finite automata) or not: a Lex marks an atomic
// term that is a unit of its own (a JSON string), a Ref calls a rule of the
// grammar, a Loop is a list of entries whose keys must differ (Loops.h).
// Automaton.h gives meaning to these.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_TERMS_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_TERMS_H

#include "runtime/text/constraint/ByteSet.h"

#include <deque>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace llmc::constraint {

using TermId = uint32_t;
inline constexpr TermId Nothing = 0;    ///< the empty language
inline constexpr TermId Epsilon = 1;    ///< only the empty text
inline constexpr TermId Everything = 2; ///< all texts of bytes
inline constexpr uint32_t Unbounded = UINT32_MAX;

/// The numbers are stored in artifacts: append only.
enum class TermKind : uint8_t {
  Nothing = 0,
  Epsilon = 1,
  Bytes = 2,  ///< A: number of the byte set
  Seq = 3,    ///< A (never a Seq) then B
  Alt = 4,    ///< Kids[A, A + B), sorted
  And = 5,    ///< Kids[A, A + B), sorted
  Not = 6,    ///< all texts of bytes that are not in A
  Repeat = 7, ///< A, Min to Max times
  Dfa = 8,    ///< table A in state B
  Lex = 9,    ///< A as a unit
  Ref = 10,   ///< rule A
  Loop = 11   ///< loop A with state B (LoopTable)
};

struct TermNode {
  TermKind Kind = TermKind::Nothing;
  bool Nullable = false; ///< of atomic terms only
  bool Atomic = true;
  bool HasBool = false;  ///< has And or Not: may be empty without looking so
  bool HasCount = false; ///< has a repetition that clamp could widen
  uint32_t A = 0, B = 0, Min = 0, Max = 0;
  bool operator==(const TermNode &) const = default;
};

/// A finite automaton over bytes; states that lead nowhere are absent.
struct DfaTable {
  static constexpr uint32_t Dead = UINT32_MAX;
  std::array<uint8_t, 256> Class{};
  uint32_t Classes = 1;
  std::vector<uint32_t> Next; ///< [state][class]
  std::vector<uint8_t> Accept;
  uint32_t next(uint32_t State, uint8_t B) const {
    return Next[size_t{State} * Classes + Class[B]];
  }
};

/// The arena. Not thread-safe: asking for derivatives extends it. When it has
/// grown to its limit, overflowed() is set and every result is Nothing, which
/// callers must not mistake for an answer.
class Terms {
public:
  explicit Terms(uint32_t MaxTerms = 4u << 20);

  // Construction. Terms are simplified as they are made.
  TermId bytes(const ByteSet &S);
  TermId byte(uint8_t B);
  TermId literal(std::string_view Text);
  /// One of the texts; as a trie, so large sets stay cheap.
  TermId oneOf(std::vector<std::string_view> Texts);
  TermId seq(TermId A, TermId B);
  TermId seq(std::span<const TermId> Parts);
  TermId alt(std::span<const TermId> Kids);
  TermId alt(TermId A, TermId B);
  TermId both(std::span<const TermId> Kids); ///< atomic
  TermId both(TermId A, TermId B);
  TermId except(TermId A, TermId B); ///< atomic: A without B
  TermId repeat(TermId A, uint32_t Min, uint32_t Max);
  TermId optional(TermId A) { return alt(A, Epsilon); }
  /// Start of a table; Nothing when it accepts nothing.
  TermId dfa(DfaTable T, uint32_t Start);
  TermId lex(TermId A);
  TermId ref(uint32_t Rule);
  TermId loop(uint32_t Spec, uint32_t State);

  const TermNode &operator[](TermId T) const { return Nodes[T]; }
  std::span<const TermId> kids(TermId T) const {
    return std::span<const TermId>(Kids).subspan(Nodes[T].A, Nodes[T].B);
  }
  const ByteSet &byteSet(TermId T) const { return Sets[Nodes[T].A]; }
  bool nullable(TermId T) const { return Nodes[T].Nullable; }
  bool atomic(TermId T) const { return Nodes[T].Atomic; }
  size_t size() const { return Nodes.size(); }
  bool overflowed() const { return Overflow; }
  /// Bytes of memory, roughly.
  size_t memory() const;

  // States. All atomic.
  TermId derive(TermId T, uint8_t B) {
    State &S = stateOf(T);
    uint32_t &Slot = Rows[S.Row + Partitions[S.Partition].Class[B]];
    return Slot != Unknown ? Slot : deriveSlow(T, B);
  }
  /// Whether some text is in the language.
  bool live(TermId T);
  /// Whether this exact text is in the language.
  bool matches(TermId T, std::string_view Text);
  /// Number of different texts, counted up to Limit.
  uint64_t countTexts(TermId T, uint64_t Limit);
  /// Bytes that behave alike: class of each byte; classes are numbered by
  /// their first byte.
  struct Partition {
    std::array<uint8_t, 256> Class;
    std::vector<uint8_t> First; ///< a byte of each class
  };
  uint32_t partitionOf(TermId T) { return stateOf(T).Partition; }
  const Partition &partition(uint32_t P) const { return Partitions[P]; }
  /// The coarsest partition that is finer than both.
  uint32_t refine(uint32_t P, uint32_t Q);

  /// Groups (CharGroups.h) of the characters that the bytes with which texts of
  /// T can begin, can begin.
  uint64_t firstGroups(TermId T);
  /// Groups that hold all characters with which texts of T can end.
  uint64_t lastGroups(TermId T);
  /// Groups of Wanted all of whose characters are texts of T.
  uint64_t charGroups(TermId T, uint64_t Wanted);

  /// The same language for texts of at most Bytes bytes, with counters that
  /// cannot run out by then taken as unbounded; a key of caches.
  TermId clamp(TermId T, uint32_t Bytes);

  const std::vector<DfaTable> &tables() const { return Tables; }

private:
  friend class ImageWriter;
  friend class ImageReader;

  static constexpr uint32_t Unknown = UINT32_MAX;
  struct State {
    uint32_t Partition = Unknown;
    uint32_t Row = 0; ///< offset into Rows
  };
  enum Liveness : uint8_t { NotKnown, Live, Dead };

  TermId intern(const TermNode &N, std::span<const TermId> List = {});
  uint64_t hashOf(const TermNode &N, std::span<const TermId> List) const;
  void grow();
  TermId internList(TermKind K, const std::vector<TermId> &List);
  uint32_t internSet(const ByteSet &S);
  TermId complement(TermId A);
  TermId seqOf(TermId Head, TermId Tail);
  void flatten(TermKind K, TermId T, std::vector<TermId> &Out) const;
  void mergeBytes(std::vector<TermId> &List, bool Union);
  void factorHeads(std::vector<TermId> &List);
  void factor(std::vector<TermId> &List);
  TermId trie(std::span<const std::string_view> Texts, size_t At);
  TermId deriveSlow(TermId T, uint8_t B);
  TermId deriveSeq(TermId T, uint8_t B);
  State &stateOf(TermId T) {
    return States[T].Partition != Unknown ? States[T] : makeState(T);
  }
  State &makeState(TermId T);
  uint32_t computePartition(TermId T);
  uint32_t tablePartition(const DfaTable &T, uint32_t State);
  uint32_t listPartition(const TermNode &N);
  uint32_t internPartition(const Partition &P);
  uint32_t splitBy(const ByteSet &S);
  uint32_t splitBySet(uint32_t Set);
  bool searchLive(TermId T);

  uint32_t MaxTerms;
  bool Overflow = false;
  uint32_t HeadDepth = 0; ///< of factorHeads
  std::vector<TermNode> Nodes;
  std::vector<TermId> Kids;
  std::vector<ByteSet> Sets;
  std::vector<DfaTable> Tables;
  std::vector<uint32_t> Buckets; ///< open addressing over Nodes
  std::map<ByteSet, uint32_t> SetIndex;

  std::vector<State> States;
  std::vector<TermId> Rows;
  std::deque<Partition> Partitions; ///< which stay where they are
  std::unordered_multimap<uint64_t, uint32_t> PartitionIndex; ///< by hash
  std::vector<uint32_t> SetPartitions; ///< by set; Unknown: not yet made
  std::unordered_map<uint64_t, uint32_t> Refined;
  std::vector<uint8_t> Alive; ///< Liveness
  std::unordered_map<uint64_t, TermId> Clamped;
  std::unordered_map<TermId, uint64_t> FirstGroups, LastGroups;
  struct CharRuns {
    uint64_t Tried = 0, Good = 0; ///< groups
  };
  std::unordered_map<TermId, CharRuns> CharGroups;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_TERMS_H
