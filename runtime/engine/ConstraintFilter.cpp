// Constraints in the token loop.
#include "runtime/engine/ConstraintFilter.h"

#include "runtime/text/constraint/GrammarImage.h"

#include <algorithm>

namespace llmc {

namespace {

constexpr size_t KeptConstraints = 16, MostForced = 16;

} // namespace

void ConstraintFilter::narrow(TokenBits Allowed) {
  std::span<const uint64_t> Mask = C->mask(S);
  // An end token that the file does not call special is in the mask, by its
  // text, but never stands for that text.
  Ends.clear();
  for (int32_t Id : EosIds)
    if (Id >= 0 && static_cast<size_t>(Id) / 64 < Allowed.size()) {
      if (C->mayEnd(S) && tokenBit(Allowed, static_cast<size_t>(Id)))
        Ends.push_back(Id);
      Allowed[Id / 64] &= ~(uint64_t{1} << (Id % 64));
    }
  for (size_t W = 0; W < Allowed.size(); ++W)
    Allowed[W] &= W < Mask.size() ? Mask[W] : 0;
  for (int32_t Id : Ends)
    Allowed[Id / 64] |= uint64_t{1} << (Id % 64);
}

void ConstraintFilter::accept(int32_t Token) {
  bool Ends = std::find(EosIds.begin(), EosIds.end(), Token) != EosIds.end();
  if (!Ends)
    S = C->accept(S, Token);
}

void ConstraintFilter::forced(std::vector<int32_t> &Out) const {
  C->forced(S, MostForced, Out);
}

Status ConstraintFilter::failure() const {
  LLMC_RETURN_IF_ERROR(C->status());
  return C->dead(S) ? unsupportedError("no token of the vocabulary can follow "
                                       "under the constraint")
                    : Status::success();
}

Status ConstraintStore::findTrie() {
  if (Trie != nullptr)
    return Status::success();
  if (!TrieImage.empty()) {
    Result<std::shared_ptr<const constraint::TokenTrie>> Mapped =
        constraint::TokenTrie::map(TrieImage);
    if (!Mapped.ok() && Mapped.status().code() != StatusCode::Unsupported)
      return Mapped.takeStatus();
    if (Mapped.ok() && (*Mapped)->vocab() != T->vocabSize())
      return malformedError(
          "token trie: has " + std::to_string((*Mapped)->vocab()) +
          " tokens, expected " + std::to_string(T->vocabSize()));
    if (Mapped.ok())
      Trie = Mapped.take();
  }
  if (Trie == nullptr)
    Trie = constraint::TokenTrie::of(*T);
  return Status::success();
}

Result<std::shared_ptr<constraint::Constraint>>
ConstraintStore::find(std::string Key, const Compile &Make) {
  if (T == nullptr)
    return usageError("constraints need a tokenizer, and the artifact has "
                      "none");
  auto It = std::find_if(Recent.begin(), Recent.end(),
                         [&](const Entry &E) { return E.Key == Key; });
  if (It != Recent.end() && It->C->status().ok() && !It->C->worn()) {
    std::rotate(Recent.begin(), It, It + 1);
    return Recent.front().C;
  }
  if (It != Recent.end())
    Recent.erase(It); // the request starts with a fresh one
  LLMC_ASSIGN_OR_RETURN(std::unique_ptr<constraint::Grammar> G, Make());
  LLMC_RETURN_IF_ERROR(findTrie());
  if (Recent.size() >= KeptConstraints)
    Recent.pop_back();
  Recent.insert(Recent.begin(),
                Entry{std::move(Key), std::make_shared<constraint::Constraint>(
                                          std::move(G), Trie)});
  return Recent.front().C;
}

Result<std::shared_ptr<constraint::Constraint>>
ConstraintStore::get(constraint::Dialect D, std::string_view Text,
                     const constraint::CompileOptions &O) {
  std::string Key(1, static_cast<char>('0' + static_cast<int>(D)));
  Key += O.Whitespace ? '+' : '-';
  Key += Text;
  return find(std::move(Key),
              [&] { return constraint::compileConstraint(D, Text, O); });
}

Result<std::shared_ptr<constraint::Constraint>>
ConstraintStore::getStored(std::span<const uint8_t> Image) {
  return find("", [&] { return constraint::readGrammarImage(Image); });
}

} // namespace llmc
