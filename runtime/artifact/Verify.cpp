// Checks every hash of an artifact. Chunks of weights are hashed in parallel;
// the first damaged one in file order is reported, whatever the threads.
#include "runtime/artifact/Verify.h"

#include "runtime/base/Hash.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

namespace llmc {
namespace {

/// A chunk of a weights section.
struct Chunk {
  uint32_t Section;
  uint64_t Number; ///< in its section
  std::span<const uint8_t> Bytes;
  uint64_t FileOffset;
  uint64_t Hash; ///< as stored
  bool Damaged = false;
  Sha256Digest Digest{};
};

bool hasDigest(const SectionEntry &E, const Sha256Digest &D) {
  return std::equal(D.begin(), D.end(), E.Sha256);
}

std::string nameOfSection(const Reader &R, uint32_t Index) {
  SectionKind Kind = static_cast<SectionKind>(R.sections()[Index].Kind);
  return "section " + std::to_string(Index) + " (" + std::string(nameOf(Kind)) +
         ")";
}

/// "", or " in NAME, NAME, …": packed tensors that a byte range touches.
std::string tensorsIn(const Reader &R, const Chunk &C) {
  constexpr int MaxNames = 3;
  uint64_t Begin = C.Number * ChunkBytes, End = Begin + C.Bytes.size();
  std::string Names;
  int Count = 0;
  for (const ManifestTensor &T : R.manifest().Tensors) {
    if (T.Weights != static_cast<int32_t>(C.Section) || T.Offset >= End ||
        T.Offset + T.Bytes <= Begin)
      continue;
    if (++Count > MaxNames)
      continue;
    Names += Names.empty() ? " in " : ", ";
    Names += T.Name;
  }
  if (Count > MaxNames)
    Names += " and " + std::to_string(Count - MaxNames) + " more tensors";
  return Names;
}

Status damagedChunk(const Reader &R, const Chunk &C) {
  uint64_t Begin = C.Number * ChunkBytes;
  return verificationError(R.name() + ": " + nameOfSection(R, C.Section) +
                           " is damaged: chunk " + std::to_string(C.Number) +
                           " (bytes " + std::to_string(Begin) + " to " +
                           std::to_string(Begin + C.Bytes.size()) + ")" +
                           tensorsIn(R, C) + " does not have its hash");
}

std::vector<Chunk> chunksOf(const Reader &R) {
  std::vector<Chunk> Chunks;
  for (uint32_t I = 0; I < R.sections().size(); ++I) {
    const SectionEntry &E = R.sections()[I];
    if (static_cast<SectionKind>(E.Kind) != SectionKind::WeightHashes)
      continue;
    std::span<const uint8_t> Hashes = R.section(I), W = R.section(E.Link);
    for (uint64_t N = 0; N * ChunkBytes < W.size(); ++N) {
      Chunk C{E.Link, N, {}, R.sections()[E.Link].Offset + N * ChunkBytes, 0};
      C.Bytes = W.subspan(N * ChunkBytes);
      C.Bytes = C.Bytes.first(std::min<size_t>(C.Bytes.size(), ChunkBytes));
      std::memcpy(&C.Hash, Hashes.data() + N * 8, 8);
      Chunks.push_back(C);
    }
  }
  return Chunks;
}

/// Hashes all chunks on several threads.
void hashChunks(const Reader &R, const VerifyOptions &O,
                std::vector<Chunk> &Chunks) {
  std::atomic<size_t> Next = 0;
  std::mutex Lock;
  uint64_t Done = 0, All = 0;
  for (const Chunk &C : Chunks)
    All += C.Bytes.size();
  auto Work = [&] {
    for (size_t I = Next++; I < Chunks.size(); I = Next++) {
      Chunk &C = Chunks[I];
      C.Damaged = xxh3(C.Bytes) != C.Hash;
      if (O.Identity && !C.Damaged)
        C.Digest = sha256(C.Bytes);
      R.release(C.FileOffset, C.Bytes.size());
      std::lock_guard<std::mutex> Guard(Lock);
      Done += C.Bytes.size();
      if (O.Progress)
        O.Progress(Done, All);
    }
  };
  unsigned Threads =
      O.Threads ? O.Threads : std::thread::hardware_concurrency();
  Threads = std::clamp<unsigned>(Threads, 1, 64);
  std::vector<std::thread> Helpers;
  for (unsigned I = 1; I < std::min<size_t>(Threads, Chunks.size()); ++I)
    Helpers.emplace_back(Work);
  Work();
  for (std::thread &T : Helpers)
    T.join();
}

Status identityOf(const Reader &R, uint32_t Section, bool Matches) {
  if (Matches)
    return Status::success();
  return verificationError(R.name() + ": " + nameOfSection(R, Section) +
                           " does not have its SHA-256");
}
} // namespace

Result<VerifyReport> verifyHashes(const Reader &R, const VerifyOptions &O) {
  VerifyReport Report;
  Report.Sections = static_cast<uint32_t>(R.sections().size());
  std::vector<Chunk> Chunks = chunksOf(R);
  hashChunks(R, O, Chunks);
  Report.Chunks = Chunks.size();
  std::vector<Sha256> Trees(R.sections().size());
  for (const Chunk &C : Chunks) {
    if (C.Damaged)
      return damagedChunk(R, C);
    Report.WeightBytes += C.Bytes.size();
    Trees[C.Section].update(C.Digest);
  }
  if (!O.Identity)
    return Report;
  for (uint32_t I = 0; I < R.sections().size(); ++I) {
    const SectionEntry &E = R.sections()[I];
    bool Weights = static_cast<SectionKind>(E.Kind) == SectionKind::Weights;
    Sha256Digest D = Weights ? Trees[I].finish() : sha256(R.section(I));
    LLMC_RETURN_IF_ERROR(identityOf(R, I, hasDigest(E, D)));
  }
  return Report;
}

} // namespace llmc
