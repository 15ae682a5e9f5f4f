// Models, engines, requests and sequences of llmc.h.
#include "runtime/api/Handles.h"

#include <algorithm>

using namespace llmc;

llmc_error *llmc_model_load(const char *Path, const llmc_model_options *Given,
                            llmc_model **Out) {
  return guarded([&]() -> llmc_error * {
    if (!Path || !Out)
      return toError(usageError("path or out is null"));
    llmc_model_options C = copyOptions(Given);
    Result<std::unique_ptr<Reader>> R = Reader::open(Path);
    if (!R.ok())
      return toError(R.takeStatus());
    std::shared_ptr<ModelState> S = std::make_shared<ModelState>();
    std::shared_ptr<const Reader> File = R.take();
    if (llmc_error *E = toError(loadText(File, S->Text)))
      return E;
    ModelOptions O;
    O.Device = C.device ? C.device : "auto";
    O.Threads = C.threads;
    O.KvTokens = C.kv_tokens;
    Result<std::unique_ptr<Model>> M = Model::load(std::move(File), O);
    if (!M.ok())
      return toError(M.takeStatus());
    S->Loaded = M.take();
    S->Device = S->Loaded->device().name();
    for (const TargetView &T : S->Loaded->artifact().targets())
      if (T.Target == S->Loaded->target())
        S->WeightBytes = T.Weights.size();
    *Out = new llmc_model{std::move(S)};
    return nullptr;
  });
}
void llmc_model_destroy(llmc_model *M) { delete M; }

void llmc_model_get_info(const llmc_model *M, llmc_model_info *Out) {
  const ExecutableInfo &I = M->S->Loaded->executable().info();
  uint32_t Context = M->S->Loaded->artifact().manifest().Model.MaxContext;
  uint64_t Held = uint64_t{I.Pages} * I.PageTokens;
  llmc_model_info Info{};
  Info.vocab = I.Vocab;
  Info.max_context = static_cast<uint32_t>(
      Context == 0 ? Held : std::min<uint64_t>(Context, Held));
  Info.max_batch = I.MaxSequences;
  Info.max_step_tokens = I.MaxTokens;
  Info.page_tokens = I.PageTokens;
  Info.weight_bytes = M->S->WeightBytes;
  Info.device = M->S->Device.c_str();
  Info.target = M->S->Loaded->target().c_str();
  Info.note = M->S->Loaded->note().c_str();
  Info.outputs = I.rowFloats();
  copyResult(Info, Out);
}

const llmc_tokenizer *llmc_model_tokenizer(const llmc_model *M) {
  return &M->S->Text;
}

void llmc_model_default_sampling(const llmc_model *M, llmc_sampling *Out) {
  const GenerationDefaults &D = M->S->Text.Defaults;
  llmc_sampling S{};
  S.temperature = D.Temperature;
  S.top_k = D.TopK;
  S.top_p = D.TopP;
  S.min_p = D.MinP;
  S.repetition_penalty = D.RepetitionPenalty;
  copyResult(S, Out);
}

llmc_error *llmc_engine_create(llmc_model *M, const llmc_engine_options *O,
                               llmc_engine **Out) {
  return guarded([&]() -> llmc_error * {
    if (M->S->HasEngine.exchange(true))
      return toError(usageError("the model has an engine already"));
    try {
      *Out = new llmc_engine{
          std::make_shared<EngineState>(M->S, copyOptions(O).max_batch)};
    } catch (...) {
      M->S->HasEngine = false;
      throw;
    }
    return nullptr;
  });
}
void llmc_engine_destroy(llmc_engine *E) { delete E; }

