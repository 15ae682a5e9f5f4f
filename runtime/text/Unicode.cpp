// Two-stage tables: the block of 256 code points, then the place in it.
#include "runtime/text/Unicode.h"

#include <algorithm>
#include <iterator>

namespace llmc {

namespace {

#include "runtime/text/UnicodeTables.def"

} // namespace

uint8_t charClass(uint32_t C) {
  return C > 0x10FFFF ? 0 : ClassBlock[ClassIndex[C >> 8]][C & 255];
}

uint8_t charTraits(uint32_t C) {
  return C > 0x10FFFF ? 0 : TraitBlock[TraitIndex[C >> 8]][C & 255];
}

uint8_t scriptOf(uint32_t C) {
  return C > 0x10FFFF ? 0 : ScriptBlock[ScriptIndex[C >> 8]][C & 255];
}

uint32_t lowerOf(uint32_t C) {
  if (C < 0x80)
    return C >= 'A' && C <= 'Z' ? C + 32 : C;
  const uint32_t (*At)[2] = std::lower_bound(
      std::begin(LowerPairs), std::end(LowerPairs), C,
      [](const uint32_t (&P)[2], uint32_t V) { return P[0] < V; });
  return At != std::end(LowerPairs) && (*At)[0] == C ? (*At)[1] : C;
}

uint32_t standIn(uint32_t C) {
  const uint32_t (*At)[3] = std::lower_bound(
      std::begin(StandIns), std::end(StandIns), C,
      [](const uint32_t (&R)[3], uint32_t V) { return R[1] < V; });
  return At != std::end(StandIns) && (*At)[0] <= C ? (*At)[2] : C;
}

} // namespace llmc
