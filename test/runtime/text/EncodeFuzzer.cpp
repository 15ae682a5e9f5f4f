// libFuzzer target of encoding: any UTF-8 goes through byte-level tokenizers
// and comes back the same; the stream of pieces equals the whole. Run it from
// the repository's root:
//
//   build/fuzz/test/fuzz/EncodeFuzzer -max_len=2000 CORPUS
#include "runtime/text/Detokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"
#include "runtime/text/Utf8.h"

#include <cstdio>
#include <cstdlib>

using namespace llmc;

namespace {

const Tokenizer &tokenizer() {
  static const Tokenizer T = [] {
    Result<std::vector<uint8_t>> B =
        compileTokenizer("test/Inputs/text/llama3-small.json");
    if (!B.ok() || B->empty()) {
      std::fprintf(stderr, "run this from the root of the repository\n");
      std::exit(1);
    }
    return Tokenizer::load(*B).take();
  }();
  return T;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Text(reinterpret_cast<const char *>(Data), Size);
  const Tokenizer &T = tokenizer();
  Result<std::vector<int32_t>> Ids =
      T.encode(Text, {.AddSpecial = false, .SpecialAsText = true});
  if (findBadUtf8(Text) != std::string_view::npos) {
    if (Ids.ok())
      std::abort();
    return 0;
  }
  if (!Ids.ok() || T.decode(*Ids) != Text)
    std::abort();
  Detokenizer D(T, false);
  std::string Streamed;
  for (int32_t Id : *Ids) {
    std::string Piece = D.push(Id);
    if (findBadUtf8(Piece) != std::string_view::npos)
      std::abort();
    Streamed += Piece;
  }
  if (Streamed + D.finish() != Text)
    std::abort();
  return 0;
}