namespace {

SamplingParams paramsOf(const llmc_sampling &S) {
  SamplingParams P;
  P.Temperature = S.temperature;
  P.TopK = S.top_k;
  P.TopP = S.top_p;
  P.MinP = S.min_p;
  P.RepetitionPenalty = S.repetition_penalty;
  P.FrequencyPenalty = S.frequency_penalty;
  P.PresencePenalty = S.presence_penalty;
  P.Seed = S.seed;
  P.TypicalP = S.typical_p == 0 ? 1 : S.typical_p;
  P.NoRepeatNgram = S.no_repeat_ngram;
  P.MinTokens = S.min_tokens;
  for (size_t I = 0; S.logit_bias != nullptr && I < S.logit_bias_count; ++I)
    P.LogitBias.emplace_back(S.logit_bias[I].token, S.logit_bias[I].bias);
  if (S.allowed_tokens != nullptr)
    P.AllowedIds.assign(S.allowed_tokens,
                        S.allowed_tokens + S.allowed_token_count);
  return P;
}

/// A list of texts of the caller's; Name is that of its field.
Status copyTexts(const char *Name, const char *const *Texts, size_t Count,
                 std::vector<std::string> &Out) {
  for (size_t I = 0; I < Count; ++I) {
    if (Texts == nullptr || Texts[I] == nullptr)
      return usageError(std::string(Name) + " is null, " + Name + "_count is " +
                        std::to_string(Count));
    Out.emplace_back(Texts[I]);
  }
  return Status::success();
}

/// What goes beyond one sampled completion.
Status addSearch(const llmc_request_options &O, RequestParams &P) {
  P.Choices = std::max(1u, O.choices);
  P.Beams = std::max(1u, O.beams);
  P.LengthPenalty = O.length_penalty;
  P.Early = static_cast<EarlyStopping>(std::clamp<int>(
      O.early_stopping, LLMC_EARLY_HEURISTIC, LLMC_EARLY_NEVER));
  P.Logprobs = O.logprobs;
  P.PromptLogprobs = O.prompt_logprobs;
  P.TopLogprobs = O.top_logprobs;
  if (O.speculation == LLMC_SPECULATION_NGRAM)
    P.Guess = Speculation::Ngram;
  return copyTexts("banned", O.banned, O.banned_count, P.Banned);
}

/// The constraint that a request names.
Status addConstraint(const llmc_request_options &O, EngineState &E,
                     RequestParams &P) {
  int Count = (O.json_schema != nullptr) + (O.regex != nullptr) +
              (O.grammar != nullptr) + O.unconstrained;
  if (Count > 1)
    return usageError(std::to_string(Count) +
                      " of json_schema, regex, grammar and unconstrained, "
                      "expected at most 1");
  if (O.unconstrained)
    return Status::success();
  std::shared_ptr<constraint::Constraint> C;
  auto Add = [&] {
    P.Filters.push_back(std::make_shared<ConstraintFilter>(
        C, P.IgnoreEos ? std::vector<int32_t>() : P.EosIds));
    return Status::success();
  };
  if (Count == 0) {
    std::span<const uint8_t> Stored =
        E.Model->Loaded->artifact().find(SectionKind::Constraint);
    if (Stored.empty())
      return Status::success();
    LLMC_ASSIGN_OR_RETURN(C, E.Constraints.getStored(Stored));
    return Add();
  }
  using constraint::Dialect;
  Dialect D = O.json_schema ? Dialect::JsonSchema
              : O.regex     ? Dialect::Regex
                            : constraint::guessDialect(O.grammar);
  const char *Text = O.json_schema ? O.json_schema
                     : O.regex     ? O.regex
                                   : O.grammar;
  constraint::CompileOptions How;
  How.Whitespace = O.json_whitespace;
  LLMC_ASSIGN_OR_RETURN(C, E.Constraints.get(D, Text, How));
  return Add();
}

} // namespace

llmc_error *llmc_engine_submit(llmc_engine *E,
                               const llmc_request_options *Given,
                               llmc_request **Out) {
  return guarded([&]() -> llmc_error * {
    llmc_request_options O = copyOptions(Given);
    const GenerationDefaults &D = E->S->Model->Text.Defaults;
    RequestParams P;
    if (O.tokens != nullptr)
      P.Prompt.assign(O.tokens, O.tokens + O.token_count);
    llmc_model Borrowed{E->S->Model};
    llmc_sampling Defaults{};
    Defaults.struct_size = sizeof(Defaults);
    llmc_model_default_sampling(&Borrowed, &Defaults);
    P.Sampling =
        paramsOf(O.sampling != nullptr ? copyOptions(O.sampling) : Defaults);
    P.MaxTokens = O.max_tokens;
    P.IgnoreEos = O.ignore_eos;
    if (llmc_error *Bad =
            toError(copyTexts("stop", O.stop, O.stop_count, P.Stop)))
      return Bad;
    if (llmc_error *Bad = toError(addSearch(O, P)))
      return Bad;
    P.EosIds = D.EosIds;
    if (llmc_error *Bad = toError(addConstraint(O, *E->S, P)))
      return Bad;
    P.Logits = static_cast<LogitsWanted>(
        std::clamp<int>(O.logits, LLMC_LOGITS_NONE, LLMC_LOGITS_ALL));
    if (O.on_token != nullptr)
      P.OnToken = [Call = O.on_token, User = O.user](const TokenEvent &T) {
        std::string Terminated(T.Text);
        llmc_event Event{T.Token, Terminated.c_str(), Terminated.size(),
                         T.Choice};
        return Call(User, &Event);
      };
    if (O.on_logits != nullptr)
      P.OnLogits = [Call = O.on_logits,
                    User = O.user](uint32_t Row, std::span<const float> L) {
        Call(User, Row, L.data(), L.size());
      };
    // Before it is queued: a request without a handle could not be ended.
    std::unique_ptr<llmc_request> Handle(new llmc_request{E->S, nullptr});
    Result<std::shared_ptr<Request>> R = E->S->Run.submit(std::move(P));
    if (!R.ok())
      return toError(R.takeStatus());
    Handle->R = R.take();
    *Out = Handle.release();
    return nullptr;
  });
}

