/* llmc.h: run compiled language models. C API, version 1.
 *
 * Objects are opaque handles. A function that can fail returns llmc_error *:
 * NULL is success, anything else belongs to the caller (llmc_error_destroy).
 * Out parameters are written on success only. Structs begin with struct_size,
 * which the caller sets to sizeof; fields that a newer library added then read
 * as 0. Strings are UTF-8. All _destroy functions accept NULL.
 *
 * Lifecycle: load a model, create an engine, submit requests, call
 * llmc_engine_step until done. Handles may be destroyed in any order: each
 * keeps alive what it needs. No hidden threads but the workers of a CPU step,
 * and no global state. Want of memory is an error (LLMC_DOES_NOT_FIT); no
 * exception leaves a function but what a callback throws.
 *
 * Every function says three things:
 *
 *   Since:   the version that brought it, and its promise. "stable": callers
 *            keep working, with newer libraries of the same API version, too.
 *            "unstable": may change or go in any release; pin the version.
 *   Owns:    who frees what the call hands out or takes in. "borrowed": valid
 *            as long as the object that it is asked of, unless said otherwise.
 *   Threads: "any": from any thread at any time. "shared": any number of
 *            threads may do so at once on the same object, as long as none
 *            destroys it. "engine": from one thread at a time for an engine
 *            with all its requests and sequences; another thread may take
 *            over between calls. "last": no other thread may be using the
 *            object. */
#ifndef LLMC_LLMC_H
#define LLMC_LLMC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LLMC_API_VERSION 1u

typedef struct llmc_error llmc_error;         /* a failure */
typedef struct llmc_tokenizer llmc_tokenizer; /* text side of an artifact */
typedef struct llmc_model llmc_model;         /* artifact on a device */
typedef struct llmc_engine llmc_engine;       /* requests on a model */
typedef struct llmc_request llmc_request;     /* one completion */
typedef struct llmc_sequence llmc_sequence;   /* tokens fed by hand */

/* Version of the library that runs; compare with LLMC_API_VERSION: where they
 * differ, the header is not that of the library.
 * Since: 0.1, stable.  Threads: any. */
uint32_t llmc_api_version(void);

/* Frees what a function documents as "free with llmc_free". NULL is fine. The
 * free() of the caller's C library may be another one.
 * Since: 0.1, stable.  Owns: takes the memory.  Threads: any. */
void llmc_free(void *memory);

/* ---- Errors ------------------------------------------------------------ */

/* Kind of failure; the values are the exit codes of the programs. */
typedef enum llmc_code {
  LLMC_INTERNAL = 1,     /* a bug of ours */
  LLMC_USAGE = 2,        /* wrong arguments */
  LLMC_UNSUPPORTED = 3,  /* something that llmc does not have */
  LLMC_MALFORMED = 4,    /* input damaged, unsafe or missing */
  LLMC_DOES_NOT_FIT = 5, /* memory, context, device */
  LLMC_VERIFICATION = 6, /* a check failed */
  LLMC_INTERRUPTED = 130 /* stopped by the user */
} llmc_code;

/* Kind of the failure.
 * Since: 0.1, stable.  Threads: shared. */
llmc_code llmc_error_code(const llmc_error *error);
/* What failed, in one line of lower case with the numbers involved. The words
 * are for people and may change; decide by the code.
 * Since: 0.1, stable.  Owns: borrowed from the error.  Threads: shared. */
const char *llmc_error_message(const llmc_error *error);
/* Number of further lines, such as one reason for each target.
 * Since: 0.1, stable.  Threads: shared. */
size_t llmc_error_note_count(const llmc_error *error);
/* The line of that index; NULL past the end.
 * Since: 0.1, stable.  Owns: borrowed from the error.  Threads: shared. */
const char *llmc_error_note(const llmc_error *error, size_t index);
/* Ends the error's life, and that of its texts.
 * Since: 0.1, stable.  Owns: takes the error.  Threads: last. */
