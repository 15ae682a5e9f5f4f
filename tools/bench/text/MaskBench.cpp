// Times constraints over a vocabulary: for every text of a .jsonl file of cases
// (mask_cases.py, or {"schema", "accept": [texts]}) compiles the constraint
// afresh, cuts the text into tokens, and before each token computes the mask.
// So the first masks of every constraint, the slowest ones, all count. Prints
// one JSON object with times in microseconds, by category and of all.
//
//   mask-bench TOKENIZER_FOLDER CASES.jsonl [SLOW]
//
// With SLOW each mask that took more microseconds than that is told of on
// standard error, with the text so far.
#include "runtime/text/TokenizerCompiler.h"
#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/Constraint.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace llmc;
using namespace llmc::constraint;

namespace {

using Json = nlohmann::ordered_json;
/// Time of this thread alone, so that a busy machine does not count.
double now() {
  timespec T;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &T);
  return double(T.tv_sec) * 1e6 + double(T.tv_nsec) / 1e3;
}
double microseconds(double Start) { return now() - Start; }

Json summary(std::vector<double> T) {
  if (T.empty())
    return {};
  std::sort(T.begin(), T.end());
  double Sum = 0;
  for (double V : T)
    Sum += V;
  auto At = [&](double Share) {
    return T[std::min(T.size() - 1,
                      static_cast<size_t>(Share * double(T.size())))];
  };
  return {{"count", T.size()}, {"mean", Sum / double(T.size())},
          {"p50", At(0.5)},    {"p90", At(0.9)},
          {"p99", At(0.99)},   {"max", T.back()}};
}

double Slow = 1e30; ///< microseconds from which on a mask is told of

struct Times {
  std::vector<double> Compile, Mask, Step;
};

Result<std::unique_ptr<Grammar>> compileCase(const Json &Case) {
  std::string Kind = Case.value("kind", std::string("schema"));
  if (Kind == "schema")
    return compileSchema(Case["schema"].dump(), {});
  std::string Text = Case["text"].get<std::string>();
  return compileConstraint(
      Kind == "regex" ? Dialect::Regex : guessDialect(Text), Text);
}

void tell(const Json &Case, std::string_view Before, double Took) {
  std::string_view End =
      Before.substr(Before.size() - std::min<size_t>(Before.size(), 60));
  std::fprintf(stderr, "%6.0f us %s behind '%.*s' of %.400s\n", Took,
               Case.value("category", std::string()).c_str(),
               static_cast<int>(End.size()), End.data(),
               Case[Case.contains("text") ? "text" : "schema"].dump().c_str());
}

void timeText(const Tokenizer &T, Constraint &C, const Json &Case,
              const std::string &Text, Times &Out) {
  Result<std::vector<int32_t>> Ids = T.encode(Text, {.AddSpecial = false});
  Constraint::State S;
  size_t At = 0;
  for (int32_t Id : *Ids) {
    double Start = now();
    std::span<const uint64_t> Mask = C.mask(S);
    Out.Mask.push_back(microseconds(Start));
    if (Out.Mask.back() > Slow)
      tell(Case, std::string_view(Text).substr(0, At), Out.Mask.back());
    At = std::min(Text.size(), At + C.trie().bytes(Id).size());
    if ((Mask[static_cast<size_t>(Id) / 64] >> (Id % 64) & 1) == 0) {
      std::fprintf(stderr, "token %d is not allowed in %s\n", Id, Text.c_str());
      return;
    }
    Start = now();
    S = C.accept(S, Id);
    Out.Step.push_back(microseconds(Start));
  }
}

void timeCase(const Tokenizer &T, std::shared_ptr<const TokenTrie> Trie,
              const Json &Case, Times &Out) {
  for (const Json &Text : Case["accept"]) {
    double Start = now();
    Result<std::unique_ptr<Grammar>> G = compileCase(Case);
    if (!G.ok()) {
      std::fprintf(stderr, "%s\n", G.status().message().c_str());
      return;
    }
    Constraint C(G.take(), Trie);
    Out.Compile.push_back(microseconds(Start));
    timeText(T, C, Case, Text.get<std::string>(), Out);
  }
}

} // namespace

int main(int Argc, char **Argv) {
  if (Argc != 3 && Argc != 4)
    return std::fprintf(stderr,
                        "usage: mask-bench FOLDER CASES.jsonl [SLOW]\n"),
           2;
  if (Argc == 4)
    Slow = std::atof(Argv[3]);
  Result<std::vector<uint8_t>> Image = compileTokenizer(Argv[1]);
  if (!Image.ok() || Image->empty())
    return std::fprintf(stderr, "no tokenizer in %s\n", Argv[1]), 4;
  Result<Tokenizer> T = Tokenizer::load(*Image);
  double Start = now();
  std::shared_ptr<const TokenTrie> Trie = TokenTrie::of(*T);
  Json Out = {{"vocabulary", Trie->vocab()}, {"trie_us", microseconds(Start)}};
  Start = now();
  (void)TokenTrie::map(Trie->image());
  Out["trie_map_us"] = microseconds(Start);
  Out["trie_bytes"] = Trie->image().size();
  std::map<std::string, Times> By;
  Times All;
  std::ifstream In(Argv[2]);
  for (std::string Line; std::getline(In, Line);) {
    Json Case = Json::parse(Line);
    if (Case.contains("must_refuse"))
      continue;
    Times One;
    timeCase(*T, Trie, Case, One);
    Times &Own = By[Case.value("category", std::string("all"))];
    for (Times *To : {&All, &Own}) {
      auto Append = [](std::vector<double> &A, const std::vector<double> &B) {
        A.insert(A.end(), B.begin(), B.end());
      };
      Append(To->Compile, One.Compile);
      Append(To->Mask, One.Mask);
      Append(To->Step, One.Step);
    }
  }
  By["all"] = All;
  for (const auto &[Name, Of] : By)
    Out["categories"][Name] = {{"compile_us", summary(Of.Compile)},
                               {"mask_us", summary(Of.Mask)},
                               {"accept_us", summary(Of.Step)}};
  std::printf("%s\n", Out.dump().c_str());
}
