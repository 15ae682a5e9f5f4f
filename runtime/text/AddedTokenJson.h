// The text and flags of an added token, as tokenizer.json and
// tokenizer_config.json both spell them, for the .cpp files that read these.
#ifndef LLMC_RUNTIME_TEXT_ADDEDTOKENJSON_H
#define LLMC_RUNTIME_TEXT_ADDEDTOKENJSON_H

#include "runtime/text/JsonFields.h"
#include "runtime/text/TokenizerImage.h"

namespace llmc {

/// All but the id; F remembers what is of the wrong kind.
template <typename Json> AddedToken readAddedToken(Fields<Json> &F) {
  AddedToken A;
  A.Content = F.text("content", "");
  A.Special = F.flag("special", false);
  A.Normalized = F.flag("normalized", !A.Special);
  A.LStrip = F.flag("lstrip", false);
  A.RStrip = F.flag("rstrip", false);
  A.SingleWord = F.flag("single_word", false);
  return A;
}

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_ADDEDTOKENJSON_H
