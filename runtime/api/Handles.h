// What the opaque handles of llmc.h hold. Handles share ownership of what is
// below them, so that they may be destroyed in any order.
#ifndef LLMC_RUNTIME_API_HANDLES_H
#define LLMC_RUNTIME_API_HANDLES_H

#include "runtime/engine/ConstraintFilter.h"
#include "runtime/engine/Engine.h"
#include "runtime/include/llmc/llmc.h"
#include "runtime/model/Model.h"
#include "runtime/text/ChatTemplate.h"
#include "runtime/text/GenerationDefaults.h"

#include <atomic>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>

struct llmc_error {
  llmc::Status S;
};

struct llmc_tokenizer {
  std::optional<llmc::Tokenizer> Vocabulary;
  std::string TemplateSource;
  llmc::GenerationDefaults Defaults;
};

namespace llmc {

/// A loaded model with its one session.
struct ModelState {
  std::unique_ptr<llmc::Model> Loaded;
  llmc_tokenizer Text;
  std::string Device;
  uint64_t WeightBytes = 0;
  std::atomic<bool> HasEngine = false;
};

struct EngineState {
  explicit EngineState(std::shared_ptr<ModelState> M, uint32_t MaxBatch)
      : Model(std::move(M)),
        Pages(Model->Loaded->executable(),
              Model->Loaded->artifact().manifest().Model.MaxContext),
        Run(Pages, Model->Text.Vocabulary ? &*Model->Text.Vocabulary : nullptr,
            MaxBatch) {}
  ~EngineState() { Model->HasEngine = false; }

  std::shared_ptr<ModelState> Model;
  Session Pages;
  Engine Run;
  ConstraintStore Constraints{
      Model->Text.Vocabulary ? &*Model->Text.Vocabulary : nullptr,
      Model->Loaded->artifact().find(SectionKind::TokenTrie)};
};

/// Reads the text sections of an artifact; the tokenizer lies over its mapping
/// and shares ownership.
Status loadText(std::shared_ptr<const Reader> R, llmc_tokenizer &Out);

inline llmc_error *toError(Status S) {
  return S.ok() ? nullptr : new llmc_error{std::move(S)};
}

/// The failure of an allocation; needs no memory, is never freed.
llmc_error *outOfMemory();

/// What a function of the C API does: no exception for want of memory leaves
/// it. (length_error is how the containers refuse absurd sizes.)
template <typename Fn> llmc_error *guarded(Fn &&Body) {
  try {
    return Body();
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::length_error &) {
    return outOfMemory();
  }
}

/// Copy of a caller's struct whose later fields may be absent.
template <typename T> T copyOptions(const T *In) {
  T Out{};
  if (In != nullptr)
    std::memcpy(&Out, In, std::min(In->struct_size, sizeof(T)));
  return Out;
}
/// The other way round, keeping the caller's struct_size.
template <typename T> void copyResult(T &In, T *Out) {
  size_t Size = std::min(Out->struct_size, sizeof(T));
  In.struct_size = Out->struct_size;
  if (Size >= sizeof(size_t))
    std::memcpy(Out, &In, Size);
}

} // namespace llmc

struct llmc_model {
  std::shared_ptr<llmc::ModelState> S;
};
struct llmc_engine {
  std::shared_ptr<llmc::EngineState> S;
};
struct llmc_request {
  std::shared_ptr<llmc::EngineState> Engine;
  std::shared_ptr<llmc::Request> R;
};
struct llmc_sequence {
  std::shared_ptr<llmc::EngineState> Engine;
  llmc::SequenceId Id = 0;
};

#endif // LLMC_RUNTIME_API_HANDLES_H
