// Validation of an artifact, outside in: header, section table, placement,
// hashes, manifest, programs. Each step trusts only what the steps before it
// checked.
#include "runtime/artifact/Reader.h"

#include "runtime/artifact/Validate.h"
#include "runtime/base/Hash.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

namespace llmc {
namespace {

/// Most zero bytes between two sections (what a reserved section left over).
constexpr uint64_t MaxGap = 1 << 20;

std::string versionText(unsigned Major, unsigned Minor) {
  return std::to_string(Major) + "." + std::to_string(Minor);
}

bool allZero(std::span<const uint8_t> Bytes) {
  return std::all_of(Bytes.begin(), Bytes.end(),
                     [](uint8_t B) { return B == 0; });
}

SectionKind kindOf(const SectionEntry &E) {
  return static_cast<SectionKind>(E.Kind);
}
} // namespace

Result<std::unique_ptr<Reader>> Reader::open(const std::string &Path) {
  LLMC_ASSIGN_OR_RETURN(MappedFile File, MappedFile::open(Path));
  std::unique_ptr<Reader> R(new Reader);
  R->Name = Path;
  R->File = std::move(File);
  R->Bytes = R->File.bytes();
  LLMC_RETURN_IF_ERROR(R->validate());
  return R;
}

Result<std::unique_ptr<Reader>>
Reader::fromBytes(std::span<const uint8_t> Bytes, const std::string &Name) {
  std::unique_ptr<Reader> R(new Reader);
  R->Name = Name;
  R->Bytes = Bytes;
  LLMC_RETURN_IF_ERROR(R->validate());
  return R;
}

Status Reader::validate() {
  Status S = readHeader();
  if (S.ok())
    S = readTable();
  if (S.ok())
    S = checkPlacement();
  if (S.ok())
    S = checkHashes();
  if (S.ok())
    S = readManifest();
  if (S.ok())
    return S;
  return Status(S.code(), Name + ": " + S.message());
}

Status Reader::readHeader() {
  if (Bytes.size() < sizeof Header)
    return malformedError("not an llmc artifact: expected at least " +
                          std::to_string(sizeof Header) + " bytes, found " +
                          std::to_string(Bytes.size()));
  std::memcpy(&Header, Bytes.data(), sizeof Header);
  if (std::memcmp(Header.Magic, FormatMagic, sizeof FormatMagic) != 0)
    return malformedError("not an llmc artifact: it does not begin with LLMC");
  if (Header.Hash != xxh3(Bytes.first(offsetof(FileHeader, Hash))))
    return malformedError("the header is damaged: its hash does not match");
  if (Header.Major != FormatMajor || Header.RuntimeMajor != FormatMajor ||
      Header.RuntimeMinor > FormatMinor)
    return malformedError(
        "artifact of format " + versionText(Header.Major, Header.Minor) +
        " needs runtime " +
        versionText(Header.RuntimeMajor, Header.RuntimeMinor) +
        " or newer, this one reads up to " +
        versionText(FormatMajor, FormatMinor));
  if (Header.FileBytes != Bytes.size())
    return malformedError(
        std::string("artifact is ") +
        (Bytes.size() < Header.FileBytes ? "truncated" : "too long") +
        ": expected " + std::to_string(Header.FileBytes) + " bytes, found " +
        std::to_string(Bytes.size()));
  if (Header.Reserved[0] != 0 || Header.Reserved[1] != 0)
    return malformedError("reserved fields of the header are not zero");
  return Status::success();
}

Status Reader::readTable() {
  uint32_t Count = Header.SectionCount;
  if (Count == 0 || Count > MaxSections)
    return malformedError("expected 1 to " + std::to_string(MaxSections) +
                          " sections, found " + std::to_string(Count));
  uint64_t TableBytes = uint64_t{Count} * sizeof(SectionEntry);
  if (TableBytes > Bytes.size() - sizeof Header)
    return malformedError("the section table of " + std::to_string(Count) +
                          " entries does not fit a file of " +
                          std::to_string(Bytes.size()) + " bytes");
  std::span<const uint8_t> Raw = Bytes.subspan(sizeof Header, TableBytes);
  Sha256Digest Digest = sha256(Raw);
  if (!std::equal(Digest.begin(), Digest.end(), Header.Identity))
    return malformedError(
        "the section table is damaged: its SHA-256 does not match");
  Table.resize(Count);
  std::memcpy(Table.data(), Raw.data(), TableBytes);
  return Status::success();
}

std::string Reader::describe(uint32_t Index) const {
  return "section " + std::to_string(Index) + " (" +
         std::string(nameOf(kindOf(Table[Index]))) + ")";
}

/// Kinds are known; sections lie in the file, aligned, without overlap, with
/// zeros between them, and fill it.
Status Reader::checkPlacement() const {
  std::vector<uint32_t> Order(Table.size());
  std::iota(Order.begin(), Order.end(), 0u);
  std::stable_sort(Order.begin(), Order.end(), [&](uint32_t A, uint32_t B) {
    return Table[A].Offset < Table[B].Offset;
  });
  uint64_t End = sizeof Header + Table.size() * sizeof(SectionEntry);
  for (uint32_t I : Order) {
    const SectionEntry &E = Table[I];
    if (E.Kind == 0 || E.Kind >= SectionKindCount)
      return malformedError("section " + std::to_string(I) + " has kind " +
                            std::to_string(E.Kind) +
                            ", which needs a newer runtime");
    uint32_t Align =
        kindOf(E) == SectionKind::Weights ? WeightAlign : SmallAlign;
    if (E.Align != Align || E.Offset % Align != 0 || E.Reserved != 0)
      return malformedError(describe(I) + " at offset " +
                            std::to_string(E.Offset) + " is not aligned to " +
                            std::to_string(Align));
    if (E.Offset > Bytes.size() || E.Bytes > Bytes.size() - E.Offset)
      return malformedError(describe(I) + " of " + std::to_string(E.Bytes) +
                            " bytes at offset " + std::to_string(E.Offset) +
                            " does not lie in a file of " +
                            std::to_string(Bytes.size()) + " bytes");
    if (E.Offset < End)
      return malformedError(describe(I) + " at offset " +
                            std::to_string(E.Offset) +
                            " overlaps what ends at " + std::to_string(End));
    if (E.Offset - End > MaxGap || !allZero(Bytes.subspan(End, E.Offset - End)))
      return malformedError("the bytes before " + describe(I) +
                            " are not the expected zeros");
    End = E.Offset + E.Bytes;
  }
  if (End != Bytes.size())
    return malformedError("the last section ends at " + std::to_string(End) +
                          ", but the file has " + std::to_string(Bytes.size()) +
                          " bytes");
  return Status::success();
}

Status Reader::checkHashes() const {
  for (uint32_t I = 0; I < Table.size(); ++I) {
    if (kindOf(Table[I]) == SectionKind::Weights) {
      LLMC_RETURN_IF_ERROR(checkWeightHashes(I));
      continue;
    }
    if (kindOf(Table[I]) != SectionKind::WeightHashes && Table[I].Link != 0)
      return malformedError(describe(I) + " has a link");
    if (xxh3(section(I)) != Table[I].Hash)
      return malformedError(describe(I) +
                            " is damaged: its hash does not match");
  }
  return Status::success();
}

/// A weights section has exactly one table with a hash per chunk.
Status Reader::checkWeightHashes(uint32_t Index) const {
  const SectionEntry &W = Table[Index];
  uint64_t Chunks = W.Bytes / ChunkBytes + (W.Bytes % ChunkBytes != 0);
  uint32_t Found = 0;
  for (uint32_t I = 0; I < Table.size(); ++I) {
    const SectionEntry &E = Table[I];
    if (kindOf(E) != SectionKind::WeightHashes || E.Link != Index)
      continue;
    ++Found;
    if (E.Bytes != Chunks * 8)
      return malformedError(describe(I) + " has " + std::to_string(E.Bytes) +
                            " bytes, expected " + std::to_string(Chunks * 8));
    if (E.Hash != W.Hash)
      return malformedError(describe(I) + " does not belong to " +
                            describe(Index));
  }
  if (Found != 1)
    return malformedError(describe(Index) + " has " + std::to_string(Found) +
                          " tables of hashes, expected 1");
  return Status::success();
}

std::span<const uint8_t> Reader::section(uint32_t Index) const {
  if (Index >= Table.size())
    return {};
  return Bytes.subspan(Table[Index].Offset, Table[Index].Bytes);
}

std::span<const uint8_t> Reader::find(SectionKind Kind) const {
  for (uint32_t I = 0; I < Table.size(); ++I)
    if (kindOf(Table[I]) == Kind)
      return section(I);
  return {};
}

Status Reader::readManifest() {
  int64_t Count = std::count_if(Table.begin(), Table.end(), [](auto &E) {
    return kindOf(E) == SectionKind::Manifest;
  });
  if (Count != 1)
    return malformedError("expected one manifest, found " +
                          std::to_string(Count));
  LLMC_ASSIGN_OR_RETURN(Facts, decodeManifest(find(SectionKind::Manifest)));
  for (size_t I = 0; I < Facts.Targets.size(); ++I)
    LLMC_RETURN_IF_ERROR(bindTarget(Facts.Targets[I], Facts.Plans[I]));
  for (const ManifestTensor &T : Facts.Tensors) {
    bool Exists = T.Weights >= 0 &&
                  static_cast<size_t>(T.Weights) < Table.size() &&
                  kindOf(Table[T.Weights]) == SectionKind::Weights;
    uint64_t Size = Exists ? Table[T.Weights].Bytes : 0;
    if (!Exists || T.Offset > Size || T.Bytes > Size - T.Offset)
      return malformedError(
          "tensor " + T.Name + " of " + std::to_string(T.Bytes) +
          " bytes at offset " + std::to_string(T.Offset) +
          " does not lie in weights of " + std::to_string(Size) + " bytes");
  }
  return Status::success();
}

Status Reader::expectSection(const ManifestTarget &T, std::string_view What,
                             int32_t Index, SectionKind Kind,
                             bool Required) const {
  if (Index == -1 && !Required)
    return Status::success();
  if (Index < 0 || static_cast<size_t>(Index) >= Table.size() ||
      kindOf(Table[Index]) != Kind)
    return malformedError("target " + T.Name + ": its " + std::string(What) +
                          " is section " + std::to_string(Index) +
                          ", which is no " + std::string(nameOf(Kind)));
  return Status::success();
}

/// Checks the sections of a target and makes its view.
Status Reader::bindTarget(const ManifestTarget &T, const ManifestPlan &P) {
  bool Cuda = T.Layout == "cuda";
  LLMC_RETURN_IF_ERROR(
      expectSection(T, "program", T.Program, SectionKind::Program, true));
  LLMC_RETURN_IF_ERROR(
      expectSection(T, "code", T.Code,
                    Cuda ? SectionKind::Cubin : SectionKind::CpuImage, !Cuda));
  LLMC_RETURN_IF_ERROR(
      expectSection(T, "PTX", T.Ptx, SectionKind::Ptx, Cuda && T.Code == -1));
  LLMC_RETURN_IF_ERROR(
      expectSection(T, "weights", T.Weights, SectionKind::Weights, true));
  TargetView V;
  V.Target = T.Name;
  V.Layout = T.Layout;
  V.Program = section(static_cast<uint32_t>(T.Program));
  if (T.Code >= 0)
    V.Code = section(static_cast<uint32_t>(T.Code));
  if (T.Ptx >= 0)
    V.Ptx = section(static_cast<uint32_t>(T.Ptx));
  V.Weights = section(static_cast<uint32_t>(T.Weights));
  LLMC_RETURN_IF_ERROR(
      validateProgram(V.Program, T, P, Facts.Model, V.Weights.size()));
  Views.push_back(std::move(V));
  return Status::success();
}

std::string Reader::identity() const { return hexOf(Header.Identity); }

void Reader::release(uint64_t Offset, uint64_t Count) const {
  File.release(Offset, Count);
}

} // namespace llmc
