// llmc-run as a program: output shapes, exit codes, error lines, what it
// links.
#include "test/runtime/api/TestArtifact.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Outcome {
  int Code;
  std::string Out, Error;
  Json json() const { return Json::parse(Out, nullptr, false); }
};

std::string slurp(const fs::path &P) {
  std::ifstream F(P, std::ios::binary);
  std::stringstream S;
  S << F.rdbuf();
  return S.str();
}

class RunProgram : public testing::Test {
protected:
  void SetUp() override {
    Folder =
        fs::path(testing::TempDir()) / ("llmc-run-" + std::to_string(getpid()));
    fs::create_directories(Folder);
  }
  void TearDown() override { fs::remove_all(Folder); }

  /// Runs the dispatcher by a shell; ART stands for the artifact.
  Outcome run(std::string Line, bool Int8 = false) {
    std::string Art = llmc::test::testArtifact(Int8);
    for (size_t At; (At = Line.find("ART")) != std::string::npos;)
      Line.replace(At, 3, Art);
    std::string Command = std::string(LLMC_PROGRAM) + " " + Line + " >" +
                          path("out") + " 2>" + path("err") + " </dev/null";
    int Status = std::system(Command.c_str());
    return {WIFEXITED(Status) ? WEXITSTATUS(Status) : -1, slurp(Folder / "out"),
            slurp(Folder / "err")};
  }
  std::string path(const std::string &Name) { return (Folder / Name).string(); }
  void write(const std::string &Name, const std::string &Text) {
    std::ofstream(Folder / Name) << Text;
  }
  fs::path Folder;
};

TEST_F(RunProgram, JsonHasTheDocumentedMembers) {
  Outcome R = run("run ART --tokens 5,6,7 --max-tokens 4 --temperature 0 "
                  "--ignore-eos --json --device cpu");
  ASSERT_EQ(R.Code, 0) << R.Error;
  EXPECT_EQ(R.Error, "");
  Json J = R.json();
  EXPECT_EQ(J["tokens"].size(), 4u);
  EXPECT_TRUE(J["text"].is_string());
  EXPECT_EQ(J["finish_reason"], "length");
  EXPECT_TRUE(J["stop"].is_null());
  EXPECT_EQ(J["usage"]["prompt_tokens"], 3);
  EXPECT_EQ(J["usage"]["completion_tokens"], 4);
  for (const char *Key : {"load_ms", "prefill_ms", "decode_ms"})
    EXPECT_TRUE(J["timings"][Key].is_number()) << Key;
  EXPECT_EQ(J["device"], "cpu");
}

TEST_F(RunProgram, TextIsWhatJsonSays) {
  std::string Same = " --max-tokens 6 --ignore-eos --seed 3 --temperature 1";
  Outcome Text = run("run ART 'The rain'" + Same);
  Outcome J = run("run ART 'The rain' --json" + Same);
  ASSERT_EQ(Text.Code, 0) << Text.Error;
  EXPECT_EQ(Text.Out, J.json()["text"].get<std::string>() + "\n");
  Outcome Raw = run("run ART 'The rain' --raw --json" + Same);
  EXPECT_LT(Raw.json()["usage"]["prompt_tokens"],
            J.json()["usage"]["prompt_tokens"]);
}

TEST_F(RunProgram, LogitsGoToNpy) {
  Outcome R = run("run ART --tokens 5,6,7 --max-tokens 1 --logits all "
                  "--logits-out " +
                  path("l.npy") + " --json");
  ASSERT_EQ(R.Code, 0) << R.Error;
  std::string Npy = slurp(Folder / "l.npy");
  EXPECT_EQ(Npy.substr(0, 6), "\x93NUMPY");
  size_t Header =
      10 + static_cast<uint8_t>(Npy[8]) + 256 * static_cast<uint8_t>(Npy[9]);
  EXPECT_EQ(Header % 64, 0u);
  EXPECT_NE(Npy.find("'shape': (3,"), std::string::npos);
  EXPECT_EQ((Npy.size() - Header) % 12, 0u);
  EXPECT_EQ(run("run ART --tokens 5 --logits last").Code, 2);
}

TEST_F(RunProgram, BatchEqualsAlone) {
  write("b.jsonl", "{\"tokens\":[5,6,7],\"max_tokens\":3}\n"
                   "\n"
                   "{\"prompt\":\"rain\",\"max_tokens\":5,\"seed\":2,"
                   "\"temperature\":0.9}\n"
                   "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
                   "\"max_tokens\":1}\n");
  Outcome R = run("run ART --ignore-eos --logits last --logits-out " +
                      path("d") + " --batch " + path("b.jsonl"),
                  true);
  ASSERT_EQ(R.Code, 0) << R.Error;
  std::vector<Json> Lines;
  std::istringstream In(R.Out);
  for (std::string L; std::getline(In, L);)
    Lines.push_back(Json::parse(L));
  ASSERT_EQ(Lines.size(), 3u);
  Outcome A = run("run ART --ignore-eos --json --tokens 5,6,7 --max-tokens 3 "
                  "--logits last --logits-out " +
                      path("a.npy"),
                  true);
  EXPECT_EQ(Lines[0]["tokens"], A.json()["tokens"]);
  EXPECT_EQ(slurp(Folder / "d/0.npy"), slurp(Folder / "a.npy"));
  Outcome B = run("run ART rain --ignore-eos --json --max-tokens 5 --seed 2 "
                  "--temperature 0.9",
                  true);
  EXPECT_EQ(Lines[1]["tokens"], B.json()["tokens"]);
}

