// Order of an artifact: manifest (reserved, since quality is measured while
// packing), per target program and code, text sections, provenance, then the
// weights of each family. Targets that read the same packed bytes share them.
#include "compiler/driver/WriteArtifact.h"

#include "runtime/artifact/Writer.h"
#include "runtime/base/File.h"

#include <memory>

namespace llmc {
namespace {

/// Equal programs pack to equal bytes.
bool samePacking(const WeightProgram &A, const WeightProgram &B) {
  if (A.Bytes != B.Bytes || A.Tensors.size() != B.Tensors.size())
    return false;
  for (size_t I = 0; I < A.Tensors.size(); ++I) {
    const PackedTensor &X = A.Tensors[I], &Y = B.Tensors[I];
    if (X.Name != Y.Name || X.Form != Y.Form || X.Rows != Y.Rows ||
        X.Cols != Y.Cols || X.Offset != Y.Offset ||
        X.Pieces.size() != Y.Pieces.size() ||
        X.Sources.size() != Y.Sources.size())
      return false;
    for (size_t J = 0; J < X.Sources.size(); ++J)
      if (X.Sources[J].File != Y.Sources[J].File ||
          X.Sources[J].Offset != Y.Sources[J].Offset ||
          X.Sources[J].Data != Y.Sources[J].Data)
        return false;
    for (size_t J = 0; J < X.Pieces.size(); ++J)
      if (X.Pieces[J].Source != Y.Pieces[J].Source ||
          X.Pieces[J].RowBegin != Y.Pieces[J].RowBegin ||
          X.Pieces[J].RowCount != Y.Pieces[J].RowCount ||
          X.Pieces[J].Transposed != Y.Pieces[J].Transposed)
        return false;
  }
  return true;
}

/// A family's weights: the program, and where it went.
struct WeightSection {
  const WeightProgram *Program;
  uint32_t Section;
};

class ArtifactBuilder {
public:
  ArtifactBuilder(ArtifactContent &Content, const WeightStore &Store,
                  const PackOptions &Packing)
      : Content(Content), Store(Store), Packing(Packing) {}

  Result<ArtifactSummary> write(const std::string &Path) {
    LLMC_ASSIGN_OR_RETURN(Out, Writer::create(Path));
    prepareManifest();
    LLMC_ASSIGN_OR_RETURN(
        uint32_t ManifestSection,
        Out->reserveSection(SectionKind::Manifest, encodeManifest(M).size()));
    for (CompiledTarget &T : Content.Targets)
      LLMC_RETURN_IF_ERROR(addTarget(T));
    LLMC_RETURN_IF_ERROR(addText());
    for (const WeightSection &W : Weights)
      LLMC_RETURN_IF_ERROR(packFamily(W));
    LLMC_RETURN_IF_ERROR(Out->fillSection(ManifestSection, encodeManifest(M)));
    LLMC_RETURN_IF_ERROR(Out->finish());
    return ArtifactSummary{Out->fileBytes(), hexOf(Out->identity())};
  }

private:
  /// Tensors of all families with names only: the manifest's size depends on
  /// strings and list lengths, which are final after this.
  void prepareManifest() {
    M.Model = Content.Model;
    M.Producer = "llmc 0.1.0";
    for (const CompiledTarget &T : Content.Targets) {
      ManifestTarget &Entry = M.Targets.emplace_back();
      Entry.Name = T.Name;
      Entry.Layout = T.Family;
      M.Plans.push_back(T.Plan);
      if (findWeights(T.Weights))
        continue;
      Weights.push_back({&T.Weights, 0});
      FirstTensor.push_back(M.Tensors.size());
      for (const PackedTensor &P : T.Weights.Tensors) {
        ManifestTensor &N = M.Tensors.emplace_back();
        N.Name = P.Name;
        N.Layout = nameOf(P.Form);
        N.Rows = P.Rows;
        N.Cols = P.Cols;
        N.Offset = P.Offset;
        N.Bytes = P.Bytes;
      }
    }
  }

