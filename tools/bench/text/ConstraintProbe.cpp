// What a constraint does over a real vocabulary, for comparison with other
// implementations (fuzz_constraints.py). For each case of a .jsonl file
// ({"kind": schema|regex|grammar, "schema"|"text", "texts": [texts]}) prints
//
//   {"refused": why|null, "accepts": [bool], "samples": [texts], "faults": []}
//
// accepts: of the texts, cut into tokens in several ways, which must agree.
// samples: texts that random walks along the masks end with. faults: masks
// that differ from feeding each token byte by byte, dead ends, forced tokens
// that are not the only way, and cuts that disagree.
//
//   constraint-probe TOKENIZER_FOLDER CASES.jsonl [SAMPLES [SEED]]
#include "runtime/text/TokenizerCompiler.h"
#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/Constraint.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

using namespace llmc;
using namespace llmc::constraint;

namespace {

using Json = nlohmann::ordered_json;

Result<std::unique_ptr<Grammar>> compileCase(const Json &Case) {
  std::string Kind = Case.value("kind", std::string("schema"));
  if (Kind == "schema") {
    CompileOptions O;
    O.Whitespace = Case.value("whitespace", false);
    return compileSchema(Case["schema"].dump(), O);
  }
  std::string Text = Case["text"].get<std::string>();
  return compileConstraint(
      Kind == "regex" ? Dialect::Regex : guessDialect(Text), Text);
}

class Probe {
public:
  Probe(const Tokenizer &T, std::shared_ptr<const TokenTrie> Trie,
        std::unique_ptr<Grammar> G, uint32_t Seed)
      : T(T), Trie(Trie), C(std::move(G), Trie), Random(Seed) {}

  bool accepts(const std::string &Text) {
    Result<std::vector<int32_t>> Ids = T.encode(Text, {.AddSpecial = false});
    bool First = Ids.ok() ? feed(*Ids) : feed(cut(Text));
    for (int Round = 0; Round < 3; ++Round)
      if (feed(cut(Text)) != First)
        fault("cuts disagree about " + Text);
    return First;
  }

  /// Empty when the walk got too long.
  std::string sample(size_t MostTokens) {
    std::string Text;
    Constraint::State S;
    for (size_t I = 0; I < MostTokens; ++I) {
      std::span<const uint64_t> Mask = C.mask(S);
      if (!C.status().ok())
        return "";
      std::vector<int32_t> Good = allowed(Mask);
      if (Good.empty() && !C.mayEnd(S))
        fault("dead end behind " + Text);
      checkForced(S);
      if (Random() % 16 == 0)
        checkMask(S, Text);
      if (C.mayEnd(S) && (Good.empty() || Random() % 4 == 0))
        return Text;
      // Short tokens and those of ASCII more often, so that walks end.
      int32_t Id = Good[Random() % Good.size()];
      for (int Try = 0; Try < 6 && (Trie->bytes(Id).size() > 3 ||
                                    (Trie->bytes(Id)[0] & 0x80) != 0);
           ++Try)
        Id = Good[Random() % Good.size()];
      if (Random() % 3 == 0)
        for (int32_t Close : Good)
          if (std::string_view B = Trie->bytes(Close);
              B == "\"" || B == "}" || B == "]")
            Id = Close;
      bool Drops = I == 0 && Trie->dropsLeadingSpace() &&
                   Trie->bytes(Id).starts_with(' ');
      Text += Trie->bytes(Id).substr(Drops ? 1 : 0);
      S = C.accept(S, Id);
    }
    return "";
  }

