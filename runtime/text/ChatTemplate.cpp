// JSON variables to template values, and the public face of the interpreter.
#include "runtime/text/ChatTemplate.h"

#include "runtime/base/JsonIntegers.h"
#include "runtime/text/JsonFile.h"
#include "runtime/text/jinja/Interpreter.h"
#include "runtime/text/jinja/Parser.h"

#include <nlohmann/json.hpp>

namespace llmc {

using Json = nlohmann::ordered_json;
using jinja::Value;

namespace {

/// Depth is bounded by the caller.
Value valueOf(const Json &J) {
  switch (J.type()) {
  case Json::value_t::boolean:
    return Value::boolean(J.get<bool>());
  case Json::value_t::number_integer:
    return Value::integer(J.get<int64_t>());
  case Json::value_t::number_unsigned: // checkJsonIntegers saw it
    return Value::integer(J.get<int64_t>());
  case Json::value_t::number_float:
    return Value::real(J.get<double>());
  case Json::value_t::string:
    return Value::string(J.get<std::string>());
  case Json::value_t::array: {
    Value::Items L;
    for (const Json &I : J)
      L.push_back(valueOf(I));
    return Value::list(std::move(L));
  }
  case Json::value_t::object: {
    Value::Members M;
    for (auto It = J.begin(); It != J.end(); ++It)
      M.emplace_back(Value::string(It.key()), valueOf(*It));
    return Value::dict(std::move(M));
  }
  default:
    return Value::none();
  }
}

bool tooDeep(const Json &J, unsigned Left) {
  if (Left == 0)
    return true;
  if (J.is_structured())
    for (const Json &I : J)
      if (tooDeep(I, Left - 1))
        return true;
  return false;
}

} // namespace

struct ChatTemplate::Impl {
  jinja::NodePtr Root;
};

ChatTemplate::ChatTemplate() : P(std::make_unique<Impl>()) {}
ChatTemplate::ChatTemplate(ChatTemplate &&) noexcept = default;
ChatTemplate &ChatTemplate::operator=(ChatTemplate &&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::compile(std::string_view Source) {
  constexpr size_t MaxSource = 1 << 20;
  if (Source.size() > MaxSource)
    return doesNotFitError("chat template of " + std::to_string(Source.size()) +
                           " bytes, at most " + std::to_string(MaxSource));
  ChatTemplate T;
  LLMC_ASSIGN_OR_RETURN(T.P->Root, jinja::parse(Source));
  return T;
}

Result<std::string> ChatTemplate::render(std::string_view Variables,
                                         const std::tm *Clock) const {
  LLMC_RETURN_IF_ERROR(checkJsonIntegers(Variables, "template variables"));
  LLMC_ASSIGN_OR_RETURN(Json Root,
                        parseJsonAs<Json>(withoutLoneSurrogates(Variables),
                                          "template variables"));
  if (!Root.is_object())
    return malformedError("template variables are not a JSON object");
  if (tooDeep(Root, jinja::MaxValueDepth - 10))
    return malformedError("template variables are nested deeper than " +
                          std::to_string(jinja::MaxValueDepth - 10));
  jinja::Interpreter I;
  if (Clock != nullptr) {
    I.Clock = *Clock;
  } else {
    std::time_t Now = std::time(nullptr);
    localtime_r(&Now, &I.Clock);
  }
  return I.run(*P->Root, valueOf(Root));
}

Result<std::string> checkedJson(std::string_view Text,
                                const std::string &What) {
  LLMC_RETURN_IF_ERROR(checkJsonIntegers(Text, What));
  LLMC_ASSIGN_OR_RETURN(Json J,
                        parseJsonAs<Json>(withoutLoneSurrogates(Text), What));
  if (tooDeep(J, jinja::MaxValueDepth - 10))
    return malformedError(What + ": nested deeper than " +
                          std::to_string(jinja::MaxValueDepth - 10));
  return J.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace llmc
