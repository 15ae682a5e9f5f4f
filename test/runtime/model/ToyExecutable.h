// An Executable without a model: it keeps each token in the page pool and
// computes the logits of a row by hashing all tokens of its sequence, read
// back through the page table. So a wrong page, position, class or order of
// rows changes the logits.
#ifndef LLMC_TEST_RUNTIME_MODEL_TOYEXECUTABLE_H
#define LLMC_TEST_RUNTIME_MODEL_TOYEXECUTABLE_H

#include "runtime/device/Device.h"

#include <algorithm>
#include <vector>

namespace llmc {

class ToyExecutable : public Executable {
public:
  explicit ToyExecutable(ExecutableInfo I)
      : Info(I), Pool(size_t{I.Pages} * I.PageTokens, -1) {}

  static ExecutableInfo small(uint32_t Vocab = 50) {
    ExecutableInfo I;
    I.MaxTokens = 8, I.MaxSequences = 4, I.PageTokens = 4, I.Pages = 16;
    I.PageBytes = 64, I.Vocab = Vocab;
    return I;
  }

  const ExecutableInfo &info() const override { return Info; }

  Status step(const StepInput &In) override {
    ++Steps;
    LastTokens = In.Ids.size();
    MostLogitRows = std::max(MostLogitRows, In.LogitRows.size());
    if (FailNext)
      return FailNext = false, internalError("toy failure");
    for (size_t T = 0; T < In.Ids.size(); ++T) {
      int32_t Class = T < In.PromptRows ? 0 : 1;
      at(In, T, In.Positions[T]) = In.Ids[T] * 2 + Class;
    }
    for (size_t R = 0; R < In.LogitRows.size(); ++R)
      fill(In, static_cast<size_t>(In.LogitRows[R]),
           In.Logits.subspan(R * Info.Vocab, Info.Vocab));
    return Status::success();
  }

  Status copyPage(uint32_t From, uint32_t To) override {
    ++Copies;
    for (uint32_t I = 0; I < Info.PageTokens; ++I)
      Pool[size_t{To} * Info.PageTokens + I] =
          Pool[size_t{From} * Info.PageTokens + I];
    return Status::success();
  }

  /// Logits of the last of these tokens, by the definition.
  static std::vector<float> expected(const std::vector<int32_t> &Codes,
                                     uint32_t Vocab) {
    uint64_t H = 1;
    for (int32_t C : Codes)
      H = mix(H, C);
    std::vector<float> L(Vocab);
    for (uint32_t V = 0; V < Vocab; ++V)
      L[V] = static_cast<float>(mix(H, static_cast<int32_t>(V)) >> 40);
    return L;
  }

  int Steps = 0, Copies = 0;
  size_t LastTokens = 0, MostLogitRows = 0;
  bool FailNext = false;

private:
  static uint64_t mix(uint64_t H, int32_t V) {
    H = (H ^ static_cast<uint64_t>(V + 1)) * 0x9E3779B97F4A7C15u;
    return H ^ H >> 29;
  }
  int32_t &at(const StepInput &In, size_t Row, int32_t Position) {
    size_t Sequence = static_cast<size_t>(In.RowSequence[Row]);
    uint32_t Page = In.PageTable[Sequence * In.PagesPerSequence +
                                 Position / Info.PageTokens];
    return Pool[size_t{Page} * Info.PageTokens + Position % Info.PageTokens];
  }
  void fill(const StepInput &In, size_t Row, std::span<float> Out) {
    std::vector<int32_t> Codes;
    for (int32_t P = 0; P <= In.Positions[Row]; ++P)
      Codes.push_back(at(In, Row, P));
    std::vector<float> L = expected(Codes, Info.Vocab);
    std::copy(L.begin(), L.end(), Out.begin());
  }

  ExecutableInfo Info;
  std::vector<int32_t> Pool;
};

} // namespace llmc

#endif // LLMC_TEST_RUNTIME_MODEL_TOYEXECUTABLE_H
