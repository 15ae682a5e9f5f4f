// The search of outline-layers. Candidates are stretches whose keys repeat with
// a period; a candidate counts as far as its layers are wired alike: each read
// comes from the same place in its layer, from the same place in the layer
// before, or from the same slot outside.
#include "passes/lowering/LayerRuns.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace llmc {
namespace {
/// Where a phase reads a value from, relative to its layer.
struct Origin {
  enum Kind { Local, Before, Outer, Far } From = Outer;
  size_t Phase = 0;  ///< of the body (Local, Before)
  size_t Output = 0; ///< of that phase
  int Slot = 0;      ///< Outer

  bool operator==(const Origin &O) const {
    return From == O.From &&
           (From == Outer ? Slot == O.Slot
                          : Phase == O.Phase && Output == O.Output);
  }
};

struct Candidate {
  size_t First, Period, Count;
  size_t covers() const { return Period * Count; }
};

class Search {
public:
  explicit Search(llvm::ArrayRef<PhaseFacts> Phases);

  void run(size_t Begin, size_t End, std::vector<LayerRun> &Found);

private:
  std::vector<Candidate> candidates(size_t Begin, size_t End) const;
  LayerRun check(const Candidate &C) const;
  Origin originOf(int Slot, const Candidate &C, size_t Layer) const;
  bool sameWiring(const Candidate &C, size_t Layer, int64_t Stride) const;
  bool leavesOnlyToNext(const Candidate &C, size_t Layer) const;
  bool collectCarried(LayerRun &Run, const Candidate &C) const;