void llmc_error_destroy(llmc_error *error);

/* ---- Text -------------------------------------------------------------- */

/* Loads the text side of an artifact, or of a model's folder with
 * tokenizer.json. No device is touched. Fails when the file is damaged, not
 * when it has no tokenizer.
 * Since: 0.1, stable.  Owns: *out is the caller's; llmc_tokenizer_destroy.
 * Threads: any. */
llmc_error *llmc_tokenizer_load(const char *path, llmc_tokenizer **out);
/* Ends a loaded tokenizer's life; not for that of llmc_model_tokenizer.
 * Since: 0.1, stable.  Owns: takes the tokenizer.  Threads: last. */
void llmc_tokenizer_destroy(llmc_tokenizer *tokenizer);

/* Whether there is a tokenizer proper: without one, encode, decode and
 * spelling fail with LLMC_USAGE, and requests yield ids only.
 * Since: 0.1, stable.  Threads: shared. */
bool llmc_tokenizer_has_vocabulary(const llmc_tokenizer *tokenizer);
/* Whether there is a chat template; an artifact may have one, a tokenizer,
 * both or none.
 * Since: 0.1, stable.  Threads: shared. */
bool llmc_tokenizer_has_template(const llmc_tokenizer *tokenizer);

/* Flags of llmc_tokenizer_encode. */
enum {
  LLMC_NO_SPECIAL = 1,     /* do not add the tokens of the template (BOS …) */
  LLMC_SPECIAL_AS_TEXT = 2 /* text that spells a special token stays text;
                              use it for what strangers wrote */
};

/* Token ids of a text of length bytes; it may hold zeros. flags: see above.
 * Since: 0.1, stable.  Owns: *ids is the caller's; llmc_free.
 * Threads: shared. */
llmc_error *llmc_tokenizer_encode(const llmc_tokenizer *tokenizer,
                                  const char *text, size_t length,
                                  uint32_t flags, int32_t **ids, size_t *count);

/* Text of ids, zero-terminated. Broken UTF-8 becomes U+FFFD, unknown ids
 * vanish, with skip_special special tokens, too. length may be NULL.
 * Since: 0.1, stable.  Owns: *text is the caller's; llmc_free.
 * Threads: shared. */
llmc_error *llmc_tokenizer_decode(const llmc_tokenizer *tokenizer,
                                  const int32_t *ids, size_t count,
                                  bool skip_special, char **text,
                                  size_t *length);

/* A token as tokenizer.json spells it, for display: not always valid text.
 * Since: 0.1, unstable (spellings follow the file's format).
 * Owns: *text is the caller's; llmc_free.  Threads: shared. */
llmc_error *llmc_tokenizer_spelling(const llmc_tokenizer *tokenizer, int32_t id,
                                    char **text);

/* Renders messages (a JSON list of {"role","content",…}) with the chat
 * template; tools_json is a JSON list or NULL. Encode the result with
 * LLMC_NO_SPECIAL. LLMC_USAGE when there is no template. length may be NULL.
 * Since: 0.1, unstable (more variables of templates will come).
 * Owns: *text is the caller's; llmc_free.  Threads: shared. */
llmc_error *llmc_tokenizer_render(const llmc_tokenizer *tokenizer,
                                  const char *messages_json,
                                  const char *tools_json,
                                  bool add_generation_prompt, char **text,
                                  size_t *length);

/* What a chat template is rendered with: JSON texts. */
typedef struct llmc_chat {
  size_t struct_size;
  const char *messages_json;  /* a list of {"role","content",...} */
  const char *tools_json;     /* a list, or NULL */
  const char *documents_json; /* a list, or NULL */
  const char *variables_json; /* an object of further variables, or NULL; its
                                 members win over all others */
  bool no_generation_prompt;  /* end behind the last message */
} llmc_chat;

