// See ProgramExport.h.
#include "compiler/driver/ProgramExport.h"

#include "compiler/eval/Convert.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/quant/TargetDesc.h"
#include "runtime/artifact/Program_generated.h"
#include "runtime/device/StepAbi.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <cstring>

using namespace mlir;

namespace llmc {
namespace {
DType dtypeOf(Type T) {
  if (T.isF32())
    return DType::F32;
  if (T.isF16())
    return DType::F16;
  if (T.isBF16())
    return DType::BF16;
  return T.isF64() ? DType::F64 : DType::None;
}

DType cacheTypeOf(Type T) { return T.isInteger(8) ? DType::I8 : dtypeOf(T); }

/// The values of a small constant as f32 bytes.
Result<std::vector<uint8_t>> floatBytes(ElementsAttr Data) {
  std::vector<uint8_t> Bytes;
  DenseFPElementsAttr Dense = dyn_cast<DenseFPElementsAttr>(Data);
  if (!Dense)
    return internalError("a constant weight is not dense");
  for (llvm::APFloat Value : Dense.getValues<llvm::APFloat>()) {
    bool Lossy;
    Value.convert(llvm::APFloat::IEEEsingle(),
                  llvm::APFloat::rmNearestTiesToEven, &Lossy);
    float F = Value.convertToFloat();
    size_t At = Bytes.size();
    Bytes.resize(At + sizeof(F));
    std::memcpy(Bytes.data() + At, &F, sizeof(F));
  }
  return Bytes;
}

Result<WeightBytes> bytesOf(exe::SourceAttr Step) {
  WeightBytes Out;
  if (Step.getData()) {
    DenseElementsAttr Dense = dyn_cast<DenseElementsAttr>(Step.getData());
    if (!Dense)
      return internalError("a constant weight is not dense");
    Out.Data = eval::packedElements(Dense);
    Out.IsInline = true;
    Out.Length = Out.Data.size();
    return Out;
  }
  Out.File = static_cast<uint32_t>(Step.getFile());
  Out.Offset = static_cast<uint64_t>(Step.getOffset());
  Out.Length = static_cast<uint64_t>(Step.getLength());
  return Out;
}

Result<WeightSource> codesOf(exe::SourceAttr Step, WeightSource Source) {
  QuantizedParts Parts;
  LLMC_ASSIGN_OR_RETURN(Parts.How, encodingOf(Step.getEncoding().str()));
  LLMC_ASSIGN_OR_RETURN(WeightBytes Codes, bytesOf(Step));
  Source.File = Codes.File;
  Source.Offset = Codes.Offset;
  Source.Length = Codes.Length;
  Source.Data = std::move(Codes.Data);
  Source.IsInline = Codes.IsInline;
  WeightBytes *Into[] = {&Parts.Scales, &Parts.Zeros, &Parts.Groups};
  for (auto [I, Part] : llvm::enumerate(Step.getParts()))
    if (exe::SourceAttr From = dyn_cast<exe::SourceAttr>(Part)) {
      LLMC_ASSIGN_OR_RETURN(*Into[I], bytesOf(From));
    }
  Source.Quantized = std::move(Parts);
  return Source;
}

Result<WeightSource> sourceOf(exe::SourceAttr Step) {
  WeightSource Source;
  Source.Name = Step.getName().getValue().str();
  Source.Shape.assign(Step.getType().getShape().begin(),
                      Step.getType().getShape().end());
  if (Step.getEncoding())
    return codesOf(Step, std::move(Source));
  if (Step.getData()) {
    LLMC_ASSIGN_OR_RETURN(Source.Data, floatBytes(Step.getData()));
    Source.IsInline = true;
    Source.Length = Source.Data.size();
    return Source;
  }
  Source.Type = dtypeOf(Step.getType().getElementType());
  if (Source.Type == DType::None)
    return unsupportedError("weight '" + Source.Name +
                            "' is of no float type that can be packed");
  Source.File = static_cast<uint32_t>(Step.getFile());
  Source.Offset = static_cast<uint64_t>(Step.getOffset());
  Source.Length = static_cast<uint64_t>(Step.getLength());
  return Source;
}

/// What makes two steps read one source: all but the rows.
exe::SourceAttr wholeSource(exe::SourceAttr Step) {
  return exe::SourceAttr::get(Step.getContext(), Step.getName(), Step.getType(),
                              Step.getFile(), Step.getOffset(),
                              Step.getLength(), 0, 0, false, Step.getData(),
                              Step.getEncoding(), Step.getParts());
}

Result<PackedTensor> tensorOf(exe::PackedWeightOp Op) {
  PackedTensor Tensor;
  Tensor.Name = Op.getSymName().str();
  std::optional<Layout> Form = layoutOf(Op.getLayout().str());
  if (!Form || Op.getOffset() < 0)
    return internalError("weight '" + Tensor.Name + "' has no plan");
  Tensor.Form = *Form;
  Tensor.Rows = static_cast<uint64_t>(Op.getRows());
  Tensor.Cols = static_cast<uint64_t>(Op.getCols());
  Tensor.Offset = static_cast<uint64_t>(Op.getOffset());
  Tensor.Bytes = static_cast<uint64_t>(Op.getBytes());
  llvm::DenseMap<Attribute, uint32_t> Known;
  for (exe::SourceAttr Step : Op.getProgram().getAsRange<exe::SourceAttr>()) {
    auto [It, New] = Known.try_emplace(
        wholeSource(Step), static_cast<uint32_t>(Tensor.Sources.size()));
    if (New) {
      LLMC_ASSIGN_OR_RETURN(WeightSource Source, sourceOf(Step));
      Tensor.Sources.push_back(std::move(Source));
    }
    Tensor.Pieces.push_back({It->second, static_cast<uint64_t>(Step.getBegin()),
                             static_cast<uint64_t>(Step.getCount()),
                             Step.getTransposed()});
  }
  return Tensor;
}

template <typename To, typename From>
std::vector<To> castAll(llvm::ArrayRef<From> Values) {
  std::vector<To> Out;
  for (From V : Values)
    Out.push_back(static_cast<To>(V));
  return Out;
}

std::vector<ManifestState> statesOf(exe::ProgramOp Program) {
  std::vector<ManifestState> States;
  for (exe::StateOp Op : Program.getBody().getOps<exe::StateOp>()) {
    ManifestState S;
    S.Name = Op.getSymName().str();
    S.Layers = static_cast<uint32_t>(Op.getLayers());
    S.KvHeads = static_cast<uint32_t>(Op.getKvHeads());
    S.HeadDim = static_cast<uint32_t>(Op.getHeadDim());
    S.VHeadDim = static_cast<uint32_t>(Op.getVHeadDim());
    S.Type = cacheTypeOf(Op.getDtype());
    States.push_back(std::move(S));
  }
  return States;
}
} // namespace

Result<WeightProgram> exportWeights(exe::ProgramOp Program) {
  WeightProgram Weights;
  Weights.Bytes = static_cast<uint64_t>(Program.getWeightBytes());
  for (exe::PackedWeightOp Op :
       Program.getBody().getOps<exe::PackedWeightOp>()) {
    LLMC_ASSIGN_OR_RETURN(PackedTensor Tensor, tensorOf(Op));
    Weights.Tensors.push_back(std::move(Tensor));
  }
  std::stable_sort(Weights.Tensors.begin(), Weights.Tensors.end(),
                   [](const PackedTensor &A, const PackedTensor &B) {
                     return A.Offset < B.Offset;
                   });
  return Weights;
}

ProgramFacts factsOf(exe::ProgramOp Program) {
  ProgramFacts Facts;
  uint32_t Rows = 0;
  Program.walk([&](exe::PhaseOp Phase) {
    Facts.Records |= Phase.getKernel() == "linear_attention";
    if (Phase.getKernel() == "logits") {
      Facts.Vocab = static_cast<uint32_t>(Phase.getInt("n"));
      Facts.Hidden = static_cast<uint32_t>(Phase.getInt("k"));
    } else if (Phase.getKernel() == "take_rows") {
      // Without a head ids are those of the embedding.
      Facts.Outputs = Facts.Hidden = static_cast<uint32_t>(Phase.getInt("n"));
      Facts.Vocab = Rows;
    } else if (Phase.getKernel() == "embed" &&
               Phase.getBuffer("ids").getSym().getValue() == "ids") {
      Rows = static_cast<uint32_t>(Phase.getInt("vocab"));
    }
  });
  for (exe::StateOp Op : Program.getBody().getOps<exe::StateOp>())
    Facts.Layers += static_cast<uint32_t>(Op.getLayers());
  return Facts;
}

Result<std::vector<uint8_t>>
exportCpuProgram(exe::ProgramOp Program,
                 std::span<const std::string> Features) {
  MemoryPlan Plan = memoryPlanOf(Program);
  if (Plan.ArenaBytes.size() != Plan.Buckets.size())
    return internalError("the program has no memory plan");
  std::optional<TargetDesc> Target = describeTarget(Program.getTarget());
  if (!Target)
    return internalError("unknown target '" + Program.getTarget().str() + "'");
  ProgramFacts Facts = factsOf(Program);

  flatbuffers::FlatBufferBuilder B;
  std::vector<flatbuffers::Offset<fb::KvState>> States;
  uint64_t PageOffset = 0;
  for (exe::StateOp Op : Program.getBody().getOps<exe::StateOp>()) {
    States.push_back(fb::CreateKvState(
        B, B.CreateString(Op.getSymName().str()),
        static_cast<uint32_t>(Op.getLayers()),
        static_cast<uint32_t>(Op.getKvHeads()),
        static_cast<uint32_t>(Op.getHeadDim()),
        static_cast<uint32_t>(Op.getVHeadDim()),
        static_cast<uint8_t>(cacheTypeOf(Op.getDtype())), PageOffset));
    PageOffset += static_cast<uint64_t>(Op.getPageBytes());
  }
  auto Name = B.CreateString(Plan.Target);
  auto Family = B.CreateString(Target->Family);
  auto Buckets =
      B.CreateVector(castAll<uint32_t>(llvm::ArrayRef<int64_t>(Plan.Buckets)));
  auto Arena = B.CreateVector(Plan.ArenaBytes);
  auto StateVector = B.CreateVector(States);
  auto FeatureVector = B.CreateVectorOfStrings(
      std::vector<std::string>(Features.begin(), Features.end()));

  fb::ProgramBuilder Out(B);
  Out.add_target(Name);
  Out.add_layout(Family);
  Out.add_step_abi(LLMC_STEP_ABI);
  Out.add_buckets(Buckets);
  Out.add_arena_bytes(Arena);
  Out.add_max_tokens(static_cast<uint32_t>(Plan.Buckets.back()));
  Out.add_max_sequences(static_cast<uint32_t>(Plan.MaxSequences));
  Out.add_max_context(static_cast<uint32_t>(Plan.MaxContext));
  Out.add_vocab(Facts.Vocab);
  Out.add_outputs(Facts.Outputs);
  Out.add_records(Facts.Records);
  Out.add_hidden(Facts.Hidden);
  Out.add_weight_bytes(Plan.WeightBytes);
  Out.add_page_tokens(static_cast<uint32_t>(Plan.PageTokens));
  Out.add_page_bytes(Plan.PageBytes);
  Out.add_pages(static_cast<uint32_t>(Plan.Pages));
  Out.add_states(StateVector);
  Out.add_cpu_features(FeatureVector);
  fb::FinishProgramBuffer(B, Out.Finish());
  return std::vector<uint8_t>(B.GetBufferPointer(),
                              B.GetBufferPointer() + B.GetSize());
}

ManifestPlan exportPlan(exe::ProgramOp Program) {
  MemoryPlan Plan = memoryPlanOf(Program);
  ManifestPlan Out;
  Out.Target = Plan.Target;
  Out.WeightBytes = Plan.WeightBytes;
  Out.Buckets = castAll<uint32_t>(llvm::ArrayRef<int64_t>(Plan.Buckets));
  Out.ArenaBytes = Plan.ArenaBytes;
  Out.PageTokens = static_cast<uint32_t>(Plan.PageTokens);
  Out.PageBytes = Plan.PageBytes;
  Out.Pages = static_cast<uint32_t>(Plan.Pages);
  Out.WorkspaceBytes = Plan.WorkspaceBytes;
  Out.SegmentTokens = static_cast<uint32_t>(Plan.SegmentTokens);
  Out.SegmentBytes = Plan.SegmentBytes;
  Out.States = statesOf(Program);
  return Out;
}

} // namespace llmc
