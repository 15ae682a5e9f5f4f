// Tokenizer files write Oniguruma patterns; those that occur read the same in
// PCRE2 with UCP. Backtracking is bounded: a pattern that explodes gives an
// error, not a hang.
#include "runtime/text/SplitRegex.h"

#include <string>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace llmc {

namespace {
constexpr uint32_t MatchLimit = 50'000'000;
constexpr uint32_t HeapLimitKiB = 64 * 1024;
constexpr size_t JitStackStart = 64 * 1024, JitStackMax = 64 * 1024 * 1024;
} // namespace

struct SplitRegex::Impl {
  pcre2_code *Code = nullptr;
  bool Jit = false;
  ~Impl() { pcre2_code_free(Code); }
};

struct SplitRegex::Scratch::Impl {
  pcre2_match_data *Data = nullptr;
  pcre2_match_context *Context = nullptr;
  pcre2_jit_stack *Stack = nullptr;
  ~Impl() {
    pcre2_match_data_free(Data);
    pcre2_match_context_free(Context);
    pcre2_jit_stack_free(Stack);
  }
};

SplitRegex::SplitRegex() : P(std::make_unique<Impl>()) {}
SplitRegex::SplitRegex(SplitRegex &&) noexcept = default;
SplitRegex &SplitRegex::operator=(SplitRegex &&) noexcept = default;
SplitRegex::~SplitRegex() = default;

SplitRegex::Scratch::Scratch(const SplitRegex &R)
    : P(std::make_unique<Impl>()) {
  P->Data = pcre2_match_data_create_from_pattern(R.P->Code, nullptr);
  P->Context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(P->Context, MatchLimit);
  pcre2_set_heap_limit(P->Context, HeapLimitKiB);
  if (R.P->Jit) {
    P->Stack = pcre2_jit_stack_create(JitStackStart, JitStackMax, nullptr);
    pcre2_jit_stack_assign(P->Context, nullptr, P->Stack);
  }
}
SplitRegex::Scratch::Scratch(Scratch &&) noexcept = default;
SplitRegex::Scratch::~Scratch() = default;

Result<SplitRegex> SplitRegex::compile(std::string_view Pattern) {
  int Error = 0;
  PCRE2_SIZE Offset = 0;
  SplitRegex R;
  R.P->Code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(Pattern.data()),
                            Pattern.size(), PCRE2_UTF | PCRE2_UCP, &Error,
                            &Offset, nullptr);
  if (R.P->Code == nullptr) {
    PCRE2_UCHAR Text[160] = {};
    pcre2_get_error_message(Error, Text, sizeof(Text));
    return malformedError("regular expression, at byte " +
                          std::to_string(Offset) + " of " +
                          std::to_string(Pattern.size()) + ": " +
                          std::string(reinterpret_cast<const char *>(Text)));
  }
  // Where the system forbids executable memory the interpreter does it.
  R.P->Jit = pcre2_jit_compile(R.P->Code, PCRE2_JIT_COMPLETE) == 0;
  return R;
}

Result<SplitRegex::Match> SplitRegex::find(std::string_view Text, size_t From,
                                           Scratch &S) const {
  int Count = pcre2_match(P->Code, reinterpret_cast<PCRE2_SPTR>(Text.data()),
                          Text.size(), From, PCRE2_NO_UTF_CHECK, S.P->Data,
                          S.P->Context);
  if (Count == PCRE2_ERROR_NOMATCH)
    return Match{};
  if (Count < 0)
    return doesNotFitError("regular expression gave up at byte " +
                           std::to_string(From) + " of " +
                           std::to_string(Text.size()) + " (pcre2 error " +
                           std::to_string(Count) + ")");
  const PCRE2_SIZE *V = pcre2_get_ovector_pointer(S.P->Data);
  return Match{true, V[0], V[1]};
}

} // namespace llmc
