// Byte layout of an artifact (docs/artifact-format.md). A file is
//
//   FileHeader | SectionEntry[count] | small sections | weight sections
//
// with every section at a multiple of its alignment and zeros between them.
// All numbers are little endian. Kinds and fields are append-only.
#ifndef LLMC_RUNTIME_ARTIFACT_FORMAT_H
#define LLMC_RUNTIME_ARTIFACT_FORMAT_H

#include <cstdint>
#include <string_view>

namespace llmc {

inline constexpr char FormatMagic[4] = {'L', 'L', 'M', 'C'};
inline constexpr uint16_t FormatMajor = 0;
inline constexpr uint16_t FormatMinor = 1;

/// What a section holds. The numbers are in files: append only.
enum class SectionKind : uint32_t {
  None = 0,
  Manifest = 1,           ///< FlatBuffer llmc.fb.Manifest, exactly one
  Program = 2,            ///< FlatBuffer llmc.fb.Program, one per target
  CpuImage = 3,           ///< import-free ELF shared object
  Cubin = 4,              ///< CUDA machine code
  Ptx = 5,                ///< CUDA PTX text
  Tokenizer = 6,          ///< compiled form of runtime/text
  ChatTemplate = 7,       ///< Jinja source
  GenerationDefaults = 8, ///< JSON text
  Quality = 9,            ///< JSON text: measured quality of the model
  Provenance = 10,        ///< JSON text: inputs, versions, flags
  SelfTest = 11,          ///< prompts and expected results
  WeightHashes = 12,      ///< u64 xxh3 per chunk of a Weights section
  Weights = 13,           ///< packed weights of one layout family
  Constraint = 14,        ///< compiled form of runtime/text/constraint
  TokenTrie = 15          ///< of the tokenizer, for constraints
};
inline constexpr uint32_t SectionKindCount = 16;

/// Lower-case name as printed in messages and tables ("cpu image").
constexpr std::string_view nameOf(SectionKind K) {
  constexpr std::string_view Names[SectionKindCount] = {
      "none",          "manifest",      "program",
      "cpu image",     "cubin",         "ptx",
      "tokenizer",     "chat template", "generation defaults",
      "quality",       "provenance",    "self-test",
      "weight hashes", "weights",       "constraint",
      "token trie"};
  return static_cast<uint32_t>(K) < SectionKindCount
             ? Names[static_cast<uint32_t>(K)]
             : std::string_view("unknown");
}

inline constexpr uint32_t SmallAlign = 64;       ///< of small sections
inline constexpr uint32_t WeightAlign = 4096;    ///< of weight sections
inline constexpr uint32_t MaxSections = 256;     ///< more are refused
inline constexpr uint64_t ChunkBytes = 16 << 20; ///< hashed weight chunk

/// First bytes of the file.
struct FileHeader {
  char Magic[4];
  uint16_t Major;
  uint16_t Minor;
  uint16_t RuntimeMajor; ///< oldest runtime that can read the file
  uint16_t RuntimeMinor;
  uint32_t SectionCount;
  uint64_t FileBytes;
  uint64_t Reserved[2]; ///< zero
  uint8_t Identity[32]; ///< SHA-256 of the section table
  uint64_t Hash;        ///< xxh3 of the bytes before this field
};
static_assert(sizeof(FileHeader) == 80);

/// One row of the section table.
struct SectionEntry {
  uint32_t Kind;
  uint32_t Align;
  uint64_t Offset;
  uint64_t Bytes;
  uint64_t Hash;      ///< xxh3; of Weights: of its WeightHashes section
  uint32_t Link;      ///< WeightHashes: its Weights section; else 0
  uint32_t Reserved;  ///< zero
  uint8_t Sha256[32]; ///< of Weights: SHA-256 over the SHA-256 of its chunks
};
static_assert(sizeof(SectionEntry) == 72);

} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_FORMAT_H
