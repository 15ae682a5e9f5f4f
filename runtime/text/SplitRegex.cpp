// Backtracking is bounded: a pattern that explodes gives an error, not a hang.
// Where PCRE2 takes a character for another kind than the reference library
// does (its Unicode tables are of another year), it is shown a character of the
// right kind and the same length instead, so that the places stay the same.
#include "runtime/text/SplitRegex.h"

#include "runtime/text/RegexTranslate.h"
#include "runtime/text/Unicode.h"
#include "runtime/text/Utf8.h"

#include <optional>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace llmc {

namespace {
constexpr uint32_t MatchLimit = 50'000'000;
constexpr uint32_t HeapLimitKiB = 64 * 1024;
constexpr size_t JitStackStart = 64 * 1024, JitStackMax = 64 * 1024 * 1024;

/// The text as PCRE2 shall see it; nothing when it can see it as it is.
std::optional<std::string> withStandIns(std::string_view Text) {
  std::optional<std::string> Out;
  for (size_t At = 0; At < Text.size();) {
    if (static_cast<uint8_t>(Text[At]) < 0xC0) {
      ++At;
      continue;
    }
    size_t Begin = At;
    uint32_t C = nextCodePoint(Text, At);
    if (!(charClass(C) & HasStandIn))
      continue;
    if (!Out)
      Out.emplace(Text);
    std::string Other;
    appendUtf8(Other, standIn(C));
    Out->replace(Begin, At - Begin, Other);
  }
  return Out;
}

struct CodeDeleter {
  void operator()(pcre2_code *C) const { pcre2_code_free(C); }
};
struct ContextDeleter {
  void operator()(pcre2_compile_context *C) const {
    pcre2_compile_context_free(C);
  }
};
} // namespace

struct SplitRegex::Impl {
  std::unique_ptr<pcre2_code, CodeDeleter> Code;
  bool Jit = false;
  FastPattern Fast;
};

struct SplitRegex::Scratch::Impl {
  pcre2_match_data *Data = nullptr;
  pcre2_match_context *Context = nullptr;
  pcre2_jit_stack *Stack = nullptr;
  Impl() {
    Data = pcre2_match_data_create(1, nullptr);
    Context = pcre2_match_context_create(nullptr);
    pcre2_set_match_limit(Context, MatchLimit);
    pcre2_set_heap_limit(Context, HeapLimitKiB);
    Stack = pcre2_jit_stack_create(JitStackStart, JitStackMax, nullptr);
    pcre2_jit_stack_assign(Context, nullptr, Stack);
  }
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

SplitRegex::Scratch::Scratch() = default;
SplitRegex::Scratch::Scratch(Scratch &&) noexcept = default;
SplitRegex::Scratch &
SplitRegex::Scratch::operator=(Scratch &&) noexcept = default;
SplitRegex::Scratch::~Scratch() = default;

Result<SplitRegex> SplitRegex::compile(std::string_view Pattern,
                                       bool FastPaths) {
  SplitRegex R;
  if (FastPaths)
    R.P->Fast = recognizePattern(Pattern);
  if (R.P->Fast.What != FastPattern::None)
    return R;
  LLMC_ASSIGN_OR_RETURN(std::string Text, translateRegex(Pattern));
  int Error = 0;
  PCRE2_SIZE Offset = 0;
  std::unique_ptr<pcre2_compile_context, ContextDeleter> Context(
      pcre2_compile_context_create(nullptr));
  pcre2_set_newline(Context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_max_pattern_length(Context.get(), 1 << 20);
  R.P->Code.reset(pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(Text.data()), Text.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &Error,
      &Offset, Context.get()));
  if (R.P->Code == nullptr) {
    PCRE2_UCHAR Message[160] = {};
    pcre2_get_error_message(Error, Message, sizeof(Message));
    return malformedError("regular expression, at byte " +
                          std::to_string(Offset) + " of " +
                          std::to_string(Text.size()) + ": " +
                          std::string(reinterpret_cast<const char *>(Message)));
  }
  // Where the system forbids executable memory the interpreter does it.
  R.P->Jit = pcre2_jit_compile(R.P->Code.get(), PCRE2_JIT_COMPLETE) == 0;
  return R;
}

Status SplitRegex::findAll(std::string_view Text, std::vector<MatchSpan> &Out,
                           Scratch &S) const {
  if (P->Fast.What != FastPattern::None) {
    fastSplit(P->Fast, Text, Out);
    return Status::success();
  }
  if (S.P == nullptr)
    S.P = std::make_unique<Scratch::Impl>();
  std::optional<std::string> Shown = withStandIns(Text);
  std::string_view Seen = Shown ? std::string_view(*Shown) : Text;
  size_t From = 0, LastEnd = SIZE_MAX;
  while (From <= Text.size()) {
    int Count = pcre2_match(
        P->Code.get(), reinterpret_cast<PCRE2_SPTR>(Seen.data()), Seen.size(),
        From, PCRE2_NO_UTF_CHECK, S.P->Data, S.P->Context);
    if (Count == PCRE2_ERROR_NOMATCH)
      break;
    if (Count < 0)
      return doesNotFitError("regular expression gave up at byte " +
                             std::to_string(From) + " of " +
                             std::to_string(Text.size()) + " (pcre2 error " +
                             std::to_string(Count) + ")");
    const PCRE2_SIZE *V = pcre2_get_ovector_pointer(S.P->Data);
    size_t Begin = V[0], End = V[1];
    if (Begin > End) // \K in a look-ahead
      return unsupportedError("regular expression whose match ends before it "
                              "begins");
    if (Begin == End && LastEnd == End) {
      ++From;
      while (From < Text.size() && (Text[From] & 0xC0) == 0x80)
        ++From;
      continue;
    }
    Out.push_back({Begin, End});
    From = LastEnd = End;
  }
  return Status::success();
}

} // namespace llmc
