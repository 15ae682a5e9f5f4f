// llmc.hpp: the C API for C++, header only. Handles are objects, failures are
// exceptions (llmc::Error); nothing else is added. The rules on threads and
// lifetimes are those of llmc.h.
#ifndef LLMC_LLMC_HPP
#define LLMC_LLMC_HPP

#include "llmc/llmc.h"

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmc {
inline namespace v1 {

/// A failure: what() is one line, notes are further lines.
class Error : public std::runtime_error {
public:
  Error(llmc_code Code, const std::string &Message,
        std::vector<std::string> Notes = {})
      : std::runtime_error(Message), Kind(Code), Notes(std::move(Notes)) {}
  llmc_code code() const { return Kind; }
  const std::vector<std::string> &notes() const { return Notes; }

  /// Throws what a C function returned; consumes it.
  static void check(llmc_error *E) {
    if (E == nullptr)
      return;
    Error Thrown(llmc_error_code(E), llmc_error_message(E));
    for (size_t I = 0; I < llmc_error_note_count(E); ++I)
      Thrown.Notes.emplace_back(llmc_error_note(E, I));
    llmc_error_destroy(E);
    throw Thrown;
  }

private:
  llmc_code Kind;
  std::vector<std::string> Notes;
};

namespace detail {
struct Free {
  void operator()(void *P) const { llmc_free(P); }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;
template <typename T, void (*Destroy)(T *)> struct Destroyer {
  void operator()(T *P) const { Destroy(P); }
};
template <typename T, void (*Destroy)(T *)>
using Handle = std::unique_ptr<T, Destroyer<T, Destroy>>;
} // namespace detail

/// The text side of an artifact, borrowed or owned.
class Text {
public:
  static Text load(const std::string &Path) {
    llmc_tokenizer *T = nullptr;
    Error::check(llmc_tokenizer_load(Path.c_str(), &T));
    Text Result(T);
    Result.Own.reset(T);
    return Result;
  }
  explicit Text(const llmc_tokenizer *Borrowed) : T(Borrowed) {}

  bool hasVocabulary() const { return llmc_tokenizer_has_vocabulary(T); }
  bool hasTemplate() const { return llmc_tokenizer_has_template(T); }

  std::vector<int32_t> encode(std::string_view S, uint32_t Flags = 0) const {
    int32_t *Ids = nullptr;
    size_t Count = 0;
    Error::check(
        llmc_tokenizer_encode(T, S.data(), S.size(), Flags, &Ids, &Count));
    detail::Owned<int32_t> Hold(Ids);
    return std::vector<int32_t>(Ids, Ids + Count);
  }
  std::string decode(std::span<const int32_t> Ids,
                     bool SkipSpecial = false) const {
    char *S = nullptr;
    size_t Length = 0;
    Error::check(llmc_tokenizer_decode(T, Ids.data(), Ids.size(), SkipSpecial,
                                       &S, &Length));
    detail::Owned<char> Hold(S);
    return std::string(S, Length);
  }
  std::string spelling(int32_t Id) const {
    char *S = nullptr;
    Error::check(llmc_tokenizer_spelling(T, Id, &S));
    detail::Owned<char> Hold(S);
    return S;
  }
  /// Tools, Documents (JSON lists) and Variables (a JSON object) may be empty.
  std::string render(const std::string &Messages, const std::string &Tools,
                     bool AddGenerationPrompt = true,
                     const std::string &Documents = "",
                     const std::string &Variables = "") const {
    auto OrNull = [](const std::string &S) {
      return S.empty() ? nullptr : S.c_str();
    };
    llmc_chat C{};
    C.struct_size = sizeof(C);
    C.messages_json = Messages.c_str();
    C.tools_json = OrNull(Tools);
    C.documents_json = OrNull(Documents);
    C.variables_json = OrNull(Variables);
    C.no_generation_prompt = !AddGenerationPrompt;
    char *S = nullptr;
    size_t Length = 0;
    Error::check(llmc_tokenizer_render_chat(T, &C, &S, &Length));
    detail::Owned<char> Hold(S);
    return std::string(S, Length);
  }

private:
  const llmc_tokenizer *T;
  detail::Handle<llmc_tokenizer, llmc_tokenizer_destroy> Own;
};

struct ModelOptions {
  std::string Device = "auto";
  uint32_t Threads = 0;
  uint32_t KvTokens = 0;
};

class Model {
public:
  static Model load(const std::string &Path, const ModelOptions &O = {}) {
    llmc_model_options C{};
    C.struct_size = sizeof(C);
    C.device = O.Device.c_str();
    C.threads = O.Threads;
    C.kv_tokens = O.KvTokens;
    llmc_model *M = nullptr;
    Error::check(llmc_model_load(Path.c_str(), &C, &M));
    return Model(M);
  }
  llmc_model_info info() const {
    llmc_model_info I{};
    I.struct_size = sizeof(I);
    llmc_model_get_info(M.get(), &I);
    return I;
  }
  Text text() const { return Text(llmc_model_tokenizer(M.get())); }
  llmc_sampling defaultSampling() const {
    llmc_sampling S{};
    S.struct_size = sizeof(S);
    llmc_model_default_sampling(M.get(), &S);
    return S;
  }
  llmc_model *get() const { return M.get(); }

private:
  explicit Model(llmc_model *Handle) : M(Handle) {}
  detail::Handle<llmc_model, llmc_model_destroy> M;
};

/// What a request takes; the callbacks may be empty.
struct RequestOptions {
  std::vector<int32_t> Tokens;
  /// Start from Model::defaultSampling(), without which LogitBias and
  /// AllowedTokens do nothing.
  llmc_sampling Sampling{};
  uint32_t MaxTokens = 128;
  bool IgnoreEos = false;
  std::vector<std::string> Stop;
  llmc_logits Logits = LLMC_LOGITS_NONE;
  std::function<bool(const llmc_event &)> OnToken;
  std::function<void(uint32_t, std::span<const float>)> OnLogits;

  std::vector<llmc_bias> LogitBias;
  std::vector<int32_t> AllowedTokens; ///< empty: all
  uint32_t Choices = 1;
  uint32_t Beams = 1;
  double LengthPenalty = 1;
  llmc_early_stopping EarlyStopping = LLMC_EARLY_HEURISTIC;
  bool Logprobs = false;
  bool PromptLogprobs = false;
  uint32_t TopLogprobs = 0;
  std::vector<std::string> Banned;
  std::string JsonSchema, Regex, Grammar; ///< at most one is not empty
  bool JsonWhitespace = false, Unconstrained = false;
  llmc_speculation Speculation = LLMC_SPECULATION_OFF;
};

class Request {
public:
  void cancel() { llmc_request_cancel(R.get()); }
  llmc_result result() const {
    llmc_result Out{};
    Out.struct_size = sizeof(Out);
    llmc_request_get_result(R.get(), &Out);
    return Out;
  }
  size_t choiceCount() const { return llmc_request_choice_count(R.get()); }
  llmc_result choice(size_t Index) const {
    llmc_result Out{};
    Out.struct_size = sizeof(Out);
    llmc_request_get_choice(R.get(), Index, &Out);
    return Out;
  }
  /// Log-probabilities of a choice's tokens, or with LLMC_PROMPT_CHOICE of
  /// the prompt's from the second on; borrowed as result().
  std::vector<llmc_position> positions(size_t Choice) const {
    std::vector<llmc_position> All;
    llmc_position P{};
    P.struct_size = sizeof(P);
    while (llmc_request_get_position(R.get(), Choice, All.size(), &P))
      All.push_back(P);
    return All;
  }

private:
  friend class Engine;
  struct Callbacks {
    std::function<bool(const llmc_event &)> OnToken;
    std::function<void(uint32_t, std::span<const float>)> OnLogits;
  };
  std::unique_ptr<Callbacks> Calls; ///< outlives R
  detail::Handle<llmc_request, llmc_request_destroy> R;
};

class Sequence {
public:
  uint32_t length() const { return llmc_sequence_length(S.get()); }
  void truncate(uint32_t Length) { llmc_sequence_truncate(S.get(), Length); }
  Sequence fork() const {
    llmc_sequence *New = nullptr;
    Error::check(llmc_sequence_fork(S.get(), &New));
    return Sequence(New);
  }
  llmc_sequence *get() const { return S.get(); }

private:
  friend class Engine;
  explicit Sequence(llmc_sequence *Handle) : S(Handle) {}
  detail::Handle<llmc_sequence, llmc_sequence_destroy> S;
};

class Engine {
public:
  explicit Engine(const Model &M, uint32_t MaxBatch = 0) {
    llmc_engine_options O{};
    O.struct_size = sizeof(O);
    O.max_batch = MaxBatch;
    llmc_engine *New = nullptr;
    Error::check(llmc_engine_create(M.get(), &O, &New));
    E.reset(New);
  }

  Request submit(const RequestOptions &O) {
    Request R;
    R.Calls = std::make_unique<Request::Callbacks>();
    R.Calls->OnToken = O.OnToken;
    R.Calls->OnLogits = O.OnLogits;
    std::vector<const char *> Stops, Banned;
    for (const std::string &S : O.Stop)
      Stops.push_back(S.c_str());
    for (const std::string &S : O.Banned)
      Banned.push_back(S.c_str());
    llmc_request_options C{};
    C.struct_size = sizeof(C);
    C.tokens = O.Tokens.data();
    C.token_count = O.Tokens.size();
    llmc_sampling Sampling = O.Sampling;
    if (!O.LogitBias.empty()) {
      Sampling.logit_bias = O.LogitBias.data();
      Sampling.logit_bias_count = O.LogitBias.size();
    }
    if (!O.AllowedTokens.empty()) {
      Sampling.allowed_tokens = O.AllowedTokens.data();
      Sampling.allowed_token_count = O.AllowedTokens.size();
    }
    C.sampling = Sampling.struct_size != 0 ? &Sampling : nullptr;
    C.max_tokens = O.MaxTokens;
    C.ignore_eos = O.IgnoreEos;
    C.stop = Stops.data();
    C.stop_count = Stops.size();
    C.logits = O.Logits;
    C.user = R.Calls.get();
    C.choices = O.Choices;
    C.beams = O.Beams;
    C.length_penalty = O.LengthPenalty;
    C.early_stopping = O.EarlyStopping;
    C.logprobs = O.Logprobs;
    C.prompt_logprobs = O.PromptLogprobs;
    C.top_logprobs = O.TopLogprobs;
    C.banned = Banned.data();
    C.banned_count = Banned.size();
    C.json_schema = O.JsonSchema.empty() ? nullptr : O.JsonSchema.c_str();
    C.regex = O.Regex.empty() ? nullptr : O.Regex.c_str();
    C.grammar = O.Grammar.empty() ? nullptr : O.Grammar.c_str();
    C.json_whitespace = O.JsonWhitespace;
    C.unconstrained = O.Unconstrained;
    C.speculation = O.Speculation;
    if (O.OnToken)
      C.on_token = [](void *User, const llmc_event *Event) {
        return static_cast<Request::Callbacks *>(User)->OnToken(*Event);
      };
    if (O.OnLogits)
      C.on_logits = [](void *User, uint32_t Row, const float *L, size_t N) {
        static_cast<Request::Callbacks *>(User)->OnLogits(Row, {L, N});
      };
    llmc_request *Handle = nullptr;
    Error::check(llmc_engine_submit(E.get(), &C, &Handle));
    R.R.reset(Handle);
    return R;
  }

  /// One step; false when nothing is left to do.
  bool step() {
    bool Done = false;
    Error::check(llmc_engine_step(E.get(), &Done));
    return !Done;
  }

  Sequence sequence() {
    llmc_sequence *S = nullptr;
    Error::check(llmc_sequence_create(E.get(), &S));
    return Sequence(S);
  }
  void forward(std::span<const llmc_row> Rows, std::span<float> Logits) {
    Error::check(llmc_engine_forward(E.get(), Rows.data(), Rows.size(),
                                     Logits.data(), Logits.size()));
  }

private:
  detail::Handle<llmc_engine, llmc_engine_destroy> E;
};

} // namespace v1
} // namespace llmc

#endif // LLMC_LLMC_HPP