llmc_error *llmc_engine_step(llmc_engine *E, bool *Done) {
  return guarded(
      [&]() -> llmc_error * { return toError(E->S->Run.step(*Done)); });
}

void llmc_request_cancel(llmc_request *R) { R->R->cancel(); }
void llmc_request_destroy(llmc_request *R) {
  if (R != nullptr)
    R->R->abandon(); // its callbacks may be gone
  delete R;
}

void llmc_request_get_choice(const llmc_request *R, size_t Index,
                             llmc_result *Out) {
  const RequestResult &All = R->R->result();
  if (Index >= All.Choices.size())
    return;
  const Choice &From = All.Choices[Index];
  bool HasText = R->Engine->Model->Text.Vocabulary.has_value();
  llmc_result To{};
  // A choice that has ended does not end the request.
  To.finish =
      R->R->done() ? static_cast<llmc_finish>(From.Finish) : LLMC_RUNNING;
  To.tokens = From.Tokens.data();
  To.token_count = From.Tokens.size();
  To.text = HasText ? From.Text.c_str() : nullptr;
  To.text_length = From.Text.size();
  To.stop = From.Finish == FinishReason::Stop ? From.Stop.c_str() : nullptr;
  To.prompt_tokens = All.PromptTokens;
  To.prefill_ms = All.PrefillMs;
  To.decode_ms = All.DecodeMs;
  To.score = From.Score;
  To.guessed_tokens = All.Guessed;
  To.right_tokens = All.Right;
  To.constrained = From.Constrained;
  To.complete = From.Complete;
  if (!All.Failure.ok()) {
    To.failure = All.Failure.message().c_str();
    To.failure_code = static_cast<llmc_code>(All.Failure.code());
  }
  copyResult(To, Out);
}
void llmc_request_get_result(const llmc_request *R, llmc_result *Out) {
  llmc_request_get_choice(R, 0, Out);
}
size_t llmc_request_choice_count(const llmc_request *R) {
  return R->R->result().Choices.size();
}

bool llmc_request_get_position(const llmc_request *R, size_t Choice,
                               size_t Index, llmc_position *Out) {
  const RequestResult &All = R->R->result();
  if (Choice != LLMC_PROMPT_CHOICE && Choice >= All.Choices.size())
    return false;
  const std::vector<PositionLogprobs> &List =
      Choice == LLMC_PROMPT_CHOICE ? All.PromptLogprobs
                                   : All.Choices[Choice].Logprobs;
  if (Index >= List.size())
    return false;
  const PositionLogprobs &From = List[Index];
  static_assert(sizeof(TokenLogprob) == sizeof(llmc_token_logprob));
  llmc_position To{};
  To.chosen = {From.Token, From.Logprob};
  To.rank = From.Rank;
  To.top = reinterpret_cast<const llmc_token_logprob *>(From.Top.data());
  To.top_count = From.Top.size();
  copyResult(To, Out);
  return true;
}

llmc_error *llmc_sequence_create(llmc_engine *E, llmc_sequence **Out) {
  return guarded([&]() -> llmc_error * {
    *Out = new llmc_sequence{E->S, E->S->Pages.create()};
    return nullptr;
  });
}
llmc_error *llmc_sequence_fork(const llmc_sequence *S, llmc_sequence **Out) {
  return guarded([&]() -> llmc_error * {
    *Out = new llmc_sequence{S->Engine, S->Engine->Pages.fork(S->Id)};
    return nullptr;
  });
}
uint32_t llmc_sequence_length(const llmc_sequence *S) {
  return S->Engine->Pages.length(S->Id);
}
void llmc_sequence_truncate(llmc_sequence *S, uint32_t Length) {
  S->Engine->Pages.truncate(S->Id, Length);
}
void llmc_sequence_destroy(llmc_sequence *S) {
  if (S != nullptr)
    S->Engine->Pages.free(S->Id);
  delete S;
}

llmc_error *llmc_engine_forward(llmc_engine *E, const llmc_row *Rows,
                                size_t Count, float *Logits,
                                size_t LogitsCount) {
  return guarded([&]() -> llmc_error * {
    std::vector<StepRow> In;
    In.reserve(Count);
    for (size_t I = 0; I < Count; ++I) {
      if (Rows[I].sequence == nullptr || Rows[I].sequence->Engine != E->S)
        return toError(usageError("row " + std::to_string(I) +
                                  " names no sequence of this engine"));
      In.push_back({Rows[I].sequence->Id, Rows[I].token,
                    Rows[I].token_class == LLMC_GENERATED
                        ? TokenClass::Generated
                        : TokenClass::Prompt,
                    Rows[I].want_logits});
    }
    return toError(E->S->Pages.step(
        In, std::span<float>(Logits, Logits ? LogitsCount : 0)));
  });
}
