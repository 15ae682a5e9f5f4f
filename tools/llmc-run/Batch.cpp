// Every line is checked before anything runs; results come out in the order of
// the lines, as soon as all before them are done.
#include "tools/llmc-run/Batch.h"

#include "runtime/base/JsonDepth.h"
#include "runtime/base/JsonMember.h"
#include "tools/llmc-run/Npy.h"

#include <cstdio>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace llmcrun {

namespace {

using Json = nlohmann::json;

std::string lineName(const RunFlags &F, size_t Number) {
  return F.Batch + ", line " + std::to_string(Number) + ": ";
}

class Line {
public:
  Line(const RunFlags &F, size_t Number, const std::string &Text);
  llmc::RequestOptions options(const llmc::Text &T, llmc_sampling Defaults);

private:
  [[noreturn]] void fail(llmc_code Code, const std::string &What) const {
    throw llmc::Error(Code, lineName(F, Number) + What);
  }
  template <typename T> void number(const char *Key, T &Out) const;
  void constraint(llmc::RequestOptions &O) const;
  std::vector<int32_t> prompt(const llmc::Text &T) const;
  std::vector<int32_t> ids(const char *Key) const;
  /// A member as it stands in the line, so that no number is rounded. A name
  /// that is written with escapes is not found there.
  std::string raw(const char *Key) const {
    std::string_view Text = llmc::jsonMember(Source, Key);
    return Text.empty() ? J[Key].dump() : std::string(Text);
  }
  void texts(const char *Key, std::vector<std::string> &Out) const;
  void addSearch(llmc::RequestOptions &O) const;
  void bias(llmc::RequestOptions &O) const;
  /// The member is there and not null, which means the same as absent.
  bool has(const char *Key) const {
    auto It = J.find(Key);
    return It != J.end() && !It->is_null();
  }

