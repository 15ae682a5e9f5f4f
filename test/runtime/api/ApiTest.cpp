// The C API through its C++ wrapper on a synthetic model: lifecycle, errors,
// requests, sequences.
#include "llmc/llmc.hpp"
#include "test/runtime/api/TestArtifact.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

namespace {
/// Allocations of this thread that still succeed; below 0: all do.
thread_local long AllocationsLeft = -1;
/// Smaller ones are not counted and succeed.
thread_local std::size_t CountedBytes = 0;

void *allocate(std::size_t Bytes) noexcept {
  if (Bytes >= CountedBytes) {
    if (AllocationsLeft == 0)
      return nullptr;
    if (AllocationsLeft > 0)
      --AllocationsLeft;
  }
  return std::malloc(Bytes ? Bytes : 1);
}
/// Not inlined: the compiler would miss the pair of new and delete.
__attribute__((noinline)) void release(void *P) noexcept { std::free(P); }
} // namespace

void *operator new(std::size_t Bytes) {
  if (void *P = allocate(Bytes))
    return P;
  throw std::bad_alloc();
}
void *operator new(std::size_t Bytes, const std::nothrow_t &) noexcept {
  return allocate(Bytes);
}
void operator delete(void *P) noexcept { release(P); }
void operator delete(void *P, std::size_t) noexcept { release(P); }