/* llmc_tokenizer_render with all that a template may see.
 * Since: 0.1, stable.  Owns: *text is the caller's; llmc_free.
 * Threads: shared. */
llmc_error *llmc_tokenizer_render_chat(const llmc_tokenizer *tokenizer,
                                       const llmc_chat *chat, char **text,
                                       size_t *length);

/* ---- Models ------------------------------------------------------------ */

typedef struct llmc_model_options {
  size_t struct_size;
  const char *device; /* "auto" (also NULL), "cpu", "cuda", "cuda:N",
                         "cuda-sim" */
  uint32_t threads;   /* CPU; 0: as many as the machine grants */
  uint32_t kv_tokens; /* tokens that the cache holds, all sequences together;
                         0: the compiled plan's number */
} llmc_model_options;

/* Opens and validates an artifact and loads it on a device. options may be
 * NULL; path and options are not kept. LLMC_MALFORMED: the file is missing or
 * damaged; LLMC_DOES_NOT_FIT: no code for the device, or too little memory.
 * Since: 0.1, stable.  Owns: *out is the caller's; llmc_model_destroy.
 * Threads: any. */
llmc_error *llmc_model_load(const char *path, const llmc_model_options *options,
                            llmc_model **out);
/* Gives the handle up; weights and cache go when the model's engine, its
 * requests and its sequences are gone, too.
 * Since: 0.1, stable.  Owns: takes the handle.  Threads: last. */
void llmc_model_destroy(llmc_model *model);

typedef struct llmc_model_info {
  size_t struct_size;
  uint32_t vocab;
  uint32_t max_context;     /* tokens of one sequence */
  uint32_t max_batch;       /* sequences in one step */
  uint32_t max_step_tokens; /* tokens in one step */
  uint32_t page_tokens;     /* tokens per cache page */
  uint64_t weight_bytes;    /* of the target that was chosen */
  const char *device;       /* "cpu", "cuda:0"; borrowed from the model */
  const char *target;       /* "x86-64-avx512vnni", "sm_80"; borrowed */
  const char *note;         /* what the user should know of the choice of
                               device, or ""; borrowed */
  uint32_t outputs;         /* floats of a row of logits: vocab, or the hidden
                               size of a model without a head */
} llmc_model_info;

/* Facts of a loaded model; fills the fields that fit struct_size.
 * Since: 0.1, stable.  Owns: strings are borrowed from the model.
 * Threads: shared. */
void llmc_model_get_info(const llmc_model *model, llmc_model_info *info);

/* The model's text side; not to be destroyed. Never NULL, but maybe without
 * a vocabulary.
 * Since: 0.1, stable.  Owns: borrowed from the model.  Threads: shared. */
const llmc_tokenizer *llmc_model_tokenizer(const llmc_model *model);

/* ---- Sampling ---------------------------------------------------------- */

typedef struct llmc_bias {
  int32_t token;
  float bias;
} llmc_bias;

/* Applied in this order: penalties, logit_bias, bans (allowed_tokens,
 * no_repeat_ngram, min_tokens), temperature, top_k, top_p, min_p, typical_p,
 * draw. */
typedef struct llmc_sampling {
  size_t struct_size;
  float temperature;           /* 0: the most likely token */
  int32_t top_k;               /* 0: off */
  float top_p;                 /* 1: off */
  float min_p;                 /* 0: off */
  float repetition_penalty;    /* 1: off; over prompt and output */
  float frequency_penalty;     /* 0: off; over output */
  float presence_penalty;      /* 0: off; over output */
  uint64_t seed;               /* equal seeds give equal tokens */
  float typical_p;             /* 0 or 1: off */
  uint32_t no_repeat_ngram;    /* longest run of tokens, of prompt and output,
                                  that may not come twice, plus 1; 0: off */
  uint32_t min_tokens;         /* no end token before */
  const llmc_bias *logit_bias; /* added to logits; copied */
  size_t logit_bias_count;
  const int32_t *allowed_tokens; /* NULL: all; copied */
  size_t allowed_token_count;
} llmc_sampling;

