// llmc eval: perplexity of a text, and how far an artifact is from a
// reference. Windows of 512 tokens, each started empty; the first token of a
// window is not scored. The numerics of generated tokens count (they are what
// decoding uses); those of prompt tokens are reported beside them.
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"
#include "tools/llmc-run/RowStatistics.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>
#include <unistd.h>

namespace llmcrun {

namespace {

constexpr size_t Window = 512;

struct EvalFlags {
  std::string Artifact, Text, Reference;
  bool Json = false;
  DeviceFlags Device;
};

/// Logits of stretches of a window, of one class.
class Scorer {
public:
  Scorer(llmc::Engine &E, size_t Vocab, llmc_class Class)
      : E(E), Vocab(Vocab), Class(Class) {}

  /// Starts a new window.
  void begin() { S.emplace(E.sequence()); }
  /// Appends tokens; the logits of all of them.
  const float *append(std::span<const int32_t> Tokens) {
    Rows.clear();
    for (int32_t T : Tokens)
      Rows.push_back({S->get(), T, Class, true});
    Logits.resize(Rows.size() * Vocab);
    E.forward(Rows, Logits);
    return Logits.data();
  }

private:
  llmc::Engine &E;
  size_t Vocab;
  llmc_class Class;
  std::optional<llmc::Sequence> S;
  std::vector<llmc_row> Rows;
  std::vector<float> Logits;
};

/// What is known of one scored position.
struct Position {
  double Loss = 0, ReferenceLoss = 0; ///< of the next token, in nats
  double Kl = 0, KlPrompt = 0;
  bool Same = false, SamePrompt = false;
};

/// Calls F(0) … F(N - 1) on all processors.
template <typename Function> void inParallel(size_t N, Function F) {
  size_t Threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> Pool;
  for (size_t T = 0; T < Threads; ++T)
    Pool.emplace_back([=] {
      for (size_t I = T; I < N; I += Threads)
        F(I);
    });
  for (std::thread &T : Pool)
    T.join();
}

class Evaluation {
public:
  Evaluation(const llmc::Model &M, const llmc::Model *Reference)
      : Vocab(M.info().vocab), Own(M, 1), Generated(Own, Vocab, LLMC_GENERATED),
        Prompt(Own, Vocab, LLMC_PROMPT) {
    Chunk = std::min<size_t>(MaxChunk, M.info().max_step_tokens);
    if (Reference == nullptr)
      return;
    llmc_model_info I = Reference->info();
    if (I.vocab != Vocab)
      usage("vocabulary of " + std::to_string(Vocab) +
            ", that of the reference is " + std::to_string(I.vocab));
    Chunk = std::min<size_t>(Chunk, I.max_step_tokens);
    Other.emplace(*Reference, 1);
    Ref.emplace(*Other, Vocab, LLMC_GENERATED);
  }
  void window(std::span<const int32_t> Tokens);
  std::vector<Position> Positions;

private:
  /// Rows at a time: three sets of their logits are held.
  static constexpr size_t MaxChunk = 128;

