// libFuzzer target of the artifact reader. Random bytes would never get past
// the hashes, so the input is signed first: sizes and hashes of header and
// table are made right, and what is left to find is in the parsing.
//
//   cmake -S . -B build/fuzz -G Ninja -DLLMC_COMPILER=OFF \
//         -DCMAKE_CXX_COMPILER=clang++-22 -DLLMC_FUZZ=ON
//   ninja -C build/fuzz ReaderFuzzer
//   build/fuzz/test/fuzz/ReaderFuzzer --seed CORPUS/tiny.llmc
//   build/fuzz/test/fuzz/ReaderFuzzer -max_len=20000 CORPUS
#include "runtime/artifact/Inspect.h"
#include "runtime/artifact/Verify.h"
#include "runtime/base/Hash.h"
#include "test/runtime/artifact/TinyArtifact.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace llmc;

namespace {
/// A copy of the input at an address that is aligned like a mapping.
struct Aligned {
  explicit Aligned(size_t Size)
      : Data(static_cast<uint8_t *>(
            std::aligned_alloc(4096, (Size + 4096) / 4096 * 4096))),
        Bytes(Data, Size) {}
  ~Aligned() { std::free(Data); }
  uint8_t *Data;
  std::span<uint8_t> Bytes;
};

void sign(std::span<uint8_t> B) {
  FileHeader H;
  std::memcpy(&H, B.data(), sizeof H);
  std::memcpy(H.Magic, FormatMagic, sizeof H.Magic);
  H.FileBytes = B.size();
  size_t Room = (B.size() - sizeof H) / sizeof(SectionEntry);
  size_t Count = std::min<size_t>(H.SectionCount, Room);
  for (size_t I = 0; I < Count; ++I) {
    SectionEntry E;
    uint8_t *At = B.data() + sizeof H + I * sizeof E;
    std::memcpy(&E, At, sizeof E);
    if (E.Kind != static_cast<uint32_t>(SectionKind::Weights) &&
        E.Offset <= B.size() && E.Bytes <= B.size() - E.Offset)
      E.Hash = xxh3(B.subspan(E.Offset, E.Bytes));
    std::memcpy(At, &E, sizeof E);
  }
  Sha256Digest D = sha256(B.subspan(sizeof H, Count * sizeof(SectionEntry)));
  std::copy(D.begin(), D.end(), H.Identity);
  std::memcpy(B.data(), &H, sizeof H);
  H.Hash = xxh3(B.first(offsetof(FileHeader, Hash)));
  std::memcpy(B.data(), &H, sizeof H);
}
} // namespace

extern "C" int LLVMFuzzerInitialize(int *Argc, char ***Argv) {
  if (*Argc == 3 && std::strcmp((*Argv)[1], "--seed") == 0)
    std::exit(test::writeTiny((*Argv)[2], {}).ok() ? 0 : 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Aligned Copy(Size);
  std::copy_n(Data, Size, Copy.Data);
  if (Size >= sizeof(FileHeader))
    sign(Copy.Bytes);
  Result<std::unique_ptr<Reader>> R = Reader::fromBytes(Copy.Bytes, "fuzz");
  if (!R.ok())
    return 0;
  for (bool Json : {false, true}) {
    InspectOptions O{Json, true, true, true, true, true, true};
    (void)inspectArtifact(**R, O);
    (void)inspectArtifact(**R, {.Json = Json});
  }
  (void)verifyHashes(**R, {.Threads = 1}).takeStatus();
  return 0;
}