/* The artifact's generation defaults; sets the fields that fit struct_size,
 * which it keeps. Start from these to change one parameter.
 * Since: 0.1, stable.  Threads: shared. */
void llmc_model_default_sampling(const llmc_model *model, llmc_sampling *out);

/* ---- Engine and requests ----------------------------------------------- */

typedef struct llmc_engine_options {
  size_t struct_size;
  uint32_t max_batch; /* requests at once; 0: what the model takes */
} llmc_engine_options;

/* Creates the model's engine; options may be NULL. LLMC_USAGE when the model
 * has an engine already: there is one cache.
 * Since: 0.1, stable.  Owns: *out is the caller's; llmc_engine_destroy.
 * Threads: shared (of several calls at once, one wins). */
llmc_error *llmc_engine_create(llmc_model *model,
                               const llmc_engine_options *options,
                               llmc_engine **out);
/* Gives the handle up. The engine goes with its last request and sequence;
 * only then may the model have another.
 * Since: 0.1, stable.  Owns: takes the handle.  Threads: engine, last. */
void llmc_engine_destroy(llmc_engine *engine);

typedef struct llmc_event {
  int32_t token;      /* -1: text that was held back, at the end */
  const char *text;   /* what this token made certain; maybe empty */
  size_t text_length; /* both valid during the call */
  uint32_t choice;    /* which of the completions, from 0 */
} llmc_event;

/* Called by llmc_engine_step for each generated token. Returns false to
 * cancel. May not call back into the engine, nor leave by an exception or
 * longjmp.
 * Since: 0.1, stable.  Owns: the event is valid during the call.
 * Threads: called on the thread that steps. */
typedef bool (*llmc_on_token)(void *user, const llmc_event *event);

/* Called with the logits of a prompt row (its index, from 0), in ascending
 * order; rows come in pieces as steps compute them. The rules of llmc_on_token
 * hold here, too.
 * Since: 0.1, stable.  Owns: logits are valid during the call.
 * Threads: called on the thread that steps. */
typedef void (*llmc_on_logits)(void *user, uint32_t row, const float *logits,
                               size_t count);

typedef enum llmc_logits {
  LLMC_LOGITS_NONE = 0,
  LLMC_LOGITS_LAST = 1, /* of the last prompt row */
  LLMC_LOGITS_ALL = 2   /* of all prompt rows, in order */
} llmc_logits;

/* When a beam search ends before max_tokens, once it has as many finished
 * completions as beams. */
typedef enum llmc_early_stopping {
  LLMC_EARLY_HEURISTIC = 0, /* when no beam could do better at its length */
  LLMC_EARLY_AT_ONCE = 1,
  LLMC_EARLY_NEVER = 2 /* when none could do better at any length */
} llmc_early_stopping;

typedef enum llmc_speculation {
  LLMC_SPECULATION_OFF = 0,
  LLMC_SPECULATION_NGRAM = 1 /* what followed the last tokens before */
} llmc_speculation;