TEST_F(RunProgram, BatchErrorsNameTheLine) {
  write("b.jsonl", "{\"tokens\":[5]}\n{\"prompt\":1}\n");
  Outcome R = run("run ART --batch " + path("b.jsonl"));
  EXPECT_EQ(R.Code, 4);
  EXPECT_EQ(R.Error, "llmc: error: " + path("b.jsonl") +
                         ", line 2: prompt is not a text\n");
  write("b.jsonl", "{\"tokens\":[5],\"tool_choice\":{}}\n");
  EXPECT_EQ(run("run ART --batch " + path("b.jsonl")).Code, 3);
}

TEST_F(RunProgram, BatchNumbersDoNotWrap) {
  const std::pair<const char *, const char *> Cases[] = {
      {"\"max_tokens\":4294967299", "max_tokens is 4294967299, expected 0 to "},
      {"\"max_tokens\":-1", "max_tokens is -1, expected 0 to 4294967295"},
      {"\"top_k\":4294967297", "top_k is 4294967297, expected -2147483648 to "},
      {"\"top_k\":18446744073709551615", "top_k is 18446744073709551615, "},
      {"\"seed\":-1", "seed is -1, expected 0 to 18446744073709551615"},
      {"\"max_tokens\":3.5", "max_tokens is 3.5, expected an integer"}};
  for (const auto &[Member, Message] : Cases) {
    write("b.jsonl",
          "{\"tokens\":[5]}\n{\"tokens\":[5]," + std::string(Member) + "}\n");
    Outcome R = run("run ART --batch " + path("b.jsonl"));
    EXPECT_EQ(R.Code, 4) << Member;
    EXPECT_EQ(R.Error.find("llmc: error: " + path("b.jsonl") +
                           ", line 2: " + Message),
              0u)
        << R.Error;
  }
  write("b.jsonl", "{\"tokens\":[18446744073709551615]}\n");
  EXPECT_EQ(run("run ART --batch " + path("b.jsonl")).Code, 4);
}

TEST_F(RunProgram, TokenizeRoundTrip) {
  Outcome R = run("tokenize ART 'The rain' --json");
  ASSERT_EQ(R.Code, 0) << R.Error;
  EXPECT_EQ(R.json()["ids"].size(), R.json()["tokens"].size());
  std::string Ids = run("tokenize ART 'The rain' --no-special").Out;
  Ids.pop_back();
  Outcome Back = run("tokenize ART --decode " + Ids + " --json");
  EXPECT_EQ(Back.json()["text"], "The rain");
}

TEST_F(RunProgram, EvalOfItselfIsExact) {
  std::string Text;
  for (int I = 0; I < 40; ++I)
    Text += "The rain in the train and the inner pain of 1999. ";
  write("t.txt", Text);
  Outcome R = run("eval ART --reference ART --json --text " + path("t.txt"));
  ASSERT_EQ(R.Code, 0) << R.Error;
  Json J = R.json();
  EXPECT_GT(J["perplexity"], 1);
  EXPECT_NEAR(J["kl_mean"].get<double>(), 0, 1e-6);
  EXPECT_EQ(J["same_top"], 1);
  EXPECT_EQ(J["perplexity"], J["perplexity_reference"]);
  Outcome Int8 = run("eval ART --reference " + llmc::test::testArtifact() +
                         " --json --text " + path("t.txt"),
                     true);
  ASSERT_EQ(Int8.Code, 0) << Int8.Error;
  J = Int8.json();
  // Another precision of the synthetic model has other weights.
  for (const char *Key : {"kl_mean", "kl_p99", "kl_mean_prompt"})
    EXPECT_GT(J[Key], 0) << Key;
  for (const char *Key : {"same_top", "same_top_prompt"})
    EXPECT_LT(J[Key], 1) << Key;
}

TEST_F(RunProgram, VerifyFindsAFlippedBit) {
  EXPECT_EQ(run("verify ART").Code, 0);
  std::string Bytes = slurp(llmc::test::testArtifact());
  Bytes[Bytes.size() - 100] ^= 1;
  write("bad.llmc", Bytes);
  EXPECT_EQ(run("verify " + path("bad.llmc")).Code, 6);
  write("short.llmc", Bytes.substr(0, Bytes.size() / 2));
  Outcome R = run("run " + path("short.llmc") + " --tokens 1");
  EXPECT_EQ(R.Code, 4);
  EXPECT_EQ(R.Error.find("llmc: error: "), 0u);
}

