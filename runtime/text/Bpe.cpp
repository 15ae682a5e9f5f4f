// Ways to the same result. Words (almost all pieces) are merged in a small
// array by looking for the lowest rank each time. Long pieces use a heap of
// candidate merges over a linked list, O(n log n); very long ones, megabytes
// without a break, are in BpeLong.cpp.
#include "runtime/text/Bpe.h"

#include "runtime/text/Utf8.h"

#include <cstring>
#include <queue>

namespace llmc {

namespace {

constexpr size_t ShortPiece = 48, LongPiece = 4096;
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

/// All tokens of the bytes of a symbol, or none.
bool Bpe::bytesOfSymbol(std::string_view Symbol,
                        std::vector<int32_t> &Ids) const {
  for (char C : Symbol)
    if (D.Config.ByteId[static_cast<uint8_t>(C)] < 0)
      return false;
  for (char C : Symbol)
    Ids.push_back(D.Config.ByteId[static_cast<uint8_t>(C)]);
  return true;
}

/// One symbol per character, with the prefix inside and the suffix at the end.
/// Byte tokens do not end a pending unknown token, as in the reference.
void Bpe::symbolsOfChars(std::string_view Piece,
                         std::vector<int32_t> &Ids) const {
  const TokenizerConfig &C = D.Config;
  std::string Longer;
  bool Unknown = false; // an unknown token waits to be fused with the next
  for (size_t At = 0; At < Piece.size();) {
    size_t Begin = At;
    nextCodePoint(Piece, At);
    std::string_view Symbol = Piece.substr(Begin, At - Begin);
    bool Inside = Begin > 0 && !C.Prefix.empty();
    bool Last = At == Piece.size() && !C.Suffix.empty();
    if (Inside || Last) {
      Longer = Inside ? C.Prefix : "";
      Longer += Symbol;
      Longer += Last ? C.Suffix : "";
      Symbol = Longer;
    }
    int32_t Id = D.find(Symbol);
    if (Id >= 0) {
      if (Unknown)
        Ids.push_back(C.UnkId);
      Unknown = false;
      Ids.push_back(Id);
      continue;
    }
    if (C.ByteFallback && bytesOfSymbol(Symbol, Ids))
      continue;
    if (C.UnkId < 0)
      continue;
    if (Unknown && !C.FuseUnk)
      Ids.push_back(C.UnkId);
    Unknown = true;
  }
  if (Unknown)
    Ids.push_back(C.UnkId);
}

void Bpe::symbols(std::string_view Piece, std::vector<int32_t> &Ids) const {
  Ids.clear();
  if (!D.Config.ByteMode) {
    symbolsOfChars(Piece, Ids);
    return;
  }
  for (char C : Piece)
    if (int32_t Id = D.Config.ByteId[static_cast<uint8_t>(C)]; Id >= 0)
      Ids.push_back(Id);
}

void Bpe::encode(std::string_view Piece, std::vector<int32_t> &Out,
                 Scratch &S) const {
  if (!D.Config.CutMarks) {
    encodePart(Piece, Out, S);
    return;
  }
  constexpr std::string_view Mark = "\xE2\x96\x81";
  size_t Begin = 0;
  for (size_t At = Piece.find(Mark, 1); At != std::string_view::npos;
       At = Piece.find(Mark, At + Mark.size())) {
    if (At >= Mark.size() && Piece.substr(At - Mark.size()).starts_with(Mark))
      continue; // inside a run of marks
    encodePart(Piece.substr(Begin, At - Begin), Out, S);
    Begin = At;
  }
  encodePart(Piece.substr(Begin), Out, S);
}

void Bpe::encodePart(std::string_view Piece, std::vector<int32_t> &Out,
                     Scratch &S) const {
  bool Short = Piece.size() <= WordCache::MaxBytes;
  WordCache::Key K(Short ? Piece : std::string_view());
  if (Short && S.Cache.find(K, Out))
    return;
  size_t Before = Out.size();
  int32_t Whole = D.Config.IgnoreMerges ? D.find(Piece) : -1;
  if (Whole >= 0) {
    Out.push_back(Whole);
  } else {
    symbols(Piece, S.Ids);
    if (S.Ids.size() <= ShortPiece)
      mergeShort(S.Ids.data(), S.Ids.size(), Out);
    else if (S.Ids.size() < LongPiece)
      mergeLong(S.Ids, Out);
    else
      mergeVeryLong(S.Ids, Out);
  }
  if (Short)
    S.Cache.put(K, Out.data() + Before, Out.size() - Before);
}

void Bpe::mergeShort(int32_t *Ids, size_t N, std::vector<int32_t> &Out) const {
  uint32_t Ranks[ShortPiece];
  int32_t Results[ShortPiece];
  auto Look = [&](size_t I) {
    const MergeSlot *M = I + 1 < N ? D.findMerge(Ids[I], Ids[I + 1]) : nullptr;
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
  // The first candidates become a heap at once, which is linear.
  std::vector<Candidate> First;
  First.reserve(N);
  for (uint32_t I = 0; I + 1 < N; ++I)
    if (const MergeSlot *M = D.findMerge(Ids[I], Ids[I + 1]))
      First.push_back({M->Rank, I, Ids[I], Ids[I + 1], M->Result});
  std::priority_queue<Candidate> Heap(std::less<Candidate>(), std::move(First));
  auto Offer = [&](uint32_t At) {
    const Symbol &S = Symbols[At];
    if (S.Next == NoSymbol)
      return;
    int32_t Right = Symbols[S.Next].Id;
    if (const MergeSlot *M = D.findMerge(S.Id, Right))
      Heap.push({M->Rank, At, S.Id, Right, M->Result});
  };
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
