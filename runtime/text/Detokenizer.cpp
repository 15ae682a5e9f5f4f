// Token bytes go through a stream that holds back unfinished characters.
#include "runtime/text/Detokenizer.h"

namespace llmc {

std::string Detokenizer::push(int32_t Id) {
  std::string Out;
  if (!SkipSpecial || !T.isSpecial(Id))
    Stream.push(T.bytesOf(Id), Out);
  return Out;
}

std::string Detokenizer::finish() {
  std::string Out;
  Stream.finish(Out);
  return Out;
}

} // namespace llmc
