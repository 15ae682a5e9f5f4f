// Requests to text. The table below is all that this file knows about a kernel:
// its template, its types, its block and grid. What a constant must be so that
// the template is right is checked in KernelCheck.cpp.
#include "compiler/target/cuda/KernelText.h"

#include "compiler/kernels/Catalogue.h"
#include "compiler/kernels/cuda/Sources.h"
#include "compiler/target/cuda/KernelCheck.h"
#include "runtime/base/Hash.h"
#include "runtime/device/StepAbi.h"

#include <algorithm>
#include <cstdio>

namespace llmc::cuda {
namespace {

struct Family {
  std::string_view Kernel;
  std::string_view Function; ///< in namespace llmc
  unsigned Block;
  bool Paged; ///< takes positions, row sequences and page table
};
constexpr Family Families[] = {
    {"embed", "embed", 128, false},
    {"rope_table", "ropeTable", 64, false},
    {"qkv", "qkv", 128, true},
    {"attention", "attention", 128, true},
    {"linear", "linear", 128, false},
    {"logits", "logits", 128, false},
    {"norm", "norm", 128, false},
    {"rope", "rope", 128, false},
    {"kv_write", "kvWrite", 128, true},
    {"glu", "glu", 256, false},
    {"activation", "activation", 256, false},
    {"add", "add", 256, false},
    {"scale", "scale", 256, false},
};

const Family *findFamily(std::string_view Kernel) {
  for (const Family &F : Families)
    if (F.Kernel == Kernel)
      return &F;
  return nullptr;
}

/// Buffers that only the CPU kernels use.
bool isScratch(std::string_view Buffer) {
  return Buffer == "xq" || Buffer == "partial";
}

std::string_view typeOf(std::string_view Buffer) {
  if (Buffer == "ids" || Buffer == "positions" || Buffer == "logit_rows")
    return "const int *";
  if (Buffer == "weight")
    return "const unsigned char *__restrict__ ";
  if (Buffer == "gain" || Buffer == "norm_bias" || Buffer == "bias" ||
      Buffer == "freq" || Buffer == "cos_table" || Buffer == "sin_table" ||
      Buffer == "slopes" || Buffer == "sinks")
    return "const float *__restrict__ ";
  if (Buffer == "kv")
    return "unsigned char *";
  if (Buffer == "out" || Buffer == "q_out")
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
  if (Kernel == "norm" && Name == "n")
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
    if (Name != "xpolicy")
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
       {"gain", "norm_bias", "bias", "residual", "slopes", "sinks"})
    if (std::find(Info.Buffers.begin(), Info.Buffers.end(), B) !=
        Info.Buffers.end())
      AddFlag("Has" + constantName(R.Kernel, B), present(R, B));
  if (R.Kernel == "rope_table")
    AddFlag("HasTable", present(R, "cos_table"));
  if (R.Floats.count("softcap"))
    AddFlag("HasSoftcap", R.Floats.at("softcap") != 0.0f);
  if (R.Floats.count("multiplier"))
    AddFlag("HasMultiplier", R.Floats.at("multiplier") != 1.0f);
  return Out;
}

/// "w8b32_n576_k1536": what a reader wants to know of an entry.
std::string shapeName(const KernelRequest &R) {
  std::string Out;
  auto Add = [&](std::string_view Prefix, std::string_view Name) {
    auto It = R.Ints.find(std::string(Name));
    if (It != R.Ints.end())
      Out += "_" + std::string(Prefix) + std::to_string(It->second);
  };
  auto W = R.Ints.find("wtype");
  if (W != R.Ints.end())
    Out += W->second == kernels::WI8B32 ? "_w8b32" : "_f16";
  auto Kv = R.Ints.find("kvtype");
  if (Kv != R.Ints.end())
    Out += Kv->second == kernels::KvF16 ? "_kvf16" : "_kvf32";
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

Result<KernelInstance> instantiate(const KernelRequest &R,
                                   std::string_view Target) {
  LLMC_RETURN_IF_ERROR(checkRequest(R));
  const kernels::KernelInfo &Info = *kernels::findKernel(R.Kernel);
  const Family &F = *findFamily(R.Kernel);
  std::string Constants = constantsText(R, Info);

  KernelInstance Out;
  Out.Block = F.Block;
  std::string Types, Names;
  auto AddParam = [&](ParamKind Kind, unsigned Buffer, std::string_view Type,
                      std::string_view Name, bool Passed) {
    Out.Params.push_back({Kind, Buffer});
    Types += (Types.empty() ? "" : ",\n    ") + std::string(Type) +
             std::string(Name);
    if (Passed)
      Names += (Names.empty() ? "" : ", ") + std::string(Name);
  };
  AddParam(ParamKind::Counts, 0, "const llmc::Counts *", "counts", true);
  if (F.Paged) {
    AddParam(ParamKind::Positions, 0, "const int *", "positions", true);
    AddParam(ParamKind::RowSeq, 0, "const int *", "row_seq", true);
    AddParam(ParamKind::PageTable, 0, "const unsigned *", "page_table", true);
  }
  for (unsigned I = 0; I != Info.Buffers.size(); ++I)
    if (!isScratch(Info.Buffers[I]))
      AddParam(ParamKind::Buffer, I, typeOf(Info.Buffers[I]), Info.Buffers[I],
               true);

  std::string Key = R.Kernel + "\n" + Constants;
  char Hash[16];
  std::snprintf(
      Hash, sizeof(Hash), "%08x",
      static_cast<unsigned>(
          xxh3({reinterpret_cast<const uint8_t *>(Key.data()), Key.size()})));
  Out.Entry = R.Kernel + shapeName(R) + "_" + Hash + "_" + std::string(Target);
  std::replace(Out.Entry.begin(), Out.Entry.end(), '-', '_');
  std::string Struct = "Of_" + R.Kernel + "_" + Hash;
  Out.Text = "struct " + Struct + " {\n" + Constants + "};\n" +
             "extern \"C\" __global__ void __launch_bounds__(" +
             std::to_string(F.Block) + ", 1)\n" + Out.Entry + "(\n    " +
             Types + ") {\n  llmc::" + std::string(F.Function) + "<" + Struct +
             ">(" + Names + ");\n}\n";
  return Out;
}

Grid gridOf(const KernelRequest &R, uint32_t Tokens) {
  constexpr int64_t RowTile = 4, Warps = 4; // Rows.cuh
  auto Int = [&](const char *Name) { return R.Ints.at(Name); };
  Grid G;
  if (R.Kernel == "attention") {
    G.X = static_cast<uint32_t>(Int("heads"));
    G.Y = Tokens;
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
  } else if (R.Kernel == "norm") {
    G.X = ceilDiv(Tokens * Int("heads"), Warps);
  } else if (R.Kernel == "glu" || R.Kernel == "activation" ||
             R.Kernel == "add" || R.Kernel == "scale") {
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
