// Opens and validates an artifact. After open() succeeded every span lies in
// the mapping, every section but the weights has the hash that was written,
// and all that is not code has values in range: no bytes whatsoever make it
// crash. Weights are only mapped; verifyWeights (Verify.h) reads them.
#ifndef LLMC_RUNTIME_ARTIFACT_READER_H
#define LLMC_RUNTIME_ARTIFACT_READER_H

#include "runtime/artifact/Format.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/base/File.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace llmc {

/// What one target needs to run; field by field a ProgramView of
/// runtime/device/Device.h. Spans are borrowed from the Reader.
struct TargetView {
  std::string Target;               ///< "x86-64-avx512vnni", "sm_80", …
  std::string Layout;               ///< "x86", "cuda"
  std::span<const uint8_t> Program; ///< validated FlatBuffer llmc.fb.Program
  std::span<const uint8_t> Code;    ///< CPU image, or cubin (may be empty)
  std::span<const uint8_t> Ptx;     ///< PTX text, CUDA only
  std::span<const uint8_t> Weights; ///< packed weights of the layout
};

/// An open artifact. Immutable, so any number of threads may use it. It must
/// outlive all that was borrowed from it.
class Reader {
public:
  /// Malformed, naming file, section and both numbers, when something does not
  /// hold; the message of a newer format says which runtime is needed.
  static Result<std::unique_ptr<Reader>> open(const std::string &Path);
  /// The same on bytes in memory (aligned to 8), borrowed; Name is for
  /// messages.
  static Result<std::unique_ptr<Reader>>
  fromBytes(std::span<const uint8_t> Bytes, const std::string &Name);

  const std::string &name() const { return Name; }
  const FileHeader &header() const { return Header; }
  std::span<const SectionEntry> sections() const { return Table; }
  /// Bytes of a section; empty when there is no such section.
  std::span<const uint8_t> section(uint32_t Index) const;
  /// Bytes of the first section of a kind; empty when there is none.
  std::span<const uint8_t> find(SectionKind Kind) const;
  const Manifest &manifest() const { return Facts; }
  /// In the order of manifest().Targets.
  const std::vector<TargetView> &targets() const { return Views; }
  /// The artifact's identity (SHA-256 of the section table), hexadecimal.
  std::string identity() const;
  /// Lets the mapping drop the pages of a file range from memory.
  void release(uint64_t Offset, uint64_t Bytes) const;

private:
  Reader() = default;
  Status validate();
  Status readHeader();
  Status readTable();
  Status checkPlacement() const;
  Status checkHashes() const;
  Status checkWeightHashes(uint32_t Index) const;
  Status readManifest();
  Status bindTarget(const ManifestTarget &T, const ManifestPlan &P);
  Status expectSection(const ManifestTarget &T, std::string_view What,
                       int32_t Index, SectionKind Kind, bool Required) const;
  std::string describe(uint32_t Index) const;

  std::string Name;
  MappedFile File;
  std::span<const uint8_t> Bytes;
  FileHeader Header{};
  std::vector<SectionEntry> Table;
  Manifest Facts;
  std::vector<TargetView> Views;
};

} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_READER_H