TEST_F(RunProgram, WrongUsage) {
  for (const char *Line :
       {"", "bogus", "run", "run ART --max-tokens x", "run ART --tokens 1,,2",
        "run ART --tokens 999999", "run ART --tokens 1 --temperature -1",
        "run ART x --tokens 1", "run ART --device abacus --tokens 1",
        "tokenize ART --decode x"}) {
    Outcome R = run(Line);
    EXPECT_EQ(R.Code, 2) << Line;
    if (*Line) {
      EXPECT_EQ(R.Error.find("llmc: error: "), 0u) << Line << R.Error;
    }
  }
  EXPECT_EQ(run("run ART --tokens 1 --beams 4 --stop x").Code, 2);
  EXPECT_EQ(run("run ART --tokens 1 --speculate hard").Code, 2);
  EXPECT_EQ(run("run ART --tokens 1 --logit-bias 5").Code, 2);
  EXPECT_EQ(run("run /no/such.llmc x").Code, 4);
}

TEST_F(RunProgram, PromptLongerThanTheContext) {
  std::string Ids = "5";
  for (int I = 0; I < 1100; ++I)
    Ids += ",5";
  Outcome R = run("run ART --tokens " + Ids);
  EXPECT_EQ(R.Code, 5);
  EXPECT_EQ(R.Error, "llmc: error: prompt of 1101 tokens, the context holds "
                     "1024\n");
}

TEST_F(RunProgram, HelpHasAnExample) {
  for (const char *Command : {"run", "chat", "eval", "bench", "tokenize",
                              "render", "inspect", "verify", "plan"}) {
    Outcome R = run(std::string(Command) + " --help");
    EXPECT_EQ(R.Code, 0) << Command;
    EXPECT_NE(R.Out.find("Example: llmc " + std::string(Command)),
              std::string::npos)
        << Command;
  }
}

TEST_F(RunProgram, PlanAndInspect) {
  Outcome R = run("plan ART --json");
  ASSERT_EQ(R.Code, 0) << R.Error;
  EXPECT_EQ(R.json()["targets"][0]["largest_context"], 1024);
  EXPECT_EQ(run("plan ART --memory-budget 1kB").Code, 5);
  EXPECT_EQ(run("plan ART --memory-budget lots").Code, 2);
  EXPECT_EQ(run("inspect ART --json").Code, 0);
}

TEST_F(RunProgram, ChatAnswersLines) {
  std::string Art = llmc::test::testArtifact();
  std::string Command = "printf 'hello\\n/undo\\n/help\\n/exit\\n' | " +
                        std::string(LLMC_PROGRAM) + " chat " + Art +
                        " --max-tokens 3 >" + path("out") + " 2>" + path("err");
  EXPECT_EQ(std::system(Command.c_str()), 0);
  EXPECT_NE(slurp(Folder / "err").find("/reset"), std::string::npos);
}

TEST_F(RunProgram, DebugRunsCases) {
  write("stop.jsonl", R"({"pieces":["ab","cd"],"stop":["bc"],"end":"eos"})");
  Outcome R = run("debug stop " + path("stop.jsonl"));
  ASSERT_EQ(R.Code, 0) << R.Error;
  EXPECT_EQ(R.json()["expect_text"], "a");
  EXPECT_EQ(R.json()["expect_stop"], "bc");
  write("sample.jsonl", R"({"logits":[0,2,1],"params":{"temperature":0}})");
  R = run("debug sample " + path("sample.jsonl"));
  EXPECT_EQ(R.json()["probs"], Json({0.0, 1.0, 0.0}));
  write("render.jsonl", R"({"template":"{{ x","vars":{}})");
  R = run("debug render " + path("render.jsonl"));
  EXPECT_TRUE(R.json()["error"].is_string());
  write("tokens.jsonl", R"({"text":"rain"})");
  R = run("debug tokenize " LLMC_TEST_INPUTS "/text/llama3-small.json " +
          path("tokens.jsonl"));
  EXPECT_EQ(R.json()["decoded_skip_special"], "rain");
  EXPECT_EQ(run("debug beam " + path("tokens.jsonl")).Code, 4);
  EXPECT_EQ(run("debug magic " + path("tokens.jsonl")).Code, 3);
}

TEST_F(RunProgram, InterruptEndsWith130) {
  // It waits for its prompt when the signal comes.
  std::string Command = "sleep 6 | timeout --preserve-status -s INT 4 " +
                        std::string(LLMC_RUN_PROGRAM) + " run " +
                        llmc::test::testArtifact() + " - >/dev/null 2>" +
                        path("err");
  int Status = std::system(Command.c_str());
  ASSERT_TRUE(WIFEXITED(Status));
  EXPECT_EQ(WEXITSTATUS(Status), 130);
  EXPECT_EQ(slurp(Folder / "err"), "llmc: error: interrupted\n");
}

TEST_F(RunProgram, LinksNoCompiler) {
  std::string Command =
      std::string("ldd ") + LLMC_RUN_PROGRAM + " >" + path("out");
  ASSERT_EQ(std::system(Command.c_str()), 0);
  std::string Libraries = slurp(Folder / "out");
  for (const char *Bad : {"LLVM", "MLIR", "protobuf", "nvrtc", "python"})
    EXPECT_EQ(Libraries.find(Bad), std::string::npos) << Bad;
}

} // namespace
