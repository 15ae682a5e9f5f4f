// cp.async in its two modes, address queries, clock, trap, matrix loads.
// Eager: the copy happens at once, which shows a missing barrier in front of
// it. Lazy: it happens at the wait, and until then the destination is all ones,
// which shows a missing wait.
#include "tools/cudasim/exec/Special.h"

#include "tools/cudasim/exec/DeviceMemory.h"
#include "tools/cudasim/exec/Handlers.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace llmc::cudasim {

void laneAddresses(Warp &W, const Inst &I, uint64_t *Addresses) {
  for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
    Addresses[Lane] =
        I.Flags & Narrow
            ? static_cast<uint32_t>(W.slot<uint32_t>(I.A)[Lane] +
                                    static_cast<uint32_t>(I.Imm))
            : W.slot<uint64_t>(I.A)[Lane] + static_cast<uint64_t>(I.Imm);
}

static void doCopy(const PendingCopy &C) {
  std::memcpy(C.To, C.From, C.Read);
  std::memset(C.To + C.Read, 0, C.Bytes - C.Read);
}

/// Whether all lanes' addresses are good for copies of Size bytes, without
/// looking at each: nobody watches, and both ranges lie in one piece.
static bool inOnePiece(Warp &W, const uint64_t *To, const uint64_t *From,
                       unsigned Size) {
  if (W.Run->Watch || W.Run->LazyCopies || W.Mask != AllLanes)
    return false;
  uint64_t Low = From[0], High = From[0], Bits = 0;
  uint64_t Least = To[0], Most = To[0];
  for (unsigned Lane = 0; Lane != LaneCount; ++Lane) {
    Low = std::min(Low, From[Lane]);
    High = std::max(High, From[Lane]);
    Least = std::min(Least, To[Lane]);
    Most = std::max(Most, To[Lane]);
    Bits |= From[Lane] | To[Lane];
  }
  return Bits % Size == 0 && Least >= SharedBase &&
         Most + Size <= uint64_t{SharedBase} + W.Block->SharedBytes &&
         inOneAllocation(*W.Run, Low, High + Size);
}

void copyAsync(Warp &W, const Inst &I) {
  const uint64_t *To = W.slot<uint64_t>(I.A), *From = W.slot<uint64_t>(I.B);
  if (I.Bytes == 16 && I.C == NoValue && inOnePiece(W, To, From, 16)) {
    uint8_t *Base = W.Block->Shared - SharedBase;
    for (unsigned Lane = 0; Lane != LaneCount; ++Lane)
      std::memcpy(Base + To[Lane], reinterpret_cast<const void *>(From[Lane]),
                  16);
    return;
  }
  uint8_t *ToHost[LaneCount], *FromHost[LaneCount];
  // Lanes that read nothing may have any source address.
  uint32_t All = W.Mask, Reading = All;
  const uint32_t *Sizes = I.C == NoValue ? nullptr : W.slot<uint32_t>(I.C);
  for (unsigned Lane = 0; Sizes && Lane != LaneCount; ++Lane)
    if (Sizes[Lane] == 0)
      Reading &= ~(1u << Lane);
  if (Reading) {
    W.Mask = Reading;
    resolveLanes(W, I, Space::Global, From, I.Bytes, AccessEvent::Read,
                 FromHost);
    W.Mask = All;
  }
  resolveLanes(W, I, Space::Shared, To, I.Bytes, AccessEvent::AsyncWrite,
               ToHost);
  if (W.Run->LazyCopies && W.Async.empty())
    W.Async.resize(LaneCount);
  for (uint32_t Rest = All; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    uint32_t Read = Sizes ? std::min<uint32_t>(Sizes[Lane], I.Bytes) : I.Bytes;
    PendingCopy C{ToHost[Lane], Read ? FromHost[Lane] : ToHost[Lane], I.Bytes,
                  static_cast<uint8_t>(Read)};
    if (!W.Run->LazyCopies) {
      doCopy(C);
      continue;
    }
    std::memset(C.To, 0xff, C.Bytes);
    W.Async[Lane].Open.push_back(C);
  }
}

void copyCommit(Warp &W, const Inst &) {
  if (W.Run->Watch)
    W.Run->Watch->copyCommit(W);
  for (uint32_t Rest = W.Async.empty() ? 0 : W.Mask; Rest != 0;
       Rest &= Rest - 1) {
    AsyncLane &A = W.Async[static_cast<unsigned>(__builtin_ctz(Rest))];
    A.Groups.push_back(std::move(A.Open));
    A.Open.clear();
  }
}

void finishCopies(Warp &W, uint32_t Mask, size_t Groups) {
  for (uint32_t Rest = W.Async.empty() ? 0 : Mask; Rest != 0;
       Rest &= Rest - 1) {
    AsyncLane &A = W.Async[static_cast<unsigned>(__builtin_ctz(Rest))];
    for (; A.Groups.size() > Groups; A.Groups.pop_front())
      for (const PendingCopy &C : A.Groups.front())
        doCopy(C);
  }
}

void copyWait(Warp &W, const Inst &I) {
  finishCopies(W, W.Mask, static_cast<size_t>(I.Imm));
  if (W.Run->Watch)
    W.Run->Watch->copyWait(W, I);
}

