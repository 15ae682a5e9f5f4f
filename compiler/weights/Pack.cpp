// The packer. Tensors are cut into chunks of whole panels; threads take chunks
// in order, read, quantise and lay them out on their own, and hand them to the
// sink in turn. A thread waits for its turn with its chunk in hand, so at most
// one chunk per thread is in memory.
#include "compiler/weights/Pack.h"

#include "compiler/weights/PackPanels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace llmc {
namespace {

/// Rows of one tensor that a thread works on at once.
struct Chunk {
  uint32_t Tensor;
  uint64_t Begin, End;
};

/// Bytes that a chunk of 16 rows needs: sources, panel, output.
uint64_t panelMemory(const PackedTensor &T) {
  uint64_t Element = 1;
  for (const WeightSource &S : T.Sources)
    Element = std::max<uint64_t>(Element, S.Quantized ? 4 : bitsOf(S.Type) / 8);
  uint64_t Packed = packedBytes(T.Form, PanelRows, T.Cols);
  return T.Cols * PanelRows * (Element + 1) + Packed;
}

std::vector<Chunk> cut(const WeightProgram &P, uint64_t MemoryPerThread) {
  std::vector<Chunk> Chunks;
  for (uint32_t I = 0; I < P.Tensors.size(); ++I) {
    const PackedTensor &T = P.Tensors[I];
    if (I > 0 && P.Tensors[I - 1].Offset == T.Offset)
      continue; // another name of the same bytes
    uint64_t Panels = std::max<uint64_t>(1, MemoryPerThread / panelMemory(T));
    uint64_t Step = Panels * PanelRows;
    for (uint64_t Row = 0; Row < T.Rows; Row += Step)
      Chunks.push_back({I, Row, std::min(T.Rows, Row + Step)});
  }
  return Chunks;
}

TensorQuality qualityOf(const PanelError &E) {
  if (E.Noise == 0 && E.Largest == 0)
    return {ExactSnrDb, 0, true};
  double Db = 10 * std::log10(E.Signal / std::max(E.Noise, 1e-300));
  return {static_cast<float>(std::clamp(Db, -200.0, 900.0)), E.Largest, false};
}

/// State of one run of the packer.
class Packer {
public:
  Packer(const WeightProgram &P, const WeightStore &Store, const PackOptions &O,
         const WeightSink &Sink, unsigned Threads)
      : Program(P), Store(Store), Options(O), Sink(Sink),
        Chunks(cut(P, std::max<uint64_t>(O.MemoryBytes / Threads, 1))),
        Qualities(P.Tensors.size()) {}

  Result<std::vector<TensorQuality>> run(unsigned Threads) {
    std::vector<std::thread> Helpers;
    for (unsigned I = 1; I < Threads; ++I)
      Helpers.emplace_back([this] { work(); });
    work();
    for (std::thread &T : Helpers)
      T.join();
    LLMC_RETURN_IF_ERROR(std::move(Failure));
    LLMC_RETURN_IF_ERROR(padTo(Program.Bytes));
    for (size_t I = 1; I < Qualities.size(); ++I)
      if (Program.Tensors[I].Offset == Program.Tensors[I - 1].Offset)
        Qualities[I] = Qualities[I - 1];
    return std::move(Qualities);
  }

private:
  void work();
  Status commit(const Chunk &C, const PackedRows &Rows);
  Status finishTensor(const Chunk &C);
  Status write(std::span<const uint8_t> Data);
  Status padTo(uint64_t Offset);

  const WeightProgram &Program;
  const WeightStore &Store;
  const PackOptions &Options;
  const WeightSink &Sink;
  const std::vector<Chunk> Chunks;
  std::vector<TensorQuality> Qualities;

  std::atomic<size_t> Next = 0; ///< chunk to take
  std::mutex Lock;              ///< of all below
  std::condition_variable Turned;
  size_t Turn = 0; ///< chunk to commit
  Status Failure;
  uint64_t Written = 0;
  std::vector<uint8_t> Scales; ///< of the present n.w8b32 tensor
  PanelError Error;            ///< of the present tensor
};

void Packer::work() {
  Gather Sources;
  PackedRows Rows;
  for (size_t I = Next++; I < Chunks.size(); I = Next++) {
    const Chunk &C = Chunks[I];
    const PackedTensor &T = Program.Tensors[C.Tensor];
    Status S = Sources.read(T, Store, C.Begin, C.End);
    if (S.ok())
      S = packRows(T, Sources, C.Begin, C.End, Rows);
    std::unique_lock<std::mutex> Guard(Lock);
    Turned.wait(Guard, [&] { return Turn == I; });
    if (Failure.ok() && S.ok())
      S = commit(C, Rows);
    if (Failure.ok())
      Failure = std::move(S);
    if (!Failure.ok())
      Next = Chunks.size(); // nobody takes another one
    ++Turn;
    Guard.unlock();
    Turned.notify_all();
  }
}

/// Hands a chunk to the sink and adds up its error, panel by panel, so that
/// the sums do not depend on how the tensor was cut.
Status Packer::commit(const Chunk &C, const PackedRows &Rows) {
  const PackedTensor &T = Program.Tensors[C.Tensor];
  if (C.Begin == 0) {
    LLMC_RETURN_IF_ERROR(padTo(T.Offset));
    Error = {};
    Scales.clear();
  }
  for (const PanelError &E : Rows.Errors) {
    Error.Signal += E.Signal;
    Error.Noise += E.Noise;
    Error.Largest = std::max(Error.Largest, E.Largest);
  }
  LLMC_RETURN_IF_ERROR(write(Rows.Data));
  Scales.insert(Scales.end(), Rows.Scales.begin(), Rows.Scales.end());
  if (C.End == T.Rows)
    LLMC_RETURN_IF_ERROR(finishTensor(C));
  if (Options.Progress)
    Options.Progress(Written, Program.Bytes);
  return Status::success();
}

Status Packer::finishTensor(const Chunk &C) {
  const PackedTensor &T = Program.Tensors[C.Tensor];
  Qualities[C.Tensor] = qualityOf(Error);
  if (T.Form == Layout::NW8B32) {
    LLMC_RETURN_IF_ERROR(padTo(T.Offset + scaleOffsetNW8B32(T.Rows, T.Cols)));
    LLMC_RETURN_IF_ERROR(write(Scales));
  }
  if (Written != T.Offset + T.Bytes)
    return internalError("packed tensor " + T.Name + " ends at " +
                         std::to_string(Written) + ", planned was " +
                         std::to_string(T.Offset + T.Bytes));
  return Status::success();
}

Status Packer::write(std::span<const uint8_t> Data) {
  Written += Data.size();
  return Sink(Data);
}

Status Packer::padTo(uint64_t Offset) {
  static constexpr uint8_t Zeros[4096] = {};
  while (Written < Offset) {
    uint64_t Count = std::min<uint64_t>(Offset - Written, sizeof Zeros);
    LLMC_RETURN_IF_ERROR(write({Zeros, Count}));
  }
  return Status::success();
}
} // namespace

Result<std::vector<TensorQuality>> packWeights(const WeightProgram &P,
                                               const WeightStore &Store,
                                               const PackOptions &Options,
                                               const WeightSink &Sink) {
  LLMC_RETURN_IF_ERROR(checkProgram(P, Store));
  unsigned Threads =
      Options.Threads ? Options.Threads : std::thread::hardware_concurrency();
  Threads = std::clamp(Threads, 1u, 256u);
  return Packer(P, Store, Options, Sink, Threads).run(Threads);
}

} // namespace llmc