typedef struct llmc_request_options {
  size_t struct_size;
  const int32_t *tokens; /* the prompt; copied */
  size_t token_count;
  const llmc_sampling *sampling; /* NULL: the artifact's defaults; copied */
  uint32_t max_tokens;           /* cut to what the context leaves */
  bool ignore_eos;               /* end tokens are tokens like others */
  const char *const *stop;       /* texts that end the output; copied */
  size_t stop_count;
  llmc_on_token on_token; /* may be NULL */
  llmc_logits logits;
  llmc_on_logits on_logits; /* NULL unless logits are wanted */
  void *user;               /* handed to the callbacks */
  uint32_t choices;         /* completions wanted, each with random numbers of
                               its own, the first as if alone; 0 counts as 1 */
  uint32_t beams;           /* above 1: beam search for the most likely
                               completions; nothing is drawn, text comes at the
                               end, stop strings and logprobs are refused */
  double length_penalty;    /* of beams: scores are divided by length to this
                               power; 1 is usual */
  llmc_early_stopping early_stopping; /* of beams */
  bool logprobs;                      /* of generated tokens */
  bool prompt_logprobs;               /* of prompt tokens but the first */
  uint32_t top_logprobs;              /* the best alternatives beside each */
  const char *const *banned; /* texts that must not be written, however they
                                are cut into tokens; copied */
  size_t banned_count;
  llmc_speculation speculation; /* tokens guessed ahead; the output is the
                                   same */
  /* Constraint: at most one of three; NULL: the artifact's, if it has one.
   * Needs a tokenizer. Copied. */
  const char *json_schema; /* JSON Schema that the output satisfies */
  const char *regex;       /* regular expression of the whole output */
  const char *grammar;     /* GBNF (rule root) or Lark (rule start) */
  bool json_whitespace;    /* JSON need not be compact */
  bool unconstrained;      /* without the artifact's constraint */
} llmc_request_options;

/* Queues a completion; nothing runs before llmc_engine_step. Fails at once
 * when it can never run: empty prompt, bad parameter (LLMC_USAGE), prompt
 * longer than the context (LLMC_DOES_NOT_FIT).
 * Since: 0.1, stable.  Owns: options are copied, user must outlive the
 * request; *out is the caller's; llmc_request_destroy.  Threads: engine. */
llmc_error *llmc_engine_submit(llmc_engine *engine,
                               const llmc_request_options *options,
                               llmc_request **out);

/* Runs one step of all requests; *done: none is left. Callbacks are called
 * from here. A failure ends all requests that ran in the step (they read
 * LLMC_CANCELLED); those that wait may still run.
 * Since: 0.1, stable.  Threads: engine. */
llmc_error *llmc_engine_step(llmc_engine *engine, bool *done);

/* Asks a request to end before the next step; it then reads LLMC_CANCELLED.
 * Does nothing to one that is done.
 * Since: 0.1, stable.  Threads: any, until it is destroyed. */
void llmc_request_cancel(llmc_request *request);
/* Gives the handle up; cancels the request when it still runs, and calls none
 * of its callbacks any more.
 * Since: 0.1, stable.  Owns: takes the handle.  Threads: engine, last. */
void llmc_request_destroy(llmc_request *request);

typedef enum llmc_finish {
  LLMC_RUNNING = 0,
  LLMC_FINISH_EOS = 1,    /* the model ended */
  LLMC_FINISH_STOP = 2,   /* a stop string */
  LLMC_FINISH_LENGTH = 3, /* max_tokens or the context */
  LLMC_CANCELLED = 4
} llmc_finish;

typedef struct llmc_result {
  size_t struct_size;
  llmc_finish finish;
  const int32_t *tokens; /* generated, without the end token; borrowed from
                            the request, as all pointers here, valid until the
                            next step */
  size_t token_count;
  const char *text; /* NULL when the artifact has no tokenizer */
  size_t text_length;
  const char *stop; /* the stop string found, or NULL */
  uint32_t prompt_tokens;
  double prefill_ms;       /* from admission to the first token */
  double decode_ms;        /* from there to the end */
  double score;            /* of beam search */
  uint32_t guessed_tokens; /* by speculation, of the whole request */
  uint32_t right_tokens;   /* of which were right */
  bool constrained;        /* there is a constraint */
  bool complete;           /* the text satisfies it; false when it was cut */
  const char *failure; /* why the request was cancelled, if it was by a failure
                          and not by the caller; else NULL */
  llmc_code failure_code; /* of which kind */
} llmc_result;

/* State of a request, finished or not; fills the fields that fit struct_size.
 * Since: 0.1, stable.  Owns: pointers are borrowed from the request, until the
 * next step.  Threads: engine. */
