// Chat templates: messages to the text that a model was trained on. The
// language is a sandboxed subset of Jinja; a template can neither see anything
// but its variables nor run for long nor fill the memory.
#ifndef LLMC_RUNTIME_TEXT_CHATTEMPLATE_H
#define LLMC_RUNTIME_TEXT_CHATTEMPLATE_H

#include "runtime/base/Status.h"

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmc {

class ChatTemplate {
public:
  /// Fails with line and column when the source is not a template that we can
  /// run.
  static Result<ChatTemplate> compile(std::string_view Source);

  ChatTemplate(ChatTemplate &&) noexcept;
  ChatTemplate &operator=(ChatTemplate &&) noexcept;
  ~ChatTemplate();

  /// Renders with the members of a JSON object as variables (messages, tools,
  /// add_generation_prompt, bos_token …). Clock: what strftime_now shows; the
  /// local time when absent.
  Result<std::string> render(std::string_view Variables,
                             const std::tm *Clock = nullptr) const;

private:
  struct Impl;
  ChatTemplate();
  std::unique_ptr<Impl> P;
};

/// Json as compact text, or a failure that names What; for callers that put
/// JSON together from parts.
Result<std::string> checkedJson(std::string_view Json, const std::string &What);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_CHATTEMPLATE_H
