// Feeds the bytes of each text to the automaton of the constraint.
#include "tools/llmc-run/DebugConstraint.h"

#include "runtime/base/JsonMember.h"
#include "runtime/text/constraint/Automaton.h"
#include "runtime/text/constraint/Compile.h"
#include "tools/llmc-run/Common.h"

#include <nlohmann/json.hpp>

namespace llmcrun {

namespace {

using Json = nlohmann::ordered_json;
using namespace llmc::constraint;

llmc::Result<std::unique_ptr<Grammar>>
compileCase(const std::string &Kind, const std::string &Case, const Json &In) {
  if (Kind == "schema") {
    CompileOptions O;
    O.Whitespace = In.value("whitespace", false);
    (void)In.at("schema");
    return compileConstraint(Dialect::JsonSchema,
                             llmc::jsonMember(Case, "schema"), O);
  }
  if (Kind == "regex")
    return compileConstraint(Dialect::Regex,
                             In.at("pattern").get<std::string>());
  std::string Text = In.at("grammar").get<std::string>();
  std::string Name = In.value("dialect", std::string());
  if (!Name.empty() && Name != "gbnf" && Name != "lark")
    return llmc::usageError("dialect is '" + Name + "', expected gbnf or lark");
  return compileConstraint(Name.empty()     ? guessDialect(Text)
                           : Name == "gbnf" ? Dialect::Gbnf
                                            : Dialect::Lark,
                           Text);
}

} // namespace

std::string constraintCase(const std::string &Kind, const std::string &Case) {
  Json In = Json::parse(Case), Out;
  llmc::Result<std::unique_ptr<Grammar>> G = compileCase(Kind, Case, In);
  Out["refused"] = G.ok() ? Json() : Json(G.status().message());
  Out["results"] = Json::array();
  if (G.ok()) {
    Automaton A(**G);
    for (const Json &Text : In.value("texts", Json::array())) {
      SetId S = A.walk(Automaton::Start, Text.get<std::string>());
      if (A.full())
        throw llmc::Error(LLMC_DOES_NOT_FIT,
                          "the constraint needs more than " +
                              std::to_string(A.memory() >> 20) + " MiB");
      bool Live = S != Automaton::Dead;
      Out["results"].push_back(
          {{"accepts", Live && A.accepts(S)}, {"live", Live}});
    }
  }
  return Out.dump(-1, ' ', true, Json::error_handler_t::replace);
}

} // namespace llmcrun
