// A compiled constraint: rules over terms, and what may differ between the
// entries of a list. Immutable once finished, but for the arena, which grows
// as states are asked for.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_GRAMMAR_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_GRAMMAR_H

#include "runtime/base/Status.h"
#include "runtime/text/constraint/Terms.h"

#include <memory>
#include <string>

namespace llmc::constraint {

/// Entries `key value` with a separator between them, no key twice. A list of
/// values that must differ has them as keys, with the empty text as value.
struct LoopSpec {
  struct Entry {
    TermId Key;           ///< atomic
    TermId Value;         ///< what follows the key
    bool Endless = false; ///< the key has endlessly many texts
  };
  std::vector<Entry> Entries; ///< the languages of the keys are disjoint
  TermId Separator = Epsilon;
  bool endless() const {
    for (const Entry &E : Entries)
      if (E.Endless)
        return true;
    return false;
  }
};

/// Where a loop stands. Numbered by LoopStates.
struct LoopState {
  enum Place : uint8_t {
    Start = 0, ///< before the first entry, which may be missing
    Next = 1,  ///< behind an entry
    Key = 2    ///< an entry must follow, its separator is there
  };
  std::vector<uint32_t> Seen; ///< numbers of the keys so far, sorted
  uint32_t Min = 0, Max = Unbounded;
  Place At = Start;
  auto operator<=>(const LoopState &) const = default;
};

struct Rule {
  std::string Name;
  TermId Body = Nothing;
};

/// Rules, loops and the start of one constraint.
class Grammar {
public:
  explicit Grammar(uint32_t MaxTerms = 1u << 20) : Pool(MaxTerms) {}

  Terms &terms() { return Pool; }
  const Terms &terms() const { return Pool; }

  uint32_t addRule(std::string Name) {
    Rules.push_back({std::move(Name), Nothing});
    return static_cast<uint32_t>(Rules.size() - 1);
  }
  void setBody(uint32_t R, TermId Body) { Rules[R].Body = Body; }
  const std::vector<Rule> &rules() const { return Rules; }

  uint32_t addSpec(LoopSpec Spec);
  /// The term of a list with Min to Max entries. First: nothing is before it,
  /// so the first entry has no separator.
  TermId loop(uint32_t Spec, uint32_t Min, uint32_t Max, bool First);
  const LoopSpec &spec(uint32_t I) const { return Specs[I]; }
  uint32_t specCount() const { return static_cast<uint32_t>(Specs.size()); }
  uint32_t loopState(const LoopState &S);
  const LoopState &loopState(uint32_t I) const { return States[I]; }
  uint32_t word(std::string_view Text);
  const std::string &wordText(uint32_t I) const { return Words[I]; }
  /// Key language of an entry without the keys that were seen.
  TermId openKey(uint32_t Spec, uint32_t Entry,
                 const std::vector<uint32_t> &Seen);
  /// Whether Need more different keys are there.
  bool hasKeys(uint32_t Spec, const std::vector<uint32_t> &Seen, uint32_t Need);

  /// Takes Start as what is to be matched. Cuts off what can never end, so
  /// that from then on every live state can be completed. Unsupported when
  /// nothing is left, DoesNotFit when the arena is full.
  Status finish(TermId Start);
  TermId start() const { return StartTerm; }
  /// Rules that match the empty text.
  bool nullableRule(uint32_t R) const { return NullableRules[R]; }

private:
  friend class ImageWriter;
  friend class ImageReader;
  /// What holds of a term by what is known of the rules.
  struct Facts {
    bool Nullable; ///< asks for the empty text instead of any
    std::vector<uint8_t> Rules;
    std::unordered_map<TermId, bool> Terms; ///< of this round
  };
  bool holds(TermId T, Facts &F);
  bool holdsLoop(TermId T, Facts &F);
  void fixpoint(Facts &F);
  TermId prune(TermId T, Facts &Good, std::unordered_map<TermId, TermId> &Done);

  Terms Pool;
  std::vector<Rule> Rules;
  std::vector<LoopSpec> Specs;
  std::vector<LoopState> States;
  std::map<LoopState, uint32_t> StateIndex;
  std::vector<std::string> Words;
  std::map<std::string, uint32_t, std::less<>> WordIndex;
  std::vector<uint8_t> NullableRules;
  TermId StartTerm = Nothing;
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_GRAMMAR_H