namespace {

/// Calls with 0, 1, 2 … allocations that succeed until the call does; all
/// failures before that are for want of memory.
template <typename Fn> void starve(Fn &&Call, std::size_t Counted = 0) {
  int Failures = 0;
  for (long Allowed = 0; Allowed < 100000; Allowed += 1 + Allowed / 8) {
    AllocationsLeft = Allowed;
    CountedBytes = Counted;
    llmc_error *E = Call();
    AllocationsLeft = -1;
    if (E == nullptr) {
      EXPECT_GT(Failures, 0);
      return;
    }
    ++Failures;
    EXPECT_EQ(llmc_error_code(E), LLMC_DOES_NOT_FIT) << llmc_error_message(E);
    llmc_error_destroy(E);
  }
  FAIL() << "never succeeds";
}

llmc::Model load(bool Int8 = false, bool WithText = true) {
  llmc::ModelOptions O;
  O.Device = "cpu";
  O.Threads = 2;
  return llmc::Model::load(llmc::test::testArtifact(Int8, WithText), O);
}

std::vector<int32_t> generate(llmc::Engine &E, llmc::RequestOptions O) {
  O.IgnoreEos = true;
  llmc::Request R = E.submit(O);
  while (E.step()) {
  }
  llmc_result Out = R.result();
  return {Out.tokens, Out.tokens + Out.token_count};
}

TEST(Api, LoadsAndTellsFacts) {
  llmc::Model M = load();
  llmc_model_info I = M.info();
  EXPECT_STREQ(I.device, "cpu");
  EXPECT_EQ(I.max_context, 1024u);
  EXPECT_EQ(I.max_batch, 10u);
  EXPECT_EQ(I.page_tokens, 64u);
  EXPECT_STREQ(I.note, "");
  EXPECT_EQ(llmc_api_version(), LLMC_API_VERSION);
  EXPECT_EQ(M.defaultSampling().temperature, 0);
}

TEST(Api, ErrorsCarryCodeAndMessage) {
  llmc_model *M = nullptr;
  llmc_error *E = llmc_model_load("/no/such/file", nullptr, &M);
  ASSERT_NE(E, nullptr);
  EXPECT_EQ(llmc_error_code(E), LLMC_MALFORMED);
  EXPECT_NE(std::string(llmc_error_message(E)).find("/no/such/file"),
            std::string::npos);
  EXPECT_EQ(llmc_error_note(E, 99), nullptr);
  EXPECT_EQ(M, nullptr);
  llmc_error_destroy(E);
  // Destroying nothing is fine.
  llmc_error_destroy(nullptr);
  llmc_model_destroy(nullptr);
  llmc_engine_destroy(nullptr);
  llmc_request_destroy(nullptr);
  llmc_sequence_destroy(nullptr);
  llmc_tokenizer_destroy(nullptr);
  llmc_free(nullptr);
}

TEST(Api, UnknownDeviceIsUsage) {
  llmc::ModelOptions O;
  O.Device = "abacus";
  try {
    llmc::Model::load(llmc::test::testArtifact(), O);
    FAIL();
  } catch (const llmc::Error &E) {
    EXPECT_EQ(E.code(), LLMC_USAGE);
  }
}

TEST(Api, OneEnginePerModel) {
  llmc::Model M = load();
  std::optional<llmc::Engine> First(std::in_place, M);
  EXPECT_THROW(llmc::Engine Second(M), llmc::Error);
  First.reset();
  llmc::Engine Third(M);
}

TEST(Api, HandlesMayGoInAnyOrder) {
  std::optional<llmc::Model> M(load());
  std::optional<llmc::Engine> E(std::in_place, *M);
  llmc::RequestOptions O;
  O.Tokens = {2, 3, 4};
  O.MaxTokens = 4;
  int Calls = 0;
  O.OnToken = [&](const llmc_event &) { return ++Calls, true; };
  std::optional<llmc::Request> R(E->submit(O));
  std::optional<llmc::Sequence> S(E->sequence());
  E->step();
  M.reset();
  E->step();
  R.reset(); // still running: cancelled, no more calls
  int Before = Calls;
  while (E->step()) {
  }
  EXPECT_EQ(Calls, Before);
  E.reset();
  EXPECT_EQ(S->length(), 0u);
}

TEST(Api, StreamedTextIsTheResult) {
  llmc::Model M = load();
  llmc::Engine E(M);
  llmc::RequestOptions O;
  O.Tokens = M.text().encode("The train in the rain");
  O.MaxTokens = 12;
  O.IgnoreEos = true;
  std::string Streamed;
  O.OnToken = [&](const llmc_event &Event) {
    Streamed.append(Event.text, Event.text_length);
    return true;
  };
  llmc::Request R = E.submit(O);
  while (E.step()) {
  }
  llmc_result Out = R.result();
  EXPECT_EQ(Out.finish, LLMC_FINISH_LENGTH);
  EXPECT_EQ(Out.token_count, 12u);
  EXPECT_EQ(std::string(Out.text, Out.text_length), Streamed);
  EXPECT_EQ(Out.prompt_tokens, O.Tokens.size());
  EXPECT_EQ(M.text().decode({Out.tokens, Out.token_count}, true), Streamed);
}

TEST(Api, BatchedEqualsAloneBitForBit) {
  for (bool Int8 : {false, true}) {
    llmc::Model M = load(Int8);
    llmc::Engine E(M);
    std::vector<std::vector<float>> Logits(6), AloneLogits(6);
    std::vector<llmc::RequestOptions> All;
    for (int32_t I = 0; I < 6; ++I) {
      llmc::RequestOptions O;
      for (int32_t K = 0; K < 3 + 40 * (I % 3); ++K)
        O.Tokens.push_back(3 + (I * 17 + K * 5) % 100);
      O.MaxTokens = 5;
      O.IgnoreEos = true;
      O.Logits = LLMC_LOGITS_LAST;
      All.push_back(O);
    }
    std::vector<llmc::Request> Requests;
    for (size_t I = 0; I < All.size(); ++I) {
      All[I].OnLogits = [&, I](uint32_t, std::span<const float> L) {
        Logits[I].assign(L.begin(), L.end());
      };
      Requests.push_back(E.submit(All[I]));
    }
    while (E.step()) {
    }
    for (size_t I = 0; I < All.size(); ++I) {
      All[I].OnLogits = [&, I](uint32_t, std::span<const float> L) {
        AloneLogits[I].assign(L.begin(), L.end());
      };
      std::vector<int32_t> Alone = generate(E, All[I]);
      llmc_result R = Requests[I].result();
      EXPECT_EQ(std::vector<int32_t>(R.tokens, R.tokens + R.token_count), Alone)
          << I << " int8 " << Int8;
      EXPECT_EQ(Logits[I], AloneLogits[I]) << I << " int8 " << Int8;
    }
  }
}

TEST(Api, ForwardEqualsRequests) {
  llmc::Model M = load(true);
  llmc::Engine E(M);
  std::vector<int32_t> Prompt = {5, 9, 30, 31, 7};
  llmc::RequestOptions O;
  O.Tokens = Prompt;
  O.MaxTokens = 4;
  std::vector<int32_t> Want = generate(E, O);

  llmc::Sequence S = E.sequence();
  std::vector<llmc_row> Rows;
  for (int32_t T : Prompt)
    Rows.push_back({S.get(), T, LLMC_PROMPT, false});
  Rows.back().want_logits = true;
  std::vector<float> L(M.info().vocab);
  std::vector<int32_t> Got;
  for (;;) {
    E.forward(Rows, L);
    Got.push_back(
        static_cast<int32_t>(std::max_element(L.begin(), L.end()) - L.begin()));
    if (Got.size() == Want.size())
      break;
    Rows = {{S.get(), Got.back(), LLMC_GENERATED, true}};
  }
  EXPECT_EQ(Got, Want);
  llmc::Sequence Fork = S.fork();
  EXPECT_EQ(Fork.length(), S.length());
  Fork.truncate(2);
  EXPECT_EQ(Fork.length(), 2u);
}

TEST(Api, ForwardRefusesForeignSequences) {
  llmc::Model A = load(), B = load();
  llmc::Engine EA(A), EB(B);
  llmc::Sequence S = EA.sequence();
  std::vector<llmc_row> Rows = {{S.get(), 1, LLMC_PROMPT, false}};
  EXPECT_THROW(EB.forward(Rows, {}), llmc::Error);
  Rows[0].sequence = nullptr;
  EXPECT_THROW(EA.forward(Rows, {}), llmc::Error);
}

TEST(Api, OlderStructsReadAsZero) {
  llmc::Model M = load();
  llmc_model_info I{};
  I.struct_size = offsetof(llmc_model_info, max_context);
  I.max_context = 77;
  llmc_model_get_info(M.get(), &I);
  EXPECT_NE(I.vocab, 0u);
  EXPECT_EQ(I.max_context, 77u);
}

TEST(Api, ArtifactsWithoutTextTakeIds) {
  llmc::Model M = load(false, false);
  EXPECT_FALSE(M.text().hasVocabulary());
  EXPECT_THROW(M.text().encode("x"), llmc::Error);
  llmc::Engine E(M);
  llmc::RequestOptions O;
  O.Tokens = {2, 3};
  O.MaxTokens = 3;
  EXPECT_EQ(generate(E, O).size(), 3u);
  O.Stop = {"x"};
  EXPECT_THROW(E.submit(O), llmc::Error);
}

TEST(Api, TemplatesRender) {
  llmc::Text T = llmc::Text::load(llmc::test::testArtifact());
  EXPECT_EQ(T.render(R"([{"role":"user","content":"hi"}])", ""),
            "<|begin|>user\nhi<|end|><|begin|>assistant\n");
  EXPECT_THROW(T.render("{}", ""), llmc::Error);
}

TEST(Api, WantOfMemoryIsAnError) {
  std::string Path = llmc::test::testArtifact();
  llmc_model_options MO{};
  MO.struct_size = sizeof(MO);
  MO.device = "cpu";
  MO.threads = 1;
  // The JSON library takes a little memory in its destructors and ends the
  // program when it gets none, so where it is used only larger blocks fail.
  constexpr std::size_t Large = 512;
  llmc_tokenizer *T = nullptr;
  starve([&] { return llmc_tokenizer_load(Path.c_str(), &T); }, Large);
  ASSERT_NE(T, nullptr);
  std::string Words = "The train in the rain, and the inner pain of 1999";
  int32_t *Ids = nullptr;
  size_t Count = 0, Length = 0;
  starve([&] {
    return llmc_tokenizer_encode(T, Words.data(), Words.size(), 0, &Ids,
                                 &Count);
  });
  char *Text = nullptr;
  starve([&] {
    return llmc_tokenizer_decode(T, Ids, Count, false, &Text, &Length);
  });
  llmc_free(Text);
  llmc_model *M = nullptr;
  starve([&] { return llmc_model_load(Path.c_str(), &MO, &M); }, Large);
  ASSERT_NE(M, nullptr);
  llmc_engine *E = nullptr;
  starve([&] { return llmc_engine_create(M, nullptr, &E); });
  ASSERT_NE(E, nullptr);
  // A request, and the steps that run it, are each done again from the start.
  starve([&]() -> llmc_error * {
    llmc_request_options O{};
    O.struct_size = sizeof(O);
    O.tokens = Ids, O.token_count = Count;
    O.max_tokens = 3;
    O.ignore_eos = true;
    llmc_request *R = nullptr;
    llmc_error *Bad = llmc_engine_submit(E, &O, &R);
    for (bool Done = false; Bad == nullptr && !Done;)
      Bad = llmc_engine_step(E, &Done);
    llmc_request_destroy(R);
    return Bad;
  });
  llmc_sequence *S = nullptr, *Fork = nullptr;
  starve([&] { return llmc_sequence_create(E, &S); });
  starve([&] {
    llmc_row Row{S, 5, LLMC_PROMPT, false};
    return llmc_engine_forward(E, &Row, 1, nullptr, 0);
  });
  EXPECT_EQ(llmc_sequence_length(S), 1u);
  starve([&] { return llmc_sequence_fork(S, &Fork); });
  EXPECT_EQ(llmc_sequence_length(Fork), 1u);
  CountedBytes = 0;
  AllocationsLeft = 0; // destroying needs none
  llmc_sequence_destroy(Fork);
  llmc_sequence_destroy(S);
  llmc_engine_destroy(E);
  llmc_model_destroy(M);
  llmc_tokenizer_destroy(T);
  AllocationsLeft = -1;
  llmc_free(Ids);
}

} // namespace