  llvm::ArrayRef<PhaseFacts> Phases;
  struct Place {
    size_t Phase, Output;
  };
  llvm::DenseMap<int, Place> Writers;
  llvm::DenseMap<int, size_t> LastReads;
};

Search::Search(llvm::ArrayRef<PhaseFacts> Phases) : Phases(Phases) {
  for (auto [I, P] : llvm::enumerate(Phases)) {
    for (auto [Output, Slot] : llvm::enumerate(P.Writes))
      Writers[Slot] = {I, Output};
    for (int Slot : P.Reads)
      LastReads[Slot] = I;
  }
}

/// All repetitions of keys in [Begin, End), the longest first; of equal ones
/// the shortest period, then the first.
std::vector<Candidate> Search::candidates(size_t Begin, size_t End) const {
  std::vector<Candidate> List;
  for (size_t Period = 1; 2 * Period <= End - Begin; ++Period) {
    size_t Same = 0; // phases from I on that equal those one period later
    for (size_t I = End - Period; I-- > Begin;) {
      Same = Phases[I].Key == Phases[I + Period].Key ? Same + 1 : 0;
      if (Same >= Period)
        List.push_back({I, Period, Same / Period + 1});
    }
  }
  llvm::stable_sort(List, [](const Candidate &A, const Candidate &B) {
    if (A.covers() != B.covers())
      return A.covers() > B.covers();
    return std::tie(A.Period, A.First) < std::tie(B.Period, B.First);
  });
  return List;
}

Origin Search::originOf(int Slot, const Candidate &C, size_t Layer) const {
  auto It = Writers.find(Slot);
  size_t Start = C.First + Layer * C.Period;
  if (It == Writers.end() || It->second.Phase < C.First)
    return {Origin::Outer, 0, 0, Slot};
  auto [Phase, Output] = It->second;
  if (Phase >= Start)
    return {Origin::Local, Phase - Start, Output, 0};
  if (Layer > 0 && Phase >= Start - C.Period)
    return {Origin::Before, Phase + C.Period - Start, Output, 0};
  return {Origin::Far, Phase, Output, 0};
}

/// Layer (> 0) reads from where the layers before it do.
bool Search::sameWiring(const Candidate &C, size_t Layer,
                        int64_t Stride) const {
  for (size_t J = 0; J != C.Period; ++J) {
    const PhaseFacts &P0 = Phases[C.First + J];
    const PhaseFacts &P1 = Phases[C.First + C.Period + J];
    const PhaseFacts &P = Phases[C.First + Layer * C.Period + J];
    if (P0.Layer &&
        (!P.Layer ||
         *P.Layer != *P0.Layer + static_cast<int64_t>(Layer) * Stride))
      return false;
    for (size_t R = 0; R != P.Reads.size(); ++R) {
      Origin O0 = originOf(P0.Reads[R], C, 0);
      Origin O1 = originOf(P1.Reads[R], C, 1);
      Origin O = originOf(P.Reads[R], C, Layer);
      // The first layer finds outside what the others find in the one before.
      bool Starts = O1.From == Origin::Before && O0.From == Origin::Outer;
      if (O.From == Origin::Far || !(O == O1) || (!Starts && !(O0 == O1)))
        return false;
    }
  }
  return true;
}

/// What the layer makes is read by it and the next one only.
bool Search::leavesOnlyToNext(const Candidate &C, size_t Layer) const {
  size_t Start = C.First + Layer * C.Period;
  for (size_t I = Start; I != Start + C.Period; ++I)
    for (int Slot : Phases[I].Writes) {
      auto It = LastReads.find(Slot);
      if (It != LastReads.end() && It->second >= Start + 2 * C.Period)
        return false;
    }
  return true;
}

/// The values between layers; false when two of them start in one slot.
bool Search::collectCarried(LayerRun &Run, const Candidate &C) const {
  for (size_t J = 0; J != C.Period; ++J)
    for (size_t R = 0; R != Phases[C.First + J].Reads.size(); ++R) {
      Origin O = originOf(Phases[C.First + C.Period + J].Reads[R], C, 1);
      if (O.From != Origin::Before)
        continue;
      int Initial = Phases[C.First + J].Reads[R];
      CarriedSlot *Known = nullptr;
      for (CarriedSlot &S : Run.Carried) {
        bool SameValue = S.Writer == O.Phase && S.Output == O.Output;
        if (SameValue != (S.Initial == Initial))
          return false;
        if (SameValue)
          Known = &S;
      }
      if (!Known)
        Known = &Run.Carried.emplace_back(
            CarriedSlot{Initial, O.Phase, O.Output, {}});
      Known->Reads.push_back({J, R});
    }
  return true;
}

/// The run that a candidate really is; Count 0: none.
LayerRun Search::check(const Candidate &C) const {
  LayerRun Run;
  // A layer has a state; how its number grows, the second layer shows.
  std::optional<int64_t> Layer;
  for (size_t I = C.First; I != C.First + C.Period; ++I) {
    if (!Phases[I].Layer)
      continue;
    if (!Layer && Phases[I + C.Period].Layer)
      Run.Stride = *Phases[I + C.Period].Layer - *Phases[I].Layer;
    Layer = std::min(Layer.value_or(*Phases[I].Layer), *Phases[I].Layer);
  }
  if (!Layer || Run.Stride < 0)
    return Run;
  size_t Count = 1;
  while (Count != C.Count && leavesOnlyToNext(C, Count - 1) &&
         sameWiring(C, Count, Run.Stride))
    ++Count;
  if (Count < 2 || !collectCarried(Run, C))
    return Run;
  Run.First = C.First;
  Run.Period = C.Period;
  Run.Count = Count;
  Run.FirstLayer = *Layer;
  return Run;
}

void Search::run(size_t Begin, size_t End, std::vector<LayerRun> &Found) {
  LayerRun Best;
  for (const Candidate &C : candidates(Begin, End)) {
    if (C.covers() <= Best.Period * Best.Count)
      break;
    LayerRun Run = check(C);
    if (Run.Period * Run.Count > Best.Period * Best.Count)
      Best = std::move(Run);
  }
  if (Best.Count == 0)
    return;
  run(Begin, Best.First, Found);
  size_t Rest = Best.end();
  Found.push_back(std::move(Best));
  run(Rest, End, Found);
}
} // namespace

std::vector<LayerRun> findLayerRuns(llvm::ArrayRef<PhaseFacts> Phases) {
  std::vector<LayerRun> Found;
  Search(Phases).run(0, Phases.size(), Found);
  return Found;
}

} // namespace llmc