  size_t Vocab, Chunk;
  llmc::Engine Own;
  std::optional<llmc::Engine> Other;
  Scorer Generated, Prompt;
  std::optional<Scorer> Ref;
};

/// Scores a window: with generated numerics, and when there is a reference
/// also with those of prompts, in step.
void Evaluation::window(std::span<const int32_t> Tokens) {
  size_t First = Positions.size();
  Positions.resize(First + Tokens.size() - 1);
  Generated.begin();
  if (Ref) {
    Prompt.begin();
    Ref->begin();
  }
  for (size_t At = 0; At < Tokens.size(); At += Chunk) {
    throwIfInterrupted();
    std::span<const int32_t> Part =
        Tokens.subspan(At, std::min(Chunk, Tokens.size() - At));
    const float *G = Generated.append(Part);
    const float *P = Ref ? Prompt.append(Part) : nullptr;
    const float *R = Ref ? Ref->append(Part) : nullptr;
    size_t Scored = std::min(Part.size(), Tokens.size() - 1 - At);
    inParallel(Scored, [=, V = Vocab, To = &Positions[First + At]](size_t I) {
      const float *Row = G + I * V;
      int32_t Next = Tokens[At + I + 1];
      double Lse = logSumExp(Row, V);
      To[I].Loss = Lse - Row[Next];
      if (R == nullptr)
        return;
      const float *RefRow = R + I * V, *PromptRow = P + I * V;
      double RefLse = logSumExp(RefRow, V);
      double PromptLse = logSumExp(PromptRow, V);
      size_t Top = argMax(RefRow, V);
      To[I].ReferenceLoss = RefLse - RefRow[Next];
      To[I].Kl = klDivergence(RefRow, RefLse, Row, Lse, V);
      To[I].KlPrompt = klDivergence(RefRow, RefLse, PromptRow, PromptLse, V);
      To[I].Same = argMax(Row, V) == Top;
      To[I].SamePrompt = argMax(PromptRow, V) == Top;
    });
  }
}

template <typename Field>
double meanOf(const std::vector<Position> &P, Field F) {
  double Sum = 0;
  for (const Position &One : P)
    Sum += static_cast<double>(F(One));
  return P.empty() ? 0 : Sum / static_cast<double>(P.size());
}

double kl99(const std::vector<Position> &P) {
  std::vector<double> Kl;
  for (const Position &One : P)
    Kl.push_back(One.Kl);
  size_t At = Kl.size() * 99 / 100;
  std::nth_element(Kl.begin(), Kl.begin() + static_cast<ptrdiff_t>(At),
                   Kl.end());
  return Kl[At];
}

void print(const std::vector<Position> &P, size_t Tokens, bool Reference,
           bool Json) {
  std::vector<std::pair<const char *, double>> Numbers = {
      {"perplexity",
       std::exp(meanOf(P, [](const Position &O) { return O.Loss; }))}};
  auto Add = [&](const char *Name, auto F) {
    Numbers.emplace_back(Name, meanOf(P, F));
  };
  if (Reference) {
    Add("kl_mean", [](const Position &O) { return O.Kl; });
    Numbers.emplace_back("kl_p99", kl99(P));
    Add("same_top", [](const Position &O) { return O.Same; });
    Numbers.emplace_back(
        "perplexity_reference",
        std::exp(meanOf(P, [](const Position &O) { return O.ReferenceLoss; })));
    Add("kl_mean_prompt", [](const Position &O) { return O.KlPrompt; });
    Add("same_top_prompt", [](const Position &O) { return O.SamePrompt; });
  }
  llmc::JsonWriter W;
  W.beginObject();
  for (const auto &[Name, V] : Numbers)
    W.member(Name, V);
  W.member("tokens", uint64_t{Tokens});
  W.endObject();
  if (Json) {
    std::printf("%s\n", W.text().c_str());
    return;
  }
  for (const auto &[Name, V] : Numbers)
    std::printf("%-21s %.6g\n", Name, V);
  std::printf("%-21s %zu\n", "tokens", Tokens);
}

void eval(const EvalFlags &F) {
  // Two windows at once, whatever the artifact was planned for.
  constexpr uint32_t KvTokens = 2 * (Window + 64);
  llmc::Model M = F.Device.load(F.Artifact, KvTokens);
  std::optional<llmc::Model> Reference;
  if (!F.Reference.empty())
    Reference.emplace(F.Device.load(F.Reference, KvTokens));
  llmc::Text T = M.text();
  if (!T.hasVocabulary())
    usage("eval needs a tokenizer, and the artifact has none");
  std::vector<int32_t> Ids = T.encode(readTextFile(F.Text), LLMC_NO_SPECIAL);
  if (Ids.size() < 2)
    throw llmc::Error(LLMC_MALFORMED, F.Text + ": " +
                                          std::to_string(Ids.size()) +
                                          " tokens, at least 2 are needed");
  size_t Size = std::min<size_t>(Window, M.info().max_context);
  if (Reference)
    Size = std::min<size_t>(Size, Reference->info().max_context);
  Evaluation E(M, Reference ? &*Reference : nullptr);
  bool Terminal = isatty(STDERR_FILENO);
  for (size_t At = 0; At + 1 < Ids.size(); At += Size) {
    if (Terminal)
      std::fprintf(stderr, "\r%zu of %zu tokens", At, Ids.size());
    E.window(std::span(Ids).subspan(At, std::min(Size, Ids.size() - At)));
  }
  if (Terminal)
    std::fprintf(stderr, "\r\x1b[K");
  print(E.Positions, Ids.size(), Reference.has_value(), F.Json);
}

} // namespace

void addEval(CLI::App &App) {
  CLI::App *C = App.add_subcommand(
      "eval", "perplexity, and distance from a reference artifact");
  std::shared_ptr<EvalFlags> F = std::make_shared<EvalFlags>();
  C->add_option("artifact", F->Artifact, "compiled model")->required();
  C->add_option("--text", F->Text, "text to score")->required();
  C->add_option("--reference", F->Reference,
                "artifact to compare with, such as the f32 compile");
  C->add_flag("--json", F->Json, "as a JSON object");
  F->Device.add(*C);
  C->footer("Example: llmc eval int8.llmc --text eval.txt --reference "
            "f32.llmc");
  C->callback([F] {
    catchInterrupts();
    eval(*F);
  });
}

} // namespace llmcrun
