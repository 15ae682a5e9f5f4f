// A compiled regular expression of a tokenizer file (PCRE2 with its JIT;
// Unicode classes on, as the reference library's engine knows them).
// Thread-safe after construction.
#ifndef LLMC_RUNTIME_TEXT_SPLITREGEX_H
#define LLMC_RUNTIME_TEXT_SPLITREGEX_H

#include "runtime/base/Status.h"
#include "runtime/text/FastSplit.h"

#include <memory>
#include <string>

namespace llmc {

class SplitRegex {
public:
  /// Malformed with the place when the pattern is not valid. With FastPaths
  /// off the regular expression always does the work itself.
  static Result<SplitRegex> compile(std::string_view Pattern,
                                    bool FastPaths = true);

  SplitRegex(SplitRegex &&) noexcept;
  SplitRegex &operator=(SplitRegex &&) noexcept;
  ~SplitRegex();

  /// Buffers of one caller; not shared between threads.
  class Scratch {
  public:
    Scratch();
    Scratch(Scratch &&) noexcept;
    Scratch &operator=(Scratch &&) noexcept;
    ~Scratch();

  private:
    friend class SplitRegex;
    struct Impl;
    std::unique_ptr<Impl> P;
  };

  /// Appends all matches in well-formed Text, in order; an empty match right
  /// behind another match does not count. Fails when matching takes more
  /// memory or steps than a sane pattern needs.
  Status findAll(std::string_view Text, std::vector<MatchSpan> &Out,
                 Scratch &S) const;

private:
  SplitRegex();
  struct Impl;
  std::unique_ptr<Impl> P;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_SPLITREGEX_H
