// `llmc inspect` for people: short tables, sizes in binary units.
#include "runtime/artifact/Inspect.h"

#include "runtime/artifact/Flat.h"
#include "runtime/artifact/LaunchTimes.h"
#include "runtime/artifact/Program_generated.h"
#include "runtime/base/Size.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace llmc {
namespace {

/// Text collected by printf-like calls.
class Page {
public:
  __attribute__((format(printf, 2, 3))) void line(const char *Format, ...) {
    va_list Args;
    va_start(Args, Format);
    char Buffer[1024];
    std::vsnprintf(Buffer, sizeof Buffer, Format, Args);
    va_end(Args);
    Out += Buffer;
    Out += '\n';
  }
  /// A text section, lines kept.
  void text(std::string_view Text) {
    for (char C : Text)
      Out += (static_cast<unsigned char>(C) < 0x20 && C != '\n') || C == 0x7f
                 ? '?'
                 : C;
    if (Text.empty() || Text.back() != '\n')
      Out += '\n';
  }
  std::string take() { return std::move(Out); }

private:
  std::string Out;
};

/// A name from the artifact, safe for a terminal, at most Width characters.
std::string shown(std::string_view Name, size_t Width = 60) {
  std::string Out;
  for (char C : Name)
    Out += static_cast<unsigned char>(C) < 0x20 || C == 0x7f ? '?' : C;
  if (Out.size() > Width)
    Out = "…" + Out.substr(Out.size() - Width + 1);
  return Out;
}

std::string snrText(const ManifestTensor &T) {
  if (T.Exact)
    return "exact";
  char Buffer[32];
  std::snprintf(Buffer, sizeof Buffer, "%.1f dB", static_cast<double>(T.SnrDb));
  return Buffer;
}

void printSummary(Page &P, const Reader &R) {
  const FileHeader &H = R.header();
  const ManifestModel &M = R.manifest().Model;
  P.line("%s: llmc artifact, format %u.%u, %s", shown(R.name(), 200).c_str(),
         H.Major, H.Minor, sizeText(H.FileBytes).c_str());
  P.line("identity    %s", R.identity().c_str());
  P.line("producer    %s", shown(R.manifest().Producer).c_str());
  P.line("model       %s: %u layers, hidden %u, vocab %u, %.1f M weights",
         shown(M.Name).c_str(), M.Layers, M.Hidden, M.Vocab,
         static_cast<double>(M.Parameters) / 1e6);
  P.line("precision   %s, activations %s", shown(M.Precision).c_str(),
         shown(M.Activations).c_str());
  P.line("limits      context %u, batch %u", M.MaxContext, M.MaxBatch);
  for (const TargetView &T : R.targets())
    P.line("target      %-22s code %s, PTX %s, weights %s (%s)",
           shown(T.Target).c_str(), sizeText(T.Code.size()).c_str(),
           sizeText(T.Ptx.size()).c_str(), sizeText(T.Weights.size()).c_str(),
           shown(T.Layout).c_str());
  for (uint32_t I = 0; I < R.sections().size(); ++I) {
    const SectionEntry &E = R.sections()[I];
    std::string Kind(nameOf(static_cast<SectionKind>(E.Kind)));
    P.line("section %-3u %-20s at %12llu, %12llu bytes", I, Kind.c_str(),
           static_cast<unsigned long long>(E.Offset),
           static_cast<unsigned long long>(E.Bytes));
  }
}

void printPlan(Page &P, const Reader &R) {
  std::vector<MemoryPlan> Sums = memoryPlansOf(R.manifest());
  for (size_t At = 0; At < Sums.size(); ++At) {
    const ManifestPlan &Plan = R.manifest().Plans[At];
    P.line("plan of %s", shown(Plan.Target).c_str());
    P.line("  weights   %s", sizeText(Plan.WeightBytes).c_str());
    for (size_t I = 0; I < Plan.Buckets.size(); ++I)
      P.line("  arena     %s for steps of up to %u tokens",
             sizeText(Plan.ArenaBytes[I]).c_str(), Plan.Buckets[I]);
    P.line("  workspace %s", sizeText(Plan.WorkspaceBytes).c_str());
    P.line("  KV cache  %s: %u pages of %u tokens, %s each",
           sizeText(Plan.PageBytes * Plan.Pages).c_str(), Plan.Pages,
           Plan.PageTokens, sizeText(Plan.PageBytes).c_str());
    for (const ManifestState &S : Plan.States)
      P.line("  state     %s: %u layers, %u KV heads, head %u/%u, %s",
             shown(S.Name).c_str(), S.Layers, S.KvHeads, S.HeadDim, S.VHeadDim,
             std::string(nameOf(S.Type)).c_str());
    P.line("  sum       %s", sizeText(Sums[At].totalBytes()).c_str());
  }
}

void printTensor(Page &P, const ManifestTensor &T) {
  P.line("%-60s %-11s %7llu x %-6llu %10s %10s %10.2g", shown(T.Name).c_str(),
         shown(T.Layout, 11).c_str(), static_cast<unsigned long long>(T.Rows),
         static_cast<unsigned long long>(T.Cols), sizeText(T.Bytes).c_str(),
         snrText(T).c_str(), static_cast<double>(T.MaxError));
}

void printWeights(Page &P, const Reader &R) {
  P.line("%-60s %-11s %7s   %-6s %10s %10s %10s", "tensor", "layout", "rows",
         "cols", "size", "SNR", "max error");
  for (const ManifestTensor &T : R.manifest().Tensors)
    printTensor(P, T);
}

/// The quality section as it is, then the worst tensors.
void printQuality(Page &P, const Reader &R) {
  std::span<const uint8_t> Report = R.find(SectionKind::Quality);
  if (!Report.empty())
    P.text(textOf(Report));
  std::vector<const ManifestTensor *> Lossy;
  double Sum = 0;
  for (const ManifestTensor &T : R.manifest().Tensors)
    if (!T.Exact) {
      Lossy.push_back(&T);
      Sum += static_cast<double>(T.SnrDb);
    }
  P.line("%zu of %zu packed tensors are exact",
         R.manifest().Tensors.size() - Lossy.size(),
         R.manifest().Tensors.size());
  if (Lossy.empty())
    return;
  P.line("mean SNR of the others %.2f dB; the worst:",
         Sum / static_cast<double>(Lossy.size()));
  std::stable_sort(Lossy.begin(), Lossy.end(),
                   [](const ManifestTensor *A, const ManifestTensor *B) {
                     return A->SnrDb < B->SnrDb;
                   });
  Lossy.resize(std::min<size_t>(Lossy.size(), 5));
  for (const ManifestTensor *T : Lossy)
    printTensor(P, *T);
}

void printKernels(Page &P, const Reader &R) {
  P.line("%-48s %-7s %4s %8s %6s %6s  %s", "kernel", "target", "regs", "shared",
         "spill", "local", "block");
  for (const TargetView &T : R.targets()) {
    const fb::Program &Program = *fb::GetProgram(T.Program.data());
    if (!Program.kernels())
      continue;
    for (const fb::Kernel *K : *Program.kernels())
      P.line("%-48s %-7s %4u %8u %6u %6u  %ux%ux%u",
             shown(viewOf(K->entry()), 48).c_str(), shown(T.Target).c_str(),
             K->registers(),
             K->static_shared_bytes() + K->dynamic_shared_bytes(),
             K->spill_bytes(), K->local_bytes(), K->block_x(), K->block_y(),
             K->block_z());
  }
}

std::string gridText(const fb::Launch &L) {
  std::string Text;
  for (uint32_t I = 0; I < L.grid_x()->size(); ++I) {
    Text += (I ? " " : "") + std::to_string(L.grid_x()->Get(I));
    if (L.grid_y() && L.grid_y()->size())
      Text += "x" + std::to_string(L.grid_y()->Get(I));
    if (L.grid_z() && L.grid_z()->size())
      Text += "x" + std::to_string(L.grid_z()->Get(I));
  }
  return Text;
}

/// Microseconds per bucket, in the places of the grids.
std::string timesText(const std::vector<LaunchPrediction> &Times) {
  std::string Text;
  char One[32];
  for (const LaunchPrediction &T : Times) {
    std::snprintf(One, sizeof(One), " %.1f", T.Microseconds);
    Text += One;
  }
  return Text.empty() ? Text : "  us" + Text;
}

void printLayers(Page &P, const TargetView &T, const LaunchTimes &Times,
                 const fb::Program &Program) {
  for (const LayerLaunches &L : launchesByLayer(T, Times)) {
    std::string Which = L.First < 0 ? "outside the layers"
                        : L.First == L.Last
                            ? "layer " + std::to_string(L.First)
                            : "layers " + std::to_string(L.First) + " to " +
                                  std::to_string(L.Last);
    P.line("%s: %u launches%s", Which.c_str(), L.Launches,
           L.First == L.Last ? "" : " each");
  }
  if (!Times.Chip)
    return;
  std::string Text;
  for (uint32_t B = 0; B != Program.buckets()->size(); ++B) {
    char One[48];
    std::snprintf(One, sizeof(One), "%s%u tokens %.2f ms", B ? ", " : "",
                  Program.buckets()->Get(B), Times.stepMicroseconds(B) / 1000);
    Text += One;
  }
  P.line("predicted for %s (a model, not a measurement), %u tokens of context:",
         Times.Chip->Title, Program.cost_context());
  P.line("%s", Text.c_str());
}

void printLaunches(Page &P, const Reader &R, const std::string &Chip) {
  for (const TargetView &T : R.targets()) {
    const fb::Program &Program = *fb::GetProgram(T.Program.data());
    if (!Program.launches())
      continue;
    Result<LaunchTimes> Known = launchTimes(T, Chip);
    LaunchTimes Times = Known.ok() ? Known.take() : LaunchTimes();
    P.line("%s: %u launches per step; layer, kernel, grid per bucket",
           shown(T.Target).c_str(), Program.launches()->size());
    for (uint32_t I = 0; I != Program.launches()->size(); ++I) {
      const fb::Launch &L = *Program.launches()->Get(I);
      P.line("%4d  %-48s %s%s", L.layer(),
             shown(viewOf(Program.kernels()->Get(L.kernel())->entry()), 48)
                 .c_str(),
             gridText(L).c_str(),
             I < Times.Of.size() ? timesText(Times.Of[I]).c_str() : "");
    }
    printLayers(P, T, Times, Program);
  }
}
} // namespace

std::string detail::inspectText(const Reader &R, const InspectOptions &O) {
  Page P;
  if (!O.any())
    printSummary(P, R);
  if (O.Plan)
    printPlan(P, R);
  if (O.Weights)
    printWeights(P, R);
  if (O.Quality)
    printQuality(P, R);
  if (O.Kernels)
    printKernels(P, R);
  if (O.Launches)
    printLaunches(P, R, O.Chip);
  if (O.Provenance)
    P.text(textOf(R.find(SectionKind::Provenance)));
  return P.take();
}

std::string inspectArtifact(const Reader &R, const InspectOptions &O) {
  return O.Json ? detail::inspectJson(R, O) : detail::inspectText(R, O);
}

} // namespace llmc
