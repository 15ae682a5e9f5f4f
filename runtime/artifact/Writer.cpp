// Writing an artifact; see Writer.h for the order of calls.
#include "runtime/artifact/Writer.h"

#include <algorithm>
#include <cstring>

namespace llmc {
namespace {

uint64_t alignTo(uint64_t V, uint64_t A) { return (V + A - 1) / A * A; }

template <typename T> std::span<const uint8_t> rawBytes(std::span<T> Items) {
  return {reinterpret_cast<const uint8_t *>(Items.data()), Items.size_bytes()};
}

std::string sectionName(uint32_t Index, uint32_t Kind) {
  return "section " + std::to_string(Index) + " (" +
         std::string(nameOf(static_cast<SectionKind>(Kind))) + ")";
}
} // namespace

Result<std::unique_ptr<Writer>> Writer::create(const std::string &Path) {
  LLMC_ASSIGN_OR_RETURN(AtomicFile File, AtomicFile::create(Path));
  std::unique_ptr<Writer> W(new Writer);
  W->File = std::move(File);
  return W;
}

Result<uint32_t> Writer::add(SectionKind Kind, uint32_t Align,
                             uint64_t MaxBytes) {
  if (Sealed)
    return internalError("a section was added after the first weights");
  if (Sections.size() >= MaxSections)
    return internalError("artifact would have more than " +
                         std::to_string(MaxSections) + " sections");
  Section &S = Sections.emplace_back();
  S.Entry.Kind = static_cast<uint32_t>(Kind);
  S.Entry.Align = Align;
  S.MaxBytes = MaxBytes;
  return static_cast<uint32_t>(Sections.size() - 1);
}

Result<uint32_t> Writer::addSection(SectionKind Kind,
                                    std::span<const uint8_t> Data) {
  LLMC_ASSIGN_OR_RETURN(uint32_t Index, reserveSection(Kind, Data.size()));
  LLMC_RETURN_IF_ERROR(fillSection(Index, Data));
  return Index;
}

Result<uint32_t> Writer::reserveSection(SectionKind Kind, uint64_t MaxBytes) {
  if (Kind == SectionKind::Weights || Kind == SectionKind::WeightHashes)
    return internalError("weights are added by declareWeights");
  return add(Kind, SmallAlign, MaxBytes);
}

Status Writer::fillSection(uint32_t Index, std::span<const uint8_t> Data) {
  if (Index >= Sections.size())
    return internalError("there is no section " + std::to_string(Index));
  Section &S = Sections[Index];
  if (S.Filled || S.Entry.Align != SmallAlign)
    return internalError(sectionName(Index, S.Entry.Kind) + " is filled twice");
  if (Data.size() > S.MaxBytes)
    return internalError(sectionName(Index, S.Entry.Kind) + " has " +
                         std::to_string(Data.size()) + " bytes, but only " +
                         std::to_string(S.MaxBytes) + " are reserved");
  S.Filled = true;
  S.Entry.Bytes = Data.size();
  S.Entry.Hash = xxh3(Data);
  Sha256Digest Digest = sha256(Data);
  std::copy(Digest.begin(), Digest.end(), S.Entry.Sha256);
  if (Sealed)
    return File.writeAt(S.Entry.Offset, Data);
  S.Data.assign(Data.begin(), Data.end());
  return Status::success();
}

Result<uint32_t> Writer::declareWeights(uint64_t Bytes) {
  uint64_t Chunks = Bytes / ChunkBytes + (Bytes % ChunkBytes != 0);
  LLMC_ASSIGN_OR_RETURN(uint32_t Index,
                        add(SectionKind::Weights, WeightAlign, Bytes));
  LLMC_ASSIGN_OR_RETURN(uint32_t Hashes,
                        add(SectionKind::WeightHashes, SmallAlign, Chunks * 8));
  Sections[Index].Entry.Bytes = Bytes;
  Sections[Hashes].Entry.Link = Index;
  WeightOrder.push_back(Index);
  return Index;
}

/// Fixes every offset: small sections after the table, then the weights.
Status Writer::seal() {
  if (Sealed)
    return Status::success();
  Sealed = true;
  uint64_t End = sizeof(FileHeader) + Sections.size() * sizeof(SectionEntry);
  for (bool Weights : {false, true})
    for (Section &S : Sections) {
      if ((S.Entry.Align == WeightAlign) != Weights)
        continue;
      S.Entry.Offset = alignTo(End, S.Entry.Align);
      End = S.Entry.Offset + S.MaxBytes;
    }
  for (Section &S : Sections) {
    LLMC_RETURN_IF_ERROR(File.writeAt(S.Entry.Offset, S.Data));
    S.Data = {};
  }
  return Status::success();
}

Status Writer::appendWeights(uint32_t Index, std::span<const uint8_t> Data) {
  LLMC_RETURN_IF_ERROR(seal());
  while (Current < WeightOrder.size() && WeightOrder[Current] != Index)
    LLMC_RETURN_IF_ERROR(finishWeights());
  if (Current == WeightOrder.size())
    return internalError("weights of section " + std::to_string(Index) +
                         " come out of order");
  Section &S = Sections[Index];
  if (Data.size() > S.MaxBytes - S.Appended)
    return internalError(sectionName(Index, S.Entry.Kind) +
                         " gets more weights than the " +
                         std::to_string(S.MaxBytes) + " bytes declared");
  while (!Data.empty()) {
    size_t Take = std::min<size_t>(Data.size(), ChunkBytes - Chunk.size());
    Chunk.insert(Chunk.end(), Data.begin(), Data.begin() + Take);
    S.Appended += Take;
    Data = Data.subspan(Take);
    if (Chunk.size() == ChunkBytes)
      LLMC_RETURN_IF_ERROR(flushChunk());
  }
  return Status::success();
}

/// Hashes and writes the collected chunk of the current weights section.
Status Writer::flushChunk() {
  Section &S = Sections[WeightOrder[Current]];
  S.ChunkHashes.push_back(xxh3(Chunk));
  S.ChunkDigests.update(sha256(Chunk));
  uint64_t Offset = S.Entry.Offset + S.Appended - Chunk.size();
  LLMC_RETURN_IF_ERROR(File.writeAt(Offset, Chunk));
  Chunk.clear();
  return Status::success();
}

/// Closes the current weights section, fills its table of chunk hashes and
/// goes on to the next one.
Status Writer::finishWeights() {
  uint32_t Index = WeightOrder[Current];
  Section &S = Sections[Index];
  if (S.Appended != S.MaxBytes)
    return internalError(sectionName(Index, S.Entry.Kind) + " has " +
                         std::to_string(S.Appended) + " bytes of weights, " +
                         std::to_string(S.MaxBytes) + " were declared");
  if (!Chunk.empty())
    LLMC_RETURN_IF_ERROR(flushChunk());
  ++Current;
  std::span<const uint8_t> Hashes = rawBytes(std::span(S.ChunkHashes));
  S.Entry.Hash = xxh3(Hashes);
  Sha256Digest Digest = S.ChunkDigests.finish();
  std::copy(Digest.begin(), Digest.end(), S.Entry.Sha256);
  S.Filled = true;
  for (uint32_t I = 0; I < Sections.size(); ++I)
    if (Sections[I].Entry.Kind ==
            static_cast<uint32_t>(SectionKind::WeightHashes) &&
        Sections[I].Entry.Link == Index)
      return fillSection(I, Hashes);
  return internalError("weights without a table of hashes");
}

Status Writer::finish() {
  LLMC_RETURN_IF_ERROR(seal());
  while (Current < WeightOrder.size())
    LLMC_RETURN_IF_ERROR(finishWeights());
  std::vector<SectionEntry> Table;
  FileBytes = 0;
  for (uint32_t I = 0; I < Sections.size(); ++I) {
    const Section &S = Sections[I];
    if (!S.Filled)
      return internalError(sectionName(I, S.Entry.Kind) + " was not filled");
    Table.push_back(S.Entry);
    FileBytes = std::max(FileBytes, S.Entry.Offset + S.Entry.Bytes);
  }
  std::span<const uint8_t> TableBytes = rawBytes(std::span(Table));
  Identity = sha256(TableBytes);
  FileHeader H{};
  std::memcpy(H.Magic, FormatMagic, sizeof H.Magic);
  H.Major = H.RuntimeMajor = FormatMajor;
  H.Minor = H.RuntimeMinor = FormatMinor;
  H.SectionCount = static_cast<uint32_t>(Table.size());
  H.FileBytes = FileBytes;
  std::copy(Identity.begin(), Identity.end(), H.Identity);
  std::span<const uint8_t> HeaderBytes = rawBytes(std::span(&H, 1));
  H.Hash = xxh3(HeaderBytes.first(offsetof(FileHeader, Hash)));
  LLMC_RETURN_IF_ERROR(File.writeAt(0, HeaderBytes));
  LLMC_RETURN_IF_ERROR(File.writeAt(sizeof H, TableBytes));
  LLMC_RETURN_IF_ERROR(File.resize(FileBytes));
  return File.commit();
}

} // namespace llmc
