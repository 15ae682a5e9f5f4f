// The template language against jinja2 (one feature per case), whole chat
// templates against transformers, and the limits of the sandbox.
#include "runtime/text/ChatTemplate.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace llmc;
using Json = nlohmann::ordered_json;

namespace {

/// The clock of the cases: 2026-07-26 14:05:09.
std::tm clockOfCases() {
  std::tm T = {};
  T.tm_year = 126, T.tm_mon = 6, T.tm_mday = 26;
  T.tm_hour = 14, T.tm_min = 5, T.tm_sec = 9;
  std::mktime(&T);
  return T;
}

Result<std::string> render(const std::string &Source, const Json &Variables) {
  LLMC_ASSIGN_OR_RETURN(ChatTemplate T, ChatTemplate::compile(Source));
  std::tm Clock = clockOfCases();
  return T.render(Variables.dump(), &Clock);
}

void check(const std::string &Source, const Json &Variables, const Json &Case) {
  Result<std::string> R = render(Source, Variables);
  if (Case.contains("expected")) {
    ASSERT_TRUE(R.ok()) << Case.dump() << "\n" << R.status().message();
    EXPECT_EQ(*R, Case["expected"].get<std::string>()) << Case.dump();
    return;
  }
  ASSERT_FALSE(R.ok()) << Case.dump();
  if (Case["error"]["kind"] != "raise_exception")
    return;
  std::string Message = Case["error"]["message"];
  EXPECT_NE(R.status().message().find(Message), std::string::npos)
      << R.status().message();
}

std::ifstream input(const std::string &Name) {
  return std::ifstream(std::string(LLMC_TEST_INPUTS) + "/text/" + Name);
}

class Stored : public testing::TestWithParam<const char *> {};

TEST_P(Stored, RenderAsTheReference) {
  std::ifstream File = input(GetParam());
  std::string Line;
  ASSERT_TRUE(std::getline(File, Line));
  Json Variables = Json::parse(Line)["vars"];
  int Count = 0;
  for (; std::getline(File, Line); ++Count) {
    Json Case = Json::parse(Line);
    check(Case["template"], Variables, Case);
  }
  EXPECT_GT(Count, 100);
}

INSTANTIATE_TEST_SUITE_P(ChatTemplate, Stored,
                         testing::Values("template-features.jsonl",
                                         "template-python.jsonl"));

TEST(ChatTemplate, WholeTemplates) {
  std::ifstream File = input("templates.jsonl");
  int Count = 0;
  for (std::string Line; std::getline(File, Line); ++Count) {
    Json T = Json::parse(Line);
    for (const Json &Case : T["cases"])
      check(T["template"], Case["vars"], Case);
  }
  EXPECT_EQ(Count, 4);
}

TEST(ChatTemplate, ErrorsNameLineAndColumn) {
  Result<std::string> R = render("a\n  {{ 1 + }}", {{"x", 1}});
  ASSERT_FALSE(R.ok());
  EXPECT_EQ(R.status().message(), "chat template, line 2, column 10: expected "
                                  "an expression, found '}}'");
  R = render("{% if x %}\n{{ x.y.z }}{% endif %}", {{"x", {{"a", 1}}}});
  ASSERT_FALSE(R.ok());
  EXPECT_EQ(R.status().message(),
            "chat template, line 2, column 8: 'dict object' has no attribute "
            "'y'");
}

class Hostile : public testing::TestWithParam<const char *> {};

TEST_P(Hostile, EndsWithAnError) {
  Result<std::string> R = render(GetParam(), {{"x", 1}});
  ASSERT_FALSE(R.ok());
  EXPECT_EQ(R.status().message().find("chat template, line "), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    ChatTemplate, Hostile,
    testing::Values("{% for a in range(99999) %}{% for b in range(99999) %}"
                    "{% endfor %}{% endfor %}",
                    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
                    "{% set ns = namespace(x=[1]) %}{% for i in range(99999) %}"
                    "{% set ns.x = [ns.x] %}{% endfor %}",
                    "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}"
                    "{% set ns.x = [ns.x, ns.x] %}{% endfor %}",
                    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}"
                    "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
                    "{{ 'x' * 9999999999 }}", "{{ [0] * 9999999999 }}",
                    "{{ 'aaaa'.replace('', 'b' * 4000000) }}",
                    "{% set s = 'a' * 4000000 %}{{ s | replace('a', s) }}",
                    "{{ ([''] * 4000000) | join('x' * 4000000) }}",
                    "{{ -9223372036854775807 - 2 }}",
                    "{{ 9223372036854775807 + 1 }}", "{{ 2 ** 63 }}",
                    "{{ '%9999999d' % 1 }}", "{{ range(2 ** 40) }}"));

TEST(ChatTemplate, DeepNestingIsAnErrorNotACrash) {
  for (std::string Open : {"(", "[", "{% if 1 %}", "not ", "-"}) {
    std::string Source = Open[0] == '{' ? "" : "{{ ";
    for (int I = 0; I < 100'000; ++I)
      Source += Open;
    EXPECT_FALSE(ChatTemplate::compile(Source).ok()) << Open;
  }
  std::string Deep(3000, '[');
  EXPECT_FALSE(ChatTemplate::compile("{{ x }}")
                   ->render("{\"x\":" + Deep + std::string(3000, ']') + "}")
                   .ok());
}

// Chains are as deep as they are long, once they are trees.
TEST(ChatTemplate, LongChainsAreAnErrorNotACrash) {
  for (std::string Link : {"|upper", " + 1", ".a", "()", " is defined"}) {
    std::string Source = "{{ x";
    for (int I = 0; I < 300'000; ++I)
      Source += Link;
    EXPECT_FALSE(ChatTemplate::compile(Source + " }}").ok()) << Link;
  }
}

// Through namespaces values come to hold themselves; a chain of them is as deep
// as a loop is long. All go at the end.
TEST(ChatTemplate, NamespacesThatHoldThemselves) {
  for (const char *Source :
       {"{% set ns = namespace() %}{% set ns.self = ns %}{{ ns.self.self.x }}",
        "{% set ns = namespace(l=[]) %}{% set ns.l = [ns] %}",
        "{% macro m() %}{% endmacro %}{% set ns = namespace(x={'a': m}) %}",
        "{% set ns = namespace() %}{% for i in range(50000) %}"
        "{% set ns.x = namespace(x=ns.x) %}{% endfor %}",
        "{% set ns = namespace() %}{% for i in range(150) %}"
        "{% set ns.x = [[ns.x]]|map('list') %}{% endfor %}"}) {
    Result<std::string> R = render(Source, Json::object());
    EXPECT_TRUE(R.ok() ||
                R.status().message().find("nested deeper") != std::string::npos)
        << Source << "\n"
        << R.status().message();
  }
}

TEST(ChatTemplate, WhatNeedsOtherFilesIsRefused) {
  for (const char *Tag :
       {"include 'a'", "import 'a' as b", "from 'a' import b", "extends 'a'"}) {
    Result<std::string> R =
        render("x\n {% " + std::string(Tag) + " %}", Json::object());
    ASSERT_FALSE(R.ok());
    EXPECT_NE(R.status().message().find("line 2, column 5: tag '"),
              std::string::npos)
        << R.status().message();
  }
}

TEST(ChatTemplate, HalvesOfSurrogatePairsAreReplaced) {
  Result<ChatTemplate> T = ChatTemplate::compile("{{ x }}");
  ASSERT_TRUE(T.ok());
  for (const auto &[Json, Text] : {std::pair<const char *, const char *>{
                                       "a\\ud83d\\ude42b", "a\U0001F642b"},
                                   {"\\ud800", "\uFFFD"},
                                   {"\\udc00\\ud800x", "\uFFFD\uFFFDx"},
                                   {"\\\\ud800", "\\ud800"},
                                   {"\\ud800\\u0041", "\uFFFDA"}}) {
    Result<std::string> R = T->render(std::string("{\"x\":\"") + Json + "\"}");
    ASSERT_TRUE(R.ok()) << Json << R.status().message();
    EXPECT_EQ(*R, Text);
  }
}

TEST(ChatTemplate, EndlessRecursionOfALoopIsAnError) {
  Result<std::string> R =
      render("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
             Json::object());
  ASSERT_FALSE(R.ok());
}

TEST(ChatTemplate, TakesSeveralIndicesAsATuple) {
  auto Text = [](const std::string &Source) {
    Result<std::string> R = render(Source, {{"x", {{"a", 1}}}});
    return R.ok() ? *R : R.status().message();
  };
  EXPECT_EQ(Text("{{ {(1, 2): 5}[1, 2] }}|{{ x[1, 2] }}|{{ x[] }}"), "5||");
  EXPECT_EQ(Text("{{ x[1:2, 3] }}"),
            "chat template, line 1, column 9: expected ']', found ','");
  EXPECT_EQ(Text("{{ x[1,] }}"), "chat template, line 1, column 8: expected "
                                 "an expression, found ']'");
}

TEST(ChatTemplate, PrintsNamespacesInNamespaces) {
  Result<std::string> R = render("{% set m = namespace(b=1) %}"
                                 "{% set n = namespace(a=m) %}{{ n }}"
                                 "{% set m.n = n %}{{ [n] }}",
                                 Json::object());
  ASSERT_TRUE(R.ok()) << R.status().message();
  EXPECT_EQ(*R, "<Namespace {'a': <Namespace {'b': 1}>}>"
                "[<Namespace {'a': <Namespace {'b': 1, 'n': <Namespace>}>}>]");
}

TEST(ChatTemplate, RefusesIntegersThatItCannotHold) {
  Result<ChatTemplate> T = ChatTemplate::compile("{{ x }}");
  for (const char *Good : {"9223372036854775807", "-9223372036854775808"})
    EXPECT_EQ(*T->render("{\"x\": " + std::string(Good) + "}"), Good);
  EXPECT_EQ(*T->render(R"({"x": "\"123456789012345678901234"})"),
            "\"123456789012345678901234");
  EXPECT_EQ(T->render(R"({"x": 9223372036854775808})").status().message(),
            "template variables: integer 9223372036854775808 does not fit in "
            "64 bits");
}

} // namespace
