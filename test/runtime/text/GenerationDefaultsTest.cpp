// Files beside a model: sampling defaults and the chat template.
#include "runtime/text/GenerationDefaults.h"
#include "runtime/text/ChatTemplate.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace llmc;
namespace fs = std::filesystem;

namespace {

class GenerationDefaultsTest : public testing::Test {
protected:
  void SetUp() override {
    Folder = fs::path(testing::TempDir()) /
             testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(Folder);
  }
  void TearDown() override { fs::remove_all(Folder); }
  void write(const std::string &Name, const std::string &Text) {
    std::ofstream(Folder / Name) << Text;
  }
  GenerationDefaults defaults() {
    Result<std::string> J = compileGenerationDefaults(Folder.string());
    EXPECT_TRUE(J.ok()) << J.status().message();
    Result<GenerationDefaults> D = readGenerationDefaults(*J);
    EXPECT_TRUE(D.ok()) << D.status().message();
    return D.take();
  }
  fs::path Folder;
};

TEST_F(GenerationDefaultsTest, GreedyUnlessTheFileSamples) {
  write("generation_config.json",
        R"({"eos_token_id":[2,7],"bos_token_id":1,"temperature":0.6})");
  write("tokenizer_config.json",
        R"({"bos_token":{"content":"<s>"},"eos_token":"</s>"})");
  GenerationDefaults D = defaults();
  EXPECT_EQ(D.Temperature, 0);
  EXPECT_EQ(D.EosIds, (std::vector<int32_t>{2, 7}));
  EXPECT_EQ(D.BosId, 1);
  EXPECT_EQ(D.BosToken, "<s>");
  EXPECT_EQ(D.EosToken, "</s>");
}

TEST_F(GenerationDefaultsTest, SamplingFields) {
  write("generation_config.json",
        R"({"do_sample":true,"temperature":0.6,"top_p":0.9,)"
        R"("repetition_penalty":1.1})");
  write("config.json", R"({"eos_token_id":3})");
  GenerationDefaults D = defaults();
  EXPECT_FLOAT_EQ(D.Temperature, 0.6f);
  EXPECT_FLOAT_EQ(D.TopP, 0.9f);
  EXPECT_EQ(D.TopK, 50);
  EXPECT_FLOAT_EQ(D.RepetitionPenalty, 1.1f);
  EXPECT_EQ(D.EosIds, std::vector<int32_t>{3});
}

TEST_F(GenerationDefaultsTest, BadValuesAreNamed) {
  write("generation_config.json", R"({"do_sample":true,"top_p":"high"})");
  Result<std::string> J = compileGenerationDefaults(Folder.string());
  ASSERT_FALSE(J.ok());
  EXPECT_EQ(J.status().message(), "generation_config.json: top_p is \"high\", "
                                  "expected a number from 0 to 1");
}

TEST_F(GenerationDefaultsTest, ChatTemplateOfTheConfig) {
  EXPECT_EQ(*compileChatTemplate(Folder.string()), "");
  write("tokenizer_config.json", R"({"chat_template":[{"name":"tool",)"
                                 R"("template":"t"},{"name":"default",)"
                                 R"("template":"{{ messages[0].role }}"}]})");
  EXPECT_EQ(*compileChatTemplate(Folder.string()), "{{ messages[0].role }}");
  // With tools, the one for tools; white space at the ends stays.
  write("tokenizer_config.json", R"({"chat_template":[{"name":"tool_use",)"
                                 R"("template":"\n T "},{"name":"default",)"
                                 R"("template":"\n D \n"}]})");
  Result<ChatTemplate> Both =
      ChatTemplate::compile(*compileChatTemplate(Folder.string()));
  ASSERT_TRUE(Both.ok());
  EXPECT_EQ(*Both->render(R"({"tools":[]})"), "\n T ");
  EXPECT_EQ(*Both->render(R"({"tools":null})"), "\n D ");
  write("chat_template.jinja", "{{ x }}");
  EXPECT_EQ(*compileChatTemplate(Folder.string()), "{{ x }}");
  write("chat_template.jinja", "{% oops %}");
  EXPECT_EQ(compileChatTemplate(Folder.string()).status().message(),
            "chat_template.jinja: chat template, line 1, column 4: unknown "
            "tag 'oops'");
}

TEST(ChatVariables, RefusesWhatIsNoList) {
  GenerationDefaults D;
  EXPECT_TRUE(chatVariables({.Messages = "[]"}, D).ok());
  EXPECT_EQ(chatVariables({.Messages = "{}"}, D).status().message(),
            "messages are an object, expected a list such as [{\"role\": "
            "\"user\", \"content\": \"hi\"}]");
  EXPECT_EQ(chatVariables({.Messages = "[1"}, D).status().message(),
            "messages: not JSON at byte 2 of 2");
  EXPECT_EQ(
      chatVariables({.Messages = "[]", .Documents = "1"}, D).status().message(),
      "documents are '1', expected a list");
  EXPECT_EQ(chatVariables({.Messages = "[]", .Variables = "[]"}, D)
                .status()
                .message(),
            "variables are not a JSON object");
}

TEST(ChatVariables, FurtherVariablesWin) {
  GenerationDefaults D;
  D.BosToken = "<s>";
  Result<ChatTemplate> T = ChatTemplate::compile(
      "{{ bos_token }}|{{ thinking }}|{{ documents[0].t }}|{{ tools }}");
  ASSERT_TRUE(T.ok());
  Result<std::string> V =
      chatVariables({.Messages = "[]",
                     .Documents = R"([{"t":"D"}])",
                     .Variables = R"({"thinking":true,"bos_token":"<b>"})"},
                    D);
  ASSERT_TRUE(V.ok());
  EXPECT_EQ(*T->render(*V), "<b>|True|D|None");
  EXPECT_EQ(*chatVariables({.Messages = "[]", .Variables = "{}"}, D),
            *chatVariables({.Messages = "[]"}, D));
}

} // namespace
