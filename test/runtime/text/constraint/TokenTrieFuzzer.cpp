// Fuzzer of the images of token tries: what is mapped must be safe to walk.
// Bytes that are refused as they are become the parts behind a good header of
// one tier, so that the fuzzer gets past the sizes.
#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/Constraint.h"
#include "runtime/text/constraint/TokenTrieImage.h"

#include <cstring>

using namespace llmc::constraint;

namespace {

void walk(std::span<const uint8_t> Image) {
  llmc::Result<std::shared_ptr<const TokenTrie>> T = TokenTrie::map(Image);
  if (!T.ok())
    return;
  llmc::Result<std::unique_ptr<Grammar>> G =
      compileConstraint(Dialect::Regex, "( ?[a-z]+|[^\"]{0,9}\")*");
  Constraint C(G.take(), T.take(), size_t{8} << 20);
  Constraint::State S;
  for (int32_t Id = 0; Id < 4; ++Id) {
    C.mask(S);
    std::vector<int32_t> Forced;
    C.forced(S, 4, Forced);
    Constraint::State To = C.accept(S, Id);
    S = C.dead(To) ? S : To;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size < 4)
    return 0;
  walk({Data, Size});
  ImageHeader H{TrieImageMagic, Data[0], Data[1] & 1u, Data[2], Data[1], 1};
  ImageTier Tier{1u + Data[3] % 40, Data[3]};
  ImageParts At(H, {&Tier, 1});
  std::vector<uint64_t> Words(At.Bytes / 8);
  uint8_t *To = reinterpret_cast<uint8_t *>(Words.data());
  std::memcpy(To, &H, sizeof(H));
  std::memcpy(To + sizeof(H), &Tier, sizeof(Tier));
  size_t Room = At.Bytes - sizeof(H) - sizeof(Tier);
  std::memcpy(To + sizeof(H) + sizeof(Tier), Data + 4,
              std::min(Room, Size - 4));
  walk({To, At.Bytes});
  return 0;
}
