// Terms by groups of characters, for walks over vocabularies.
#include "runtime/text/constraint/Runs.h"
#include "runtime/text/constraint/Terms.h"

namespace llmc::constraint {

namespace {

/// Terms as a machine of Runs.h.
struct TermMachine {
  static constexpr uint32_t Dead = Nothing;
  Terms &P;
  uint32_t step(uint32_t T, uint8_t B) {
    TermId To = P.derive(T, B);
    return P.live(To) ? To : Nothing;
  }
};

} // namespace

uint64_t Terms::firstGroups(TermId T) {
  auto It = FirstGroups.find(T);
  if (It != FirstGroups.end())
    return It->second;
  const Partition Of = Partitions[partitionOf(T)];
  std::array<bool, 256> Alive{};
  for (size_t C = 0; C < Of.First.size(); ++C)
    Alive[C] = live(derive(T, Of.First[C]));
  uint64_t Groups = 0;
  for (unsigned B = 0; B < 256; ++B)
    if (Alive[Of.Class[B]])
      Groups |= CharTree::get().groupsFrom(static_cast<uint8_t>(B));
  if (!Overflow)
    FirstGroups.emplace(T, Groups);
  return Groups;
}

uint64_t Terms::lastGroups(TermId T) {
  const TermNode N = Nodes[T];
  if (N.Kind == TermKind::Epsilon || N.Kind == TermKind::Nothing)
    return 0;
  auto It = LastGroups.find(T);
  if (It != LastGroups.end())
    return It->second;
  uint64_t Groups = 0;
  switch (N.Kind) {
  case TermKind::Bytes:
    for (unsigned B = 0; B < 256; ++B)
      if (Sets[N.A].has(static_cast<uint8_t>(B)))
        Groups |= B < 0x80 ? asciiGroup(static_cast<uint8_t>(B))
                           : MultiByte | NotUtf8;
    break;
  case TermKind::Seq: {
    // A long sequence, without recursion: from the last part that is there.
    std::vector<TermId> Parts;
    for (TermId At = T;; At = Nodes[At].B) {
      bool More = Nodes[At].Kind == TermKind::Seq;
      Parts.push_back(More ? Nodes[At].A : At);
      if (!More)
        break;
    }
    bool Open = true;
    for (size_t I = Parts.size(); I-- > 0 && Open; Open = nullable(Parts[I]))
      Groups |= lastGroups(Parts[I]);
    break;
  }
  case TermKind::Alt:
    for (uint32_t I = 0; I < N.B; ++I)
      Groups |= lastGroups(Kids[N.A + I]);
    break;
  case TermKind::And:
    Groups = UINT64_MAX;
    for (uint32_t I = 0; I < N.B; ++I)
      Groups &= lastGroups(Kids[N.A + I]);
    break;
  case TermKind::Repeat:
    Groups = lastGroups(N.A);
    break;
  default:
    Groups = UINT64_MAX;
    break;
  }
  LastGroups.emplace(T, Groups);
  return Groups;
}

uint64_t Terms::charGroups(TermId T, uint64_t Wanted) {
  CharRuns &Of = CharGroups[T];
  if (uint64_t Ask = Wanted & ~Of.Tried; Ask != 0 && !Overflow) {
    TermMachine M{*this};
    uint64_t Good = charsTo(M, T, Epsilon, Ask);
    if (Overflow)
      return 0;
    Of.Tried |= Ask;
    Of.Good |= Good;
  }
  return Of.Good & Wanted;
}

} // namespace llmc::constraint
