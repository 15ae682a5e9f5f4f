// What a model's folder says about generating: sampling defaults, end tokens,
// the texts of BOS and EOS, and its chat template. The compiler puts them into
// the artifact (sections chat template and generation defaults), the runtime
// reads them back.
#ifndef LLMC_RUNTIME_TEXT_GENERATIONDEFAULTS_H
#define LLMC_RUNTIME_TEXT_GENERATIONDEFAULTS_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

struct GenerationDefaults {
  float Temperature = 0; ///< 0: greedy
  int32_t TopK = 0;      ///< 0: off
  float TopP = 1;
  float MinP = 0;
  float RepetitionPenalty = 1;
  std::vector<int32_t> EosIds;
  int32_t BosId = -1;
  std::string BosToken, EosToken; ///< as templates see them
};

/// Jinja source from chat_template.jinja, chat_template.json or
/// tokenizer_config.json of the folder; empty when there is none. Fails when
/// it is not a template that we can run.
Result<std::string> compileChatTemplate(const std::string &Folder);

/// JSON text from generation_config.json, config.json and
/// tokenizer_config.json of the folder; the same bytes for the same files.
Result<std::string> compileGenerationDefaults(const std::string &Folder);

/// Reads what compileGenerationDefaults wrote; empty text gives the defaults.
Result<GenerationDefaults> readGenerationDefaults(std::string_view Json);

/// What a chat template is rendered with, as JSON texts.
struct ChatInput {
  std::string_view Messages;       ///< a list
  std::string_view Tools = {};     ///< a list, or empty
  std::string_view Documents = {}; ///< a list, or empty
  std::string_view Variables = {}; ///< an object of further variables, or empty
  bool AddGenerationPrompt = true;
};

/// Variables for ChatTemplate::render; those of In.Variables win. Fails when
/// a text is not JSON of its kind.
Result<std::string> chatVariables(const ChatInput &In,
                                  const GenerationDefaults &D);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_GENERATIONDEFAULTS_H
