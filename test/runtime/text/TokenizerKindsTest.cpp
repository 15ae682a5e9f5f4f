// Small tokenizers of every kind against the reference libraries; the cases
// are made by test/Inputs/text/make_tokenizers.py.
#include "runtime/text/Detokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"
#include "runtime/text/Utf8.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <unistd.h>

using namespace llmc;
using Json = nlohmann::json;
using Ids = std::vector<int32_t>;
namespace fs = std::filesystem;

namespace {

int sextet(char C) {
  static const std::string Digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return static_cast<int>(Digits.find(C));
}

std::string fromBase64(const std::string &Text) {
  std::string Out;
  unsigned Bits = 0, Count = 0;
  for (char C : Text) {
    if (C == '=')
      break;
    Bits = Bits << 6 | static_cast<unsigned>(sextet(C));
    Count += 6;
    if (Count >= 8)
      Out.push_back(static_cast<char>(Bits >> (Count -= 8) & 0xFF));
  }
  return Out;
}

/// A folder with the files of an entry, gone at the end of the scope.
struct Folder {
  explicit Folder(const Json &Files) {
    Path =
        fs::temp_directory_path() / ("llmc-kinds-" + std::to_string(getpid()));
    fs::remove_all(Path);
    fs::create_directory(Path);
    for (auto It = Files.begin(); It != Files.end(); ++It)
      std::ofstream(Path / It.key(), std::ios::binary)
          << (It->is_string() ? It->get<std::string>()
                              : fromBase64((*It)["base64"]));
  }
  ~Folder() { fs::remove_all(Path); }
  fs::path Path;
};

void expectIds(const Tokenizer &T, const Json &Case, const char *Key,
               const EncodeOptions &O) {
  if (!Case.contains(Key))
    return;
  Result<Ids> Got = T.encode(Case["text"].get<std::string>(), O);
  ASSERT_TRUE(Got.ok()) << Got.status().message();
  EXPECT_EQ(*Got, Case[Key].get<Ids>()) << Case << " " << Key;
}

void expectTexts(const Tokenizer &T, const Json &Case) {
  for (bool Skip : {false, true}) {
    const char *Key = Skip ? "decoded_skip_special" : "decoded";
    if (Case.contains(Key))
      EXPECT_EQ(T.decode(Case["ids"].get<Ids>(), Skip), Case[Key]) << Case;
  }
}

/// The pieces of the stream are the text.
void expectStream(const Tokenizer &T, const std::vector<int32_t> &Tokens) {
  Detokenizer D(T, false);
  std::string Streamed;
  for (int32_t Id : Tokens)
    Streamed += D.push(Id);
  EXPECT_EQ(Streamed + D.finish(), T.decode(Tokens));
}

/// Any ids: no piece is half a character, and together they are the text.
/// Where bytes do not make a character the whole run is replaced in the text,
/// but not what the stream has given out of it.
void expectRandomStreams(const Tokenizer &T, std::mt19937 &Random) {
  for (int Round = 0; Round < 60; ++Round) {
    Ids Tokens(1 + Random() % 12);
    for (int32_t &Id : Tokens)
      Id = static_cast<int32_t>(Random() % (T.vocabSize() + 3));
    for (bool Skip : {false, true}) {
      Detokenizer D(T, Skip);
      std::string Streamed;
      for (size_t I = 0; I <= Tokens.size(); ++I) {
        std::string Piece = I < Tokens.size() ? D.push(Tokens[I]) : D.finish();
        EXPECT_EQ(findBadUtf8(Piece), std::string_view::npos)
            << Json(Tokens).dump();
        Streamed += Piece;
      }
      std::string Text = T.decode(Tokens, Skip);
      if (Text.find("\xEF\xBF\xBD") == std::string::npos)
        EXPECT_EQ(Streamed, Text) << Json(Tokens).dump() << Skip;
    }
  }
}

void compare(const Json &Entry) {
  SCOPED_TRACE(Entry["name"].get<std::string>());
  Folder F(Entry["files"]);
  Result<std::vector<uint8_t>> Image = compileTokenizer(F.Path.string());
  ASSERT_TRUE(Image.ok()) << Image.status().message();
  Result<Tokenizer> T = Tokenizer::load(*Image);
  ASSERT_TRUE(T.ok()) << T.status().message();
  for (const Json &Case : Entry["cases"]) {
    expectIds(*T, Case, "ids", {});
    expectIds(*T, Case, "ids_no_special", {.AddSpecial = false});
    expectIds(*T, Case, "ids_literal",
              {.AddSpecial = false, .SpecialAsText = true});
    if (Case.contains("ids")) {
      expectTexts(*T, Case);
      expectStream(*T, Case["ids"].get<Ids>());
    }
  }
  for (const Json &Case : Entry["decode"])
    expectTexts(*T, Case);
  std::mt19937 Random(7);
  expectRandomStreams(*T, Random);
  for (const Json &Case : Entry["pairs"]) {
    Result<PairEncoding> E = T->encodePair(Case["text"].get<std::string>(),
                                           Case["pair"].get<std::string>());
    ASSERT_TRUE(E.ok()) << E.status().message();
    EXPECT_EQ(E->Ids, Case["ids"].get<Ids>()) << Case;
    EXPECT_EQ(E->TypeIds, Case["type_ids"].get<Ids>()) << Case;
  }
}

class Kinds : public testing::TestWithParam<const char *> {};

TEST_P(Kinds, GiveWhatTheReferenceLibrariesGive) {
  std::ifstream File(std::string(LLMC_TEST_INPUTS "/text/") + GetParam());
  int Count = 0;
  for (std::string Line; std::getline(File, Line); ++Count)
    compare(Json::parse(Line));
  EXPECT_GT(Count, 10);
}

// Usual ones, configurations that no trainer makes, and tokenizer.json with
// settings beside it.
INSTANTIATE_TEST_SUITE_P(TokenizerKinds, Kinds,
                         testing::Values("tokenizers.jsonl",
                                         "tokenizers-odd.jsonl",
                                         "tokenizers-configured.jsonl"));

} // namespace