namespace {

void isSpace(Warp &W, const Inst &I) {
  const uint64_t *A = W.slot<uint64_t>(I.A);
  uint32_t *D = W.slot<uint32_t>(I.D);
  const Windows &Win = windows();
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1) {
    unsigned Lane = static_cast<unsigned>(__builtin_ctz(Rest));
    auto In = [&](uint64_t Window) {
      return A[Lane] >= Window && A[Lane] - Window < Windows::Bytes;
    };
    const Allocation *Holds = W.Run->Memory->find(A[Lane], 1);
    bool Is = I.Where == Space::Shared  ? In(Win.Shared)
              : I.Where == Space::Local ? In(Win.Local)
              : I.Where == Space::Param ? In(Win.Param)
              : I.Where == Space::Const ? Holds && Holds->ReadOnly
                                        : !In(Win.Shared) && !In(Win.Local);
    D[Lane] = Is ? AllLanes : 0;
  }
}

void readClock(Warp &W, const Inst &I) {
  uint64_t Now = W.Executed;
  if (I.Sub)
    Now = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::steady_clock::now().time_since_epoch())
            .count());
  uint64_t *D = W.slot<uint64_t>(I.D);
  for (uint32_t Rest = W.Mask; Rest != 0; Rest &= Rest - 1)
    D[__builtin_ctz(Rest)] = Now;
}

void trap(Warp &W, const Inst &I) {
  throwFault(W, I, LaunchFailed, I.Sub ? "a breakpoint" : "a trap");
}

void fence(Warp &, const Inst &) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Rows of ldmatrix where nothing needs to be told to a watcher.
bool rowsAtOnce(Warp &W, const Inst &I, const uint64_t *At, uint8_t **Rows) {
  if (W.Run->Watch || I.Where != Space::Shared)
    return false;
  uint64_t Low = At[0], High = At[0], Bits = 0;
  for (unsigned Lane = 0; Lane != 8u * I.Elements; ++Lane) {
    Low = std::min(Low, At[Lane]);
    High = std::max(High, At[Lane]);
    Bits |= At[Lane];
    Rows[Lane] = W.Block->Shared - SharedBase + At[Lane];
  }
  return Bits % 16 == 0 && Low >= SharedBase &&
         High + 16 <= uint64_t{SharedBase} + W.Block->SharedBytes;
}

using EightHalves = uint16_t __attribute__((vector_size(16)));

/// 8 x 8 halves, rows to columns, in three rounds of interleaving rows that
/// are four apart.
void transpose(EightHalves (&M)[8]) {
  for (unsigned Round = 0; Round != 3; ++Round) {
    EightHalves N[8];
    for (unsigned R = 0; R != 4; ++R) {
      N[2 * R] = __builtin_shuffle(M[R], M[R + 4],
                                   EightHalves{0, 8, 1, 9, 2, 10, 3, 11});
      N[2 * R + 1] = __builtin_shuffle(M[R], M[R + 4],
                                       EightHalves{4, 12, 5, 13, 6, 14, 7, 15});
    }
    std::memcpy(M, N, sizeof(N));
  }
}

/// Row q * 8 + r of the matrices is at the address of that lane; lane 4r + c
/// has elements 2c and 2c + 1 of row r, so a register is a matrix by rows.
void loadMatrix(Warp &W, const Inst &I) {
  uint64_t Addresses[LaneCount];
  uint8_t *Rows[LaneCount];
  laneAddresses(W, I, Addresses);
  bool Load = I.Code == Op::LoadMatrix;
  if (!rowsAtOnce(W, I, Addresses, Rows)) {
    uint32_t All = W.Mask;
    W.Mask = I.Elements == 4 ? AllLanes : (1u << (8 * I.Elements)) - 1;
    resolveLanes(W, I, I.Where, Addresses, 16,
                 Load ? AccessEvent::Read : AccessEvent::Write, Rows);
    W.Mask = All;
  }
  const uint32_t *List = W.Lists + I.List;
  for (unsigned Q = 0; Q != I.Elements; ++Q) {
    uint32_t *R = W.slot<uint32_t>(List[Q]);
    EightHalves M[8];
    if (Load)
      for (unsigned Row = 0; Row != 8; ++Row)
        std::memcpy(&M[Row], Rows[8 * Q + Row], 16);
    else
      std::memcpy(M, R, sizeof(M));
    if (I.Sub)
      transpose(M);
    if (Load)
      std::memcpy(R, M, sizeof(M));
    for (unsigned Row = 0; !Load && Row != 8; ++Row)
      std::memcpy(Rows[8 * Q + Row], &M[Row], 16);
  }
}

void moveMatrix(Warp &W, const Inst &I) {
  EightHalves M[8];
  std::memcpy(M, W.slot<uint32_t>(I.A), sizeof(M));
  transpose(M);
  std::memcpy(W.slot<uint32_t>(I.D), M, sizeof(M));
}

void handledElsewhere(Warp &, const Inst &) {}
} // namespace

void fillSpecial(Executor &E) {
  auto Set = [&](Op O, Handler H) { E.Handlers[static_cast<size_t>(O)] = H; };
  Set(Op::Atomic, atomic);
  Set(Op::CopyAsync, copyAsync);
  Set(Op::CopyCommit, copyCommit);
  Set(Op::CopyWait, copyWait);
  Set(Op::Fence, fence);
  Set(Op::IsSpace, isSpace);
  Set(Op::Clock, readClock);
  Set(Op::Trap, trap);
  Set(Op::LoadMatrix, loadMatrix);
  Set(Op::StoreMatrix, loadMatrix);
  Set(Op::MoveMatrix, moveMatrix);
  Set(Op::Print, print);
  Set(Op::Assert, assertFail);
  for (Op O :
       {Op::WarpBarrier, Op::Barrier, Op::Sleep, Op::GridWait, Op::GridTrigger})
    Set(O, handledElsewhere); // exec/Run.cpp
}

} // namespace llmc::cudasim