  const RunFlags &F;
  size_t Number;
  std::string Source;
  Json J;
};

constexpr const char *Known[] = {"tools",
                                 "documents",
                                 "chat_template_kwargs",
                                 "tokens",
                                 "prompt",
                                 "messages",
                                 "max_tokens",
                                 "temperature",
                                 "top_k",
                                 "top_p",
                                 "min_p",
                                 "typical_p",
                                 "seed",
                                 "stop",
                                 "ignore_eos",
                                 "repetition_penalty",
                                 "frequency_penalty",
                                 "presence_penalty",
                                 "no_repeat_ngram_size",
                                 "min_tokens",
                                 "logit_bias",
                                 "allowed_token_ids",
                                 "bad_words",
                                 "n",
                                 "beams",
                                 "length_penalty",
                                 "early_stopping",
                                 "logprobs",
                                 "prompt_logprobs",
                                 "speculate",
                                 "json_schema",
                                 "json_whitespace",
                                 "regex",
                                 "grammar"};

Line::Line(const RunFlags &Flags, size_t N, const std::string &Text)
    : F(Flags), Number(N), Source(Text) {
  if (llmc::Status S = llmc::checkJsonDepth(Text, "a request"); !S.ok())
    fail(LLMC_MALFORMED, S.message());
  J = Json::parse(Text, nullptr, false);
  if (!J.is_object())
    fail(LLMC_MALFORMED, "not a JSON object");
  for (auto It = J.begin(); It != J.end(); ++It)
    if (std::find(std::begin(Known), std::end(Known), It.key()) ==
        std::end(Known))
      fail(LLMC_UNSUPPORTED, "member '" + It.key() + "' is not implemented");
}

template <typename T> void Line::number(const char *Key, T &Out) const {
  auto It = J.find(Key);
  if (It == J.end() || It->is_null())
    return;
  std::string Found = std::string(Key) + " is " + It->dump();
  if constexpr (std::is_floating_point_v<T>) {
    if (!It->is_number())
      fail(LLMC_MALFORMED, Found + ", expected a number");
  } else {
    if (!It->is_number_integer())
      fail(LLMC_MALFORMED, Found + ", expected an integer");
    bool Fits = It->is_number_unsigned() ? std::in_range<T>(It->get<uint64_t>())
                                         : std::in_range<T>(It->get<int64_t>());
    if (!Fits)
      fail(LLMC_MALFORMED, Found + ", expected " +
                               std::to_string(std::numeric_limits<T>::min()) +
                               " to " +
                               std::to_string(std::numeric_limits<T>::max()));
  }
  Out = It->get<T>();
}

std::vector<int32_t> Line::ids(const char *Key) const {
  std::vector<int32_t> Ids;
  if (!J[Key].is_array())
    fail(LLMC_MALFORMED, std::string(Key) + " is not a list");
  for (const Json &Id : J[Key]) {
    bool Known =
        Id.is_number_integer() &&
        (Id.is_number_unsigned() ? std::in_range<int32_t>(Id.get<uint64_t>())
                                 : std::in_range<int32_t>(Id.get<int64_t>()));
    if (!Known)
      fail(LLMC_MALFORMED, "token " + Id.dump() + " is not an id");
    Ids.push_back(Id.get<int32_t>());
  }
  return Ids;
}

/// A text or a list of texts in place of what Out holds.
void Line::texts(const char *Key, std::vector<std::string> &Out) const {
  auto It = J.find(Key);
  if (It == J.end() || It->is_null())
    return;
  Out.clear();
  for (const Json &S : It->is_array() ? *It : Json::array({*It})) {
    if (!S.is_string())
      fail(LLMC_MALFORMED,
           std::string(Key) + " is not a text or a list of texts");
    Out.push_back(S.get<std::string>());
    if (Out.back().find('\0') != std::string::npos)
      fail(LLMC_MALFORMED, std::string(Key) + " has a zero byte");
  }
}

/// What goes beyond one sampled completion.
void Line::addSearch(llmc::RequestOptions &O) const {
  number("n", O.Choices);
  number("beams", O.Beams);
  number("length_penalty", O.LengthPenalty);
  texts("bad_words", O.Banned);
  int32_t Generated = F.Search.Logprobs, Prompt = F.Search.PromptLogprobs;
  number("logprobs", Generated);
  number("prompt_logprobs", Prompt);
  wantLogprobs(O, Generated, Prompt);
  if (O.Choices == 0 || O.Beams == 0)
    fail(LLMC_MALFORMED, "n is " + std::to_string(O.Choices) + ", beams is " +
                             std::to_string(O.Beams) + ", expected 1 or more");
  if (has("allowed_token_ids")) {
    O.AllowedTokens = ids("allowed_token_ids");
    if (O.AllowedTokens.empty())
      fail(LLMC_MALFORMED, "allowed_token_ids is empty, expected 1 id or more");
  }
  auto Name = [this](const char *Key) {
    return J[Key].is_string() ? J[Key].get<std::string>() : J[Key].dump();
  };
  if (has("early_stopping"))
    O.EarlyStopping = earlyStoppingOf(Name("early_stopping"));
  if (has("speculate"))
    O.Speculation = speculationOf(Name("speculate"));
  if (has("logit_bias"))
    bias(O);
}

/// {"ID": NUMBER}, in place of the flags.
void Line::bias(llmc::RequestOptions &O) const {
  auto Bias = J.find("logit_bias");
  if (!Bias->is_object())
    fail(LLMC_MALFORMED, "logit_bias is not an object of ids and numbers");
  O.LogitBias.clear();
  for (auto It = Bias->begin(); It != Bias->end(); ++It) {
    std::vector<int32_t> Id = parseIds(It.key());
    if (Id.size() != 1 || !It->is_number())
      fail(LLMC_MALFORMED,
           "logit_bias of '" + It.key() + "' is not a number for one id");
    O.LogitBias.push_back({Id[0], It->get<float>()});
  }
}

std::vector<int32_t> Line::prompt(const llmc::Text &T) const {
  int Count = has("tokens") + has("prompt") + has("messages");
  if (Count != 1)
    fail(LLMC_MALFORMED, "has " + std::to_string(Count) +
                             " of tokens, prompt and messages, expected 1");
  if (has("tokens"))
    return ids("tokens");
  if (!T.hasVocabulary())
    fail(LLMC_USAGE, "the artifact has no tokenizer: give tokens");
  auto Text = [&](const char *Key) {
    return has(Key) ? raw(Key) : std::string();
  };
  if (has("messages"))
    return chatTokens(T, Text("messages"), Text("tools"), Text("documents"),
                      Text("chat_template_kwargs"));
  if (!J["prompt"].is_string())
    fail(LLMC_MALFORMED, "prompt is not a text");
  std::string Prompt = J["prompt"];
  if (F.Raw || !T.hasTemplate())
    return T.encode(Prompt);
  return chatTokens(T, "[" + messageJson("user", Prompt) + "]");
}

/// A member json_schema, regex or grammar takes the place of the flags.
void Line::constraint(llmc::RequestOptions &O) const {
  if (!has("json_schema") && !has("regex") && !has("grammar"))
    F.Constraint.apply(O);
  auto Text = [&](const char *Key, std::string &Out) {
    if (has(Key) && !J[Key].is_string())
      fail(LLMC_MALFORMED, std::string(Key) + " is not a text");
    if (has(Key))
      Out = constraintText(Key, J[Key].get<std::string>());
  };
  Text("regex", O.Regex);
  Text("grammar", O.Grammar);
  if (has("json_schema")) // with its members in their order, exact numbers
    O.JsonSchema =
        J["json_schema"].is_string()
            ? constraintText("json_schema", J["json_schema"].get<std::string>())
            : raw("json_schema");
  if (has("json_whitespace")) {
    if (!J["json_whitespace"].is_boolean())
      fail(LLMC_MALFORMED, "json_whitespace is not true or false");
    O.JsonWhitespace = J["json_whitespace"].get<bool>();
  }
}

llmc::RequestOptions Line::options(const llmc::Text &T,
                                   llmc_sampling Sampling) {
  llmc::RequestOptions O;
  O.MaxTokens = F.MaxTokens;
  O.IgnoreEos = F.IgnoreEos;
  O.Stop = F.Stop;
  number("temperature", Sampling.temperature);
  number("top_k", Sampling.top_k);
  number("top_p", Sampling.top_p);
  number("min_p", Sampling.min_p);
  number("repetition_penalty", Sampling.repetition_penalty);
  number("frequency_penalty", Sampling.frequency_penalty);
  number("presence_penalty", Sampling.presence_penalty);
  number("seed", Sampling.seed);
  number("typical_p", Sampling.typical_p);
  number("no_repeat_ngram_size", Sampling.no_repeat_ngram);
  number("min_tokens", Sampling.min_tokens);
  number("max_tokens", O.MaxTokens);
  if (has("ignore_eos")) {
    if (!J["ignore_eos"].is_boolean())
      fail(LLMC_MALFORMED, "ignore_eos is not true or false");
    O.IgnoreEos = J["ignore_eos"].get<bool>();
  }
  texts("stop", O.Stop);
  F.Search.apply(O);
  O.Sampling = Sampling;
  try {
    constraint(O);
    addSearch(O);
    O.Tokens = prompt(T);
  } catch (const llmc::Error &E) {
    if (std::string(E.what()).starts_with(F.Batch))
      throw;
    fail(E.code(), E.what());
  }
  return O;
}

/// A request with the file that its logits go to.
struct Entry {
  llmc::Request R;
  NpyWriter Logits;
};

/// Requests; Numbers: the line of each.
std::vector<llmc::RequestOptions> readLines(const RunFlags &F,
                                            const llmc::Text &T,
                                            llmc_sampling Defaults,
                                            std::vector<size_t> &Numbers) {
  std::string Text = readFileOf("--batch", F.Batch);
  std::vector<llmc::RequestOptions> All;
  for (size_t At = 0, Number = 1; At < Text.size(); ++Number) {
    size_t End = std::min(Text.find('\n', At), Text.size());
    std::string One = Text.substr(At, End - At);
    At = End + 1;
    if (One.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    All.push_back(Line(F, Number, One).options(T, Defaults));
    Numbers.push_back(Number);
  }
  return All;
}

} // namespace

void runBatch(const RunFlags &F) {
  if (F.HasPrompt || F.HasTokens || !F.System.empty())
    usage("--batch excludes a prompt, --tokens and --system");
  llmc_logits Wanted = logitsOf(F);
  llmc::Model M = F.Device.load(F.Artifact);
  size_t Vocab = M.info().outputs;
  std::vector<size_t> Numbers;
  std::vector<llmc::RequestOptions> All =
      readLines(F, M.text(), F.Sampling.over(M.defaultSampling()), Numbers);
  if (Wanted != LLMC_LOGITS_NONE) {
    std::error_code Error;
    std::filesystem::create_directories(F.LogitsOut, Error);
  }
  std::vector<Entry> Entries(All.size());
  llmc::Engine E(M);
  for (size_t I = 0; I < All.size(); ++I) {
    Entry &To = Entries[I];
    All[I].Logits = Wanted;
    if (Wanted != LLMC_LOGITS_NONE)
      To.Logits = NpyWriter(F.LogitsOut + "/" + std::to_string(I) + ".npy",
                            logitsShape(All[I], Vocab));
    All[I].OnLogits = [&To](uint32_t, std::span<const float> L) {
      To.Logits.add(L);
    };
    All[I].OnToken = [](const llmc_event &) { return !interrupted(); };
    try {
      To.R = E.submit(All[I]);
    } catch (const llmc::Error &Bad) {
      throw llmc::Error(Bad.code(), lineName(F, Numbers[I]) + Bad.what());
    }
  }
  size_t Next = 0;
  for (bool More = !Entries.empty(); More;) {
    More = E.step();
    throwIfInterrupted();
    for (; Next < Entries.size(); ++Next) {
      llmc_result R = Entries[Next].R.result();
      if (R.finish == LLMC_RUNNING)
        break;
      Entries[Next].Logits.finish();
      llmc::JsonWriter W;
      W.beginObject();
      writeResult(W, Entries[Next].R, All[Next]);
      W.endObject();
      std::printf("%s\n", W.text().c_str());
      std::fflush(stdout);
    }
  }
  for (size_t I = 0; I < Entries.size(); ++I) // the others are not lost
    if (llmc_result R = Entries[I].R.result(); R.failure != nullptr)
      throw llmc::Error(R.failure_code, lineName(F, Numbers[I]) + R.failure);
}

} // namespace llmcrun