  std::vector<std::string> Faults;

private:
  void fault(std::string Why) {
    if (Faults.size() < 5)
      Faults.push_back(std::move(Why));
  }
  static std::vector<int32_t> allowed(std::span<const uint64_t> Mask) {
    std::vector<int32_t> Ids;
    for (size_t W = 0; W < Mask.size(); ++W)
      for (uint64_t Bits = Mask[W]; Bits != 0; Bits &= Bits - 1)
        Ids.push_back(static_cast<int32_t>(
            W * 64 + static_cast<size_t>(__builtin_ctzll(Bits))));
    return Ids;
  }
  void checkMask(const Constraint::State &S, const std::string &Behind) {
    std::span<const uint64_t> Mask = C.mask(S);
    std::vector<uint64_t> Copy(Mask.begin(), Mask.end());
    for (size_t Id = 0; Id < Trie->vocab() && C.status().ok(); ++Id) {
      bool Has = (Copy[Id / 64] >> (Id % 64) & 1) != 0;
      bool Dead = C.dead(C.accept(S, static_cast<int32_t>(Id)));
      if (Has == Dead && C.status().ok())
        fault("token " + std::to_string(Id) + (Dead ? " is" : " is not") +
              " in the mask behind " + Behind);
    }
  }
  void checkForced(Constraint::State S) {
    std::vector<int32_t> Forced;
    C.forced(S, 8, Forced);
    for (int32_t Id : Forced) {
      for (int32_t Other : allowed(C.mask(S))) {
        std::string_view A = Trie->bytes(Id), B = Trie->bytes(Other);
        size_t Common = std::min(A.size(), B.size());
        if (A.substr(0, Common) != B.substr(0, Common))
          fault("token " + std::to_string(Id) + " is forced beside " +
                std::to_string(Other));
      }
      S = C.accept(S, Id);
      if (C.dead(S))
        return fault("token " + std::to_string(Id) + " is forced and dead");
    }
  }
  /// Random tokens that spell the text; byte tokens may be missing.
  std::vector<int32_t> cut(const std::string &Text) {
    std::vector<int32_t> Ids;
    for (size_t At = 0; At < Text.size();) {
      std::vector<int32_t> Fits;
      for (const TokenTrie::Tier &Tier : Trie->tiers())
        for (uint32_t I = 0; I < Tier.Nodes.size();) {
          const TokenTrie::Node &N = Tier.Nodes[I];
          if (At + N.Depth > Text.size() ||
              static_cast<uint8_t>(Text[At + N.Depth - 1]) != N.Byte) {
            I = N.End;
            continue;
          }
          auto [Begin, End] = TokenTrie::ranksAt(Tier, I++);
          for (uint32_t R = Begin; R < End; ++R)
            Fits.push_back(Trie->order()[R]);
        }
      if (Fits.empty())
        return {};
      Ids.push_back(Fits[Random() % Fits.size()]);
      At += Trie->bytes(Ids.back()).size();
    }
    return Ids;
  }
  bool feed(const std::vector<int32_t> &Ids) {
    Constraint::State S;
    for (int32_t Id : Ids) {
      std::span<const uint64_t> Mask = C.mask(S);
      bool Has = (Mask[static_cast<size_t>(Id) / 64] >> (Id % 64) & 1) != 0;
      S = C.accept(S, Id);
      if (Has == C.dead(S) && C.status().ok())
        fault("token " + std::to_string(Id) + " and its mask disagree");
      if (!Has)
        return false;
    }
    return C.mayEnd(S);
  }

  const Tokenizer &T;
  std::shared_ptr<const TokenTrie> Trie;
  Constraint C;
  std::minstd_rand Random;
};

} // namespace

int main(int Argc, char **Argv) {
  if (Argc < 3)
    return std::fprintf(
               stderr,
               "usage: constraint-probe FOLDER CASES.jsonl [SAMPLES [SEED]]\n"),
           2;
  int Samples = Argc > 3 ? std::atoi(Argv[3]) : 3;
  uint32_t Seed = Argc > 4 ? static_cast<uint32_t>(std::atoi(Argv[4])) : 1;
  Result<std::vector<uint8_t>> Image = compileTokenizer(Argv[1]);
  if (!Image.ok() || Image->empty())
    return std::fprintf(stderr, "no tokenizer in %s\n", Argv[1]), 4;
  Result<Tokenizer> T = Tokenizer::load(*Image);
  std::shared_ptr<const TokenTrie> Trie = TokenTrie::of(*T);
  std::ifstream In(Argv[2]);
  for (std::string Line; std::getline(In, Line);) {
    Json Case = Json::parse(Line), Out;
    Result<std::unique_ptr<Grammar>> G = compileCase(Case);
    Out["refused"] = G.ok() ? Json() : Json(G.status().message());
    Out["accepts"] = Out["samples"] = Out["faults"] = Json::array();
    if (G.ok()) {
      Probe P(*T, Trie, G.take(), Seed++);
      for (const Json &Text : Case.value("texts", Json::array()))
        Out["accepts"].push_back(P.accepts(Text.get<std::string>()));
      for (int I = 0; I < Samples; ++I)
        if (std::string Text = P.sample(400); !Text.empty())
          Out["samples"].push_back(Text);
      for (const std::string &Why : P.Faults)
        Out["faults"].push_back(Why);
    }
    std::printf(
        "%s\n",
        Out.dump(-1, ' ', true, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
  }
}
