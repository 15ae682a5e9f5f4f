// Merges of random vocabularies, also those that no trainer would make, against
// the rule itself: the lowest rank first, the leftmost among equals.
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <unistd.h>

using namespace llmc;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

using Pair = std::pair<std::string, std::string>;

Result<Tokenizer> tokenizerOf(const Json &Model) {
  fs::path Path = fs::temp_directory_path() /
                  ("llmc-bpe-" + std::to_string(getpid()) + ".d");
  fs::create_directories(Path);
  std::ofstream(Path / "tokenizer.json")
      << Json{{"version", "1.0"}, {"model", Model}}.dump();
  Result<std::vector<uint8_t>> Image = compileTokenizer(Path.string());
  fs::remove_all(Path);
  if (!Image.ok())
    return Image.status();
  return Tokenizer::load(*Image);
}

struct Merges {
  std::vector<std::string> Vocab{"a", "b", "c"};
  std::map<Pair, size_t> Rank;

  Merges(std::mt19937 &R, size_t Count) {
    std::vector<Pair> List;
    for (int Try = 0; Rank.size() < Count && Try < 1000; ++Try) {
      Pair P(Vocab[R() % Vocab.size()], Vocab[R() % Vocab.size()]);
      if (P.first.size() + P.second.size() > 12 || !Rank.emplace(P, 0).second)
        continue;
      List.push_back(P);
      std::string Both = P.first + P.second;
      if (std::find(Vocab.begin(), Vocab.end(), Both) == Vocab.end())
        Vocab.push_back(Both);
    }
    std::shuffle(List.begin(), List.end(), R);
    for (size_t I = 0; I < List.size(); ++I)
      Rank[List[I]] = I;
  }
  Json model() const {
    Json Out = {{"type", "BPE"}, {"vocab", Json::object()}};
    for (size_t I = 0; I < Vocab.size(); ++I)
      Out["vocab"][Vocab[I]] = I;
    std::vector<Json> List(Rank.size());
    for (const auto &[P, At] : Rank)
      List[At] = {P.first, P.second};
    Out["merges"] = List;
    return Out;
  }
  std::vector<int32_t> apply(const std::string &Text) const {
    std::vector<std::string> Parts;
    for (char C : Text)
      Parts.push_back(std::string(1, C));
    while (true) {
      size_t Best = 0, Lowest = SIZE_MAX;
      for (size_t I = 0; I + 1 < Parts.size(); ++I)
        if (auto It = Rank.find({Parts[I], Parts[I + 1]});
            It != Rank.end() && It->second < Lowest)
          Best = I, Lowest = It->second;
      if (Lowest == SIZE_MAX)
        break;
      Parts[Best] += Parts[Best + 1];
      Parts.erase(Parts.begin() + static_cast<ptrdiff_t>(Best) + 1);
    }
    std::vector<int32_t> Ids;
    for (const std::string &Part : Parts)
      Ids.push_back(static_cast<int32_t>(
          std::find(Vocab.begin(), Vocab.end(), Part) - Vocab.begin()));
    return Ids;
  }
};

TEST(Bpe, MergesAsTheRuleSays) {
  std::mt19937 R(3);
  for (int Round = 0; Round < 40; ++Round) {
    Merges M(R, 3 + R() % 30);
    Result<Tokenizer> T = tokenizerOf(M.model());
    ASSERT_TRUE(T.ok()) << T.status().message();
    std::string Text;
    for (unsigned I = 0, N = 1 + R() % 400; I < N; ++I)
      Text += M.Vocab[R() % 3];
    EXPECT_EQ(*T->encode(Text, {.AddSpecial = false}), M.apply(Text))
        << M.model().dump() << Text;
  }
}

// Long pieces are merged otherwise. A text that is many times a shorter one,
// with a character between that nothing merges with, has its tokens many times.
TEST(Bpe, MergesLongPiecesAsShortOnes) {
  std::mt19937 R(4);
  for (int Round = 0; Round < 40; ++Round) {
    Merges M(R, 3 + R() % 30);
    M.Vocab.push_back("-");
    Result<Tokenizer> T = tokenizerOf(M.model());
    ASSERT_TRUE(T.ok()) << T.status().message();
    std::string Text;
    std::vector<int32_t> Ids;
    while (Text.size() < 5000) {
      std::string Part;
      for (unsigned I = 0, N = 1 + R() % 60; I < N; ++I)
        Part += M.Vocab[R() % 3];
      Text += Part + "-";
      std::vector<int32_t> More = M.apply(Part);
      Ids.insert(Ids.end(), More.begin(), More.end());
      Ids.push_back(static_cast<int32_t>(M.Vocab.size()) - 1);
    }
    EXPECT_EQ(*T->encode(Text, {.AddSpecial = false}), Ids)
        << M.model().dump() << Text;
  }
}

TEST(Bpe, RefusesDropout) {
  std::mt19937 R(5);
  Json Model = Merges(R, 3).model();
  for (const Json &Good : {Json(nullptr), Json(0), Json(0.0)}) {
    Model["dropout"] = Good;
    EXPECT_TRUE(tokenizerOf(Model).ok()) << Good.dump();
  }
  Model["dropout"] = 0.1;
  EXPECT_NE(tokenizerOf(Model).status().message().find("dropout is 0.1"),
            std::string::npos);
}

} // namespace
