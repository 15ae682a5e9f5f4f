// printf and assert of device code: vprintf(format, arguments), where the
// arguments lie one after another, naturally aligned, floats as doubles.
#include "tools/cudasim/exec/Special.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace llmc::cudasim {
namespace {

/// Reads a parameter of the call from the lane's local memory.
uint64_t argument(Warp &W, const Inst &I, unsigned Lane, unsigned N,
                  unsigned Bytes) {
  uint64_t V = 0;
  uint32_t At = W.slot<uint32_t>(W.Lists[I.List + N])[Lane];
  uint32_t Size = W.Run->Prog->LocalBytes;
  if (At + Bytes <= Size)
    std::memcpy(&V, W.Local + size_t{Lane} * Size + At, Bytes);
  return V;
}

/// Host memory behind a generic address for one lane; faults if there is none.
const uint8_t *hostAt(Warp &W, const Inst &I, unsigned Lane, uint64_t Address) {
  uint64_t Addresses[LaneCount] = {};
  uint8_t *Host[LaneCount] = {};
  Addresses[Lane] = Address;
  uint32_t All = W.Mask;
  W.Mask = 1u << Lane;
  Watcher *Watch = std::exchange(W.Run->Watch, nullptr);
  resolveLanes(W, I, Space::Generic, Addresses, 1, AccessEvent::Read, Host);
  W.Run->Watch = Watch;
  W.Mask = All;
  return Host[Lane];
}

std::string text(Warp &W, const Inst &I, unsigned Lane, uint64_t Address) {
  std::string Out;
  for (unsigned N = 0; N != 4096; ++N) {
    char C = static_cast<char>(*hostAt(W, I, Lane, Address + N));
    if (C == 0)
      break;
    Out += C;
  }
  return Out;
}

template <class T>
T take(Warp &W, const Inst &I, unsigned Lane, uint64_t &From) {
  From = (From + sizeof(T) - 1) / sizeof(T) * sizeof(T);
  T V;
  std::memcpy(&V, hostAt(W, I, Lane, From), sizeof(T));
  From += sizeof(T);
  return V;
}

/// Formats piece by piece; every directive gets one argument.
std::string format(Warp &W, const Inst &I, unsigned Lane,
                   const std::string &Format, uint64_t From) {
  std::string Out;
  for (size_t At = 0; At < Format.size();) {
    if (Format[At] != '%') {
      Out += Format[At++];
      continue;
    }
    size_t End = Format.find_first_of("diouxXcsfFeEgGaAp%", At + 1);
    if (End == std::string::npos || Format.find('*', At) < End ||
        End - At > 24) {
      Out += Format.substr(At);
      break;
    }
    std::string One = Format.substr(At, End - At + 1);
    At = End + 1;
    char Piece[512], Kind = One.back();
    bool Long = One.find('l') != std::string::npos ||
                One.find('z') != std::string::npos;
    if (Kind == '%')
      std::snprintf(Piece, sizeof(Piece), "%%");
    else if (Kind == 's')
      std::snprintf(Piece, sizeof(Piece), One.c_str(),
                    text(W, I, Lane, take<uint64_t>(W, I, Lane, From)).c_str());
    else if (std::strchr("fFeEgGaA", Kind))
      std::snprintf(Piece, sizeof(Piece), One.c_str(),
                    take<double>(W, I, Lane, From));
    else if (Long || Kind == 'p')
      std::snprintf(Piece, sizeof(Piece), One.c_str(),
                    take<uint64_t>(W, I, Lane, From));
    else
      std::snprintf(Piece, sizeof(Piece), One.c_str(),
                    take<uint32_t>(W, I, Lane, From));
    Out += Piece;
  }
  return Out;
}
} // namespace

void print(Warp &W, const Inst &I) {
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    uint64_t Format = argument(W, I, Lane, 0, 8),
             From = argument(W, I, Lane, 1, 8);
    std::string Line = format(W, I, Lane, text(W, I, Lane, Format), From);
    std::fwrite(Line.data(), 1, Line.size(), stdout);
  }
}

void assertFail(Warp &W, const Inst &I) {
  unsigned Lane = static_cast<unsigned>(__builtin_ctz(W.Mask));
  std::string What = text(W, I, Lane, argument(W, I, Lane, 0, 8));
  std::string File = text(W, I, Lane, argument(W, I, Lane, 1, 8));
  uint64_t Line = argument(W, I, Lane, 2, 4);
  throwFault(W, I, AssertFailed,
             "assertion `" + What + "' failed at " + File + ":" +
                 std::to_string(Line));
}

} // namespace llmc::cudasim
