// libFuzzer target of the tokenizer files: bytes as tokenizer.json, as a
// SentencePiece model, as a tiktoken file or as a compiled image, then a text
// through whatever loads. The first byte chooses.
//
//   cmake -S . -B build/fuzz -G Ninja -DLLMC_COMPILER=OFF \
//         -DCMAKE_CXX_COMPILER=clang++-22 -DLLMC_FUZZ=ON
//   ninja -C build/fuzz TokenizerFuzzer
//   build/fuzz/test/fuzz/TokenizerFuzzer --seed CORPUS test/Inputs/text/*.jsonl
//   build/fuzz/test/fuzz/TokenizerFuzzer -max_len=60000 -timeout=10 CORPUS
//
// Or `./dev fuzz`, which does all of this.
#include "runtime/text/Base64.h"
#include "runtime/text/Detokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"
#include "runtime/text/TokenizerFiles.h"
#include "runtime/text/TokenizerParts.h"
#include "runtime/text/Utf8.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace llmc;

namespace {

const char *const Texts[] = {"Hello  world, don't <s>12345 </s> x",
                             "naïve 中文\t\n🙂e\u0301 ▁▁ \u0085ﬁ½", ""};

Result<std::vector<uint8_t>> compile(char Kind, std::string_view Bytes) {
  TokenizerFolder F;
  F.Pattern = "cl100k_base";
  if (Kind == 'j')
    return compileTokenizerJson(Bytes);
  if (Kind == 'i')
    return std::vector<uint8_t>(Bytes.begin(), Bytes.end());
  Result<TokenizerSource> S = Kind == 's' ? readSentencePiece(Bytes, F, "fuzz")
                                          : readTiktoken(Bytes, F, "fuzz");
  if (!S.ok())
    return S.takeStatus();
  return finishTokenizer(S.take());
}

void use(const Tokenizer &T) {
  for (const char *Text : Texts) {
    Result<std::vector<int32_t>> Ids = T.encode(Text);
    (void)T.encodePair(Text, "b").ok();
    if (!Ids.ok())
      continue;
    (void)T.decode(*Ids, true);
    Detokenizer D(T, false);
    for (int32_t Id : *Ids)
      (void)D.push(Id);
    (void)D.finish();
  }
}

/// One file per tokenizer of the stored cases: kind and bytes; and the image of
/// a tokenizer.json.
void writeSeed(const std::string &Name, const nlohmann::json &Files) {
  constexpr std::pair<const char *, char> Kinds[] = {
      {"tokenizer.json", 'j'}, {"tokenizer.model", 's'}, {"x.tiktoken", 't'}};
  for (const auto &[File, Kind] : Kinds) {
    if (!Files.contains(File))
      continue;
    const nlohmann::json &F = Files[File];
    std::string Bytes =
        F.is_string()
            ? F.get<std::string>()
            : decodeBase64(F["base64"].get<std::string>()).value_or("");
    std::ofstream(Name + Kind) << Kind << Bytes;
    if (Kind != 'j')
      continue;
    if (Result<std::vector<uint8_t>> Image = compileTokenizerJson(Bytes);
        Image.ok())
      std::ofstream(Name + "i")
          << 'i' << std::string(Image->begin(), Image->end());
  }
}

void writeSeeds(int Argc, char **Argv) {
  int Number = 0;
  for (int I = 3; I < Argc; ++I) {
    std::ifstream In(Argv[I]);
    for (std::string Line; std::getline(In, Line);) {
      nlohmann::json J = nlohmann::json::parse(Line, nullptr, false);
      if (J.is_object() && J.contains("files"))
        writeSeed(std::string(Argv[2]) + "/seed" + std::to_string(Number++),
                  J["files"]);
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *Argc, char ***Argv) {
  if (*Argc > 3 && std::strcmp((*Argv)[1], "--seed") == 0) {
    writeSeeds(*Argc, *Argv);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  std::string_view Bytes(reinterpret_cast<const char *>(Data) + 1, Size - 1);
  Result<std::vector<uint8_t>> Image =
      compile(static_cast<char>(Data[0]), Bytes);
  if (!Image.ok() || Image->empty())
    return 0;
  Result<Tokenizer> T = Tokenizer::load(*Image);
  if (T.ok())
    use(*T);
  return 0;
}
