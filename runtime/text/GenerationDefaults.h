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

/// Variables for ChatTemplate::render. Messages and Tools are JSON lists
/// (Tools may be empty); fails when they are not.
Result<std::string> chatVariables(std::string_view Messages,
                                  std::string_view Tools,
                                  bool AddGenerationPrompt,
                                  const GenerationDefaults &D);

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_GENERATIONDEFAULTS_H
