// Drives beam search and the acceptance rule as the engine does, with tables
// in place of a model.
#include "tools/llmc-run/DebugSearch.h"

#include "runtime/engine/BeamSearch.h"
#include "runtime/engine/Speculation.h"
#include "tools/llmc-run/Common.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace llmcrun {

namespace {

using Json = nlohmann::ordered_json;
using Ids = std::vector<int32_t>;
using Row = std::vector<double>;

Row rowOf(const Json &J) {
  Row R;
  for (const Json &V : J)
    R.push_back(V.is_string() ? -INFINITY : V.get<double>());
  return R;
}

void logSoftmax(Row &R) {
  double Max = *std::max_element(R.begin(), R.end()), Sum = 0;
  for (double V : R)
    Sum += std::exp(V - Max);
  for (double &V : R)
    V -= Max + std::log(Sum);
}

/// The toy model: the row of the last id, or of the last two.
class Table {
public:
  explicit Table(const Json &In)
      : Logits(In.at("logits_table")), Order(In.at("order")) {
    if (Order != 1 && Order != 2)
      usage("order is " + std::to_string(Order) + ", expected 1 or 2");
  }
  Row next(const Ids &Tokens) const {
    size_t Last = static_cast<size_t>(Tokens.back());
    size_t Second =
        Tokens.size() > 1 ? static_cast<size_t>(Tokens[Tokens.size() - 2]) : 0;
    Row R = rowOf(Order == 1 ? Logits.at(Last) : Logits.at(Second).at(Last));
    logSoftmax(R);
    return R;
  }

private:
  const Json &Logits;
  int Order;
};

llmc::BeamParams beamParams(const Json &In) {
  llmc::BeamParams P;
  P.Beams = In.at("num_beams");
  P.Return = In.value("num_return_sequences", 1u);
  P.LengthPenalty = In.value("length_penalty", 1.0);
  P.MaxTokens = In.at("max_new_tokens");
  P.EosIds = In.value("eos_token_ids", Ids());
  Json Early = In.value("early_stopping", Json(false));
  if (Early.is_boolean())
    P.Early = Early.get<bool>() ? llmc::EarlyStopping::AtOnce
                                : llmc::EarlyStopping::Heuristic;
  else if (Early == "never")
    P.Early = llmc::EarlyStopping::Never;
  else
    usage("early_stopping is " + Early.dump() +
          ", expected true, false or \"never\"");
  check(llmc::checkBeams(P));
  return P;
}

Json beamCase(const Json &In) {
  llmc::BeamParams P = beamParams(In);
  Table Model(In);
  Ids Prompt = In.at("prompt").get<Ids>();
  if (Prompt.empty())
    usage("the prompt has no tokens");
  llmc::BeamSearch Search(P);
  while (!Search.done()) {
    std::vector<Row> Rows;
    for (uint32_t B = 0; B < Search.running(); ++B) {
      Ids Tokens = Prompt;
      std::span<const int32_t> Own = Search.tokens(B);
      Tokens.insert(Tokens.end(), Own.begin(), Own.end());
      Rows.push_back(Model.next(Tokens));
    }
    std::vector<std::span<const double>> Views(Rows.begin(), Rows.end());
    Search.advance(Views);
  }
  Json Out = {{"sequences", Json::array()}, {"scores", Json::array()}};
  for (const llmc::BeamSearch::Hypothesis &H : Search.best()) {
    Out["sequences"].push_back(H.Tokens);
    Out["scores"].push_back(H.Score);
  }
  return Out;
}

Json speculativeCase(const Json &In) {
  std::vector<Row> Draft, Target;
  for (const Json &R : In.at("draft_probs"))
    Draft.push_back(rowOf(R));
  for (const Json &R : In.at("target_probs"))
    Target.push_back(rowOf(R));
  Ids Tokens = In.at("draft_tokens").get<Ids>();
  Row Uniforms = rowOf(In.at("accept_uniforms"));
  bool Complete = Draft.size() >= Tokens.size() &&
                  Target.size() > Tokens.size() &&
                  Uniforms.size() >= Tokens.size();
  for (size_t I = 0; Complete && I < Tokens.size(); ++I)
    Complete = Tokens[I] >= 0 &&
               static_cast<size_t>(Tokens[I]) < Draft[I].size() &&
               Draft[I].size() == Target[I].size();
  if (!Complete)
    usage(std::to_string(Tokens.size()) +
          " draft tokens need as many rows of " +
          "draft_probs and numbers, and one row of target_probs more");
  llmc::AcceptedDraft A = llmc::acceptDraft(Draft, Target, Tokens, Uniforms,
                                            In.at("final_uniform"));
  Tokens.resize(A.Accepted);
  Tokens.push_back(A.Next);
  return {{"accepted", A.Accepted},
          {"tokens", Tokens},
          {"residual_probs", A.Residual.empty() ? Json() : Json(A.Residual)}};
}

} // namespace

std::string searchCase(const std::string &Kind, const std::string &Case) {
  Json In = Json::parse(Case);
  return (Kind == "beam" ? beamCase(In) : speculativeCase(In)).dump();
}

} // namespace llmcrun
