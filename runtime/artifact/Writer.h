// Writes an artifact. Sizes of all sections are known before the first weight
// byte, so that weights stream to the end of the file and nothing is moved:
//
//   create -> addSection / reserveSection / declareWeights, in any order
//          -> appendWeights, all sections in order of declaration
//          -> fillSection of the reserved ones -> finish
//
// The file appears under its name only when finish() succeeds.
#ifndef LLMC_RUNTIME_ARTIFACT_WRITER_H
#define LLMC_RUNTIME_ARTIFACT_WRITER_H

#include "runtime/artifact/Format.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace llmc {

/// Used by one thread at a time. Every failure of order or size is Internal,
/// of the disk DoesNotFit or Malformed.
class Writer {
public:
  static Result<std::unique_ptr<Writer>> create(const std::string &Path);

  /// Adds a section; returns its index.
  Result<uint32_t> addSection(SectionKind Kind, std::span<const uint8_t> Data);
  /// Adds a section whose bytes come later by fillSection: at most MaxBytes.
  Result<uint32_t> reserveSection(SectionKind Kind, uint64_t MaxBytes);
  Status fillSection(uint32_t Index, std::span<const uint8_t> Data);

  /// Adds a weights section of exactly Bytes; returns its index.
  Result<uint32_t> declareWeights(uint64_t Bytes);
  /// The next bytes of a declared section. After the first call no section can
  /// be added.
  Status appendWeights(uint32_t Index, std::span<const uint8_t> Data);

  /// Writes hashes, table and header, flushes and renames.
  Status finish();

  /// SHA-256 of the section table; valid after finish().
  const Sha256Digest &identity() const { return Identity; }
  /// Size of the finished file.
  uint64_t fileBytes() const { return FileBytes; }

private:
  struct Section {
    SectionEntry Entry{};
    std::vector<uint8_t> Data; ///< until written
    uint64_t MaxBytes = 0;     ///< room in the file
    bool Filled = false;
    // Weights: what has been appended.
    uint64_t Appended = 0;
    std::vector<uint64_t> ChunkHashes;
    Sha256 ChunkDigests;
  };

  Writer() = default;
  Result<uint32_t> add(SectionKind Kind, uint32_t Align, uint64_t MaxBytes);
  Status seal();
  Status flushChunk();
  Status finishWeights();

  AtomicFile File;
  std::vector<Section> Sections;
  std::vector<uint32_t> WeightOrder; ///< declared weight sections
  size_t Current = 0;                ///< being appended, of WeightOrder
  std::vector<uint8_t> Chunk;        ///< not yet hashed and written
  bool Sealed = false;
  Sha256Digest Identity{};
  uint64_t FileBytes = 0;
};

} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_WRITER_H
