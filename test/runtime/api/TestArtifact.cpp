// Model from SyntheticModel, text from test/Inputs/text, container by Writer.
#include "test/runtime/api/TestArtifact.h"

#include "runtime/artifact/Manifest.h"
#include "runtime/artifact/Program_generated.h"
#include "runtime/artifact/Writer.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"
#include "test/runtime/device/SyntheticModel.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <unistd.h>

namespace llmc::test {

namespace {

constexpr const char *Template =
    "{% for m in messages %}<|begin|>{{ m.role }}\n{{ m.content }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|begin|>assistant\n"
    "{% endif %}";

Manifest manifestOf(const SyntheticShape &S, const SyntheticModel &M,
                    uint32_t Weights) {
  Manifest Out;
  Out.Model.Name = "synthetic";
  Out.Model.Vocab = static_cast<uint32_t>(S.Vocab);
  Out.Model.Hidden = static_cast<uint32_t>(S.Hidden);
  Out.Model.Layers = static_cast<uint32_t>(S.Layers);
  Out.Model.MaxContext = static_cast<uint32_t>(S.MaxContext);
  Out.Model.MaxBatch = static_cast<uint32_t>(S.MaxSequences);
  Out.Model.EosIds = {1};
  Out.Model.Precision = S.Int8 ? "int8" : "f32";
  Out.Model.Activations = Out.Model.Precision;
  Out.Producer = "llmc test";
  Out.Targets = {{S.Target, "x86", 1, 2, -1, static_cast<int32_t>(Weights)}};
  // The reader wants the plan to say what the program says.
  const fb::Program &Pr = *fb::GetProgram(M.view().Program.data());
  ManifestPlan P;
  P.Target = S.Target;
  P.WeightBytes = Pr.weight_bytes();
  P.Buckets.assign(Pr.buckets()->begin(), Pr.buckets()->end());
  P.ArenaBytes.assign(Pr.arena_bytes()->begin(), Pr.arena_bytes()->end());
  P.PageTokens = Pr.page_tokens();
  P.PageBytes = Pr.page_bytes();
  P.Pages = Pr.pages();
  for (const fb::KvState *K : *Pr.states())
    P.States.push_back({K->name()->str(), K->layers(), K->kv_heads(),
                        K->head_dim(), K->v_head_dim(),
                        static_cast<DType>(K->dtype())});
  Out.Plans = {P};
  return Out;
}

std::span<const uint8_t> bytes(std::string_view S) { return bytesOf(S); }

} // namespace

namespace {

/// Builds the model once per precision: emitting code takes seconds.
Result<const SyntheticModel *> modelOf(const SyntheticShape &S) {
  static std::map<bool, std::unique_ptr<SyntheticModel>> Built;
  std::unique_ptr<SyntheticModel> &M = Built[S.Int8];
  if (!M) {
    std::unique_ptr<SyntheticModel> New = std::make_unique<SyntheticModel>(S);
    LLMC_RETURN_IF_ERROR(New->build());
    M = std::move(New);
  }
  return M.get();
}

} // namespace

Status writeTestArtifact(const std::string &Path, bool Int8, bool WithText) {
  LLMC_ASSIGN_OR_RETURN(
      std::vector<uint8_t> Text,
      compileTokenizer(LLMC_TEST_INPUTS "/text/llama3-small.json"));
  LLMC_ASSIGN_OR_RETURN(Tokenizer T, Tokenizer::load(Text));
  SyntheticShape S;
  S.Vocab = static_cast<int64_t>(T.vocabSize());
  S.Int8 = Int8;
  if (!__builtin_cpu_supports("avx512vnni"))
    S.Target = "x86-64-v3";
  S.Layers = 2;
  LLMC_ASSIGN_OR_RETURN(const SyntheticModel *Model, modelOf(S));
  const SyntheticModel &M = *Model;
  LLMC_ASSIGN_OR_RETURN(std::unique_ptr<Writer> W, Writer::create(Path));
  uint32_t WeightIndex = WithText ? 6 : 3;
  std::vector<uint8_t> Encoded = encodeManifest(manifestOf(S, M, WeightIndex));
  LLMC_RETURN_IF_ERROR(
      W->addSection(SectionKind::Manifest, Encoded).takeStatus());
  ProgramView V = M.view();
  LLMC_RETURN_IF_ERROR(
      W->addSection(SectionKind::Program, V.Program).takeStatus());
  LLMC_RETURN_IF_ERROR(
      W->addSection(SectionKind::CpuImage, V.Code).takeStatus());
  if (WithText) {
    LLMC_RETURN_IF_ERROR(
        W->addSection(SectionKind::Tokenizer, Text).takeStatus());
    LLMC_RETURN_IF_ERROR(
        W->addSection(SectionKind::ChatTemplate, bytes(Template)).takeStatus());
    LLMC_RETURN_IF_ERROR(
        W->addSection(SectionKind::GenerationDefaults,
                      bytes(R"({"eos_token_id":[1],"eos_token":"<|end|>"})"))
            .takeStatus());
  }
  LLMC_ASSIGN_OR_RETURN(uint32_t Weights, W->declareWeights(V.Weights.size()));
  if (Weights != WeightIndex)
    return internalError("weights are section " + std::to_string(Weights));
  LLMC_RETURN_IF_ERROR(W->appendWeights(Weights, V.Weights));
  return W->finish();
}

std::string testArtifact(bool Int8, bool WithText) {
  static const std::string Folder = [] {
    std::string F = (std::filesystem::temp_directory_path() /
                     ("llmc-test-" + std::to_string(getpid())))
                        .string();
    std::filesystem::create_directories(F);
    std::atexit([] {
      std::error_code E;
      std::filesystem::remove_all(std::filesystem::temp_directory_path() /
                                      ("llmc-test-" + std::to_string(getpid())),
                                  E);
    });
    return F;
  }();
  std::string Path =
      Folder + (Int8 ? "/int8" : "/f32") + (WithText ? ".llmc" : "-ids.llmc");
  if (std::filesystem::exists(Path))
    return Path;
  Status S = writeTestArtifact(Path, Int8, WithText);
  if (!S.ok())
    std::fprintf(stderr, "test artifact: %s\n", S.message().c_str());
  return Path;
}

} // namespace llmc::test
