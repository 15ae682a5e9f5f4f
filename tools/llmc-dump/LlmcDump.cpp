// llmc-dump: the bytes of an artifact for those who work on the format. Unlike
// `llmc inspect` it also shows files that the reader refuses, as far as header
// and section table can be read, and extracts single sections.
#include "runtime/artifact/Format.h"
#include "runtime/artifact/Reader.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Log.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace llmc;

namespace {

constexpr char Usage[] =
    "usage: llmc-dump ARTIFACT                   header and section table\n"
    "       llmc-dump ARTIFACT --extract N FILE  writes section N to FILE\n"
    "example: llmc-dump model.llmc --extract 2 step.so\n";

std::span<const uint8_t> sectionBytes(std::span<const uint8_t> File,
                                      const SectionEntry &E) {
  if (E.Offset > File.size() || E.Bytes > File.size() - E.Offset)
    return {};
  return File.subspan(E.Offset, E.Bytes);
}

/// The section table as far as the file has it.
std::vector<SectionEntry> tableOf(std::span<const uint8_t> File,
                                  const FileHeader &H) {
  size_t Room = (File.size() - sizeof H) / sizeof(SectionEntry);
  std::vector<SectionEntry> Table(std::min<size_t>(H.SectionCount, Room));
  if (!Table.empty())
    std::memcpy(Table.data(), File.data() + sizeof H,
                Table.size() * sizeof(SectionEntry));
  return Table;
}

const char *hashText(std::span<const uint8_t> File, const SectionEntry &E) {
  if (static_cast<SectionKind>(E.Kind) == SectionKind::Weights)
    return "not checked";
  std::span<const uint8_t> Bytes = sectionBytes(File, E);
  if (Bytes.size() != E.Bytes)
    return "outside the file";
  return xxh3(Bytes) == E.Hash ? "ok" : "WRONG";
}

void printTable(std::span<const uint8_t> File, const FileHeader &H,
                const std::vector<SectionEntry> &Table) {
  bool HeaderOk = H.Hash == xxh3(File.first(offsetof(FileHeader, Hash)));
  std::printf("format %u.%u, needs runtime %u.%u, header hash %s\n", H.Major,
              H.Minor, H.RuntimeMajor, H.RuntimeMinor,
              HeaderOk ? "ok" : "WRONG");
  std::printf("file bytes %llu, found %zu\n",
              static_cast<unsigned long long>(H.FileBytes), File.size());
  std::printf("identity %s\n", hexOf(H.Identity).c_str());
  std::printf("%3s %-20s %6s %14s %14s %-16s %s\n", "#", "kind", "align",
              "offset", "bytes", "xxh3", "hash");
  for (size_t I = 0; I < Table.size(); ++I) {
    const SectionEntry &E = Table[I];
    std::string Kind(nameOf(static_cast<SectionKind>(E.Kind)));
    std::printf("%3zu %-20s %6u %14llu %14llu %016llx %s\n", I, Kind.c_str(),
                E.Align, static_cast<unsigned long long>(E.Offset),
                static_cast<unsigned long long>(E.Bytes),
                static_cast<unsigned long long>(E.Hash), hashText(File, E));
  }
}

Status extract(std::span<const uint8_t> File,
               const std::vector<SectionEntry> &Table, const char *Number,
               const char *Path) {
  char *End = nullptr;
  unsigned long Index = std::strtoul(Number, &End, 10);
  if (*End != 0 || Index >= Table.size())
    return usageError("there is no section " + std::string(Number) +
                      ", expected less than " + std::to_string(Table.size()));
  std::span<const uint8_t> Bytes = sectionBytes(File, Table[Index]);
  if (Bytes.size() != Table[Index].Bytes)
    return malformedError("section " + std::to_string(Index) +
                          " does not lie in the file");
  return writeFile(Path, Bytes);
}

Status run(int Argc, char **Argv) {
  LLMC_ASSIGN_OR_RETURN(MappedFile Mapping, MappedFile::open(Argv[1]));
  std::span<const uint8_t> File = Mapping.bytes();
  FileHeader H;
  if (File.size() < sizeof H ||
      std::memcmp(File.data(), FormatMagic, sizeof FormatMagic) != 0)
    return malformedError(std::string(Argv[1]) + " is not an llmc artifact");
  std::memcpy(&H, File.data(), sizeof H);
  std::vector<SectionEntry> Table = tableOf(File, H);
  if (Argc == 5)
    return extract(File, Table, Argv[3], Argv[4]);
  printTable(File, H, Table);
  Result<std::unique_ptr<Reader>> R = Reader::open(Argv[1]);
  if (!R.ok())
    std::printf("refused: %s\n", R.status().message().c_str());
  return Status::success();
}
} // namespace

int main(int Argc, char **Argv) {
  bool Extract = Argc == 5 && std::strcmp(Argv[2], "--extract") == 0;
  if (Argc == 2 && std::strcmp(Argv[1], "--help") == 0) {
    std::fputs(Usage, stdout);
    return 0;
  }
  if (Argc != 2 && !Extract) {
    std::fputs(Usage, stderr);
    return static_cast<int>(StatusCode::Usage);
  }
  return exitCodeOf(run(Argc, Argv));
}
