// What may come next, beside sampling: a grammar, banned phrases. A filter is
// state of one continuation of a request; the engine copies it when it forks
// a sequence, asks it before each token and tells it each token.
#ifndef LLMC_RUNTIME_ENGINE_TOKENFILTER_H
#define LLMC_RUNTIME_ENGINE_TOKENFILTER_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace llmc {

/// A bit per token id, ascending from the lowest bit of the first word.
using TokenBits = std::span<uint64_t>;

constexpr size_t tokenWords(size_t Vocab) { return (Vocab + 63) / 64; }
constexpr bool tokenBit(std::span<const uint64_t> Bits, size_t Id) {
  return (Bits[Id / 64] >> (Id % 64) & 1) != 0;
}

/// Used by one thread at a time.
class TokenFilter {
public:
  virtual ~TokenFilter() = default;
  virtual std::unique_ptr<TokenFilter> clone() const = 0;
  /// Clears the bits of ids that may not come next; end tokens count as ids.
  /// At least one bit must stay set that was set.
  virtual void narrow(TokenBits Allowed) = 0;
  /// The token that came next.
  virtual void accept(int32_t Token) = 0;
  /// Whether it demands that the text has a certain form (and can tell when
  /// that is so: complete).
  virtual bool demands() const { return false; }
  virtual bool complete() const { return true; }
  /// Nothing can follow any more: the request ends as if by an end token.
  virtual bool finished() const { return false; }
  /// Why the continuation cannot go on, if so: the request ends with it.
  virtual Status failure() const { return Status::success(); }
  /// Tokens that must come next, as many as are known; the engine feeds them
  /// in one step. Appends to Out.
  virtual void forced(std::vector<int32_t> &Out) const { (void)Out; }
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_TOKENFILTER_H
