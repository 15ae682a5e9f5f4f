// A compiled regular expression of a pre-tokenizer (PCRE2 with its JIT;
// Unicode classes on). Thread-safe after construction.
#ifndef LLMC_RUNTIME_TEXT_SPLITREGEX_H
#define LLMC_RUNTIME_TEXT_SPLITREGEX_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <memory>
#include <string_view>

namespace llmc {

class SplitRegex {
public:
  /// Malformed with the place when the pattern is not valid.
  static Result<SplitRegex> compile(std::string_view Pattern);

  SplitRegex(SplitRegex &&) noexcept;
  SplitRegex &operator=(SplitRegex &&) noexcept;
  ~SplitRegex();

  /// Buffers of one caller; not shared between threads.
  class Scratch {
  public:
    explicit Scratch(const SplitRegex &R);
    Scratch(Scratch &&) noexcept;
    ~Scratch();

  private:
    friend class SplitRegex;
    struct Impl;
    std::unique_ptr<Impl> P;
  };

  struct Match {
    bool Found = false;
    size_t Begin = 0, End = 0;
  };
  /// First match in well-formed Text at or after From. Fails when matching
  /// takes more memory or steps than a sane pattern needs.
  Result<Match> find(std::string_view Text, size_t From, Scratch &S) const;

private:
  SplitRegex();
  struct Impl;
  std::unique_ptr<Impl> P;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_SPLITREGEX_H
