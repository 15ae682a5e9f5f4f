// Device interface: what the model room needs from a machine that runs steps.
// One implementation per folder (cpu/, cuda/); cts/ is the conformance suite
// that every one of them passes. There is no branch on the kind of device
// outside these folders.
#ifndef LLMC_RUNTIME_DEVICE_DEVICE_H
#define LLMC_RUNTIME_DEVICE_DEVICE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

/// Code and geometry of one target of an artifact, as the reader validated it.
/// All spans are borrowed from the mapped artifact, which outlives the
/// Executable.
struct ProgramView {
  std::string Target;               ///< "x86-64-avx512vnni", "sm_80", …
  std::span<const uint8_t> Program; ///< verified FlatBuffer llmc.fb.Program
  std::span<const uint8_t> Code;    ///< CPU image, or cubin (may be empty)
  std::span<const uint8_t> Ptx;     ///< PTX text, CUDA only
  std::span<const uint8_t> Weights; ///< packed weights of this layout
};

/// One step on host memory. Sizes: T = Ids.size(), R = LogitRows.size().
struct StepInput {
  std::span<const int32_t> Ids;         ///< [T], each in [0, vocab)
  std::span<const int32_t> Positions;   ///< [T]
  std::span<const int32_t> RowSequence; ///< [T], in [0, Sequences)
  /// [T], of the row's sequence: its prompt's for prompt rows, position + 1 for
  /// generated ones; empty: position + 1 for all.
  std::span<const int32_t> Lengths;
  uint32_t PromptRows = 0; ///< rows [0, PromptRows) are prompt
  uint32_t Sequences = 0;  ///< S
  uint32_t PagesPerSequence = 0;
  std::span<const uint32_t> PageTable; ///< [S][PagesPerSequence]
  std::span<const int32_t> LogitRows;  ///< [R], ascending rows of T
  std::span<float> Logits;             ///< [R][outputs], out, host memory
};

/// How much an Executable holds and takes; fixed at load.
struct ExecutableInfo {
  uint32_t MaxTokens = 0; ///< largest T of one step
  uint32_t MaxSequences = 0;
  uint32_t PageTokens = 0; ///< tokens per KV page
  uint32_t Pages = 0;      ///< pages in the pool
  uint64_t PageBytes = 0;  ///< bytes of one page, all layers
  uint64_t ArenaBytes = 0;
  uint32_t Vocab = 0; ///< token ids are below
  /// Floats of a row of logits where that is not vocab: the hidden size of a
  /// graph without a head.
  uint32_t Outputs = 0;
  /// Pages hold states that tokens replace (linear attention): a page that is
  /// cut inside must be computed again from its start.
  bool Records = false;

  uint32_t rowFloats() const { return Outputs ? Outputs : Vocab; }
};

/// Time of a kernel within a step, over all of its launches.
struct KernelTime {
  std::string Kernel;           ///< entry in the module
  uint32_t Launches = 0;        ///< in a step
  double Microseconds = 0;      ///< of one launch, on average
  double Predicted = 0;         ///< the compiler's model of that, 0: none
  uint64_t Bytes = 0, Macs = 0; ///< of one launch on average, as counted there
};

/// A loaded program with its weights, arena and KV pool. Owned by the caller;
/// used by one thread at a time.
class Executable {
public:
  virtual ~Executable() = default;
  virtual const ExecutableInfo &info() const = 0;
  /// Runs one step and waits for it. No allocation. Fails with DoesNotFit when
  /// T, S or R exceed info(), with Internal on a device error.
  virtual Status step(const StepInput &In) = 0;
  /// Copies page From to page To in all layers (fork of a sequence).
  virtual Status copyPage(uint32_t From, uint32_t To) = 0;
  /// Runs each kernel of the step by itself, all of its launches Repeats times
  /// one after another, on what the step leaves behind. Afterwards the pages
  /// hold nothing of use. Unsupported where kernels are not launches.
  virtual Result<std::vector<KernelTime>> timeKernels(const StepInput &,
                                                      unsigned) {
    return unsupportedError("this device does not time kernels");
  }
};

struct DeviceLoadOptions {
  uint32_t Threads = 0; ///< CPU: 0 = as many as the machine grants
  uint32_t Pages = 0;   ///< KV pages; 0 = the plan's number
};

/// A machine that executes programs. Created by openDevice, owned by the
/// caller, outlives its Executables.
class Device {
public:
  virtual ~Device() = default;
  /// "cpu", "cuda:0", "cuda-sim"
  virtual std::string_view name() const = 0;
  /// Empty when the program can run here, else one sentence with the reason.
  virtual std::string whyNot(const ProgramView &P) const = 0;
  virtual Result<std::unique_ptr<Executable>>
  load(const ProgramView &P, const DeviceLoadOptions &O) = 0;
};

/// Opens "cpu", "cuda", "cuda:N" or "cuda-sim". DoesNotFit with the reason
/// (no driver, driver too old, …) when there is none.
Result<std::unique_ptr<Device>> openDevice(std::string_view Name);

} // namespace llmc

#endif // LLMC_RUNTIME_DEVICE_DEVICE_H