  WeightSection *findWeights(const WeightProgram &P) {
    for (WeightSection &W : Weights)
      if (samePacking(*W.Program, P))
        return &W;
    return nullptr;
  }

  Status addTarget(CompiledTarget &T) {
    ManifestTarget &Entry = M.Targets[Next++];
    LLMC_ASSIGN_OR_RETURN(Entry.Program,
                          Out->addSection(SectionKind::Program, T.Program));
    if (!T.Code.empty()) {
      SectionKind Kind =
          T.Family == "cuda" ? SectionKind::Cubin : SectionKind::CpuImage;
      LLMC_ASSIGN_OR_RETURN(Entry.Code, Out->addSection(Kind, T.Code));
    }
    if (!T.Ptx.empty()) {
      LLMC_ASSIGN_OR_RETURN(Entry.Ptx,
                            Out->addSection(SectionKind::Ptx, bytesOf(T.Ptx)));
    }
    return {};
  }

  Status addText() {
    const ModelFolder &F = Content.Folder;
    const std::pair<SectionKind, std::span<const uint8_t>> Sections[] = {
        {SectionKind::Tokenizer, F.Tokenizer},
        {SectionKind::ChatTemplate, bytesOf(F.ChatTemplate)},
        {SectionKind::GenerationDefaults, bytesOf(F.Generation)},
        {SectionKind::Constraint, Content.Constraint},
        {SectionKind::TokenTrie, Content.TokenTrie},
        {SectionKind::Provenance, bytesOf(Content.Provenance)}};
    for (const auto &[Kind, Data] : Sections)
      if (!Data.empty())
        LLMC_RETURN_IF_ERROR(Out->addSection(Kind, Data).takeStatus());
    for (size_t I = 0; I < Weights.size(); ++I) {
      LLMC_ASSIGN_OR_RETURN(Weights[I].Section,
                            Out->declareWeights(Weights[I].Program->Bytes));
      size_t End =
          I + 1 < Weights.size() ? FirstTensor[I + 1] : M.Tensors.size();
      for (size_t T = FirstTensor[I]; T < End; ++T)
        M.Tensors[T].Weights = static_cast<int32_t>(Weights[I].Section);
    }
    for (size_t I = 0; I < Content.Targets.size(); ++I)
      M.Targets[I].Weights = static_cast<int32_t>(
          findWeights(Content.Targets[I].Weights)->Section);
    return {};
  }

  Status packFamily(const WeightSection &W) {
    LLMC_ASSIGN_OR_RETURN(std::vector<TensorQuality> Quality,
                          packWeights(*W.Program, Store, Packing,
                                      [&](std::span<const uint8_t> Bytes) {
                                        return Out->appendWeights(W.Section,
                                                                  Bytes);
                                      }));
    size_t First = FirstTensor[static_cast<size_t>(&W - Weights.data())];
    for (size_t I = 0; I < Quality.size(); ++I) {
      ManifestTensor &T = M.Tensors[First + I];
      T.SnrDb = Quality[I].SnrDb;
      T.MaxError = Quality[I].MaxError;
      T.Exact = Quality[I].Exact;
    }
    return {};
  }

  ArtifactContent &Content;
  const WeightStore &Store;
  const PackOptions &Packing;
  std::unique_ptr<Writer> Out;
  Manifest M;
  std::vector<WeightSection> Weights;
  std::vector<size_t> FirstTensor; ///< of each of Weights, in M.Tensors
  size_t Next = 0;
};

} // namespace

Result<ArtifactSummary> writeArtifact(const std::string &Path,
                                      ArtifactContent &Content,
                                      const WeightStore &Store,
                                      const PackOptions &Packing) {
  return ArtifactBuilder(Content, Store, Packing).write(Path);
}

} // namespace llmc
