// libFuzzer target of chat templates: any source compiles or is refused with a
// place; what compiles renders or fails, within its limits. Run it from the
// repository's root:
//
//   build/fuzz/test/fuzz/TemplateFuzzer -max_len=4000 CORPUS
#include "runtime/text/ChatTemplate.h"

#include "runtime/text/Utf8.h"

#include <cstdlib>

using namespace llmc;

namespace {

constexpr std::string_view Variables =
    R"({"messages":[{"role":"system","content":"S"},)"
    R"({"role":"user","content":"u \u00e9"},)"
    R"({"role":"assistant","content":null,"tool_calls":[{"function":)"
    R"({"name":"f","arguments":{"a":[1,2.5,true,null]}}}]}],)"
    R"("tools":[{"name":"f"}],"documents":null,"add_generation_prompt":true,)"
    R"("bos_token":"<s>","eos_token":"</s>","n":3,"s":"text","l":[3,1,2],)"
    R"("d":{"k":"v"}})";

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Source(reinterpret_cast<const char *>(Data), Size);
  Result<ChatTemplate> T = ChatTemplate::compile(Source);
  if (!T.ok()) {
    if (T.status().message().empty())
      std::abort();
    return 0;
  }
  std::tm Clock = {};
  Clock.tm_year = 126, Clock.tm_mday = 1;
  Result<std::string> Text = T->render(Variables, &Clock);
  if (Text.ok() && Text->size() > (size_t{64} << 20))
    std::abort();
  if (!Text.ok() && Text.status().message().empty())
    std::abort();
  return 0;
}
