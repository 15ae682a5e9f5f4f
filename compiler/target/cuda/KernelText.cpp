// Requests to text. The table below is all that this file knows about a kernel:
// its template, its types, its block and grid. What a constant must be so that
// the template is right is checked in KernelCheck.cpp.
#include "compiler/target/cuda/KernelText.h"

#include "compiler/kernels/Catalogue.h"
#include "compiler/kernels/FragmentFormat.h"
#include "compiler/kernels/cuda/Sources.h"
#include "compiler/target/cuda/AttentionForm.h"
#include "compiler/target/cuda/KernelCheck.h"
#include "compiler/target/cuda/ProductForms.h"
#include "runtime/base/Hash.h"
#include "runtime/device/StepAbi.h"

#include <algorithm>
#include <cstdio>

namespace llmc::cuda {
namespace {

/// What a kernel takes besides counts and its buffers.
enum class Takes {
  Nothing,
  Pages, ///< positions, row sequences and page table
  Lengths
};
struct Family {
  std::string_view Kernel;
  std::string_view Function; ///< in namespace llmc
  unsigned Block;
  Takes Inputs;
  bool Sizes = false; ///< integer constants are arguments, not part of the text
};
/// Lines of one kernel are its launches, in order.
constexpr Family Families[] = {
    {"embed", "embed", 128, Takes::Nothing},
    {"rope_table", "ropeTable", 64, Takes::Nothing},
    {"qkv", "qkv", 128, Takes::Pages},
    {"qkv_finish", "qkvFinish", 128, Takes::Pages},
    {"attention_rounded", "attentionRounded", 128, Takes::Pages},
    {"attention", "", 128, Takes::Pages}, // AttentionForm.h
    {"attention", "", 128, Takes::Pages},
    {"linear", "linear", 128, Takes::Nothing},
    {"logits", "logits", 128, Takes::Nothing},
    {"norm", "norm", 128, Takes::Nothing},
    {"rope", "rope", 128, Takes::Nothing},
    {"kv_write", "kvWrite", 128, Takes::Pages},
    {"glu", "glu", 256, Takes::Nothing},
    {"activation", "activation", 256, Takes::Nothing},
    {"add", "add", 256, Takes::Nothing},
    {"scale", "scale", 256, Takes::Nothing},
    {"rowwise", "rowwise", 128, Takes::Nothing, true},
    {"select_by_length", "selectByLength", 256, Takes::Lengths},
    {"take_rows", "takeRows", 128, Takes::Nothing},
    {"experts", "experts", 128, Takes::Nothing},
    {"experts", "expertRows", 128, Takes::Nothing},
    {"experts", "expertSums", 128, Takes::Nothing},
    {"causal_conv", "convWrite", 128, Takes::Pages},
    {"causal_conv", "causalConv", 128, Takes::Pages},
    {"linear_attention", "linearAttention", 32, Takes::Pages},
};

/// The line of that launch, or null.
const Family *findFamily(std::string_view Kernel, unsigned Stage) {
  for (const Family &F : Families)
    if (F.Kernel == Kernel && Stage-- == 0)
      return &F;
  return nullptr;
}

/// Buffers that this launch does not use.
bool isScratch(const KernelRequest &R, std::string_view Buffer) {
  return (Buffer == "xq" && R.Kernel != "rowwise" && R.Kernel != "experts") ||
         (Buffer == "partial" && attentionForm(R) != AttentionForm::Decode);
}

std::string_view typeOf(std::string_view Buffer) {
  if (Buffer == "ids" || Buffer == "positions" || Buffer == "logit_rows")
    return "const int *";
  if (Buffer == "weight")
    return "const unsigned char *__restrict__ ";
  if (Buffer == "gain" || Buffer == "norm_bias" || Buffer == "bias" ||
      Buffer == "freq" || Buffer == "cos_table" || Buffer == "sin_table" ||
      Buffer == "slopes" || Buffer == "sinks" || Buffer == "weight_vector")
    return "const float *__restrict__ ";
  if (Buffer == "kv")
    return "unsigned char *";
  if (kernels::isWritten(Buffer))
    return "float *";
  return "const float *";
}

/// Name of a constant in the struct: HeadDim for head_dim.
std::string constantName(std::string_view Kernel, std::string_view Name) {
  if (Name == "wtype")
    return "WType";
  if (Name == "kvtype")
    return "KvType";
  if (Name == "activation")
    return "Act";
  if ((Kernel == "norm" || Kernel == "take_rows") && Name == "n")
    return "K";
  std::string Out;
  bool Upper = true;
  for (char C : Name) {
    if (C != '_')
      Out += Upper ? static_cast<char>(C - 'a' + 'A') : C;
    Upper = C == '_';
  }
  return Out;
}

std::string floatText(float V) {
  char Buffer[32];
  std::snprintf(Buffer, sizeof(Buffer), "%.9g", static_cast<double>(V));
  std::string S = Buffer;
  if (S.find_first_of(".e") == std::string::npos)
    S += ".0";
  return S + "f";
}

uint32_t ceilDiv(int64_t A, int64_t B) {
  return static_cast<uint32_t>((A + B - 1) / B);
}

bool present(const KernelRequest &R, std::string_view Buffer) {
  const kernels::KernelInfo *Info = kernels::findKernel(R.Kernel);
  for (size_t I = 0; I != Info->Buffers.size(); ++I)
    if (Info->Buffers[I] == Buffer)
      return R.Present[I];
  return false;
}

int64_t qkvRows(const KernelRequest &R) {
  int64_t Group = R.Ints.at("heads") / R.Ints.at("kv_heads");
  return R.Ints.at("kv_heads") *
         ((Group + 1) * R.Ints.at("head_dim") + R.Ints.at("v_head_dim"));
}

/// The members of the struct of constants, in a fixed order. Enumerators and
/// functions, since NVRTC gives static members storage in the module.
std::string constantsText(const KernelRequest &R,
                          const kernels::KernelInfo &Info) {
  std::string Out;
  auto AddInt = [&](std::string_view Name, int64_t V) {
    bool Wide = Name == "KvPageStride";
    Out += std::string("  enum : ") + (Wide ? "long long" : "int") + " { " +
           std::string(Name) + " = " + std::to_string(V) + " };\n";
  };
  auto AddFlag = [&](std::string_view Name, bool V) {
    Out += "  enum : bool { " + std::string(Name) +
           (V ? " = true };\n" : " = false };\n");
  };
  for (std::string_view Name : Info.Ints)
    if (Name != "xpolicy" && !findFamily(R.Kernel, R.Stage)->Sizes)
      AddInt(constantName(R.Kernel, Name), R.Ints.at(std::string(Name)));
  for (std::string_view Name : Info.Floats)
    Out += "  static __device__ __forceinline__ float " +
           constantName(R.Kernel, Name) + "() { return " +
           floatText(R.Floats.at(std::string(Name))) + "; }\n";
  if (R.Kernel == "qkv")
    AddInt("N", qkvRows(R));
  if (present(R, "kv"))
    AddInt("KvPageStride", R.KvPageStride);
  for (std::string_view B :
       {"gain", "norm_bias", "bias", "residual", "slopes", "sinks", "beta"})
    if (std::find(Info.Buffers.begin(), Info.Buffers.end(), B) !=
        Info.Buffers.end())
      AddFlag("Has" + constantName(R.Kernel, B), present(R, B));
  if (AttentionMemory M = attentionMemory(R); M.Stages != 0) {
    AddInt("Stages", M.Stages);
    AddInt("SharedBytes", M.SharedBytes);
    AddFlag("OneTile", M.OneTile);
    if (attentionForm(R) == AttentionForm::Decode)
      AddInt("SmallBuckets", R.SmallBuckets);
  }
  if (R.Kernel == "rope_table")
    AddFlag("HasTable", present(R, "cos_table"));
  if (R.Floats.count("softcap"))
    AddFlag("HasSoftcap", R.Floats.at("softcap") != 0.0f);
  if (R.Floats.count("multiplier"))
    AddFlag("HasMultiplier", R.Floats.at("multiplier") != 1.0f);
  return Out;
}

/// "_w8b32", "_i4b32", "_m4b32": how weights are stored.
std::string weightName(int64_t WType) {
  if (WType == kernels::WM16F16 || WType == kernels::WM16BF16)
    return WType == kernels::WM16F16 ? "_mf16" : "_mbf16";
  if (kernels::isQuantized(WType)) {
    kernels::WeightFormat F = kernels::formatOf(WType);
    return (kernels::isFragment(WType)             ? "_m"
            : F.Kind == kernels::CodeKind::Integer ? "_i"
            : F.Kind == kernels::CodeKind::Table   ? "_t"
                                                   : "_e") +
           std::to_string(F.Bits) +
           (F.Block ? "b" + std::to_string(F.Block) : "row");
  }
  return WType == kernels::WI8B32  ? "_w8b32"
         : WType == kernels::WF16  ? "_f16"
         : WType == kernels::WBF16 ? "_bf16"
                                   : "_f32";
}

/// "w8b32_n576_k1536": what a reader wants to know of an entry.
std::string shapeName(const KernelRequest &R) {
  std::string Out;
  if (findFamily(R.Kernel, R.Stage)->Sizes)
    return "_f32";
  auto Add = [&](std::string_view Prefix, std::string_view Name) {
    auto It = R.Ints.find(std::string(Name));
    if (It != R.Ints.end())
      Out += "_" + std::string(Prefix) + std::to_string(It->second);
  };
  auto W = R.Ints.find("wtype");
  if (W != R.Ints.end())
    Out += weightName(W->second);
  auto Kv = R.Ints.find("kvtype");
  if (Kv != R.Ints.end())
    Out += Kv->second == kernels::KvF16  ? "_kvf16"
           : Kv->second == kernels::KvI8 ? "_kvi8"
                                         : "_kvf32";
  if (W == R.Ints.end() && Kv == R.Ints.end())
    Out += "_f32";
  Add("h", "heads");
  Add("g", "kv_heads");
  Add("d", "head_dim");
  Add("n", "n");
  Add("n", "hidden");
  Add("k", "k");
  return Out;
}

} // namespace

unsigned stagesOf(const KernelRequest &R) {
  if (R.Kernel == "attention")
    return attentionStages(R);
  if (R.Kernel == "experts") // sums apart with combine
    return R.Ints.at("combine") ? 3 : 2;
  unsigned Stages = 1;
  while (findFamily(R.Kernel, Stages))
    ++Stages;
  return Stages;
}

bool beginsEarly(std::string_view Target) {
  // Chips of two digits: sm_80 … sm_90; newer ones have three.
  std::string_view Number =
      Target.starts_with("sm_") ? Target.substr(3) : std::string_view();
  size_t Digits = Number.find_first_not_of("0123456789");
  Digits = Digits == std::string_view::npos ? Number.size() : Digits;
  return Digits >= 3 || (Digits == 2 && Number[0] == '9');
}

Result<KernelInstance> instantiate(const KernelRequest &R,
                                   std::string_view Target) {
  LLMC_RETURN_IF_ERROR(checkRequest(R));
  if (!findFamily(R.Kernel, R.Stage))
    return unsupportedError("kernel " + R.Kernel +
                            " has no CUDA form yet: compile for a CPU target");
  const kernels::KernelInfo &Info = *kernels::findKernel(R.Kernel);
  const Family &F = *findFamily(R.Kernel, R.Stage);
  std::string Constants = constantsText(R, Info);
  std::string Function(F.Function), Form;
  bool Product = isMmaProduct(R);

  KernelInstance Out;
  Out.Block = F.Block;
  std::string Name = R.Kernel;
  if (R.Kernel == "attention") {
    Name += attentionSuffix(R);
    Function = attentionFunction(R);
    Out.DynamicShared = static_cast<unsigned>(attentionMemory(R).SharedBytes);
  } else if (Product) {
    Out.Block = formBlock(R);
    Out.BytesInFlight = formFacts(R, 1).BlockBytesInFlight;
    Function = formFunction(R);
    Form = formName(R);
    Constants += formConstants(R);
  } else if (R.Kernel == "embed" && kernels::isFragment(R.Ints.at("wtype"))) {
    Function = "embedFragments";
  }
  if (R.Kernel == "kv_write" && R.Ints.at("kvtype") == kernels::KvI8)
    Function = "kvWriteCodes";
  std::string Types, Names;
  auto AddParam = [&](ParamKind Kind, size_t Index, std::string_view Type,
                      std::string_view Name) {
    Out.Params.push_back({Kind, static_cast<unsigned>(Index)});
    Types += (Types.empty() ? "" : ",\n    ") + std::string(Type) +
             std::string(Name);
    Names += (Names.empty() ? "" : ", ") + std::string(Name);
  };
  AddParam(ParamKind::Counts, 0, "const llmc::Counts *", "counts");
  if (F.Inputs == Takes::Pages) {
    AddParam(ParamKind::Positions, 0, "const int *", "positions");
    AddParam(ParamKind::RowSeq, 0, "const int *", "row_seq");
    AddParam(ParamKind::PageTable, 0, "const unsigned *", "page_table");
  }
  if (attentionForm(R) == AttentionForm::Decode)
    AddParam(ParamKind::Tickets, 0, "unsigned *", "tickets");
  if (F.Inputs == Takes::Lengths)
    AddParam(ParamKind::Lengths, 0, "const int *", "lengths");
  for (size_t I = 0; I != Info.Buffers.size(); ++I)
    if (Product || !isScratch(R, Info.Buffers[I]))
      AddParam(ParamKind::Buffer, I,
               Product && Info.Buffers[I] == "xq" ? "unsigned char *"
                                                  : typeOf(Info.Buffers[I]),
               Info.Buffers[I]);
  if (F.Sizes)
    for (size_t I = 0; I != Info.Ints.size(); ++I)
      AddParam(ParamKind::Integer, I, "int ", Info.Ints[I]);

  std::string Key = Name + Form + "\n" + Constants;
  if (R.Stage != 0)
    Key += std::to_string(R.Stage);
  char Hash[16];
  std::snprintf(
      Hash, sizeof(Hash), "%08x",
      static_cast<unsigned>(
          xxh3({reinterpret_cast<const uint8_t *>(Key.data()), Key.size()})));
  Out.Entry =
      Name + shapeName(R) + Form + "_" + Hash + "_" + std::string(Target);
  std::replace(Out.Entry.begin(), Out.Entry.end(), '-', '_');
  // Forms with weights to fetch first wait inside of their template.
  std::string Wait;
  if (beginsEarly(Target) && !(Product && R.Form->Early))
    Wait = "  llmc::launchDependents();\n  llmc::waitForEarlier();\n";
  std::string Struct = "Of_" + Name + "_" + Hash;
  Out.Text = "struct " + Struct + " {\n" + Constants + "};\n" +
             "extern \"C\" __global__ void __launch_bounds__(" +
             std::to_string(Out.Block) + ", 1)\n" + Out.Entry + "(\n    " +
             Types + ") {\n" + Wait + "  llmc::" + Function + "<" + Struct +
             ">(" + Names + ");\n}\n";
  return Out;
}

Grid gridOf(const KernelRequest &R, uint32_t Tokens) {
  constexpr int64_t RowTile = 4, Warps = 4; // Rows.cuh
  auto Int = [&](const char *Name) { return R.Ints.at(Name); };
  Grid G;
  if (R.Kernel == "attention") {
    return attentionGrid(R, Tokens);
  } else if (R.Kernel == "linear") {
    int64_t N = Int("n");
    G.X = ceilDiv(Int("glu") ? N / 2 : (N + 1) / 2, Warps);
    G.Y = ceilDiv(Tokens, RowTile);
  } else if (R.Kernel == "logits") {
    G.X = ceilDiv((Int("n") + 1) / 2, Warps);
    G.Y = ceilDiv(std::min(Tokens, LLMC_CUDA_LOGIT_ROWS), RowTile);
  } else if (R.Kernel == "qkv") {
    int64_t PairsQk = (Int("head_dim") + 1) / 2;
    int64_t Pairs = (Int("heads") + Int("kv_heads")) * PairsQk +
                    Int("kv_heads") * ((Int("v_head_dim") + 1) / 2);
    G.X = ceilDiv(Pairs, Warps);
    G.Y = ceilDiv(Tokens, RowTile);
  } else if (R.Kernel == "experts") {
    constexpr uint32_t Few = 8; // rows that do not share weights
    bool Combine = Int("combine") != 0;
    G.X = ceilDiv((Int("n") + 1) / 2, Warps);
    if ((R.Stage == 0) != (Tokens <= Few)) {
      G.X = 0;
    } else if (R.Stage == 0) {
      G.Y = Tokens;
      G.Z = Combine ? 1 : static_cast<uint32_t>(Int("slots"));
    } else if (R.Stage == 1) {
      G.Y = static_cast<uint32_t>(Int("experts")) + (Combine ? 0 : 1);
    } else {
      G.X = ceilDiv(Int("n"), 128);
      G.Y = Tokens;
    }
  } else if (R.Kernel == "linear_attention") {
    int64_t Width = Int("head_dim") <= 256 ? 32 : 16; // LinearAttention.cuh
    G.X = ceilDiv(Int("v_head_dim"), Width) *
          static_cast<uint32_t>(Int("kv_heads"));
    G.Y = Tokens; // there are no more sequences
  } else if (R.Kernel == "take_rows") {
    G.X = ceilDiv(std::min(Tokens, LLMC_CUDA_LOGIT_ROWS), Warps);
  } else if (R.Kernel == "attention_rounded") {
    G.X = static_cast<uint32_t>(Int("heads"));
    G.Y = Tokens;
  } else if (R.Kernel == "qkv_finish" || R.Kernel == "kv_write") {
    G.X = Tokens;
    if (R.Ints.at("kvtype") == kernels::KvI8)
      G.Y = static_cast<uint32_t>(Int("kv_heads"));
  } else if (R.Kernel == "norm") {
    G.X = ceilDiv(Tokens * Int("heads"), Warps);
  } else if (R.Kernel == "glu" || R.Kernel == "activation" ||
             R.Kernel == "add" || R.Kernel == "scale" ||
             R.Kernel == "select_by_length") {
    G.X = ceilDiv(Tokens * Int("n"), 256);
  } else { // a block per row
    G.X = Tokens;
  }
  return G;
}

std::string moduleText(const std::vector<KernelInstance> &Instances,
                       std::string_view Target, std::string_view Arch) {
  std::string Out = "// llmc kernels for " + std::string(Target) + "\n";
  Out += Arch;
  for (std::string_view Source : kernels::cudaSources())
    Out += Source;
  for (const KernelInstance &I : Instances)
    Out += "\n" + I.Text;
  return Out;
}

std::string moduleText(const std::vector<KernelInstance> &Instances,
                       std::string_view Target) {
  return moduleText(Instances, Target, kernels::cudaArchSource());
}

} // namespace llmc::cuda
