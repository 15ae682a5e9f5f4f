// Memory checks of the sanitizer: values never written, and races.
#include "tools/cudasim/sanitize/Sanitizer.h"

#include "tools/cudasim/exec/DeviceMemory.h"

#include <cstdio>
#include <cstring>

namespace llmc::cudasim {

static std::string hex(uint64_t V) {
  char Text[24];
  std::snprintf(Text, sizeof(Text), "0x%llx",
                static_cast<unsigned long long>(V));
  return Text;
}

void Sanitizer::found(const std::string &Kind, Warp &W, const Inst &I,
                      unsigned Lane, const std::string &Text,
                      const Inst *Other) {
  Finding F;
  F.Kind = Kind;
  F.Kernel = W.Run->Prog->Name;
  F.SourceLine = I.SourceLine;
  F.Line = I.Line;
  F.OtherLine = Other ? Other->Line : 0;
  F.Text = Text + ": " + instText(*W.Run, I) + ", " + placeText(W, Lane);
  findings().add(std::move(F));
}

std::string Sanitizer::otherText(Warp &W, const Touch &T, const char *What) {
  const Inst &O = W.Run->Prog->Code[T.Inst];
  std::string Text =
      std::string(What) + " at PTX line " + std::to_string(O.Line);
  if (O.SourceLine)
    Text += ", source line " + std::to_string(O.SourceLine);
  return Text + ", block " + std::to_string(T.Block) + ", thread " +
         std::to_string(T.Warp * 32u + T.Lane);
}

// Between launches.

void Sanitizer::allocated(uint64_t At, uint64_t Bytes) {
  GlobalValid[At] = ValidBits(Bytes);
}
void Sanitizer::written(const DeviceMemory &M, uint64_t At, uint64_t Bytes) {
  const Allocation *A = M.find(At, Bytes);
  auto It = A ? GlobalValid.find(A->Begin) : GlobalValid.end();
  if (It != GlobalValid.end())
    It->second.set(At - A->Begin, Bytes);
}

bool Sanitizer::hasSeen(const Launch &L) {
  constexpr unsigned Enough = 2;
  std::string Key = L.Prog->Name;
  for (uint32_t G : L.Grid)
    Key += " " + std::to_string(G);
  if (++Seen[Key] <= Enough)
    return false;
  // What it writes is not known.
  GlobalValid.clear();
  return true;
}

// Launches and blocks.

void Sanitizer::begin(Launch &L) {
  unsigned Lines = 0;
  for (const Inst &I : L.Prog->Code)
    Lines = std::max(Lines, I.Line);
  beginHistory(L);
  Executed = &findings().executed(L.Prog->Name, Lines + 1);
  forgetBlocks();
  Global.clear();
  Released.clear();
}

void Sanitizer::beginBlock(Cta &B) {
  BlockState &S = stateOf(B);
  S.Warps.resize(B.Warps.size());
  for (unsigned I = 0; I != S.Warps.size(); ++I) {
    S.Warps[I].Knows.Own[I] = 1;
    for (uint32_t N = 0; N != B.Run->Prog->Unset.size(); ++N)
      S.Warps[I].Unset[B.Run->Prog->Unset[N].first] = {AllLanes, N};
  }
  S.Shared.resize((B.SharedBytes + 3) / 4);
  S.SharedValid = ValidBits(B.SharedBytes);
  S.LocalValid =
      ValidBits(uint64_t{B.Run->Prog->LocalBytes} * LaneCount * B.Warps.size());
}

void Sanitizer::endBlock(Cta &B) {
  Blocks.erase(B.Started);
  LastState = nullptr;
}

void Sanitizer::end(Launch &L) {
  forgetBlocks();
  endHistory(L);
}

void Sanitizer::fault(const Launch &L, const Fault &F) {
  Finding One;
  One.Kind = F.Code == MisalignedAddress ? "misaligned"
             : F.Code == IllegalAddress  ? "out-of-bounds"
             : F.Code == LaunchTimeout   ? "deadlock"
             : F.Code == AssertFailed    ? "assert"
                                         : "fault";
  One.Kernel = L.Prog->Name;
  size_t At = F.Text.find("PTX line ");
  if (At != std::string::npos)
    One.Line = static_cast<unsigned>(
        std::strtoul(F.Text.c_str() + At + 9, nullptr, 10));
  One.Text = F.Text;
  findings().add(std::move(One));
  forgetBlocks();
}

// Accesses.

void Sanitizer::checkValid(Warp &W, const Inst &I, const AccessEvent &E) {
  BlockState &S = stateOf(*W.Block);
  bool Reads = E.What == AccessEvent::Read || E.What == AccessEvent::ReadWrite;
  bool Writes = E.What != AccessEvent::Read;
  const Allocation *In = nullptr; // of the lane before, and its bits
  ValidBits *InBits = nullptr;
  for (uint32_t Rest = E.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    uint64_t At = E.Addresses[Lane];
    ValidBits *Bits = nullptr;
    const char *Name = "global";
    if (E.Where == Space::Shared) {
      Bits = &S.SharedValid;
      At -= SharedBase;
      Name = "shared";
    } else if (E.Where == Space::Local) {
      Bits = &S.LocalValid;
      At += (uint64_t{W.Index} * LaneCount + Lane) * W.Run->Prog->LocalBytes;
      Name = "local";
    } else if (E.Where == Space::Global) {
      if (!In || At < In->Begin || At - In->Begin >= In->Bytes) {
        In = W.Run->Memory->find(At, E.Bytes);
        auto It = In ? GlobalValid.find(In->Begin) : GlobalValid.end();
        InBits = It == GlobalValid.end() ? nullptr : &It->second;
      }
      if (!InBits)
        continue; // a variable of the module: always has a value
      Bits = InBits;
      At -= In->Begin;
    }
    if (!Bits)
      continue;
    if (Reads && !Bits->all(At, E.Bytes))
      found("uninitialized", W, I, Lane,
            "read of " + std::to_string(E.Bytes) + " bytes never written at " +
                Name + " address " + hex(E.Addresses[Lane]));
    if (Writes)
      Bits->set(At, E.Bytes);
  }
}

bool Sanitizer::ordered(Warp &W, const WarpState &Mine, unsigned Lane,
                        const Touch &T) {
  if (T.Block != static_cast<uint32_t>(W.Block->Started)) {
    auto It = Mine.Knows.Foreign.find(uint64_t{T.Block} * 32 + T.Warp);
    return It != Mine.Knows.Foreign.end() && It->second >= T.Time;
  }
  if (T.Warp != W.Index)
    return Mine.Knows.Own[T.Warp] >= T.Time;
  return T.Lane == Lane || Mine.AllSync > T.Ticket ||
         Mine.PairSync[Lane][T.Lane] > T.Ticket;
}

void Sanitizer::checkWord(Warp &W, const Inst &I, const AccessEvent &E,
                          unsigned Lane, uint64_t Address, WordShadow &S,
                          const Touch &Now) {
  const WarpState &Mine = stateOf(*W.Block).Warps[W.Index];
  bool Shared = E.Where == Space::Shared, Reads = E.What == AccessEvent::Read;
  // Texts are made when there is something to say: this runs for every word.
  const char *Kind = Shared ? "shared-race" : "global-race";
  auto Place = [&] {
    return std::string(Reads ? "read" : "write") + " at " +
           (Shared ? "shared address " : "global address ") + hex(Address);
  };
  auto Other = [&](const Touch &T) { return &W.Run->Prog->Code[T.Inst]; };
  bool SameInst = S.Write.Inst == Now.Inst && S.Write.Warp == Now.Warp &&
                  S.Write.Block == Now.Block && S.Write.Ticket == Now.Ticket;
  if (S.Write.Time != 0 && S.Write.Pending &&
      !(S.Write.Warp == W.Index && S.Write.Lane == Lane && !Reads)) {
    found("async-race", W, I, Lane,
          Place() + " before cp.async has finished there; the copy is " +
              otherText(W, S.Write, "issued"),
          Other(S.Write));
  } else if (S.Write.Time != 0 && !(S.Write.Atomic && Now.Atomic) &&
             !(SameInst && !Reads) && !ordered(W, Mine, Lane, S.Write)) {
    bool InWarp = S.Write.Warp == Now.Warp && S.Write.Block == Now.Block;
    found(InWarp ? "warp-race" : Kind, W, I, Lane,
          Place() + " is not ordered after the " +
              otherText(W, S.Write, "write"),
          Other(S.Write));
  }
  if (!Reads)
    for (const Touch &R : S.Reads)
      if (R.Time != 0 && !(R.Atomic && Now.Atomic) &&
          !ordered(W, Mine, Lane, R)) {
        bool InWarp = R.Warp == Now.Warp && R.Block == Now.Block;
        found(InWarp ? "warp-race" : Kind, W, I, Lane,
              Place() + " is not ordered after the " + otherText(W, R, "read"),
              Other(R));
        break;
      }
  bool Nc = (I.Flags & NonCoherent) != 0;
  if (!Shared && ((Nc && S.Write.Time != 0) || (!Reads && S.NonCoherent)))
    found(
        "non-coherent", W, I, Lane,
        "ld.global.nc and a write of the same launch meet at global address " +
            hex(Address));
}

/// Two lanes of one store that write different values to one word.
void Sanitizer::checkSameInstruction(Warp &W, const Inst &I,
                                     const AccessEvent &E) {
  if (E.What != AccessEvent::Write || I.Code != Op::Store)
    return;
  std::map<uint64_t, unsigned> Seen;
  for (uint32_t Rest = E.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    auto [It, New] = Seen.emplace(E.Addresses[Lane], Lane);
    if (New)
      continue;
    for (unsigned N = 0; N != I.Uses; ++N) {
      Value V = W.Lists[I.List + N];
      bool Same =
          I.Bytes == 8
              ? W.slot<uint64_t>(V)[Lane] == W.slot<uint64_t>(V)[It->second]
              : W.slot<uint32_t>(V)[Lane] == W.slot<uint32_t>(V)[It->second];
      if (!Same)
        return found("warp-race", W, I, Lane,
                     "lanes " + std::to_string(It->second) + " and " +
                         std::to_string(Lane) +
                         " of one store write different values to " +
                         hex(E.Addresses[Lane]),
                     &I);
    }
  }
}

void Sanitizer::checkRaces(Warp &W, const Inst &I, const AccessEvent &E) {
  BlockState &B = stateOf(*W.Block);
  WarpState &Mine = B.Warps[W.Index];
  checkSameInstruction(W, I, E);
  bool Reads = E.What == AccessEvent::Read;
  for (uint32_t Rest = E.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    Touch Now;
    Now.Time = Mine.Knows.Own[W.Index];
    Now.Ticket = Mine.Ticket;
    Now.Block = static_cast<uint32_t>(W.Block->Started);
    Now.Inst = static_cast<uint32_t>(&I - W.Run->Prog->Code.data());
    Now.Warp = static_cast<uint8_t>(W.Index);
    Now.Lane = static_cast<uint8_t>(Lane);
    Now.Atomic = (I.Flags & Ordered) != 0;
    Now.Pending = E.What == AccessEvent::AsyncWrite;
    uint64_t First = E.Addresses[Lane], End = First + E.Bytes;
    for (uint64_t At = First / 4 * 4; At < End; At += 4) {
      WordShadow *Word = E.Where == Space::Shared
                             ? &B.Shared[(At - SharedBase) / 4]
                             : Global.word(At, Reads);
      if (!Word)
        continue;
      WordShadow &S = *Word;
      bool Part = E.Bytes < 4; // neighbours in a word are no race
      if (!Part)
        checkWord(W, I, E, Lane, At, S, Now);
      if (Reads) {
        S.addRead(Now);
        S.NonCoherent |= (I.Flags & NonCoherent) != 0;
      } else {
        if (!Part)
          S.Write = Now;
        S.Reads = {};
        if (E.What == AccessEvent::AsyncWrite)
          Mine.Copies[Lane].Open.push_back(
              static_cast<uint32_t>((At - SharedBase) / 4));
      }
    }
  }
}

/// Atomics and ordered accesses carry clocks between warps and blocks.
void Sanitizer::acquireRelease(Warp &W, const Inst &I, const AccessEvent &E) {
  if (!(I.Flags & Ordered))
    return;
  BlockState &B = stateOf(*W.Block);
  WarpState &Mine = B.Warps[W.Index];
  uint64_t Own = W.Block->Started * 32;
  uint64_t Space = E.Where == Space::Shared ? (W.Block->Started + 1) << 48 : 0;
  for (uint32_t Rest = E.Mask; Rest != 0; Rest &= Rest - 1) {
    uint64_t At =
        E.Addresses[static_cast<unsigned>(__builtin_ctz(Rest))] ^ Space;
    Clock &There = Released[At];
    if (E.What != AccessEvent::Write)
      for (auto [Key, Time] : There.Foreign) {
        bool Ours = Key / 32 == W.Block->Started;
        uint32_t &Known =
            Ours ? Mine.Knows.Own[Key % 32] : Mine.Knows.Foreign[Key];
        Known = std::max(Known, Time);
      }
    if (E.What != AccessEvent::Read) {
      for (unsigned N = 0; N != 32; ++N)
        if (Mine.Knows.Own[N]) {
          uint32_t &Time = There.Foreign[Own + N];
          Time = std::max(Time, Mine.Knows.Own[N]);
        }
      for (auto [Key, Time] : Mine.Knows.Foreign)
        There.Foreign[Key] = std::max(There.Foreign[Key], Time);
    }
  }
  if (E.What != AccessEvent::Read)
    ++Mine.Knows.Own[W.Index]; // what follows is not released
}

void Sanitizer::access(Warp &W, const Inst &I, const AccessEvent &E) {
  checkValid(W, I, E);
  if (E.Where == Space::Shared || E.Where == Space::Global)
    checkRaces(W, I, E);
  if (E.Where == Space::Shared || E.Where == Space::Global)
    acquireRelease(W, I, E);
  if (E.Where == Space::Global)
    checkEarly(W, I, E);
}

} // namespace llmc::cudasim
