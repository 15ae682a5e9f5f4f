// Times constraints over a vocabulary: compiles each case of a .jsonl file
// ({"schema", "accept": [texts]}), cuts its texts into tokens, and before each
// token computes the mask. Prints one JSON object with times in microseconds.
//
//   mask-bench TOKENIZER_FOLDER CASES.jsonl
#include "runtime/text/TokenizerCompiler.h"
#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/Constraint.h"

#include <algorithm>
#include <cstdio>
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

} // namespace

int main(int Argc, char **Argv) {
  if (Argc != 3)
    return std::fprintf(stderr, "usage: mask-bench FOLDER CASES.jsonl\n"), 2;
  Result<std::vector<uint8_t>> Image = compileTokenizer(Argv[1]);
  if (!Image.ok() || Image->empty())
    return std::fprintf(stderr, "no tokenizer in %s\n", Argv[1]), 4;
  Result<Tokenizer> T = Tokenizer::load(*Image);
  double Start = now();
  std::shared_ptr<const TokenTrie> Trie = TokenTrie::of(*T);
  double TrieTime = microseconds(Start);
  std::vector<double> Compile, Masks, Steps;
  std::ifstream In(Argv[2]);
  for (std::string Line; std::getline(In, Line);) {
    Json Case = Json::parse(Line);
    if (Case.contains("must_refuse"))
      continue;
    Start = now();
    Result<std::unique_ptr<Grammar>> G =
        compileSchema(Case["schema"].dump(), {});
    if (!G.ok())
      continue;
    Constraint C(G.take(), Trie);
    Compile.push_back(microseconds(Start));
    for (const Json &Text : Case["accept"]) {
      Result<std::vector<int32_t>> Ids =
          T->encode(Text.get<std::string>(), {.AddSpecial = false});
      Constraint::State S;
      for (int32_t Id : *Ids) {
        Start = now();
        std::span<const uint64_t> Mask = C.mask(S);
        Masks.push_back(microseconds(Start));
        if ((Mask[static_cast<size_t>(Id) / 64] >> (Id % 64) & 1) == 0)
          std::fprintf(stderr, "token %d is not allowed in %s\n", Id,
                       Text.dump().c_str());
        Start = now();
        S = C.accept(S, Id);
        Steps.push_back(microseconds(Start));
      }
    }
  }
  Json Out = {{"vocabulary", Trie->vocab()},
              {"trie_us", TrieTime},
              {"compile_us", summary(Compile)},
              {"mask_us", summary(Masks)},
              {"accept_us", summary(Steps)}};
  std::printf("%s\n", Out.dump().c_str());
}
