// llmc debug: cases in, results out, one JSON object per line. Drives the
// rooms text and engine directly, so that tests can compare every value of
// them with stored ones.
#include "runtime/artifact/Reader.h"
#include "runtime/base/File.h"
#include "runtime/base/JsonDepth.h"
#include "runtime/base/JsonIntegers.h"
#include "runtime/engine/Sampler.h"
#include "runtime/engine/StopMatcher.h"
#include "runtime/text/ChatTemplate.h"
#include "runtime/text/Detokenizer.h"
#include "runtime/text/GenerationDefaults.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"
#include "tools/llmc-run/Commands.h"
#include "tools/llmc-run/Common.h"
#include "tools/llmc-run/DebugConstraint.h"
#include "tools/llmc-run/DebugSearch.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

namespace llmcrun {

namespace {

using Json = nlohmann::ordered_json;
using Ids = std::vector<int32_t>;

/// An artifact begins with the letters LLMC.
bool isArtifact(const std::string &Path) {
  char Magic[4] = {};
  std::ifstream(Path, std::ios::binary).read(Magic, sizeof(Magic));
  return std::string_view(Magic, sizeof(Magic)) == "LLMC";
}

/// A section of an artifact.
std::string sectionOf(const std::string &Path, llmc::SectionKind Kind) {
  std::unique_ptr<llmc::Reader> R = check(llmc::Reader::open(Path));
  std::span<const uint8_t> Bytes = R->find(Kind);
  if (Bytes.empty())
    usage(
        Path + ": the artifact has no " +
        (Kind == llmc::SectionKind::Tokenizer ? "tokenizer" : "chat template"));
  return std::string(llmc::textOf(Bytes));
}

llmc::Tokenizer loadTokenizer(const std::string &Path) {
  if (isArtifact(Path))
    return check(llmc::Tokenizer::load(
        llmc::bytesOf(sectionOf(Path, llmc::SectionKind::Tokenizer))));
  std::vector<uint8_t> Bytes = check(llmc::compileTokenizer(Path));
  if (Bytes.empty())
    throw llmc::Error(LLMC_MALFORMED, Path + ": no tokenizer");
  return check(llmc::Tokenizer::load(Bytes));
}

/// Of an artifact, a folder, or a file that holds nothing else.
std::string templateOf(const std::string &Path) {
  if (Path.empty())
    return "";
  if (isArtifact(Path))
    return sectionOf(Path, llmc::SectionKind::ChatTemplate);
  if (!std::filesystem::is_directory(Path))
    return readTextFile(Path);
  std::string Source = check(llmc::compileChatTemplate(Path));
  if (Source.empty())
    throw llmc::Error(LLMC_MALFORMED, Path + ": no chat template");
  return Source;
}

void addTexts(Json &Out, const llmc::Tokenizer &T, const Ids &Tokens) {
  Out["decoded"] = T.decode(Tokens);
  Out["decoded_skip_special"] = T.decode(Tokens, true);
  llmc::Detokenizer D(T, false);
  Json Stream = Json::array();
  for (int32_t Id : Tokens)
    Stream.push_back(D.push(Id));
  Stream.push_back(D.finish());
  Out["stream"] = std::move(Stream);
}

Json pairCase(const llmc::Tokenizer &T, const std::string &First,
              const std::string &Second) {
  llmc::PairEncoding E = check(T.encodePair(First, Second));
  return {{"ids", E.Ids}, {"type_ids", E.TypeIds}};
}

Json tokenizeCase(const llmc::Tokenizer &T, const Json &In) {
  std::string Text = In.at("text");
  Json Out;
  std::string Only = In.value("only", std::string());
  auto Add = [&](const char *Name, const llmc::EncodeOptions &O) {
    if (Only.empty() || Only == Name)
      Out[Name] = check(T.encode(Text, O));
  };
  if (In.contains("pair"))
    return pairCase(T, Text, In["pair"]);
  Add("ids", {});
  Add("ids_no_special", {.AddSpecial = false});
  Add("ids_literal", {.AddSpecial = false, .SpecialAsText = true});
  if (Only.empty())
    addTexts(Out, T, Out["ids"].get<Ids>());
  return Out;
}

Json decodeCase(const llmc::Tokenizer &T, const Json &In) {
  Json Out;
  addTexts(Out, T, In.at("ids").get<Ids>());
  return Out;
}

/// 2026-07-26 14:05:09, so that templates with a date give the same text.
std::tm fixedClock() {
  std::tm T = {};
  T.tm_year = 126, T.tm_mon = 6, T.tm_mday = 26;
  T.tm_hour = 14, T.tm_min = 5, T.tm_sec = 9;
  std::mktime(&T);
  return T;
}

Json renderCase(const std::string &Template, const Json &In) {
  std::string Source = In.value("template", Template);
  llmc::Result<llmc::ChatTemplate> T = llmc::ChatTemplate::compile(Source);
  if (!T.ok())
    return {{"error", T.status().message()}};
  std::tm Clock = fixedClock();
  llmc::Result<std::string> R = T->render(In.at("vars").dump(), &Clock);
  if (!R.ok())
    return {{"error", R.status().message()}};
  return {{"text", *R}};
}

float numberOf(const Json &J) {
  return J.is_string() ? -INFINITY : J.get<float>();
}

llmc::SamplingParams samplingOf(const Json &J) {
  llmc::SamplingParams P;
  P.Temperature = J.value("temperature", 1.0f);
  P.TopK = J.value("top_k", 0);
  P.TopP = J.value("top_p", 1.0f);
  P.MinP = J.value("min_p", 0.0f);
  P.TypicalP = J.value("typical_p", 1.0f);
  P.RepetitionPenalty = J.value("repetition_penalty", 1.0f);
  P.FrequencyPenalty = J.value("frequency_penalty", 0.0f);
  P.PresencePenalty = J.value("presence_penalty", 0.0f);
  P.MinTokens = J.value("min_tokens", 0u);
  P.NoRepeatNgram = J.value("no_repeat_ngram_size", 0u);
  P.EosIds = J.value("eos_token_ids", Ids());
  P.AllowedIds = J.value("allowed_token_ids", Ids());
  P.BadWords = J.value("bad_words_ids", std::vector<Ids>());
  Json Bias = J.value("logit_bias", Json::object());
  for (auto It = Bias.begin(); It != Bias.end(); ++It)
    for (int32_t Id : parseIds(It.key()))
      P.LogitBias.emplace_back(Id, numberOf(*It));
  check(llmc::checkSampling(P));
  return P;
}

/// The five best of the logits as they are, with log-probabilities.
Json topLogProbabilities(const std::vector<float> &L) {
  double Max = *std::max_element(L.begin(), L.end()), Sum = 0;
  std::vector<size_t> Order;
  for (size_t I = 0; I < L.size(); ++I) {
    Sum += std::exp(L[I] - Max);
    Order.push_back(I);
  }
  std::stable_sort(Order.begin(), Order.end(),
                   [&](size_t A, size_t B) { return L[A] > L[B]; });
  Json Out = Json::array();
  for (size_t I = 0; I < std::min<size_t>(5, L.size()); ++I) {
    double P = L[Order[I]] - Max - std::log(Sum);
    Out.push_back({Order[I], std::isfinite(P) ? Json(P) : Json("-inf")});
  }
  return Out;
}

Json sampleCase(const Json &In) {
  std::vector<float> Logits;
  for (const Json &V : In.at("logits"))
    Logits.push_back(numberOf(V));
  const Json &P = In.at("params");
  if (Logits.empty())
    usage("the case has no logits");
  for (int32_t T : P.value("output", Ids()))
    if (T < 0 || static_cast<size_t>(T) >= Logits.size())
      usage("token " + std::to_string(T) + " of the output is outside the " +
            std::to_string(Logits.size()) + " logits");
  llmc::Sampler S(samplingOf(P), static_cast<uint32_t>(Logits.size()),
                  P.value("prompt", Ids()));
  for (int32_t T : P.value("output", Ids()))
    S.accept(T);
  std::vector<double> Probabilities;
  S.distribution(Logits, Probabilities);
  Json Out;
  Out["probs"] = Probabilities;
  llmc::SamplingParams Greedy = samplingOf(P);
  Greedy.Temperature = 0;
  llmc::Sampler Best(Greedy, static_cast<uint32_t>(Logits.size()),
                     P.value("prompt", Ids()));
  for (int32_t T : P.value("output", Ids()))
    Best.accept(T);
  Out["greedy"] = Best.sample(Logits);
  Out["raw_top_logprobs"] = topLogProbabilities(Logits);
  Out["draws"] = Json::array();
  for (const Json &D : In.value("draws", Json::array())) {
    double U = D.at("u");
    Out["draws"].push_back(
        {{"u", U}, {"token", llmc::Sampler::draw(Probabilities, U)}});
  }
  return Out;
}

Json stopCase(const Json &In) {
  llmc::StopMatcher M(In.at("stop").get<std::vector<std::string>>());
  Json Stream = Json::array();
  std::string Text;
  for (const Json &Piece : In.at("pieces")) {
    std::string Shown = M.push(Piece.get<std::string>());
    Text += Shown;
    Stream.push_back(Shown);
    if (M.stopped())
      break;
  }
  if (!M.stopped()) {
    std::string Rest = M.finish();
    Text += Rest;
    Stream.push_back(Rest);
  }
  bool Length = !M.stopped() && In.at("end") == "length";
  Json Out;
  Out["expect_text"] = Text;
  Out["expect_finish"] = Length ? "length" : "stop";
  Out["expect_stop"] = M.stopped() ? Json(M.stop()) : Json();
  Out["expect_text_including_stop"] = Text + (M.stopped() ? M.stop() : "");
  Out["expect_stream"] = std::move(Stream);
  return Out;
}

using Case = std::function<Json(const Json &)>;

bool isConstraint(const std::string &Kind) {
  return Kind == "schema" || Kind == "regex" || Kind == "grammar";
}

Case caseOf(const std::string &Kind, const std::string &Resource) {
  if (Kind == "tokenize" || Kind == "decode") {
    std::shared_ptr<llmc::Tokenizer> T =
        std::make_shared<llmc::Tokenizer>(loadTokenizer(Resource));
    return [T, Kind](const Json &In) {
      return Kind == "decode" ? decodeCase(*T, In) : tokenizeCase(*T, In);
    };
  }
  if (Kind == "render") {
    std::string Source = templateOf(Resource);
    return [Source](const Json &In) { return renderCase(Source, In); };
  }
  if (isConstraint(Kind))
    return [Kind](const Json &In) {
      return Json::parse(constraintCase(Kind, In.dump()));
    };
  if (Kind == "sample")
    return sampleCase;
  if (Kind == "stop")
    return stopCase;
  if (Kind == "beam" || Kind == "speculative")
    return [Kind](const Json &In) {
      return Json::parse(searchCase(Kind, In.dump()));
    };
  throw llmc::Error(LLMC_UNSUPPORTED, "debug " + Kind + " is not implemented");
}

void debug(const std::string &Kind, const std::string &Resource,
           const std::string &File) {
  Case Run = caseOf(Kind, Resource);
  std::string Text = readTextFile(File);
  for (size_t At = 0, Number = 1; At < Text.size(); ++Number) {
    size_t End = std::min(Text.find('\n', At), Text.size());
    std::string_view Line = std::string_view(Text).substr(At, End - At);
    std::string Place = File + ", line " + std::to_string(Number);
    check(llmc::checkJsonDepth(Line, Place));
    Json In = Json::parse(Line, nullptr, false);
    At = End + 1;
    Json Out;
    llmc::Status Exact = llmc::checkJsonIntegers(Line, Place);
    try {
      if (Kind == "render" && !Exact.ok())
        Out["error"] = Exact.message();
      else if (isConstraint(Kind) && In.is_object()) // the text has the numbers
        Out = Json::parse(constraintCase(Kind, std::string(Line)));
      else
        Out = Run(In);
    } catch (const Json::exception &E) {
      // Without the library's own number in brackets before it.
      std::string Why = E.what();
      Why.erase(0, Why.find("] ") + 2);
      throw llmc::Error(LLMC_MALFORMED,
                        Place + ": not a case of this kind (" + Why + ")");
    }
    std::printf(
        "%s\n",
        Out.dump(-1, ' ', true, Json::error_handler_t::replace).c_str());
  }
}

} // namespace

void addDebug(CLI::App &App) {
  CLI::App *C = App.add_subcommand(
      "debug", "cases in, results out, one JSON object per line");
  std::shared_ptr<std::vector<std::string>> Words =
      std::make_shared<std::vector<std::string>>();
  C->add_option("arguments", *Words,
                "tokenize|decode ART|DIR|TOKENIZER.json FILE, render "
                "[ART|DIR|TEMPLATE] FILE, "
                "schema|regex|grammar|sample|beam|stop|speculative FILE")
      ->required();
  C->footer("Example: llmc debug stop cases.jsonl\n"
            "For render the clock stands at 2026-07-26 14:05:09.");
  C->callback([Words] {
    if (Words->size() < 2 || Words->size() > 3)
      usage("debug takes a kind, a resource for some, and a file of cases");
    bool HasResource = Words->size() == 3;
    const std::string &Kind = Words->front();
    if ((Kind == "tokenize" || Kind == "decode") && !HasResource)
      usage(
          "debug " + Kind +
          " needs an artifact, a folder or a tokenizer.json before the cases");
    debug(Kind, HasResource ? (*Words)[1] : "", Words->back());
  });
}

} // namespace llmcrun