void llmc_request_get_result(const llmc_request *request, llmc_result *out);

/* Number of completions that the request has; beams may find fewer than were
 * wanted.
 * Since: 0.1, stable.  Threads: engine. */
size_t llmc_request_choice_count(const llmc_request *request);
/* One of them; llmc_request_get_result gives the first. Fills nothing when
 * there is no such choice.
 * Since: 0.1, stable.  Owns: as llmc_request_get_result.  Threads: engine. */
void llmc_request_get_choice(const llmc_request *request, size_t choice,
                             llmc_result *out);

typedef struct llmc_token_logprob {
  int32_t token;
  float logprob; /* natural logarithm, of the model's own distribution: before
                    penalties, bans, temperature and constraints */
} llmc_token_logprob;

/* One place of a text. */
typedef struct llmc_position {
  size_t struct_size;
  llmc_token_logprob chosen;     /* the token that stands there */
  uint32_t rank;                 /* of it, from 0 */
  const llmc_token_logprob *top; /* the best tokens, best first; borrowed */
  size_t top_count;
} llmc_position;

/* Choice of the log-probabilities of the prompt. */
#define LLMC_PROMPT_CHOICE SIZE_MAX

/* Log-probabilities of a generated token, or of prompt token index + 1. False
 * when there are none: not asked for, or not computed yet.
 * Since: 0.1, stable.  Owns: pointers are borrowed from the request, until the
 * next step.  Threads: engine. */
bool llmc_request_get_position(const llmc_request *request, size_t choice,
                               size_t index, llmc_position *out);

/* ---- Sequences: feeding tokens by hand --------------------------------- */

/* An empty sequence in the engine's cache. Sequences and requests of one
 * engine share the cache; use one kind at a time.
 * Since: 0.1, unstable.  Owns: *out is the caller's; llmc_sequence_destroy.
 * Threads: engine. */
llmc_error *llmc_sequence_create(llmc_engine *engine, llmc_sequence **out);
/* A copy that shares the cache pages until one of the two goes on.
 * Since: 0.1, unstable.  Owns: *out is the caller's; llmc_sequence_destroy.
 * Threads: engine. */
llmc_error *llmc_sequence_fork(const llmc_sequence *sequence,
                               llmc_sequence **out);
/* Number of tokens that it holds.
 * Since: 0.1, unstable.  Threads: engine. */
uint32_t llmc_sequence_length(const llmc_sequence *sequence);
/* Forgets all tokens from length on; nothing when it is no longer than that.
 * Since: 0.1, unstable.  Threads: engine. */
void llmc_sequence_truncate(llmc_sequence *sequence, uint32_t length);
/* Gives the handle up and its pages back to the cache.
 * Since: 0.1, unstable.  Owns: takes the handle.  Threads: engine, last. */
void llmc_sequence_destroy(llmc_sequence *sequence);

/* Numerics of a token: those of prompts or those of generated tokens. */
typedef enum llmc_class { LLMC_PROMPT = 0, LLMC_GENERATED = 1 } llmc_class;

typedef struct llmc_row {
  llmc_sequence *sequence;
  int32_t token;
  llmc_class token_class;
  bool want_logits;
} llmc_row;

/* Appends one token per row, rows of a sequence in order, in one step.
 * logits: `outputs` floats for each row that wants them, prompt rows first,
 * else in the order of rows; NULL when none does. At most max_step_tokens rows
 * of max_batch sequences. On failure nothing was appended. Since: 0.1,
 * unstable.  Owns: rows and logits stay the caller's. Threads: engine. */
llmc_error *llmc_engine_forward(llmc_engine *engine, const llmc_row *rows,
                                size_t row_count, float *logits,
                                size_t logits_count);

#ifdef __cplusplus
}
#endif
#endif /* LLMC_LLMC_H */
