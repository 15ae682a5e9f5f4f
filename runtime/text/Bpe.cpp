// Two ways to the same result. Words (almost all pieces) are merged in a small
// array by looking for the lowest rank each time. Long pieces use a heap of
// candidate merges over a linked list, O(n log n), so that a megabyte without
// a break takes a second and not a day.
#include "runtime/text/Bpe.h"

#include <algorithm>
#include <cstring>
#include <queue>

namespace llmc {

namespace {

constexpr size_t ShortPiece = 48;
constexpr uint32_t NoRank = UINT32_MAX;

/// A merge that was possible when it was put into the heap.
struct Candidate {
  uint32_t Rank, Position;
  int32_t Left, Right;
  int32_t Result;
  /// The heap keeps the largest on top: lower rank, then lower position.
  bool operator<(const Candidate &O) const {
    return Rank != O.Rank ? Rank > O.Rank : Position > O.Position;
  }
};

struct Symbol {
  int32_t Id; ///< -1 when merged into the one before
  uint32_t Previous, Next;
};

constexpr uint32_t NoSymbol = UINT32_MAX;

} // namespace

const Merge *Bpe::find(int32_t Left, int32_t Right) const {
  const Merge *First = D.Merges.data() + D.MergeBegin[Left];
  const Merge *Last = D.Merges.data() + D.MergeBegin[Left + 1];
  const Merge *M =
      std::lower_bound(First, Last, Right,
                       [](const Merge &A, int32_t R) { return A.Right < R; });
  return M != Last && M->Right == Right ? M : nullptr;
}

int32_t Bpe::wholeToken(std::string_view Piece) const {
  auto It = std::lower_bound(
      D.ByText.begin(), D.ByText.end(), Piece,
      [&](int32_t Id, std::string_view P) { return D.bytesOf(Id) < P; });
  return It != D.ByText.end() && D.bytesOf(*It) == Piece ? *It : -1;
}

void Bpe::encode(std::string_view Piece, std::vector<int32_t> &Out) const {
  if (!D.ByText.empty()) {
    int32_t Id = wholeToken(Piece);
    if (Id >= 0) {
      Out.push_back(Id);
      return;
    }
  }
  if (Piece.size() <= ShortPiece) {
    int32_t Ids[ShortPiece];
    size_t N = 0;
    for (char C : Piece)
      if (int32_t Id = D.ByteId[static_cast<uint8_t>(C)]; Id >= 0)
        Ids[N++] = Id;
    mergeShort(Ids, N, Out);
    return;
  }
  std::vector<int32_t> Ids;
  Ids.reserve(Piece.size());
  for (char C : Piece)
    if (int32_t Id = D.ByteId[static_cast<uint8_t>(C)]; Id >= 0)
      Ids.push_back(Id);
  mergeLong(Ids, Out);
}

void Bpe::mergeShort(int32_t *Ids, size_t N, std::vector<int32_t> &Out) const {
  uint32_t Ranks[ShortPiece];
  int32_t Results[ShortPiece];
  auto Look = [&](size_t I) {
    const Merge *M = I + 1 < N ? find(Ids[I], Ids[I + 1]) : nullptr;
    Ranks[I] = M ? M->Rank : NoRank;
    Results[I] = M ? M->Result : -1;
  };
  for (size_t I = 0; I < N; ++I)
    Look(I);
  while (N > 1) {
    size_t Best = 0;
    for (size_t I = 1; I + 1 < N; ++I)
      if (Ranks[I] < Ranks[Best])
        Best = I;
    if (Ranks[Best] == NoRank)
      break;
    Ids[Best] = Results[Best];
    size_t Tail = N - Best - 2;
    std::memmove(Ids + Best + 1, Ids + Best + 2, Tail * sizeof(*Ids));
    std::memmove(Ranks + Best + 1, Ranks + Best + 2, Tail * sizeof(*Ranks));
    std::memmove(Results + Best + 1, Results + Best + 2,
                 Tail * sizeof(*Results));
    --N;
    Look(Best);
    if (Best > 0)
      Look(Best - 1);
  }
  Out.insert(Out.end(), Ids, Ids + N);
}

void Bpe::mergeLong(const std::vector<int32_t> &Ids,
                    std::vector<int32_t> &Out) const {
  uint32_t N = static_cast<uint32_t>(Ids.size());
  std::vector<Symbol> Symbols(N);
  for (uint32_t I = 0; I < N; ++I)
    Symbols[I] = {Ids[I], I == 0 ? NoSymbol : I - 1,
                  I + 1 == N ? NoSymbol : I + 1};
  std::priority_queue<Candidate> Heap;
  auto Offer = [&](uint32_t At) {
    const Symbol &S = Symbols[At];
    if (S.Next == NoSymbol)
      return;
    int32_t Right = Symbols[S.Next].Id;
    if (const Merge *M = find(S.Id, Right))
      Heap.push({M->Rank, At, S.Id, Right, M->Result});
  };
  for (uint32_t I = 0; I < N; ++I)
    Offer(I);
  while (!Heap.empty()) {
    Candidate C = Heap.top();
    Heap.pop();
    Symbol &S = Symbols[C.Position];
    if (S.Id != C.Left || S.Next == NoSymbol || Symbols[S.Next].Id != C.Right)
      continue; // one of the two has been merged since
    Symbol &Gone = Symbols[S.Next];
    S.Id = C.Result;
    S.Next = Gone.Next;
    Gone.Id = -1;
    if (S.Next != NoSymbol)
      Symbols[S.Next].Previous = C.Position;
    if (S.Previous != NoSymbol)
      Offer(S.Previous);
    Offer(C.Position);
  }
  for (uint32_t I = 0; I != NoSymbol && N != 0; I = Symbols[I].Next)
    Out.push_back(Symbols[I].Id);
}

} // namespace llmc
