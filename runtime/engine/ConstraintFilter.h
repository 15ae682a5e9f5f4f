// A constraint (runtime/text/constraint) as a filter of tokens, and the store
// that shares compiled constraints between requests.
#ifndef LLMC_RUNTIME_ENGINE_CONSTRAINTFILTER_H
#define LLMC_RUNTIME_ENGINE_CONSTRAINTFILTER_H

#include "runtime/engine/TokenFilter.h"
#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/Constraint.h"

#include <functional>
#include <string>

namespace llmc {

class ConstraintFilter final : public TokenFilter {
public:
  /// EosIds are allowed where the text may end.
  ConstraintFilter(std::shared_ptr<constraint::Constraint> C,
                   std::vector<int32_t> EosIds)
      : C(std::move(C)), EosIds(std::move(EosIds)) {}

  std::unique_ptr<TokenFilter> clone() const override {
    return std::make_unique<ConstraintFilter>(*this);
  }
  void narrow(TokenBits Allowed) override;
  void accept(int32_t Token) override;
  bool demands() const override { return true; }
  bool complete() const override { return C->mayEnd(S); }
  bool finished() const override { return C->mustEnd(S) && !C->dead(S); }
  void forced(std::vector<int32_t> &Out) const override;
  Status failure() const override;

private:
  std::shared_ptr<constraint::Constraint> C;
  std::vector<int32_t> EosIds;
  constraint::Constraint::State S;
  std::vector<int32_t> Ends; ///< of narrow(); kept to spare allocations
};

/// Compiled constraints by their text, the last used ones. One per engine;
/// used by one thread at a time.
class ConstraintStore {
public:
  /// T may be null, then nothing can be constrained; it and the bytes must
  /// outlive this. TrieImage: of T's trie (TokenTrie::map), which is built
  /// when that is empty or of another version.
  explicit ConstraintStore(const Tokenizer *T,
                           std::span<const uint8_t> TrieImage = {})
      : T(T), TrieImage(TrieImage) {}

  /// Failures are those of compileConstraint, and Usage without a tokenizer.
  Result<std::shared_ptr<constraint::Constraint>>
  get(constraint::Dialect D, std::string_view Text,
      const constraint::CompileOptions &O = {});
  /// Of an image (GrammarImage.h), which is the artifact's. The bytes stay
  /// the caller's.
  Result<std::shared_ptr<constraint::Constraint>>
  getStored(std::span<const uint8_t> Image);

private:
  using Compile = std::function<Result<std::unique_ptr<constraint::Grammar>>()>;
  Result<std::shared_ptr<constraint::Constraint>> find(std::string Key,
                                                       const Compile &Make);
  struct Entry {
    std::string Key;
    std::shared_ptr<constraint::Constraint> C;
  };
  Status findTrie();
  const Tokenizer *T;
  std::span<const uint8_t> TrieImage;
  std::shared_ptr<const constraint::TokenTrie> Trie; ///< made when needed
  std::vector<Entry> Recent;                         ///< last used first
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_CONSTRAINTFILTER_H
